package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/atomicfile"
)

// TestRecoverOnFullDisk checks that a recovery for which there is no space changes nothing,
// rather than to give up rows that could still be read.
func TestRecoverOnFullDisk(t *testing.T) {
	for _, full := range []string{restoring, filepath.Join("*", databaseName), filepath.Join("*", "result.db")} {
		t.Run(full, func(t *testing.T) {
			dir := makeMemory(t, 3)
			_, err := Make(t.Context(), dir, 1, day)
			must(t, err)
			add(t, dir, 2)
			writeFrom = func(to string, from io.Reader, mode fs.FileMode) error {
				if ok, _ := filepath.Match(filepath.Join(dir, full), to); ok {
					return syscall.ENOSPC
				}
				return atomicfile.WriteFrom(to, from, mode)
			}
			defer func() { writeFrom = atomicfile.WriteFrom }()
			before := names(t, dir)
			if done, err := Recover(t.Context(), dir, day); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("recovered: %+v, %v", done, err)
			}
			// Its copy of a backup may be left; the next one replaces it.
			for _, name := range names(t, dir) {
				if name != restoring && !slices.Contains(before, name) {
					t.Errorf("%s is left", name)
				}
			}
			if n := observations(t, dir); n != 5 {
				t.Errorf("%d observations, want 5", n)
			}
			writeFrom = atomicfile.WriteFrom
			if done, err := Recover(t.Context(), dir, day); err != nil || done.Rows == 0 || done.Unread != nil || observations(t, dir) != 5 {
				t.Errorf("with space: %+v, %v", done, err)
			}
		})
	}
}

// TestRecoverTellsWhatFailed checks that the result names the backups that were passed over
// and why no rows could be copied.
func TestRecoverTellsWhatFailed(t *testing.T) {
	dir := makeMemory(t, 3)
	made, err := Make(t.Context(), dir, 1, day)
	must(t, err)
	must(t, os.Truncate(made.Path, 9000))
	must(t, os.WriteFile(filepath.Join(dir, databaseName), []byte(strings.Repeat("not a database ", 1000)), 0o600))
	done, err := Recover(t.Context(), dir, day)
	if err != nil || done.From != nil || done.Rows != 0 || done.Unread == nil || len(done.Unsound) != 1 {
		t.Errorf("%+v, %v; want one unsound backup and why no rows were read", done, err)
	}
}

// TestFirstDay damages a memory that has no backup where today all would be lost, in its header
// and in each page of the schema: the records come back, each as it was written or withheld, and
// nothing that was forgotten does.
func TestFirstDay(t *testing.T) {
	const records = 200
	dir := makeMemory(t, records)
	forget(t, dir, "decision 7 of")
	path := filepath.Join(dir, databaseName)
	whole, err := os.ReadFile(path)
	must(t, err)
	const page = 4096
	var schema []int // the offsets of the pages with its schema
	for at := 0; at < len(whole); at += page {
		if text := whole[at : at+page]; at == 0 || bytes.Contains(text, []byte("CREATE T")) || bytes.Contains(text, []byte("CREATE I")) {
			schema = append(schema, at)
		}
	}
	type harm struct {
		name string
		do   func(c []byte) []byte
		want int
	}
	zero := func(from, to int) func(c []byte) []byte {
		return func(c []byte) []byte { clear(c[from:to]); return c }
	}
	harms := []harm{
		{"header zeroed", zero(0, 100), records - 1}, {"first page zeroed", zero(0, page), records - 1}, {"first byte", zero(0, 1), records - 1},
		{"cut to half", func(c []byte) []byte { return c[:len(c)/2] }, 0},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		at := schema[random.IntN(len(schema))] + random.IntN(page)
		harms = append(harms, harm{fmt.Sprintf("byte %d", at), func(c []byte) []byte { c[at] ^= 1 << random.IntN(8); return c }, records - 1})
	}
	least, all, complete := records, 0, 0
	for _, h := range harms {
		must(t, os.RemoveAll(AsideFolder(dir)))
		must(t, os.WriteFile(path, h.do(slices.Clone(whole)), 0o600))
		_, err := Recover(t.Context(), dir, day)
		must(t, err)
		n := 0
		if _, err := os.Stat(path); err == nil {
			n = observations(t, dir)
			wrong, err := upkeep.Verify(t.Context(), path)
			must(t, err)
			if len(wrong) > 0 {
				t.Errorf("%s: %v", h.name, wrong)
			}
			must(t, care.VisitTexts(t.Context(), path, func(text string) bool {
				if strings.Contains(text, "decision 7 of") {
					t.Errorf("%s: what was forgotten is back", h.name)
				}
				return true
			}))
		}
		if n < h.want {
			t.Errorf("%s: %d of %d records are back", h.name, n, h.want)
		}
		if n >= records-1 {
			complete++
		}
		least, all = min(least, n), all+n
		must(t, removeFiles(dir, databaseFiles))
	}
	t.Logf("%d damages without a backup: all records are back after %d, at least %d of %d, %.1f on average", len(harms), complete, least, records-1, float64(all)/float64(len(harms)))
}
