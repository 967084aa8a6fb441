package repo

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what is read of git's index. A larger one is not understood.
const (
	maxIndex   = 128 << 20 // bytes
	maxIndexes = 8         // kept in memory
)

// Index has the paths of the files that git tracks in a worktree, in git's order.
type Index struct{ files []string }

// Has reports whether git tracks the file at a path relative to the worktree, or a file
// below it. The path has '/', is clean and not "."; letter case counts.
func (x *Index) Has(rel string) bool {
	i, found := slices.BinarySearch(x.files, rel)
	if !found {
		i, _ = slices.BinarySearch(x.files, rel+"/")
	}
	return found || i < len(x.files) && strings.HasPrefix(x.files[i], rel+"/")
}

// Indexes reads the indexes of worktrees and keeps them until they change. The zero value is
// ready; it is safe for concurrent use.
type Indexes struct {
	mu     sync.Mutex
	cached map[string]cachedIndex
}

type cachedIndex struct {
	written time.Time
	size    int64
	index   *Index
}

// Of returns the index of the worktree at root, an empty one before the first file was added,
// and nil for one that is not understood, too large or unreadable. isGit is false where root is
// no worktree's root. An index is read again when its time or size has changed; its users only
// read it.
func (c *Indexes) Of(root string) (index *Index, isGit bool) {
	w, ok := worktreeAt(root)
	if !ok {
		return nil, false
	}
	path := filepath.Join(w.gitDir, "index")
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return &Index{}, true
	}
	if err != nil || info.Size() > maxIndex {
		return nil, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.cached[path]; ok && k.size == info.Size() && k.written.Equal(info.ModTime()) {
		return k.index, true
	}
	if len(c.cached) >= maxIndexes || c.cached == nil {
		c.cached = map[string]cachedIndex{}
	}
	k := cachedIndex{written: info.ModTime(), size: info.Size()}
	data := []byte(readLimited(path, maxIndex))
	for _, idSize := range []int{20, 32} { // of SHA-1 and SHA-256: only one of them fits
		if files, ok := parseIndex(data, idSize); ok && k.index == nil {
			k.index = &Index{files}
		}
	}
	c.cached[path] = k
	return k.index, true
}

// parseIndex returns the paths of an index of version 2, 3 or 4 with object ids of a size in
// bytes. ok is false for any other form, such as an index that names another one which has a
// part of the files. The form is that of gitformat-index(5). The checksum at the end is not
// compared; a directory of a sparse index counts as one path with "/" at its end.
func parseIndex(data []byte, idSize int) (files []string, ok bool) {
	if len(data) < 12+idSize || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	fixed := 40 + idSize + 2 // times, device, inode, mode, owner and size; the id; flags
	if version < 2 || version > 4 || count > len(data)/fixed {
		return nil, false
	}
	rest, last := data[12:len(data)-idSize], ""
	files = make([]string, 0, count)
	for range count {
		size := fixed
		if len(rest) < size+3 {
			return nil, false
		}
		if rest[fixed-2]&0x40 != 0 { // has two more bytes of flags
			size += 2
		}
		kind, name, kept := rest[26]>>4, rest[size:], 0 // kind: the upper half byte of the mode
		if version == 4 {                               // a name cuts some bytes off the one before, and adds others
			cut, n := offset(name)
			if n == 0 || int(cut) > len(last) {
				return nil, false
			}
			name, size, kept = name[n:], size+n, len(last)-int(cut)
		}
		end := slices.Index(name, 0)
		// Kinds: regular file, symbolic link, submodule, directory of a sparse index.
		if end <= 0 && kept == 0 || kind != 8 && kind != 10 && kind != 14 && kind != 4 {
			return nil, false
		}
		path := last[:kept] + string(name[:max(end, 0)])
		if size += end + 1; version < 4 {
			size = (size + 7) &^ 7 // filled up to 8 bytes
		}
		if end < 0 || path < last || size > len(rest) {
			return nil, false
		}
		files, last, rest = append(files, path), path, rest[size:]
	}
	for len(rest) >= 8 && (rest[0] <= 'Z' || string(rest[:4]) == "sdir") { // extensions that may be skipped
		size := uint64(binary.BigEndian.Uint32(rest[4:]))
		if size > uint64(len(rest)-8) {
			return nil, false
		}
		rest = rest[8+size:]
	}
	return files, len(rest) == 0
}

// offset decodes a number as git's packs have it, in at most 5 bytes, and returns how many bytes it
// takes, 0 for none.
func offset(data []byte) (n uint64, size int) {
	for i, b := range data[:min(len(data), 5)] {
		if i > 0 {
			n++
		}
		if n = n<<7 | uint64(b&0x7f); b&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

// HasRef reports whether the repository of the worktree at root has a ref, named in full
// ("refs/heads/main").
func HasRef(root, ref string) bool {
	w, ok := worktreeAt(root)
	if !ok || !safeRef(ref) {
		return false
	}
	common, _ := w.commonDir()
	return readSmall(filepath.Join(common, filepath.FromSlash(ref))) != "" || packedRef(filepath.Join(common, "packed-refs"), ref) != ""
}
