package intake

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem"
	"claudemem/repo"
	"claudemem/toolcall"
)

// provenance returns who could have written the content of an event. A file or directory
// belongs to the project if it lies in its worktree, links followed, and in no other
// repository there; what cannot be judged does not. call is that of a tool event.
func provenance(e *claudemem.Event, call *toolcall.Call) claudemem.Provenance {
	switch e.Kind {
	case claudemem.KindPrompt:
		return claudemem.FromUser
	case claudemem.KindStop:
		return claudemem.FromAgent
	case claudemem.KindTool:
	default:
		return ""
	}
	p, places := call.Provenance()
	if p != claudemem.FromProject {
		return p
	}
	tree := repo.NewTree(e.Cwd, e.WorktreeRoot, e.ProjectPath)
	foreign := func(place string) bool {
		if rest, ok := afterWorkingDirectory(place); ok {
			place = rest
		} else if strings.HasPrefix(place, "$") {
			return true // a path that only the shell knows
		}
		return (call.Tool != toolcall.ToolCommand || !isPattern(place)) && !tree.Holds(place)
	}
	if call.Tool == toolcall.ToolCommand && foreign("") || slices.ContainsFunc(places, foreign) {
		return claudemem.FromOutside
	}
	return p
}

// afterWorkingDirectory returns what follows the shell's name of the working directory.
func afterWorkingDirectory(place string) (string, bool) {
	for _, name := range []string{"$PWD", "${PWD}", "$(pwd)"} {
		if rest, ok := strings.CutPrefix(place, name); ok && (rest == "" || rest[0] == '/') {
			return "." + rest, true
		}
	}
	return "", false
}

// isPattern reports whether an argument of a command that looks like an absolute path is
// none: nothing of its first name is there, as in awk '/total/ { print }' or a route of an
// API.
func isPattern(place string) bool {
	if !strings.HasPrefix(place, "/") {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimLeft(place, "/"), "/")
	_, err := os.Lstat(string(filepath.Separator) + first)
	return first != "" && err != nil
}
