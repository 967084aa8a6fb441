package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Removal lists the changes of an uninstall, before it runs and after.
type Removal struct {
	ConfigDir string `json:"config_dir"`
	DataDir   string `json:"data_dir"`
	// Files are the user's; Restored are those that get their old bytes back.
	Files    []Change `json:"files"`
	Restored []string `json:"restored"`
	// Uses names the host's usage counters of our plugin and skill.
	Uses []string `json:"uses"`
	// Commands are the arguments of the host's CLI, in the order of their runs.
	Commands [][]string `json:"commands"`
	// Directories are removed.
	Directories []string `json:"directories"`
	// Enable are the plugins that an install has disabled.
	Enable []string `json:"enable"`
	// Elsewhere are the other configuration directories that still use the memory's programs.
	Elsewhere []string `json:"elsewhere"`
	// Problems are errors of the host's CLI; its changes were made without it.
	Problems []string `json:"problems"`

	host *host
	book *manifest
}

// Empty reports whether there is nothing to remove.
func (r *Removal) Empty() bool {
	return len(r.Files)+len(r.Uses)+len(r.Commands)+len(r.Directories) == 0 && r.book == nil
}

// PlanRemoval returns the changes of an uninstall; it makes none. Programs and marketplace go with the
// last install that uses them. CodeInvalid for a broken file of the host's.
func (in *Installer) PlanRemoval() (*Removal, error) {
	h, err := readHost(in.opts.ConfigDir)
	book, err2 := readManifest(in.backups)
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	r := &Removal{
		ConfigDir: in.opts.ConfigDir, DataDir: in.opts.DataDir, host: h, book: book,
		Files: []Change{}, Restored: []string{}, Commands: [][]string{}, Directories: []string{}, Enable: []string{}, Elsewhere: []string{}, Problems: []string{},
	}
	for i := range hostFiles {
		after, restored, err := in.withoutInstall(i, h, book)
		if err != nil {
			return nil, broken(h.path(i), err)
		}
		if restored {
			r.Restored = append(r.Restored, h.path(i))
		}
		if !sameBytes(after, h.files[i]) {
			r.Files = append(r.Files, userChange(h.path(i), h.files[i], after))
		}
	}
	r.Uses, _, _ = in.withoutCounters(h)
	if book != nil {
		r.Enable = append(r.Enable, collect.Keep(book.Disabled, func(id string) bool { return string(h.docs[atSettings].Get("enabledPlugins", id)) == "false" })...)
	}
	is := in.entries(h)
	// Never `plugin uninstall`: CLI 2.1.197 goes by the name before the @ and takes
	// the plugin of another marketplace. With its marketplace ours goes too, alone.
	if in.opts.CLI != nil && is.known != "" {
		r.Commands = append(r.Commands, []string{"plugin", "marketplace", "remove", Marketplace})
	}
	r.Elsewhere = append(r.Elsewhere, collect.Pick(in.installs(), func(m *manifest) (string, bool) { return m.ConfigDir, m.Host == "" })...)
	dirs := []string{
		filepath.Join(in.opts.ConfigDir, "plugins", "cache", Marketplace),
		// The plugin's own data, which the host makes for every plugin; we keep nothing there.
		filepath.Join(in.opts.ConfigDir, "plugins", "data", PluginName+"-"+Marketplace),
	}
	if len(r.Elsewhere) == 0 {
		dirs = append(dirs, in.shop)
	}
	r.Directories = append(r.Directories, collect.Keep(dirs, openfile.Exists)...)
	if len(in.installs()) == 0 && slices.ContainsFunc(in.programs(), openfile.Exists) {
		r.Directories = append(r.Directories, in.binDir())
	}
	return r, nil
}

// withoutInstall returns the content of a file of the host's after an uninstall, nil when
// it is removed, and whether that is the content before the install to the byte.
func (in *Installer) withoutInstall(i int, h *host, book *manifest) (after []byte, restored bool, err error) {
	f, now := hostFiles[i], h.files[i]
	r := book.record(h.path(i))
	before, known := in.baseline(r)
	after = now
	if now != nil {
		after, err = in.without(f, now, before, known)
	}
	if err == nil && book != nil && len(book.Disabled) > 0 && i == atSettings && now != nil {
		after, err = enable(after, book.Disabled)
	}
	if err != nil || !known {
		return after, false, err
	}
	unchanged := r.Restore || book.State == installed && sameFile(r.After, now)
	same := sameJSON(after, before, f.empties...) || !r.Existed && f.isBlank(after)
	// An install that was killed has written no hash into r.After.
	if same && (unchanged || book.State == installing) {
		return before, true, nil
	}
	return after, false, nil
}

// enable returns settings in which the plugins that an install has disabled are enabled again: those
// that are still disabled.
func enable(data []byte, ids []string) ([]byte, error) {
	d, err := jsonscan.Parse(data)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if string(d.Get("enabledPlugins", id)) == "false" {
			if err := d.Set(json.RawMessage("true"), "enabledPlugins", id); err != nil {
				return nil, err
			}
		}
	}
	return d.Bytes(), nil
}

// installs returns the manifests of the other installs of this memory, of Claude Code and
// of other agents, whose configuration directory exists.
func (in *Installer) installs() []*manifest {
	return collect.Keep(manifestsIn(filepath.Dir(in.backups), in.backups), func(m *manifest) bool {
		_, err := os.Stat(m.ConfigDir)
		return err == nil
	})
}

// Uninstall removes claude-mem from the host: with the host's CLI, and by editing the
// files where that is missing or fails. The memory is not changed. A run that was killed
// is completed by the next one.
func (in *Installer) Uninstall(ctx context.Context) (*Removal, error) {
	return locked(ctx, in, in.sweep, in.PlanRemoval, func(r *Removal) {
		in.beginRemoval(r.book, r.Restored)
		for _, args := range r.Commands {
			err := in.command(ctx, args)
			if refused, ok := errors.AsType[*memory.Error](err); ok && in.failed == nil {
				r.Problems = append(r.Problems, refused.Message)
			} else {
				in.fail(err)
			}
		}
		in.removeEntries(r)
		in.removeCounters(r.host)
		in.removeOwn(ctx, r.Directories, r.book)
	})
}

// beginRemoval notes in the manifest, if there is one, that its install is being removed, and
// which files get their old bytes back, so that the next run completes what is killed.
func (in *Installer) beginRemoval(book *manifest, restored []string) {
	if book == nil {
		return
	}
	for _, path := range restored { // each has a record: else its old bytes are not known
		book.record(path).Restore = true
	}
	book.State = uninstalling
	in.do("write", in.manifestPath(), func() error { return in.writeManifest(book) })
}

// removeEntries gives the host's files the planned content. In a file that has changed
// since, it removes our entries.
func (in *Installer) removeEntries(r *Removal) {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		in.fail(err)
		return
	}
	for i, f := range hostFiles {
		path := h.path(i)
		after, _, err := in.withoutInstall(i, h, r.book)
		if err != nil {
			in.fail(broken(path, err))
		}
		for _, c := range r.Files {
			if c.Path == path && (sameJSON(after, c.After, f.empties...) || c.After == nil && f.isBlank(after)) {
				after = c.After // only the layout differs: the CLI's
			}
		}
		if r.host.files[i] == nil && f.isBlank(after) {
			after = nil // the CLI has created it
		}
		if sameBytes(after, h.files[i]) {
			continue
		}
		in.do("restore", path, func() error {
			if after == nil {
				return removeIfThere(atomicfile.BehindLinks(path))
			}
			return in.write(path, after, 0o600)
		})
	}
}

// programs returns the paths of the installed programs.
func (in *Installer) programs() []string {
	return []string{in.programPath(HookProgram), in.programPath(PluginName)}
}

// removePrograms removes the programs, and their directory when nothing else is in it.
// Windows cannot remove a program that runs, such as this one: it is renamed.
func (in *Installer) removePrograms() error {
	for _, path := range in.programs() {
		if err := removeIfThere(path); err != nil {
			if _, ok := setAside(path); !ok {
				return err
			}
		}
	}
	_ = os.Remove(in.binDir()) // only when it is empty
	return nil
}

// removeOwn removes directories of our own files, of which binDir only loses our programs, then the
// manifest and the backups that nobody needs (book may be nil). The worker is stopped first if its
// program goes.
func (in *Installer) removeOwn(ctx context.Context, dirs []string, book *manifest) {
	if in.failed == nil {
		in.failed = in.step("stop the worker")
	}
	if in.failed == nil && in.opts.StopWorker != nil && (slices.Contains(dirs, in.shop) || slices.Contains(dirs, in.binDir())) {
		if err := in.opts.StopWorker(ctx); err != nil {
			in.failed = fmt.Errorf("stop the worker: %w", err)
		}
	}
	for _, dir := range dirs {
		remove := func() error { return os.RemoveAll(dir) }
		if dir == in.binDir() {
			remove = in.removePrograms
		}
		in.do("remove", dir, remove)
	}
	// At last the manifest, and the backups that nobody needs.
	in.do("remove", in.manifestPath(), func() error {
		if err := removeIfThere(in.manifestPath()); err != nil {
			return err
		}
		if book != nil {
			in.removeBackups(book)
		}
		_ = os.Remove(in.backups)               // only when it is empty
		_ = os.Remove(filepath.Dir(in.backups)) // only when it is empty
		return nil
	})
}

// removeBackups removes the backups of the files that have the backed up bytes again. Any
// other backup stays, for the user.
func (in *Installer) removeBackups(book *manifest) {
	for _, f := range book.Files {
		if f.Backup == "" {
			continue
		}
		if hash, _, err := hashFile(f.Path); err == nil && hash == f.Before {
			_ = os.Remove(filepath.Join(in.backups, filepath.Base(f.Backup)))
		}
	}
}

// changedMeanwhile returns the error of a file that another program wrote between our
// reading and our writing.
func changedMeanwhile(path string) error {
	return memory.Errorf(memory.CodeConflict, "%s was changed by another program just now", path).
		WithHint("run the command again; nothing of it was overwritten")
}

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
	names = append(names, collect.Keep(slices.Clone(d.Keys("skillUsage")), func(skill string) bool {
		return strings.HasPrefix(skill, PluginName+":") && d.Remove("skillUsage", skill)
	})...)
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
func (in *Installer) removeCounters(h *host) {
	path := in.statePath()
	in.do("remove counters from", path, func() error {
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
