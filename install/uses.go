package install

import (
	"path/filepath"
	"slices"
	"strings"
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

// uses returns the host's state as it is and without its counts of how often our
// plugin and skill were used, which it leaves behind when they go. Another plugin of
// our name is counted under the same skills: while there is one, and in a state that
// cannot be read, all stays as it is.
func (in *Installer) uses(h *host) (now, after []byte, err error) {
	if now, err = readUserFile(in.statePath()); now == nil || err != nil {
		return nil, nil, err
	}
	d, err := parseDocument(now)
	if err != nil || d.root == nil || len(h.others()) > 0 {
		return now, now, nil //nolint:nilerr // nothing of ours depends on it
	}
	for _, skill := range slices.Clone(d.keys("skillUsage")) {
		if strings.HasPrefix(skill, PluginName+":") {
			d.remove("skillUsage", skill)
		}
	}
	d.remove("pluginUsage", PluginID)
	return now, d.bytes(), nil
}

// forgetUses takes the counts out; the host rewrites its state at any time, so it is
// read again first.
func (in *Installer) forgetUses(h *host) error {
	return in.does("forget uses", func() error {
		now, after, err := in.uses(h)
		if err != nil || sameBytes(now, after) {
			return err
		}
		if err := in.write(in.statePath(), after, 0o600); err != nil {
			return storage("write", in.statePath(), err)
		}
		return nil
	})
}
