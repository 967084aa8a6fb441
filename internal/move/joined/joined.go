// Package joined has what devices and team have in common: a memory that is joined with others by a place outside of it.
//
// Nouns: the file of a data directory says by which place the memory is joined, and as whom; the options of an exchange are what it
// takes from outside; an identity is what a project is called on all machines.
//
// Guarantees: a file is written whole, by its owner's account only readable; without one the memory is joined with nobody.
//
// Place in the flow: devices and team exchange records by what is here; daemon calls them.
package joined

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// File describes a file of a data directory, which says by what place the memory is joined with others.
type File struct {
	Name string
	// Absent is the error for a data directory without one, Mend the hint for one that cannot be read.
	Absent error
	Mend   string
}

// In reports whether a data directory has the file.
func (f *File) In(dataDir string) bool {
	_, err := os.Lstat(filepath.Join(dataDir, f.Name))
	return err == nil
}

// Check returns Absent for a data directory that does not have the file.
func (f *File) Check(dataDir string) error {
	if f.In(dataDir) {
		return nil
	}
	return f.Absent
}

// Load reads the file of a data directory into config. Absent if there is none, CodeStorage if it cannot be read.
func (f *File) Load(dataDir string, config any) error {
	content, err := openfile.Read(filepath.Join(dataDir, f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return f.Absent
	}
	if err == nil {
		err = json.Unmarshal(content, config)
	}
	if err != nil {
		return f.Unfit("cannot be read: " + err.Error())
	}
	return nil
}

// Unfit returns the error of a file that was read and is not as it should be.
func (f *File) Unfit(how string) error {
	return memory.Errorf(memory.CodeStorage, "%s %s", f.Name, how).WithHint(f.Mend)
}

// Save writes the file of a data directory, which it makes if need be.
func (f *File) Save(dataDir string, config any) error {
	content, err := json.MarshalIndent(config, "", "  ")
	if err == nil {
		err = os.MkdirAll(dataDir, 0o700)
	}
	if err == nil {
		err = atomicfile.WriteOwn(filepath.Join(dataDir, f.Name), append(content, '\n'), 0o600)
	}
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "write %s: %w", f.Name, err)
	}
	return nil
}

// Remove removes the file of a data directory. Absent if there is none.
func (f *File) Remove(dataDir string) error {
	err := os.Remove(filepath.Join(dataDir, f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return f.Absent
	}
	return err
}

// Options is what an exchange takes from outside. The device is this machine among the person's own ones, "" if it is the only one.
type Options struct {
	DataDir string
	// Identify returns the identity of a project's directory, "" for none.
	Identify func(project string) string
	Now      func() memory.Millis
	care.Sharing
}

// Store is what of the store each exchange uses.
type Store interface {
	ProjectPaths(ctx context.Context) ([]string, error)
	SetIdentities(ctx context.Context, device string, of map[string]string) error
	ProjectNames(ctx context.Context, project string) ([]string, error)
	SharedState(ctx context.Context, name string, value any) error
	KeepSharedState(ctx context.Context, state map[string]any) error
}

// IdentifyProjects gives the projects of this machine, and others that may have no records yet, their identities.
func (o *Options) IdentifyProjects(ctx context.Context, store Store, others ...string) error {
	paths, err := store.ProjectPaths(ctx)
	if err != nil {
		return err
	}
	identities := map[string]string{}
	for _, path := range append(paths, others...) {
		if identity := o.Identify(path); identity != "" {
			identities[path] = identity
		}
	}
	return store.SetIdentities(ctx, o.Device, identities)
}

// ProjectNames returns the identities of a project, none if it has none: what a person calls it, and what git tells.
func (o *Options) ProjectNames(ctx context.Context, store Store, project string) ([]string, error) {
	names, err := store.ProjectNames(ctx, project)
	return text.Add(names, o.Identify(project)), err
}
