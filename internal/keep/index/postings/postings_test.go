package postings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"claudemem/internal/keep/sqlite"
)

var texts = Of("texts")

// openTable makes an empty FTS5 table as package index has it.
func openTable(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	run(t, db, "CREATE VIRTUAL TABLE texts USING fts5(words, content='', contentless_delete=1, tokenize='ascii tokenchars _', detail=none)")
	run(t, db, "CREATE VIRTUAL TABLE words USING fts5vocab(texts, row)")
	return db
}

func run(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

func querying(db *sql.DB) Query {
	return func(ctx context.Context, query string, row func(scan sqlite.Scan) error, args ...any) error {
		return sqlite.Rows(db.QueryContext(ctx, query, args...)).Each(row) //nolint:rowserrcheck // Each checks it
	}
}

// write adds documents, or puts others in their place, in one transaction, which makes a segment.
func write(t testing.TB, db *sql.DB, r *rand.Rand, documents ...int) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		words := []string{"_kobservation"}
		for range 12 {
			// Frequent and rare words, and some that are alike in their first bytes.
			words = append(words, fmt.Sprintf("%s%d", []string{"wagen", "rad", "größe", "_hrad"}[r.IntN(4)], int(3000*r.Float64()*r.Float64()*r.Float64()*r.Float64())))
		}
		if d%3 > 0 {
			words = append(words, "many")
		}
		for _, s := range []struct {
			text string
			args []any
		}{{"DELETE FROM texts WHERE rowid = ?", []any{d}}, {"INSERT INTO texts(rowid, words) VALUES (?, ?)", []any{d, strings.Join(words, " ")}}} {
			if _, err := tx.Exec(s.text, s.args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func numbers(from, to int) (list []int) {
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// check compares the lists of all tokens, and of some that the table does not have, with what FTS5
// finds: all of that is in the list, and nothing else but documents of gone.
func check(t *testing.T, db *sql.DB, gone map[uint32]bool) {
	t.Helper()
	var tokens []string
	err := querying(db)(t.Context(), "SELECT term FROM words", func(scan sqlite.Scan) error {
		tokens = append(tokens, "")
		return scan(&tokens[len(tokens)-1])
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens = append(tokens, "", "a", "wagen", "zzz", "\x00", `"`, "größe1x")
	for some := range slices.Chunk(tokens, 40) {
		lists := make([][]uint32, len(some))
		err := texts.Read(t.Context(), querying(db), some, func(token int, documents []uint32) { lists[token] = slices.Clone(documents) })
		if err != nil {
			t.Fatal(err)
		}
		for i, token := range some {
			var want []uint32
			err := querying(db)(t.Context(), "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", func(scan sqlite.Scan) error {
				want = append(want, 0)
				return scan(&want[len(want)-1])
			}, `"`+strings.NewReplacer(`"`, `""`, "\x00", "").Replace(token)+`"`)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(slices.Clone(lists[i]), func(d uint32) bool { _, ok := slices.BinarySearch(want, d); return gone[d] && !ok })
			if !slices.Equal(got, want) {
				t.Fatalf("%q: %d documents, want %d; %v, want %v", token, len(got), len(want), first(got), first(want))
			}
			if !slices.IsSorted(lists[i]) || len(slices.Compact(slices.Clone(lists[i]))) != len(lists[i]) {
				t.Fatalf("%q: not in order or twice: %v", token, first(lists[i]))
			}
		}
	}
}

func ignore(int, []uint32) {}

func first(list []uint32) []uint32 { return list[:min(len(list), 10)] }

// TestRead: whatever has happened to the table, the lists are those of FTS5.
func TestRead(t *testing.T) {
	db := openTable(t)
	r := rand.New(rand.NewPCG(1, 2))
	check(t, db, nil) // an empty one
	write(t, db, r, 7)
	check(t, db, nil)
	gone := map[uint32]bool{}
	const all = 18_000
	for from := 0; from < all; from += 3000 {
		write(t, db, r, numbers(from+10, from+3010)...)
		// Others in the place of earlier ones, and some deleted.
		var again []int
		for range 50 {
			d := r.IntN(from + 3000)
			again = append(again, d)
			gone[uint32(d)] = true
		}
		write(t, db, r, again...)
		for range 10 {
			d := r.IntN(from + 3000)
			run(t, db, "DELETE FROM texts WHERE rowid = ?", d)
			gone[uint32(d)] = true
		}
		run(t, db, "INSERT INTO texts(texts, rank) VALUES ('merge', ?)", 1+from%7*40) // a part of a merge, mostly
		check(t, db, gone)
	}
	write(t, db, r, 1<<31, 1<<32-1)
	check(t, db, gone)
	run(t, db, "INSERT INTO texts(texts) VALUES ('optimize')")
	check(t, db, gone)
}

// TestDamaged: pages that are missing or changed give an error or a list, and no panic.
func TestDamaged(t *testing.T) {
	db := openTable(t)
	r := rand.New(rand.NewPCG(3, 4))
	write(t, db, r, numbers(1, 20_000)...)
	tokens := []string{"many", "wagen1", "_hrad7", "größe0"}
	run(t, db, "CREATE TABLE saved AS SELECT * FROM texts_data")
	failed := 0
	for range 200 {
		run(t, db, "UPDATE texts_data SET block = CAST(substr(block, 1, abs(random()) % length(block)) || randomblob(abs(random()) % 30) || substr(block, abs(random()) % length(block)) AS BLOB) WHERE abs(random()) % 4 = 0")
		if r.IntN(3) == 0 {
			run(t, db, "DELETE FROM texts_data WHERE abs(random()) % 5 = 0")
		}
		if err := texts.Read(t.Context(), querying(db), tokens, ignore); err != nil {
			if !errors.Is(err, sqlite.ErrDamaged) {
				t.Fatal(err)
			}
			failed++
		}
		run(t, db, "INSERT OR REPLACE INTO texts_data SELECT * FROM saved")
	}
	if failed < 50 {
		t.Errorf("%d of 200 damages were noticed", failed)
	}
	check(t, db, nil)
	for _, spoil := range []string{"DELETE FROM texts_data WHERE id = 10", "INSERT OR REPLACE INTO texts_data VALUES (10, x'')"} {
		run(t, db, spoil)
		if err := texts.Read(t.Context(), querying(db), tokens, ignore); !errors.Is(err, sqlite.ErrDamaged) {
			t.Errorf("%s: %v", spoil, err)
		}
	}
}

func FuzzPage(f *testing.F) {
	db := openTable(f)
	write(f, db, rand.New(rand.NewPCG(5, 6)), numbers(1, 3000)...)
	err := querying(db)(f.Context(), "SELECT block FROM texts_data", func(scan sqlite.Scan) error {
		var block []byte
		err := scan(&block)
		f.Add(block)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, page []byte) {
		_, _ = parseStructure(page)
		for _, term := range []string{"0many", "0rad1", "0_hrad7", "0größe0"} {
			for _, found := range []bool{false, true} {
				_ = new(reading).read(&walk{term: []byte(term), last: 1, found: found}, page)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	db := openTable(b)
	write(b, db, rand.New(rand.NewPCG(5, 6)), numbers(1, 20_000)...)
	b.Run("pages", func(b *testing.B) {
		for b.Loop() {
			if err := texts.Read(b.Context(), querying(db), []string{"many", "wagen1"}, ignore); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("match", func(b *testing.B) {
		for b.Loop() {
			for _, token := range []string{"many", "wagen1"} {
				var joined sql.RawBytes
				err := querying(db)(b.Context(), "SELECT group_concat(rowid) FROM texts WHERE texts MATCH ?", func(scan sqlite.Scan) error { return scan(&joined) }, token)
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
