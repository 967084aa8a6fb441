package repo

import (
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"claudemem/internal/leaf/openfile"
)

const (
	// maxSmall bounds HEAD, a ref, a .git file and commondir: git writes one short line.
	maxSmall = 4 << 10
	// maxConfig bounds a config file.
	maxConfig = 64 << 10
	// maxPackedRefs bounds a packed-refs file that is read from end to end because
	// it does not say that it is sorted; about 60,000 refs.
	maxPackedRefs = 4 << 20
	// maxSymrefs is how many symbolic refs may follow each other (git: 5).
	maxSymrefs = 5
)

// checkedOut returns branch and commit of a worktree: the branch "" for a detached HEAD, the commit
// "" before the first one or when it cannot be found.
func (w worktree) checkedOut() (branch, commit string) {
	ref, commit, _ := parseHead(w.head)
	if ref == "" {
		return "", commit
	}
	branch = strings.TrimPrefix(ref, "refs/heads/")
	if branch == ".invalid" {
		// The reftable format: HEAD is a stub and refs are in a binary file.
		return "", ""
	}
	common, _ := w.commonDir()
	for range maxSymrefs {
		content := readSmall(filepath.Join(common, filepath.FromSlash(ref)))
		if content == "" {
			return branch, packedRef(filepath.Join(common, "packed-refs"), ref)
		}
		next, id, ok := parseHead(content)
		if !ok {
			return branch, ""
		}
		if next == "" {
			return branch, id
		}
		ref = next
	}
	return branch, ""
}

// parseHead parses the trimmed content of HEAD or of a loose ref: the ref that it points to, or
// a commit, the other being ""; false for anything else.
func parseHead(content string) (ref, commit string, ok bool) {
	if target, symbolic := strings.CutPrefix(content, "ref:"); symbolic {
		target = strings.TrimSpace(target)
		if !safeRef(target) {
			return "", "", false
		}
		return target, "", true
	}
	if !IsObjectID(content) {
		return "", "", false
	}
	return "", content, true
}

// safeRef reports whether name can be a ref and, as a path, stays inside the git directory.
func safeRef(name string) bool {
	return strings.HasPrefix(name, "refs/") && !strings.HasSuffix(name, "/") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "//") &&
		!strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\x7f\\:~^?*[", c) })
}

// IsObjectID reports whether s is a SHA-1 or SHA-256 in lower-case hexadecimal.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// packedRef returns the commit of ref in a packed-refs file, "" for none. Git sorts the file and
// says so in its first line; then a few blocks are read, however many refs there are.
func packedRef(path, ref string) string {
	first, info, err := openfile.Beginning(path, maxSmall)
	if err != nil {
		return ""
	}
	if info.Size() <= maxSmall {
		return findPacked(string(first), ref)
	}
	header, _, _ := strings.Cut(string(first), "\n")
	if !strings.HasPrefix(header, "# pack-refs") || !strings.Contains(header, " sorted") {
		return findPacked(readLimited(path, maxPackedRefs), ref)
	}
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return searchPacked(f, info.Size(), ref)
}

// findPacked returns the id of ref in lines of the form "<id> <ref>", "" for none; "#" starts a
// comment, "^" the commit that the tag before points to.
func findPacked(content, ref string) string {
	for line := range strings.SplitSeq(content, "\n") {
		if id, name, ok := parsePacked(line); ok && name == ref {
			return id
		}
	}
	return ""
}

func parsePacked(line string) (id, name string, ok bool) {
	id, name, ok = strings.Cut(strings.TrimRight(line, "\r"), " ")
	return id, name, ok && IsObjectID(id) && name != ""
}

// searchPacked bisects a sorted file of size bytes by blocks: it takes the first whole ref in one
// and goes on in the half that can hold ref. It returns the commit of ref, "" for none. A block has
// maxSmall bytes, more than any line, and what cannot be read has no refs.
func searchPacked(f io.ReaderAt, size int64, ref string) string {
	read := func(block, blocks int) string {
		b := make([]byte, blocks*maxSmall)
		n, _ := f.ReadAt(b, int64(block)*maxSmall)
		return string(b[:n])
	}
	// No ref starting in a block means that the last one starts before it.
	after := sort.Search(int(size/maxSmall)+1, func(block int) bool {
		name, ok := firstPacked(read(block, 1))
		return !ok || name > ref
	})
	// The line of ref starts in the block before, or right at the beginning of this one. A last line
	// that may be cut is not looked at: "foo" may be the beginning of "foobar".
	lines := read(max(after-1, 0), 3)
	return findPacked(lines[:strings.LastIndexByte(lines, '\n')+1], ref)
}

// firstPacked returns the name of the first ref that starts in block, whose
// first and last lines may be cut.
func firstPacked(block string) (string, bool) {
	_, block, _ = strings.Cut(block, "\n")
	for block != "" {
		line, rest, whole := strings.Cut(block, "\n")
		if !whole {
			return "", false
		}
		if _, name, ok := parsePacked(line); ok {
			return name, true
		}
		block = rest
	}
	return "", false
}

// coreWorktree returns core.worktree of a git config, "" when it is not set.
// Includes are not followed: git writes the value for a submodule into the file itself.
func coreWorktree(config string) string {
	inCore := false
	for line := range strings.SplitSeq(config, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inCore = strings.EqualFold(strings.TrimSpace(strings.Trim(line, "[]")), "core")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if ok && inCore && strings.EqualFold(strings.TrimSpace(name), "worktree") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// readSmall returns a one-line file without the white space around it, "" when
// it is missing, longer than maxSmall or no regular file.
func readSmall(path string) string {
	content, info, err := openfile.Beginning(path, maxSmall)
	if err != nil || info.Size() > maxSmall {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// readLimited returns at most limit bytes of a regular file, "" when it cannot.
func readLimited(path string, limit int64) string {
	content, _, _ := openfile.Beginning(path, limit) // nothing on an error
	return string(content)
}
