package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestUninstallRemovesCounters checks that the host's usage counters of our plugin are
// removed, and that the rest of its state stays to the byte.
func TestUninstallRemovesCounters(t *testing.T) {
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

// TestUninstallWithoutState checks that an unreadable state does not stop an uninstall.
func TestUninstallWithoutState(t *testing.T) {
	p := newPlace(t, "")
	p.put(filepath.Join(filepath.Dir(p.config), ".claude.json", "a directory"), "", 0o600)
	p.install(Wish{})
	p.uninstall()
	p.nothingOfOurs()
}

// TestRemovalOfCountersIsCompleted checks that the next uninstall removes the counters
// when one was killed before.
func TestRemovalOfCountersIsCompleted(t *testing.T) {
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

// TestHostWritesStateMeanwhile checks that an uninstall does not overwrite what a running
// host writes into its state between our reading and our writing.
func TestHostWritesStateMeanwhile(t *testing.T) {
	const counters = `"skillUsage": {"claude-mem:mem-search": {"usageCount": 1}}`
	for _, test := range []struct {
		name    string
		writes  int // of the host, at most one for each of our tries
		removed bool
	}{{"once", 1, true}, {"all the time", 1000, false}} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, "")
			p.install(Wish{})
			path := filepath.Join(filepath.Dir(p.config), ".claude.json")
			p.put(path, `{"numStartups": 0, `+counters+`}`, 0o600)
			in, n := New(p.opts), 0
			in.step = func(name string) error {
				if name == "write .claude.json" && n < test.writes {
					n++
					p.put(path, fmt.Sprintf(`{"numStartups": %d, %s}`, n, counters), 0o600)
				}
				return nil
			}
			_, err := in.Uninstall(t.Context())
			want := fmt.Sprintf(`{"numStartups": %d, "skillUsage": {}}`, n)
			if !test.removed {
				want = fmt.Sprintf(`{"numStartups": %d, %s}`, n, counters)
			}
			if got := p.get(path); got != want {
				t.Errorf("state %s, want %s", got, want)
			}
			if (err == nil) != test.removed || err != nil && memory.CodeOf(err) != memory.CodeConflict {
				t.Errorf("uninstall: %v", err)
			}
			p.uninstall()
			p.nothingOfOurs()
		})
	}
}

// TestResume: a session is resumed by its host's own command, and by no id that could be an option.
func TestResume(t *testing.T) {
	for host, want := range map[memory.Host]string{
		memory.HostClaudeCode: "claude --resume 0b7c_1", memory.HostCodex: "codex resume 0b7c_1", memory.HostGemini: "gemini --resume 0b7c_1",
		memory.HostOpenCode: "opencode --session 0b7c_1", memory.HostQwen: "qwen --resume 0b7c_1", memory.HostCopilot: "copilot --resume 0b7c_1",
		memory.HostVSCode: "", memory.HostCursor: "", memory.HostRaw: "", memory.HostUnknown: "",
	} {
		if got := strings.Join(Resume(host, "0b7c_1"), " "); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
		for _, id := range []string{"", "-rf", "a b", "a;b", "$(a)", "../a"} {
			if got := Resume(host, id); got != nil {
				t.Errorf("%s, %q: %q", host, id, got)
			}
		}
	}
}
