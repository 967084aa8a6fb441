package install

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// AgentInstaller installs claude-mem into one agent: both programs in the data directory,
// and hooks and MCP server in the agent's files. It gives the guarantees of an Installer.
type AgentInstaller struct {
	*Installer
	agent *Agent
}

// NewAgent returns the installer of an agent whose configuration directory is
// opts.ConfigDir. It reads no file.
func NewAgent(opts Options, agent *Agent) *AgentInstaller {
	opts.CLI = nil
	return &AgentInstaller{New(opts), agent}
}

// AgentPlan lists the changes of an install into an agent.
type AgentPlan struct {
	Host      memory.Host `json:"host"`
	Label     string      `json:"label"`
	ConfigDir string      `json:"config_dir"`
	Directory string      `json:"directory"` // of our own files
	Program   string      `json:"program"`   // path of the installed claude-mem
	Version   string      `json:"version"`
	// Programs are changes of our own files, Files of the user's.
	Programs []Change `json:"programs"`
	Files    []Change `json:"files"`
	// Hooks and Servers are how many the changed files have.
	Hooks   int `json:"hooks"`
	Servers int `json:"servers"`
	// Silent are the events, by Claude Code's names, at which the agent takes no context.
	Silent string `json:"-"`
	// Note tells the user what is left to do.
	Note string `json:"note,omitempty"`
	// Unfinished says that an earlier run was killed.
	Unfinished bool `json:"unfinished"`

	book   *manifest
	states []agentState
}

// agentState is a file of the agent as it is and as it will be.
type agentState struct {
	file       *agentFile
	path       string
	now, after []byte
}

// Empty reports whether there is nothing to do.
func (p *AgentPlan) Empty() bool { return len(p.Programs)+len(p.Files) == 0 && !p.Unfinished }

// Plan returns the changes of an install; it makes none. CodeInvalid for a broken file of
// the agent's, CodeConflict when it has another MCP server of our name.
func (in *AgentInstaller) Plan() (*AgentPlan, error) {
	book, err := readManifest(in.backups)
	programs, err2 := in.programFiles()
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	p := &AgentPlan{
		Host: in.agent.Host, Label: in.agent.Label, ConfigDir: in.opts.ConfigDir, Directory: in.opts.DataDir,
		Program: in.programPath(PluginName), Version: in.opts.Version, Note: in.agent.Note, Silent: hook.Silent(in.agent.Host),
		Files: []Change{}, Unfinished: book != nil && book.State != installed, book: book,
	}
	if p.Programs, err = in.changed(programs); err != nil {
		return nil, err
	}
	for _, s := range in.agent.in(in.opts.ConfigDir) {
		if s.now, err = readUserFile(s.path); err != nil {
			return nil, err
		}
		if s.after, err = s.file.form.add(in.Installer, in.agent.Host, s.now); err != nil {
			return nil, brokenAgentFile(in.agent.Label, s.path, err)
		}
		if !sameBytes(s.now, s.after) {
			c := userChange(s.path, s.now, s.after)
			if _, program := s.file.form.(script); program {
				c.file.mode = 0o700
			}
			p.Files = append(p.Files, c)
			p.count(&s)
		}
		p.states = append(p.states, s)
	}
	return p, nil
}

// Install makes the changes of a new Plan and returns it. A run that is killed anywhere is
// completed by the next one, or undone by Uninstall.
func (in *AgentInstaller) Install(ctx context.Context) (*AgentPlan, error) {
	return locked(ctx, in.Installer, in.sweepAgent, in.Plan, func(p *AgentPlan) {
		book := in.backUpAgent(p)
		for _, c := range p.Programs {
			in.do("write", c.Path, c.apply)
		}
		for _, c := range p.Files {
			in.replace("write", c)
		}
		in.do("complete", in.manifestPath(), func() error { return in.complete(book) })
	})
}

// replace makes the change of a user's file, unless another program has changed it since the plan:
// CodeConflict. A file that a change removes takes its directory along if that is empty then.
func (in *AgentInstaller) replace(verb string, c Change) {
	now, err := readUserFile(c.Path)
	in.fail(err)
	if !sameBytes(now, c.Before) {
		in.fail(changedMeanwhile(c.Path))
	}
	in.do(verb, c.Path, func() error {
		if c.After == nil {
			if err := removeIfThere(atomicfile.BehindLinks(c.Path)); err != nil {
				return err
			}
			removeEmptyDirs(filepath.Dir(c.Path), filepath.Dir(in.opts.ConfigDir))
			return nil
		}
		err := in.write(c.Path, c.After, cmp.Or(c.file.mode, 0o600))
		if info, statErr := os.Stat(c.Path); err == nil && statErr == nil && c.file.mode&0o100 != 0 {
			err = os.Chmod(c.Path, info.Mode().Perm()|0o100) // an empty file was there that could not be run
		}
		return err
	})
}

// removeEmptyDirs removes a directory and those that it is in, below the one that stays, as far as they are empty. A
// link of the user's stays.
func removeEmptyDirs(dir, stays string) {
	for ; dir != stays && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			return
		}
	}
}

// count adds what a file that changes gets to the numbers of the plan.
func (p *AgentPlan) count(s *agentState) {
	if got, err := s.file.form.read(s.after); err == nil {
		p.Hooks += len(got.Events)
		if got.Server != "" {
			p.Servers++
		}
	}
}

// backUpAgent writes the backups and the manifest, before anything is changed. A backup is the file
// without our entries; that of an earlier install stays while only we have changed the file.
func (in *AgentInstaller) backUpAgent(p *AgentPlan) *manifest {
	book := &manifest{Host: in.agent.Host, ConfigDir: p.ConfigDir, Method: MethodSettings, State: installing, Plugin: p.Version}
	in.do("write", in.manifestPath(), func() error {
		for _, s := range p.states {
			old := p.book.record(s.path)
			before, known := in.baseline(old)
			without, err := in.bare(&s, before, known)
			if err != nil {
				return brokenAgentFile(in.agent.Label, s.path, err)
			}
			valid := known && (sameFile(old.After, s.now) || sameButForEnds(without, before))
			if err := in.backUpFile(book, s.path, without, old, valid); err != nil {
				return err
			}
		}
		return in.writeManifest(book)
	})
	return book
}

// bare returns a file of the agent's without our entries. before is the file before the install, if
// known.
func (in *AgentInstaller) bare(s *agentState, before []byte, known bool) ([]byte, error) {
	return bare(s.now, before, known, s.file.form.isBlank, func() ([]byte, error) { return s.file.form.strip(in.Installer, s.now, before) })
}

// AgentRemoval lists the changes of an uninstall from an agent, before it runs and after.
type AgentRemoval struct {
	Host      memory.Host `json:"host"`
	Label     string      `json:"label"`
	ConfigDir string      `json:"config_dir"`
	DataDir   string      `json:"data_dir"`
	// Files are the user's; Restored are those that get their old bytes back.
	Files    []Change `json:"files"`
	Restored []string `json:"restored"`
	// Directories are removed.
	Directories []string `json:"directories"`

	book *manifest
}

// Empty reports whether there is nothing to remove.
func (r *AgentRemoval) Empty() bool { return len(r.Files)+len(r.Directories) == 0 && r.book == nil }

// PlanRemoval returns the changes of an uninstall; it makes none. The programs go with the last
// install that uses this memory. CodeInvalid for a broken file of the agent's.
func (in *AgentInstaller) PlanRemoval() (*AgentRemoval, error) {
	book, err := readManifest(in.backups)
	if err != nil {
		return nil, err
	}
	r := &AgentRemoval{
		Host: in.agent.Host, Label: in.agent.Label, ConfigDir: in.opts.ConfigDir, DataDir: in.opts.DataDir,
		Files: []Change{}, Restored: []string{}, Directories: []string{}, book: book,
	}
	for _, s := range in.agent.in(in.opts.ConfigDir) {
		if s.now, err = readUserFile(s.path); err != nil {
			return nil, err
		}
		after, restored, err := in.removed(&s, book)
		if err != nil {
			return nil, brokenAgentFile(in.agent.Label, s.path, err)
		}
		if restored {
			r.Restored = append(r.Restored, s.path)
		}
		if !sameBytes(s.now, after) {
			r.Files = append(r.Files, userChange(s.path, s.now, after))
		}
	}
	if (book != nil || len(r.Files) > 0) && len(in.installs()) == 0 && slices.ContainsFunc(in.programs(), openfile.Exists) {
		r.Directories = append(r.Directories, in.binDir())
	}
	return r, nil
}

// removed returns the content of a file after an uninstall, nil when it is removed, and
// whether that is the content before the install to the byte.
func (in *AgentInstaller) removed(s *agentState, book *manifest) (after []byte, restored bool, err error) {
	r := book.record(s.path)
	before, known := in.baseline(r)
	if known && (r.Restore || book.State == installed && sameFile(r.After, s.now)) {
		return before, true, nil
	}
	if s.now == nil {
		return nil, false, nil
	}
	after, err = in.bare(s, before, known)
	if err == nil && known && sameButForEnds(after, before) {
		return before, true, nil
	}
	return after, false, err
}

// sameButForEnds reports whether two files differ in white space at their ends alone: a last
// line without an end gets one before our entries.
func sameButForEnds(a, b []byte) bool {
	return (a == nil) == (b == nil) && bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}

// Uninstall removes claude-mem from the agent. The memory is not changed. A run that was
// killed is completed by the next one.
func (in *AgentInstaller) Uninstall(ctx context.Context) (*AgentRemoval, error) {
	return locked(ctx, in.Installer, in.sweepAgent, in.PlanRemoval, func(r *AgentRemoval) {
		in.beginRemoval(r.book, r.Restored)
		for _, c := range r.Files {
			in.replace("restore", c)
		}
		in.removeOwn(ctx, r.Directories, r.book)
	})
}

// sweepAgent removes the temporary files of a killed run.
func (in *AgentInstaller) sweepAgent() {
	for _, s := range in.agent.in(in.opts.ConfigDir) {
		atomicfile.RemoveLeftovers(s.path)
	}
	in.sweepOwn()
}
