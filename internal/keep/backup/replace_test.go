package backup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
)

// forget erases what has a text from the memory of dir.
func forget(t *testing.T, dir, text string) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, databaseName), store.Options{})
	must(t, err)
	_, err = s.Forget(t.Context(), memory.Forgetting{Text: text}, func(e *care.Erasure) error { return NoteErasure(dir, e) })
	must(t, err)
	must(t, s.Scrub(t.Context()))
	must(t, s.Close())
}

// TestReplace: the backups from before something was forgotten make way for a new one, whatever
// times their names have, and those of other memories and from after it stay; where none is to
// be kept, none is made.
func TestReplace(t *testing.T) {
	none := func(Backup) bool { return false }
	for _, keep := range []int{0, 3} {
		dir := makeMemory(t, 3)
		other := makeMemory(t, 1)
		forget(t, other, "decision 0")
		foreign, err := Make(t.Context(), other, 3, day.AddDate(-1, 0, 0))
		must(t, err)
		must(t, os.MkdirAll(Folder(dir), 0o700))
		must(t, os.Rename(foreign.Path, filepath.Join(Folder(dir), foreign.Name)))
		if removed, err := Replace(t.Context(), dir, keep, day, none); err != nil || removed != nil {
			t.Errorf("without anything forgotten: %v, %v", removed, err)
		}
		var before []string
		for _, at := range []time.Time{day, day.AddDate(40, 0, 0)} {
			b, err := Make(t.Context(), dir, 3, at)
			must(t, err)
			before = append(before, b.Name)
		}
		forget(t, dir, "decision 1 of")
		after, err := Make(t.Context(), dir, 5, day.AddDate(-2, 0, 0))
		must(t, err)
		removed, err := Replace(t.Context(), dir, keep, day.AddDate(-3, 0, 0), none)
		must(t, err)
		slices.Reverse(removed)
		if !slices.Equal(removed, before) {
			t.Errorf("keep %d: removed %v, want %v", keep, removed, before)
		}
		list, err := List(dir)
		must(t, err)
		kept := map[string]bool{}
		for _, b := range list {
			kept[b.Name] = true
		}
		if want := 2 + min(keep, 1); !kept[after.Name] || !kept[foreign.Name] || len(list) != want {
			t.Errorf("keep %d: %v are left", keep, kept)
		}
		if again, err := Replace(t.Context(), dir, keep, day, none); err != nil || again != nil {
			t.Errorf("removed %v again, %v", again, err)
		}
	}
}

// TestOrder: backups are ordered as they were made, whatever times their names have.
func TestOrder(t *testing.T) {
	dir := makeMemory(t, 1)
	var made []string
	for _, years := range []int{0, 40, -40, 0} {
		b, err := Make(t.Context(), dir, 3, day.AddDate(years, 0, 0))
		must(t, err)
		made = append([]string{b.Name}, made...)
	}
	list, err := List(dir)
	must(t, err)
	var got []string
	for _, b := range list {
		got = append(got, b.Name)
	}
	if !slices.Equal(got, made[:3]) {
		t.Errorf("backups %v, want %v", got, made[:3])
	}
}

// TestErasures: what was forgotten after a backup is erased from what is restored or recovered
// from it, and what cannot be applied is named.
func TestErasures(t *testing.T) {
	text := "decision 1 of"
	holds := func(dir string) (found bool) {
		must(t, care.VisitTexts(t.Context(), filepath.Join(dir, databaseName), func(row string) bool {
			found = found || strings.Contains(row, text)
			return true
		}))
		return found
	}
	start := func() (dir string, old Backup) {
		dir = makeMemory(t, 3)
		b, err := Make(t.Context(), dir, 3, day)
		must(t, err)
		forget(t, dir, text)
		return dir, b
	}
	for name, restore := range map[string]func(dir string, old Backup) (Applied, error){
		"restored": func(dir string, old Backup) (Applied, error) {
			_, applied, err := Restore(t.Context(), dir, old, day)
			return applied, err
		},
		"recovered": func(dir string, old Backup) (Applied, error) {
			must(t, os.Remove(filepath.Join(dir, databaseName)))
			done, err := Recover(t.Context(), dir, day)
			return done.Applied, err
		},
		"put in place by hand": func(dir string, old Backup) (Applied, error) {
			must(t, copyFile(old.Path, filepath.Join(dir, databaseName)))
			return ApplyErasures(t.Context(), dir, filepath.Join(dir, databaseName))
		},
		"beside a damaged one": func(dir string, old Backup) (Applied, error) {
			add(t, dir, 2)
			must(t, os.Truncate(filepath.Join(dir, databaseName), 9000))
			done, err := Recover(t.Context(), dir, day)
			return done.Applied, err
		},
	} {
		dir, old := start()
		applied, err := restore(dir, old)
		if err != nil || applied.Erasures != 1 || len(applied.Unapplied) > 0 && name != "beside a damaged one" {
			t.Errorf("%s: %+v, %v", name, applied, err)
		}
		if holds(dir) {
			t.Errorf("%s: it is back", name)
		}
		if n := observations(t, dir); n < 2 {
			t.Errorf("%s: %d observations are left", name, n)
		}
	}

	dir, old := start()
	must(t, os.WriteFile(filepath.Join(dir, erasuresName), []byte("garbage"), 0o600))
	if _, applied, err := Restore(t.Context(), dir, old, day); err != nil || len(applied.Unapplied) != 2 {
		t.Errorf("with garbage in the place of the erasures: %+v, %v", applied, err)
	}
	forget(t, dir, "decision 2 of")
	if list, broken, err := readErasures(dir); err != nil || len(list) != 1 || len(broken) != 1 {
		t.Errorf("after garbage: %d and %d lines, %v", len(list), len(broken), err)
	}
	dir, _ = start()
	_, of := start()
	if _, applied, err := Restore(t.Context(), dir, of, day); err != nil || len(applied.Unapplied) != 1 || applied.Erasures != 0 {
		t.Errorf("of another memory: %+v, %v", applied, err)
	}
}
