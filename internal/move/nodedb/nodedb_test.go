package nodedb_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
	"claudemem/internal/move/nodedb"
	"claudemem/proof/layouts"

	"github.com/google/go-cmp/cmp"
)

// read returns the records of a database by ULID, and the reasons of the rows that are none.
func read(t *testing.T, path string) (records map[memory.ULID]memory.Portable, reasons []string, rows nodedb.Rows) {
	t.Helper()
	c, err := nodedb.Open(t.Context(), path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := c.NewReader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	records = map[memory.ULID]memory.Portable{}
	for {
		p, _, err := r.Next()
		var fault *exchange.LineError
		switch {
		case errors.Is(err, io.EOF):
			return records, reasons, r.Rows
		case errors.As(err, &fault):
			reasons = append(reasons, fault.Err.Error())
		case err != nil:
			t.Fatal(err)
		default:
			if err := p.Check(); err != nil {
				t.Errorf("%s: %v", p.Kind(), err)
			}
			if ref := p.SessionRef(); ref != nil && records[*ref].Session == nil {
				t.Errorf("the %s %s comes before its session", p.Kind(), p.ULID())
			}
			if _, twice := records[p.ULID()]; twice {
				t.Errorf("%s is the name of two records", p.ULID())
			}
			records[p.ULID()] = p
		}
	}
}

// TestRecordsAreTheCallers: an import masks the texts of a record in place; those that follow
// are named as if it had not.
func TestRecordsAreTheCallers(t *testing.T) {
	path := filepath.Join(t.TempDir(), nodedb.FileName)
	db, err := layouts.Create(path, layouts.Versions[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := layouts.Fill(db, layouts.Versions[0]); err != nil {
		t.Fatal(err)
	}
	want, _, rows := read(t, path)
	if rows.Stubs == 0 {
		t.Fatal("no session is made for rows without one")
	}
	c, err := nodedb.Open(t.Context(), path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.NewReader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, _, err := r.Next()
		var fault *exchange.LineError
		if errors.Is(err, io.EOF) {
			return
		}
		if errors.As(err, &fault) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := want[p.ULID()]; !ok {
			t.Errorf("a %s has another name: %s", p.Kind(), p.ULID())
		}
		if p.Session != nil {
			p.Session.HostSessionID, p.Session.ProjectPath = "masked", "masked"
		}
	}
}

// sums returns the names of a folder's files with the sums of their bytes.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return files
}

// TestLayouts: each row of each layout is a record or has a reason, the same at each reading,
// also while the Node program has the database open; its folder stays as it is.
func TestLayouts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for _, version := range layouts.Versions {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, nodedb.FileName)
			db, err := layouts.Create(path, version)
			if err != nil {
				t.Fatal(err)
			}
			n, err := layouts.Fill(db, version)
			if err != nil {
				t.Fatal(err)
			}
			before := sums(t, dir)
			if before[nodedb.FileName+"-wal"] == "" {
				t.Fatal("the rows are not in a log")
			}
			records, reasons, rows := read(t, path)
			if got := len(records) + len(reasons); got != rows.Total() || rows.Total()-rows.Stubs != n {
				t.Errorf("%d records and %q of %d rows: %+v", len(records), reasons, n, rows)
			}
			if got := nodedb.Count(t.Context(), path, dir); got != rows.Observations {
				t.Errorf("%d of %d observations are counted while they are in the log", got, rows.Observations)
			}
			if diff := cmp.Diff(before, sums(t, dir)); diff != "" {
				t.Errorf("its folder was changed: %s", diff)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before = sums(t, dir)
			again, _, _ := read(t, path)
			if diff := cmp.Diff(records, again); diff != "" {
				t.Errorf("read again: %s", diff)
			}
			if got := nodedb.Count(t.Context(), path, dir); got != rows.Observations {
				t.Errorf("%d of %d observations are counted", got, rows.Observations)
			}
			if diff := cmp.Diff(before, sums(t, dir)); diff != "" {
				t.Errorf("its folder was changed: %s", diff)
			}
			checkRecords(t, version, records)
		})
	}
}

func checkRecords(t *testing.T, version int, records map[memory.ULID]memory.Portable) {
	byID := map[int]*memory.PortableObservation{}
	prompts := map[string]int{}
	for _, p := range records {
		if p.Observation != nil {
			byID[p.Observation.AskedID] = p.Observation
		}
		if p.Prompt != nil {
			prompts[p.Prompt.Text] = p.Prompt.Number
		}
	}
	if o := byID[4213]; o == nil || o.Title != "The cart rounded twice because totals were floats." || o.ProjectPath != "label:shop" || o.Type != memory.TypeBugfix || !strings.Contains(o.Narrative, "cents") {
		t.Errorf("4213 is %+v", o)
	}
	if o := byID[4213]; o != nil && records[o.Session].Session.HostSessionID != "host-1" {
		t.Errorf("4213 is of another session: %+v", records[o.Session].Session)
	}
	if o := byID[4215]; o == nil || o.CreatedAt != 1_750_000_000_000 {
		t.Errorf("4215 has not the time of its text: %+v", o)
	}
	if o := byID[4216]; o == nil || records[o.Session].Session == nil {
		t.Errorf("4216 has no session: %+v", o)
	}
	if o := byID[4218]; o == nil || o.ProjectPath != "/home/ada/tally" || !strings.Contains(o.Title, "\uFFFD") {
		t.Errorf("4218 is %+v", o)
	}
	if byID[4217] != nil || byID[4221] != nil {
		t.Error("a row without text, or with too much, is a record")
	}
	if version >= 8 {
		want := []memory.FileRef{{Path: "cart/total.go", Role: memory.FileModified}, {Path: "a.go", Role: memory.FileRead}, {Path: "b.go", Role: memory.FileRead}}
		if o := byID[5001]; o == nil || !cmp.Equal(o.Files, want) || !cmp.Equal(o.Concepts, []string{"gotcha", "why"}) || !cmp.Equal(o.Facts, []string{"tax is 19 %"}) {
			t.Errorf("5001 is %+v", o)
		}
		if o := byID[5003]; o == nil || o.Title != "Only a subtitle" || !cmp.Equal(o.Facts, []string{"not JSON"}) {
			t.Errorf("5003 is %+v", o)
		}
	}
	if want := map[string]int{"Why is the total wrong?": 1, "And the discount? &lt;private>hunter-two": 2, "A prompt of a lost session": 1}; version >= 10 && !maps.Equal(prompts, want) {
		t.Errorf("the prompts are %v", prompts)
	}
}

// TestProjectOfSession: a session has the project of its rows where only these tell it, so that
// they are adopted with it.
func TestProjectOfSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), nodedb.FileName)
	db, err := layouts.Create(path, 49)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at_epoch) VALUES ('h1', 'm1', 'old-shop', 1), ('h2', 'm2', 'unknown', 1), ('h3', 'm3', 'tally', 1)",
		"INSERT INTO observations (memory_session_id, project, merged_into_project, type, title, created_at_epoch) VALUES ('m1', 'old-shop', 'shop', 'change', 'a', 2), ('m2', 'shop', NULL, 'change', 'b', 2), ('m3', 'tally/fix', NULL, 'change', 'c', 2)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	records, _, _ := read(t, path)
	want := map[string]string{"h1": "label:shop", "h2": "label:shop", "h3": "label:tally"}
	for _, p := range records {
		if s := p.Session; s != nil && (s.ProjectPath != want[s.HostSessionID] || "label:"+s.Label != s.ProjectPath) {
			t.Errorf("%s is of %s, called %s, want %s", s.HostSessionID, s.ProjectPath, s.Label, want[s.HostSessionID])
		}
		if o := p.Observation; o != nil && o.ProjectPath != records[o.Session].Session.ProjectPath {
			t.Errorf("%s is of %s, its session of %s", o.Title, o.ProjectPath, records[o.Session].Session.ProjectPath)
		}
	}
}

// TestOther: files of other programs are refused.
func TestOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	for content, want := range map[string]memory.Code{"": memory.CodeInvalid, "hello": memory.CodeInvalid} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := nodedb.Open(t.Context(), path, t.TempDir()); memory.CodeOf(err) != want {
			t.Errorf("%q: %v", content, err)
		}
		if n := nodedb.Count(t.Context(), path, t.TempDir()); n != 0 {
			t.Errorf("%q has %d observations", content, n)
		}
	}
}

// TestComputedTablesAreRefused: a table that is read has stored rows; what computes them is not
// run, neither to import nor to count.
func TestComputedTablesAreRefused(t *testing.T) {
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	for name, script := range map[string]string{
		"view":             "DROP TABLE observations; CREATE VIEW observations AS " + endless + "i AS id, 'x' AS title FROM n",
		"generated column": "ALTER TABLE observations ADD COLUMN g TEXT AS (hex(zeroblob(100000000))) VIRTUAL",
		"virtual table":    "DROP TABLE observations; CREATE VIRTUAL TABLE observations USING fts5(title)",
		"prompts":          "DROP TABLE IF EXISTS user_prompts; CREATE VIEW user_prompts AS " + endless + "i AS id FROM n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), nodedb.FileName)
			db, err := layouts.Create(path, layouts.Versions[len(layouts.Versions)-1])
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("PRAGMA foreign_keys = 0; " + script); err != nil {
				t.Fatal(err)
			}
			if _, err := nodedb.Open(t.Context(), path, t.TempDir()); memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), "computed") {
				t.Errorf("opened: %v", err)
			}
			if n := nodedb.Count(t.Context(), path, t.TempDir()); n != 0 {
				t.Errorf("counted %d", n)
			}
		})
	}
}
