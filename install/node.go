package install

import (
	"os"
	"path/filepath"
	"slices"
)

// Other is a plugin beside ours that remembers too: with both, everything is
// captured twice and each session is given two blocks.
type Other struct {
	ID        string `json:"id"`
	Enabled   bool   `json:"enabled"`
	Installed bool   `json:"installed"`
}

// others lists the plugins of our name of other marketplaces, the Node program's first.
func (h *host) others() []Other {
	list := []Other{} // null in JSON would break its readers
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

// nodeData says that the Node program has kept a memory in our data directory.
func nodeData(dataDir string) bool {
	_, err := os.Stat(filepath.Join(dataDir, "claude-mem.db"))
	return err == nil
}
