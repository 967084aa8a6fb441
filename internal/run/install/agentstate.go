package install

import (
	"path/filepath"
	"runtime"
	"slices"

	"claudemem/internal/capture/hook"
	"claudemem/internal/memory"
)

// AgentState is what an agent's files say about claude-mem.
type AgentState struct {
	Host      memory.Host
	Label     string
	ConfigDir string
	// Note is what the user has to do after an install.
	Note string
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
	_, recorded := InstalledAgents(dataDir)
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
	installed, dirs := InstalledAgents(dataDir)
	for i, a := range installed { // in a directory that a variable named then
		if dir := a.Dir(getenv, home); dir != dirs[i] {
			read(a, dirs[i])
		}
	}
	return list
}

// read reads the agent's files in a configuration directory.
func (a *Agent) read(dir string) AgentState {
	s := AgentState{Host: a.Host, Label: a.Label, ConfigDir: dir, Note: a.Note}
	for i := range a.files {
		f := &a.files[i]
		path := f.path(dir)
		data, err := readUserFile(path)
		var o ours
		if err == nil {
			o, err = f.form.read(data)
		}
		if err != nil {
			s.Unreadable = append(s.Unreadable, path)
			continue
		}
		if f.hooks {
			s.Hooks = len(o.Events)
			for _, c := range hook.Commands(a.Host, runtime.GOOS, "") {
				if !slices.Contains(o.Events, c.Event) {
					s.Missing = append(s.Missing, c.Event)
				}
			}
		}
		s.Server = s.Server || o.Server != ""
		for _, program := range []string{o.Hook, o.Server} {
			if program != "" {
				s.Programs = append(s.Programs, filepath.FromSlash(program))
			}
		}
	}
	return s
}
