package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// manifest lists our changes to one configuration directory of the host. It is written
// before the first change of an install and removed after the last of an uninstall.
type manifest struct {
	Version int `json:"version"`
	// Host is "" for Claude Code.
	Host      memory.Host `json:"host,omitempty"`
	ConfigDir string      `json:"config_dir"`
	Method    Method      `json:"method"`
	State     state       `json:"state"`
	Time      time.Time   `json:"time"`
	// Plugin is the version of our plugin that was installed.
	Plugin string `json:"plugin_version"`
	// Disabled are the plugins that the user let us disable.
	Disabled []string `json:"disabled,omitempty"`
	Files    []record `json:"files"`
}

// record describes a file of the user's before and after the install.
type record struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Backup  string      `json:"backup,omitempty"` // name beside the manifest
	Before  string      `json:"before,omitempty"` // SHA-256
	After   string      `json:"after,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Time    time.Time   `json:"time"`
	// Restore says that the file was unchanged when the uninstall began, so that the
	// backup is restored even though the host's CLI has rewritten the file since.
	Restore bool `json:"restore,omitempty"`
}

type state string

const (
	installing   state = "installing"
	installed    state = "installed"
	uninstalling state = "uninstalling"
)

const manifestVersion = 1

// backupsDir returns the directory of the backups and the manifest of a configuration
// directory: a user may have several of these with one memory.
func backupsDir(dataDir, configDir string) string {
	return filepath.Join(dataDir, "backups", "install", hashOf([]byte(configDir))[:12])
}

// readManifest returns the manifest in dir, nil when it is missing or broken: our
// entries can be found in the files without it.
func readManifest(dir string) (*manifest, error) {
	data, err := readUserFile(filepath.Join(dir, "manifest.json"))
	var m manifest
	if err != nil || json.Unmarshal(data, &m) != nil || m.Version != manifestVersion {
		return nil, err
	}
	return &m, nil
}

// manifestsIn returns the manifests in the directories of all, except in that of one.
func manifestsIn(all, except string) []*manifest {
	var list []*manifest
	entries, _ := os.ReadDir(all) // not there: nothing is installed
	for _, e := range entries {
		if dir := filepath.Join(all, e.Name()); dir != except {
			if m, err := readManifest(dir); err == nil && m != nil {
				list = append(list, m)
			}
		}
	}
	return list
}

// InstalledAgents returns the agents that have an install with the memory in dataDir, and
// their configuration directories.
func InstalledAgents(dataDir string) (list []*Agent, configDirs []string) {
	if dataDir == "" {
		return nil, nil
	}
	for _, m := range manifestsIn(filepath.Dir(backupsDir(dataDir, "")), "") {
		if a := AgentOf(m.Host); a != nil {
			list, configDirs = append(list, a), append(configDirs, m.ConfigDir)
		}
	}
	return list, configDirs
}

func (in *Installer) manifestPath() string { return filepath.Join(in.backups, "manifest.json") }

// writeManifest stamps m with version and time and writes it among the backups.
func (in *Installer) writeManifest(m *manifest) error {
	m.Version, m.Time = manifestVersion, in.opts.Clock().UTC()
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return in.write(in.manifestPath(), append(data, '\n'), 0o600)
}

// record returns the manifest's record of the file at path, nil without one.
func (m *manifest) record(path string) *record {
	if m == nil {
		return nil
	}
	if i := slices.IndexFunc(m.Files, func(r record) bool { return r.Path == path }); i >= 0 {
		return &m.Files[i]
	}
	return nil
}

// baseline returns the file of a record as it was before the install, nil when it did
// not exist. known is false when there is no record or the backup is missing or damaged.
func (in *Installer) baseline(r *record) (data []byte, known bool) {
	if r == nil {
		return nil, false
	}
	if !r.Existed {
		return nil, true
	}
	data, err := openfile.Read(filepath.Join(in.backups, filepath.Base(r.Backup)))
	if err != nil || hashOf(data) != r.Before {
		return nil, false
	}
	return data, true
}

// keep writes the backup of a file, unless it is there, and returns its record, in which After is not
// set yet. data is the file without our entries, nil when it does not exist: then there is nothing to
// back up.
func (in *Installer) keep(path string, data []byte) (record, error) {
	r := record{Path: path, Existed: data != nil, Time: in.opts.Clock().UTC()}
	if data == nil {
		return r, nil
	}
	r.Before = hashOf(data)
	r.Backup = r.Before[:12] + "-" + filepath.Base(path)
	if info, err := os.Stat(path); err == nil {
		r.Mode = info.Mode().Perm()
	}
	backup := filepath.Join(in.backups, r.Backup)
	if hash, _, err := hashFile(backup); err == nil && hash == r.Before {
		return r, nil
	}
	return r, in.write(backup, data, 0o600)
}

// removeIfThere removes a file if it exists.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
