package devices

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOwnFiles: a device whose own file was changed, cut, swapped or deleted in the folder tells that once and writes its records anew, so
// that who joins later has them; an own file that was only touched, or put back after it was replaced, is no fault.
func TestOwnFiles(t *testing.T) {
	a := newMachine(t, "ada")
	a.remember("first")
	folder, sheet := share(t, a)
	first := contentOf(t, folder)
	a.remember("second")
	a.sync()
	a.sync()
	before := contentOf(t, folder)
	if len(before) < 2 {
		t.Fatalf("%d files", len(before))
	}
	put := func(name string, content []byte) {
		t.Helper()
		a.must(os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	for name := range before {
		at := time.Now().Add(-time.Hour)
		a.must(os.Chtimes(filepath.Join(folder, name), at, at))
	}
	if r := a.sync(); len(r.Refused) > 0 || !maps.EqualFunc(before, contentOf(t, folder), func(x, y []byte) bool { return string(x) == string(y) }) {
		t.Errorf("touched files: %+v", r.Refused)
	}
	changes := map[string]func(name string, content []byte){
		"changed": func(name string, content []byte) { content[len(content)/2] ^= 1; put(name, content) },
		"cut":     func(name string, content []byte) { put(name, content[:len(content)/2]) },
		"emptied": func(name string, _ []byte) { put(name, nil) },
		"swapped": func(name string, _ []byte) {
			for other, content := range contentOf(t, folder) {
				if other != name {
					put(name, content)
				}
			}
		},
		"deleted": func(name string, _ []byte) { a.must(os.Remove(filepath.Join(folder, name))) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			a.remember("before it was " + name)
			a.sync()
			all := contentOf(t, folder)
			for file, content := range all {
				change(file, content)
				break
			}
			want := map[bool]string{true: "is gone", false: "was changed"}[name == "deleted"]
			if r := a.sync(); len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, want) {
				t.Errorf("told %+v, want one file that %s", r.Refused, want)
			}
			for range 2 {
				if r := a.sync(); len(r.Refused) > 0 {
					t.Errorf("told again: %+v", r.Refused)
				}
			}
			b := newMachine(t, "bob")
			b.must(Join(t.Context(), b.dir, Place{Folder: folder}, "bob", sheet))
			if r := b.sync(); len(r.Refused) > 0 {
				t.Errorf("another device is told %+v", r.Refused)
			}
			same(t, a, b)
			c, err := Load(b.dir)
			b.must(err)
			for file, content := range contentOf(t, folder) { // as if b had never been there
				if o, err := open(c.current().secret(), content); err != nil || o.Device == c.Device() {
					a.must(os.Remove(filepath.Join(folder, file)))
				}
			}
		})
	}
	for name, content := range first {
		put(name, content)
	}
	if r := a.sync(); len(r.Refused) > 0 {
		t.Errorf("an old copy that was put back: told %+v", r.Refused)
	}
	for name := range first {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Error("an old copy that was put back is not deleted")
		}
	}
}
