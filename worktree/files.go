package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claudemem"
)

const (
	// maxHashed is the size up to which intake hashes a file, in bytes.
	maxHashed = 1 << 20
	// maxFiles and maxRead bound what one question may cost: a stat of a file takes
	// about 10 µs, a megabyte about 1 ms. What is beyond them is unknown.
	maxFiles = 256
	maxRead  = 32 << 20
	// settled is the age of a file from which on its size and time identify its
	// content: the coarsest file systems count in steps of 2 s.
	settled = 2 * time.Second
)

// fileKey names a file, sum is what was found in it.
type fileKey struct{ root, path string }
type sum struct {
	size    int64
	written time.Time
	hash    string
}

// Compare implements recall.WorkTree. The only error is the context's.
func (t *Tree) Compare(ctx context.Context, root string, files []claudemem.FileRef) ([]claudemem.FileState, error) {
	states := make([]claudemem.FileState, len(files))
	if !filepath.IsAbs(root) {
		return states, nil
	}
	select {
	case t.files <- struct{}{}:
		defer func() { <-t.files }()
	case <-ctx.Done():
		return nil, fmt.Errorf("compare files: %w", ctx.Err())
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return states, nil // Gone as a whole, or moved: that tells nothing of its files.
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return states, nil
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	c := comparison{Tree: t, ctx: ctx, root: root, dir: dir, left: maxRead, seen: map[string]finding{}}
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("compare files: %w", err)
		}
		states[i] = c.state(f)
	}
	return states, nil
}

// comparison is one Compare call.
type comparison struct {
	*Tree
	ctx  context.Context
	root string
	dir  *os.Root
	left int64 // bytes that may still be read
	seen map[string]finding
}

// finding is the state of a file now: its hash, missing, too large to be hashed,
// or unknown.
type finding struct {
	hash        string
	gone, large bool
}

// state returns whether f still has the content of its hash. It is FileUnknown for a
// reference without a hash, a path that leaves the root, and beyond maxFiles different
// files.
func (c *comparison) state(f claudemem.FileRef) claudemem.FileState {
	name := filepath.FromSlash(f.Path)
	if f.Hash == "" || !filepath.IsLocal(name) {
		return claudemem.FileUnknown
	}
	now, ok := c.seen[name]
	if !ok {
		if len(c.seen) == maxFiles {
			return claudemem.FileUnknown
		}
		now = c.find(name)
		c.seen[name] = now
	}
	switch {
	case now.gone:
		return claudemem.FileGone
	case now.hash == f.Hash:
		return claudemem.FileSame
	case now.large, now.hash != "": // Of a large one no hash was taken.
		return claudemem.FileChanged
	default:
		return claudemem.FileUnknown
	}
}

// find looks at a file, and reads it unless it is as it was when it was last read.
func (c *comparison) find(name string) finding {
	info, err := c.dir.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{gone: true}
	case err != nil || !info.Mode().IsRegular():
		return finding{}
	case info.Size() > maxHashed:
		return finding{large: true}
	}
	key := fileKey{c.root, name}
	c.mu.Lock()
	known, ok := c.sums[key]
	c.mu.Unlock()
	if ok && known.size == info.Size() && known.written.Equal(info.ModTime()) {
		return finding{hash: known.hash}
	}
	if c.left -= info.Size(); c.left < 0 {
		return finding{}
	}
	now, ok := c.read(name)
	if !ok {
		return finding{}
	}
	if age := c.opts.Clock().Sub(now.written); age > settled {
		c.mu.Lock()
		if len(c.sums) >= maxSums {
			clear(c.sums) // They are read again; that is simpler than to know the oldest.
		}
		c.sums[key] = now
		c.mu.Unlock()
	}
	return finding{hash: now.hash}
}

// read takes a file's hash; not of one that somebody writes to meanwhile.
func (c *comparison) read(name string) (sum, bool) {
	f, err := c.dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return sum{}, false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	before, err := f.Stat()
	if err != nil || !before.Mode().IsRegular() {
		return sum{}, false
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(&patient{c.ctx, f}, maxHashed+1))
	if err != nil {
		return sum{}, false
	}
	after, err := f.Stat()
	if err != nil || after.Size() != n || !after.ModTime().Equal(before.ModTime()) {
		return sum{}, false
	}
	return sum{size: n, written: before.ModTime(), hash: hex.EncodeToString(h.Sum(nil))}, true
}

// patient reads as long as somebody waits for it.
type patient struct {
	ctx  context.Context
	from io.Reader
}

// Read fails with the context's error once that has ended.
func (p *patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.from.Read(b)
}
