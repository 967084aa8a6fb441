package install

import (
	"slices"
)

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
