package answer

import (
	"slices"
	"strings"

	"claudemem"
	"claudemem/text"
)

// splitList returns the items of a list that was written as text. Facts are
// sentences, so only lines and JSON separate them; other lists may have commas.
func splitList(n name, s string) []string {
	s = strings.TrimSpace(s)
	if isNothing(s) {
		return nil
	}
	if s[0] == '[' {
		v, end, _ := parseJSON(s)
		if quotedOnly(v) {
			return v.strings()
		}
		if n == nFacts {
			if strings.TrimSpace(s[end:]) == "" {
				return nil // ignore a malformed list
			}
			return splitLines(s)
		}
		s = strings.Trim(s, "[]")
	}
	if n == nFacts {
		return splitLines(s)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
}

func quotedOnly(v value) bool {
	other := func(item value) bool { return item.kind == 's' && !item.quoted || item.kind == '[' }
	return len(v.items) > 0 && !slices.ContainsFunc(v.items, other)
}

// splitLines returns an item for each line; a line that is indented below a bullet
// continues its item.
func splitLines(s string) []string {
	var items []string
	bullets := false
	for l := range strings.Lines(s) {
		text := strings.TrimSpace(l)
		bullet := withoutBullet(text) != text
		bullets = bullets || bullet
		switch {
		case text == "":
		case bullets && !bullet && len(items) > 0 && (l[0] == ' ' || l[0] == '\t'):
			items[len(items)-1] += " " + text
		default:
			items = append(items, text)
		}
	}
	return items
}

// withoutBullet removes "- ", "* ", "• ", "1. ", "2) ", "[x] " and the like from
// the beginning.
func withoutBullet(s string) string {
	for {
		before := s
		for _, b := range []string{"- ", "* ", "+ ", "• ", "– ", "— ", "‣ ", "◦ ", "[ ] ", "[x] ", "[X] "} {
			s = strings.TrimPrefix(s, b)
		}
		rest := strings.TrimLeft(s, "0123456789")
		if n := len(s) - len(rest); n > 0 && n < 4 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
			s = rest[2:]
		}
		s = strings.TrimSpace(s)
		if s == before {
			return s
		}
	}
}

// addFiles adds the file paths among items to obs with a role.
func addFiles(obs *claudemem.Observation, items []string, role claudemem.FileRole) {
	for _, path := range files(items) {
		obs.Files = append(obs.Files, claudemem.FileRef{Path: path, Role: role})
	}
}

// files returns the items that are file paths, each once, up to maxFiles.
func files(items []string) []string {
	var kept []string
	for _, s := range items {
		path := path(s)
		if path != "" && len(kept) < maxFiles && !slices.Contains(kept, path) {
			kept = append(kept, path)
		}
	}
	return kept
}

// path returns a file's path without the quotes, remark, line number and "./" that
// models add. Windows separators become '/'. "" means that s is no path.
func path(s string) string {
	if s = text.Line(s); len(s) > 2*maxPath {
		return ""
	}
	for {
		before := s
		if inner, ok := strings.CutPrefix(s, "`"); ok {
			s, _, _ = strings.Cut(inner, "`")
		}
		for _, remark := range []string{" (", " - ", " – ", " — ", ": "} {
			s, _, _ = strings.Cut(s, remark)
		}
		s = strings.Trim(s, "\"'`*,; ")
		s = withoutLines(s)
		if strings.Contains(s, `\`) && !strings.Contains(s, "/") {
			s = strings.ReplaceAll(s, `\`, "/")
		}
		s = withoutBullet(strings.TrimPrefix(s, "./"))
		if s == before {
			break
		}
	}
	if isNothing(s) || strings.Contains(s, "://") || len(s) > maxPath || strings.Trim(s, "./") == "" {
		return ""
	}
	return s
}

// withoutLines removes :12, :12-30 and #L12 from the end of a path.
func withoutLines(s string) string {
	at := strings.LastIndexAny(s, ":#")
	if at < 1 || at+1 == len(s) || strings.Trim(s[at+1:], "0123456789-,L") != "" {
		return s
	}
	return s[:at]
}
