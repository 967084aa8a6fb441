package lang

import (
	"embed"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed tables/*.txt
var files embed.FS

// languages are the tables in the order in which they are looked at, by their codes of ISO 639-1.
var languages = []string{"en", "de", "es", "fr", "pt", "it", "ja", "zh", "ru", "ko"}

// A Table has the phrases of each cue, of one language or of all.
type Table struct {
	// Code is the language, "" for all.
	Code string
	cues map[string]*cue
}

// cue is a list of phrases, in lower case, and of patterns for text in lower case. It is read from
// the lines of its table when it is first asked for: most programs ask for few.
type cue struct {
	lines []string
	once  sync.Once

	phrases []phrase
	// whole has all phrases, open those whose last word may go on.
	whole map[string]bool
	open  []string
	// patterns are not joined into one: a search for one that begins with ^ tries the first byte
	// only, one for all of them would not.
	patterns []pattern
}

// pattern is a regular expression for text in lower case; needs are texts of which all that it matches
// has one, nil if none are known. Most texts have none of these, and looking for them is much
// quicker.
type pattern struct {
	*regexp.Regexp
	needs []string
}

// newPattern compiles a pattern of a table.
func newPattern(s string) pattern {
	re, _ := syntax.Parse(s, syntax.Perl) // MustCompile parses it again
	return pattern{regexp.MustCompile(s), needs(re)}
}

// needs returns texts of which each match of re has one; of a sequence those of the part whose texts are
// longest.
func needs(re *syntax.Regexp) (texts []string) {
	switch re.Op {
	case syntax.OpLiteral: // in the letter case of the text: the tables have no flags
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpConcat:
		for _, part := range re.Sub {
			if of := needs(part); of != nil && (texts == nil || shortest(of) > shortest(texts)) {
				texts = of
			}
		}
	case syntax.OpAlternate:
		for _, choice := range re.Sub {
			of := needs(choice)
			if of == nil {
				return nil
			}
			texts = append(texts, of...)
		}
	}
	return texts
}

// shortest returns the length of the shortest of texts.
func shortest(texts []string) int {
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// find returns where a text in lower case matches first, nil for nowhere.
func (p pattern) find(low string) []int {
	if p.needs != nil && !slices.ContainsFunc(p.needs, func(text string) bool { return strings.Contains(low, text) }) {
		return nil
	}
	return p.FindStringIndex(low)
}

// phrase is text as whole words; open says that its last word may go on, ascii that it has no
// other letters: most of what is read has none either, and need not be compared with the rest.
type phrase struct {
	text        string
	open, ascii bool
}

// Tables returns the table of each language.
func Tables() []*Table { return parsed().each }

// Has reports whether a text holds a phrase of one of the cues, in any language and letter case.
func Has(s string, cues ...string) bool { return parsed().all.Has(s, cues...) }

// Is reports whether a word, in lower case, is a phrase of one of the cues.
func Is(word string, cues ...string) bool { return parsed().all.Is(word, cues...) }

// Begins reports whether a text begins with a phrase of one of the cues.
func Begins(s string, cues ...string) bool { return parsed().all.Front(s, cues...) > 0 }

// Denies reports whether a prompt begins with a no to what was done or told, or takes it back. "No
// problem" and the like are none.
func Denies(prompt string) bool {
	prompt = prompt[:min(len(prompt), maxFront)]
	for n := 1; n > 0; prompt = prompt[n:] {
		prompt = strings.TrimLeft(prompt, " ,.:;!…–—-\"'«»“”„¿¡、。！？，：(*_~")
		if Begins(prompt, "deny", "goes-on") {
			return !Begins(prompt, "goes-on")
		}
		n = Front(prompt, "interjection")
	}
	return false
}

// Find returns where the first phrase of the cue, in any language, stands in a text of valid UTF-8, in
// bytes, both 0 for nowhere. Of several that begin there it is any.
func Find(s, cue string) (from, to int) {
	c, low := parsed().all.cue(cue), strings.Map(lowerAlike, s)
	if c == nil {
		return 0, 0
	}
	from = len(s)
	for _, p := range c.phrases {
		if i := p.index(low); i >= 0 && i < from {
			from, to = i, i+len(p.text)
		}
	}
	for _, p := range c.patterns {
		if at := p.find(low); at != nil && at[0] < from {
			from, to = at[0], at[1]
		}
	}
	return min(from, to), to
}

// Follows reports whether a phrase of the cue then stands behind the first phrase of cue (Find).
func Follows(s, cue, then string) bool {
	_, end := Find(s, cue)
	return end > 0 && Has(s[end:], then)
}

// lowerAlike returns r in lower case if that takes as many bytes, so that positions stay: not of "Ⱥ" or "İ".
func lowerAlike(r rune) rune {
	if low := unicode.ToLower(r); utf8.RuneLen(low) == utf8.RuneLen(r) {
		return low
	}
	return r
}

// Value returns what stands behind a word, in lower case, in the cue's pairs: "may 5"; "" for another word.
func Value(word, cue string) string {
	if c := parsed().all.cue(cue); c != nil {
		for _, p := range c.phrases {
			if value, ok := strings.CutPrefix(p.text, word); ok && strings.HasPrefix(value, " ") {
				return value[1:]
			}
		}
	}
	return ""
}

// Front returns how many bytes of a text the longest phrase of the cues takes with which it begins.
func Front(s string, cues ...string) int { return parsed().all.Front(s, cues...) }

// Cut returns a text without the phrase of the cues with which it begins, and whether there is one.
func Cut(s string, cues ...string) (rest string, ok bool) { return parsed().all.Cut(s, cues...) }

// Phrases returns the phrases of a cue, without its patterns.
func Phrases(cue string) []string { return parsed().all.Phrases(cue) }

// Knows reports whether the language has the cue.
func (t *Table) Knows(cue string) bool { return t.cues[cue] != nil }

// Phrases returns the phrases of a cue, in lower case and in the order of the table, without its
// patterns; nil for an unknown cue.
func (t *Table) Phrases(cue string) []string {
	var out []string
	if c := t.cue(cue); c != nil {
		for _, p := range c.phrases {
			out = append(out, p.text)
		}
	}
	return out
}

// Has reports whether a text holds a phrase of one of the cues as whole words, or matches a pattern of
// one, in any letter case. An unknown cue has none.
func (t *Table) Has(s string, cues ...string) bool {
	s = fold(s)
	ascii := IsASCII(s)
	for _, name := range cues {
		c := t.cue(name)
		if c == nil {
			continue
		}
		for _, p := range c.phrases {
			if (p.ascii || !ascii) && p.index(s) >= 0 {
				return true
			}
		}
		if slices.ContainsFunc(c.patterns, func(p pattern) bool { return p.find(s) != nil }) {
			return true
		}
	}
	return false
}

// Is reports whether a word, or some words, in any letter case, is a phrase of one of the cues, as a
// whole or, of an open phrase, beginning with it. Patterns do not count.
func (t *Table) Is(word string, cues ...string) bool {
	word = fold(word)
	for _, name := range cues {
		c := t.cue(name)
		if c == nil {
			continue
		}
		if c.whole[word] || slices.ContainsFunc(c.open, func(p string) bool { return strings.HasPrefix(word, p) }) {
			return true
		}
	}
	return false
}

// maxFront is how much of a text is looked at for what it begins with, in bytes.
const maxFront = 500

// Front returns how many bytes of a text the longest phrase of the cues takes with which it
// begins, in any letter case; 0 for none. A word that an apostrophe cuts short is another one. A
// pattern counts with what it matches at the beginning.
func (t *Table) Front(s string, cues ...string) int {
	n := 0
	s = s[:min(len(s), maxFront)]
	low := strings.Map(lowerAlike, s)
	for _, name := range cues {
		c := t.cue(name)
		if c == nil {
			continue
		}
		for _, p := range c.phrases {
			if size := len(p.text); size > n && size <= len(s) && (p.text[0]|0x20 == s[0]|0x20 || !p.ascii) && strings.EqualFold(s[:size], p.text) && (p.open || !joined(p.text, s[size:]) && !strings.HasPrefix(s[size:], "'")) {
				n = size
			}
		}
		for _, p := range c.patterns {
			if at := p.find(low); at != nil && at[0] == 0 {
				n = max(n, min(at[1], len(s))) // a broken byte is longer in lower case
			}
		}
	}
	return n
}

// Cut returns a text without the phrase of the cues with which it begins, and the comma and
// blanks behind that; ok is false where nothing of these follows a phrase.
func (t *Table) Cut(s string, cues ...string) (rest string, ok bool) {
	n := t.Front(s, cues...)
	if rest = strings.TrimPrefix(s[n:], ","); n == 0 || !strings.HasPrefix(rest, " ") {
		return s, false
	}
	return strings.TrimLeft(rest, " "), true
}

// index returns where a text in lower case has the phrase as whole words, -1 for nowhere.
func (p phrase) index(low string) int {
	for from := 0; ; {
		i := strings.Index(low[from:], p.text)
		if i < 0 {
			return -1
		}
		i += from
		if end := i + len(p.text); !joined(low[:i], p.text) && (p.open || !joined(p.text, low[end:])) {
			return i
		}
		from = i + 1
	}
}

// joined reports whether a word goes on where a and b meet. In scripts without blanks none does.
func joined(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	next, _ := utf8.DecodeRuneInString(b)
	return inWord(last) && inWord(next)
}

// inWord reports whether a character is a part of words: a letter of a script with blanks between its
// words, an ASCII digit or '_'.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r != utf8.RuneError && unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// IsASCII reports whether a text has no letter beyond ASCII. Signs such as ’ and — do not count.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) })
}

// fold returns a text as phrases are written.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "’", "'") }

type tables struct {
	all  *Table
	each []*Table
}

var parsed = sync.OnceValue(parse)

// parse reads the tables of all languages; all has the cues of each together. A line "name: a | b"
// begins a cue, lines behind a tab go on with it, "#" begins a comment (cues.txt).
func parse() tables {
	out := tables{all: &Table{cues: map[string]*cue{}}}
	for _, code := range languages {
		data, err := files.ReadFile(path.Join("tables", code+".txt"))
		if err != nil {
			panic(err) // the files are part of the program
		}
		t := &Table{Code: code, cues: map[string]*cue{}}
		name := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			if line[0] != '\t' {
				name, line, _ = strings.Cut(line, ":")
			}
			t.add(name, line)
			out.all.add(name, line)
		}
		out.each = append(out.each, t)
	}
	return out
}

// add adds a line to the cue of a name, which it makes.
func (t *Table) add(name, line string) {
	c := t.cues[name]
	if c == nil {
		c = &cue{}
		t.cues[name] = c
	}
	c.lines = append(c.lines, line)
}

// cue returns the cue of a name, nil for an unknown one.
func (t *Table) cue(name string) *cue {
	c := t.cues[name]
	if c != nil {
		c.once.Do(c.read)
	}
	return c
}

// read reads the phrases of the lines, separated by " | ": /…/ is a pattern, "…*" an open phrase, any
// other stands for itself.
func (c *cue) read() {
	c.whole = map[string]bool{}
	for _, line := range c.lines {
		for s := range strings.SplitSeq(strings.TrimSpace(line), " | ") {
			if len(s) > 1 && s[0] == '/' && s[len(s)-1] == '/' {
				c.patterns = append(c.patterns, newPattern(s[1:len(s)-1]))
				continue
			}
			text, open := strings.CutSuffix(s, "*")
			c.phrases, c.whole[text] = append(c.phrases, phrase{text, open, IsASCII(text)}), true
			if open {
				c.open = append(c.open, text)
			}
		}
	}
}
