package install

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"claudemem"
	"claudemem/atomicfile"
	"claudemem/jsonscan"
)

// Removal is what an uninstall would do, and in the end what it did.
type Removal struct {
	ConfigDir string `json:"config_dir"`
	DataDir   string `json:"data_dir"`
	// Files are the user's, Restored those that are given back to the byte.
	Files    []Change `json:"files"`
	Restored []string `json:"restored"`
	// Uses are what the host has counted of us in its state.
	Uses []string `json:"uses"`
	// Commands are the arguments that the host's CLI is run with.
	Commands [][]string `json:"commands"`
	// Directories are of our own making.
	Directories []string `json:"directories"`
	// Enable are the plugins that an install had disabled.
	Enable []string `json:"enable"`
	// Elsewhere are the other configuration directories that still use the memory's programs.
	Elsewhere []string `json:"elsewhere"`
	// Problems are what the host's CLI refused; it was done without it.
	Problems []string `json:"problems"`

	host *host
	book *manifest
}

// Empty says that there is nothing of ours.
func (r *Removal) Empty() bool {
	return len(r.Files)+len(r.Uses)+len(r.Commands)+len(r.Directories) == 0 && r.book == nil
}

// PlanRemoval says what an uninstall would do; it changes nothing.
func (in *Installer) PlanRemoval() (*Removal, error) {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return nil, err
	}
	book, err := readManifest(in.backups)
	if err != nil {
		return nil, err
	}
	r := &Removal{
		ConfigDir: in.opts.ConfigDir, DataDir: in.opts.DataDir, host: h, book: book,
		Files: []Change{}, Restored: []string{}, Commands: [][]string{}, Directories: []string{}, Enable: []string{}, Elsewhere: []string{}, Problems: []string{},
	}
	for i := range hostFiles {
		after, restored, err := in.afterwards(i, h, book)
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
	r.Uses, _ = in.uses(h)
	if book != nil {
		for _, id := range book.Disabled {
			if string(h.docs[atSettings].Get("enabledPlugins", id)) == "false" {
				r.Enable = append(r.Enable, id)
			}
		}
	}
	is := in.entries(h)
	// Never `plugin uninstall`: CLI 2.1.197 goes by the name before the @ and takes
	// the plugin of another marketplace. With its marketplace ours goes too, alone.
	if in.opts.CLI != nil && is.known != "" {
		r.Commands = append(r.Commands, []string{"plugin", "marketplace", "remove", Marketplace})
	}
	r.Elsewhere = in.elsewhere()
	dirs := []string{
		filepath.Join(in.opts.ConfigDir, "plugins", "cache", Marketplace),
		// The plugin's own data, which the host makes for every plugin; we keep nothing there.
		filepath.Join(in.opts.ConfigDir, "plugins", "data", PluginName+"-"+Marketplace),
	}
	if len(r.Elsewhere) == 0 {
		dirs = append(dirs, in.shop)
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err == nil {
			r.Directories = append(r.Directories, dir)
		}
	}
	if len(r.Elsewhere) == 0 && slices.ContainsFunc(in.programs(), exists) {
		r.Directories = append(r.Directories, in.binDir())
	}
	return r, nil
}

// afterwards is what a file of the host's shall be without us, and whether that
// is what it was before us to the byte.
func (in *Installer) afterwards(i int, h *host, book *manifest) (after []byte, restored bool, err error) {
	f, now := hostFiles[i], h.files[i]
	r := book.record(h.path(i))
	before, known := in.baseline(r)
	bare := now
	if now != nil {
		if bare, err = in.without(f, now, before, known); err != nil {
			return nil, false, err
		}
	}
	if book != nil && len(book.Disabled) > 0 && i == atSettings && now != nil {
		if bare, err = enable(bare, book.Disabled); err != nil {
			return nil, false, err
		}
	}
	if !known {
		return bare, false, nil
	}
	unchanged := r.Restore || book.State == installed && sameFile(r.After, now)
	same := sameJSON(bare, before, f.empties...) || !r.Existed && f.isBlank(bare)
	// An install that was cut short has written no hash of afterwards.
	if same && (unchanged || book.State == installing) {
		return before, true, nil
	}
	return bare, false, nil
}

// enable undoes what an install disabled.
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

// elsewhere lists the other configuration directories that we are installed in.
func (in *Installer) elsewhere() []string {
	list := []string{}
	all := filepath.Dir(in.backups)
	entries, _ := os.ReadDir(all) // not there: nowhere
	for _, e := range entries {
		dir := filepath.Join(all, e.Name())
		if dir == in.backups {
			continue
		}
		if m, err := readManifest(dir); err == nil && m != nil {
			if _, err := os.Stat(m.ConfigDir); err == nil {
				list = append(list, m.ConfigDir)
			}
		}
	}
	return list
}

// Uninstall takes us out of the host, by its CLI where there is one and by hand
// where that is missing or refuses. The memory is not touched. A run that was
// cut short is completed by the next one.
func (in *Installer) Uninstall(ctx context.Context) (*Removal, error) {
	unlock, err := in.takeLock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	in.sweep()
	r, err := in.PlanRemoval()
	if err != nil || r.Empty() {
		return r, err
	}
	if r.book != nil {
		// What was unchanged now is so even after the CLI has rewritten it.
		err := in.does("open manifest", func() error {
			for i := range r.book.Files {
				for _, path := range r.Restored {
					if r.book.Files[i].Path == path {
						r.book.Files[i].Restore = true
					}
				}
			}
			r.book.State = uninstalling
			return in.writeManifest(r.book)
		})
		if err != nil {
			return r, err
		}
	}
	for _, args := range r.Commands {
		err := in.command(ctx, args)
		var refused *claudemem.Error
		switch {
		case errors.As(err, &refused):
			r.Problems = append(r.Problems, refused.Message)
		case err != nil:
			return r, err
		}
	}
	if err := in.takeOut(r); err != nil {
		return r, err
	}
	if err := in.forgetUses(r.host); err != nil {
		return r, err
	}
	return r, in.clear(ctx, r)
}

// takeOut gives the files the content that was planned. Where something else
// has changed in one since, what is ours is taken out of that.
func (in *Installer) takeOut(r *Removal) error {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return err
	}
	for i, f := range hostFiles {
		after, _, err := in.afterwards(i, h, r.book)
		if err != nil {
			return broken(h.path(i), err)
		}
		for _, c := range r.Files {
			if c.Path == h.path(i) && (sameJSON(after, c.After, f.empties...) || c.After == nil && f.isBlank(after)) {
				after = c.After // the CLI has only written it in its own layout
			}
		}
		if r.host.files[i] == nil && f.isBlank(after) {
			after = nil // the CLI has made it
		}
		if sameBytes(after, h.files[i]) {
			continue
		}
		err = in.does("take out of "+filepath.Base(h.path(i)), func() error {
			if after == nil {
				if err := removeIfThere(atomicfile.BehindLinks(h.path(i))); err != nil {
					return storage("remove", h.path(i), err)
				}
				return nil
			}
			if err := in.write(h.path(i), after, 0o600); err != nil {
				return storage("write", h.path(i), err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// programs returns the paths of the installed programs.
func (in *Installer) programs() []string {
	return []string{in.programPath(HookProgram), in.programPath(PluginName)}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removePrograms removes the programs, and their directory when nothing else is in it.
// One that runs is set aside where it cannot be removed: on Windows this is the
// program that does it.
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

// clear removes what is our own, the manifest last.
func (in *Installer) clear(ctx context.Context, r *Removal) error {
	err := in.does("stop the worker", func() error {
		if in.opts.StopWorker == nil || !slices.Contains(r.Directories, in.shop) && !slices.Contains(r.Directories, in.binDir()) {
			return nil
		}
		return in.opts.StopWorker(ctx)
	})
	if err != nil {
		return err
	}
	for _, dir := range r.Directories {
		err := in.does("remove "+filepath.Base(dir), func() error {
			remove := func() error { return os.RemoveAll(dir) }
			if dir == in.binDir() {
				remove = in.removePrograms
			}
			if err := remove(); err != nil {
				return storage("remove", dir, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return in.does("remove manifest", func() error {
		if err := removeIfThere(filepath.Join(in.backups, "manifest.json")); err != nil {
			return storage("remove", in.backups, err)
		}
		if r.book != nil {
			// The backup of a file that was given back is that file.
			for _, f := range r.book.Files {
				if f.Restore && f.Backup != "" {
					_ = os.Remove(filepath.Join(in.backups, filepath.Base(f.Backup))) // it harms nobody
				}
			}
		}
		_ = os.Remove(in.backups)               // only when it is empty
		_ = os.Remove(filepath.Dir(in.backups)) // only when it is empty
		return nil
	})
}

// changedMeanwhile is a file that another program wrote between our reading and
// our writing.
func changedMeanwhile(path string) error {
	return claudemem.Errorf(claudemem.CodeConflict, "%s was changed by another program just now", path).
		WithHint("run the command again; nothing of it was overwritten")
}
