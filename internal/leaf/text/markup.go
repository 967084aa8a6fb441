package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
)

// The kinds of blocks.
const (
	Paragraph = "paragraph"
	Heading   = "heading"
	Bullets   = "bullets" // its blocks are items, as those of Numbers
	Numbers   = "numbers"
	Item      = "item"
	Code      = "code"
	Table     = "table"
)

// Block is a part of a Markdown text.
type Block struct {
	Kind string
	// Spans are the text of a paragraph, a heading, an item or of code.
	Spans []Span
	// Lang is the language of code, Number that of an item, "" for none.
	Lang, Number string
	// Blocks are the items of a list, or what stands below an item.
	Blocks []*Block
	// Rows are the cells of a table, the first with its headings.
	Rows [][][]Span
}

// Span is a piece of a text without its marks. A line break in it is one of the text.
type Span struct {
	Text       string
	Code, Bold bool
	// Ref is what the piece refers to: an address (http, https, mailto), "#12", "S3" or "a.go:12"; "" for
	// nothing.
	Ref string
}

const (
	// maxPieces bounds the parts of a text; what follows is one paragraph.
	maxPieces = 600
	// maxSpan is the longest piece within a line whose end is looked for, in bytes.
	maxSpan = 2 << 10
	// maxDepth bounds lists in lists, maxColumns tables.
	maxDepth   = 6
	maxColumns = 20
)

// language matches the name of a language behind a fence.
var language = regexp.MustCompile(`^[\w+#.-]{1,20}`)

// Blocks returns the parts of a Markdown text: paragraphs with their line breaks, headings, lists,
// tables and code. All else stays as it was written, but for bytes that are no UTF-8, which become
// U+FFFD: without the marks between them they could become a letter. The time is linear in the length.
func Blocks(md string) []*Block { return blocksOf(md, false) }

// Written returns the parts of a text whose lines mean nothing but themselves, such as a prompt:
// paragraphs as they were written, and code within fences.
func Written(s string) []*Block { return blocksOf(s, true) }

func blocksOf(s string, plain bool) []*Block {
	b := blocks{plain: plain}
	for line := range strings.Lines(strings.ToValidUTF8(s, "\uFFFD")) {
		b.line(strings.TrimRight(line, "\r\n"))
	}
	b.end()
	return b.root.Blocks
}

// blocks reads a text line by line.
type blocks struct {
	root   Block
	plain  bool    // only fences mean something
	levels []level // the lists that are open
	// open is the block to which the next line may belong, nil after an empty line; said are its lines.
	open   *Block
	said   []string
	fence  Fence
	indent int // of the fence
	pieces int
}

// level is a list that is open, with its last item.
type level struct {
	indent     int
	list, item *Block
}

// line reads the next line.
func (b *blocks) line(line string) {
	s := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	inside, rest := b.fence != "", b.pieces > maxPieces
	item, box, isItem := ListItem(s)
	switch {
	case (inside || !rest) && b.fence.Holds(s):
		switch {
		case !inside:
			b.begin(Block{Kind: Code, Lang: language.FindString(strings.TrimLeft(s, "`~ "))}, indent)
			b.indent = indent
		case b.fence == "":
			b.end()
		default:
			b.said = append(b.said, line[min(indent, b.indent):])
		}
	case s == "" && !rest:
		b.end()
	case rest || b.plain:
		b.text(line, 0, Paragraph)
	case s[0] == '|':
		b.text(line, indent, Table)
		b.pieces += strings.Count(s, "|")
	case s[0] == '#' && headline.MatchString(s):
		b.begin(Block{Kind: Heading}, 0)
		b.said = []string{strings.Trim(s, "# ")}
		b.end()
	case isItem && item != "":
		b.item(s, strings.TrimSpace(box+" "+item), indent)
	default:
		b.text(line, indent, Paragraph)
	}
}

// text adds a line to the block that is open, or begins a paragraph or table.
func (b *blocks) text(line string, indent int, kind string) {
	if b.open == nil || (b.open.Kind == Table) != (kind == Table) {
		b.begin(Block{Kind: kind}, indent)
	}
	if len(b.levels) > 0 {
		line = strings.TrimSpace(line)
	}
	b.said = append(b.said, line)
}

// item begins an item in the list of its indentation, or in a new list.
func (b *blocks) item(s, said string, indent int) {
	b.end()
	kind, number := Bullets, ""
	if IsDigit(s[0]) {
		kind, number = Numbers, s[:strings.IndexAny(s, ".)")]
	}
	for n := len(b.levels); n > 0; n = len(b.levels) {
		if last := b.levels[n-1]; indent > last.indent && n < maxDepth || indent == last.indent && kind == last.list.Kind {
			break
		}
		b.levels = b.levels[:n-1]
	}
	if n := len(b.levels); n == 0 || indent > b.levels[n-1].indent {
		b.levels = append(b.levels, level{indent, b.put(Block{Kind: kind}), nil})
	}
	at := &b.levels[len(b.levels)-1]
	at.item = &Block{Kind: Item, Number: number}
	at.list.Blocks = append(at.list.Blocks, at.item)
	b.open, b.said = at.item, []string{said}
	b.pieces++
}

// begin ends the block that is open and begins another, in the item below which it is indented.
func (b *blocks) begin(next Block, indent int) {
	b.end()
	for n := len(b.levels); n > 0 && indent <= b.levels[n-1].indent; n = len(b.levels) {
		b.levels = b.levels[:n-1]
	}
	b.open = b.put(next)
}

// put adds a block to the item that is open, or else to the text.
func (b *blocks) put(next Block) *Block {
	in := &b.root
	if n := len(b.levels); n > 0 {
		in = b.levels[n-1].item
	}
	in.Blocks = append(in.Blocks, &next)
	b.pieces++
	return &next
}

// end ends the block that is open. A table has a line of dashes below its headings.
func (b *blocks) end() {
	switch {
	case b.open == nil:
	case b.open.Kind == Code:
		b.open.Spans = []Span{{Text: strings.Join(b.said, "\n")}}
	case b.open.Kind == Table && len(b.said) > 1 && strings.Trim(b.said[1], "|:- \t") == "":
		for i, line := range b.said {
			if i != 1 {
				b.open.Rows = append(b.open.Rows, b.cells(line))
			}
		}
	default:
		if b.open.Kind == Table {
			b.open.Kind = Paragraph
		}
		b.open.Spans = b.spans(strings.Join(b.said, "\n"))
	}
	b.open, b.said = nil, nil
}

// cells returns the cells of a row.
func (b *blocks) cells(line string) [][]Span {
	cells := strings.SplitN(strings.TrimSuffix(strings.TrimSpace(line)[1:], "|"), "|", maxColumns)
	return collect.Map(cells, func(cell string) []Span { return b.spans(strings.TrimSpace(cell)) })
}

// spans returns the pieces of s, one when there would be too many.
func (b *blocks) spans(s string) []Span {
	all := Spans(s)
	if b.pieces += len(all); b.pieces > maxPieces {
		return []Span{{Text: s}}
	}
	return all
}

// Spans returns the pieces of a text within a block: code, bold text, links and references.
func Spans(s string) []Span { return spansOf(s, false) }

// spansOf returns the pieces of s. With unmark code keeps its backquotes, and a link may lead anywhere.
func spansOf(s string, unmark bool) (out []Span) {
	from := 0
	for i := 0; i < len(s); {
		found, n := spanAt(s, i, unmark)
		if found != nil {
			if i > from {
				out = append(out, Span{Text: s[from:i]})
			}
			out = append(out, found...)
			from = i + n
		}
		i += n
	}
	if from < len(s) {
		out = append(out, Span{Text: s[from:]})
	}
	return out
}

// spanAt returns the pieces that the next n bytes of s from i on make; nil for n bytes, at least one,
// that are only text.
func spanAt(s string, i int, unmark bool) (found []Span, n int) {
	prev, _ := utf8.DecodeLastRuneInString(s[:i])
	rest := Before(s[i:min(len(s), i+maxSpan)], "\n")
	switch {
	case rest == "":
		return nil, 1
	case rest[0] == '`':
		run := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
		code, after, ok := strings.Cut(rest[len(run):], run)
		if n = len(code) + 2*len(run); !ok || strings.HasPrefix(after, "`") {
			return nil, len(run)
		}
		if unmark {
			return []Span{{Text: rest[:n], Code: true}}, n
		}
		code = strings.TrimSpace(code)
		return []Span{{Text: code, Code: true, Ref: wholeRef(code)}}, n
	case strings.HasPrefix(rest, "**") && !inWord(prev) && prev != '*' && prev != '/':
		in, _, ok := strings.Cut(rest[2:], "**")
		if !ok || in == "" || strings.ContainsAny(in, "*") || strings.ContainsAny(in[:1], " /") || strings.HasSuffix(in, " ") {
			return nil, 2
		}
		found = spansOf(in, unmark)
		for i := range found {
			found[i].Bold = true
		}
		return found, len(in) + 4
	case rest[0] == '[' || strings.HasPrefix(rest, "!["):
		image, rest, _ := strings.Cut(rest, "[")
		label, rest, _ := strings.Cut(rest, "](")
		target, _, ok := strings.Cut(rest, ")")
		ref := wholeRef(Before(target, " "))
		if !ok || strings.Contains(label, "]") || inWord(prev) || prev == ']' || prev == ')' || ref == "" && !unmark {
			return nil, 1
		}
		found = spansOf(label, unmark)
		for i := range found {
			found[i].Ref = ref
		}
		return append([]Span{}, found...), len(image) + len("[]()") + len(label) + len(target)
	case rest[0] == '<':
		if end := strings.IndexByte(rest, '>'); end > 0 && strings.HasPrefix(rest[1:], "http") && wholeRef(rest[1:end]) != "" {
			return []Span{{Text: rest[1:end], Ref: rest[1:end]}}, end + 1
		}
		return nil, 1
	case inWord(prev) || strings.ContainsRune("./@~+-&#", prev):
		return nil, 1
	}
	if n = refLen(rest); n > 0 {
		return []Span{{Text: rest[:n], Ref: rest[:n]}}, n
	}
	return nil, 1
}

// inWord reports whether a character is part of a word.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	// address matches an address, reference a record, a session or a place in a file, at the beginning.
	address   = regexp.MustCompile(`^(?:https?://|mailto:)[\pL\d\[][^\s<>"` + "`" + `|\x00-\x1f]+`)
	reference = regexp.MustCompile(`^(?:#\d{1,9}|S\d{1,9}|[\w./@~+-]*\w\.([A-Za-z]\w{0,9}):\d{1,7}(?:[:-]\d{1,7})?)\b`)
	// domains end names of hosts, behind which a port stands.
	domains = Set("com org net io dev local")
)

// refLen returns the length of the reference with which s begins, 0 for none.
func refLen(s string) int {
	if at := address.FindString(s); at != "" {
		at = strings.TrimRight(at, ".,;:!?'*_")
		if !strings.Contains(at, "(") {
			at = strings.TrimRight(at, ").,;:!?'*_")
		}
		return len(at)
	}
	m := reference.FindStringSubmatch(s)
	if m == nil || domains[m[1]] && !strings.Contains(m[0], "/") {
		return 0
	}
	if after := s[len(m[0]):]; len(after) > 1 && strings.IndexByte("-./:@", after[0]) >= 0 && IsIdent(after[1]) {
		return 0 // a longer word
	}
	return len(m[0])
}

// wholeRef returns s if all of it is a reference, else "".
func wholeRef(s string) string {
	if s != "" && refLen(s) == len(s) {
		return s
	}
	return ""
}

// BlockLine is a line of a text on a terminal: spans behind an indentation. What does not fit goes on below
// it, Hang columns further in.
type BlockLine struct {
	Indent, Hang int
	Spans        []Span
}

// BlockLines returns blocks as lines, indented, with an empty one before each block that follows another
// and is no list. width returns the columns of a text.
func BlockLines(all []*Block, indent int, width func(string) int) (out []BlockLine) {
	for i, b := range all {
		mark := ""
		switch {
		case b.Number != "":
			mark = b.Number + ". "
		case b.Kind == Item:
			mark = "- "
		case i > 0 && b.Kind != Bullets && b.Kind != Numbers:
			out = append(out, BlockLine{})
		}
		at, spans := BlockLine{Indent: indent, Hang: len(mark)}, append([]Span{{Text: mark}}, b.Spans...)
		if b.Kind == Code {
			at.Indent += 2
		}
		for i, s := range spans {
			s.Code, s.Bold = s.Code || b.Kind == Code, s.Bold || b.Kind == Heading
			if strings.Contains(s.Ref, "://") && s.Ref != s.Text && (i+1 == len(spans) || spans[i+1].Ref != s.Ref) {
				s.Text += " (" + s.Ref + ")"
			}
			for n, part := range strings.Split(s.Text, "\n") {
				if n > 0 {
					out = append(out, at)
					at.Spans, at.Indent, at.Hang = nil, at.Indent+at.Hang, 0
				}
				if s.Text = part; part != "" {
					at.Spans = append(at.Spans, s)
				}
			}
		}
		if len(b.Rows) > 0 {
			out = append(out, rowLines(b.Rows, indent, width)...)
		} else if len(spans) > 1 {
			out = append(out, at)
		}
		below := indent
		if b.Kind == Item {
			below += len(mark)
		}
		out = append(out, BlockLines(b.Blocks, below, width)...)
	}
	return out
}

// rowLines returns the rows of a table in columns.
func rowLines(rows [][][]Span, indent int, columns func(string) int) (out []BlockLine) {
	widths := map[int]int{}
	width := func(cell []Span) int { return collect.Sum(cell, func(s Span) int { return columns(s.Text) }) }
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for n, row := range rows {
		at := BlockLine{Indent: indent, Hang: 2}
		for i, cell := range row {
			for _, s := range cell {
				s.Bold = s.Bold || n == 0
				at.Spans = append(at.Spans, s)
			}
			if i+1 < len(row) {
				at.Spans = append(at.Spans, Span{Text: strings.Repeat(" ", widths[i]-width(cell)+2)})
			}
		}
		out = append(out, at)
	}
	return out
}
