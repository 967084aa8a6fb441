package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStartReason: what a worker leaves in the marker when it cannot start is the reason of
// that start, also after the next one has begun, and nothing else of its output is.
func TestStartReason(t *testing.T) {
	for output, want := range map[string]string{
		"":                                   "",
		"reason: no such table (doctor)\n":   "no such table (doctor)",
		"error: other words\nhint: a hint\n": "",
		"panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\n": "it crashed (panic: runtime error: index out of range [3])",
		"fatal error: runtime: out of memory\n":                                    "it crashed (fatal error: runtime: out of memory)",
		"panic: secret words of a memory\n":                                        "it crashed",
		"reason: " + strings.Repeat("ä", 3000):                                     strings.Repeat("ä", 250) + "…",
	} {
		dir := t.TempDir()
		at := time.UnixMilli(1_700_000_000_000)
		for i := range 3 {
			if mine, err := ClaimStart(dir, at.Add(time.Duration(i)*time.Hour), false); !mine || err != nil {
				t.Fatalf("claim: %v, %v", mine, err)
			}
			if i == 0 {
				f, err := StartOutput(dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.WriteString(output); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, attempts, reason, err := LastStart(dir); attempts != i+1 || reason != want || err != nil {
				t.Errorf("after %q, start %d: %d attempts, %q, %v, want %q", output, i+1, attempts, reason, err, want)
			}
		}
		NoteStart(dir, "a newer\nreason")
		if _, _, reason, _ := LastStart(dir); reason != "a newer reason" {
			t.Errorf("after %q: %q, want the newer one", output, reason)
		}
	}
}

// TestMisplaced: each entry of a data directory that is something else is named; links to
// what it should be, and entries that are not there, are fine.
func TestMisplaced(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "memory.db")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "memory.db")); err != nil {
		t.Fatal(err)
	}
	if wrong := Misplaced(dir); wrong != nil {
		t.Errorf("of a sound directory: %q", wrong)
	}
	want := 0
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		_ = os.Remove(path)
		if f.dir {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		want++
		if wrong := Misplaced(dir); len(wrong) != want || !strings.HasPrefix(wrong[want-1], f.name+" is a ") && !strings.Contains(strings.Join(wrong, "\n"), f.name+" is a ") {
			t.Errorf("%s is not named in %q", f.name, wrong)
		}
	}
}
