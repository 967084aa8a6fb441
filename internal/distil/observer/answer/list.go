package answer

import (
	"regexp"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// splitList returns the items of a list that was written as text: escaped elements, JSON,
// bullets, lines or commas. Facts are sentences, so only lines and JSON separate them.
func splitList(field, s string) []string {
	s = strings.TrimSpace(s)
	if isNothing(s) {
		return nil
	}
	xml, isXML := xmlOfList(elements[field], s)
	if t, ok := tag(s, 0); ok && t.role == child && !t.closing {
		xml, isXML = "<"+field+">"+s+"</"+field+">", true
	}
	if isXML {
		return parseXML(xml).records[0].lists[field]
	}
	if s[0] == '[' {
		if field == "facts" && s[len(s)-1] == ']' {
			return nil // ignore a malformed list
		}
		s = strings.Trim(s, "[]")
	}
	if field == "facts" {
		return splitLines(s)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
}

// splitLines returns an item for each line; a line that is indented below a bullet
// continues its item.
func splitLines(s string) []string {
	var items []string
	bullets := false
	for l := range strings.Lines(s) {
		text := strings.TrimSpace(l)
		bullet := bullet.MatchString(text)
		if bullets && !bullet && (l[0] == ' ' || l[0] == '\t') {
			items[len(items)-1] += " " + text
		} else {
			items = append(items, text)
		}
		bullets = bullets || bullet
	}
	return items
}

// bullet matches "- ", "* ", "• ", "1. ", "2) ", "[x] " and the like at the beginning.
var bullet = regexp.MustCompile(`^(?:\s*(?:[-*+•–—‣◦]|\[[ xX]\]|\d{1,3}[.)]) )+`)

// withoutBullet returns s on one line, without bullets at the beginning.
func withoutBullet(s string) string {
	return strings.TrimSpace(bullet.ReplaceAllString(text.Line(s), ""))
}

// addFiles adds the file paths among items to obs with a role.
func addFiles(obs *memory.Observation, items []string, role memory.FileRole) {
	obs.Files = append(obs.Files, collect.Map(files(items), func(path string) memory.FileRef { return memory.FileRef{Path: path, Role: role} })...)
}

// files returns the items that are file paths, each once, up to maxFiles.
func files(items []string) []string {
	kept := text.Add(nil, collect.Map(items, path)...)
	return kept[:min(len(kept), maxFiles)]
}

var (
	// pathRemark matches what follows a path: "`a.go` (new)", "a.go - renamed".
	pathRemark = regexp.MustCompile("^`([^`]*)`.*| \\(.*| [-–—] .*|: .*")
	// pathLines matches :12, :12-30 and #L12 at the end of a path.
	pathLines = regexp.MustCompile(`[:#][\d,L-]+$`)
)

// path returns a file's path without the quotes, remark, line number and "./" that
// models add. Windows separators become '/'. "" means that s is no path.
func path(s string) string {
	if s = text.Line(s); len(s) > 2*maxPath {
		return ""
	}
	for before := ""; s != before; {
		before = s
		s = pathRemark.ReplaceAllString(s, "$1")
		s = strings.Trim(s, "\"'`*,; ")
		s = pathLines.ReplaceAllString(s, "")
		if !strings.Contains(s, "/") {
			s = strings.ReplaceAll(s, `\`, "/")
		}
		s = withoutBullet(strings.TrimPrefix(s, "./"))
	}
	if isNothing(s) || strings.Contains(s, "://") || len(s) > maxPath || strings.Trim(s, "./") == "" {
		return ""
	}
	return s
}
