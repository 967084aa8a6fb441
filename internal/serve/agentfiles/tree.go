package agentfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// maxFile bounds a file that gets a block, in bytes: a host would cut a larger one.
	maxFile = 1 << 20
	// maxFolders bounds the folders in which a sync looks for blocks; reading as many takes
	// about a second. Taking all blocks out looks into all folders.
	maxFolders = 20_000
)

// tree is the directory of a project. Nothing outside of it is read or written.
type tree struct {
	root *os.Root
	// dir is its path without symbolic links.
	dir string
	// dry: nothing is written; what could not be written is found.
	dry bool
}

// openTree opens the directory of a project. CodeInvalid for a directory whose files are
// not those of a project: the home directory and those above it, whose files hosts read in
// every project below, and a bare repository.
func openTree(dir string) (*tree, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) { // a project may be known by its label only
		return nil, memory.Errorf(memory.CodeNotFound, "there is no directory %s", dir).
			WithHint("--project names another project")
	}
	home, _ := os.UserHomeDir()
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	reason := ""
	switch {
	case real == filepath.Dir(real):
		reason = "the root of the file system"
	case real == home:
		reason = "the home directory"
	case strings.HasPrefix(home, real+string(filepath.Separator)):
		reason = "above the home directory"
	case exists(filepath.Join(real, "HEAD")) && exists(filepath.Join(real, "objects")) && exists(filepath.Join(real, "refs")):
		reason = "a git directory"
	}
	if reason != "" {
		return nil, memory.Errorf(memory.CodeInvalid, "no files are written into %s: it is %s", real, reason).
			WithHint("--project names another project")
	}
	root, err := openfile.Root(real)
	if err != nil {
		return nil, memory.Errorf(memory.CodeNotFound, "open %s: %w", real, err).WithHint("--project names another project")
	}
	return &tree{root: root, dir: real}, nil
}

// exists reports whether there is anything with this path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// locate returns the place of a file below the root, without symbolic links. It fails if
// a link leads out of the project or to nothing. A file that does not exist is where its
// name says, if its directory exists or mkdir says that it will.
func (t *tree) locate(name string, mkdir bool) (string, error) {
	full := filepath.Join(t.dir, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(full); err == nil {
			return name, errors.New("is a link to a file that does not exist")
		}
		if mkdir {
			return name, nil // os.Root refuses links in the path that lead out
		}
		if real, err = filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			real = filepath.Join(real, filepath.Base(full))
		}
	}
	if err != nil {
		return name, plain(err)
	}
	rel, err := filepath.Rel(t.dir, real)
	if err != nil || !filepath.IsLocal(rel) {
		return name, errors.New("is a link that leads out of the project")
	}
	return filepath.ToSlash(rel), nil
}

// read returns the content and the mode of a file; fs.ErrNotExist if there is none, another error
// for what is no regular file or larger than maxFile.
func (t *tree) read(name string) ([]byte, fs.FileMode, error) {
	info, err := t.root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	data, _, err := openfile.Within(t.root, name, maxFile)
	if errors.Is(err, openfile.ErrUnfit) {
		return nil, 0, errors.New("is no regular file, or larger than 1 MB, or being written")
	}
	return data, info.Mode(), err
}

// write replaces a file, which had the content old (nil: it did not exist), unless
// somebody has written to it since or protects it: these are errors. In a dry run it only looks
// whether it may.
func (t *tree) write(name string, data, old []byte, mode fs.FileMode) error {
	if err := t.mayChange(name, mode); err != nil || t.dry {
		return err
	}
	now, _, err := t.read(name)
	switch {
	case old == nil && !errors.Is(err, fs.ErrNotExist), old != nil && (err != nil || string(now) != string(old)):
		return errors.New("was written to at the same time")
	case old == nil:
		mode = 0o644
		if info, err := t.root.Stat(path.Dir(name)); err == nil { // a file of a private folder is private
			mode = info.Mode()&0o666 | 0o600
		}
	}
	return plain(atomicfile.WriteIn(t.root, filepath.FromSlash(name), data, mode.Perm()))
}

// mayChange fails for a file that its owner has made read-only, or whose directory is:
// a file can be replaced without the right to write to it.
func (t *tree) mayChange(name string, mode fs.FileMode) error {
	if mode != 0 && mode&0o222 == 0 {
		return errors.New("is read-only")
	}
	if info, err := t.root.Stat(path.Dir(name)); err == nil && info.Mode()&0o222 == 0 && runtime.GOOS != "windows" {
		return errors.New("is in a read-only folder")
	}
	return nil
}

// remove deletes a file and the last dirs directories of its path if they are empty.
func (t *tree) remove(name string, mode fs.FileMode, dirs int) error {
	if err := t.mayChange(name, mode); err != nil || t.dry {
		return err
	}
	if err := t.root.Remove(name); err != nil {
		return plain(err)
	}
	t.removeDirs(name, dirs)
	return nil
}

// removeDirs deletes the last dirs directories of a file's path as far as they are empty.
func (t *tree) removeDirs(name string, dirs int) {
	for dir := path.Dir(name); dirs > 0 && dir != "."; dir, dirs = path.Dir(dir), dirs-1 {
		if t.root.Remove(dir) != nil {
			return // something else is in it
		}
	}
}

// mkdir makes the directory of a file and returns how many directories are new.
func (t *tree) mkdir(name string) (made int, err error) {
	dir := path.Dir(name)
	for d := dir; d != "."; d = path.Dir(d) {
		if _, err := t.root.Stat(d); errors.Is(err, fs.ErrNotExist) {
			made++
		}
	}
	if made == 0 {
		return 0, nil
	}
	return made, plain(t.root.MkdirAll(dir, 0o755))
}

// plain returns an error of the file system without the path and the operation.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be used: %w", p.Err)
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("cannot be replaced: %w", l.Err)
	}
	return err
}

// skipped reports whether no blocks are kept in folders of this name: they are not the
// project's own, or not for people.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor"
}

// fits reports whether a folder may have a block: it exists in the project, no link is on
// the way, and neither is a folder of others.
func (t *tree) fits(folder string) bool {
	at := ""
	for name := range strings.SplitSeq(folder, "/") {
		at = path.Join(at, name)
		if info, err := t.root.Lstat(at); skipped(name) || err != nil || !info.IsDir() {
			return false
		}
		if _, err := t.root.Lstat(path.Join(at, ".git")); err == nil {
			return false // another project
		}
	}
	return true
}

// marked returns the files of the project that may have a block, by their names and
// content, each once. all is false if there are more than limit folders, or ctx has ended.
func (t *tree) marked(ctx context.Context, limit int) (names []string, all bool) {
	look := func(name string) {
		at, err := t.locate(name, false)
		if err != nil || slices.Contains(names, at) {
			return // outside, or seen by another name
		}
		if data, _, err := t.read(at); err == nil && strings.Contains(string(data), beginMarker) {
			names = append(names, at)
		}
	}
	for _, name := range []string{claudeFile, agentsFile, cursorFile} {
		look(name) // in the letter case of the system
	}
	folders := []string{"."}
	for n := 0; n < len(folders); n++ {
		if n == limit || ctx.Err() != nil {
			return names, false
		}
		entries, _ := fs.ReadDir(t.root.FS(), folders[n]) // a folder that cannot be read has no block of ours
		isGit := func(e fs.DirEntry) bool { return e.Name() == ".git" }
		if n > 0 && slices.ContainsFunc(entries, isGit) {
			continue // another project
		}
		for _, e := range entries {
			switch name := path.Join(folders[n], e.Name()); {
			case e.IsDir() && !skipped(e.Name()):
				folders = append(folders, name)
			case e.Name() == claudeFile:
				look(name)
			}
		}
	}
	return names, true
}
