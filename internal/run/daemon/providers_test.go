package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// noLedger books nothing.
type noLedger struct{}

func (noLedger) Reserve(context.Context, memory.ModelReservation) (int64, error) { return 1, nil }
func (noLedger) Charge(context.Context, int64, memory.ModelCharge) error         { return nil }

// chooser makes providers over a data directory with those settings; found says
// whether the claude CLI is installed.
func chooser(t *testing.T, found bool, content string) (*providers, string) {
	t.Helper()
	dir := t.TempDir()
	writeSettings(t, dir, content)
	first, err := settings.LoadForWorker(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	l := newLive(dir, first, log)
	l.getenv = func(string) string { return "" }
	p := newProviders(dir, l, noLedger{}, time.Now, log)
	p.find = func(string, []string) (string, error) {
		if found {
			return "/bin/claude", nil
		}
		return "", errors.New("none")
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p, dir
}

func writeSettings(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "new.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new.json"), settings.Path(dir)); err != nil {
		t.Fatal(err)
	}
}

// chosen returns the name of the provider for a host's session, "offline" for none.
func chosen(p *providers, host memory.Host) string {
	c := p.choose(memory.Session{ID: 1, Host: host})
	if c.Provider == nil {
		return settings.ProviderOffline
	}
	return c.Provider.Name()
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		found    bool
		own      string // for Claude Code
		other    string // for another host
	}{
		{"nothing set, with the CLI", `{}`, true, "claude", "offline"},
		{"nothing set, without it", `{}`, false, "offline", "offline"},
		{"keys without their provider", `{"CLAUDE_MEM_ANTHROPIC_API_KEY":"sk-ant-1","CLAUDE_MEM_OPENAI_API_KEY":"sk-1"}`, false, "offline", "offline"},
		{"named", `{"CLAUDE_MEM_PROVIDER":"claude"}`, false, "claude", "claude"},
		{"an API", `{"CLAUDE_MEM_PROVIDER":"gemini","CLAUDE_MEM_GEMINI_API_KEY":"k"}`, true, "gemini", "gemini"},
		{"an API without a key", `{"CLAUDE_MEM_PROVIDER":"openai"}`, true, "openai", "openai"},
		{"offline", `{"CLAUDE_MEM_PROVIDER":"offline"}`, true, "offline", "offline"},
		{"no provider at all", `{"CLAUDE_MEM_PROVIDER":"gpt"}`, true, "offline", "offline"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := chooser(t, tt.found, tt.settings)
			if got := chosen(p, memory.HostClaudeCode); got != tt.own {
				t.Errorf("Claude Code: %s, want %s", got, tt.own)
			}
			if got := chosen(p, memory.Host("cursor")); got != tt.other {
				t.Errorf("another host: %s, want %s", got, tt.other)
			}
		})
	}
}

// TestAutoUsesNoKey checks that with auto the CLI uses its own login, even if
// CLAUDE_AUTH=inherit.
func TestAutoUsesNoKey(t *testing.T) {
	for value, want := range map[string]string{"auto": "", "claude": "sk-ant-1"} {
		p, _ := chooser(t, true, `{"CLAUDE_MEM_PROVIDER":"`+value+`","CLAUDE_MEM_CLAUDE_AUTH":"inherit","CLAUDE_MEM_ANTHROPIC_API_KEY":"sk-ant-1"}`)
		if got := chosen(p, memory.HostClaudeCode); got != "claude" {
			t.Fatalf("%s: %s was chosen", value, got)
		}
		if got := p.kept["claude"].config.key; got != want {
			t.Errorf("%s: the key is %q, want %q", value, got, want)
		}
	}
}

// TestMissingKeyIsALoginFailure checks that events wait for a provider without a key.
func TestMissingKeyIsALoginFailure(t *testing.T) {
	p, dir := chooser(t, false, `{"CLAUDE_MEM_PROVIDER":"openai"}`)
	choice := p.choose(memory.Session{Host: memory.HostClaudeCode})
	_, err := choice.Provider.Complete(t.Context(), memory.ModelRequest{Prompt: "p"})
	var failed *memory.ModelError
	if !errors.As(err, &failed) || failed.Class != memory.ClassLogin || failed.Provider != "openai" {
		t.Errorf("error %v, want a login failure of openai", err)
	}
	writeSettings(t, dir, `{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-1"}`)
	if p.choose(memory.Session{}).Provider == choice.Provider {
		t.Error("the key that was set is not used")
	}
}

func TestSettingsTakeEffect(t *testing.T) {
	p, dir := chooser(t, true, `{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-1"}`)
	session := memory.Session{Host: memory.HostClaudeCode}
	first := p.choose(session)
	if again := p.choose(session); again.Provider != first.Provider {
		t.Error("the provider was made twice")
	}
	// The same size, within a tick of the clock.
	writeSettings(t, dir, `{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-2"}`)
	second := p.choose(session)
	if second.Provider == first.Provider || len(p.retired) != 1 {
		t.Errorf("another key, and the provider is the same; %d retired", len(p.retired))
	}
	p.tidy(time.Hour)
	if len(p.retired) != 1 {
		t.Error("closed while it may be in use")
	}
	p.tidy(0)
	if len(p.retired) != 0 {
		t.Error("not closed")
	}
	// Half a file changes nothing.
	writeSettings(t, dir, `{"CLAUDE_MEM_PROVIDER":"off`)
	if p.choose(session).Provider != second.Provider {
		t.Error("a broken file was taken for the defaults")
	}
	writeSettings(t, dir, `{"CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_DAILY_TOKEN_CAP":"7"}`)
	if p.choose(session).Provider != nil || p.live.caps().Day != 7 {
		t.Error("the mended file is not in force")
	}
	if err := os.Remove(settings.Path(dir)); err != nil {
		t.Fatal(err)
	}
	if got := chosen(p, memory.HostClaudeCode); got != "claude" {
		t.Errorf("without a file: %s, want the default's", got)
	}
}

// TestProviderChanged: another provider, model, key or address is a change, nothing else is.
func TestProviderChanged(t *testing.T) {
	p, dir := chooser(t, true, `{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-1"}`)
	for _, test := range []struct {
		settings string
		want     bool
	}{
		{`{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-1","CLAUDE_MEM_CONTEXT_BUDGET":"900","CLAUDE_MEM_REQUESTS_PER_MINUTE":"5"}`, false},
		{`{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-22"}`, true},
		{`{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-22","CLAUDE_MEM_MODEL":"m"}`, true},
		{`{"CLAUDE_MEM_PROVIDER":"openai","CLAUDE_MEM_OPENAI_API_KEY":"sk-22","CLAUDE_MEM_MODEL":"m"}`, false},
		{`{}`, true},
	} {
		writeSettings(t, dir, test.settings)
		if got := p.changed(); got != test.want {
			t.Errorf("%s: changed %t, want %t", test.settings, got, test.want)
		}
	}
}

func TestUnusableMode(t *testing.T) {
	p, dir := chooser(t, false, `{"CLAUDE_MEM_PROVIDER":"ollama","CLAUDE_MEM_MODE":"mine"}`)
	want, err := mode.Load(mode.Default, "")
	if err != nil {
		t.Fatal(err)
	}
	c := p.choose(memory.Session{})
	if _, err := p.live.mode(); c.Mode.Name != want.Name || err == nil {
		t.Errorf("mode %q, error %v; want %q and a reason", c.Mode.Name, err, want.Name)
	}
	if err := os.Mkdir(filepath.Join(dir, modesDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, modesDir, "mine.json"), []byte(`{"name":"mine","inherits":"code"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := p.live.mode(); err != nil || p.choose(memory.Session{}).Mode.Name != m.Name {
		t.Errorf("the mode is there now: %v", err)
	}
}
