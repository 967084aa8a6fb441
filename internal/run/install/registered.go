package install

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
)

// Registered lists the hooks of claude-mem and of plugins named like it that Claude
// Code's files register.
type Registered struct {
	// Ours are our plugin and our hooks in settings files, Others the plugins of the
	// same name that are not ours, such as the Node program's.
	Ours, Others []Registration
	// HooksDisabled is the settings file that disables all hooks, "" for none.
	HooksDisabled string
	// Unreadable are the files that cannot be read or are not JSON.
	Unreadable []string
}

// Registration is a plugin or a settings file whose hooks Claude Code runs.
type Registration struct {
	// ID is NAME@MARKETPLACE of a plugin, else the path of the settings file.
	ID      string
	Plugin  bool
	Enabled bool
	Version string
	// Root is the directory of the plugin's files.
	Root string
	// Hook is the program that hooks in a settings file run.
	Hook        string
	InstalledAt time.Time
}

// ReadRegistered reads Claude Code's files in its configuration directory, "" for none.
// A value of an unexpected shape counts as missing.
func ReadRegistered(configDir string) Registered {
	var seen Registered
	if configDir == "" {
		return seen
	}
	h := &host{dir: configDir}
	parse := func(path string) *jsonscan.Document {
		d, err := readDocument(path)
		if err != nil {
			seen.Unreadable = append(seen.Unreadable, path)
			return new(jsonscan.Document)
		}
		return d
	}
	for i := range hostFiles {
		h.docs[i] = parse(h.path(i))
	}
	local := filepath.Join(configDir, "settings.local.json")
	settings := map[string]*jsonscan.Document{h.path(atSettings): h.docs[atSettings], local: parse(local)}
	for _, path := range []string{h.path(atSettings), local} {
		if string(settings[path].Get("disableAllHooks")) == "true" {
			seen.HooksDisabled = path
		}
		if program, ok := hookProgram(settings[path]); ok {
			seen.Ours = append(seen.Ours, Registration{ID: path, Enabled: true, Hook: program})
		}
	}
	for _, id := range h.pluginIDs() {
		e, _ := h.installed(id)
		r := Registration{ID: id, Plugin: true, Enabled: h.isEnabled(id), Version: e.Version, Root: cmp.Or(h.rootInPlace(id), e.InstallPath)}
		r.InstalledAt, _ = time.Parse(time.RFC3339, e.InstalledAt) // zero: not known
		if r.isOurs() {
			seen.Ours = append(seen.Ours, r)
		} else {
			seen.Others = append(seen.Others, r)
		}
	}
	return seen
}

// readDocument reads a JSON object whose members of known names have the shape that
// Claude Code gives them. A file that does not exist is an empty document.
func readDocument(path string) (*jsonscan.Document, error) {
	data, err := readUserFile(path)
	if err != nil {
		return nil, err
	}
	d, err := jsonscan.Parse(data)
	if err != nil || d.IsEmpty() {
		return d, err
	}
	var shape struct {
		DisableAllHooks                bool
		EnabledPlugins, Hooks, Plugins map[string]json.RawMessage
	}
	return d, json.Unmarshal(jsonscan.TrimBOM(data), &shape)
}

// isOurs reports whether a plugin named like ours is ours: by its marketplace, else, such as one of a
// checkout, by the program that its hooks run.
func (r Registration) isOurs() bool {
	if r.ID == PluginID || r.ID == NodePluginID || r.Root == "" {
		return r.ID == PluginID
	}
	_, err := PluginPrograms(r.Root)
	return err == nil
}

// PluginPrograms returns the programs that the plugin in directory root runs: that of
// its hooks, then those of its MCP servers.
func PluginPrograms(root string) ([]string, error) {
	hooks, err := readDocument(filepath.Join(root, "hooks", "hooks.json"))
	if err != nil {
		return nil, err
	}
	program, ok := hookProgram(hooks)
	if !ok {
		return nil, errors.New("its hooks.json does not run " + HookProgram)
	}
	programs := []string{program}
	if servers, err := readDocument(filepath.Join(root, ".mcp.json")); err == nil {
		for _, name := range servers.Keys("mcpServers") {
			command, _ := jsonscan.Unquote(servers.Get("mcpServers", name, "command"))
			programs = append(programs, command)
		}
	}
	for i := range programs {
		programs[i] = filepath.FromSlash(strings.ReplaceAll(programs[i], "${CLAUDE_PLUGIN_ROOT}", root))
	}
	return programs, nil
}

// hookProgram returns the program of the first hook that runs claude-mem-hook; false if
// none does.
func hookProgram(d *jsonscan.Document) (path string, ok bool) {
	for _, event := range d.Keys("hooks") {
		for _, command := range hookCommands(d, event) {
			if path, ok = hook.ProgramOf(command); ok {
				return path, true
			}
		}
	}
	return "", false
}

// rootInPlace returns the directory of a plugin whose marketplace is a directory, from
// which Claude Code runs it. It returns "" for other plugins, and the marketplace's own
// path when that has no readable marketplace.json.
func (h *host) rootInPlace(id string) string {
	name, market, _ := strings.Cut(id, "@")
	kind, path := sourceOf(h.docs[atKnown].Get(market))
	if kind != "directory" || path == "" {
		return ""
	}
	var shop struct {
		Plugins []struct {
			Name   string
			Source json.RawMessage
		}
	}
	data, err := openfile.Read(filepath.Join(path, ".claude-plugin", "marketplace.json"))
	if err != nil || json.Unmarshal(data, &shop) != nil {
		return path
	}
	for _, p := range shop.Plugins {
		var source string
		if p.Name == name && json.Unmarshal(p.Source, &source) == nil {
			return filepath.Join(path, filepath.FromSlash(source))
		}
	}
	return ""
}

// Other is another plugin named claude-mem. With both enabled, everything is captured
// twice and each session gets two context blocks.
type Other struct {
	ID        string `json:"id"`
	Enabled   bool   `json:"enabled"`
	Installed bool   `json:"installed"`
}

// others lists the plugins of our name of other marketplaces, the Node program's first.
func (h *host) others() []Other {
	list := []Other{} // JSON: [] instead of null
	for _, id := range h.pluginIDs() {
		o := Other{ID: id, Enabled: h.isEnabled(id), Installed: h.docs[atInstalled].Find("plugins", id) != nil}
		switch id {
		case PluginID:
		case NodePluginID:
			list = slices.Insert(list, 0, o)
		default:
			list = append(list, o)
		}
	}
	return list
}
