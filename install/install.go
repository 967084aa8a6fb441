package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"claudemem"
	"claudemem/hook"
	"claudemem/jsonscan"
	"claudemem/lock"
)

// Method is how the host is told of us.
type Method string

// The methods.
const (
	// MethodPlugin is a plugin of a marketplace that is a directory of ours:
	// hooks, MCP server and skill.
	MethodPlugin Method = "plugin"
	// MethodSettings is plain hooks in the user's settings: capture and context,
	// without the host's CLI.
	MethodSettings Method = "settings"
)

// CLI runs the host's own command line. configDir is set when the host's files
// are not where it looks by itself.
type CLI interface {
	Run(ctx context.Context, configDir string, args ...string) (output string, err error)
}

// Options say what to install and where.
type Options struct {
	DataDir   string
	ConfigDir string
	// Moved says that ConfigDir is not the host's default.
	Moved bool
	// Plugin holds the plugin's files as they are in a checkout.
	Plugin fs.FS
	// Program and HookProgram are the binaries that are copied.
	Program, HookProgram string
	Version              string
	// CLI is nil where the host's is not installed.
	CLI CLI
	// StopWorker ends the worker before its program is removed; nil: there is none to end.
	StopWorker func(context.Context) error
	// LockWait is how long another install is waited for; 10 s when 0.
	LockWait time.Duration
	GOOS     string           // runtime.GOOS when ""
	Clock    func() time.Time // time.Now when nil
}

// Installer changes one configuration directory of the host.
type Installer struct {
	opts    Options
	shop    string // our marketplace directory
	backups string
	// write replaces a file; step is told before each step of a change. Tests
	// make them fail.
	write func(path string, data []byte, mode fs.FileMode) error
	step  func(name string) error
}

// New makes an Installer; nothing is read yet.
func New(opts Options) *Installer {
	if opts.LockWait == 0 {
		opts.LockWait = 10 * time.Second
	}
	if opts.GOOS == "" {
		opts.GOOS = runtime.GOOS
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Installer{
		opts: opts, shop: filepath.Join(opts.DataDir, "marketplace"), backups: backupsDir(opts.DataDir, opts.ConfigDir),
		write: writeFile, step: func(string) error { return nil },
	}
}

// pluginDir is where the host runs the plugin: from a directory marketplace it
// runs in place.
func (in *Installer) pluginDir() string { return filepath.Join(in.shop, PluginName) }

// Wish is what the user asked for.
type Wish struct {
	Method Method
	// DisableOthers disables the plugins that remember beside ours.
	DisableOthers bool
}

// Plan is what an install or an uninstall would do.
type Plan struct {
	Method    Method `json:"method"`
	ConfigDir string `json:"config_dir"`
	Directory string `json:"directory"` // of our own files
	Program   string `json:"program"`   // where claude-mem is put
	Version   string `json:"version"`   // of the plugin
	// Replaces is the version that is installed now.
	Replaces string `json:"replaces,omitempty"`
	// Plugin are files of our own, Files the user's.
	Plugin []Change `json:"plugin"`
	Files  []Change `json:"files"`
	// Commands are the arguments that the host's CLI is run with, in their order.
	Commands [][]string `json:"commands"`
	// Others are the plugins that remember beside ours; Disable are those that
	// the user wants disabled.
	Others  []Other  `json:"others"`
	Disable []string `json:"disable"`
	// NodeData says that the Node program's memory lies in the data directory. It is never written to.
	NodeData bool `json:"node_data"`
	// Unfinished says that an earlier run was cut short.
	Unfinished bool `json:"unfinished"`

	wish Wish
	host *host
	book *manifest
}

// Empty says that there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Plugin)+len(p.Files)+len(p.Commands) == 0 && !p.Unfinished
}

// Plan reads what is there and says what an install would do; it changes nothing.
// CodeInvalid for a broken file of the host's, CodeNotFound where the plugin
// cannot be installed because the host's CLI is missing, CodeConflict where the
// other method is installed.
func (in *Installer) Plan(wish Wish) (*Plan, error) {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return nil, err
	}
	book, err := readManifest(in.backups)
	if err != nil {
		return nil, err
	}
	files, version, err := in.tree()
	if err != nil {
		return nil, err
	}
	is := in.entries(h)
	switch {
	case wish.Method == MethodPlugin && in.opts.CLI == nil:
		return nil, claudemem.Errorf(claudemem.CodeNotFound, "the claude command is not in PATH, and a plugin is installed with it").
			WithHint("install Claude Code first, or let `claude-mem install --settings` write plain hooks into its settings.json")
	case wish.Method == MethodPlugin && is.hooks > 0, wish.Method == MethodSettings && (is.version != "" || is.enabled):
		return nil, claudemem.Errorf(claudemem.CodeConflict, "claude-mem is installed in the other way: everything would be captured twice").
			WithHint("`claude-mem uninstall` first; the memory stays")
	}
	p := &Plan{
		Method: wish.Method, ConfigDir: in.opts.ConfigDir, Directory: in.opts.DataDir, Program: in.programPath(PluginName), Version: version, Others: h.others(), NodeData: nodeData(in.opts.DataDir),
		wish: wish, host: h, book: book,
		Plugin: []Change{}, Files: []Change{}, Commands: [][]string{}, Disable: []string{},
	}
	p.Unfinished = book != nil && book.State != installed
	if is.version != "" && is.version != version {
		p.Replaces = is.version
	}
	if p.Plugin, err = in.compareTree(files); err != nil {
		return nil, err
	}
	for _, o := range p.Others {
		if o.Enabled && wish.DisableOthers {
			p.Disable = append(p.Disable, o.ID)
		}
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

// wanted is settings.json as it shall be: the user's bytes and our entries.
func (in *Installer) wanted(h *host, method Method, disable []string) ([]byte, error) {
	d, err := jsonscan.Parse(h.files[atSettings])
	if err != nil {
		return nil, err
	}
	is := in.entries(h)
	if method == MethodSettings {
		err = in.addHooks(d, hook.HooksJSON(in.opts.GOOS, in.programPath(HookProgram)))
	} else {
		if _, declared := sourceOf(d.Get("extraKnownMarketplaces", Marketplace)); !is.declared || !in.samePath(declared, in.shop) {
			source := `{"source":{"source":"directory","path":` + string(jsonscan.AppendQuote(nil, in.shop)) + `}}`
			err = d.Set(json.RawMessage(source), "extraKnownMarketplaces", Marketplace)
		}
		if err == nil && !is.enabled {
			err = d.Set(json.RawMessage("true"), "enabledPlugins", PluginID)
		}
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

// commands are those of the host's CLI that lead from what is to what shall be.
func (in *Installer) commands(is entries, version string, disable []string) [][]string {
	commands := [][]string{}
	run := func(args ...string) { commands = append(commands, append([]string{"plugin"}, args...)) }
	if is.known != "" && !in.samePath(is.known, in.shop) {
		run("marketplace", "remove", Marketplace) // takes the plugin with it
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

// takeLock keeps a second install away.
func (in *Installer) takeLock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(in.opts.DataDir, 0o700); err != nil {
		return nil, storage("make", in.opts.DataDir, err)
	}
	path := filepath.Join(in.opts.DataDir, "install.lock")
	wait, cancel := context.WithTimeout(ctx, in.opts.LockWait)
	defer cancel()
	held, err := lock.Wait(wait, path)
	switch {
	case held != nil:
		return func() { _ = held.Close() }, nil
	case err != nil:
		return nil, storage("lock", path, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, claudemem.Errorf(claudemem.CodeConflict, "another claude-mem install or uninstall is under way").
		WithHint("wait for it, then run the command again")
}

// command runs the host's CLI; its last words are the error's.
func (in *Installer) command(ctx context.Context, args []string) error {
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
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = strings.TrimSpace(said[i+1:])
	}
	if said == "" {
		said = err.Error()
	}
	return claudemem.Errorf(claudemem.CodeUnavailable, "`%s` failed: %s", line, said).
		WithHint("run `claude-mem install` again to go on, or `claude-mem uninstall` to undo; `claude-mem install --settings` needs no plugin")
}

// does runs one named step.
func (in *Installer) does(name string, do func() error) error {
	if err := in.step(name); err != nil {
		return err
	}
	if err := do(); err != nil {
		var known *claudemem.Error
		if errors.As(err, &known) {
			return err
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
