package install

import (
	"path/filepath"
	"slices"
	"strings"

	"claudemem/jsonscan"
)

// statePath returns the path of the host's state file: beside the default configuration
// directory, but inside a directory that CLAUDE_CONFIG_DIR names.
func (in *Installer) statePath() string {
	const name = ".claude.json"
	if in.opts.Moved {
		return filepath.Join(in.opts.ConfigDir, name)
	}
	return filepath.Join(filepath.Dir(in.opts.ConfigDir), name)
}

// withoutCounters returns the names of the host's usage counters of our plugin and skill,
// and the host's state without them; the host keeps them when the plugin is removed. The
// state holds keys and logins too, so its text is never shown. The counters of another
// plugin named claude-mem have the same names: if such a plugin exists, or the state is
// unreadable, the counters stay.
func (in *Installer) withoutCounters(h *host) (names []string, after []byte) {
	names = []string{} // JSON: [] instead of null
	now, err := readUserFile(in.statePath())
	if err != nil {
		return names, nil
	}
	d, err := jsonscan.Parse(now)
	if err != nil || d.IsEmpty() || len(h.others()) > 0 {
		return names, nil
	}
	for _, skill := range slices.Clone(d.Keys("skillUsage")) {
		if strings.HasPrefix(skill, PluginName+":") && d.Remove("skillUsage", skill) {
			names = append(names, skill)
		}
	}
	if d.Remove("pluginUsage", PluginID) {
		names = append(names, PluginID)
	}
	return names, d.Bytes()
}

// removeCounters removes the usage counters. It reads the state again, because the host
// may have rewritten it.
func (in *Installer) removeCounters(h *host) error {
	return in.do("remove counters from", in.statePath(), func() error {
		names, after := in.withoutCounters(h)
		if len(names) == 0 {
			return nil
		}
		return in.write(in.statePath(), after, 0o600)
	})
}
