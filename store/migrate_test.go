package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"claudemem"
	"claudemem/store"
)

var update = flag.Bool("update", false, "write the file of a schema that has none yet")

func TestUnknownSchemaIsRefusedUntouched(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name    string
		version int
		want    claudemem.Code
	}{
		{"newer", 999, claudemem.CodeNewerSchema},
		{"negative", -1, claudemem.CodeStorage},
		{"most negative", math.MinInt32, claudemem.CodeStorage},
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
				db := rawOpen(t, path)
				if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", test.version)); err != nil {
					t.Fatal(err)
				}
				if inLog {
					// The other program still has the file open, so its log is not copied into it.
					if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
						t.Fatalf("there is no log: %v", err)
					}
				} else if err := db.Close(); err != nil {
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
				if store.Damaged(err) != (test.version < 0) {
					t.Errorf("damaged: %v of %v", store.Damaged(err), err)
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
	if store.SchemaVersion() < 2 {
		t.Skip("there is no older schema yet")
	}
	path := unpacked(t, releasedName(1))
	_, err := store.OpenReadOnly(context.Background(), path)
	wantCode(t, err, claudemem.CodeOlderSchema)
}

// Every schema that was released opens, and what is in it can be read and gone
// on with.
func TestReleasedSchemas(t *testing.T) {
	ctx := context.Background()
	for version := 1; version <= store.SchemaVersion(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			name := releasedName(version)
			if _, err := os.Stat(name); os.IsNotExist(err) && version == store.SchemaVersion() {
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
			if ids, err := s.FilterRecords(ctx, claudemem.Query{Files: []string{"AUTH"}}, nil, ""); err != nil || len(ids) == 0 {
				t.Errorf("got %v %v by a part of a file's name", ids, err)
			}
			digests, err := s.RecentSessions(ctx, "shop", 10)
			if err != nil || len(digests) != 3 || digests[0].Summary == nil {
				t.Errorf("got %+v %v", digests, err)
			}
			receipts, err := s.Enqueue(ctx, event(claudemem.KindTool, "s1", "after", 99))
			if err != nil || receipts[0].Status != claudemem.StatusPending || receipts[0].Session != 1 {
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
	m.enqueue(t, event(claudemem.KindTool, "s2", "dead", 5000))
	if err := m.Bury(context.Background(), m.claim(t, 2, 0), "garbage"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(claudemem.KindTool, "s1", "waits", 6000), event(claudemem.KindStop, "s1", "stops", 6001))
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
