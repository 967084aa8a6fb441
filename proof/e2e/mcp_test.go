//go:build e2e && linux

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

const (
	inspectorPackage = "@modelcontextprotocol/inspector"
	inspectorVersion = "2.12.0"
	// What docs/mcp.md promises of the definitions of all tools, and of one answer, in tokens.
	mostForDefinitions = 1500
	mostForAnswer      = 2500
)

// inspector returns the official MCP inspector's command.
func inspector(t *testing.T) string {
	t.Helper()
	return fromNPM(t, inspectorPackage, inspectorVersion, "mcp-inspector")
}

// fromNPM returns a command of a package: from the cache of the runs, or from npm the first
// time. Where it cannot be had at all the test is skipped.
func fromNPM(t *testing.T, name, version, command string) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	cache := cmp.Or(os.Getenv("AGENT_E2E_CACHE"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "agent-e2e"))
	prefix := filepath.Join(cache, command+"-"+version)
	path := filepath.Join(prefix, "node_modules", ".bin", command)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skipf("NOT TESTED, there is no %s and no npm to install it with", command)
	}
	install := exec.Command("npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts", "--omit=dev",
		"--prefix", prefix, name+"@"+version)
	if out, err := install.CombinedOutput(); err != nil {
		if exec.Command("npm", "view", "--silent", name, "name").Run() != nil {
			t.Skipf("NOT TESTED, there is no %s and npm's registry cannot be reached", command)
		}
		t.Fatalf("npm could not install %s: %v\n%s", command, err, out)
	}
	return path
}

// patient is a scratch home whose memory is the demo's, with both binaries.
type patient struct {
	bin, home, project string
	env                []string
	port               int
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{bin: filepath.Join(buildPlugin(t), "bin"), home: t.TempDir(), project: "ratelimit"}
	p.env = []string{"HOME=" + p.home, "TMPDIR=" + p.home, "LANG=C.UTF-8", "PATH=" + p.bin + ":" + os.Getenv("PATH")}
	var demo struct {
		DataDir string `json:"data_dir"`
	}
	if err := json.Unmarshal(p.run(t, "claude-mem", "demo", "--keep", "--json"), &demo); err != nil || demo.DataDir == "" {
		t.Fatalf("demo: %v, %q", err, demo.DataDir)
	}
	if err := os.Rename(demo.DataDir, filepath.Join(p.home, ".claude-mem")); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	p.run(t, "claude-mem", "config", "set", "CLAUDE_MEM_WORKER_PORT", fmt.Sprint(p.port))
	t.Cleanup(func() { p.run(t, "claude-mem", "worker", "stop") })
	return p
}

// run runs a program in the scratch home and returns what it printed.
func (p *patient) run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.bin, name) // PATH is that of the test here
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = p.env, p.home
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), args, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}

// toolCall is a call of each tool and what its answer must have.
type toolCall struct {
	tool, says string
	args       []string
}

// toolCalls are calls in the order of an agent's work: the last undoes the one before.
func toolCalls(project, note string) []toolCall {
	return []toolCall{
		{"search_memory", "#1 ", []string{"query=TestBurstIsTheCeiling", "project=" + project}},
		{"timeline", "#1 ", []string{"anchor=1", "project=" + project}},
		{"get_observations", "bucket.go", []string{"ids=[1]"}},
		{"get_session_summary", "S1", []string{"session_id=last", "project=" + project}},
		{"get_project_context", "bucket.go", []string{"project=" + project}},
		{"judge_memory", "Noted: #1 helped.", []string{"record=#1", "verdict=up"}},
		{"save_memory", "Saved as #", []string{"text=" + note, "project=" + project}},
		{"forget_memory", "", []string{"ids=[SAVED]"}},
	}
}

// TestInspector has the protocol's official client list and call every tool, over
// standard input and over the worker's HTTP (accept-install, point 1).
func TestInspector(t *testing.T) {
	cli := inspector(t)
	p := newPatient(t)
	p.run(t, "claude-mem", "worker", "start")
	for _, transport := range []struct {
		name string
		at   []string
	}{
		{"stdio", []string{filepath.Join(p.bin, "claude-mem"), "mcp"}},
		{"http", []string{fmt.Sprintf("http://127.0.0.1:%d/mcp", p.port), "--transport", "http"}},
	} {
		t.Run(transport.name, func(t *testing.T) {
			ask := func(dest any, args ...string) {
				t.Helper()
				out := p.run(t, cli, append(append([]string{"--cli"}, transport.at...), args...)...)
				if err := json.Unmarshal(out, dest); err != nil {
					t.Fatalf("%q: %v in %s", args, err, out)
				}
			}
			var list struct {
				Tools []struct {
					Name        string          `json:"name"`
					Description string          `json:"description"`
					InputSchema json.RawMessage `json:"inputSchema"`
				} `json:"tools"`
			}
			// --strict fails where a schema is not one that every client takes.
			ask(&list, "--method", "tools/list", "--strict")
			var raw json.RawMessage
			ask(&raw, "--method", "tools/list")
			definitions := tokens(t, raw)
			if definitions > mostForDefinitions {
				t.Errorf("the definitions cost %d tokens, want at most %d", definitions, mostForDefinitions)
			}
			uncalled := map[string]bool{}
			for _, tool := range list.Tools {
				uncalled[tool.Name] = true
				if tool.Description == "" || !bytes.Contains(tool.InputSchema, []byte(`"object"`)) {
					t.Errorf("%s: description %q, schema %s", tool.Name, tool.Description, tool.InputSchema)
				}
			}
			calls, longest, saved := toolCalls(p.project, "The inspector was here, over "+transport.name), 0, ""
			for _, c := range calls {
				if !uncalled[c.tool] {
					t.Errorf("tools/list does not have %s", c.tool)
				}
				delete(uncalled, c.tool)
				args := []string{"--method", "tools/call", "--tool-name", c.tool, "--tool-arg"}
				for _, a := range c.args {
					args = append(args, strings.Replace(a, "SAVED", saved, 1))
				}
				var answer struct {
					IsError bool `json:"isError"`
					Content []struct {
						Text string `json:"text"`
					} `json:"content"`
				}
				ask(&answer, args...)
				if answer.IsError || len(answer.Content) != 1 {
					t.Errorf("%q: %+v", args, answer)
					continue
				}
				text := answer.Content[0].Text
				if !strings.Contains(text, c.says) {
					t.Errorf("%s does not say %q:\n%s", c.tool, c.says, text)
				}
				cost := memory.EstimateTokens(text)
				if longest = max(longest, cost); cost > mostForAnswer {
					t.Errorf("%s answers with %d tokens, want at most %d", c.tool, cost, mostForAnswer)
				}
				if _, after, ok := strings.Cut(text, "Saved as #"); ok {
					saved, _, _ = strings.Cut(after, " ")
				}
			}
			if len(uncalled) != 0 {
				t.Errorf("no call of %q", slices.Sorted(maps.Keys(uncalled)))
			}
			if out := p.run(t, "claude-mem", "recent", "--json"); bytes.Contains(out, []byte("The inspector was here, over "+transport.name)) {
				t.Errorf("forget_memory left the note: %s", out)
			}
			met(t, 1, "%s: %d of %d tools called, definitions %d tokens, longest answer %d",
				transport.name, len(list.Tools)-len(uncalled), len(list.Tools), definitions, longest)
		})
	}
}

// tokens estimates what JSON costs a model, without the spaces that people read.
func tokens(t *testing.T, raw []byte) int {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		t.Fatal(err)
	}
	return memory.EstimateTokens(compact.String())
}
