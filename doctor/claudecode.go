package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"claudemem/hook"
	"claudemem/install"
)

// ClaudeCode reads what Claude Code has registered from its files. They are
// another program's: what is not as expected is left out, never an error of ours.
type ClaudeCode struct {
	// Dir is where Claude Code keeps its files.
	Dir string
}

// hookProgram is in the command of each of our hooks.
const hookProgram = "claude-mem-hook"

// largestHostFile bounds what is read of a file.
const largestHostFile = 16 << 20

// hostSettings is what matters of a settings.json or a hooks.json.
type hostSettings struct {
	DisableAllHooks bool                       `json:"disableAllHooks"`
	EnabledPlugins  map[string]json.RawMessage `json:"enabledPlugins"`
	Hooks           map[string]json.RawMessage `json:"hooks"`
}

// runsOurs returns the program of a hook of ours, as its command names it.
func (s hostSettings) runsOurs() (path string, ok bool) {
	for _, groups := range s.Hooks {
		var list []struct {
			Hooks []struct{ Command string }
		}
		if json.Unmarshal(groups, &list) != nil {
			continue
		}
		for _, group := range list {
			for _, h := range group.Hooks {
				if path, ok := hook.ProgramOf(h.Command); ok {
					return path, true
				}
			}
		}
	}
	return "", false
}

// pluginPrograms returns the programs that the plugin in root runs: that of its hooks,
// then that of its MCP server if it has one.
func pluginPrograms(root string) ([]string, error) {
	var hooks hostSettings
	if err := readHostFile(filepath.Join(root, "hooks", "hooks.json"), &hooks); err != nil {
		return nil, err
	}
	path, ok := hooks.runsOurs()
	if !ok {
		return nil, errors.New("its hooks.json does not run " + hookProgram)
	}
	programs := []string{path}
	var servers struct {
		MCPServers map[string]struct{ Command string } `json:"mcpServers"`
	}
	if readHostFile(filepath.Join(root, ".mcp.json"), &servers) == nil { // an earlier plugin may have none
		for _, server := range servers.MCPServers {
			programs = append(programs, server.Command)
		}
	}
	for i := range programs {
		programs[i] = filepath.FromSlash(strings.ReplaceAll(programs[i], "${CLAUDE_PLUGIN_ROOT}", root))
	}
	return programs, nil
}

type installedPlugin struct {
	InstallPath string    `json:"installPath"`
	Version     string    `json:"version"`
	InstalledAt time.Time `json:"installedAt"`
}

// Look implements Plugins.
func (c ClaudeCode) Look(context.Context) (Installation, error) {
	var seen Installation
	read := func(into any, names ...string) {
		path := filepath.Join(append([]string{c.Dir}, names...)...)
		if err := readHostFile(path, into); err != nil && !errors.Is(err, fs.ErrNotExist) {
			seen.Unreadable = append(seen.Unreadable, path)
		}
	}
	var user, local hostSettings
	read(&user, "settings.json")
	read(&local, "settings.local.json")
	var book struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	read(&book, "plugins", "installed_plugins.json")
	var markets map[string]json.RawMessage
	read(&markets, "plugins", "known_marketplaces.json")

	for name, s := range map[string]hostSettings{"settings.json": user, "settings.local.json": local} {
		path := filepath.Join(c.Dir, name)
		if s.DisableAllHooks {
			seen.HooksDisabled = path
		}
		if hook, ok := s.runsOurs(); ok {
			seen.Ours = append(seen.Ours, Registration{ID: path, Enabled: true, Hook: hook})
		}
	}
	ids := map[string]bool{}
	for _, list := range []map[string]json.RawMessage{user.EnabledPlugins, book.Plugins} {
		for id := range list {
			if of, _, ok := strings.Cut(id, "@"); ok && of == install.PluginName {
				ids[id] = true
			}
		}
	}
	for id := range ids {
		r := Registration{ID: id, Plugin: true, Enabled: string(bytes.TrimSpace(user.EnabledPlugins[id])) == "true"}
		if installed, ok := installedAs(book.Plugins[id]); ok {
			r.Version, r.Root, r.InstalledAt = installed.Version, installed.InstallPath, installed.InstalledAt
		}
		if root := inPlace(markets, id); root != "" {
			r.Root = root
		}
		if r.isOurs() {
			seen.Ours = append(seen.Ours, r)
		} else {
			seen.Node = append(seen.Node, r)
		}
	}
	for _, list := range [][]Registration{seen.Ours, seen.Node} {
		sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	}
	return seen, nil
}

// isOurs tells our plugin from others of its name: by its marketplace, else by
// what its hooks run.
func (r Registration) isOurs() bool {
	if r.ID == install.PluginID || r.ID == install.NodePluginID {
		return r.ID == install.PluginID
	}
	var hooks hostSettings
	if readHostFile(filepath.Join(r.Root, "hooks", "hooks.json"), &hooks) != nil {
		return false
	}
	_, ok := hooks.runsOurs()
	return ok
}

// installedAs reads an entry of the book of plugins: a list of scopes in newer
// books, one object in older ones.
func installedAs(raw json.RawMessage) (installedPlugin, bool) {
	var list []installedPlugin
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0], true
	}
	var one installedPlugin
	return one, json.Unmarshal(raw, &one) == nil && raw != nil
}

// inPlace is the directory of a plugin whose marketplace is a directory: the host
// runs it where it is. "" for any other.
func inPlace(markets map[string]json.RawMessage, id string) string {
	name, market, _ := strings.Cut(id, "@")
	var known struct {
		Source struct{ Source, Path string }
	}
	if json.Unmarshal(markets[market], &known) != nil || known.Source.Source != "directory" || known.Source.Path == "" {
		return ""
	}
	var shop struct {
		Plugins []struct {
			Name   string
			Source json.RawMessage
		}
	}
	if readHostFile(filepath.Join(known.Source.Path, ".claude-plugin", "marketplace.json"), &shop) != nil {
		return known.Source.Path // it is gone: so are the plugin's files
	}
	for _, p := range shop.Plugins {
		var source string
		if p.Name == name && json.Unmarshal(p.Source, &source) == nil {
			return filepath.Join(known.Source.Path, filepath.FromSlash(source))
		}
	}
	return ""
}

// readHostFile reads one JSON object; an empty file is an empty one.
func readHostFile(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, largestHostFile))
	if err != nil {
		return err
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, into)
}
