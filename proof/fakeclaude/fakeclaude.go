// Package fakeclaude is a stand-in for the plugin commands of Claude Code's CLI:
// it changes the same files as CLI 2.1.197 was seen to change, and lays them out
// anew like it. For tests only; the real CLI is played by package e2e.
package fakeclaude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type object = map[string]any

// Run does what the arguments say with the files of a configuration directory
// and returns the exit code.
func Run(configDir string, args []string, out io.Writer) int {
	c := &cli{dir: configDir, out: out}
	if len(args) < 2 || args[0] != "plugin" {
		return c.fail("unknown command %q", strings.Join(args, " "))
	}
	if c.read("plugins/known_marketplaces.json", &c.known) != nil || c.read("plugins/installed_plugins.json", &c.installed) != nil {
		return c.fail("broken books of plugins")
	}
	c.broken = c.read("settings.json", &c.settings) != nil
	at := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch {
	case at(1) == "marketplace" && at(2) == "add":
		return c.marketplaceAdd(at(3))
	case at(1) == "marketplace" && at(2) == "update":
		if c.known[at(3)] == nil {
			return c.fail("Marketplace '%s' not found", at(3))
		}
		return 0
	case at(1) == "marketplace" && at(2) == "remove":
		return c.marketplaceRemove(at(3))
	case at(1) == "install":
		return c.install(at(2), false)
	case at(1) == "update":
		return c.install(at(2), true)
	case at(1) == "uninstall":
		// The real one looks for the name before the @ and takes the first it finds.
		name, _, _ := strings.Cut(at(2), "@")
		for _, id := range slices.Backward(slices.Sorted(maps.Keys(member(c.installed, "plugins")))) {
			if strings.HasPrefix(id, name+"@") {
				return c.uninstall(id)
			}
		}
		return c.uninstall(at(2))
	case at(1) == "enable" || at(1) == "disable":
		return c.enable(at(2), at(1) == "enable")
	}
	return c.fail("unknown command %q", strings.Join(args, " "))
}

type cli struct {
	dir                        string
	out                        io.Writer
	known, installed, settings object
	broken                     bool
}

func (c *cli) say(format string, args ...any) int {
	_, _ = fmt.Fprintf(c.out, format+"\n", args...)
	return 0
}

func (c *cli) fail(format string, args ...any) int {
	c.say("✘ "+format, args...)
	return 1
}

func (c *cli) read(name string, into *object) error {
	*into = object{}
	data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil //nolint:nilerr // not there: empty
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, into)
}

// write lays a file out with two spaces and no line end, through a link.
func (c *cli) write(name string, v object) {
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	data, _ := json.MarshalIndent(v, "", "  ")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		c.say("%v", err)
	}
}

func member(o object, key string) object {
	m, ok := o[key].(object)
	if !ok {
		m = object{}
		o[key] = m
	}
	return m
}

func readJSON(path string) object {
	o := object{}
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &o) // of another shape: nothing is in it
	}
	return o
}

func (c *cli) marketplaceAdd(dir string) int {
	name, _ := readJSON(filepath.Join(dir, ".claude-plugin", "marketplace.json"))["name"].(string)
	if name == "" {
		return c.fail("no marketplace in %s", dir)
	}
	source := object{"source": "directory", "path": dir}
	c.known[name] = object{"source": source, "installLocation": dir, "lastUpdated": time.Now().UTC().Format(time.RFC3339Nano)}
	c.write("plugins/known_marketplaces.json", c.known)
	if !c.broken {
		member(c.settings, "extraKnownMarketplaces")[name] = object{"source": source}
		c.write("settings.json", c.settings)
	}
	return c.say("✔ Successfully added marketplace: %s", name)
}

func (c *cli) marketplaceRemove(name string) int {
	if c.known[name] == nil {
		return c.fail("Failed to remove marketplace: Marketplace '%s' not found", name)
	}
	delete(c.known, name)
	c.write("plugins/known_marketplaces.json", c.known)
	for id := range member(c.installed, "plugins") {
		if strings.HasSuffix(id, "@"+name) {
			c.uninstall(id)
		}
	}
	delete(member(c.settings, "extraKnownMarketplaces"), name)
	c.write("settings.json", c.settings)
	return c.say("✔ Successfully removed marketplace: %s", name)
}

func (c *cli) install(id string, update bool) int {
	name, market, _ := strings.Cut(id, "@")
	known, ok := c.known[market].(object)
	if !ok {
		return c.fail("Failed to install plugin %q: no such marketplace", id)
	}
	if c.broken {
		return c.fail("Failed to install plugin %q: Invalid JSON syntax in settings file", id)
	}
	plugins := member(c.installed, "plugins")
	if plugins[id] != nil && !update {
		return c.say("✔ Plugin %q is already installed", id)
	}
	dir, _ := known["installLocation"].(string)
	manifest := filepath.Join(dir, name, ".claude-plugin", "plugin.json")
	version, _ := readJSON(manifest)["version"].(string)
	cache := filepath.Join(c.dir, "plugins", "cache", market, name, version)
	_ = os.MkdirAll(cache, 0o700)
	if data, err := os.ReadFile(manifest); err == nil {
		_ = os.WriteFile(filepath.Join(cache, "plugin.json"), data, 0o600)
	}
	c.installed["version"] = 2
	plugins[id] = []any{object{"scope": "user", "installPath": cache, "version": version}}
	c.write("plugins/installed_plugins.json", c.installed)
	if !update {
		member(c.settings, "enabledPlugins")[id] = true
		c.write("settings.json", c.settings)
	}
	return c.say("✔ Successfully installed plugin: %s", id)
}

func (c *cli) uninstall(id string) int {
	plugins := member(c.installed, "plugins")
	if plugins[id] == nil {
		return c.fail("Failed to uninstall plugin %q: not found in installed plugins", id)
	}
	delete(plugins, id)
	c.write("plugins/installed_plugins.json", c.installed)
	delete(member(c.settings, "enabledPlugins"), id)
	c.write("settings.json", c.settings)
	return c.say("✔ Successfully uninstalled plugin: %s", id)
}

func (c *cli) enable(id string, on bool) int {
	enabled := member(c.settings, "enabledPlugins")
	if was, _ := enabled[id].(bool); was == on {
		return c.fail("Plugin %q is already so", id)
	}
	enabled[id] = on
	c.write("settings.json", c.settings)
	return c.say("✔ done: %s", id)
}
