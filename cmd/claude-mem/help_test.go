package main

import (
	"bytes"
	"claudemem/cmd/claude-mem/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// testApp is a command line with an environment of its own; out and errs are
// what it prints.
func testApp(t *testing.T, env map[string]string) (a *app, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{&cli.App{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs,
		Getenv: func(key string) string { return env[key] },
		Now:    time.Now,
	}}, out, errs
}

// allCommands lists every command, hidden ones too.
func allCommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		all = append(all, allCommands(cmd)...)
	}
	return all
}

func TestHelpTexts(t *testing.T) {
	a, _, _ := testApp(t, nil)
	for _, cmd := range allCommands(a.rootCommand()) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "_")
		t.Run(name, func(t *testing.T) {
			a, out, errs := testApp(t, nil)
			args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
			if code := a.execute(t.Context(), args); code != 0 || errs.Len() > 0 {
				t.Fatalf("exit %d, stderr %q", code, errs)
			}
			golden := filepath.Join("testdata", "help", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("help differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// Every command has an example, and every command that prints data has --json
// with its form in the help of --json.
func TestCommandsAreDocumented(t *testing.T) {
	a, _, _ := testApp(t, nil)
	for _, cmd := range allCommands(a.rootCommand()) {
		if cmd.Runnable() && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		if cmd.Flags().Lookup("json") != nil && !strings.Contains(jsonForm(cmd.CommandPath()), "rints ") {
			t.Errorf("%s has --json and does not say what it prints", cmd.CommandPath())
		}
	}
}
