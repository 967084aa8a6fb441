package symbols_test

import (
	"strings"
	"testing"

	"claudemem"
	"claudemem/symbols"
)

// TestAbout says what observations of an edit are about, by what they say.
func TestAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		observation claudemem.Observation
		want        string
	}{
		"nothing in particular": {claudemem.Observation{Title: "Fixed the limiter"}, "Limiter.refill"},
		"what was edited":       {claudemem.Observation{Title: "The refill was off by one"}, "Limiter.refill"},
		"another function":      {claudemem.Observation{Title: "Why `Limiter.take` returns false"}, "Limiter.take"},
		"a call":                {claudemem.Observation{Facts: []string{"take() returns false when empty"}}, "Limiter.take"},
		"both":                  {claudemem.Observation{Title: "refill", Narrative: "and l.take too"}, "Limiter.refill, Limiter.take"},
		"a plain word":          {claudemem.Observation{Title: "You can take it"}, "Limiter.refill"},
		"a part of a word":      {claudemem.Observation{Title: "prerefills and Limiter.taken"}, "Limiter.refill"},
		"a type":                {claudemem.Observation{Title: "`Limiter` holds tokens"}, "Limiter"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.put("a.go", goFile)
			e := p.edit("a.go", "l.tokens += n", "l.tokens = n", true)
			e.Symbols, _ = symbols.AtOnce(&e.Event, e.Files[0])
			tt.observation.Files = []claudemem.FileRef{e.Files[0], {Path: "b.go", Role: claudemem.FileModified, Hash: "1"}}
			all := []claudemem.Observation{tt.observation}
			symbols.About(all, []claudemem.PendingEvent{e})
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
	all := []claudemem.Observation{{Title: "refill and `take`", Files: e.Files}}
	symbols.About(all, []claudemem.PendingEvent{e})
	got := all[0].Files[0].Symbols
	now, _ := symbols.HashesOf("a.go", []byte(edited))
	if len(got) != 1 || got[0].Name != "Limiter.refill" || !now[got[0]] {
		t.Errorf("got %v", got)
	}
}
