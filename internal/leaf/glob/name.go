package glob

import (
	"path"
	"strings"
)

// matchName reports whether a glob without separators matches a name. A glob also matches a
// name that is the same text, whatever it means as a glob; where one of its classes is not
// closed, "[" stands for itself. fold: in any letter case. "[!" is the one for "outside".
func matchName(glob, name string, fold bool) bool {
	if glob == name {
		return true
	}
	if fold {
		glob, name = strings.ToLower(glob), strings.ToLower(name)
	}
	matches, err := path.Match(strings.ReplaceAll(glob, "[!", "[^"), name)
	if err != nil {
		matches, _ = path.Match(strings.ReplaceAll(glob, "[", `\[`), name) // valid now
	}
	return matches
}
