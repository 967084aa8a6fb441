package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claudemem"
	"claudemem/glob"
	"claudemem/repo"
	"claudemem/toolcall"
)

// maxHashed is the size up to which a file is hashed, in bytes.
const maxHashed = 1 << 20

// maxPath bounds the paths that are kept, in bytes.
const maxPath = 4096

// Worktree is the directory in which files are hashed. It opens no file outside
// itself, not through links either.
type Worktree interface {
	// OpenFile opens a file by its path relative to the worktree, for reading. It
	// does not wait for the writer of a FIFO.
	OpenFile(name string) (fs.File, error)
	Close() error
}

type osWorktree struct{ root *os.Root }

// openWorktree opens a worktree's root, outside of which nothing is read.
func openWorktree(root string) (Worktree, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return osWorktree{r}, nil
}

func (w osWorktree) OpenFile(name string) (fs.File, error) {
	return w.root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
}

func (w osWorktree) Close() error { return w.root.Close() }

// files returns the files that a tool event touched; none when the tool failed.
func (in *Intake) files(e *claudemem.Event, call *toolcall.Call, withheld glob.Set) []claudemem.FileRef {
	file := call.File
	if file == "" || call.Role == "" {
		return nil
	}
	ref := claudemem.FileRef{Role: call.Role}
	safe := clean(file)
	if safe == file {
		ref.Path = repo.Relative(e.WorktreeRoot, e.Cwd, file)
	} else {
		// Masked before it is made relative, which can break a secret into parts that
		// no rule knows. The file itself cannot be found any more.
		ref.Path = repo.Relative(clean(e.WorktreeRoot), clean(e.Cwd), safe)
	}
	if safe == "" || ref.Path == "." || len(ref.Path) > maxPath || strings.ContainsAny(ref.Path, "\x00\n") {
		return nil
	}
	path := ref.Path
	ref.Path = clean(path) // cwd may hold a secret too
	// A masked path names no file that anybody could compare with later.
	if safe == file && ref.Path == path && !withheld.File(file, e.Cwd) {
		ref.Hash = in.hash(e, path)
	}
	return []claudemem.FileRef{ref}
}

// hash returns the SHA-256 of a file in the worktree as it was at the event; "" when
// it is outside, no regular file, over maxHashed, gone, or changed since.
func (in *Intake) hash(e *claudemem.Event, relative string) string {
	name := filepath.FromSlash(relative)
	if e.WorktreeRoot == "" || !filepath.IsLocal(name) {
		return ""
	}
	tree, err := in.opts.Open(e.WorktreeRoot)
	if err != nil {
		return ""
	}
	defer func() { _ = tree.Close() }() // opened for reading only
	f, err := tree.OpenFile(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading only
	before, err := f.Stat()
	if err != nil || !before.Mode().IsRegular() || before.Size() > maxHashed ||
		claudemem.MillisOf(before.ModTime()) > e.OccurredAt {
		return ""
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxHashed+1))
	if err != nil || n > maxHashed {
		return ""
	}
	after, err := f.Stat()
	if err != nil || after.Size() != n || !after.ModTime().Equal(before.ModTime()) {
		return "" // it was written to meanwhile
	}
	return hex.EncodeToString(h.Sum(nil))
}
