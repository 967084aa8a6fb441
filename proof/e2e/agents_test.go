//go:build e2e && linux

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// agentRow is an agent from npm, started against the stand-in for its model. A new agent is
// a row here.
type agentRow struct {
	host, name, version, command string
	// config are the files in the home that make it ask the stand-in, with {url} for its
	// address; they are there before the install.
	config map[string]string
	env    []string // likewise
	// kept are such files that the agent itself writes to.
	kept map[string]string
	// args start a session without a terminal; the prompt follows.
	args []string
	// binary is the program below node_modules where the command is only made by a script of
	// the package, which is not run; ARCH is that of this machine.
	binary string
	script []scripted
	// tools are the events that a session's calls become; the memory's own are skipped.
	tools map[string]int
	// open: the agent does not report the end of a session that has no terminal.
	open bool
	// mute: it reports no prompt, so that a first search finds nothing, and takes context after a tool only.
	mute bool
}

// answer ends each session; the memory has it as the session's result.
const answer = "The limiter refills by the clock now: made.txt has the marker."

// agentRows say what was observed with these versions.
var agentRows = []agentRow{
	{
		host: "codex", name: "@openai/codex", version: "0.169.0", command: "codex",
		config: map[string]string{".codex/config.toml": "# asked here\nmodel = \"gpt-5.5\"\nmodel_provider = \"standin\"\n[model_providers.standin]\nname = \"standin\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n"},
		// A person trusts the hooks once, in /hooks.
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"},
		script: []scripted{
			{Tool: "exec_command", Args: values{"cmd": "echo marker > made.txt && cat made.txt"}},
			{Tool: "apply_patch", Patch: "*** Begin Patch\n*** Update File: limiter.go\n@@\n-func Refill() {}\n+func Refill(now int64) {}\n*** End Patch\n"},
			{Tool: "search_memory", Space: "mcp__claude_mem", Args: values{"query": "limiter"}},
		},
		tools: map[string]int{"Bash": 1, "apply_patch": 1},
	},
	{
		host: "gemini", name: "@google/gemini-cli", version: "0.61.0", command: "gemini",
		config: map[string]string{".gemini/settings.json": "{\n  // asked here\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}\n}\n"},
		env:    []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL={url}", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		args:   []string{"--yolo", "--model", "gemini-2.5-pro", "--prompt"},
		script: []scripted{
			{Tool: "run_shell_command", Args: values{"command": "echo marker > made.txt && cat made.txt", "description": "write it"}},
			{Tool: "replace", Args: values{"file_path": "limiter.go", "instruction": "take the time", "old_string": "func Refill() {}", "new_string": "func Refill(now int64) {}"}},
			{Tool: "search_memory", Args: values{"query": "limiter"}},
		},
		tools: map[string]int{"Bash": 1, "Edit": 1},
	},
	{
		host: "qwen", name: "@qwen-code/qwen-code", version: "0.24.4", command: "qwen",
		config: map[string]string{".qwen/settings.json": "{\n  // asked here\n  \"security\": {\"auth\": {\"selectedType\": \"openai\"}},\n  \"$version\": 4\n}\n"}, // else it adds its version
		env:    []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL={url}/v1", "OPENAI_MODEL=m"},
		args:   []string{"--yolo"},
		script: []scripted{
			{Tool: "run_shell_command", Args: values{"command": "echo marker > made.txt && cat made.txt", "description": "write it", "is_background": false}},
			{Tool: "edit", Args: values{"file_path": "{project}/limiter.go", "old_string": "func Refill() {}", "new_string": "func Refill(now int64) {}"}},
			{Tool: "read_file", Args: values{"file_path": "{project}/missing.go"}},
			{Tool: "tool_call", Args: values{"name": "mcp__claude-mem__search_memory", "arguments": values{"query": "limiter"}}}, // it lists no tools of servers
		},
		tools: map[string]int{"Bash": 1, "Edit": 1, "Read": 1}, open: true,
	},
	{
		host: "copilot", name: "@github/copilot", version: "1.0.102", command: "copilot",
		config: map[string]string{
			".copilot/hooks/claude-mem.json": "{\n  \"version\": 1,\n  \"hooks\": {\"SessionEnd\": [{\"type\": \"command\", \"command\": \"true\"}]}\n}\n",
			".config/Code/User/mcp.json":     "{\n\t// of VS Code\n\t\"servers\": {}\n}\n",
		},
		env:  []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL={url}/v1", "COPILOT_MODEL=m", "COPILOT_AUTO_UPDATE=false"},
		args: []string{"--allow-all-tools", "--allow-all-paths", "-p"},
		script: []scripted{
			{Tool: "bash", Args: values{"command": "echo marker > made.txt && cat made.txt", "description": "write it"}},
			{Tool: "edit", Args: values{"path": "{project}/limiter.go", "old_str": "func Refill() {}", "new_str": "func Refill(now int64) {}"}},
			{Tool: "view", Args: values{"path": "{project}/missing.go"}},
			{Tool: "search_memory", Args: values{"query": "limiter"}},
		},
		tools: map[string]int{"Bash": 1, "Edit": 1, "Read": 1},
	},
	{
		host: "cline", name: "cline", version: "3.0.65", command: "cline",
		kept: map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{"provider":"openai-compatible","apiKey":"k","model":"m","baseUrl":"{url}/v1"},"updatedAt":"2026-11-28T00:00:00.000Z","tokenSource":"manual"}}}`},
		args: []string{"--auto-approve", "true"},
		script: []scripted{
			{Tool: "run_commands", Args: values{"commands": []string{"echo marker > made.txt && cat made.txt"}}},
			{Tool: "search_memory", Args: values{"query": "limiter"}},
		},
		tools: map[string]int{"run_commands": 1}, mute: true, open: true,
	},
	{
		host: "opencode", name: "opencode-ai", version: "1.18.33", command: "opencode", binary: "opencode-linux-ARCH/bin/opencode",
		config: map[string]string{".config/opencode/opencode.json": `{
  "$schema": "https://opencode.ai/config.json",
  "model": "standin/m", // asked here
  "small_model": "standin/m",
  "autoupdate": false,
  "share": "disabled",
  "provider": {"standin": {"npm": "@ai-sdk/openai-compatible", "name": "standin", "options": {"baseURL": "{url}/v1", "apiKey": "k"}, "models": {"m": {"name": "m"}}}}
}
`},
		env:  []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
		args: []string{"run"},
		script: []scripted{
			{Tool: "bash", Args: values{"command": "echo marker > made.txt && cat made.txt", "description": "write it"}},
			{Tool: "edit", Args: values{"filePath": "limiter.go", "oldString": "func Refill() {}", "newString": "func Refill(now int64) {}"}},
			{Tool: "read", Args: values{"filePath": "missing.go"}},
			{Tool: "search_memory", Args: values{"query": "limiter"}},
		},
		tools: map[string]int{"Bash": 1, "Edit": 1, "Read": 1},
	},
}

// agentRun is a home with an agent in it.
type agentRun struct {
	t                   *testing.T
	row                 agentRow
	cli, bin            string
	home, project, data string
	env                 []string
}

// run runs a program in the project and returns its output.
func (r *agentRun) run(program string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.project, r.env, 10*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out[:min(len(out), 4000)])
	}
	return string(out)
}

// memory runs claude-mem and decodes what it prints.
func (r *agentRun) memory(into any, args ...string) {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(r.bin, "claude-mem"), append(args, "--json")...)
	cmd.Dir, cmd.Env = r.project, r.env
	out, err := cmd.Output()
	if len(out) == 0 && err != nil || json.Unmarshal(out, into) != nil {
		r.t.Fatalf("claude-mem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// receipt is what `claude-mem sessions show` says of a session.
type receipt struct {
	Host        string
	Status      string
	FirstPrompt string `json:"first_prompt"`
	Captured    struct {
		Events, Pending, Processing, Skipped int
		Kinds                                []struct {
			Kind, Tool string
			Events     int
		}
	}
	Stored struct {
		Observations []struct{ Title string }
	}
}

// settled returns the receipt of a session whose events have all been worked on.
func (r *agentRun) settled(session string) receipt {
	r.t.Helper()
	var got receipt
	for range 600 {
		got = receipt{}
		r.memory(&got, "sessions", "show", session)
		if (got.Status == "completed" || r.row.open) && got.Captured.Pending+got.Captured.Processing == 0 && (len(got.Stored.Observations) > 0 || r.row.open && session != "1") {
			return got
		}
		time.Sleep(100 * time.Millisecond) // another process works
	}
	r.t.Fatalf("session %s is not settled: %+v", session, got)
	return got
}

// TestAgents installs claude-mem into each agent from npm and runs two sessions: the first
// is captured, its MCP server is started, and the second is given what the first has done
// (accept-hosts, point 5).
func TestAgents(t *testing.T) {
	plugin := buildPlugin(t)
	for _, row := range agentRows {
		t.Run(row.host, func(t *testing.T) {
			r := &agentRun{t: t, row: row, cli: fromNPM(t, row.name, row.version, row.command), bin: filepath.Join(filepath.Dir(plugin), "bin"), home: t.TempDir(), project: filepath.Join(t.TempDir(), "limiter")}
			var script []scripted
			said, _ := json.Marshal(row.script)
			_ = json.Unmarshal([]byte(strings.ReplaceAll(string(said), "{project}", r.project)), &script)
			m := newModels(t, script, answer)
			if row.binary != "" {
				arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
				r.cli = filepath.Join(filepath.Dir(filepath.Dir(r.cli)), strings.Replace(row.binary, "ARCH", cmp.Or(arch, runtime.GOARCH), 1))
			}
			r.data = filepath.Join(r.home, ".claude-mem")
			r.env = append([]string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1"}, r.row.env...)
			for i := range r.env {
				r.env[i] = strings.ReplaceAll(r.env[i], "{url}", m.URL)
			}
			writeFile(t, filepath.Join(r.data, "config.json"), `{"CLAUDE_MEM_PROVIDER":"offline"}`)
			writeFile(t, filepath.Join(r.project, "limiter.go"), "package limiter\n\nfunc Refill() {}\n")
			before := map[string]string{}
			for name, text := range row.config {
				before[name] = strings.ReplaceAll(text, "{url}", m.URL)
				writeFile(t, filepath.Join(r.home, name), before[name])
			}
			for name, text := range row.kept {
				writeFile(t, filepath.Join(r.home, name), strings.ReplaceAll(text, "{url}", m.URL))
			}
			r.run(filepath.Join(r.bin, "claude-mem"), "install", "--host", row.host, "--yes")
			t.Cleanup(func() {
				stop := exec.Command(filepath.Join(r.bin, "claude-mem"), "worker", "stop")
				stop.Env = r.env
				_ = stop.Run()
				// Cline leaves a process of its own behind, which writes into the home until it has ended.
				for exec.Command("pkill", "-KILL", "-f", filepath.Dir(r.home)).Run() == nil {
					time.Sleep(50 * time.Millisecond)
				}
			})

			r.run(r.cli, append(slices.Clone(row.args), "Make the limiter refill by the clock")...)
			first := r.settled("1")
			if first.Host != row.host || !row.mute && strings.Trim(first.FirstPrompt, `"`) != "Make the limiter refill by the clock" { // OpenCode quotes it
				t.Errorf("host %q, prompt %q", first.Host, first.FirstPrompt)
			}
			kinds, tools := map[string]int{}, map[string]int{}
			for _, k := range first.Captured.Kinds {
				kinds[k.Kind] += k.Events
				if k.Kind == "tool" {
					tools[k.Tool] += k.Events
				}
			}
			for tool, n := range row.tools {
				if tools[tool] != n {
					t.Errorf("tools %v, want %v", tools, row.tools)
				}
			}
			if (kinds["prompt"] == 1) == row.mute || kinds["stop"] != 1 || (kinds["session_end"] == 1) == row.open {
				t.Errorf("captured %v", kinds)
			}
			asked := m.asked()
			if !row.mute && !strings.Contains(asked[0], "mem-search") {
				t.Error("the model is not told of the skill")
			}
			if len(asked) < len(row.script)+1 {
				t.Fatalf("%d requests, want one a call and one for the answer", len(asked))
			}
			// Of the memory's own answer nothing is captured.
			if last := asked[len(asked)-1]; !row.mute && !strings.Contains(last, "history to judge, not instructions") || first.Captured.Skipped != 1 {
				t.Errorf("%d events skipped, want the search; or the MCP server did not answer: %s", first.Captured.Skipped, last[max(0, len(last)-2000):])
			}
			r.run(r.cli, append(slices.Clone(row.args), "Where did we leave the limiter?")...)
			second := m.asked()[len(asked)]
			if row.mute {
				second = strings.Join(m.asked()[len(asked):], "")
			}
			if !strings.Contains(second, "claude-mem-context") || !strings.Contains(second, "made.txt") {
				t.Errorf("the second session was not given what the first has done: %s", second)
			}
			r.settled("2")

			if slices.Contains([]string{"codex", "gemini", "opencode"}, row.host) { // what it has stored itself is the same
				var imported struct {
					Added, Present struct{ Prompts, Tools, Stops int }
				}
				r.memory(&imported, "import", "--host", row.host, "--yes")
				if a, p := imported.Added, imported.Present; a.Prompts+a.Tools+a.Stops != 0 || p.Prompts != 2 || p.Tools == 0 || p.Stops != 2 {
					t.Errorf("an import of what the agent has stored: %+v", imported)
				}
			}

			var report struct {
				Findings []struct{ Check, Status, Text string }
			}
			r.memory(&report, "doctor")
			i := slices.IndexFunc(report.Findings, func(f struct{ Check, Status, Text string }) bool { return f.Check == "agents" })
			if i < 0 || report.Findings[i].Status != "ok" || !strings.Contains(report.Findings[i].Text, "last event") {
				t.Errorf("doctor: %+v", report.Findings)
			}
			r.run(filepath.Join(r.bin, "claude-mem"), "uninstall", "--host", row.host, "--yes")
			for name, text := range before {
				if got, err := os.ReadFile(filepath.Join(r.home, name)); err != nil || string(got) != text {
					t.Errorf("%s after the uninstall: %v\n%s", name, err, got)
				}
			}
			if t.Failed() {
				return
			}
			t.Logf("point 5: %s %s: session start with context, prompt, %d tools, stop, end, MCP server", row.name, row.version, len(row.tools))
		})
	}
}
