package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem"
	"claudemem/atomicfile"
)

// Install does what Plan says, after reading anew what is there: another install
// may have come between. It returns the plan that was carried out. A run that is
// cut short anywhere is completed by the next one, or undone by Uninstall.
func (in *Installer) Install(ctx context.Context, wish Wish) (*Plan, error) {
	unlock, err := in.takeLock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	in.sweep()
	p, err := in.Plan(wish)
	if err != nil || p.Empty() {
		return p, err
	}
	book, err := in.open(p)
	if err != nil {
		return p, err
	}
	for _, c := range p.Plugin {
		err := in.does("write "+filepath.Base(c.Path), func() error { return in.place(c) })
		if err != nil {
			return p, err
		}
	}
	for _, args := range p.Commands {
		if err := in.command(ctx, args); err != nil {
			return p, err
		}
	}
	if err := in.settle(p); err != nil {
		return p, err
	}
	if err := in.verify(p); err != nil {
		return p, err
	}
	return p, in.does("close manifest", func() error { return in.close(book) })
}

// open writes the manifest and the backups, before anything is changed.
func (in *Installer) open(p *Plan) (*manifest, error) {
	book := &manifest{ConfigDir: p.ConfigDir, Method: p.Method, State: installing, Plugin: p.Version}
	if p.book != nil {
		book.Disabled = p.book.Disabled
	}
	for _, id := range p.Disable {
		if !slices.Contains(book.Disabled, id) {
			book.Disabled = append(book.Disabled, id)
		}
	}
	err := in.does("back up", func() error {
		for i, f := range hostFiles {
			path, now := p.host.path(i), p.host.files[i]
			old := p.book.record(path)
			before, known := in.baseline(old)
			bare, err := in.bare(f, now, before, known)
			if err != nil {
				return broken(path, err)
			}
			// What was written at the first install holds as long as nobody else
			// has changed the file; else it is what the file is now, without us.
			if known && (sameFile(old.After, now) || p.book.State != installed && sameJSON(bare, before, f.empties...)) {
				book.Files = append(book.Files, *old)
				continue
			}
			r, err := in.keep(path, bare)
			if err != nil {
				return err
			}
			book.Files = append(book.Files, r)
		}
		return in.writeManifest(book)
	})
	return book, err
}

// bare is a file without us; nil when there was none and nothing else is in it.
func (in *Installer) bare(f hostFile, now, before []byte, known bool) ([]byte, error) {
	if now == nil {
		return nil, nil
	}
	bare, err := in.without(f, now, before, known)
	if err != nil {
		return nil, err
	}
	if known && before == nil && string(bare) != string(now) && f.isBlank(bare) {
		return nil, nil
	}
	return bare, nil
}

func sameFile(hash string, now []byte) bool {
	return now == nil && hash == "" || now != nil && hash == hashOf(now)
}

// place writes or removes a file of our marketplace.
func (in *Installer) place(c Change) error {
	if c.Do == DoRemove {
		if err := removeIfThere(c.Path); err != nil {
			return storage("remove", c.Path, err)
		}
		_ = os.Remove(filepath.Dir(c.Path)) // only when it is empty now
		return nil
	}
	if err := c.file.write(c.Path); err != nil {
		return storage("write", c.Path, err)
	}
	return nil
}

// settle gives settings.json the bytes that were shown: the host's CLI has made
// the same change, and written the whole file in its own layout. When anything
// else has changed in it meanwhile, it is left as it is.
func (in *Installer) settle(p *Plan) error {
	for _, c := range p.Files {
		now, err := readUserFile(c.Path)
		if err != nil {
			return err
		}
		if sameBytes(now, c.After) || p.Method == MethodPlugin && !sameJSON(now, c.After, hostFiles[atSettings].empties...) {
			continue
		}
		if p.Method == MethodSettings && !sameBytes(now, c.Before) {
			return changedMeanwhile(c.Path)
		}
		err = in.does("write "+filepath.Base(c.Path), func() error {
			if err := in.write(c.Path, c.After, 0o600); err != nil {
				return storage("write", c.Path, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verify looks whether the host's CLI has done what it was asked to.
func (in *Installer) verify(p *Plan) error {
	if p.Method != MethodPlugin {
		return nil
	}
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return err
	}
	is := in.entries(h)
	if is.version == p.Version && is.enabled && in.samePath(is.known, in.shop) {
		return nil
	}
	return claudemem.Errorf(claudemem.CodeUnavailable, "the claude command reported success, but its files do not list %s %s as installed and enabled", PluginID, p.Version).
		WithHint("`claude plugin list` shows what it knows; `claude-mem install --settings` needs no plugin")
}

// close notes what the files are now.
func (in *Installer) close(book *manifest) error {
	for i := range book.Files {
		data, err := readUserFile(book.Files[i].Path)
		if err != nil {
			return err
		}
		book.Files[i].After = ""
		if data != nil {
			book.Files[i].After = hashOf(data)
		}
	}
	book.State = installed
	return in.writeManifest(book)
}

// sweep removes what a run that died or a program that ran has left behind.
func (in *Installer) sweep() {
	for i := range hostFiles {
		atomicfile.RemoveLeftovers(filepath.Join(in.opts.ConfigDir, hostFiles[i].name))
	}
	removeAll(filepath.Join(in.binDir(), "*"+asideSuffix+"*"))
	removeAll(filepath.Join(in.backups, ".*.claude-mem-*"))
}

// removeAll removes the files of a pattern; what cannot be removed stays. A
// directory name with a bracket in it matches nothing, which harms nothing.
func removeAll(pattern string) {
	if strings.ContainsAny(filepath.Dir(pattern), `*?[`) {
		return
	}
	found, _ := filepath.Glob(pattern) // the pattern is well formed
	for _, path := range found {
		_ = os.Remove(path) // it is in nobody's way
	}
}
