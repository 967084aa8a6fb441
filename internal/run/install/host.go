package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// The names under which the host knows our plugin.
const (
	PluginName  = "claude-mem"
	Marketplace = "claude-mem-local"
	PluginID    = PluginName + "@" + Marketplace
	// NodePluginID is the plugin of claude-mem for Node, which has the same name, data
	// directory and port.
	NodePluginID = PluginName + "@thedotmack"
)

// HookProgram is the program that hooks run, without ".exe".
const HookProgram = "claude-mem-hook"

// ProgramFile returns the file name of a program on a system, as runtime.GOOS names it.
func ProgramFile(name, goos string) string {
	if goos == "windows" {
		return name + ".exe"
	}
	return name
}

// hostFile is a file of the host that may have entries of ours.
type hostFile struct {
	name string
	// strip removes our entries; before is the file before the install, empty when it
	// is not known.
	strip func(in *Installer, d, before *jsonscan.Document)
	// empties are the objects that the host may leave empty.
	empties []string
}

// hostFiles are the files, by their paths in the configuration directory. The host's
// CLI writes the last two; we edit them only where it is missing or has failed.
var hostFiles = []hostFile{
	{"settings.json", stripSettings, []string{"extraKnownMarketplaces", "enabledPlugins", "hooks"}},
	{filepath.Join("plugins", "installed_plugins.json"), func(_ *Installer, d, _ *jsonscan.Document) { d.Remove("plugins", PluginID) }, nil},
	{filepath.Join("plugins", "known_marketplaces.json"), func(_ *Installer, d, _ *jsonscan.Document) { d.Remove(Marketplace) }, nil},
}

// stripSettings removes our marketplace, plugin and hooks from the host's settings.json.
func stripSettings(in *Installer, d, before *jsonscan.Document) {
	d.Remove("extraKnownMarketplaces", Marketplace)
	d.Remove("enabledPlugins", PluginID)
	in.removeHooks(d, before)
}

// removeHooks removes our hooks, and an event that this leaves without any unless it was
// there before the install.
func (in *Installer) removeHooks(d, before *jsonscan.Document) {
	for _, event := range slices.Clone(d.Keys("hooks")) {
		if d.RemoveFunc(in.isOurHook, "hooks", event) > 0 && len(d.Find("hooks", event).Kids) == 0 && before.Find("hooks", event) == nil {
			d.Remove("hooks", event)
		}
	}
}

// addHook adds an entry to an event in place of our earlier ones; one that is there already
// keeps its place.
func (in *Installer) addHook(d *jsonscan.Document, event string, entry []byte) error {
	if slices.ContainsFunc(hookEntries(d, event), func(e []byte) bool { return sameJSON(e, entry) }) {
		return nil
	}
	d.RemoveFunc(in.isOurHook, "hooks", event)
	return d.Add(entry, "hooks", event)
}

// removeEmpty removes the members keys that are empty objects and were not there before.
func removeEmpty(d, before *jsonscan.Document, keys []string) {
	for _, key := range keys {
		if n := d.Find(key); n != nil && n.Kind == '{' && len(n.Kids) == 0 && before.Find(key) == nil {
			d.Remove(key)
		}
	}
}

// hookEntries returns the entries of an event's list, as JSON.
func hookEntries(d *jsonscan.Document, event string) [][]byte {
	list := d.Find("hooks", event)
	if list == nil || list.Kind != '[' {
		return nil
	}
	return collect.Map(list.Kids, d.Text)
}

// hookCommands returns the commands of an event's hooks.
func hookCommands(d *jsonscan.Document, event string) []string {
	return collect.Flat(hookEntries(d, event), commandsOf)
}

// commandsOf returns the commands of an entry, which is a group of hooks or one hook; ""
// for a hook without one.
func commandsOf(entry []byte) []string {
	var group struct {
		Command string
		Hooks   []struct{ Command string }
	}
	if json.Unmarshal(jsonscan.Relax(entry), &group) != nil {
		return nil
	}
	if group.Hooks == nil {
		return []string{group.Command}
	}
	return collect.Map(group.Hooks, func(h struct{ Command string }) string { return h.Command })
}

// isOurHook reports whether every command of an entry runs our program: today's, or that
// of an earlier version in the plugin's directory. A program of its name that no longer
// exists counts as ours: the home or the data directory was moved.
func (in *Installer) isOurHook(entry []byte) bool {
	commands := commandsOf(entry)
	return len(commands) > 0 && !slices.ContainsFunc(commands, func(command string) bool {
		path, ok := hook.ProgramOf(command)
		return !ok || !isGone(path) && !in.isHookProgram(path)
	})
}

// isHookProgram reports whether path, with either kind of slashes and with or without
// ".exe", is where hooks of ours run their program.
func (in *Installer) isHookProgram(path string) bool {
	path = strings.TrimSuffix(slashes(path), ".exe")
	return slices.ContainsFunc([]string{in.binDir(), filepath.Join(in.pluginDir(), "bin")}, func(dir string) bool {
		return in.samePath(path, slashes(filepath.Join(dir, HookProgram)))
	})
}

func slashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// isGone reports whether path is absolute and nothing is there; false where that cannot be seen.
func isGone(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// samePath reports whether two paths name the same file. Files that exist are compared
// as the system does, with links followed; other paths by name, in any letter case
// where the system's file names have none.
func (in *Installer) samePath(a, b string) bool {
	a, b = filepath.Clean(a), filepath.Clean(b)
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return (in.opts.GOOS == "windows" || in.opts.GOOS == "darwin") && strings.EqualFold(a, b)
}

// without returns a file without our entries. baseline is the file before the install,
// if known is true: objects that are empty now and that it does not have are removed
// too. If it is not known, they are removed only with entries of ours.
func (in *Installer) without(f hostFile, data, baseline []byte, known bool) ([]byte, error) {
	return stripJSON(jsonscan.Parse, data, baseline, known, func(d, before *jsonscan.Document) { f.strip(in, d, before) }, f.empties...)
}

// isBlank reports whether a file has no entries: it is missing, empty, or as the host's CLI makes a new
// one.
func (f hostFile) isBlank(data []byte) bool {
	return sameJSON(data, nil, f.empties...) || sameJSON(data, []byte(`{"version":2,"plugins":{}}`)) ||
		sameJSON(data, []byte(`{"version":1,"plugins":{}}`))
}

// broken returns the error of a user's file that cannot be parsed or edited.
func broken(path string, err error) error {
	return memory.Errorf(memory.CodeInvalid, "%s cannot be edited: %w", path, err).
		WithHint("repair the file (Claude Code cannot read it either), then run the command again; nothing was changed")
}

// entries are our entries in the host's files.
type entries struct {
	known    string // the directory of our marketplace, "" when the host does not know it
	declared bool   // the user's settings name the marketplace
	version  string // the installed plugin's, "" for none
	enabled  bool
	hooks    int // number of groups of our hooks in the settings
}

// host holds the host's files.
type host struct {
	dir   string
	files [3][]byte // in the order of hostFiles; nil: not there
	docs  [3]*jsonscan.Document
}

const (
	atSettings = iota
	atInstalled
	atKnown
)

func (h *host) path(i int) string { return filepath.Join(h.dir, hostFiles[i].name) }

// readHost reads the host's files; CodeInvalid for one that is not a JSON object.
func readHost(dir string) (*host, error) {
	h := &host{dir: dir}
	for i := range hostFiles {
		var err error
		if h.files[i], err = readUserFile(h.path(i)); err != nil {
			return nil, err
		}
		if h.docs[i], err = jsonscan.Parse(h.files[i]); err != nil {
			return nil, broken(h.path(i), err)
		}
	}
	return h, nil
}

// entries reads what the host's files say about our plugin and hooks. What has an unexpected shape
// counts as present: known is "?" then, and version "unknown".
func (in *Installer) entries(h *host) entries {
	var e entries
	if raw := h.docs[atKnown].Get(Marketplace); raw != nil {
		if _, e.known = sourceOf(raw); e.known == "" {
			e.known = "?"
		}
	}
	e.declared = h.docs[atSettings].Get("extraKnownMarketplaces", Marketplace) != nil
	if book, ok := h.installed(PluginID); ok {
		e.version = cmp.Or(book.Version, "unknown")
	}
	e.enabled = h.isEnabled(PluginID)
	for _, event := range h.docs[atSettings].Keys("hooks") {
		e.hooks += collect.Count(hookEntries(h.docs[atSettings], event), in.isOurHook)
	}
	return e
}

// Installed returns how claude-mem is installed in Claude Code, "" if it is not. CodeInvalid for a
// broken file of the host's.
func (in *Installer) Installed() (Method, error) {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return "", err
	}
	switch is := in.entries(h); {
	case is.version != "":
		return MethodPlugin, nil
	case is.hooks > 0:
		return MethodSettings, nil
	}
	return "", nil
}

// sourceOf returns the kind and the path of a marketplace's source, "" where the entry
// has another shape.
func sourceOf(entry []byte) (kind, path string) {
	var m struct{ Source struct{ Source, Path string } }
	_ = json.Unmarshal(entry, &m) // the zero value says that the shape is another one
	return m.Source.Source, m.Source.Path
}

// isEnabled reports whether the user's settings enable a plugin.
func (h *host) isEnabled(id string) bool {
	return string(h.docs[atSettings].Get("enabledPlugins", id)) == "true"
}

// pluginIDs returns the sorted IDs of the plugins named claude-mem, of any marketplace.
func (h *host) pluginIDs() []string {
	ids := slices.Concat(h.docs[atSettings].Keys("enabledPlugins"), h.docs[atInstalled].Keys("plugins"))
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, PluginName+"@") })
	slices.Sort(ids)
	return slices.Compact(ids)
}

// bookEntry is a plugin in installed_plugins.json.
type bookEntry struct{ Scope, Version, InstallPath, InstalledAt string }

// installed returns a plugin's entry in installed_plugins.json and whether it is
// installed for the user; one of a project comes last. The file has a list of scopes,
// in older versions one object.
func (h *host) installed(id string) (e bookEntry, ok bool) {
	raw := h.docs[atInstalled].Get("plugins", id)
	if raw == nil {
		return e, false
	}
	var list []bookEntry
	if json.Unmarshal(raw, &list) != nil {
		_ = json.Unmarshal(raw, &e) // an entry of another shape says only that it is installed
		return e, true
	}
	for _, e := range list {
		if e.Scope == "user" || e.Scope == "" {
			return e, true
		}
	}
	if len(list) > 0 {
		e = list[0]
	}
	return e, false
}

// addHooks adds the hooks of a hooks.json to the settings, in place of our earlier
// ones; a group that is there already keeps its place.
func (in *Installer) addHooks(d *jsonscan.Document, hooksJSON []byte) error {
	ours, err := jsonscan.Parse(hooksJSON)
	if err != nil {
		return fmt.Errorf("read our hooks: %w", err)
	}
	for _, event := range ours.Keys("hooks") {
		for _, entry := range hookEntries(ours, event) {
			var compact bytes.Buffer
			if err := json.Compact(&compact, entry); err != nil {
				return fmt.Errorf("read our hooks: %w", err)
			}
			if err := in.addHook(d, event, compact.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}
