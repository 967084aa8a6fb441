package hostfiles

import (
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
)

// The lines around the blocks that package agentfiles keeps in files that agents read.
// Behind BeginMarker may stand attributes.
const (
	BeginMarker = "<!-- claude-mem:begin"
	EndMarker   = "<!-- claude-mem:end -->"
)

// The managed blocks of this program, which are not compared: what they say is in the
// memory already.
var managed = []struct{ begin, end string }{
	{BeginMarker, strings.TrimSuffix(EndMarker, " -->")},
	{"<claude-mem-context", "</claude-mem-context>"},
}

// page is a Markdown file taken apart.
type page struct {
	// items are sentences that stand together: each is a statement, and all of an item are.
	items   [][]string
	imports []string
}

// parser takes Markdown apart line by line.
type parser struct {
	page
	paragraph strings.Builder
	// indent is that of the paragraph's list item, -1 when it is none.
	indent int
	// task says that the item has a box to tick.
	task    bool
	literal literal
	// until is the marker at the end of the managed block that is being skipped, "" outside of one.
	until string
	// muted is the level of a heading under which nothing counts ("## Don't"), 0 for none.
	muted int
	// lead is the indentation of a line that ends in a colon and changes what the items
	// below it say ("Never:"), when led.
	lead int
	led  bool
	// gap says that the line before is empty.
	gap bool
}

// parsePage returns the statements of a file and the files that it imports. Left out are
// code blocks, tables, comments, tasks, what is struck through, what our own managed
// blocks say, and lists that a heading or a lead-in denies or restricts.
func parsePage(md string) page {
	p := &parser{indent: -1}
	for line := range strings.Lines(withoutFrontMatter(md)) {
		p.line(strings.TrimRight(line, "\n"))
	}
	p.flush()
	return p.page
}

// withoutFrontMatter returns md without the block of metadata at its start.
func withoutFrontMatter(md string) string {
	md = strings.ReplaceAll(strings.TrimPrefix(md, "\ufeff"), "\r\n", "\n")
	if rest, ok := strings.CutPrefix(md, "---"); ok {
		if meta, body, closed := strings.Cut(rest, "\n---\n"); closed && (meta == "" || meta[0] == '\n') {
			return body
		}
	}
	return md
}

// line takes the next line of the file, without its end.
func (p *parser) line(line string) {
	s := strings.TrimSpace(line)
	if p.until != "" {
		if strings.Contains(s, p.until) {
			p.until = ""
		}
		return
	}
	for !p.literal.open() && strings.HasPrefix(s, "<!--") && strings.Contains(s, "-->") && !strings.HasPrefix(s, BeginMarker) {
		_, line, _ = strings.Cut(s, "-->")
		s = strings.TrimSpace(line)
	}
	if p.skips(s) || p.literal.line(line) {
		p.flush()
		return
	}
	item, box, isItem := text.ListItem(s)
	switch {
	case s == "":
		p.flush()
		p.gap = true
		return
	case s[0] == '#':
		p.flush()
		p.heading(s)
	case s[0] == '|', strings.Trim(s, "-*_= ") == "":
		p.flush()
	case isItem:
		p.flush()
		p.indent = len(line) - len(strings.TrimLeft(line, " \t"))
		if p.led && p.indent <= p.lead {
			p.led = false
		}
		p.task = box != "" // no fact
		p.paragraph.WriteString(item)
	default:
		if p.gap && line[0] == s[0] { // A paragraph ends a list; text below an item is indented.
			p.indent, p.led = -1, false
		}
		p.paragraph.WriteByte(' ')
		p.paragraph.WriteString(strings.TrimLeft(s, "> "))
	}
	p.gap = false
}

// skips reports whether a managed block begins in this line.
func (p *parser) skips(s string) bool {
	if p.literal.open() {
		return false
	}
	for _, m := range managed {
		if strings.HasPrefix(s, m.begin) {
			if !strings.Contains(s, m.end) {
				p.until = m.end
			}
			return true
		}
	}
	return false
}

// heading notes whether what follows counts.
func (p *parser) heading(s string) {
	title := strings.TrimLeft(s, "#")
	level := len(s) - len(title)
	p.indent, p.led = -1, false
	if p.muted != 0 && level > p.muted {
		return
	}
	p.muted = 0
	if turns(title) {
		p.muted = level
	}
}

// turning words in a heading or a lead-in make what is below it say something else.
var turning = text.Set(`not never dont don't donts don'ts cannot cant can't wont won't no without avoid avoided forbidden prohibited
	deprecated obsolete legacy outdated wrong bad anti antipatterns anti-patterns mistakes pitfalls old former formerly
	past rejected discarded todo todos ideas proposals proposed planned questions example examples unless except if when only`)

// turns reports whether a heading or a lead-in changes what is below it.
func turns(title string) bool {
	fields := strings.Fields(strings.ToLower(strings.ReplaceAll(title, "’", "'")))
	return slices.ContainsFunc(fields, func(field string) bool { return turning[trimField(field)] })
}

// codeSpan is text between backticks; importPattern is an import, as Claude Code
// finds it in the rest.
var (
	codeSpan      = regexp.MustCompile("`[^`]*`")
	importPattern = regexp.MustCompile(`(?:^|\s)@([^\s\\#]+)`)
	linked        = regexp.MustCompile(`^\[([^\]]+)\]\([^)]*\)\s*[—–:-]+\s*(.+)$`)
)

// flush ends the paragraph or item.
func (p *parser) flush() {
	s := strings.TrimSpace(p.paragraph.String())
	p.paragraph.Reset()
	task := p.task
	p.task = false
	if s == "" {
		return
	}
	if strings.Contains(s, "@") {
		p.imports = append(p.imports, collect.Map(importPattern.FindAllStringSubmatch(codeSpan.ReplaceAllString(s, "``"), -1), func(m []string) string { return m[1] })...)
	}
	if p.muted != 0 || p.led && (p.indent > p.lead || p.indent < 0) {
		return
	}
	if strings.HasSuffix(strings.Trim(s, "* "), ":") {
		if turns(s) {
			p.lead, p.led = p.indent, true
		}
		return
	}
	if task || strings.Contains(s, "~~") {
		return
	}
	if s[0] == '[' {
		if m := linked.FindStringSubmatch(s); m != nil { // "[Title](file.md) — what it says"
			p.say(m[1])
			p.say(m[2])
		}
	}
	p.say(s)
}

// say adds a text as an item. Questions say nothing; the rest of their text does not
// stand together.
func (p *parser) say(s string) {
	item := sentences(text.Unmark(s))
	asks := func(s string) bool { return strings.HasSuffix(s, "?") }
	if !slices.ContainsFunc(item, asks) {
		p.items = append(p.items, item)
		return
	}
	p.items = append(p.items, collect.Pick(item, func(s string) ([]string, bool) { return []string{s}, !asks(s) })...)
}

// LiteralLines returns which lines of a Markdown file are literal. A part that does not end is
// not: a block that was added behind it is found again.
func LiteralLines(md string) (lines []bool) {
	var l literal
	from := 0
	for line := range strings.Lines(md) {
		if !l.open() {
			from = len(lines)
		}
		lines = append(lines, l.line(line))
	}
	if l.open() {
		clear(lines[from:])
	}
	return lines
}

// literal follows which lines of a Markdown file are shown as they are or not at all: those of
// fenced code, of comments and of <pre> and the like. What else Markdown gives a meaning has none
// there. The zero value stands at the beginning of a file.
type literal struct {
	// fence is what opened the code, until what ends the comment or element; "" for none.
	fence text.Fence
	until string
}

// literals are what begins and ends a part that is literal, at the beginning of a line.
var literals = []struct{ begin, end string }{
	{"<!--", "-->"}, {"<pre", "</pre>"}, {"<script", "</script>"}, {"<style", "</style>"}, {"<textarea", "</textarea>"},
}

// line reports whether the next line of the file is literal.
func (l *literal) line(line string) bool {
	s := strings.TrimSpace(line)
	switch {
	case l.fence != "":
		return l.fence.Holds(s)
	case l.until != "":
		// Our own markers end nobody's comment.
		if strings.Contains(strings.ToLower(s), l.until) && !strings.HasPrefix(s, "<!-- claude-mem:") {
			l.until = ""
		}
		return true
	}
	for item, _, ok := text.ListItem(s); ok; item, _, ok = text.ListItem(s) {
		s = strings.TrimSpace(item)
	}
	if l.fence.Holds(s) {
		return true
	}
	lower := strings.ToLower(s)
	for _, p := range literals {
		if rest, ok := strings.CutPrefix(lower, p.begin); ok && !strings.Contains(rest, p.end) {
			l.until = p.end
			return true
		}
	}
	return false
}

// open reports whether what follows is literal.
func (l *literal) open() bool { return string(l.fence)+l.until != "" }
