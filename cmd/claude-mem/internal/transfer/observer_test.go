package transfer

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
)

// testVerbs are the commands with an environment of their own.
func testVerbs(env map[string]string) *Verbs {
	return &Verbs{&cli.App{Stderr: io.Discard, Getenv: func(key string) string { return env[key] }, Now: time.Now}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The choice of the observer is shown with what it costs and how to change it.
func TestObserverChoice(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("PATH", bin)
	must(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".claude", ".credentials.json"), []byte(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"b"}}`), 0o600))
	for _, c := range []struct {
		provider  string
		cli       bool
		who, cost string
		change    string
	}{
		{"auto", true, "your claude command with haiku", "2,000,000 tokens a day", "PROVIDER offline"},
		{"auto", false, "no claude command was found", "nothing", "PROVIDER anthropic"},
		{"offline", true, "no model", "nothing", "PROVIDER auto"},
		{"anthropic", true, "CLAUDE_MEM_ANTHROPIC_API_KEY", "provider's price", "PROVIDER offline"},
		{"ollama", false, "on this machine", "no money", "PROVIDER offline"},
	} {
		t.Run(fmt.Sprint(c.provider, c.cli), func(t *testing.T) {
			name := filepath.Join(bin, "claude")
			if runtime.GOOS == "windows" {
				name += ".exe"
			}
			_ = os.Remove(name)
			if c.cli {
				if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			a := testVerbs(map[string]string{"HOME": home, "CLAUDE_MEM_DATA_DIR": t.TempDir(), "CLAUDE_MEM_PROVIDER": c.provider})
			got := a.ObserverChoice()
			if got.Provider != c.provider || !strings.Contains(got.Who, c.who) || !strings.Contains(got.Cost, c.cost) || !strings.Contains(got.Change, c.change) {
				t.Errorf("got %+v, want %+v", got, c)
			}
		})
	}
}

// TestObserverOfAuto: install says what auto does with the login of Claude Code.
func TestObserverOfAuto(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the login may be in a keychain")
	}
	for name, test := range map[string]struct{ variable, settings, who, cost, change string }{
		"no login":            {who: "the claude command has no login", cost: "nothing", change: "/login"},
		"a key in the shell":  {variable: "ANTHROPIC_API_KEY", who: "ANTHROPIC_API_KEY of your shell is not used", cost: "nothing", change: "CLAUDE_MEM_PROVIDER anthropic"},
		"Bedrock":             {variable: "CLAUDE_CODE_USE_BEDROCK", who: "CLAUDE_CODE_USE_BEDROCK of your shell is not used", cost: "nothing", change: "settings.json"},
		"a helper":            {settings: `{"apiKeyHelper":"get"}`, who: "with apiKeyHelper of its settings", cost: "charged to that account", change: "PROVIDER offline"},
		"a key beside helper": {variable: "ANTHROPIC_API_KEY", settings: `{"apiKeyHelper":"get"}`, who: "its own login (ANTHROPIC_API_KEY of your shell is not used)", cost: "charged", change: "PROVIDER offline"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if test.settings != "" {
				must(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
				must(t, os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(test.settings), 0o600))
			}
			a := testVerbs(map[string]string{"HOME": home, test.variable: "1"})
			c := ObserverChoice{Change: "claude-mem config set PROVIDER offline"}
			c.auto(a, "haiku", "caps")
			if !strings.Contains(c.Who, test.who) || !strings.Contains(c.Cost, test.cost) || !strings.Contains(c.Change, test.change) {
				t.Errorf("got %+v, want %+v", c, test)
			}
		})
	}
}
