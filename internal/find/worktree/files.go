package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// maxHashed is the size up to which intake hashes a file, in bytes.
	maxHashed = 1 << 20
	// maxFiles and maxRead (bytes) bound one Compare: a stat of a file takes about
	// 10 µs, reading a megabyte about 1 ms. The state of further files is unknown.
	maxFiles = 256
	maxRead  = 32 << 20
	// maxOutlined bounds the source whose symbols one Compare reads, in bytes: 20 MB take a
	// second. The next call goes on, since the answers are cached.
	maxOutlined = 256 << 10
	// minAge is the age from which on a file's size and time identify its content:
	// the coarsest file systems count in steps of 2 s.
	minAge = 2 * time.Second
)

// fileKey names a file.
type fileKey struct{ root, path string }

// sum is the hash of a file with the size and time that the file had then.
type sum struct {
	size    int64
	written time.Time
	hash    string
}

// Compare implements recall.WorkTree: it returns a state for each of the files, in their order,
// which is FileUnknown for all if root is no directory that can be opened. It waits while
// atOnce other calls run. The only error is the context's.
func (t *Tree) Compare(ctx context.Context, root string, files []memory.FileRef) ([]memory.FileState, error) {
	states := make([]memory.FileState, len(files))
	if !filepath.IsAbs(root) {
		return states, nil
	}
	select {
	case t.files <- struct{}{}:
		defer func() { <-t.files }()
	case <-ctx.Done():
		return nil, fmt.Errorf("compare files: %w", ctx.Err())
	}
	if !openfile.IsDir(root) { // OpenRoot would wait for the writer of a FIFO.
		return states, nil // Gone as a whole, or moved: that says nothing about its files.
	}
	dir, err := openfile.Root(root)
	if err != nil {
		return states, nil
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	c := comparison{Tree: t, root: root, dir: dir, left: maxRead, toOutline: maxOutlined, seen: map[string]finding{}}
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
	root string
	dir  *os.Root
	left int64 // bytes that may still be read
	// toOutline is how many bytes of source may still be read for their symbols; the last
	// file may go beyond.
	toOutline int
	seen      map[string]finding
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
func (c *comparison) state(f memory.FileRef) memory.FileState {
	name := filepath.FromSlash(f.Path)
	if f.Hash == "" || !filepath.IsLocal(name) {
		return memory.FileUnknown
	}
	now, ok := c.seen[name]
	if !ok {
		if len(c.seen) == maxFiles {
			return memory.FileUnknown
		}
		now = c.find(name)
		c.seen[name] = now
	}
	switch {
	case now.gone:
		return memory.FileGone
	case now.hash == f.Hash:
		return memory.FileSame
	case now.hash != "" && len(f.Symbols) > 0:
		return c.symbolState(name, now.hash, f)
	case now.large, now.hash != "": // Of a large one no hash was taken.
		return memory.FileChanged
	default:
		return memory.FileUnknown
	}
}

// symbolState returns whether the symbols that a record is about still have their code in
// a file that has changed. FileUnknown when the file does not parse, or when too much has
// been read.
func (c *comparison) symbolState(name, hash string, f memory.FileRef) memory.FileState {
	key := fileKey{hash, f.Path} // equal content has equal symbols in any root; the path tells the language
	c.mu.Lock()
	now, ok := c.outlines[key]
	c.mu.Unlock()
	if !ok {
		if c.toOutline <= 0 {
			return memory.FileUnknown
		}
		content, _, err := openfile.Within(c.dir, name, maxHashed)
		if err != nil {
			return memory.FileUnknown
		}
		c.toOutline -= len(content)
		now.hashes, now.whole = symbols.HashesOf(f.Path, content)
		if contentHash(content) == hash {
			c.mu.Lock()
			if len(c.outlines) >= maxOutlines {
				clear(c.outlines)
			}
			c.outlines[key] = now
			c.mu.Unlock()
		}
	}
	for _, s := range f.Symbols {
		if now.hashes[s] {
			continue
		}
		if !now.whole {
			return memory.FileUnknown
		}
		return memory.FileChanged
	}
	return memory.FileSame
}

// outlined is what a file declares; whole is false when it does not parse.
type outlined struct {
	hashes map[memory.SymbolHash]bool
	whole  bool
}

// find returns the state of a file. It hashes the file unless size and time are
// those that it had when it was hashed last.
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
	content, written, err := openfile.Within(c.dir, name, maxHashed)
	if err != nil { // or it changes meanwhile
		return finding{}
	}
	now := sum{int64(len(content)), written, contentHash(content)}
	if c.opts.Clock().Sub(written) > minAge {
		c.mu.Lock()
		if len(c.sums) >= maxSums {
			clear(c.sums) // The files are hashed again; that is simpler than finding the oldest.
		}
		c.sums[key] = now
		c.mu.Unlock()
	}
	return finding{hash: now.hash}
}

// contentHash returns the SHA-256 of a file's content as intake takes it.
func contentHash(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}
