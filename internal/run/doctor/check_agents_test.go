package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/run/install"
	"claudemem/plugin"
)

// TestAgents checks what is found of an agent whose files were changed after the install.
func TestAgents(t *testing.T) {
	for name, tt := range map[string]struct {
		damage func(t *testing.T, codex, data string)
		want   string
		text   string
	}{
		"all is well": {func(*testing.T, string, string) {}, "agents", "Codex CLI: 7 hooks, MCP server, no event yet (Codex CLI runs hooks only after"},
		"no hooks": {func(t *testing.T, codex, _ string) {
			remove(t, filepath.Join(codex, "hooks.json"))
		}, "agent-hooks", "no hooks"},
		"one hook is missing": {func(t *testing.T, codex, _ string) {
			rewrite(t, filepath.Join(codex, "hooks.json"), `"Stop"`, `"Later"`)
		}, "agent-hooks", "no hook of claude-mem for Stop"},
		"no server": {func(t *testing.T, codex, _ string) {
			remove(t, filepath.Join(codex, "config.toml"))
		}, "agent-mcp", "MCP server"},
		"broken file": {func(t *testing.T, codex, _ string) {
			rewrite(t, filepath.Join(codex, "config.toml"), "args", "args = [")
		}, "agent-unreadable", "config.toml"},
		"programs are gone": {func(t *testing.T, _, data string) {
			if err := os.RemoveAll(filepath.Join(data, "bin")); err != nil {
				t.Fatal(err)
			}
		}, "agent-program-gone", "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			data, codex := filepath.Join(home, "memory"), filepath.Join(home, ".codex")
			program := filepath.Join(home, "program")
			if err := os.WriteFile(program, []byte("program"), 0o700); err != nil {
				t.Fatal(err)
			}
			agent := install.NewAgent(install.Options{Plugin: plugin.Files, DataDir: data, ConfigDir: codex, Program: program, HookProgram: program}, install.AgentOf(memory.HostCodex))
			if _, err := agent.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			tt.damage(t, codex, data)
			variable := "HOME"
			if runtime.GOOS == "windows" {
				variable = "USERPROFILE"
			}
			r := Examine(t.Context(), Config{
				DataDir: data, HostDir: filepath.Join(home, ".claude"), Getenv: environment(variable, home), Version: "1.2.3",
				RunVersion: func(context.Context, string, ...string) (string, error) { return "claude-mem-hook 1.2.3", nil },
			})
			var got *Finding
			for i := range r.Findings {
				if r.Findings[i].Check == "agents" {
					got = &r.Findings[i]
				}
				if r.Findings[i].Name == "plugin-missing" {
					t.Error("Claude Code is not used here, and its hooks are missed")
				}
			}
			if got == nil || got.Name != tt.want || !strings.Contains(got.Text, tt.text) {
				t.Fatalf("got %+v, want %s: %s", got, tt.want, tt.text)
			}
			if fix := "claude-mem install --host codex"; got.Status != OK && !strings.Contains(got.Fix, fix) {
				t.Errorf("fix %q", got.Fix)
			}
		})
	}
}

// An agent that was used for over a day since the install, without a hook, is named; on the first day
// it is not.
func TestSilentAgent(t *testing.T) {
	home := t.TempDir()
	data, codex, program := filepath.Join(home, "memory"), filepath.Join(home, ".codex"), filepath.Join(home, "program")
	write(t, program, "program")
	agent := install.NewAgent(install.Options{Plugin: plugin.Files, DataDir: data, ConfigDir: codex, Program: program, HookProgram: program}, install.AgentOf(memory.HostCodex))
	if _, err := agent.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(codex, "sessions", "2026", "11", "29", "rollout.jsonl")
	write(t, session, "{}")
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	for _, after := range []time.Duration{time.Hour, 30 * time.Hour} {
		at := time.Now().Add(after)
		if err := os.Chtimes(session, at, at); err != nil {
			t.Fatal(err)
		}
		r := Examine(t.Context(), Config{DataDir: data, HostDir: filepath.Join(home, ".claude"), Getenv: environment(variable, home), Version: "1.2.3"})
		if got, want := r.has("agent-silent"), after > agentSilence; got != want {
			t.Errorf("used %v after the install: agent-silent is %v, want %v", after, got, want)
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces a text in a file.
func rewrite(t *testing.T, path, old, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, text)), 0o600); err != nil {
		t.Fatal(err)
	}
}
