package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"
)

// checkBinaries checks that both programs are there in the same version, and that PATH
// finds no other claude-mem.
func checkBinaries(ctx context.Context, e *exam) ([]Finding, string) {
	if e.Executable == "" {
		return nil, "version " + e.Version
	}
	real := e.Executable
	if target, err := filepath.EvalSymlinks(real); err == nil {
		real = target
	}
	return append(e.twin(ctx, real), e.pathOther(ctx, real)...),
		fmt.Sprintf("claude-mem and claude-mem-hook %s in %s", e.Version, filepath.Dir(real))
}

// twin returns the findings about claude-mem-hook, which is beside real, this program's file behind
// links, or beside the path by which it was called. Its version is compared only if
// programs may be run (RunVersion).
func (e *exam) twin(ctx context.Context, real string) []Finding {
	name, bin := install.ProgramFile(install.HookProgram, runtime.GOOS), filepath.Dir(real)
	path := filepath.Join(bin, name)
	info, err := os.Stat(path)
	if other := filepath.Join(filepath.Dir(e.Executable), name); err != nil && other != path {
		if found, failed := os.Stat(other); failed == nil {
			path, info, err = other, found, nil
		}
	}
	switch {
	case err != nil || !info.Mode().IsRegular():
		return []Finding{e.found("twin-missing", "no "+name+" in "+bin, "version", e.Version, "bin", bin)}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return []Finding{e.found("twin-unusable", path+" may not be executed", "path", path).on(file{path, 0o755})}
	case e.RunVersion == nil:
		return nil
	}
	switch version, err := e.version(ctx, path, "--version"); {
	case err != nil:
		return []Finding{e.found("twin-version", fmt.Sprintf("%s does not print its version: %v", path, err), "version", e.Version, "bin", bin)}
	case version != e.Version:
		return []Finding{e.found("twin-version", fmt.Sprintf("claude-mem-hook is version %s, claude-mem %s", orOlder(version), e.Version), "version", e.Version, "bin", bin)}
	}
	return nil
}

// version returns the second word of what a program prints, as in "claude-mem 1.2.0".
func (e *exam) version(ctx context.Context, path, argument string) (string, error) {
	said, err := e.RunVersion(ctx, path, argument)
	_, version, _ := strings.Cut(said, " ")
	version, _, _ = strings.Cut(version, " ")
	return version, err
}

// pathOther returns a finding when PATH finds a different claude-mem. Only a build of
// this module is run to get its version: another program of that name might do anything.
func (e *exam) pathOther(ctx context.Context, real string) []Finding {
	own, err := os.Stat(real)
	if err != nil {
		return nil
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		path := filepath.Join(dir, install.ProgramFile(install.PluginName, runtime.GOOS))
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if os.SameFile(own, info) || launches(path, real) {
			return nil
		}
		text := path + " comes first in PATH and is another program"
		if isClaudeMem(path) {
			if e.RunVersion == nil {
				return nil
			}
			version, err := e.version(ctx, path, "version")
			if err != nil || version == e.Version {
				return nil // what does not run does nothing else either
			}
			text = fmt.Sprintf("%s comes first in PATH and is version %s, this is %s", path, version, e.Version)
		}
		return []Finding{e.found("path-other", text, "bin", filepath.Dir(real), "other", dir, "path", path)}
	}
	return nil
}

// isClaudeMem reports whether the file at path is a build of claude-mem: what Go notes in each program names
// the package that it is of. Package debug/buildinfo finds the same, and makes the program 0.4 MB larger.
func isClaudeMem(path string) bool {
	const largest = 128 << 20
	program, _, err := openfile.Beginning(path, largest)
	return err == nil && bytes.Contains(program, []byte("/cmd/claude-mem\nmod\t"))
}

// launches reports whether the file at path is a script, such as the plugin's launcher, that names
// program.
func launches(path, program string) bool {
	const largest = 4096 // scripts have some hundred bytes
	text, _, err := openfile.Beginning(path, largest)
	return err == nil && bytes.HasPrefix(text, []byte("#!")) && bytes.Contains(text, []byte(program))
}

// checkPlugin checks that our hooks are registered with Claude Code exactly once, are in
// order, and that claude-mem for Node is not enabled too.
func checkPlugin(ctx context.Context, e *exam) ([]Finding, string) {
	if e.HostDir == "" {
		return nil, "not looked at: there is no home directory"
	}
	seen := e.plugins()
	list := collect.Map(seen.Unreadable, func(path string) Finding { return e.found("host-unreadable", path+" cannot be read", "path", path) })
	isEnabled := func(r install.Registration) bool { return r.Enabled }
	enabled := collect.Keep(seen.Ours, isEnabled)
	switch {
	case len(enabled) == 0 && len(seen.Ours) > 0:
		list = append(list, e.found("plugin-disabled", "the plugin "+seen.Ours[0].ID+" is disabled", "id", seen.Ours[0].ID))
	case len(enabled) == 0 && len(list) == 0 && len(e.agents()) > 0 && !openfile.IsDir(e.HostDir):
		return nil, "Claude Code is not used here"
	case len(enabled) == 0 && len(list) == 0:
		list = append(list, e.found("plugin-missing", "Claude Code has no hooks of claude-mem"))
	case len(enabled) > 1:
		list = append(list, e.found("plugin-twice", fmt.Sprintf("the hooks are registered %d times: %s", len(enabled),
			strings.Join(collect.Map(enabled, func(r install.Registration) string { return r.ID }), ", "))))
	}
	list = append(list, collect.Flat(enabled, func(r install.Registration) []Finding { return e.registration(ctx, r) })...)
	list = append(list, collect.Map(collect.Keep(seen.Others, isEnabled), func(r install.Registration) Finding {
		return e.found("node-plugin", "claude-mem for Node is enabled too: "+r.ID, "id", r.ID)
	})...)
	if len(list) > 0 {
		return list, ""
	}
	if r := enabled[0]; r.Plugin {
		return nil, r.ID + " " + r.Version + " is enabled"
	}
	return nil, "the hooks are in " + enabled[0].ID
}

// registration returns the findings about a plugin or a settings file with our hooks: files that
// are gone, or a program of another version. It returns one at most, the first that it finds.
func (e *exam) registration(ctx context.Context, r install.Registration) []Finding {
	hook, programs := r.Hook, []string{r.Hook}
	if r.Plugin {
		if r.Root == "" {
			return []Finding{e.found("plugin-gone", r.ID+" is enabled and not installed")}
		}
		var err error
		if programs, err = install.PluginPrograms(r.Root); err != nil {
			return []Finding{e.found("plugin-gone", fmt.Sprintf("%s: %v", r.ID, err))}
		}
		hook = programs[0]
	}
	for _, path := range programs {
		if !filepath.IsAbs(path) {
			continue // the host's PATH finds it, which may differ from ours
		}
		if _, err := os.Stat(path); err != nil {
			return []Finding{e.found("program-gone", fmt.Sprintf("%s runs %s, which does not exist", r.ID, path))}
		}
	}
	if e.RunVersion == nil || !filepath.IsAbs(hook) {
		return nil
	}
	// The version of the program that the hooks run, not the one in the host's files.
	switch version, err := e.version(ctx, hook, "--version"); {
	case err != nil:
		return []Finding{e.found("plugin-gone", fmt.Sprintf("%s: %s does not run: %v", r.ID, hook, err))}
	case version != e.Version:
		return []Finding{e.found("plugin-version", fmt.Sprintf("the hooks of %s are version %s, this program is %s", r.ID, orOlder(version), e.Version))}
	}
	return nil
}

// orOlder returns a version, or words for that of a program that does not print one.
func orOlder(version string) string { return cmp.Or(version, "unknown (an older one)") }

// silence is how much newer than the newest event a transcript must be for hooks to count
// as silent: a turn may take long, and one without tools has an event only at its end.
const silence = 30 * time.Minute

// checkHooks checks that hooks are not disabled and that events came in since Claude
// Code was last used.
func checkHooks(ctx context.Context, e *exam) ([]Finding, string) {
	seen := e.plugins()
	if seen.HooksDisabled != "" {
		return []Finding{e.found("hooks-disabled", "\"disableAllHooks\" is set in "+seen.HooksDisabled, "path", seen.HooksDisabled)}, ""
	}
	activity, err := e.activity()
	if err != nil && memory.CodeOf(err) != memory.CodeNoMemory && !errors.Is(err, errNotLooked) {
		return nil, unread(err)
	}
	var last memory.Millis
	var said []string
	for _, h := range activity.Hosts {
		if h.Host == memory.HostClaudeCode {
			last = max(h.LastAt, h.HeardAt)
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", oneLine(string(h.Host)), e.ago(h.LastAt.Time()), text.Count(h.Sessions, "session")))
	}
	since := last
	for _, r := range seen.Ours {
		if r.Enabled && !r.InstalledAt.IsZero() {
			since = max(since, memory.MillisOf(r.InstalledAt))
		}
	}
	used := e.lastTranscript(ctx) // 0, where it is not known, is not later than since
	if since > 0 && len(seen.Ours) > 0 && used.Sub(since) > silence {
		ran := "none has ever run"
		if last > 0 {
			ran = "the last ran " + e.ago(last.Time())
		}
		return []Finding{e.found("hooks-silent", fmt.Sprintf("Claude Code was used %s, but no hook ran: %s", e.ago(used.Time()), ran))}, ""
	}
	if len(said) == 0 {
		return nil, "no event yet: they come with the next session"
	}
	return nil, "last event: " + strings.Join(said, ", ")
}

// mostTranscripts bounds the files that are compared.
const mostTranscripts = 20_000

// lastTranscript returns when Claude Code last wrote a transcript of a session of the
// user's, 0 when there is none, or none that the model answered in, or too many to look at. The
// observer's own do not count.
func (e *exam) lastTranscript(ctx context.Context) memory.Millis {
	if e.HostDir == "" {
		return 0
	}
	projects := filepath.Join(e.HostDir, "projects")
	folders, _ := os.ReadDir(projects) // missing: never used
	own := filepath.Base(claudedir.Transcripts("", e.path("observer")))
	var newest time.Time
	var path string
	n := 0
	for _, folder := range folders {
		if !folder.IsDir() || folder.Name() == own {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(projects, folder.Name()))
		for _, f := range files {
			if n++; n > mostTranscripts || ctx.Err() != nil {
				return 0 // too many to find the newest
			}
			if !strings.HasSuffix(f.Name(), ".jsonl") {
				continue
			}
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(newest) {
				newest, path = info.ModTime(), filepath.Join(projects, folder.Name(), f.Name())
			}
		}
	}
	if path == "" || !answered(path) {
		return 0
	}
	return memory.MillisOf(newest)
}

// endOfTranscript is how much of a transcript is read, in bytes.
const endOfTranscript = 512 << 10

// answered reports whether the last endOfTranscript bytes of a transcript have an answer of the
// model. A session that was only opened, or renamed, runs no hook. false for one that cannot be read.
func answered(path string) bool {
	end, _, err := openfile.End(path, endOfTranscript)
	return err == nil && bytes.Contains(end, []byte(`"type":"assistant"`))
}

// checkCLI checks that the claude CLI is found and runs `claude --version`, whatever the
// version. That it is missing is a warning, a failure if the settings name it as
// provider, and fine with another provider.
func checkCLI(ctx context.Context, e *exam) ([]Finding, string) {
	if e.FindCLI == nil {
		return nil, "not looked at"
	}
	provider := e.settings().Text(settings.KeyProvider)
	var f Finding
	path, err := e.FindCLI()
	switch {
	case err == nil && e.RunVersion == nil:
		return nil, path
	case err == nil:
		said, err := e.RunVersion(ctx, path, "--version")
		if err == nil {
			return nil, said + ", " + path
		}
		f = e.found("cli-broken", fmt.Sprintf("%s --version: %v", path, err), "path", path)
	case provider == settings.ProviderClaude, provider == settings.ProviderAuto:
		f = e.found("cli-missing", "the claude CLI is not installed, or not in PATH")
	default:
		return nil, "not installed, and not needed: the provider is " + provider
	}
	if provider == settings.ProviderClaude {
		f = f.as(Fail)
	}
	return []Finding{f}, ""
}

// checkAgents checks the hooks and the MCP server in the files of the agents besides Claude
// Code in which claude-mem is installed.
func checkAgents(ctx context.Context, e *exam) ([]Finding, string) {
	var list []Finding
	var fine []string
	for _, s := range e.agents() {
		found := e.agent(ctx, s)
		if len(found) == 0 && s.Hooks > 0 && e.lastEvent(s) == 0 && e.usedFor(ctx, s) > agentSilence {
			found = []Finding{e.found("agent-silent", s.Label+" is used, and no hook ran: "+cmp.Or(s.Note, "its hooks may not be trusted"), "agent", s.Label)}
		}
		list = append(list, found...)
		if len(found) == 0 {
			has := []string{text.Count(s.Hooks, "hook"), "MCP server", e.lastHeard(s)}
			if s.MCPOnly() {
				has = has[1:2]
			} else if s.NoServers {
				has = slices.Delete(has, 1, 2)
			}
			fine = append(fine, s.Label+": "+strings.Join(has, ", "))
		}
	}
	if len(fine) == 0 {
		fine = []string{"claude-mem is installed in no other agent"}
	}
	return list, strings.Join(fine, "; ")
}

// agent returns the findings about one agent, none if its hooks and MCP server are complete and run
// this version. Files that cannot be read, or a program that is gone, are told alone. Only the
// first program is asked for its version, and none if something else is wrong.
func (e *exam) agent(ctx context.Context, s install.AgentState) []Finding {
	host := strings.TrimPrefix(s.Flag(), "--host ")
	list := collect.Map(s.Unreadable, func(path string) Finding {
		return e.found("agent-unreadable", path+" cannot be read", "path", path, "host", host)
	})
	if len(list) > 0 {
		return list
	}
	for _, path := range s.Programs {
		if _, err := os.Stat(path); filepath.IsAbs(path) && err != nil {
			return []Finding{e.found("agent-program-gone", s.Label+" runs "+path+", which does not exist", "host", host)}
		}
	}
	switch {
	case s.MCPOnly():
	case s.Hooks == 0:
		list = append(list, e.found("agent-hooks", s.Label+" has no hooks of claude-mem in "+s.ConfigDir, "host", host))
	case len(s.Missing) > 0:
		list = append(list, e.found("agent-hooks", s.Label+" has no hook of claude-mem for "+strings.Join(s.Missing, ", "), "host", host))
	}
	list = append(list, problem(!s.Server && !s.NoServers, e.found("agent-mcp", s.Label+" does not know the memory's MCP server", "host", host))...)
	if len(list) > 0 || len(s.Programs) == 0 || e.RunVersion == nil {
		return list
	}
	if version, err := e.version(ctx, s.Programs[0], "--version"); err != nil || version != e.Version {
		list = append(list, e.found("agent-version", fmt.Sprintf("the hooks of %s are version %s, this program is %s", s.Label, orOlder(version), e.Version), "host", host))
	}
	return list
}

// agentSilence is for how long an agent must have been used since the install for its hooks to count as
// silent.
const agentSilence = 24 * time.Hour

// usedFor returns how long after the install, by the age of the hooks' program, the agent last wrote a
// session; 0 where that is not known.
func (e *exam) usedFor(ctx context.Context, s install.AgentState) (used time.Duration) {
	dir := s.History(e.Getenv, settings.HomeDir(e.Getenv))
	if dir == "" || len(s.Programs) == 0 {
		return 0
	}
	installed, err := os.Stat(s.Programs[0])
	if err != nil {
		return 0
	}
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error { // what cannot be read was not used
		if n++; n > mostTranscripts || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				used = max(used, info.ModTime().Sub(installed.ModTime()))
			}
		}
		return nil
	})
	return used
}

// lastEvent returns when the agent's last event came, 0 if none has or the database cannot be read.
func (e *exam) lastEvent(s install.AgentState) memory.Millis {
	activity, _ := e.activity() // checkDatabase reports it
	for _, h := range activity.Hosts {
		if agent := install.AgentOf(h.Host); agent != nil && agent.Host == s.Host {
			return h.LastAt
		}
	}
	return 0
}

// lastHeard returns in words when the agent's last event came, and what the user may have to do if
// none has come, or the database cannot be read.
func (e *exam) lastHeard(s install.AgentState) string {
	if at := e.lastEvent(s); at != 0 {
		return "last event " + e.ago(at.Time())
	}
	if s.Note != "" {
		return "no event yet (" + s.Note + ")"
	}
	return "no event yet"
}
