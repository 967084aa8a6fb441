package install

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// NodePluginID is the plugin of claude-mem for Node, whose name, data directory
// and port ours shares.
const NodePluginID = PluginName + "@thedotmack"

// Other is a plugin beside ours that remembers too: with both, everything is
// captured twice and each session is given two blocks.
type Other struct {
	ID        string `json:"id"`
	Enabled   bool   `json:"enabled"`
	Installed bool   `json:"installed"`
}

// IsNode says that it is the Node program's.
func (o Other) IsNode() bool { return o.ID == NodePluginID }

// others lists the plugins named like ours of other marketplaces, the Node
// program's first.
func (h *host) others() []Other {
	found := map[string]Other{}
	add := func(id string, set func(*Other)) {
		if name, _, ok := strings.Cut(id, "@"); !ok || name != PluginName || id == PluginID {
			return
		}
		o := found[id]
		o.ID = id
		set(&o)
		found[id] = o
	}
	for _, id := range h.docs[atSettings].Keys("enabledPlugins") {
		enabled := string(h.docs[atSettings].Get("enabledPlugins", id)) == "true"
		add(id, func(o *Other) { o.Enabled = enabled })
	}
	for _, id := range h.docs[atInstalled].Keys("plugins") {
		add(id, func(o *Other) { o.Installed = true })
	}
	list := []Other{} // JSON would say null of none
	for _, o := range found {
		list = append(list, o)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].IsNode() != list[j].IsNode() {
			return list[i].IsNode()
		}
		return list[i].ID < list[j].ID
	})
	return list
}

// nodeData says that the Node program has kept a memory in our data directory.
func nodeData(dataDir string) bool {
	_, err := os.Stat(filepath.Join(dataDir, "claude-mem.db"))
	return err == nil
}
