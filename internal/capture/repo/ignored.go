package repo

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"claudemem/internal/leaf/glob"
)

// maxIgnore bounds what is read of one file with patterns, in bytes; maxDeep the "**" of one
// pattern, since time grows with their number.
const (
	maxIgnore = 1 << 20
	maxDeep   = 4
)

// ignoreRule is a line of a file with the patterns of what git ignores.
type ignoreRule struct {
	pattern string // from the root
	negated bool
	dirOnly bool
}

// Ignores reports whether git ignores the file at rel, a path below the worktree at root with
// '/', clean and not ".", if it does not track it (see Index.Has). It reads .gitignore and
// info/exclude as gitignore(5) says, not the user's own core.excludesFile. known is false where
// a pattern is not understood; a file with patterns that is missing or unreadable has none.
func Ignores(root, rel string) (ignored, known bool) {
	var rules []ignoreRule
	read := func(file, base string) bool {
		for line := range strings.Lines(readLimited(file, maxIgnore)) {
			r, ok := parseIgnoreRule(line, base)
			if !ok {
				return false
			}
			if r.pattern != "" {
				rules = append(rules, r)
			}
		}
		return true
	}
	if common := CommonDir(root); common != "" && !read(filepath.Join(common, "info", "exclude"), "") {
		return false, false
	}
	for i := 0; i < len(rel); i++ { // one directory down each time, then the file itself: rel[:i]
		base := rel[:max(i-1, 0)]
		if !read(filepath.Join(root, filepath.FromSlash(base), ".gitignore"), base) {
			return false, false
		}
		end := strings.IndexByte(rel[i:], '/')
		isDir := end >= 0
		if i += end; !isDir {
			i = len(rel)
			info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(rel)))
			isDir = err == nil && info.IsDir()
		}
		for _, r := range rules {
			if (isDir || !r.dirOnly) && glob.Match(r.pattern, rel[:i]) {
				ignored = !r.negated
			}
		}
		if ignored {
			return true, true // whatever is said of what lies below
		}
	}
	return false, true
}

// parseIgnoreRule returns the rule of a line in the directory base ("" is the root), one without a
// pattern for a blank line or a comment. ok is false for a line that is not understood: with a
// backslash or more than maxDeep "**".
func parseIgnoreRule(line, base string) (r ignoreRule, ok bool) {
	line = strings.TrimRight(line, " \r\n")
	if line == "" || line[0] == '#' {
		return r, true
	}
	line, r.negated = strings.CutPrefix(line, "!")
	if strings.HasPrefix(line, `\#`) || strings.HasPrefix(line, `\!`) {
		line = line[1:]
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if strings.Contains(line, `\`) || strings.Count(line, "**") > maxDeep {
		return r, false
	}
	if !strings.Contains(line, "/") {
		line = "**/" + line
	}
	r.pattern = path.Join(base, line)
	return r, true
}
