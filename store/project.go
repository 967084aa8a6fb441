package store

import "strings"

// projectLabel is a project's base name, with the separators of any system: a
// memory may have come from another machine.
func projectLabel(project string) string {
	trimmed := strings.TrimRight(project, `/\`)
	if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 {
		return trimmed[i+1:]
	}
	return trimmed
}
