package text

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
)

// listItem is a list item of Markdown: its mark, its task box and its text.
var listItem = regexp.MustCompile(`^(?:[-*+•–]|\d{1,3}[.)]) (?:(\[[ xX]\])(?: +|$))?(.*)$`)

// ListItem returns the text of a Markdown list item without its mark, and apart its task box, "[ ]" or
// "[x]", "" for none; false for another line. The mark begins the line: blanks before it are removed by
// the caller. A number has at most three digits.
func ListItem(s string) (item, box string, ok bool) {
	m := listItem.FindStringSubmatch(s)
	if m == nil {
		return "", "", false
	}
	return m[2], LowerASCII(m[1]), true
}

var fence = regexp.MustCompile("^(?:`{3,}|~{3,})")

// FenceOf returns the three or more backquotes or tildes with which the line s begins a block of code,
// "" for none: code that ends in the same line is none. The block ends with a line of nothing else than
// as many of them or more.
func FenceOf(s string) string {
	run := fence.FindString(s)
	if strings.Contains(s[len(run):], "```") {
		return ""
	}
	return run
}

// Fence is what has begun the block of code that is being read, "" outside of one.
type Fence string

// Holds reports whether the next line, without the blanks around it, is in a block of code or begins or
// ends one.
func (f *Fence) Holds(s string) bool {
	run := FenceOf(s)
	if *f == "" {
		*f = Fence(run)
		return run != ""
	}
	if run == s && strings.HasPrefix(run, string(*f)) {
		*f = ""
	}
	return true
}

// headline matches a heading, and a line that is one bold phrase, as agents like to head lists.
var headline = regexp.MustCompile(`^(?:#+ (.*?)[# ]*|\*\*([^*]+)\*\*:?)$`)

// Unmark takes bold marks and links out of Markdown; code keeps its backquotes.
func Unmark(s string) string {
	if !ContainsAny(s, "**", "](", "<http") {
		return s
	}
	var out strings.Builder
	for _, span := range spansOf(s, true) {
		out.WriteString(span.Text)
	}
	return out.String()
}

const (
	// listed is up to which length, in bytes, a list is one statement with what leads to it.
	listed = 300
	// wrapped is from which length, in bytes, a line may go on in the next.
	wrapped = 60
	// codeLines bounds what is kept of a block of code.
	codeLines = 3
)

// prose makes statements of Markdown, line by line.
type prose struct {
	out [][]byte // bytes, which grow without being copied for each line
	// lead leads to list: a heading, or a sentence that ends in a colon. list are items, rows of
	// a table, lines of code; top is the indentation of the first.
	lead   string
	list   [][]byte
	top    int
	header []string // of a table
	fence  string
	quoted bool // the fence stands in a quotation, with which it ends
	code   int  // lines of code so far
	// last is what the line before was added to, if it may go on in the next; width is its length.
	last  *[]byte
	width int
}

// Prose returns what Markdown says, a statement a line: a paragraph; or a list, table or block of
// code with the heading or sentence that leads to it, if that is long an item each. An open task
// box stays in front of its item. Code to which nothing leads is left out, except at the beginning.
func Prose(md string) []string {
	var p prose
	for line := range strings.Lines(md) {
		p.read(line)
	}
	p.flush()
	return collect.Map(p.out, func(said []byte) string { return string(said) })
}

// OneLine returns what Markdown says as one line, as Plain has it.
func OneLine(md string) string {
	md = strings.TrimSpace(md)
	if !strings.Contains(md, "\n") && !listItem.MatchString(md) && !headline.MatchString(md) {
		return Plain(Unmark(md))
	}
	said := Prose(md)
	for i, s := range said[:max(len(said)-1, 0)] {
		if last, _ := utf8.DecodeLastRuneInString(s); !strings.ContainsRune(".!?:;…。！？：", last) {
			said[i] += ";"
		}
	}
	return Plain(strings.Join(said, " "))
}

// read reads the next line.
func (p *prose) read(line string) {
	s := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	quoted := strings.HasPrefix(s, ">")
	if p.quoted && !quoted {
		p.fence = ""
	}
	for (p.fence == "" || p.quoted) && (s == ">" || strings.HasPrefix(s, "> ")) {
		s = strings.TrimSpace(s[1:])
	}
	last := p.last
	p.last = nil
	item, box, isItem := ListItem(s)
	switch run, head := FenceOf(s), headline.FindStringSubmatch(s); {
	case p.fence != "" && run == s && strings.HasPrefix(run, p.fence):
		p.fence = ""
	case p.fence != "":
		p.addCode(s, indent)
	case run != "":
		p.fence, p.code, p.quoted = run, 0, quoted
	case strings.Trim(s, "-*_=> ") == "" || isItem && item == "":
		p.header = nil
	case head != nil:
		p.flush()
		p.lead = Unmark(strings.TrimRight(head[1]+head[2], ": ")) + ":"
	case s[0] == '|':
		p.row(strings.Split(strings.Trim(s, "| "), "|"))
	case isItem:
		if box == "[ ]" {
			item = box + " " + item
		}
		p.add(Unmark(item), indent)
		p.last, p.width = &p.list[len(p.list)-1], len(line)
	case last == nil && indent >= 4 && p.lead != "":
		p.addCode(s, indent)
	case last != nil && (p.width >= wrapped || startsLower(s)):
		*last = append(append(*last, ' '), Unmark(s)...)
		p.last, p.width = last, len(line)
	default:
		p.say(Unmark(s))
		p.width = len(line)
	}
}

// startsLower reports whether a text begins with a small letter.
func startsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// say begins a paragraph. Its last sentence leads to what follows if it ends in a colon.
func (p *prose) say(s string) {
	if len(p.list) > 0 {
		p.flush()
	}
	s, p.lead = strings.TrimSpace(p.lead+" "+s), ""
	if said := Sentences(s, nil); strings.HasSuffix(s, ":") {
		p.lead = said[len(said)-1]
		if s = strings.Join(said[:len(said)-1], " "); s == "" {
			return
		}
	}
	p.out = append(p.out, []byte(s))
	p.last = &p.out[len(p.out)-1]
}

// add adds an entry to the list, or to its last entry if it stands below that.
func (p *prose) add(s string, indent int) {
	if len(p.list) == 0 {
		p.top = indent
	} else if last := &p.list[len(p.list)-1]; indent > p.top {
		if bytes.Contains(*last, []byte(": ")) {
			*last = append(append(*last, ", "...), s...)
		} else {
			*last = append(append(bytes.TrimRight(*last, ".:"), ": "...), s...)
		}
		return
	}
	p.list = append(p.list, []byte(s))
}

// addCode adds a line of code to what leads to it.
func (p *prose) addCode(s string, indent int) {
	s = strings.TrimPrefix(s, "$ ")
	leads := p.lead != "" || len(p.out) == 0 && len(p.list) == 0 || len(p.list) > 0 && (indent > p.top || p.code > 0)
	if s == "" || strings.HasPrefix(s, "# ") || strings.HasPrefix(s, "//") || p.code == codeLines || !leads {
		return
	}
	p.code++
	p.add("`"+strings.ReplaceAll(s, "`", "'")+"`", indent)
}

// row adds a row of a table: "first cell: heading value, heading value". The first row has the
// headings; the line of dashes below it says nothing.
func (p *prose) row(cells []string) {
	cells = collect.Map(cells, func(cell string) string { return Unmark(strings.TrimSpace(cell)) })
	switch {
	case strings.Trim(strings.Join(cells, ""), ":- ") == "":
	case p.header == nil:
		p.header = cells
	default:
		var values []string
		for i, cell := range cells[1:] {
			if i+1 < len(p.header) && strings.Trim(cell, "–-—") != "" {
				values = append(values, strings.TrimSpace(p.header[i+1]+" "+cell))
			}
		}
		p.add(strings.Trim(cells[0]+": "+strings.Join(values, ", "), ": "), 0)
	}
}

// flush ends a list.
func (p *prose) flush() {
	for i, entry := range p.list {
		p.list[i] = entry[:len(Unstopped(string(entry)))]
	}
	joined := p.lead + " " + string(bytes.Join(p.list, []byte("; ")))
	switch {
	case p.lead == "":
		p.out = append(p.out, p.list...)
	case len(p.list) == 0 || len(joined) <= listed:
		p.out = append(p.out, []byte(strings.TrimRight(joined, ": ")))
	default:
		p.out = append(p.out, collect.Map(p.list, func(s []byte) []byte { return []byte(p.lead + " " + string(s)) })...)
	}
	p.lead, p.list, p.header = "", nil, nil
}

// Unstopped returns a text without the full stop at its end. Dots that are a path or a word ("./...",
// "go run .") are none.
func Unstopped(s string) string {
	s = strings.TrimRight(s, " ")
	if said := strings.TrimRight(s, "."); said != "" && !strings.ContainsAny(said[len(said)-1:], `/\ `) {
		return said
	}
	return s
}

var abbreviations = Set("e.g. i.e. vs. etc. cf. approx. no. resp. incl. z.b. ca. fig. mr. mrs. ms. dr. st.")

// Sentences splits one plain paragraph into its sentences, trimmed; nil for a blank one. A full stop,
// question or exclamation mark ends a sentence when a space follows and what comes next can begin one,
// as begins says of the rest (nil: anything can); not in code, and not behind an abbreviation. Dots that are a word or end a
// path ("go run . docs", "./... passes") end none, nor do several before a small letter.
func Sentences(s string, begins func(rest string) bool) []string {
	var out []string
	start, code := 0, false
	emit := func(end int) {
		if t := strings.TrimSpace(s[start:end]); t != "" {
			out = append(out, t)
		}
		start = end
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		switch r {
		case '`':
			code = !code
		case '。', '！', '？':
			emit(next)
		case '.', '!', '?':
			if code {
				break
			}
			for next < len(s) && strings.IndexByte(".!?\")'", s[next]) >= 0 {
				next++
			}
			if next == len(s) {
				break
			}
			if s[next] != ' ' || next+1 == len(s) || begins != nil && !begins(s[next+1:]) || r == '.' && Unstopped(s[start:i+1]) == s[start:i+1] {
				break
			}
			if word := AfterLast(s[start:next], " "); !abbreviations[LowerASCII(word)] && (!strings.HasSuffix(word, "..") || !startsLower(s[next+1:])) {
				emit(next)
			}
		}
		i = next
	}
	emit(len(s))
	return out
}
