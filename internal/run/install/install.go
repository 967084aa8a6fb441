package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Method is the way in which hooks are registered with the host.
type Method string

// The methods.
const (
	// MethodPlugin installs a plugin with hooks, MCP server and skill, from a marketplace
	// in the data directory.
	MethodPlugin Method = "plugin"
	// MethodSettings writes plain hooks into the user's settings: capture and context,
	// without the host's CLI.
	MethodSettings Method = "settings"
)

// CLI runs the host's own command line. configDir is "" for the default directory of the
// host's files.
type CLI interface {
	Run(ctx context.Context, configDir string, args ...string) (output string, err error)
}

// Options configure an Installer.
type Options struct {
	DataDir string
	// DataDirMoved says that DataDir is not the default. Then MCP servers get it in their
	// environment: agents such as Codex CLI do not pass theirs on.
	DataDirMoved bool
	ConfigDir    string
	// Moved says that ConfigDir is not the host's default.
	Moved bool
	// Plugin holds the plugin's files as they are in a checkout.
	Plugin fs.FS
	// Program and HookProgram are the binaries that are copied.
	Program, HookProgram string
	Version              string
	// CLI is nil when the host's CLI is not installed.
	CLI CLI
	// StopWorker ends the worker before its program is removed; nil: no worker to end.
	StopWorker func(context.Context) error
	// LockWait is how long to wait for another install to end; 10 s when 0.
	LockWait time.Duration
	GOOS     string           // runtime.GOOS when ""
	Clock    func() time.Time // time.Now when nil
}

// Installer changes one configuration directory of the host.
type Installer struct {
	opts    Options
	shop    string // our marketplace directory
	backups string
	// write replaces a file; step is called before each step of a change. Tests make
	// them fail.
	write func(path string, data []byte, mode fs.FileMode) error
	step  func(name string) error
	// failed is the first error of the run under way, after which it makes no step any more.
	failed error
}

// New returns an Installer. It reads no file.
func New(opts Options) *Installer {
	opts.LockWait, opts.GOOS = cmp.Or(opts.LockWait, 10*time.Second), cmp.Or(opts.GOOS, runtime.GOOS)
	opts.Clock = memory.ClockOr(opts.Clock)
	return &Installer{
		opts: opts, shop: filepath.Join(opts.DataDir, "marketplace"), backups: backupsDir(opts.DataDir, opts.ConfigDir),
		write: writeFile, step: func(string) error { return nil },
	}
}

// pluginDir returns the directory in which the host runs the plugin: a plugin of a
// directory marketplace runs in place.
func (in *Installer) pluginDir() string { return filepath.Join(in.shop, PluginName) }

// Wish holds the user's choices.
type Wish struct {
	Method Method
	// DisableOthers disables the other plugins named claude-mem.
	DisableOthers bool
}

// Plan lists the changes of an install.
type Plan struct {
	Method    Method `json:"method"`
	ConfigDir string `json:"config_dir"`
	Directory string `json:"directory"` // of our own files
	Program   string `json:"program"`   // path of the installed claude-mem
	Version   string `json:"version"`   // of the plugin
	// Replaces is the version that is installed now.
	Replaces string `json:"replaces,omitempty"`
	// Plugin are changes of our own files, Files of the user's.
	Plugin []Change `json:"plugin"`
	Files  []Change `json:"files"`
	// Commands are the arguments of the host's CLI, in the order of their runs.
	Commands [][]string `json:"commands"`
	// Others are the other plugins named claude-mem; Disable are those to disable.
	Others  []Other  `json:"others"`
	Disable []string `json:"disable"`
	// NodeData says that the Node program's memory is in the data directory. It is never changed.
	NodeData bool `json:"node_data"`
	// Unfinished says that an earlier run was killed.
	Unfinished bool `json:"unfinished"`

	host *host
	book *manifest
}

// EnabledOthers returns the ids of the other plugins that are enabled; not nil.
func (p *Plan) EnabledOthers() []string {
	enabled := collect.Keep(p.Others, func(o Other) bool { return o.Enabled })
	return collect.Map(enabled, func(o Other) string { return o.ID })
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Plugin)+len(p.Files)+len(p.Commands) == 0 && !p.Unfinished
}

// Plan returns the changes of an install; it makes none. CodeInvalid for a broken file of
// the host's, CodeNotFound when MethodPlugin lacks the host's CLI, CodeConflict when the
// other method is installed.
func (in *Installer) Plan(wish Wish) (*Plan, error) {
	h, err := readHost(in.opts.ConfigDir)
	book, err2 := readManifest(in.backups)
	files, version, err3 := in.tree()
	if err := cmp.Or(err, err2, err3); err != nil {
		return nil, err
	}
	is := in.entries(h)
	switch {
	case wish.Method == MethodPlugin && in.opts.CLI == nil:
		return nil, memory.Errorf(memory.CodeNotFound, "the claude command is not in PATH, and a plugin is installed with it").
			WithHint("install Claude Code first, or let `claude-mem install --settings` write plain hooks into its settings.json")
	case wish.Method == MethodPlugin && is.hooks > 0, wish.Method == MethodSettings && (is.version != "" || is.enabled):
		return nil, memory.Errorf(memory.CodeConflict, "claude-mem is installed with the other method: everything would be captured twice").
			WithHint("`claude-mem uninstall` first; the memory stays")
	}
	p := &Plan{
		Method: wish.Method, ConfigDir: in.opts.ConfigDir, Directory: in.opts.DataDir, Program: in.programPath(PluginName), Version: version, Others: h.others(), NodeData: openfile.Exists(filepath.Join(in.opts.DataDir, "claude-mem.db")),
		host: h, book: book,
		Plugin: []Change{}, Files: []Change{}, Commands: [][]string{}, Disable: []string{},
	}
	p.Unfinished = book != nil && book.State != installed
	if is.version != "" && is.version != version {
		p.Replaces = is.version
	}
	if p.Plugin, err = in.compareTree(files); err != nil {
		return nil, err
	}
	if wish.DisableOthers {
		p.Disable = p.EnabledOthers()
	}
	settings, err := in.wanted(h, wish.Method, p.Disable)
	if err != nil {
		return nil, err
	}
	if path := h.path(atSettings); !sameBytes(settings, h.files[atSettings]) {
		p.Files = append(p.Files, userChange(path, h.files[atSettings], settings))
	}
	if wish.Method == MethodPlugin {
		p.Commands = in.commands(is, version, p.Disable)
	}
	return p, nil
}

// wanted returns the new settings.json: the user's bytes with our entries, and the plugins of disable
// disabled. CodeInvalid if it cannot be edited.
func (in *Installer) wanted(h *host, method Method, disable []string) ([]byte, error) {
	d, err := jsonscan.Parse(h.files[atSettings])
	if err != nil {
		return nil, err
	}
	is := in.entries(h)
	if method == MethodSettings {
		err = in.addHooks(d, hook.HooksJSON(in.opts.GOOS, in.programPath(HookProgram)))
	} else if err = in.declare(d); err == nil && !is.enabled {
		err = d.Set(json.RawMessage("true"), "enabledPlugins", PluginID)
	}
	for _, id := range disable {
		if err == nil {
			err = d.Set(json.RawMessage("false"), "enabledPlugins", id)
		}
	}
	if err != nil {
		return nil, broken(h.path(atSettings), err)
	}
	return d.Bytes(), nil
}

// declare names our marketplace's directory in the user's settings, unless they name it
// already.
func (in *Installer) declare(d *jsonscan.Document) error {
	if _, path := sourceOf(d.Get("extraKnownMarketplaces", Marketplace)); path != "" && in.samePath(path, in.shop) {
		return nil
	}
	source := jsonscan.Object("source", jsonscan.Object("source", "directory", "path", in.shop))
	return d.Set(source, "extraKnownMarketplaces", Marketplace)
}

// commands returns the commands of the host's CLI that install version, in the order of their runs,
// given the entries that there are; none if that version is installed and enabled.
func (in *Installer) commands(is entries, version string, disable []string) [][]string {
	commands := [][]string{}
	run := func(args ...string) { commands = append(commands, append([]string{"plugin"}, args...)) }
	if is.known != "" && !in.samePath(is.known, in.shop) {
		run("marketplace", "remove", Marketplace) // removes the plugin too
		is = entries{}
	}
	if is.known == "" || !is.declared {
		run("marketplace", "add", in.shop)
	}
	switch {
	case is.version == "":
		run("install", PluginID)
	case is.version != version:
		run("marketplace", "update", Marketplace)
		run("update", PluginID)
		fallthrough
	default:
		if !is.enabled {
			run("enable", PluginID)
		}
	}
	for _, id := range disable {
		run("disable", id)
	}
	return commands
}

// userChange returns the change of a file from before to after; nil means that there is
// no file, so that it is created or removed.
func userChange(path string, before, after []byte) Change {
	c := Change{Path: path, Do: DoEdit, Size: int64(len(after)), Before: before, After: after}
	switch {
	case before == nil:
		c.Do = DoCreate
	case after == nil:
		c.Do = DoRemove
	}
	return c
}

func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }

// takeLock takes the lock that keeps a second install or uninstall waiting, for at most LockWait;
// CodeConflict then. It makes the data directory. A process that dies frees the lock.
func (in *Installer) takeLock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(in.opts.DataDir, 0o700); err != nil {
		return nil, storage("make", in.opts.DataDir, err)
	}
	path := filepath.Join(in.opts.DataDir, "install.lock")
	wait, cancel := context.WithTimeout(ctx, in.opts.LockWait)
	defer cancel()
	held, err := openfile.Lock(wait, path)
	switch {
	case held != nil:
		return func() { _ = held.Close() }, nil
	case err != nil:
		return nil, storage("lock", path, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, memory.Errorf(memory.CodeConflict, "another claude-mem install or uninstall is under way").
		WithHint("wait for it, then run the command again")
}

// command runs the host's CLI. CodeUnavailable with the last line of its output if that fails; the
// error of ctx if that has ended. After a failure of the run it does nothing but return that.
func (in *Installer) command(ctx context.Context, args []string) error {
	if in.failed != nil {
		return in.failed
	}
	line := "claude " + strings.Join(args, " ")
	if err := in.step(line); err != nil {
		return err
	}
	dir := ""
	if in.opts.Moved {
		dir = in.opts.ConfigDir
	}
	out, err := in.opts.CLI.Run(ctx, dir, args...)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	said := strings.TrimSpace(out)
	said = cmp.Or(strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]), err.Error())
	return memory.Errorf(memory.CodeUnavailable, "`%s` failed: %s", line, said).
		WithHint("run `claude-mem install` again to go on, or `claude-mem uninstall` to undo; `claude-mem install --settings` needs no plugin")
}

// do runs one step of a change to the file at path, unless the run has failed, as it has after an
// error of the step. An error without a code becomes a CodeStorage. The hook in.step is for tests,
// which end a run between any two steps.
func (in *Installer) do(verb, path string, step func() error) {
	if in.failed != nil {
		return
	}
	err := in.step(verb + " " + filepath.Base(path))
	if err == nil {
		if err = step(); err != nil && !errors.As(err, new(*memory.Error)) {
			err = storage(verb, path, err)
		}
	}
	in.failed = err
}

// fail makes err the error of the run, unless that has failed or err is nil.
func (in *Installer) fail(err error) { in.failed = cmp.Or(in.failed, err) }

// commandLimit is the time limit of one command of the host's CLI, which takes a second
// or two, more on a busy machine.
const commandLimit = 2 * time.Minute

// maxOutput bounds the output of a command that is kept, in bytes.
const maxOutput = 64 << 10

// Program is the host's CLI as a program.
type Program struct {
	Path string
	Env  []string
}

// Run implements CLI: it runs the program without a terminal, for at most 2 minutes, and returns the
// first 64 KB of its standard output and error together, also when it fails.
func (p Program) Run(ctx context.Context, configDir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = p.Env
	if configDir != "" {
		cmd.Env = append(append([]string{}, p.Env...), "CLAUDE_CONFIG_DIR="+configDir)
	}
	cmd.WaitDelay = 5 * time.Second // a child process may keep the output open
	out := &text.Head{Max: maxOutput}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	return out.String(), err
}

// ShellWord returns a text as one word of a POSIX shell's command, in single quotes if necessary.
func ShellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/._-+:@%,=`, r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
