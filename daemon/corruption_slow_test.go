//go:build slow

package daemon

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem"
)

// served starts a worker on dir and returns the observations that it lists, as JSON, and the
// notices for the user.
func served(t *testing.T, dir string) (output, told string) {
	t.Helper()
	w, err := Open(t.Context(), config(dir))
	if err != nil {
		return "", "refused: " + err.Error()
	}
	defer closeWorker(t, w)
	list, err := w.store.Observations(t.Context(), claudemem.Query{})
	content, _ := json.Marshal(list)
	notices, failed := w.store.TakeNotices(t.Context())
	if err != nil || failed != nil {
		return string(content), fmt.Sprint("error: ", err, failed)
	}
	return string(content), strings.Join(notices, "\n")
}

// TestCorruptions damages a memory in 200 ways and counts how many changed the output and how
// many were reported to the user. All that changed it must be reported except flips: a changed
// byte in a text leaves the structure of the file intact. The test only counts those.
func TestCorruptions(t *testing.T) {
	sound := used(t)
	want, told := served(t, sound)
	if told != "" {
		t.Fatal(told)
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	random := rand.New(rand.NewPCG(1, 2))
	harms := []struct {
		name  string
		count int
		harm  func(path string)
	}{
		{"flip", 80, func(path string) { overwrite(t, path, random.Int64N(size(path)), 1) }},
		{"zeroed page", 40, func(path string) {
			at := random.Int64N(size(path)/4096) * 4096
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt(make([]byte, 4096), at)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}},
		{"cut", 40, func(path string) { cut(t, path, random.Int64N(size(path))) }},
		{"older copy", 10, func(path string) { olderCopy(t, path) }},
		{"other memory", 10, func(path string) { another(t, path) }},
		{"other file", 10, func(path string) { overwrite(t, path, 0, 100+random.IntN(4000)) }},
		{"deleted", 10, func(path string) { remove(t, path) }},
	}
	for _, h := range harms {
		changed, toldOf, untold := 0, 0, 0
		for range h.count {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
				t.Fatal(err)
			}
			// Copies have the times of the original.
			if info, err := os.Stat(filepath.Join(sound, databaseName)); err != nil || os.Chtimes(filepath.Join(dir, databaseName), info.ModTime(), info.ModTime()) != nil {
				t.Fatal(err)
			}
			h.harm(filepath.Join(dir, databaseName))
			got, told := served(t, dir)
			if told != "" {
				toldOf++
			}
			if got != want {
				changed++
				if told == "" {
					untold++
				}
			}
			if strings.HasPrefix(told, "refused") {
				t.Errorf("%s: %s", h.name, told)
			}
		}
		t.Logf("point 3: %s: %d harmed, output changed %d, told %d, changed and not told %d", h.name, h.count, changed, toldOf, untold)
		if untold > 0 && h.name != "flip" {
			t.Errorf("%s: %d changed the output and were not told", h.name, untold)
		}
	}
}
