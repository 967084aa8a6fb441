package symbols_test

import (
	"strings"
	"testing"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/memory"
)

// TestAbout says what observations of an edit are about, by what they say.
func TestAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		observation memory.Observation
		want        string
	}{
		"nothing in particular": {memory.Observation{Title: "Fixed the limiter"}, "Limiter.refill"},
		"what was edited":       {memory.Observation{Title: "The refill was off by one"}, "Limiter.refill"},
		"another function":      {memory.Observation{Title: "Why `Limiter.take` returns false"}, "Limiter.take"},
		"a call":                {memory.Observation{Facts: []string{"take() returns false when empty"}}, "Limiter.take"},
		"both":                  {memory.Observation{Title: "refill", Narrative: "and l.take too"}, "Limiter.refill, Limiter.take"},
		"a plain word":          {memory.Observation{Title: "You can take it"}, "Limiter.refill"},
		"a part of a word":      {memory.Observation{Title: "prerefills and Limiter.taken"}, "Limiter.refill"},
		"a type":                {memory.Observation{Title: "`Limiter` holds tokens"}, "Limiter"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.put("a.go", goFile)
			e := p.edit("a.go", "l.tokens += n", "l.tokens = n", true)
			e.Symbols, _ = symbols.AtOnce(&e.Event, e.Files[0])
			tt.observation.Files = []memory.FileRef{e.Files[0], {Path: "b.go", Role: memory.FileModified, Hash: "1"}}
			all := []memory.Observation{tt.observation}
			symbols.About(all, []memory.PendingEvent{e})
			var got []string
			for _, s := range all[0].Files[0].Symbols {
				got = append(got, s.Name)
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if all[0].Files[1].Symbols != nil {
				t.Errorf("a file that no event touched got %v", all[0].Files[1].Symbols)
			}
		})
	}
}

// TestAboutAChangedFile: when the file has moved on, the code after the edit still tells.
func TestAboutAChangedFile(t *testing.T) {
	p := newProject(t)
	p.put("a.go", goFile)
	e := p.edit("a.go", "l.tokens += n", "l.tokens = n", true)
	e.Symbols, _ = symbols.AtOnce(&e.Event, e.Files[0])
	edited := p.read("a.go")
	p.put("a.go", edited+"\n// formatted since\n")
	all := []memory.Observation{{Title: "refill and `take`", Files: e.Files}}
	symbols.About(all, []memory.PendingEvent{e})
	got := all[0].Files[0].Symbols
	now, _ := symbols.HashesOf("a.go", []byte(edited))
	if len(got) != 1 || got[0].Name != "Limiter.refill" || !now[got[0]] {
		t.Errorf("got %v", got)
	}
}
