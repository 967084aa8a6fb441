//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/run/recorded"
)

// noCLI is the script's exit status where the CLI cannot be had at all.
const noCLI = 69

// script runs run-claude-scenario.sh and returns its output.
func script(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("./run-claude-scenario.sh", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == noCLI {
		t.Skipf("NOT TESTED, there is no CLI: %s", errs.String())
	}
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return out.String()
}

// traces is what a failed run says about itself.
func traces(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if a != "--out" || i+1 == len(args) {
			continue
		}
		for _, name := range []string{"between.txt", "after.txt", "stderr.txt", "stats.json", "home/.claude-mem/logs/*", "home/.claude-mem/worker.*"} {
			files, _ := filepath.Glob(filepath.Join(args[i+1], name)) // the pattern is well formed
			for _, f := range files {
				if text, err := os.ReadFile(f); err == nil && len(text) > 0 {
					fmt.Fprintf(&b, "\n--- %s\n%s", f, text)
				}
			}
		}
	}
	return b.String()
}

// buildPlugin copies plugin/ into a directory of the test's and builds both binaries into
// the bin/ beside it, as in a checkout.
func buildPlugin(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "plugin"))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -funcalign=16", "-o", filepath.Join(filepath.Dir(dir), "bin")+"/", "./cmd/claude-mem", "./cmd/claude-mem-hook")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

// goEnv is one value of go env: the runs share the build cache of the tests.
func goEnv(t *testing.T, key string) string {
	t.Helper()
	out, err := exec.Command("go", "env", key).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// play runs two-sessions.json in a copy of the recorded project ratelimit; the
// arguments are the steps. It returns the directory with the run's traces.
func play(t *testing.T, plugin string, steps ...string) string {
	t.Helper()
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := recorded.CopyFiles(project, "ratelimit"); err != nil {
		t.Fatal(err)
	}
	// What the hooks do is tried here; a claude in PATH is not to be asked as well.
	memory := filepath.Join(home, ".claude-mem")
	if err := os.Mkdir(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(memory, "config.json"), []byte(`{"CLAUDE_MEM_PROVIDER":"offline"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--plugin", plugin, "--scenario", filepath.Join("testdata", "two-sessions.json"),
		"--project", project, "--home", home, "--out", out, "--timeout", "90",
		"--env", "GOCACHE=" + goEnv(t, "GOCACHE"), "--env", "GOFLAGS=-count=1 -buildvcs=false", "--env", "GOTOOLCHAIN=local",
	}, steps...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)
	return out
}

// request is one line of requests.jsonl.
type request struct {
	Session string          `json:"session_id"`
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Body    json.RawMessage `json:"body"`
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for _, line := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, v)
	}
	return all
}

// texts returns every string below a JSON value.
func texts(t *testing.T, body json.RawMessage) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}

var blockRE = regexp.MustCompile(`(?s)<claude-mem-context>(.*?)</claude-mem-context>`)

// block returns the context block in a request, and how many there are.
func block(t *testing.T, r request) (string, int) {
	t.Helper()
	var found []string
	for _, s := range texts(t, r.Body) {
		for _, m := range blockRE.FindAllStringSubmatch(s, -1) {
			found = append(found, m[1])
		}
	}
	return strings.Join(found, "\n"), len(found)
}

// lineNumber is what the Read tool puts before each line that the model sees.
var lineNumber = regexp.MustCompile(`^\s*\d+\t`)

// outputLines returns the lines of at least 30 characters that tools printed in
// a session, as its model saw them.
func outputLines(t *testing.T, session []request) []string {
	t.Helper()
	var lines []string
	for _, r := range session {
		var body struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			continue // a HEAD or another request without a conversation
		}
		for _, m := range body.Messages {
			var blocks []struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				continue // plain text: the prompt
			}
			for _, b := range blocks {
				if b.Type != "tool_result" {
					continue
				}
				for _, s := range texts(t, b.Content) {
					for line := range strings.Lines(s) {
						line = strings.TrimSpace(lineNumber.ReplaceAllString(line, ""))
						if len([]rune(line)) >= 30 {
							lines = append(lines, line)
						}
					}
				}
			}
		}
	}
	return lines
}

// books is the part of stats --json that must add up.
type books struct {
	Queue struct {
		Received, Processed, Skipped, Failed, Pending, Processing, Duplicates int
	} `json:"queue"`
}

func (b books) balanced() bool {
	q := b.Queue
	return q.Received == q.Processed+q.Skipped+q.Failed+q.Pending+q.Processing
}

func readStats(t *testing.T, out string) books {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, "stats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b books
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatalf("stats --json: %v in %s", err, raw)
	}
	return b
}

// note reads a number that a --between command left in the run's directory.
func note(t *testing.T, out, name string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
