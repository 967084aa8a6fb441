package install

import (
	"path/filepath"
	"slices"
	"strings"

	"claudemem/jsonscan"
)

// statePath is the file in which the host keeps its state: beside its default
// configuration directory, within one of another place.
func (in *Installer) statePath() string {
	const name = ".claude.json"
	if in.opts.Moved {
		return filepath.Join(in.opts.ConfigDir, name)
	}
	return filepath.Join(filepath.Dir(in.opts.ConfigDir), name)
}

// uses names the host's counts of how often our plugin and skill were used, which it
// leaves in its state when they go, and returns that state without them. The state
// holds keys and logins too, so that nobody is shown its text. Another plugin of our
// name is counted under the same skills: while there is one, all stays; and so it
// does in a state that cannot be read, for which no uninstall is refused.
func (in *Installer) uses(h *host) (names []string, after []byte) {
	names = []string{} // JSON would say null of none
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

// forgetUses takes the counts out; the host rewrites its state at any time, so it is
// read again first.
func (in *Installer) forgetUses(h *host) error {
	return in.does("forget uses", func() error {
		names, after := in.uses(h)
		if len(names) == 0 {
			return nil
		}
		if err := in.write(in.statePath(), after, 0o600); err != nil {
			return storage("write", in.statePath(), err)
		}
		return nil
	})
}
