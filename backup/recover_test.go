package backup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claudemem/atomicfile"
)

// TestRecoverOnFullDisk checks that a recovery for which there is no space changes nothing,
// rather than to give up rows that could still be read.
func TestRecoverOnFullDisk(t *testing.T) {
	for _, full := range []string{restoring, filepath.Join("*", databaseName), filepath.Join("*", "result.db")} {
		t.Run(full, func(t *testing.T) {
			dir := memory(t, 3)
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
	dir := memory(t, 3)
	made, err := Make(t.Context(), dir, 1, day)
	must(t, err)
	must(t, os.Truncate(made.Path, 9000))
	must(t, os.WriteFile(filepath.Join(dir, databaseName), []byte(strings.Repeat("not a database ", 1000)), 0o600))
	done, err := Recover(t.Context(), dir, day)
	if err != nil || done.From != nil || done.Rows != 0 || done.Unread == nil || len(done.Unsound) != 1 {
		t.Errorf("%+v, %v; want one unsound backup and why no rows were read", done, err)
	}
}
