package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Install makes the changes of a new Plan and returns it. It plans again because
// another install may have run since the user saw a plan. A run that is killed anywhere
// is completed by the next one, or undone by Uninstall.
func (in *Installer) Install(ctx context.Context, wish Wish) (*Plan, error) {
	return locked(ctx, in, in.sweep, func() (*Plan, error) { return in.Plan(wish) }, func(p *Plan) {
		book := in.backUp(p)
		for _, c := range p.Plugin {
			in.do("write", c.Path, c.apply)
		}
		for _, args := range p.Commands {
			in.fail(in.command(ctx, args))
		}
		in.writeUserFiles(p)
		in.verify(p)
		in.do("complete", in.manifestPath(), func() error { return in.complete(book) })
	})
}

// locked makes a plan and carries it out by do while no other install runs, after sweep has
// removed what killed runs have left. It does nothing for an empty plan.
func locked[P interface{ Empty() bool }](ctx context.Context, in *Installer, sweep func(), plan func() (P, error), do func(P)) (p P, err error) {
	unlock, err := in.takeLock(ctx)
	if err != nil {
		return p, err
	}
	defer unlock()
	sweep()
	if p, err = plan(); err != nil || p.Empty() {
		return p, err
	}
	in.failed = nil
	do(p)
	return p, in.failed
}

// backUp writes the backups and the manifest, before anything is changed. A backup is the file
// without our entries; that of an earlier install stays while only we have changed the file.
func (in *Installer) backUp(p *Plan) *manifest {
	book := &manifest{ConfigDir: p.ConfigDir, Method: p.Method, State: installing, Plugin: p.Version}
	if p.book != nil {
		book.Disabled = p.book.Disabled
	}
	book.Disabled = text.Add(slices.Clip(book.Disabled), p.Disable...)
	in.do("write", in.manifestPath(), func() error {
		for i, f := range hostFiles {
			path, now := p.host.path(i), p.host.files[i]
			old := p.book.record(path)
			before, known := in.baseline(old)
			without, err := bare(now, before, known, f.isBlank, func() ([]byte, error) { return in.without(f, now, before, known) })
			if err != nil {
				return broken(path, err)
			}
			valid := known && (sameFile(old.After, now) || p.book.State != installed && sameJSON(without, before, f.empties...))
			if err := in.backUpFile(book, path, without, old, valid); err != nil {
				return err
			}
		}
		return in.writeManifest(book)
	})
	return book
}

// backUpFile notes a file in the manifest. The backup of the first install, whose record is
// old, is valid until another program changes the file; then the backup is the file as it is
// now, without our entries.
func (in *Installer) backUpFile(book *manifest, path string, without []byte, old *record, valid bool) error {
	if valid {
		kept := *old
		kept.Restore = false // of an uninstall that was killed
		book.Files = append(book.Files, kept)
		return nil
	}
	r, err := in.keep(path, without)
	book.Files = append(book.Files, r)
	return err
}

// bare returns a file without our entries, which strip takes out; nil when it does not exist, or did
// not exist before the install (known, and before is nil) and has no other entries.
func bare(now, before []byte, known bool, isBlank func([]byte) bool, strip func() ([]byte, error)) ([]byte, error) {
	if now == nil {
		return nil, nil
	}
	without, err := strip()
	if err == nil && known && before == nil && string(without) != string(now) && isBlank(without) {
		return nil, nil
	}
	return without, err
}

func sameFile(hash string, now []byte) bool {
	return now == nil && hash == "" || now != nil && hash == hashOf(now)
}

// apply writes or removes a file of our own.
func (c Change) apply() error {
	if c.Do != DoRemove {
		return c.file.write(c.Path)
	}
	err := removeIfThere(c.Path)
	_ = os.Remove(filepath.Dir(c.Path)) // only when it is empty now
	return err
}

// writeUserFiles writes the user's files as the plan shows them. The host's CLI has
// made the same change to settings.json already, but in its own layout, and without the
// path of a marketplace that was declared elsewhere. A file that another program has
// changed meanwhile stays as it is.
func (in *Installer) writeUserFiles(p *Plan) {
	for _, c := range p.Files {
		now, err := readUserFile(c.Path)
		in.fail(err)
		switch {
		case sameBytes(now, c.After), p.Method == MethodPlugin && !in.saysSame(now, c.After):
		case p.Method == MethodSettings && !sameBytes(now, c.Before):
			in.fail(changedMeanwhile(c.Path))
		default:
			in.do("write", c.Path, func() error { return in.write(c.Path, c.After, 0o600) })
		}
	}
}

// saysSame reports whether now, the settings.json that the host's CLI has written, says what after
// says, but for the layout and the path of our marketplace: then after may take its place. false if
// another program has changed more. With MethodPlugin no other file is planned. A missing file counts
// as an empty one.
func (in *Installer) saysSame(now, after []byte) bool {
	d, err := jsonscan.Parse(now)
	if err != nil {
		return false
	}
	if d.Find("extraKnownMarketplaces", Marketplace) != nil && in.declare(d) != nil {
		return false
	}
	return sameJSON(d.Bytes(), after, hostFiles[atSettings].empties...)
}

// verify checks that the host's files list the plugin as installed and enabled: the
// host's CLI may report success without that.
func (in *Installer) verify(p *Plan) {
	if p.Method != MethodPlugin || in.failed != nil {
		return
	}
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		in.failed = err
	} else if is := in.entries(h); is.version != p.Version || !is.enabled || !in.samePath(is.known, in.shop) {
		in.failed = memory.Errorf(memory.CodeUnavailable, "the claude command reported success, but its files do not list %s %s as installed and enabled", PluginID, p.Version).
			WithHint("`claude plugin list` shows what it knows; `claude-mem install --settings` needs no plugin")
	}
}

// complete writes the hashes of the changed files into the manifest.
func (in *Installer) complete(book *manifest) error {
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

// sweep removes the temporary files of a killed run and the programs that could not be
// removed while they were running.
func (in *Installer) sweep() {
	for i := range hostFiles {
		atomicfile.RemoveLeftovers(filepath.Join(in.opts.ConfigDir, hostFiles[i].name))
	}
	atomicfile.RemoveLeftovers(in.statePath())
	in.sweepOwn()
}

// sweepOwn does so for our own files.
func (in *Installer) sweepOwn() {
	for _, path := range in.programs() {
		atomicfile.RemoveLeftovers(path)
	}
	removeAll(in.binDir(), "*"+asideSuffix+"*")
	removeAll(in.backups, ".*.claude-mem-*")
}

// removeAll removes the files in dir whose names match pattern. A file that cannot be
// removed stays, which harms nothing.
func removeAll(dir, pattern string) {
	entries, _ := os.ReadDir(dir) // missing: nothing to remove
	for _, e := range entries {
		if matches, _ := filepath.Match(pattern, e.Name()); matches {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
