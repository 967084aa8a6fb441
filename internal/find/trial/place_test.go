package trial

import (
	"fmt"
	"math"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// drawnAt makes up n moments at files of the projects in turn, at which giving the lines adds to the logarithm of the calls
// of the turn what effect says of the project. Lots are drawn as the reminder draws them.
func drawnAt(t *memory.Trial, n int, projects []string, effect func(project string) float64) (texts []accounts.Given) {
	p := newPerson(1)
	for i := range n {
		project := projects[i%len(projects)]
		in := memory.Injection{Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("s", i/5), ProjectPath: project, Source: "file"}
		Draw(t, &in, fmt.Sprint("call", i))
		calls := 2 + p.NormFloat64()
		if in.Arm == memory.ArmMemory {
			calls += effect(project)
		}
		texts = append(texts, accounts.Given{Place: "file", ProjectPath: project, Arm: in.Arm, Held: in.Held, At: memory.Millis(10 + i), Calls: int(math.Exp(max(0, calls)))})
	}
	return texts
}

// TestSwitched: a place that does harm is switched off, over all projects or in the one where it does; it returns when it
// does none; a person keeps it on; and one without an effect stays.
func TestSwitched(t *testing.T) {
	one, all := []string{"/p/a"}, []string{"/p/a", "/p/b", "/p/c"}
	harm, help := func(string) float64 { return 1.2 }, func(string) float64 { return -1.2 }
	for name, tt := range map[string]struct {
		projects []string
		n        int
		effect   func(string) float64
		places   map[string]memory.Millis
		want     string
	}{
		"harm among few moments of each": {all, 280, harm, nil, "off file "},
		"harm in a project": {all, 1200, func(project string) float64 {
			if project == "/p/b" {
				return 1.4
			}
			return -1.4
		}, nil, "off file in /p/b "},
		"too few":                           {one, 29, harm, nil, ""},
		"no effect":                         {all, 900, func(string) float64 { return 0 }, nil, ""},
		"help":                              {all, 900, help, nil, ""},
		"harm, and kept on":                 {all, 280, harm, map[string]memory.Millis{"kept:file:": 1}, ""},
		"off, and it still does harm":       {one, 280, harm, map[string]memory.Millis{"off:file:": 1, "off:file:/p/a": 1}, ""},
		"off, and it helps now":             {one, 280, help, map[string]memory.Millis{"off:file:": 1}, "on file "},
		"off, and too early to judge":       {one, 150, help, map[string]memory.Millis{"off:file:": 1}, ""},
		"on again, and the harm was before": {one, 280, harm, map[string]memory.Millis{"on:file:": 280, "on:file:/p/a": 280}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			trial := memory.Trial{ID: 1, Moments: 50, Secret: []byte("places"), Places: tt.places}
			got := ""
			for _, p := range Switched(&trial, drawnAt(&trial, tt.n, tt.projects, tt.effect)) {
				got += p.State + " " + string(p.Moment)
				if p.Project != "" {
					got += " in " + p.Project
				}
				got += " "
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHeldAt: a place that is switched off gives one line of ten, also when no trial runs. One that a person keeps gives all.
func TestHeldAt(t *testing.T) {
	for name, tt := range map[string]struct {
		trial memory.Trial
		want  [2]int // at files of /p and of /q
	}{
		"a trial":       {memory.Trial{ID: 1, Moments: 30}, [2]int{30, 30}},
		"off":           {memory.Trial{ID: 1, Moments: 30, Places: map[string]memory.Millis{"off:file:": 5}}, [2]int{90, 90}},
		"off, ended":    {memory.Trial{ID: 1, Moments: 30, EndedAt: 9, Places: map[string]memory.Millis{"off:file:/p": 5}}, [2]int{90, 0}},
		"kept":          {memory.Trial{ID: 1, Moments: 30, Places: map[string]memory.Millis{"off:file:/p": 5, "kept:file:": 6}}, [2]int{30, 30}},
		"another place": {memory.Trial{ID: 1, Places: map[string]memory.Millis{"off:prompt:": 5}}, [2]int{0, 0}},
	} {
		if got := [2]int{tt.trial.HeldAt("file", "/p"), tt.trial.HeldAt("file", "/q")}; got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
