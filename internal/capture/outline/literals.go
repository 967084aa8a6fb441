package outline

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

// lexicons by the name of the language.
var lexicons = map[string]*lexicon{
	"go": {comments: cComments, blocks: cBlocks, quotes: []quote{
		{open: "`", close: "`", raw: true, lines: true}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"javascript": {comments: cComments, blocks: cBlocks, wordBytes: "$#", special: scriptLiteral, quotes: []quote{
		{open: "`", close: "`", lines: true, code: "${"}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"python": {comments: []string{"#"}, indents: true, quotes: []quote{
		{open: `"""`, close: `"""`, lines: true}, {open: "'''", close: "'''", lines: true}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"rust": {comments: cComments, blocks: cBlocks, nested: true, special: rustLiteral, quotes: []quote{
		{open: `"`, close: `"`, lines: true}}},
	"java": {comments: cComments, blocks: cBlocks, wordBytes: "$", quotes: []quote{
		{open: `"""`, close: `"""`, lines: true}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"kotlin": {comments: cComments, blocks: cBlocks, nested: true, quotes: []quote{
		{open: `"""`, close: `"""`, raw: true, lines: true, code: "${"}, {open: `"`, close: `"`, code: "${"}, {open: "'", close: "'"}, {open: "`", close: "`"}}},
	"c": {comments: cComments, blocks: cBlocks, directives: true, special: cLiteral, quotes: []quote{
		{open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"csharp": {comments: cComments, blocks: cBlocks, directives: true, special: csharpLiteral, quotes: []quote{
		{open: `"`, close: `"`}, {open: "'", close: "'"}}},
	"php": {comments: []string{"//", "#"}, blocks: cBlocks, wordBytes: "$\\", special: phpLiteral, quotes: []quote{
		{open: `"`, close: `"`, lines: true, code: "{$"}, {open: "'", close: "'", lines: true}, {open: "`", close: "`", lines: true}}},
	"swift": {comments: cComments, blocks: cBlocks, nested: true, conditions: true, special: swiftLiteral, quotes: []quote{
		{open: `"""`, close: `"""`, lines: true, code: `\(`}, {open: `"`, close: `"`, code: `\(`}, {open: "`", close: "`"}}},
	"ruby": {comments: []string{"#"}, wordBytes: "@$", special: rubyLiteral, quotes: []quote{
		{open: `"`, close: `"`, lines: true, code: "#{"}, {open: "'", close: "'", lines: true}, {open: "`", close: "`", lines: true, code: "#{"}}},
}

var (
	cComments = []string{"//"}
	cBlocks   = [2]string{"/*", "*/"}
)

// In this file pos, p and end are indexes of l.src. A lexicon's function returns the end of the
// literal at pos, which is within l.src, and false without one there. It does not go on itself: run
// makes a token up to the end. Where a literal does not end, l.broken is set.

// scriptLiteral lexes regular expressions and elements of JSX.
func scriptLiteral(l *lexer, pos int) (int, bool) {
	switch {
	case l.src[pos] == '/' && l.expression(true):
		return l.regexpEnd(pos, false)
	case l.src[pos] == '<' && l.jsx && l.expression(false) && pos+1 < len(l.src) && (text.IsIdent(l.src[pos+1]) || l.src[pos+1] == '>'):
		return l.elementEnd(pos, 0)
	}
	return 0, false
}

// beforeExpressions are the words of JavaScript and Ruby after which "/" begins a
// regular expression, and "<" an element.
var beforeExpressions = text.Set(`return typeof case in of delete void throw new else do yield await instanceof default and or not if unless while until when then puts`)

// expression reports whether an expression begins after the last token, as opposed to
// an operator. It returns afterBlock after "}", where both are possible. After ")" one begins
// only if this closes the condition of an if, while or for.
func (l *lexer) expression(afterBlock bool) bool {
	if len(l.tokens) == 0 {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	switch last.kind {
	case word:
		return beforeExpressions[string(l.src[last.start:last.end])]
	case number, literal, markup, ']':
		return false
	case '}':
		return afterBlock
	case ')':
		if last.match > 0 {
			before := l.tokens[last.match-1]
			w := string(l.src[before.start:before.end])
			return w == "if" || w == "while" || w == "for"
		}
		return false
	}
	return true
}

// maxRegexp bounds a regular expression, in bytes.
const maxRegexp = 4 << 10

// regexpEnd returns the end of the regular expression /.../flags at pos; false without one, such as
// for a division. With lines it may go on over line ends. How far it looked in vain is kept in
// noRegexp, so that a file takes linear time.
func (l *lexer) regexpEnd(pos int, lines bool) (int, bool) {
	if pos < l.noRegexp {
		return 0, false
	}
	class, end := false, pos+1
	for ; end < min(len(l.src), pos+maxRegexp) && (lines || l.src[end] != '\n'); end++ {
		switch c := l.src[end]; {
		case c == '\\':
			end++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for end++; end < len(l.src) && text.IsIdent(l.src[end]); end++ {
			}
			return end, true
		}
	}
	l.noRegexp = end
	return 0, false
}

// elementEnd returns the end of the JSX element at pos; depth is the number of elements around it.
// ok is false when it does not end, or when its name is a type parameter.
func (l *lexer) elementEnd(pos, depth int) (end int, ok bool) {
	if depth > maxNesting {
		l.noElement = pos
	}
	if depth > maxNesting || pos < l.noElement {
		return 0, false
	}
	p := pos + 1
	for p < len(l.src) && (text.IsIdent(l.src[p]) || strings.IndexByte(".-:", l.src[p]) >= 0) {
		p++
	}
	// <T,> and <T extends U> are type parameters.
	if rest := bytes.TrimLeft(l.src[p:min(len(l.src), p+16)], " "); bytes.HasPrefix(rest, []byte(",")) || bytes.HasPrefix(rest, []byte("extends ")) {
		return 0, false
	}
	for p < len(l.src) { // attributes
		switch c := l.src[p]; c {
		case '>':
			return l.childrenEnd(p+1, depth)
		case '/':
			if l.has(p, "/>") {
				return p + 2, true
			}
			p++
		case '{':
			p = l.codeEnd(p+1, '{')
		case '"', '\'':
			n := bytes.IndexByte(l.src[p+1:], c)
			if n < 0 {
				return l.endless()
			}
			p += n + 2
		case '(', ')', ';': // no attribute has one: "<" compares, or begins type parameters
			l.noElement = p
			return 0, false
		default:
			p++
		}
	}
	return l.endless()
}

// endless returns that there is no element and looks for no other one in the file: each
// would be looked for up to the end of the file.
func (l *lexer) endless() (int, bool) {
	l.jsx = false
	return 0, false
}

// childrenEnd returns the end of the JSX element whose children begin at p. The closing tag's name
// is not compared.
func (l *lexer) childrenEnd(p, depth int) (int, bool) {
	for p < len(l.src) {
		switch {
		case l.src[p] == '{':
			p = l.codeEnd(p+1, '{')
		case l.has(p, "</"):
			if n := bytes.IndexByte(l.src[p:], '>'); n > 0 {
				return p + n + 1, true
			}
			return l.endless()
		case l.src[p] == '<':
			end, ok := l.elementEnd(p, depth+1)
			if !ok {
				return 0, false
			}
			p = end
		default:
			p++
		}
	}
	return l.endless()
}

// rustLiteral lexes characters, lifetimes ('a, a literal of its own) and raw strings.
func rustLiteral(l *lexer, pos int) (int, bool) {
	if l.src[pos] == '\'' {
		if l.has(pos+1, `\`) { // the byte behind the backslash may be a quote
			if n := bytes.IndexByte(l.src[min(len(l.src), pos+3):], '\''); n >= 0 {
				return pos + 3 + n + 1, true
			}
			return 0, false
		}
		if _, size := utf8.DecodeRune(l.src[pos+1:]); l.has(pos+1+size, "'") {
			return pos + 1 + size + 1, true
		}
		end := pos + 1
		for end < len(l.src) && text.IsIdent(l.src[end]) {
			end++
		}
		return end, true
	}
	for _, prefix := range [...]string{"r", "br", "cr"} {
		if l.has(pos, prefix) {
			if end, ok := l.fenced(pos+len(prefix), '#', true); ok {
				return end, true
			}
		}
	}
	return 0, false
}

// fenced returns the end of a raw string ##"..."## at pos; without any fence too when
// bare is set. A fence has at most 15 marks.
func (l *lexer) fenced(pos int, fence byte, bare bool) (int, bool) {
	const longest = 16
	begin := l.src[pos:min(len(l.src), pos+longest)]
	n := len(begin) - len(bytes.TrimLeft(begin, string(fence)))
	if n == 0 && !bare || !l.has(pos+n, `"`) {
		return 0, false
	}
	return l.until(pos+n+1, `"`+strings.Repeat(string(fence), n)), true
}

// until returns the position after the next s, or the end of src where s is missing: the file is
// broken then.
func (l *lexer) until(pos int, s string) int {
	pos = min(pos, len(l.src))
	if n := bytes.Index(l.src[pos:], []byte(s)); n >= 0 {
		return pos + n + len(s)
	}
	l.broken = true
	return len(l.src)
}

// cLiteral lexes the raw strings of C++: R"tag(...)tag".
func cLiteral(l *lexer, pos int) (int, bool) {
	for _, prefix := range [...]string{`R"`, `u8R"`, `LR"`, `uR"`, `UR"`} {
		if !l.has(pos, prefix) {
			continue
		}
		start := pos + len(prefix)
		if n := bytes.IndexByte(l.src[start:min(len(l.src), start+18)], '('); n >= 0 { // a tag has at most 16 bytes
			return l.until(start+n+1, ")"+string(l.src[start:start+n])+`"`), true
		}
	}
	return 0, false
}

// csharpLiteral lexes verbatim, interpolated and raw strings; those without "$" and "@" before the
// quote are the table's, except raw ones.
func csharpLiteral(l *lexer, pos int) (int, bool) {
	p := pos
	verbatim, code := false, false
	for p < min(len(l.src), pos+16) && (l.src[p] == '$' || l.src[p] == '@') {
		verbatim = verbatim || l.src[p] == '@'
		code = code || l.src[p] == '$'
		p++
	}
	quotes := len(l.src) - p - len(bytes.TrimLeft(l.src[p:], `"`))
	if quotes >= 3 && !verbatim {
		return l.until(p+quotes, strings.Repeat(`"`, quotes)), true
	}
	if quotes == 0 || p == pos {
		return 0, false
	}
	for p++; p < len(l.src); {
		switch c := l.src[p]; {
		case c == '"' && verbatim && l.has(p, `""`), code && (l.has(p, "{{") || l.has(p, "}}")):
			p += 2
		case c == '"':
			return p + 1, true
		case c == '\\' && !verbatim:
			p += 2
		case c == '{' && code:
			p = l.codeEnd(p+1, '{')
		case c == '\n' && !verbatim:
			return p, true
		default:
			p++
		}
	}
	l.broken = true
	return len(l.src), true
}

// phpLiteral lexes heredocs and what is outside of PHP.
func phpLiteral(l *lexer, pos int) (int, bool) {
	switch {
	case l.has(pos, "?>"):
		return l.htmlEnd(pos + 2), true
	case l.has(pos, "<<<"):
		if tag, after, ok := l.heredocTag(pos+3, ""); ok {
			return l.heredocEnd(after, tag), true
		}
	}
	return 0, false
}

// htmlEnd returns where PHP begins again after pos.
func (l *lexer) htmlEnd(pos int) int {
	for pos < len(l.src) {
		n := bytes.Index(l.src[pos:], []byte("<?"))
		if n < 0 {
			break
		}
		pos += n + len("<?")
		for _, opener := range [...]string{"php", "="} {
			if l.has(pos, opener) {
				return pos + len(opener)
			}
		}
	}
	return len(l.src)
}

// heredocTag returns the tag of a heredoc, which may be quoted, and where it ends. pos is behind the
// opener; marks are the bytes that may stand before the tag, "" for blanks. With marks (Ruby) the
// opener is an operator too: the tag must then be quoted or begin with a capital letter.
func (l *lexer) heredocTag(pos int, marks string) (tag []byte, after int, ok bool) {
	pos = len(l.src) - len(bytes.TrimLeft(l.src[pos:], cmp.Or(marks, " ")))
	var q byte
	if pos < len(l.src) && (l.src[pos] == '"' || l.src[pos] == '\'') {
		q = l.src[pos]
		pos++
	}
	end := pos
	for end < len(l.src) && text.IsIdent(l.src[end]) {
		end++
	}
	tag = l.src[pos:end]
	if len(tag) == 0 || text.IsDigit(tag[0]) || q == 0 && marks != "" && (tag[0] < 'A' || tag[0] > 'Z') {
		return nil, 0, false
	}
	if q != 0 && end < len(l.src) && l.src[end] == q {
		end++
	}
	return tag, end, true
}

// heredocEnd returns the end of the heredoc whose text begins in the line after pos: that
// of its tag, the first word of a line. Without it the file is broken to its end.
func (l *lexer) heredocEnd(pos int, tag []byte) int {
	for line := l.lineEnd(pos) + 1; line < len(l.src); line = l.lineEnd(line) + 1 {
		s := bytes.TrimLeft(l.src[line:l.lineEnd(line)], " \t")
		if bytes.HasPrefix(s, tag) && (len(s) == len(tag) || !text.IsIdent(s[len(tag)])) {
			return l.lineEnd(line) - len(s) + len(tag)
		}
	}
	l.broken = true
	return len(l.src)
}

// rubyHeredoc returns the end of the mark of a heredoc at pos: <<~TAG. What follows it in
// its line is code; its text begins in the next line, or after that of another heredoc. Where the
// text ends is kept in l.heredoc, from which run makes a token of it at the line end.
func (l *lexer) rubyHeredoc(pos int) (int, bool) {
	tag, after, ok := l.heredocTag(pos+2, "~-")
	if !ok || l.nesting > 0 { // code in a literal has none: its text would be behind the literal
		return 0, false
	}
	l.heredoc = l.heredocEnd(max(after, l.heredoc), tag)
	return after, true
}

// swiftLiteral lexes raw strings, #"..."#, and regular expressions, /.../ and #/.../#.
func swiftLiteral(l *lexer, pos int) (int, bool) {
	switch {
	case l.has(pos, "#/"):
		return l.until(pos+2, "/#"), true
	case l.src[pos] == '#':
		return l.fenced(pos, '#', false)
	case l.src[pos] == '/' && l.expression(false) && pos+1 < len(l.src) && strings.IndexByte(" )\t\n", l.src[pos+1]) < 0:
		return l.regexpEnd(pos, false)
	}
	return 0, false
}

// rubyLiteral lexes names that end with "?" or "!", symbols, heredocs, regular
// expressions, lists (%w[a b]) and comments between =begin and =end.
func rubyLiteral(l *lexer, pos int) (int, bool) {
	switch c := l.src[pos]; {
	case l.newline && l.has(pos, "=begin"):
		return l.lineEnd(l.until(pos, "\n=end")), true
	case l.newline && l.has(pos, "__END__"):
		return len(l.src), true
	case c == ':' && pos+1 < len(l.src) && (text.IsIdent(l.src[pos+1]) || l.src[pos+1] == '"') && (pos == 0 || l.src[pos-1] != ':'):
		if l.src[pos+1] == '"' {
			return 0, false
		}
		return l.rubyName(pos + 1), true
	case c == '/' && l.rubyArgument(pos):
		return l.regexpEnd(pos, l.newline || l.expression(false))
	case l.has(pos, "<<~"), l.has(pos, "<<-"), l.has(pos, "<<") && l.rubyArgument(pos):
		return l.rubyHeredoc(pos)
	case c == '%' && l.rubyArgument(pos):
		return l.percentEnd(pos)
	case c == '?' && l.expression(false) && (pos == 0 || !text.IsIdent(l.src[pos-1])):
		return l.rubyCharacterEnd(pos)
	case c == '$' && pos+1 < len(l.src) && strings.IndexByte("'\"`/&~!@,;.<>*$?:+", l.src[pos+1]) >= 0:
		return pos + 2, true // a variable of the interpreter: $', $!
	}
	return 0, false
}

// rubyCharacterEnd returns the end of the character at pos: ?a, ?\n, ?".
func (l *lexer) rubyCharacterEnd(pos int) (int, bool) {
	end := pos + 1
	if l.has(end, `\`) {
		end++
	}
	if end >= len(l.src) || l.src[end] <= ' ' {
		return 0, false
	}
	_, size := utf8.DecodeRune(l.src[end:])
	if end += size; end < len(l.src) && text.IsIdent(l.src[end]) {
		return 0, false // a ?b : c
	}
	return end, true
}

// rubyName returns the end of the name at pos with its "?" or "!".
func (l *lexer) rubyName(pos int) int {
	end := l.wordEnd(pos)
	if end < len(l.src) && (l.src[end] == '?' || l.src[end] == '!') && !l.has(end+1, "=") {
		end++
	}
	return end
}

// rubyArgument reports whether the mark at pos begins a literal: no value stands before
// it, or it stands like an argument, with a blank before it and none behind. (Behind "<<"
// rubyHeredoc looks for that.) It is a guess: the caller still looks for the literal's end.
func (l *lexer) rubyArgument(pos int) bool {
	if l.newline || l.expression(false) {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == word && int(last.end) < pos && pos+1 < len(l.src) && l.src[pos+1] > ' ' && l.src[pos+1] != '='
}

// percentEnd returns the end of %w[...], %(...), %i|...| at pos, whose brackets may nest; false for
// the operator "%".
func (l *lexer) percentEnd(pos int) (int, bool) {
	p := pos + 1
	if p < len(l.src) && strings.IndexByte("wWiIqQrsx", l.src[p]) >= 0 {
		p++
	}
	if p >= len(l.src) || text.IsIdent(l.src[p]) || l.src[p] <= ' ' || l.src[p] == '=' {
		return 0, false
	}
	open := l.src[p]
	end, depth := pairs[open], 1
	if open == '<' {
		end = '>'
	}
	for p++; p < len(l.src); p++ {
		switch c := l.src[p]; {
		case c == '\\':
			p++
		case end == 0 && c == open, c == end && depth == 1:
			return p + 1, true
		case c == end:
			depth--
		case c == open:
			depth++
		}
	}
	l.broken = true
	return len(l.src), true
}
