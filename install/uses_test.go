package install

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// What the host counts of us goes with us; the rest of its state stays as it is, to
// the byte.
func TestUninstallForgetsUses(t *testing.T) {
	const state = `{
  "numStartups": 7,
  "skillUsage": {"claude-mem:mem-search": {"usageCount": 1}, "other:skill": {"usageCount": 2}},
  "pluginUsage": {"claude-mem@claude-mem-local": {"usageCount": 3}, "other@market": {"usageCount": 4}}
}
`
	const without = `{
  "numStartups": 7,
  "skillUsage": {"other:skill": {"usageCount": 2}},
  "pluginUsage": {"other@market": {"usageCount": 4}}
}
`
	tests := []struct {
		name, settings, state, want string
		moved                       bool
	}{
		{name: "counted", state: state, want: without},
		{name: "in a directory of its own", state: state, want: without, moved: true},
		{name: "nothing counted", state: without, want: without},
		{name: "broken", state: "{" + state, want: "{" + state},
		{name: "another plugin of the name", settings: `{"enabledPlugins": {"claude-mem@thedotmack": true}}`, state: state, want: state},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, test.settings)
			path := filepath.Join(filepath.Dir(p.config), ".claude.json")
			if test.moved {
				p.opts.Moved, p.opts.CLI = true, nil
				path = filepath.Join(p.config, ".claude.json")
			}
			wish := Wish{}
			if test.moved {
				wish.Method = MethodSettings
			}
			p.put(path, test.state, 0o600)
			p.install(wish)
			if got := p.get(path); got != test.state {
				t.Errorf("install has changed the state: %s", got)
			}
			removal := p.uninstall()
			if got := p.get(path); got != test.want {
				t.Errorf("state after uninstall %s, want %s", got, test.want)
			}
			for _, c := range removal.Files {
				if c.Path == path {
					t.Errorf("the text of %s would be shown, which holds keys", strings.TrimPrefix(path, p.root))
				}
			}
			if changed := test.want != test.state; (len(removal.Uses) > 0) != changed {
				t.Errorf("uses %q, want some: %t", removal.Uses, changed)
			}
		})
	}
}

// A state that cannot be read keeps nobody from uninstalling.
func TestUninstallWithoutState(t *testing.T) {
	p := newPlace(t, "")
	p.put(filepath.Join(filepath.Dir(p.config), ".claude.json", "a directory"), "", 0o600)
	p.install(Wish{})
	p.uninstall()
	p.nothingOfOurs()
}

// An uninstall that is killed before it forgets is completed by the next.
func TestForgettingIsCompleted(t *testing.T) {
	p := newPlace(t, "")
	p.install(Wish{})
	path := filepath.Join(filepath.Dir(p.config), ".claude.json")
	p.put(path, `{"skillUsage": {"claude-mem:mem-search": {"usageCount": 1}}}`, 0o600)
	in := New(p.opts)
	killed := errors.New("killed")
	in.step = func(name string) error {
		if name == "remove counters from .claude.json" {
			return killed
		}
		return nil
	}
	if _, err := in.Uninstall(t.Context()); !errors.Is(err, killed) {
		t.Fatalf("uninstall: %v, want it killed", err)
	}
	p.uninstall()
	if got, want := p.get(path), `{"skillUsage": {}}`; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	p.nothingOfOurs()
}
