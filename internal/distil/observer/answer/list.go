package answer

import (
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
)

// splitList returns the items of a list that was written as text: escaped elements, JSON,
// bullets, lines or commas; false if it is not understood. Facts are sentences, so only
// lines and JSON separate them.
func splitList(field, s string) (items []string, ok bool) {
	s = strings.TrimSpace(s)
	if isNothing(s) {
		return nil, true
	}
	if s[0] == '<' {
		if r := newReader(s); len(r.tags) > 0 && r.tags[0].start == 0 {
			items, _ = r.items(0)
			return items, true
		}
	}
	if s[0] == '[' {
		if list, rest, err := decodeJSON(s); err == nil && rest == "" {
			return texts(elements["item"], list)
		}
		if strings.HasPrefix(s, `["`) || strings.HasPrefix(s, "[{") {
			return nil, false
		}
	}
	if field == "facts" {
		return splitLines(s), true
	}
	return strings.FieldsFunc(strings.Trim(s, "[]"), func(r rune) bool { return r == ',' || r == ';' || r == '\n' }), true
}

// splitLines returns an item for each line; a line that is indented below a bullet
// continues its item.
func splitLines(s string) (items []string) {
	bullets := false
	for l := range strings.Lines(s) {
		_, bullet := text.ListItem(strings.TrimSpace(l))
		bullets = bullets || bullet
		if last := len(items) - 1; bullets && !bullet && last >= 0 && strings.TrimLeft(l, " \t") != l {
			items[last] += " " + l
		} else {
			items = append(items, l)
		}
	}
	return items
}

// withoutBullet returns s on one line, without "- ", "1. " and the like at the beginning.
func withoutBullet(s string) string {
	s = text.Line(s)
	for item, ok := text.ListItem(s); ok; item, ok = text.ListItem(s) {
		s = item
	}
	return s
}

// distinct returns what clean makes of the items, each once, up to a limit.
func distinct(items []string, limit int, clean func(string) string) []string {
	var kept []string
	for _, s := range items {
		if kept = text.Add(kept, clean(s)); len(kept) == limit {
			break
		}
	}
	return kept
}

// files returns the items that are file paths.
func files(items []string) []string { return distinct(items, maxFiles, path) }

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
		s = pathRemark.ReplaceAllString(withoutBullet(s), "$1")
		s = pathLines.ReplaceAllString(strings.Trim(s, "\"'`*,; "), "")
		if !strings.Contains(s, "/") {
			s = strings.ReplaceAll(s, `\`, "/")
		}
		s = strings.TrimPrefix(s, "./")
	}
	if isNothing(s) || strings.Contains(s, "://") || strings.ContainsAny(s, "<>") || len(s) > maxPath || strings.Trim(s, "./") == "" {
		return ""
	}
	return s
}
