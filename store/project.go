package store

import (
	"slices"
	"strings"
)

// projectLabel is a project's base name, with the separators of any system: a
// memory may have come from another machine. A project that is known by its label
// alone is "label:" and the name.
func projectLabel(project string) string {
	trimmed := strings.TrimPrefix(strings.TrimRight(project, `/\`), "label:")
	if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 {
		return trimmed[i+1:]
	}
	return trimmed
}

// addPath makes a path findable by its segments.
func (t *tx) addPath(path string) error {
	n, err := t.change("INSERT INTO paths (path) VALUES (?) ON CONFLICT DO NOTHING", path)
	if err != nil || n == 0 {
		return err
	}
	id, err := t.number("SELECT id FROM paths WHERE path = ?", path)
	if err != nil {
		return err
	}
	for _, segment := range pathSegments(path) {
		if _, err := t.exec("INSERT INTO path_segments (segment, path_id) VALUES (?, ?)", segment, id); err != nil {
			return err
		}
	}
	return nil
}

// pathSegments lists what a path is found by: each segment, and the last also
// without its extensions.
func pathSegments(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return nil
	}
	stem := parts[len(parts)-1]
	for {
		dot := strings.LastIndexByte(stem, '.')
		if dot <= 0 { // a leading dot is part of the name
			break
		}
		stem = stem[:dot]
		parts = append(parts, stem)
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// splitPath takes a path apart as somebody typed it: with the separators of any
// system, with or without them at the ends. It returns what the path is, and its
// last segment.
func splitPath(typed string) (path, last string) {
	path = strings.TrimRight(strings.ReplaceAll(typed, `\`, "/"), "/")
	return path, path[strings.LastIndexByte(path, '/')+1:]
}
