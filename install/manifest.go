package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// manifest is the book of what we changed in one configuration directory of the
// host. It is written before the first change and removed after the last.
type manifest struct {
	Version   int       `json:"version"`
	ConfigDir string    `json:"config_dir"`
	Method    Method    `json:"method"`
	State     state     `json:"state"`
	Time      time.Time `json:"time"`
	// Plugin is the version of ours that was installed.
	Plugin string `json:"plugin_version"`
	// Disabled are the plugins that were disabled because the user said so.
	Disabled []string `json:"disabled,omitempty"`
	Files    []record `json:"files"`
}

// record is a file of the user's before us and after.
type record struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Backup  string      `json:"backup,omitempty"` // name beside the manifest
	Before  string      `json:"before,omitempty"` // SHA-256
	After   string      `json:"after,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Time    time.Time   `json:"time"`
	// Restore says that the file was found unchanged when it was uninstalled: the
	// host's CLI rewrites it meanwhile.
	Restore bool `json:"restore,omitempty"`
}

type state string

const (
	installing   state = "installing"
	installed    state = "installed"
	uninstalling state = "uninstalling"
)

const manifestVersion = 1

// backupsDir is where a configuration directory's backups and manifest lie: a
// user may have several such directories with one memory.
func backupsDir(dataDir, configDir string) string {
	return filepath.Join(dataDir, "backups", "install", hashOf([]byte(configDir))[:12])
}

// readManifest returns nil when there is none. So is a broken one: what we
// changed is found again in the files themselves.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, "manifest.json")
	data, err := readUserFile(path)
	if err != nil || data == nil {
		return nil, err
	}
	var m manifest
	if broken := json.Unmarshal(data, &m) != nil || m.Version != manifestVersion; broken {
		return nil, nil
	}
	return &m, nil
}

// writeManifest stamps m with version and time and writes it among the backups.
func (in *Installer) writeManifest(m *manifest) error {
	m.Version, m.Time = manifestVersion, in.opts.Clock().UTC()
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(in.backups, "manifest.json")
	if err := in.write(path, append(data, '\n'), 0o600); err != nil {
		return storage("write", path, err)
	}
	return nil
}

// record returns the manifest's record of the file at path, nil without one.
func (m *manifest) record(path string) *record {
	if m == nil {
		return nil
	}
	for i := range m.Files {
		if m.Files[i].Path == path {
			return &m.Files[i]
		}
	}
	return nil
}

// baseline is a file as it was before us; known is false when nothing is written
// of it or its backup is gone or damaged.
func (in *Installer) baseline(r *record) (data []byte, known bool) {
	if r == nil {
		return nil, false
	}
	if !r.Existed {
		return nil, true
	}
	data, err := os.ReadFile(filepath.Join(in.backups, filepath.Base(r.Backup)))
	if err != nil || hashOf(data) != r.Before {
		return nil, false
	}
	return data, true
}

// keep makes the backup of a file and its record. data is the file without us,
// nil when there is none.
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
	if err := in.write(backup, data, 0o600); err != nil {
		return r, storage("back up", path, err)
	}
	return r, nil
}

// removeIfThere removes a file that may be gone already.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
