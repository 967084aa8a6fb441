package offline

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// newValue is a value that an edit replaced in a line that is the same otherwise.
type newValue struct {
	file string
	// key is the name before it in the line, "" for none.
	key      string
	was, now string
}

// maxValues bounds the replaced values of a turn, maxPairs the lines of an edit that are
// compared.
const (
	maxValues = 40
	maxPairs  = 200
)

// newValues returns the values that the turn's edits replaced, the old one being nowhere in
// what they wrote.
func (t *turn) newValues() []newValue {
	var out []newValue
	for _, e := range editsOf(t.steps) {
		if len(e.minus) != len(e.plus) || len(e.minus) > maxPairs {
			continue
		}
		for i, line := range e.minus {
			was, now, key := replacedValue(line, e.plus[i])
			if was == "" || len(out) == maxValues || slices.ContainsFunc(e.plus, func(p string) bool { return hasToken(p, was) }) {
				continue
			}
			out = append(out, newValue{e.path, key, was, now})
		}
	}
	return out
}

// replacedValue compares two lines that differ in one value, and returns it before and
// after, with the name before it. All are "" for other lines.
func replacedValue(a, b string) (was, now, key string) {
	const longest = 400
	if a == b || len(a) > longest || len(b) > longest {
		return "", "", ""
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	toA, toB := len(a), len(b)
	for toA > from && toB > from && a[toA-1] == b[toB-1] {
		toA--
		toB--
	}
	for from > 0 && inValue(a[from-1]) {
		from--
	}
	for toA < len(a) && inValue(a[toA]) {
		toA++
		toB++
	}
	was, now = strings.Trim(a[from:toA], ".:-/"), strings.Trim(b[from:toB], ".:-/")
	if !isValue(was) || !isValue(now) {
		return "", "", ""
	}
	names := strings.FieldsFunc(a[:from], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	})
	for _, name := range slices.Backward(names) {
		if len(name) > 2 {
			key = name
			break
		}
	}
	return was, now, key
}

// inValue reports whether a byte may stand in a value: an address, a version, a number with
// its unit.
func inValue(c byte) bool { return text.IsIdent(c) || strings.IndexByte(".:/@~^+%-", c) >= 0 }

// isValue reports whether s is one value that text can name: with a digit or a sign of a
// name, and without blanks.
func isValue(s string) bool {
	if len(s) < 2 || len(s) > 80 {
		return false
	}
	for i := range len(s) {
		if !inValue(s[i]) {
			return false
		}
	}
	return strings.ContainsAny(s, "0123456789:/@") || strings.Trim(s, "-._") != "" && strings.ContainsAny(s[1:], "-._")
}

// hasToken reports whether s has a value as a whole.
func hasToken(s, value string) bool {
	for i := range text.Indexes(s, value) {
		end := i + len(value)
		before := i == 0 || !text.IsIdent(s[i-1]) && (i < 2 || s[i-1] != '.' || !text.IsIdent(s[i-2]))
		after := end == len(s) || !text.IsIdent(s[end]) && (end+1 == len(s) || s[end] != '.' || !text.IsIdent(s[end+1]))
		if before && after {
			return true
		}
	}
	return false
}

// replaced reports whether the turn replaced a value that an earlier record of the same
// file introduced: by the one that the record names as the rejected or former one, or by
// another one where the record's title is about the value.
func (r *reversals) replaced(old *memory.Observation, own []*memory.Observation) bool {
	modified, front := old.FilesIn(memory.FileModified), old.Title+"\n"+old.Subtitle
	return slices.ContainsFunc(r.values, func(v newValue) bool {
		if !slices.Contains(modified, v.file) || !hasToken(front, v.was) {
			return false
		}
		told := toldBy(old) + "\n" + old.Narrative
		about := mentions(told, v.key)
		if hasToken(told, v.now) {
			return introduces(front, v.was, v.now) && (about || r.putBack)
		}
		return about && hasToken(old.Title, v.was) && old.Type != memory.TypeBugfix && old.Type != memory.TypeDiscovery &&
			slices.ContainsFunc(own, func(o *memory.Observation) bool { return hasToken(toldBy(o), v.now) && shareModified(o, old) })
	})
}

// introduces reports whether a text tells of a value as the new one in place of another:
// "8080 instead of 9090", "9090 → 8080", "from 9090 to 8080"; alone it is the new one, too.
func introduces(front, value, other string) bool {
	for line := range strings.Lines(front) {
		i, j := strings.Index(line, value), strings.Index(line, other)
		switch {
		case i < 0:
		case j < 0:
			return true
		case i < j:
			if lang.Has(line[i:j], "instead", "over-alone") {
				return true
			}
		case strings.Contains(line[j:i], "→") || strings.Contains(line[j:i], "->") || lang.Has(line[j:i], "to"):
			return true
		}
	}
	return false
}
