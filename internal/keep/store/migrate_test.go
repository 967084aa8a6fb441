package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

var update = flag.Bool("update", false, "write the file of a schema that has none yet")

func TestUnknownSchemaIsRefusedUntouched(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name    string
		version int
		want    memory.Code
	}{
		{"newer", 999, memory.CodeNewerSchema},
		{"negative", -1, memory.CodeStorage},
		{"most negative", math.MinInt32, memory.CodeStorage},
	} {
		for _, inLog := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in the log %t", test.name, inLog), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "memory.db")
				s, err := store.Open(ctx, path, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				raw := rawOpen(t, path)
				if _, err := raw.Exec(fmt.Sprintf("PRAGMA user_version = %d", test.version)); err != nil {
					t.Fatal(err)
				}
				if inLog {
					// The other program still has the file open, so its log is not copied into it.
					if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
						t.Fatalf("there is no log: %v", err)
					}
				} else if err := raw.Close(); err != nil {
					t.Fatal(err)
				}
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_, err = store.Open(ctx, path, store.Options{})
				wantCode(t, err, test.want)
				_, err = store.OpenReadOnly(ctx, path)
				wantCode(t, err, test.want)
				if db.Damaged(err) != (test.version < 0) {
					t.Errorf("damaged: %v of %v", db.Damaged(err), err)
				}
				after, err := os.ReadFile(path)
				if err != nil || !bytes.Equal(before, after) {
					t.Errorf("the file was changed (%v)", err)
				}
			})
		}
	}
}

func TestOlderSchemaIsNotMigratedByAReader(t *testing.T) {
	if db.SchemaVersion() < 2 {
		t.Skip("there is no older schema yet")
	}
	path := unpacked(t, releasedName(1))
	_, err := store.OpenReadOnly(context.Background(), path)
	wantCode(t, err, memory.CodeOlderSchema)
}

// Every schema that was released opens, and what is in it can be read and gone
// on with.
func TestReleasedSchemas(t *testing.T) {
	ctx := context.Background()
	for version := 1; version <= db.SchemaVersion(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			name := releasedName(version)
			if _, err := os.Stat(name); os.IsNotExist(err) && version == db.SchemaVersion() {
				if !*update { // not released yet
					name = filepath.Join(t.TempDir(), filepath.Base(name))
				}
				writeReleased(t, name)
			}
			s, err := store.Open(ctx, unpacked(t, name), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			findings, err := s.Audit(ctx)
			if err != nil || len(findings) > 0 {
				t.Errorf("audit: %v %v", findings, err)
			}
			books, err := s.Books(ctx)
			if err != nil || books.Received != 11 || books.Pending != 2 || books.Failed != 1 || books.Processed != 8 {
				t.Errorf("got books %+v %v", books, err)
			}
			o, err := s.Observation(ctx, 1)
			if err != nil || o.Title != "alpha" || len(o.Files) != 2 || len(o.Concepts) != 1 {
				t.Errorf("got %+v %v", o, err)
			}
			if ids, err := s.FilterRecords(ctx, memory.Query{Files: []string{"AUTH"}}, nil, ""); err != nil || len(ids) == 0 {
				t.Errorf("got %v %v by a part of a file's name", ids, err)
			}
			digests, err := s.RecentSessions(ctx, "shop", 10)
			if err != nil || len(digests) != 3 || digests[0].Summary == nil {
				t.Errorf("got %+v %v", digests, err)
			}
			receipts, err := s.Enqueue(ctx, event(memory.KindTool, "s1", "after", 99))
			if err != nil || receipts[0].Status != memory.StatusPending || receipts[0].Session != 1 {
				t.Errorf("got %+v %v", receipts, err)
			}
		})
	}
}

func releasedName(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("schema-%04d.db.gz", version))
}

// unpacked unpacks a copy of the file of a released schema.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeReleased makes the file of the newest schema, which is never made again
// once it is released.
func writeReleased(t *testing.T, name string) {
	t.Helper()
	m := filled(t)
	m.enqueue(t, event(memory.KindTool, "s2", "dead", 5000))
	if err := m.Bury(context.Background(), m.claim(t, 2, 0), "garbage"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s1", "waits", 6000), event(memory.KindStop, "s1", "stops", 6001))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTextsArePacked: a memory of schema 5 says after the migration what it said before, in less
// space; what was damaged stays so, and the feed tells of nothing.
func TestTextsArePacked(t *testing.T) {
	ctx := t.Context()
	path := unpacked(t, releasedName(5))
	const narrative = "The total was rounded before the discount was taken off, so that a cart of three items was a cent too dear.\x00 After a NUL: since then the discount is taken off each line, and the lines are rounded."
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte("change\x00Packed\x00"+narrative+"\x00"+narrative+"\x00a fact\x00")))
	rawExec(t, path, `INSERT INTO observations (id, ulid, session_id, project, type, title, subtitle, narrative, facts, content_hash, files_key, origin, created_at)
		VALUES (100, 'PACKED', 1, '/home/dev/shop', 'change', 'Packed', ?1, ?1, '["a fact"]', ?2, substr(?2, 1, 32), 'user', 1),
			(101, 'DAMAGED', 1, '/home/dev/shop', 'change', 'Damaged', '', ?1, '[]', 'no hash', '', 'user', 2)`, narrative, hash)
	rawExec(t, path, "INSERT INTO session_summaries (id, ulid, session_id, request, learned, created_at) VALUES (100, 'LEARNED', 1, 'why', ?, 1)", narrative)
	rawExec(t, path, "UPDATE record_hashes SET text = text + 1 WHERE kind = 'observation' AND id = 101")
	rawExec(t, path, "INSERT INTO tombstones (kind, key, created_at) VALUES ('content', ?, 1)", strings.Repeat("0f", 32))
	last := rawRows(t, path, "SELECT max(seq) FROM changes")[0][0]

	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	o, err := s.Observation(ctx, 100)
	if err != nil || o.Narrative != narrative || o.Subtitle != narrative || len(o.Facts) != 1 || o.Damaged || o.ContentHash != hash[:32] {
		t.Errorf("got %+v %v", o, err)
	}
	if m, err := s.SessionSummaries(ctx, 1, 0); err != nil || len(m) == 0 || m[len(m)-1].Learned != narrative {
		t.Errorf("got summaries %+v %v", m, err)
	}
	if wrong, _, err := s.VerifyRecords(ctx, func() error { return nil }); err != nil || fmt.Sprint(wrong) != "[observation 101]" {
		t.Errorf("%v are damaged, %v; want observation 101", wrong, err)
	}
	if got := rawRows(t, path, "SELECT max(seq) FROM changes")[0][0]; got != last {
		t.Errorf("the feed goes to %v, want %v", got, last)
	}
	if got := fmt.Sprint(rawRows(t, path, "SELECT typeof(subtitle), typeof(narrative), typeof(facts), length(content_hash), length(files_key) FROM observations WHERE id >= 100")); got != "[[blob blob text 16 16] [text blob text 7 0]]" {
		t.Errorf("the columns are %s", got)
	}
	if got := rawRows(t, path, "SELECT key FROM tombstones WHERE kind = 'content'"); fmt.Sprint(got) != "[["+strings.Repeat("0f", 16)+"]]" {
		t.Errorf("the tombstone is %v", got)
	}
	again, err := s.AddObservation(ctx, memory.NewObservation{Session: 1, Type: memory.TypeChange, Title: "Packed", Subtitle: narrative, Narrative: narrative, Facts: []string{"a fact"}})
	if err != nil || again.ID != 100 || again.TimesSeen != 2 {
		t.Errorf("the same again is %+v, %v; want observation 100 seen twice", again, err)
	}
}

// TestRepairFromOlderSchema: a backup that was made before the update repairs what is damaged
// after it.
func TestRepairFromOlderSchema(t *testing.T) {
	ctx := t.Context()
	path := unpacked(t, releasedName(5))
	older := filepath.Join(t.TempDir(), "older.db")
	if err := upkeep.Copy(ctx, path, older); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	rawExec(t, path, `CREATE TEMP TABLE kept AS SELECT * FROM record_hashes; UPDATE observations SET title = 'spoiled' WHERE id = 1;
		UPDATE record_hashes SET text = (SELECT text FROM kept k WHERE k.kind = record_hashes.kind AND k.id = record_hashes.id)`)
	wrong, _, err := s.VerifyRecords(ctx, func() error { return nil })
	if err != nil || len(wrong) != 1 {
		t.Fatalf("%v are damaged, %v", wrong, err)
	}
	done, err := s.Repair(ctx, wrong, []string{older})
	if err != nil || len(done.Restored) != 1 {
		t.Errorf("got %+v, %v; want it restored", done, err)
	}
	if o, err := s.Observation(ctx, 1); err != nil || o.Title != "alpha" || o.Damaged {
		t.Errorf("got %+v, %v", o, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".salvage*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestCompactingIsPutOff: a migrated memory that could not be made smaller is so at a later start.
func TestCompactingIsPutOff(t *testing.T) {
	path := unpacked(t, releasedName(5))
	asked := "SELECT count(*) FROM counters WHERE name = 'compact'"
	size := func() int64 {
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if n := rawRows(t, path, asked)[0][0]; n != int64(0) {
			t.Errorf("it is asked for %v times", n)
		}
		rawExec(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	small := size()
	// As it is when the disk was full at the migration.
	rawExec(t, path, "CREATE TABLE wide AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT zeroblob(2000) FROM n; DROP TABLE wide")
	if large := size(); large < small+500_000 {
		t.Fatalf("%d and %d bytes: nothing is to be saved", small, large)
	}
	rawExec(t, path, "INSERT INTO counters (name, value) VALUES ('compact', 1)")
	if got := size(); got > small+20_000 {
		t.Errorf("%d bytes are left, want about %d", got, small)
	}
}

// migratingChild names the database that a child process, which is this test's binary, migrates.
const migratingChild = "CLAUDEMEM_TEST_MIGRATES"

func openAndClose(path string) {
	s, err := store.Open(context.Background(), path, store.Options{})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestKilledMigration: a process that migrates and compacts a memory of schema 5 is killed at any
// moment; the next one completes the migration, and no record has changed.
func TestKilledMigration(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	ctx := t.Context()
	filled := unpacked(t, releasedName(5))
	rawExec(t, filled, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
		INSERT INTO observations (id, ulid, session_id, project, type, title, narrative, content_hash, created_at)
		SELECT 1000 + i, 'U' || i, 1, '/p', 'change', 'T' || i, 'What was done in step ' || i || ': the queue keeps the event until it is confirmed.', printf('%032x%032x', i, 0), i FROM n`)
	rawExec(t, filled, `INSERT INTO observation_files (observation_id, position, path, role) SELECT id, 0, 'src/' || (id % 50) || '.go', 'read' FROM observations WHERE id > 1000`)
	texts := "SELECT o.id, o.title, unpacked(o.narrative), unpacked(o.facts), f.path FROM observations o LEFT JOIN observation_files f ON f.observation_id = o.id ORDER BY o.id, f.position"
	want := rawRows(t, filled, texts)
	fresh := func() string {
		path := filepath.Join(t.TempDir(), "memory.db")
		if err := upkeep.Copy(ctx, filled, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	start := func(path string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), migratingChild+"="+path), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	began := time.Now()
	if err := start(fresh()).Wait(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	killed := map[int64]int{} // by the schema that was reached
	// On a busy machine the first start may have been the fastest: then later moments are tried.
	for n := 0; n < 8 || len(killed) < 2 && n < 60; n++ {
		path := fresh()
		for range 2 {
			cmd := start(path)
			time.Sleep(whole * time.Duration(n+1) / 9)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		killed[rawRows(t, path, "PRAGMA user_version")[0][0].(int64)]++
		s, err := store.Open(ctx, path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if wrong, _, err := s.VerifyRecords(ctx, func() error { return nil }); err != nil || len(wrong) > 0 {
			t.Errorf("%d records are damaged, %v", len(wrong), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rawRows(t, path, texts)); diff != "" {
			t.Errorf("killed at %d of 9 (-before +after):\n%.2000s", n+1, diff)
		}
		if got := fmt.Sprint(rawRows(t, path, "SELECT (SELECT count(*) FROM counters WHERE name = 'compact'), (SELECT * FROM pragma_integrity_check)")); got != "[[0 ok]]" {
			t.Errorf("compacting asked for, and integrity: %s", got)
		}
	}
	if len(killed) < 2 {
		t.Errorf("all were killed at schema %v", killed)
	}
	t.Logf("whole %v, killed at schema %v", whole, killed)
}
