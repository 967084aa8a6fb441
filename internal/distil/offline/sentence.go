package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// sentence is one statement of an agent's or a user's prose, plain.
type sentence struct {
	text string
	// section is the heading that it stands under, lower case.
	section string
	// first says that it opens the text, fluff aside.
	first bool
	// item: it stands in a list; row: it is a row of a table; outline: it is made of the
	// beginnings of a list's items.
	item, row, outline bool
	// code: it ends with the first line of the code that it leads to.
	code bool
	// is says whether it is so; label is how many bytes of the text say it, headed that they
	// are the section's.
	is     standing
	label  int
	headed bool
}

// maxSentences bounds what is read of one text.
const maxSentences = 120

// sentences takes Markdown apart: headings become sections, list items stand for
// themselves, a row of a table becomes a sentence. A code block is left out but for its
// first line, if a sentence leads to it.
func sentences(md string) []sentence {
	said, _ := read(md)
	return said
}

// read returns the sentences of a text as sentences does and its outlines: for each list with a
// heading or a sentence that leads to it, both in one: "It is an ordered chain: starts with
// `http://`; exactly `-`; …". There are at most four; a list of one item, or of next steps, makes none.
func read(md string) (said, outlines []sentence) {
	r := reader{}
	for line := range strings.Lines(md[:min(len(md), maxText)]) {
		r.read(line)
	}
	r.flush()
	r.outline("")
	lead := true
	for i := range r.out {
		if !isFluff(r.out[i].text) {
			r.out[i].first = lead
			lead = false
		}
	}
	return r.out, r.outlines
}

// reader reads Markdown line by line.
type reader struct {
	out       []sentence
	paragraph strings.Builder
	section   string
	fenced    text.Fence
	listed    bool // section is of a list alone
	item      bool // the paragraph is an item
	leads     bool // the last sentence ends in a colon and nothing came after it
	header    []string
	over      string   // what leads to a list, and
	heads     []string // what its items are about
	outlines  []sentence
}

// read reads the next line of the text; after the last one flush has to be called.
func (r *reader) read(line string) {
	s := strings.TrimSpace(line)
	if began := r.fenced == ""; r.fenced.Holds(s) {
		switch {
		case began:
			r.flush()
			r.header = nil
		case r.fenced == "":
			r.leads = false
		default:
			r.lead(s)
		}
		return
	}
	if len(s) == 0 || s[0] != '|' {
		r.header = nil
	}
	switch {
	case s == "":
		r.flush()
	case r.paragraph.Len() == 0 && r.leads && strings.HasPrefix(line, "    "):
		r.lead(s)
	case s[0] == '#':
		r.flush()
		r.listed = false
		r.outline(plain(text.Unmark(strings.Trim(s, "# "))))
		r.section = text.LowerASCII(plain(text.Unmark(strings.TrimLeft(s, "# "))))
	case s[0] == '|':
		r.flush()
		r.row(s)
	case strings.Trim(s, "-*_= ") == "":
		r.flush()
	case strings.HasSuffix(s, ":") && standingOf(s) == isOpen:
		r.flush()
		r.outline("")
		r.section, r.listed = "next steps", true
	case isHeadline(s), strings.HasSuffix(s, ":") && len(words(s)) <= 4 && standingOf(s) != isSo:
		r.flush()
		r.outline(plain(text.Unmark(strings.Trim(s, "*_ "))))
		r.listed = !isHeadline(s)
		r.section = text.LowerASCII(plain(strings.Trim(s, "*_: ")))
	default:
		if item, box, ok := text.ListItem(s); ok {
			r.flush()
			if box == "[ ]" {
				item = openBox + item
			}
			s, r.item = item, true
			r.heads = append(r.heads, headOf(item))
		} else if r.listed && r.paragraph.Len() == 0 {
			r.section, r.listed = "", false
		}
		s = strings.TrimLeft(s, "> ")
		if r.paragraph.Len() > 0 {
			r.paragraph.WriteByte(' ')
		}
		r.paragraph.WriteString(s)
	}
}

// flush ends a paragraph: it puts its sentences, none if it is empty.
func (r *reader) flush() {
	for _, s := range text.Sentences(plain(text.Unmark(r.paragraph.String())), beginsSentence) {
		r.put(sentence{text: s, item: r.item})
		r.leads = strings.HasSuffix(s, ":")
		switch {
		case r.leads && (!r.item || r.over == ""):
			r.outline(s)
		case !r.item:
			r.outline("")
		}
	}
	r.paragraph.Reset()
	r.item = false
}

// outline puts the list that was read so far into r.outlines, if it says what is so, and begins the
// list below a heading or a sentence that ends in a colon: over, "" for none.
func (r *reader) outline(over string) {
	if r.over != "" && len(r.heads) > 1 && len(r.outlines) < 4 && standingOf(r.over) != isOpen {
		heads := r.heads[:min(len(r.heads), maxHeads)]
		r.outlines = append(r.outlines, sentence{text: strings.TrimRight(r.over, ": ") + ": " + strings.Join(heads, "; "), outline: true})
	}
	r.over, r.heads = over, nil
}

// put adds a sentence under the present section, and sets whether it is so: by its own label, else by
// the section's heading, which it then puts in front of the text. Beyond maxSentences it drops it.
func (r *reader) put(s sentence) {
	if len(r.out) >= maxSentences {
		return
	}
	s.section = r.section
	if s.label, s.is = labelOf(s.text); s.is == isSo && !isFluff(s.text) {
		if s.is = standingOf(r.section); s.is != isSo {
			head := capital(r.section) + ": " // a capital may have another length
			s.text, s.label, s.headed = head+s.text, len(head), true
		}
	}
	r.out = append(r.out, s)
}

// lead adds the first line of a code block to the sentence that leads to it.
func (r *reader) lead(code string) {
	if !r.leads || code == "" || len(r.out) == 0 || strings.HasPrefix(code, "//") || strings.HasPrefix(code, "# ") {
		return
	}
	r.leads = false
	code = shown(code, maxLead)
	if !strings.Contains(code, "`") {
		code = "`" + code + "`"
	}
	s := &r.out[len(r.out)-1]
	s.text, s.code = s.text+" "+code, true
}

// maxLead is how much of a code block is kept with its sentence, in characters.
const maxLead = 110

// row makes a sentence of a row of a table: "first cell: heading value, heading value". The first row
// has the headings; it and the line of dashes below it make none, nor does a row without a first cell.
// A value beyond the headings has none, as it is of a cell with "|" in it.
func (r *reader) row(line string) {
	cells := strings.Split(strings.TrimSuffix(line[1:], "|"), "|")
	rule := true
	for i := range cells {
		cells[i] = plain(text.Unmark(strings.TrimSpace(cells[i])))
		rule = rule && strings.Trim(cells[i], ":- ") == ""
	}
	switch {
	case rule:
		return
	case r.header == nil:
		r.header = cells
		return
	case len(r.header) < len(cells):
		r.header = append(r.header, make([]string, len(cells)-len(r.header))...)
	}
	var parts []string
	if len(cells) == 3 && lang.Is(r.header[1], "before") && lang.Is(r.header[2], "after") && strings.Trim(cells[1]+cells[2], "–-—/ ") != "" {
		r.put(sentence{text: cells[0] + ": " + cells[1] + " → " + cells[2] + ".", row: true})
		return
	}
	for i, cell := range cells[1:] {
		if strings.Trim(cell, "–-—/ ") == "" {
			continue
		}
		if h := r.header[i+1]; h != "" {
			cell = uncapitalFirst(h) + " " + cell
		}
		parts = append(parts, cell)
	}
	if cells[0] == "" || len(parts) == 0 {
		return
	}
	r.put(sentence{text: cells[0] + ": " + strings.Join(parts, ", ") + ".", row: true})
}

// rows returns the first maxHeads rows of a text's tables in one statement, nil if there are fewer
// than two.
func rows(said []sentence) []sentence {
	all := collect.Keep(said, func(s sentence) bool { return s.row })
	if len(all) < 2 {
		return nil
	}
	list := collect.Map(all[:min(len(all), maxHeads)], func(s sentence) string { return strings.TrimRight(s.text, ".") })
	return []sentence{{text: strings.Join(list, "; "), row: true, outline: true}}
}

// maxHeads bounds the items of an outline.
const maxHeads = 8

// headOf returns what a list item is about: what stands before an arrow, a dash or a
// semicolon, without what is in brackets, at most 60 characters.
func headOf(item string) string {
	s := plain(text.Unmark(item))
	for _, mark := range []string{" → ", " -> ", " – ", " — ", " - ", "; ", ". "} {
		if i := strings.Index(s, mark); i > 0 && balanced(s[:i]) {
			s = s[:i]
		}
	}
	if i := strings.Index(s, " ("); i > 0 && balanced(s[:i]) {
		s = s[:i]
	}
	return cut(strings.TrimRight(s, ". 。"), 60)
}

// isHeadline tells a line that is one bold phrase, as agents like to head lists.
func isHeadline(s string) bool {
	t := strings.TrimSuffix(s, ":")
	return len(t) > 4 && len(t) < 60 && strings.HasPrefix(t, "**") && strings.HasSuffix(strings.TrimSuffix(t, ":"), "**") && strings.Count(t, "**") == 2
}

// beginsSentence reports whether s can be the beginning of a sentence: no lower-case
// letter, except in code.
func beginsSentence(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if unicode.IsLower(r) { // a name in code may begin one
		w, _, _ := strings.Cut(s, " ")
		return looksLikeCode(w) || isPathLike(w)
	}
	return true
}

// isPathLike reports whether a word has a slash or ends as a file's name does.
func isPathLike(w string) bool {
	w = strings.Trim(w, ".,;:")
	return strings.Contains(w, "/") || text.HasExtension(w)
}

// isFluff reports whether a sentence says nothing by itself: it is empty, ends with a colon, is a
// pleasantry with at most three words more, or has fewer than four words and names no code.
func isFluff(s string) bool {
	low := text.LowerASCII(strings.TrimRight(s, ".!:? "))
	if low == "" || strings.HasSuffix(s, ":") || lang.Begins(low, "fluff-whole") {
		return true
	}
	// Of the rest, up to three words more tell nothing.
	n, opening := len(strings.Fields(low)), low[:lang.Front(low, "fluff")]
	return (opening != "" && n <= len(strings.Fields(opening))+3 || n < 4 && !tellsUnspaced(low)) && !hasCode(s)
}

// tellsUnspaced reports whether a sentence in a script without blanks is long enough to say
// something: it has ten characters of Chinese or Japanese.
func tellsUnspaced(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			n++
		}
	}
	return n >= 10
}

// hasCode reports whether a word of a sentence looks like code or a path.
func hasCode(s string) bool { return codeWords(s, 1) > 0 }

// codeWords counts the words of a sentence that look like code or a path, up to most.
func codeWords(s string, most int) int {
	n := 0
	for _, w := range strings.Fields(s) {
		if looksLikeCode(w) || isPathLike(w) {
			if n++; n >= most {
				break
			}
		}
	}
	return n
}

// points are what speaks for a text, less what speaks against it.
type points int

// add adds n points if is.
func (p *points) add(n points, is bool) {
	if is {
		*p += n
	}
}

// reportsTests reports whether a sentence only says that checks pass.
func reportsTests(s string) bool {
	return lang.Has(s, "passing") && len(strings.Fields(s)) <= 14 && lang.Has(s, "passing-check") && !lang.Has(s, "explain")
}

// looksAhead reports whether a sentence says what is still to do.
func looksAhead(s sentence) bool {
	return (s.is == isOpen || lang.Has(s.text, "ahead")) && !lang.Has(s.text, "as-ever") // how the program behaves
}

// tellsDecision reports whether a sentence records a choice. Weak wordings count
// only where a choice was asked for.
func tellsDecision(s string, asked bool) bool {
	strong, contrast := lang.Has(s, "decided"), lang.Has(s, "decided-over")
	return strong && (contrast || asked) || asked && contrast && lang.Has(s, "decided-weak")
}

// standing says whether what a sentence tells is so. What is not so keeps the label that
// says it, wherever it is shown, and is no title.
type standing int

const (
	isSo       standing = iota
	isRejected          // weighed or tried, and not taken
	isOpen              // still to be done, or left
	isAssumed           // not known
)

// standingCues are the cues of the labels that suspend what they stand with.
var standingCues = [...]string{isRejected: "rejected-label", isOpen: "open-label", isAssumed: "assumed-label"}

// openBox labels an item of a check list that is not ticked.
const openBox = "Open: "

// maxLabel is how long a label is, in bytes.
const maxLabel = 60

// labelOf returns how many bytes of a statement its label takes ("Not done: ", "(todo) "), 0
// for none, and what the label, or one at the statement's end ("…: todo"), tells of it.
func labelOf(s string) (n int, is standing) {
	if end := strings.IndexAny(s[:min(len(s), maxLabel)], ")]"); end > 0 && (s[0] == '(' || s[0] == '[') {
		if is = standingOf(s[1:end]); is != isSo {
			return end + 1, is
		}
	}
	for _, mark := range []string{": ", ":* ", ":_ ", "：", " – ", " — ", " - "} {
		if head, _, ok := strings.Cut(s[:min(len(s), maxLabel)], mark); ok && len(words(head)) <= 6 {
			if is = standingOf(head); is != isSo {
				return len(head) + len(mark), is
			}
		}
		if i := strings.LastIndex(s, mark); i > 0 && len(words(s[i:])) <= 4 {
			tail := strings.Trim(s[i+len(mark):], ".!。 ")
			if is = standingOf(tail); is != isSo && lang.Begins(tail, standingCues[is], "open-alone") {
				return 0, is
			}
		}
	}
	return 0, isSo
}

// standingOf returns what a label or heading tells of all that it stands with. Of a label
// with brackets ("Option B (not taken)") either part may tell it. What was considered and not
// done is rejected, so that is looked for first.
func standingOf(label string) standing {
	head, bracket, _ := strings.Cut(text.LowerASCII(label), "(")
	for _, part := range []string{head, bracket} {
		part = strings.Trim(part, " *_#:：()[].0123456789")
		if lang.Is(part, "open-alone") {
			return isOpen
		}
		for is := isRejected; is <= isAssumed; is++ {
			if lang.Has(part, standingCues[is]) {
				return is
			}
		}
	}
	return isSo
}
