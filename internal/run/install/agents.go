package install

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// ServerName is the name of the memory's MCP server in the files of agents.
const ServerName = "claude-mem"

// Agent is a coding agent besides Claude Code that install knows.
type Agent struct {
	Host  memory.Host
	Label string
	// Also is another host that runs the same hooks, "" for none.
	Also memory.Host
	// Program is its command, by which it is found; "" for none.
	Program string
	// Note tells the user what is left to do after an install.
	Note string
	// NoServers says that none of its files has MCP servers that we could edit.
	NoServers bool
	// resume is the command that resumes a session, before the session's id; nil for none.
	resume []string
	// dir returns its configuration directory.
	dir   func(getenv func(string) string, home string) string
	files []agentFile
}

// agentFile is a file of an agent with entries of ours.
type agentFile struct {
	// names are its names below the configuration directory, with slashes: the first that
	// exists counts, else the first.
	names []string
	// found: the first whose directory exists counts; without one the file is left alone.
	found bool
	form  form
	// hooks says that our hooks are in it.
	hooks bool
}

// skillName is the skill's name in the plugin, and where agents read skills.
const skillName = "skills/mem-search/SKILL.md"

// skillFile is the skill in the directory of an agent.
var skillFile = agentFile{names: []string{skillName}, form: skill{wholeFile{head: "---\nname: mem-search\n"}}}

// agents are the agents. A new one is a row here and an adapter in package hook.
var agents = []Agent{
	{
		Host: memory.HostCodex, Label: "Codex CLI", Program: "codex", resume: []string{"codex", "resume"},
		Note: "Codex CLI runs hooks only after you have trusted them: start `codex`, enter /hooks, and trust those of claude-mem.",
		dir:  dirOf("CODEX_HOME", "", ".codex"),
		files: []agentFile{
			{names: []string{"hooks.json"}, form: jsonHooks{entry: groupEntry}, hooks: true},
			{names: []string{"config.toml"}, form: tomlServers{}},
			skillFile,
		},
	},
	{
		Host: memory.HostGemini, Label: "Gemini CLI", Program: "gemini", resume: []string{"gemini", "--resume"},
		dir: dirOf("", "GEMINI_CLI_HOME", ".gemini"),
		files: []agentFile{
			{names: []string{"settings.json"}, form: jsonHooks{entry: namedEntry, servers: true}, hooks: true},
			skillFile,
		},
	},
	{
		Host: memory.HostQwen, Label: "Qwen Code", Program: "qwen", resume: []string{"qwen", "--resume"},
		dir: dirOf("", "", ".qwen"),
		files: []agentFile{
			{names: []string{"settings.json"}, form: jsonHooks{entry: namedEntry, servers: true}, hooks: true},
			skillFile,
		},
	},
	{
		Host: memory.HostCopilot, Also: memory.HostVSCode, Label: "Copilot (CLI and VS Code)", Program: "copilot", resume: []string{"copilot", "--resume"},
		Note: "VS Code has to be restarted; in its list of MCP servers claude-mem may have to be started once.",
		dir:  dirOf("COPILOT_HOME", "", ".copilot"),
		files: []agentFile{
			{names: []string{"hooks/claude-mem.json"}, form: jsonHooks{entry: typedEntry, base: `{"version":1}`}, hooks: true},
			{names: []string{"mcp-config.json"}, form: jsonServers{key: "mcpServers", more: []any{"type", "local", "tools", []byte(`["*"]`)}}},
			{
				names: []string{"../.config/Code/User/mcp.json", "../Library/Application Support/Code/User/mcp.json", "../AppData/Roaming/Code/User/mcp.json"},
				found: true, form: jsonServers{key: "servers", more: []any{"type", "stdio"}},
			},
			skillFile,
		},
	},
	{
		Host: memory.HostOpenCode, Label: "OpenCode", Program: "opencode", resume: []string{"opencode", "--session"},
		dir: func(getenv func(string) string, home string) string {
			if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
				return filepath.Join(dir, "opencode")
			}
			return dirOf("", "", ".config/opencode")(getenv, home)
		},
		files: []agentFile{
			{names: []string{"plugins/claude-mem.js"}, hooks: true, form: wholeFile{
				text: openCodePlugin, hookLine: "const hook = ",
				handled: []string{"chat.message", "tool.execute.after", "session.idle", "session.deleted", "experimental.session.compacting"},
			}},
			{names: []string{"opencode.json", "opencode.jsonc"}, form: jsonServers{key: "mcp", local: true}},
			skillFile,
		},
	},
	{
		Host: memory.HostCursor, Label: "Cursor", Program: "cursor",
		Note: "Restart Cursor; its settings list hooks and MCP servers, and a new server has to be switched on there.",
		dir:  dirOf("", "", ".cursor"),
		files: []agentFile{
			{names: []string{"hooks.json"}, form: jsonHooks{entry: plainEntry, base: `{"version":1}`}, hooks: true},
			{names: []string{"mcp.json"}, form: jsonServers{key: "mcpServers"}},
			skillFile,
		},
	},
	{
		Host: memory.HostCline, Label: "Cline", Program: "cline", dir: dirOf("CLINE_DIR", "", ".cline"),
		Note: "Its command line reports no prompt and takes no context at a start; the extension of VS Code needs \"Enable Hooks\", and the server in its own list.",
		files: []agentFile{
			clineHook("TaskStart"), clineHook("UserPromptSubmit"), clineHook("PostToolUse"), clineHook("TaskComplete"), clineHook("TaskCancel"), clineHook("PreCompact"),
			{names: []string{"data/settings/cline_mcp_settings.json"}, form: jsonServers{key: "mcpServers"}},
		},
	},
	// After their documentation, never run: for hooks see the adapters in package hook; for servers
	// docs.factory.ai/cli/configuration/mcp, kiro.dev/docs/cli/mcp, docs.windsurf.com/windsurf/cascade/mcp.
	{
		Host: memory.HostDroid, Label: "Droid", Program: "droid", Note: neverRun, dir: dirOf("", "", ".factory"),
		files: []agentFile{
			{names: []string{"hooks.json"}, form: jsonHooks{entry: groupEntry}, hooks: true},
			{names: []string{"mcp.json"}, form: jsonServers{key: "mcpServers", more: []any{"type", "stdio"}}},
			skillFile,
		},
	},
	{
		Host: memory.HostKiro, Label: "Kiro CLI", Program: "kiro-cli", dir: dirOf("", "", ".kiro"),
		Note: neverRun + " The hooks belong to an agent named claude-mem: `kiro-cli chat --agent claude-mem`.",
		files: []agentFile{
			{names: []string{"agents/claude-mem.json"}, hooks: true, form: jsonHooks{
				entry: `{"command":LINE,"timeout_ms":TIMEOUT}`, base: `{"name":"claude-mem","tools":["*"],"includeMcpJson":true}`,
			}},
			{names: []string{"settings/mcp.json"}, form: jsonServers{key: "mcpServers"}},
			skillFile,
		},
	},
	{
		Host: memory.HostGoose, Label: "Goose", NoServers: true, dir: dirOf("", "", ".agents/plugins/claude-mem"),
		// It has no Program: a tool for migrations of databases has the same name.
		Note: neverRun + " Its MCP servers are in a YAML file: add `claude-mem mcp` with `goose configure`.",
		files: []agentFile{
			{names: []string{"hooks/hooks.json"}, form: jsonHooks{entry: groupEntry}, hooks: true},
			{names: []string{"plugin.json"}, form: wholeFile{text: "{\"name\": \"claude-mem\",\n \"version\": \"1.0.0\", \"description\": \"Memory of earlier sessions\"}\n"}},
		},
	},
	{
		Host: memory.HostWindsurf, Label: "Windsurf", Program: "windsurf", Note: neverRun, dir: dirOf("", "", ".codeium/windsurf"),
		files: []agentFile{
			{names: []string{"hooks.json"}, form: jsonHooks{entry: `{"command":LINE,"show_output":false}`}, hooks: true},
			{names: []string{"mcp_config.json"}, form: jsonServers{key: "mcpServers"}},
		},
	},
	// Agents that only speak MCP, for `--host mcp NAME`. After zed.dev/docs/ai/mcp, ampcode.com/manual,
	// junie.jetbrains.com/docs/junie-cli-mcp-configuration.html and docs.roocode.com/features/mcp; never run.
	{
		Host: "zed", Label: "Zed", Program: "zed", Note: mcpNote, dir: dirOf("", "", ".config/zed"),
		files: []agentFile{{names: []string{"settings.json"}, form: jsonServers{key: "context_servers"}}},
	},
	{
		Host: "junie", Label: "Junie", Program: "junie", Note: mcpNote, dir: dirOf("", "", ".junie"),
		files: []agentFile{{names: []string{"mcp/mcp.json"}, form: jsonServers{key: "mcpServers"}}},
	},
	{
		Host: "amp", Label: "Amp", Program: "amp", Note: mcpNote, dir: dirOf("", "", ".config/amp"),
		files: []agentFile{{names: []string{"settings.json"}, form: jsonServers{key: "amp.mcpServers"}}},
	},
	{
		Host: "roo", Label: "Roo Code", Note: mcpNote, dir: dirOf("", "", ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings"),
		files: []agentFile{{names: []string{"mcp_settings.json"}, form: jsonServers{key: "mcpServers"}}},
	},
}

const (
	neverRun = "This follows its documentation; it was never run."
	mcpNote  = neverRun + " It has no hooks: its sessions are not remembered. It reads AGENTS.md, where `claude-mem agent-files sync --target root` puts recent records."
)

// clineHook is the script that Cline runs at an event.
func clineHook(event string) agentFile {
	return agentFile{names: []string{"hooks/" + event}, form: script{event}, hooks: true}
}

// MCPOnly reports whether the agent has no hooks that we know of.
func (a *Agent) MCPOnly() bool {
	return !slices.ContainsFunc(a.files, func(f agentFile) bool { return f.hooks })
}

// Flag returns the option that names the agent.
func (a *Agent) Flag() string {
	if a.MCPOnly() {
		return "--host mcp " + string(a.Host)
	}
	return "--host " + string(a.Host)
}

// dirOf returns the function that finds a configuration directory: the variable names it,
// or the directory that has it in the place of the home.
func dirOf(variable, homeVariable, name string) func(func(string) string, string) string {
	return func(getenv func(string) string, home string) string {
		if dir := getenv(variable); variable != "" && dir != "" {
			return filepath.Clean(dir)
		}
		if homeVariable != "" {
			home = cmp.Or(getenv(homeVariable), home)
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, filepath.FromSlash(name))
	}
}

// Agents returns the agents that install knows besides Claude Code, in the order in which they are listed.
func Agents() []Agent { return slices.Clone(agents) }

// Resume returns the command by which a host resumes a session of this id; nil if it has none, or if
// that is no id of letters, digits, "-" and "_".
func Resume(host memory.Host, id string) []string {
	command := []string{"claude", "--resume"}
	if host != memory.HostClaudeCode {
		agent := AgentOf(host)
		if agent == nil || agent.Host != host || agent.resume == nil {
			return nil
		}
		command = agent.resume
	}
	isID := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_'
	}
	if id == "" || id[0] == '-' || strings.ContainsFunc(id, func(r rune) bool { return !isID(r) }) {
		return nil
	}
	return append(slices.Clone(command), id)
}

// AgentOf returns the agent of a host, nil for Claude Code and unknown hosts. It is the row of the table,
// which nobody changes.
func AgentOf(host memory.Host) *Agent {
	if i := slices.IndexFunc(agents, func(a Agent) bool { return a.Host == host || a.Also == host && host != "" }); i >= 0 {
		return &agents[i]
	}
	return nil
}

// Dir returns the agent's configuration directory, "" without a home directory.
func (a *Agent) Dir(getenv func(string) string, home string) string { return a.dir(getenv, home) }

// History returns the directory in which the agent stores its sessions, "" for one of which none are read.
// Without a home directory there is none.
func (a *Agent) History(getenv func(string) string, home string) string {
	if home == "" {
		return ""
	}
	switch a.Host {
	case memory.HostCodex:
		return filepath.Join(a.dir(getenv, home), "sessions")
	case memory.HostGemini:
		return filepath.Join(a.dir(getenv, home), "tmp")
	case memory.HostOpenCode:
		return filepath.Join(cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), "opencode")
	}
	return ""
}

// IsFound reports whether the agent seems to be used here: it has its configuration
// directory, or its command is in PATH.
func (a *Agent) IsFound(getenv func(string) string, home string) bool {
	_, err := exec.LookPath(a.Program)
	return err == nil || openfile.IsDir(a.Dir(getenv, home))
}

// path returns the path of a file in the configuration directory dir; "" for one that is left alone.
func (f *agentFile) path(dir string) string {
	for _, name := range f.names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if openfile.Exists(path) || f.found && openfile.Exists(filepath.Dir(path)) {
			return path
		}
	}
	if f.found {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(f.names[0]))
}

// in returns the agent's files in the configuration directory dir, without their contents.
func (a *Agent) in(dir string) []agentState {
	all := collect.MapPtr(a.files, func(f *agentFile) agentState { return agentState{file: f, path: f.path(dir)} })
	return collect.Keep(all, func(s agentState) bool { return s.path != "" })
}

// AgentState is what an agent's files say about claude-mem.
type AgentState struct {
	*Agent
	ConfigDir string
	// Recorded says that an install into this directory is recorded.
	Recorded bool
	// Hooks is the number of events with a hook of ours, Missing names those without one.
	Hooks   int
	Missing []string
	// Programs are the programs of the hooks and of the MCP server.
	Programs []string
	// Server says that the MCP server is registered.
	Server bool
	// Unreadable are the files that cannot be read or parsed.
	Unreadable []string
}

// ReadAgents reads the files of the agents besides Claude Code. It returns those with an
// install of the memory in dataDir, or with entries of ours.
func ReadAgents(dataDir string, getenv func(string) string, home string) []AgentState {
	installed, recorded := InstalledAgents(dataDir)
	var list []AgentState
	read := func(a *Agent, dir string) {
		s := a.read(dir)
		s.Recorded = slices.Contains(recorded, dir)
		if s.Recorded || s.Hooks > 0 || s.Server {
			list = append(list, s)
		}
	}
	for i := range agents {
		if dir := agents[i].Dir(getenv, home); dir != "" {
			read(&agents[i], dir)
		}
	}
	for i, a := range installed { // in a directory that a variable named then
		if dir := a.Dir(getenv, home); dir != recorded[i] {
			read(a, recorded[i])
		}
	}
	return list
}

// read reads the agent's files in a configuration directory. A file that is not there has nothing of
// ours; one that cannot be read is in Unreadable.
func (a *Agent) read(dir string) AgentState {
	s := AgentState{Agent: a, ConfigDir: dir}
	var events []string
	for _, file := range a.in(dir) {
		f, path := file.file, file.path
		data, err := readUserFile(path)
		var o ours
		if err == nil {
			o, err = f.form.read(data)
		}
		if err != nil {
			s.Unreadable = append(s.Unreadable, path)
			continue
		}
		events = append(events, o.Events...)
		s.Server = s.Server || o.Server != ""
		s.Programs = append(s.Programs, collect.Pick([]string{o.Hook, o.Server}, func(p string) (string, bool) { return filepath.FromSlash(p), p != "" })...)
	}
	s.Hooks = len(events)
	s.Missing = collect.Pick(hook.Commands(a.Host, runtime.GOOS, ""), func(c hook.Command) (string, bool) { return c.Event, !slices.Contains(events, c.Event) })
	return s
}
