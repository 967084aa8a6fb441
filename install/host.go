package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem"
	"claudemem/hook"
	"claudemem/jsonscan"
)

// What the host knows us as. The Node program's plugin has the same name in the
// marketplace "thedotmack".
const (
	PluginName  = "claude-mem"
	Marketplace = "claude-mem-local"
	PluginID    = PluginName + "@" + Marketplace
)

// ConfigDir is where Claude Code keeps the user's settings, and whether that is
// another place than its default; "" when there is no home directory.
func ConfigDir(getenv func(string) string, home string) (dir string, moved bool) {
	if dir = getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return dir, true
	}
	if home == "" {
		return "", false
	}
	return filepath.Join(home, ".claude"), false
}

// hostFile is one of the host's files in which an entry of ours may stand.
type hostFile struct {
	name string
	// strip removes what is ours, with hooks of the given programs; before is the file
	// as it was before us, empty when that is not known.
	strip func(d, before *jsonscan.Document, programs []string)
	// empties are the objects that may be left behind empty.
	empties []string
}

// The files, by their place below the configuration directory. The last two are
// the host's own books, which we touch only where its CLI is missing or failed.
var hostFiles = []hostFile{
	{"settings.json", stripSettings, []string{"extraKnownMarketplaces", "enabledPlugins", "hooks"}},
	{filepath.Join("plugins", "installed_plugins.json"), func(d, _ *jsonscan.Document, _ []string) { d.Remove("plugins", PluginID) }, nil},
	{filepath.Join("plugins", "known_marketplaces.json"), func(d, _ *jsonscan.Document, _ []string) { d.Remove(Marketplace) }, nil},
}

func stripSettings(d, before *jsonscan.Document, programs []string) {
	d.Remove("extraKnownMarketplaces", Marketplace)
	d.Remove("enabledPlugins", PluginID)
	for _, event := range slices.Clone(d.Keys("hooks")) {
		ours := func(group []byte) bool { return isOurGroup(group, programs) }
		if d.RemoveFunc(ours, "hooks", event) > 0 && len(d.Find("hooks", event).Kids) == 0 && before.Find("hooks", event) == nil {
			d.Remove("hooks", event)
		}
	}
}

// isOurGroup reports whether every hook of a group runs one of our programs, which are
// given with slashes and without ".exe". A program of our name that no longer exists is
// ours too: the home or the data directory has moved.
func isOurGroup(group []byte, programs []string) bool {
	var g struct {
		Hooks []struct{ Command string }
	}
	if json.Unmarshal(group, &g) != nil || len(g.Hooks) == 0 {
		return false
	}
	for _, h := range g.Hooks {
		path, ok := hook.ProgramOf(h.Command)
		if !ok || !slices.Contains(programs, strings.TrimSuffix(slashes(path), ".exe")) && !isGone(path) {
			return false
		}
	}
	return true
}

func slashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// isGone reports whether there is no file at an absolute path.
func isGone(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// hookPrograms returns the paths under which hooks of ours run, for isOurGroup: today's
// and that of earlier versions, which kept the programs in the plugin's directory.
func (in *Installer) hookPrograms() []string {
	return []string{
		slashes(filepath.Join(in.binDir(), hookProgramName)),
		slashes(filepath.Join(in.pluginDir(), "bin", hookProgramName)),
	}
}

// without returns a file without what is ours. baseline is the file as it was
// before us where that is known: an object that it lacks and that is empty now
// goes too.
func (f hostFile) without(data, baseline []byte, known bool, programs []string) ([]byte, error) {
	d, err := jsonscan.Parse(data)
	if err != nil {
		return nil, err
	}
	if d.IsEmpty() {
		return data, nil
	}
	before, err := jsonscan.Parse(baseline)
	if err != nil {
		before = new(jsonscan.Document)
	}
	f.strip(d, before, programs)
	if !known && bytes.Equal(d.Bytes(), data) {
		return data, nil // nothing of ours: the empty objects are the user's
	}
	for _, key := range f.empties {
		if n := d.Find(key); n != nil && n.Kind == '{' && len(n.Kids) == 0 && before.Find(key) == nil {
			d.Remove(key)
		}
	}
	return d.Bytes(), nil
}

// isBlank says that nothing is left in a file that anybody would miss.
func (f hostFile) isBlank(data []byte) bool {
	return sameJSON(data, nil, f.empties...) || sameJSON(data, []byte(`{"version":2,"plugins":{}}`)) ||
		sameJSON(data, []byte(`{"version":1,"plugins":{}}`))
}

// broken is a file of the user's that cannot be taken apart.
func broken(path string, err error) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "%s cannot be edited: %w", path, err).
		WithHint("mend it (Claude Code does not read it like this either), then run the command again; nothing was changed")
}

// registration is what the host's files say about us.
type registration struct {
	known    string // directory of our marketplace, "" when the host does not know it
	declared bool   // the user's settings name the marketplace
	version  string // of the plugin that is installed, "" for none
	enabled  bool
	hooks    int // plain hooks of ours in the settings
}

// host is the host's files as they are.
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

// readHost reads the files; one that is broken is an error.
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

func (h *host) registration(programs []string) registration {
	var r registration
	var known struct {
		Source struct{ Path string }
	}
	if raw := h.docs[atKnown].Get(Marketplace); raw != nil {
		r.known = "?"
		if json.Unmarshal(raw, &known) == nil && known.Source.Path != "" {
			r.known = known.Source.Path
		}
	}
	r.declared = h.docs[atSettings].Get("extraKnownMarketplaces", Marketplace) != nil
	r.version = installedVersion(h.docs[atInstalled], PluginID)
	r.enabled = string(h.docs[atSettings].Get("enabledPlugins", PluginID)) == "true"
	for _, event := range h.docs[atSettings].Keys("hooks") {
		list := h.docs[atSettings].Find("hooks", event)
		for _, kid := range list.Kids {
			if list.Kind == '[' && isOurGroup(h.docs[atSettings].Text(kid), programs) {
				r.hooks++
			}
		}
	}
	return r
}

// installedVersion is the version in the host's book of plugins: a list of
// scopes in newer books, one object in older ones.
func installedVersion(d *jsonscan.Document, id string) string {
	type entry struct{ Scope, Version string }
	raw := d.Get("plugins", id)
	if raw == nil {
		return ""
	}
	var list []entry
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			if e.Scope == "user" || e.Scope == "" {
				return orUnknown(e.Version)
			}
		}
		return ""
	}
	var one entry
	_ = json.Unmarshal(raw, &one) // of another shape: installed, and that is all we know
	return orUnknown(one.Version)
}

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// plainHooks adds the hooks of a hooks.json to the settings, in place of those of the
// given programs; groups that are there already stay where they are.
func plainHooks(d *jsonscan.Document, hooksJSON []byte, programs []string) error {
	ours, err := jsonscan.Parse(hooksJSON)
	if err != nil {
		return fmt.Errorf("read our hooks: %w", err)
	}
	for _, event := range ours.Keys("hooks") {
		for _, kid := range ours.Find("hooks", event).Kids {
			var compact bytes.Buffer
			if err := json.Compact(&compact, ours.Text(kid)); err != nil {
				return fmt.Errorf("read our hooks: %w", err)
			}
			group := compact.Bytes()
			there := false
			if list := d.Find("hooks", event); list != nil {
				for _, k := range list.Kids {
					there = there || sameJSON([]byte(`{"g":`+string(d.Text(k))+`}`), []byte(`{"g":`+string(group)+`}`))
				}
			}
			if there {
				continue
			}
			d.RemoveFunc(func(g []byte) bool { return isOurGroup(g, programs) }, "hooks", event)
			if err := d.Add(group, "hooks", event); err != nil {
				return err
			}
		}
	}
	return nil
}
