package nodedb

import (
	"cmp"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// time returns the time of a column: by its number, else its ISO text; 0 for none.
func (v row) time(column string) memory.Millis {
	if n, err := strconv.ParseFloat(v[column+"_epoch"], 64); err == nil && n > 0 && n <= float64(memory.LatestTime) {
		return memory.Millis(n)
	}
	if at, err := time.Parse(time.RFC3339Nano, v[column]); err == nil && at.UnixMilli() > 0 && at.UnixMilli() <= int64(memory.LatestTime) {
		return memory.MillisOf(at)
	}
	return 0
}

// number returns a number that is not negative, 0 for another value.
func (v row) number(column string) int {
	n, err := strconv.ParseInt(v[column], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// project returns the project of a row: an absolute path as it is, else a label. Of a worktree
// ("shop/fix") the label is the repository's, whose worktrees are one project here.
func (v row) project() string {
	name := cmp.Or(strings.TrimSpace(v["merged_into_project"]), strings.TrimSpace(v["project"]))
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	if len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') { // C:\… of Windows
		return name
	}
	name, _, _ = strings.Cut(name, "/")
	if name == "" {
		return unknownProject
	}
	return "label:" + name
}

// unknownProject is the project of rows without one, as claude-mem for Node names it.
const unknownProject = "label:unknown"

// list returns the texts of a column: those of a JSON list, else its lines.
func list(s string) (texts []string) {
	var items []any
	if s = strings.TrimSpace(s); s == "" || s == "null" {
		return nil
	}
	if json.Unmarshal([]byte(s), &items) != nil {
		var one string
		if json.Unmarshal([]byte(s), &one) == nil {
			s = one
		}
		for line := range strings.Lines(s) {
			items = append(items, line)
		}
	}
	for _, item := range items {
		if t, ok := item.(string); ok && strings.TrimSpace(t) != "" {
			texts = append(texts, strings.TrimSpace(t))
		}
	}
	return texts
}

// concepts returns the concepts of a column; of "gotcha: why" the word before the colon.
func concepts(s string) (words []string) {
	for _, c := range list(s) {
		c, _, _ = strings.Cut(c, ":")
		if c = strings.TrimSpace(c); c != "" {
			words = append(words, c)
		}
	}
	return words
}

// word returns s as a word of a vocabulary, other if it is none.
func word(s, other string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" || len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return other
	}
	return s
}

// maxTitle is the length of a title that is the beginning of a text, in characters.
const maxTitle = 120

// shorten returns a line as a title.
func shorten(line string) string { return text.TruncateRunes(text.Line(line), maxTitle) }
