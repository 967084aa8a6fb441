package backup

import (
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// TestSuspect checks when a database is not taken for the memory that the last worker left.
func TestSuspect(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, databaseName), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Title: "kept"}); err != nil {
		t.Fatal(err)
	}
	place, err := s.Place(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	as := Mark{Memory: place.Memory, Position: place.Position, Received: place.Received}
	for name, test := range map[string]struct {
		change func(*Mark)
		gone   bool
		want   string // "" for no error
	}{
		"as it was":      {change: func(*Mark) {}},
		"with more":      {change: func(m *Mark) { m.Position-- }},
		"no mark":        {change: func(m *Mark) { *m = Mark{} }, gone: true},
		"missing":        {change: func(*Mark) {}, gone: true, want: "missing or empty"},
		"damaged":        {change: func(m *Mark) { m.Damage = "page 3" }, want: "damaged: page 3"},
		"another":        {change: func(m *Mark) { m.Memory++ }, want: "another memory"},
		"without a log":  {change: func(m *Mark) { m.Position += 7 }, want: "lacks 7 changes and 0 events"},
		"without events": {change: func(m *Mark) { m.Received += 2 }, want: "lacks 0 changes and 2 events"},
	} {
		t.Run(name, func(t *testing.T) {
			mark := as
			test.change(&mark)
			if err := WriteMark(dir, mark); err != nil {
				t.Fatal(err)
			}
			db := s
			if test.gone {
				db = nil
			}
			err := Suspect(t.Context(), dir, db)
			if test.want == "" && err == nil {
				return
			}
			if test.want == "" || memory.CodeOf(err) != memory.CodeStorage || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
