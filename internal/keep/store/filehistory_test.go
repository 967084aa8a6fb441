package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"claudemem/internal/find/recall/moments"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

var (
	_ moments.History = (*store.Store)(nil)
	_ moments.Given   = (*store.Store)(nil)
)

func TestObservationsOfFile(t *testing.T) {
	m := newMemory(t)
	ctx := context.Background()
	const shop, till = "/home/dev/shop", "/home/dev/till"
	add := func(project, title string, at memory.Millis, files ...string) memory.ObservationID {
		t.Helper()
		n := memory.NewObservation{ProjectPath: project, Type: memory.TypeBugfix, Title: title, Origin: memory.OriginUser, CreatedAt: base + at}
		for _, f := range files {
			n.Files = append(n.Files, memory.FileRef{Path: f, Role: memory.FileModified})
		}
		o, err := m.AddObservation(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		return o.ID
	}
	old := add(shop, "old", 1, "src/cart.go", "src/cart.go")
	add(shop, "another directory", 2, "lib/src/cart.go", "cart.go")
	add(shop, "a longer name", 3, "src/cart.go.orig")
	add(till, "another project", 4, "src/cart.go")
	late := add(shop, "stored late, but not the newest", 0, "src/cart.go")
	newest := add(shop, "newest", 9, "README.md", "src/cart.go")
	hidden := add(shop, "hidden", 10, "src/cart.go")
	if err := m.Hide(int64(hidden)); err != nil {
		t.Fatal(err)
	}
	pin := true
	if _, err := m.EditObservation(ctx, old, memory.ObservationEdit{Pinned: &pin}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		project, path string
		limit         int
		want          string
	}{
		{shop, "src/cart.go", 10, fmt.Sprint([]memory.ObservationID{old, newest, late})},
		{shop, "src/cart.go", 1, fmt.Sprint([]memory.ObservationID{old, newest})},
		{shop, "src/cart", 10, "[]"},
		{shop, "src/%", 10, "[]"},
		{shop, "", 10, "[]"},
		{"shop", "src/cart.go", 10, "[]"},
	} {
		found, err := m.ObservationsOfFile(ctx, tt.project, tt.path, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		ids := []memory.ObservationID{}
		for _, o := range found {
			ids = append(ids, o.ID)
			if len(o.Files) == 0 {
				t.Errorf("%d is without its files", o.ID)
			}
		}
		if got := fmt.Sprint(ids); got != tt.want {
			t.Errorf("%s of %s, at most %d: got %s, want %s", tt.path, tt.project, tt.limit, got, tt.want)
		}
	}
}

// BenchmarkMoment measures what recall at a moment reads of 100,000 observations:
// the past of a file, and what a session was shown by 1,000 injections.
func BenchmarkMoment(b *testing.B) {
	ctx := context.Background()
	s := benchMemory(b, 100_000)
	var many []memory.NewObservation
	for i := range 2000 {
		many = append(many, memory.NewObservation{ProjectPath: "/home/dev/project", Type: memory.TypeChange, Origin: memory.OriginImport,
			Title: fmt.Sprint("routine ", i), Files: []memory.FileRef{{Path: "main.go", Role: memory.FileModified}}, CreatedAt: base + memory.Millis(i)})
	}
	if err := s.AddObservations(ctx, many); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		err := s.RecordInjection(ctx, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "long", Where: "UserPromptSubmit", Source: "prompt",
			Observations: []memory.ObservationID{memory.ObservationID(3 * i), memory.ObservationID(3*i + 1), memory.ObservationID(3*i + 2)}, At: base + memory.Millis(i)})
		if err != nil {
			b.Fatal(err)
		}
	}
	for name, file := range map[string]string{"file": "src/m7/file7.go", "busy file": "main.go", "unknown file": "src/none.go"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.ObservationsOfFile(ctx, "/home/dev/project", file, 60); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("shown", func(b *testing.B) {
		for b.Loop() {
			if shown, err := s.Shown(ctx, memory.HostClaudeCode, "long"); err != nil || len(shown.Observations) != 3000 {
				b.Fatal(len(shown.Observations), err)
			}
		}
	})
}

// TestWorkingFiles: a session's files, each once, those of its latest observation first, its own
// observations, and who else names the files.
func TestWorkingFiles(t *testing.T) {
	m := newMemory(t)
	file := func(path string, role memory.FileRole) memory.FileRef {
		return memory.FileRef{Path: path, Role: role}
	}
	add := func(project, title string, files ...memory.FileRef) memory.Observation {
		t.Helper()
		o, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: project, Title: title, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := add("/p", "first", file("a.go", memory.FileModified), file("b.go", memory.FileRead))
	second := add("/p", "second", file("b.go", memory.FileModified), file("b.go", memory.FileRead))
	elsewhere := add("/q", "elsewhere", file("b.go", memory.FileModified))
	hidden := add("/p", "hidden", file("b.go", memory.FileModified), file("secret.go", memory.FileModified))
	if _, err := m.HideObservation(t.Context(), hidden.ID, true); err != nil {
		t.Fatal(err)
	}
	files, own, err := m.WorkingFiles(t.Context(), first.Session, 10)
	if want := []string{"b.go", "a.go"}; err != nil || first.Session != second.Session || !slices.Equal(files, want) {
		t.Errorf("the session's files are %v (%v), want %v", files, err, want)
	}
	if slices.Sort(own); !slices.Equal(own, []memory.ObservationID{first.ID, second.ID, hidden.ID}) {
		t.Errorf("the session's own observations are %v", own)
	}
	of, err := m.ObservationsNaming(t.Context(), []string{"b.go", "none.go"}, 10)
	if want := []memory.ObservationID{hidden.ID, elsewhere.ID, second.ID, first.ID}; err != nil || len(of) != 1 || !slices.Equal(of["b.go"], want) {
		t.Errorf("b.go is named by %v (%v), want %v", of, err, want)
	}
	if of, err := m.ObservationsNaming(t.Context(), []string{"b.go"}, 1); err != nil || !slices.Equal(of["b.go"], []memory.ObservationID{hidden.ID}) {
		t.Errorf("the newest alone: %v %v", of, err)
	}
}
