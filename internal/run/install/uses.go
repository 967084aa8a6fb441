package install

import (
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/jsonscan"
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
// and the host's state with and without them; the host keeps them when the plugin is
// removed. The state holds keys and logins too, so its text is never shown. The counters
// of another plugin named claude-mem have the same names: if such a plugin exists, or the
// state is unreadable, the counters stay.
func (in *Installer) withoutCounters(h *host) (names []string, now, after []byte) {
	names = []string{} // JSON: [] instead of null
	now, err := readUserFile(in.statePath())
	if err != nil {
		return names, nil, nil
	}
	d, err := jsonscan.Parse(now)
	if err != nil || d.IsEmpty() || len(h.others()) > 0 {
		return names, nil, nil
	}
	for _, skill := range slices.Clone(d.Keys("skillUsage")) {
		if strings.HasPrefix(skill, PluginName+":") && d.Remove("skillUsage", skill) {
			names = append(names, skill)
		}
	}
	if d.Remove("pluginUsage", PluginID) {
		names = append(names, PluginID)
	}
	return names, now, d.Bytes()
}

// counterTries is how often removeCounters starts anew when the host writes its state.
const counterTries = 5

// removeCounters removes the usage counters. A running host may rewrite its state at any
// time, so it is read again just before it is written; CodeConflict if it has changed
// each time. There is no backup: it would be a copy of keys and logins.
func (in *Installer) removeCounters(h *host) error {
	path := in.statePath()
	return in.do("remove counters from", path, func() error {
		for range counterTries {
			names, now, after := in.withoutCounters(h)
			if len(names) == 0 {
				return nil
			}
			if err := in.step("write " + filepath.Base(path)); err != nil {
				return err
			}
			if again, err := readUserFile(path); err != nil || !sameBytes(again, now) {
				continue
			}
			return in.write(path, after, 0o600)
		}
		return changedMeanwhile(path)
	})
}
