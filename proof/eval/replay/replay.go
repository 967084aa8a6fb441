// Package replay turns commits of public repositories into what Claude Code would have
// sent to its hooks, had an agent made them: an Edit for each hunk, a Write for each new
// file. Deleted files, files with carriage returns and files that are not UTF-8 are left
// out.
package replay

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claudemem/proof/eval/clones"
)

// A Source is a repository whose commits are replayed, and the files of them.
type Source struct {
	Name       string // OWNER/NAME
	Head       string // the newest commit that is replayed
	Extensions []string
}

// Sources are the three repositories of the acceptance.
var Sources = []Source{
	{"restic/restic", "a80be1478a4c537f8396e0db2b05120aa78f11e0", []string{".go"}},
	{"pypa/pip", "6d309205789d368b2749d93fd6193d584811efd5", []string{".py"}},
	{"vitejs/vite", "a98c8d95d552c6fa98ab66fb810f5b39ad5abf49", []string{".ts", ".tsx", ".mts", ".cts"}},
}

// A Commit is a commit with the files that it created or modified.
type Commit struct {
	ID    string
	Files []File
}

// A File is a file before and after a commit.
type File struct {
	Path   string // relative, with slashes
	Before []byte // nil when the commit created it
	After  []byte
	hunks  []hunk
}

// A hunk is a range of lines that was replaced by another one; lines count from 0.
type hunk struct{ oldStart, oldCount, newStart, newCount int }

// Commits returns the newest n commits of a source that created or modified one of its
// files, the newest first. Merges are left out. The clones lie in dir, as package clones
// has them.
func Commits(ctx context.Context, dir string, s Source, n int) ([]Commit, error) {
	clone, err := clones.Open(ctx, dir, s.Name)
	if err != nil {
		return nil, err
	}
	defer clone.Close()
	ids, err := clone.Run(ctx, "rev-list", "--no-merges", s.Head)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for id := range strings.FieldsSeq(string(ids)) {
		if len(commits) == n {
			break
		}
		files, err := Changed(ctx, clone, id, func(name string) bool { return slices.Contains(s.Extensions, path.Ext(name)) })
		if err != nil {
			return nil, fmt.Errorf("%s %.12s: %w", s.Name, id, err)
		}
		if len(files) > 0 {
			commits = append(commits, Commit{id, files})
		}
	}
	return commits, nil
}

// Changed returns the files that a commit created or modified and that keep accepts.
func Changed(ctx context.Context, clone *clones.Clone, commit string, keep func(path string) bool) ([]File, error) {
	tree, err := clone.Run(ctx, "diff-tree", "--root", "--no-commit-id", "-r", "-z", "--no-renames", "--diff-filter=AM", commit)
	if err != nil {
		return nil, err
	}
	var files []File
	entries := strings.Split(string(tree), "\x00") // :MODE MODE ID ID STATUS, PATH, ...
	for i := 0; i+1 < len(entries); i += 2 {
		meta, name := strings.Fields(entries[i]), entries[i+1]
		if len(meta) != 5 || !strings.HasPrefix(meta[1], "100") || !keep(name) {
			continue
		}
		f := File{Path: name}
		if f.After, err = clone.Blob(meta[3]); err != nil {
			return nil, err
		}
		if meta[4] == "M" {
			if f.Before, err = clone.Blob(meta[2]); err != nil {
				return nil, err
			}
			if f.hunks, err = hunks(ctx, clone, meta[2], meta[3]); err != nil {
				return nil, err
			}
		}
		if isPlain(f.Before) && isPlain(f.After) && (len(f.hunks) > 0 || f.Before == nil) {
			files = append(files, f)
		}
	}
	return files, nil
}

// isPlain reports whether text is UTF-8 without carriage returns.
func isPlain(text []byte) bool { return utf8.Valid(text) && bytes.IndexByte(text, '\r') < 0 }

var hunkHeader = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunks returns the differences of two blobs, from the first line to the last.
func hunks(ctx context.Context, clone *clones.Clone, before, after string) ([]hunk, error) {
	diff, err := clone.Run(ctx, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--text", before, after)
	if err != nil {
		return nil, err
	}
	var all []hunk
	for _, m := range hunkHeader.FindAllSubmatch(diff, -1) {
		oldStart, oldCount := lineRange(m[1], m[2])
		newStart, newCount := lineRange(m[3], m[4])
		all = append(all, hunk{oldStart, oldCount, newStart, newCount})
	}
	return all, nil
}

// lineRange reads START,COUNT of a hunk. A count that is not given is 1; a range of no
// lines is given by the line before it.
func lineRange(start, count []byte) (from, n int) {
	from, _ = strconv.Atoi(string(start))
	n = 1
	if len(count) > 0 {
		n, _ = strconv.Atoi(string(count))
	}
	if n > 0 {
		from--
	}
	return from, n
}
