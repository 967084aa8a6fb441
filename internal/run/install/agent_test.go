package install

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

var update = flag.Bool("update", false, "write golden files")

// agentPlace is a place with the configuration directory of an agent.
type agentPlace struct {
	*place
	agent *Agent
	dir   string
}

// newAgentPlace returns a place in which the agent's configuration is a copy of the
// directory before; "" for none.
func newAgentPlace(t *testing.T, agent *Agent, before string) *agentPlace {
	t.Helper()
	p := &agentPlace{place: newPlace(t, ""), agent: agent}
	p.dir = filepath.Join(p.root, "home", ".agent")
	p.opts.ConfigDir = p.dir
	if before != "" {
		if err := os.CopyFS(p.dir, os.DirFS(before)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *agentPlace) installer() *AgentInstaller { return NewAgent(p.opts, p.agent) }

func (p *agentPlace) install() *AgentPlan {
	p.t.Helper()
	plan, err := p.installer().Install(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return plan
}

func (p *agentPlace) uninstall() *AgentRemoval {
	p.t.Helper()
	removal, err := p.installer().Uninstall(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return removal
}

// same reports the files that are not as before.
func (p *agentPlace) same(before map[string]string) {
	p.t.Helper()
	after := files(p.t, p.dir)
	for name, text := range before {
		if after[name] != text {
			p.t.Errorf("%s is now\n%q\nwas\n%q", name, after[name], text)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			p.t.Errorf("%s was left behind", name)
		}
	}
	for _, dir := range []string{"bin", filepath.Join("backups", "install")} {
		if openfile.Exists(filepath.Join(p.data, dir)) {
			p.t.Errorf("%s was left behind", dir)
		}
	}
}

// agentCases are the directories in testdata/agents: the agent, a dash, what is special.
func agentCases(t *testing.T) map[string]*Agent {
	t.Helper()
	cases := map[string]*Agent{}
	entries, err := os.ReadDir(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		host, _, _ := strings.Cut(e.Name(), "-")
		if cases[e.Name()] = AgentOf(memory.Host(host)); cases[e.Name()] == nil {
			t.Fatalf("%s: no such agent", e.Name())
		}
	}
	for _, agent := range Agents() {
		cases[string(agent.Host)+"-new"] = AgentOf(agent.Host)
	}
	return cases
}

// TestAgentsAreDocumented: the table of docs/hosts.md has a row of each agent, and the first lines
// the name that --host takes.
func TestAgentsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(page), "\n\nAll agents")
	for _, a := range Agents() {
		if !strings.Contains(string(page), "\n| "+a.Label+" | ") || !strings.Contains(head, string(a.Host)) {
			t.Errorf("docs/hosts.md does not list %s (%s)", a.Label, a.Host)
		}
	}
}

// TestAgentGolden installs into each agent: with its files as testdata/agents has them under
// before, it has those under after; a second install has nothing to do, and an uninstall
// restores every byte.
func TestAgentGolden(t *testing.T) {
	cases := agentCases(t)
	for name, agent := range cases {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", "agents", name)
			before := filepath.Join(golden, "before")
			if strings.HasSuffix(name, "-new") {
				before = ""
			}
			p := newAgentPlace(t, agent, before)
			was := files(t, p.dir)
			p.install()
			got := map[string]string{}
			for file, text := range files(t, p.dir) {
				got[file] = strings.ReplaceAll(text, p.data, "/data")
			}
			if *update {
				_ = os.RemoveAll(filepath.Join(golden, "after"))
				for file, text := range got {
					p.put(filepath.Join(golden, "after", file), text, 0o644)
				}
			}
			want := files(t, filepath.Join(golden, "after"))
			for file := range want {
				if got[file] != want[file] {
					t.Errorf("%s is\n%s\nwant\n%s", file, got[file], want[file])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d files, want %d", len(got), len(want))
			}
			if plan := p.install(); !plan.Empty() {
				t.Errorf("a second install: %+v", plan)
			}
			if removal := p.uninstall(); len(removal.Restored) != len(agent.in(p.dir)) {
				t.Errorf("restored %q", removal.Restored)
			}
			p.same(was)
			if removal := p.uninstall(); !removal.Empty() {
				t.Errorf("a second uninstall: %+v", removal)
			}
		})
	}
	t.Logf("point 4: golden files of %d configurations before and after an install; an uninstall restores every byte", len(cases))
}

// TestAgentFileChangedSince: a file that another program has changed since the install
// loses our entries only.
func TestAgentFileChangedSince(t *testing.T) {
	for name, agent := range agentCases(t) {
		if strings.HasSuffix(name, "-new") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := newAgentPlace(t, agent, filepath.Join("testdata", "agents", name, "before"))
			p.install()
			was := files(t, filepath.Join("testdata", "agents", name, "before"))
			for _, s := range agent.in(p.dir) {
				path := s.path
				rel, err := filepath.Rel(p.dir, path)
				if err != nil {
					t.Fatal(err)
				}
				rel = filepath.ToSlash(rel)
				if _, ok := was[rel]; !ok {
					continue
				}
				text, more := p.get(path), "\n"
				if strings.HasSuffix(path, ".toml") {
					more = "\n# mine\n[later]\nadded = true\n"
				}
				p.put(path, text+more, 0o600)
				if strings.HasSuffix(path, ".toml") && !strings.HasSuffix(was[rel], "\n") {
					was[rel] += "\n" // before our table
				}
				was[rel] += more
			}
			p.uninstall()
			for rel, text := range was {
				// White space between our entries and what came behind them may stay.
				if got := p.get(filepath.Join(p.dir, rel)); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
					t.Errorf("%s is\n%s\nwant\n%s", rel, got, text)
				}
			}
		})
	}
}

// TestAgentCorruptFiles refuses each file that cannot be parsed or has another shape, and
// changes nothing.
func TestAgentCorruptFiles(t *testing.T) {
	texts := map[string][]string{
		".json":  {"{", `{"hooks": [}`, `[]`, `"x"`, `{"hooks": {"SessionStart": {}}}`, `{"hooks": 1}`, "{} {}", "\x00"},
		".jsonc": {"{", `[]`, `{"mcp": 1}`, `{"mcp": {}} x`},
		".toml":  {"model = ", "[a\n", "a = 1\na = 2\n", "mcp_servers = { docs = { command = \"x\" } }\n", "\x00"},
	}
	refused := 0
	for i := range agents {
		agent := &agents[i]
		for j := range agent.files {
			f := &agent.files[j]
			for _, text := range texts[filepath.Ext(f.names[0])] {
				if _, plugin := f.form.(wholeFile); plugin {
					continue
				}
				if !f.hooks && strings.Contains(text, `"hooks"`) && !strings.HasSuffix(text, "}") || !f.hooks && strings.HasPrefix(text, `{"hooks": {"S`) || !f.hooks && text == `{"hooks": 1}` {
					continue // of another file
				}
				if f.hooks {
					text = strings.Replace(text, "SessionStart", hook.Commands(agent.Host, runtime.GOOS, "")[0].Event, 1)
				}
				p := newAgentPlace(t, agent, "")
				path := filepath.Join(p.dir, filepath.FromSlash(f.names[0]))
				p.put(path, text, 0o600)
				was := files(t, p.root)
				_, err := p.installer().Install(t.Context())
				if memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), path) {
					t.Errorf("%s with %q: %v", f.names[0], text, err)
				}
				delete(was, "home/.claude-mem/install.lock")
				now := files(t, p.root)
				delete(now, "home/.claude-mem/install.lock")
				if fmt.Sprint(now) != fmt.Sprint(was) {
					t.Errorf("%s with %q: something was changed", f.names[0], text)
				}
				refused++
			}
		}
	}
	t.Logf("point 4: %d broken files are refused and stay as they are", refused)
}

// TestAgentKilled kills an install and an uninstall before each of their steps: an uninstall
// restores every byte then, and an install is completed.
func TestAgentKilled(t *testing.T) {
	cases := map[string]func(*AgentInstaller) error{
		"install":   func(in *AgentInstaller) error { _, err := in.Install(t.Context()); return err },
		"uninstall": func(in *AgentInstaller) error { _, err := in.Uninstall(t.Context()); return err },
	}
	for name, agent := range agentCases(t) {
		before := filepath.Join("testdata", "agents", name, "before")
		if strings.HasSuffix(name, "-new") {
			before = ""
		}
		for what, run := range cases {
			for kill := 1; ; kill++ {
				p := newAgentPlace(t, agent, before)
				was := files(t, p.dir)
				if what == "uninstall" {
					p.install()
				}
				in, n := p.installer(), 0
				in.step = func(string) error {
					if n++; n == kill {
						return errKilled
					}
					return nil
				}
				err := run(in)
				if err == nil {
					if kill < 4 {
						t.Errorf("%s: only %d steps", name, kill-1)
					}
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatalf("%s of %s, step %d: %v", what, name, kill, err)
				}
				if kill%2 == 0 {
					p.install()
					if plan := p.install(); !plan.Empty() {
						t.Errorf("%s of %s, step %d: still to do %+v", what, name, kill, plan)
					}
				}
				p.uninstall()
				p.same(was)
				if t.Failed() {
					t.Fatalf("%s of %s, killed at step %d", what, name, kill)
				}
			}
		}
	}
}

// TestAgentForeignServer: a server of our name that runs something else is not replaced.
func TestAgentForeignServer(t *testing.T) {
	for host, text := range map[memory.Host]string{
		memory.HostCodex:    "[mcp_servers.claude-mem]\ncommand = \"npx\"\nargs = [\"claude-mem\"]\n",
		memory.HostGemini:   `{"mcpServers": {"claude-mem": {"command": "npx", "args": ["claude-mem"]}}}`,
		memory.HostCursor:   `{"mcpServers": {"claude-mem": {"url": "https://elsewhere.example"}}}`,
		memory.HostOpenCode: `{"mcp": {"claude-mem": {"type": "local", "command": ["npx", "claude-mem"]}}}`,
	} {
		agent := AgentOf(host)
		p := newAgentPlace(t, agent, "")
		for i := range agent.files {
			f := &agent.files[i]
			json, isHooks := f.form.(jsonHooks)
			if _, plugin := f.form.(wholeFile); !plugin && (!isHooks || json.servers) {
				p.put(filepath.Join(p.dir, f.names[0]), text, 0o600)
			}
		}
		was := files(t, p.dir)
		if _, err := p.installer().Install(t.Context()); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("%s: %v", host, err)
		}
		p.same(was)
		p.uninstall()
		p.same(was)
	}
}

// TestForeignPlugin: a plugin of our name that is not ours stays.
func TestForeignPlugin(t *testing.T) {
	p := newAgentPlace(t, AgentOf(memory.HostOpenCode), "")
	p.put(filepath.Join(p.dir, "plugins", "claude-mem.js"), "export const Mine = 1\n", 0o600)
	was := files(t, p.dir)
	if _, err := p.installer().Install(t.Context()); memory.CodeOf(err) != memory.CodeConflict {
		t.Error(err)
	}
	p.uninstall()
	p.same(was)
}

// TestAgentAndClaudeCode: the programs stay until the last host is gone.
func TestAgentAndClaudeCode(t *testing.T) {
	p := newAgentPlace(t, AgentOf(memory.HostCodex), "")
	claude := *p.place
	claude.opts.ConfigDir = p.config
	claude.install(Wish{Method: MethodSettings})
	p.install()
	state := ReadAgents(p.data, func(string) string { return "" }, filepath.Join(p.root, "home"))
	if len(state) != 1 || !state[0].Recorded || state[0].Hooks != 7 || !state[0].Server || len(state[0].Missing)+len(state[0].Unreadable) != 0 {
		t.Errorf("state %+v", state)
	}
	if removal := claude.uninstall(); len(removal.Elsewhere) != 0 || !openfile.Exists(filepath.Join(p.data, "bin", "claude-mem-hook")) {
		t.Errorf("elsewhere %q, or the programs are gone", removal.Elsewhere)
	}
	p.uninstall()
	p.same(map[string]string{})
	if _, err := os.Stat(p.data); errors.Is(err, fs.ErrNotExist) {
		t.Error("the memory is gone")
	}
}

// TestVSCodeServers: where VS Code has a directory, Copilot's install puts the MCP server there too.
func TestVSCodeServers(t *testing.T) {
	p := newAgentPlace(t, AgentOf(memory.HostVSCode), "")
	path, text := filepath.Join(p.root, "home", ".config", "Code", "User", "mcp.json"), "{\n\t// mine\n\t\"servers\": {\"docs\": {\"command\": \"docs\"}},\n}\n"
	p.put(path, text, 0o600)
	was := files(t, p.dir)
	if plan := p.install(); plan.Host != memory.HostCopilot || len(plan.Files) != 4 || !strings.Contains(p.get(path), `"type": "stdio"`) && !strings.Contains(p.get(path), `"type":"stdio"`) {
		t.Errorf("%d files, %s", len(plan.Files), p.get(path))
	}
	if p.uninstall(); p.get(path) != text {
		t.Errorf("after the uninstall: %s", p.get(path))
	}
	p.same(was)
}

// TestClineHooks: the scripts can be executed, each runs the hook of its event, and a script of the user's is
// refused.
func TestClineHooks(t *testing.T) {
	p := newAgentPlace(t, AgentOf(memory.HostCline), "")
	plan := p.install()
	if plan.Hooks != 6 || plan.Servers != 1 {
		t.Errorf("%d hooks, %d servers", plan.Hooks, plan.Servers)
	}
	path := filepath.Join(p.dir, "hooks", "PostToolUse")
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 || !strings.Contains(p.get(path), "save --host cline") {
		t.Errorf("%v, %v, %s", err, info.Mode(), p.get(path))
	}
	if s := p.agent.read(p.dir); s.Hooks != 6 || len(s.Missing) > 0 || !s.Server {
		t.Errorf("state %+v", s)
	}
	// What somebody adds stays, and so does the program where a new install runs it from.
	p.put(path, p.get(path)+"echo added\n", 0o700)
	if plan := p.install(); !plan.Empty() || p.agent.read(p.dir).Hooks != 6 {
		t.Errorf("with a line of the user's: %+v, %+v", plan, p.agent.read(p.dir))
	}
	p.uninstall()
	if p.get(path) != "#!/bin/sh\necho added\n" {
		t.Errorf("after the uninstall: %s", p.get(path))
	}
	p.put(path, "", 0o644)
	p.install()
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("an empty script that could not be run: %v, %v", err, info.Mode())
	}
	p.uninstall()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.put(path, "#!/bin/sh\nmine\n", 0o700)
	was := files(t, p.dir)
	if _, err := p.installer().Install(t.Context()); memory.CodeOf(err) != memory.CodeConflict {
		t.Error(err)
	}
	p.uninstall()
	p.same(was)
}

// TestUninstallDirectories: the directories that an install has made go with their last file; a link to
// one stays.
func TestUninstallDirectories(t *testing.T) {
	p := newAgentPlace(t, AgentOf(memory.HostCline), "")
	p.install()
	p.uninstall()
	if _, err := os.Lstat(p.dir); !os.IsNotExist(err) {
		t.Errorf("left: %v, %v", err, files(t, p.dir))
	}
	behind := filepath.Join(t.TempDir(), "hooks")
	for _, dir := range []string{behind, p.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(p.dir, "hooks")
	if err := os.Symlink(behind, link); err != nil {
		t.Skip(err)
	}
	p.install()
	p.uninstall()
	if _, err := os.Readlink(link); err != nil {
		t.Errorf("the user's link: %v", err)
	}
}

// TestMovedDataDir: MCP servers get a data directory that is not the default.
func TestMovedDataDir(t *testing.T) {
	for i := range agents {
		p := newAgentPlace(t, &agents[i], "")
		p.opts.DataDirMoved = true
		p.install()
		said := 0
		for _, text := range files(t, p.dir) {
			said += strings.Count(text, dataDirVariable)
		}
		if said != 1 && !agents[i].NoServers {
			t.Errorf("%s: the server's environment has it %d times", agents[i].Label, said)
		}
	}
}
