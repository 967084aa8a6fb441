package outline

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

// A lexeme is a word, a literal or a mark of source code; comments and blanks have none.
type lexeme struct {
	// kind is word, number, literal, markup, indent, or the mark itself for a mark of one
	// byte; operator for a longer one.
	kind       byte
	newline    bool // a line ends between the token before and this one
	start, end int32
	line       int32 // of its first byte, from 1
	// match is the index of the bracket that belongs to this one, -1 without one.
	match int32
}

const (
	word     byte = 'a'
	number   byte = '0'
	literal  byte = '"'        // a string, a character, a regular expression
	markup   byte = '<' + 0x80 // an element of JSX, whole
	operator byte = '=' + 0x80 // a mark of several bytes: => -> :: == ...
	indent   byte = ' '        // Python: the depth of the line that follows changes
)

// A quote is a form of literal.
type quote struct {
	open, close string
	raw         bool   // a backslash escapes nothing
	lines       bool   // it may contain line ends; otherwise an open literal ends with its line
	code        string // begins an expression inside: "${", "\("
}

// A lexicon describes the comments and literals of a language.
type lexicon struct {
	comments []string  // begin a comment that the line ends
	blocks   [2]string // delimit a comment
	nested   bool      // such comments nest
	quotes   []quote   // the longer openers first
	// wordBytes are the bytes of words beside letters, digits and "_".
	wordBytes string
	// special lexes literals that the table cannot describe. It returns the end of the
	// literal at pos; ok is false without one.
	special    func(l *lexer, pos int) (end int, ok bool)
	directives bool // lines that begin with "#" are skipped (C, C++, C#)
	conditions bool // of those lines only #if, #elseif, #else and #endif (Swift)
	indents    bool // a change of a line's depth is a token (Python)
}

// A lexer makes tokens of src.
type lexer struct {
	*lexicon
	src     []byte
	pos     int
	line    int32
	newline bool
	tokens  []lexeme
	open    []int32    // indexes of the brackets that are open
	closers [256]int32 // how many of these each closing bracket closes
	broken  bool       // a bracket or literal is open at the end, or closes what is not open
	ifs     []int      // of each #if that is open: how many brackets were open there
	nesting int        // of literals in code in literals
	*limits
	columns []int // Python: the depths of the blocks that are open
	jsx     bool
	heredoc int // Ruby: where the text of the heredocs of this line ends
}

// limits keep a lexer and those of the code in its literals from reading the same source
// again and again.
type limits struct {
	// inner is how many more tokens the code in literals may have, over the whole file. An
	// element of JSX that does not end has its code read again by the lexer around it.
	inner int
	// noRegexp and noElement: no regular expression and no element begin before these
	// positions, up to which one that did not end was looked through.
	noRegexp, noElement int
}

// newLexer returns a lexer at the start of src; lexicon is a name that lexicons has.
func newLexer(lexicon string, src []byte) *lexer {
	return &lexer{lexicon: lexicons[lexicon], limits: &limits{inner: len(src)}, src: src, line: 1, newline: true, tokens: make([]lexeme, 0, len(src)/4+16)}
}

var pairs = [256]byte{'(': ')', '[': ']', '{': '}'}

// finish lets the brackets that are still open end with the file, which is broken then. It is
// called once, after run.
func (l *lexer) finish() {
	l.broken = l.broken || len(l.open) > 0
	for _, i := range l.open {
		l.tokens[i].match = int32(len(l.tokens))
	}
}

// run makes tokens up to the end of src or, unless until is 0, up to a closing bracket until that
// closes what was opened before run: pos is then at that bracket. Code in literals that has used
// up its tokens (limits.inner) ends like the file.
func (l *lexer) run(until byte) {
	base := len(l.open)
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.line++
			l.pos++
			if l.heredoc > l.pos { // their text, which begins here, goes on with the line of their marks
				l.newline = false
				l.emit(literal, l.heredoc)
			}
			l.newline = true
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
		case c == '\\' && l.pos+1 < len(l.src) && (l.src[l.pos+1] == '\n' || l.src[l.pos+1] == '\r'):
			l.advance(l.lineEnd(l.pos) + 1) // the line goes on
		case l.comment():
		case c == '#' && l.newline && (l.directives || l.conditions && l.condition()):
			l.directive()
		default:
			if l.indents && l.newline && l.nesting == 0 && len(l.open) == 0 {
				l.indentation()
			}
			if until != 0 && c == until && len(l.open) == base {
				return
			}
			if l.nesting > 0 {
				if l.inner--; l.inner < 0 {
					l.pos = len(l.src)
					return
				}
			}
			l.one(c)
		}
	}
}

// one makes the token at pos, which is neither blank nor comment.
func (l *lexer) one(c byte) {
	if l.special != nil {
		if end, ok := l.special(l, l.pos); ok {
			l.emit(literal, end)
			return
		}
	}
	switch {
	case l.quoted():
	case text.IsDigit(c):
		l.emit(number, l.wordEnd(l.pos))
	case l.inWord(c):
		l.emit(word, l.wordEnd(l.pos))
	default:
		l.mark(c)
	}
}

// inWord reports whether words have c.
func (l *lexer) inWord(c byte) bool {
	return text.IsIdent(c) || c >= utf8.RuneSelf || strings.IndexByte(l.wordBytes, c) >= 0
}

// wordEnd returns the end of the word or number that begins at pos.
func (l *lexer) wordEnd(pos int) int {
	end := pos + 1
	for end < len(l.src) {
		switch c := l.src[end]; {
		case l.inWord(c):
			end++
		case text.IsDigit(l.src[pos]) && (c == '\'' || c == '.') && end+1 < len(l.src) && text.IsDigit(l.src[end+1]):
			end += 2 // 1'000'000 (C++), 1.5
		default:
			return end
		}
	}
	return end
}

// operators are the marks of several bytes that must not be taken for their parts.
// ">>" is two: it may close two lists of type parameters.
var operators = []string{"...", "===", "!==", "=>", "->", "::", "==", "!=", "<=", "&&", "||", "??", "?.", "+=", "-=", ":="}

// mark makes the token of the mark at pos, and connects a bracket with the one it closes.
func (l *lexer) mark(c byte) {
	for _, o := range operators {
		if c == o[0] && bytes.HasPrefix(l.src[l.pos:], []byte(o)) {
			l.emit(operator, l.pos+len(o))
			return
		}
	}
	match := int32(-1)
	switch {
	case pairs[c] != 0:
		l.open = append(l.open, int32(len(l.tokens)))
		l.closers[pairs[c]]++
	case c == ')' || c == ']' || c == '}':
		match = l.shut(c)
	}
	l.emit(c, l.pos+1)
	l.tokens[len(l.tokens)-1].match = match
}

// shut connects the next token, a closing bracket, with the one that it closes and
// returns the index of that one, -1 without one. Brackets of another kind that are
// open inside end here: the code is broken there.
func (l *lexer) shut(c byte) int32 {
	if l.closers[c] == 0 {
		l.broken = true
		return -1
	}
	for {
		last := len(l.open) - 1
		i := l.open[last]
		l.open = l.open[:last]
		l.tokens[i].match = int32(len(l.tokens))
		l.closers[pairs[l.tokens[i].kind]]--
		if pairs[l.tokens[i].kind] == c {
			return i
		}
		l.broken = true
	}
}

// emit adds the token from pos to end, or to the end of src, and goes on after it.
func (l *lexer) emit(kind byte, end int) {
	end = min(end, len(l.src))
	l.tokens = append(l.tokens, lexeme{kind: kind, newline: l.newline, start: int32(l.pos), end: int32(end), line: l.line, match: -1})
	l.advance(end)
	l.newline = false
}

// advance goes on at end and counts the lines until there.
func (l *lexer) advance(end int) {
	end = min(end, len(l.src))
	if end <= l.pos {
		return
	}
	if end > l.pos+1 || l.src[l.pos] == '\n' {
		l.line += int32(bytes.Count(l.src[l.pos:end], []byte{'\n'}))
	}
	l.pos = end
}

func (l *lexer) has(pos int, s string) bool {
	return s != "" && pos < len(l.src) && l.src[pos] == s[0] && bytes.HasPrefix(l.src[pos:], []byte(s))
}

// comment skips the comment at pos. It reports false without one. A comment over line ends counts as
// one for the next token; one that does not end breaks the file.
func (l *lexer) comment() bool {
	for _, c := range l.comments {
		// #[...] is an attribute of PHP, the one language here with comments by "#" and by "/*".
		if l.has(l.pos, c) && (c != "#" || !l.has(l.pos, "#[") || l.blocks[0] == "") {
			l.pos = l.lineEnd(l.pos)
			return true
		}
	}
	if !l.has(l.pos, l.blocks[0]) {
		return false
	}
	depth, end := 1, l.pos+len(l.blocks[0])
	for end < len(l.src) && depth > 0 {
		switch {
		case l.has(end, l.blocks[1]):
			depth--
			end += len(l.blocks[1])
		case l.nested && l.has(end, l.blocks[0]):
			depth++
			end += len(l.blocks[0])
		default:
			end++
		}
	}
	l.broken = l.broken || depth > 0
	before := l.line
	l.advance(end)
	l.newline = l.newline || l.line > before
	return true
}

// lineEnd returns the position of the line feed behind pos, the end of src without one.
func (l *lexer) lineEnd(pos int) int {
	if n := bytes.IndexByte(l.src[pos:], '\n'); n >= 0 {
		return pos + n
	}
	return len(l.src)
}

// quoted emits the literal of the table at pos. It reports false without one.
func (l *lexer) quoted() bool {
	for i := range l.quotes {
		if q := &l.quotes[i]; l.has(l.pos, q.open) {
			l.emit(literal, l.quoteEnd(q, l.pos+len(q.open)))
			return true
		}
	}
	return false
}

// quoteEnd returns the end of a literal whose contents begin at pos: behind its closing mark, at
// the line end for one that may not go on over it, or at the end of src, where the file is broken.
func (l *lexer) quoteEnd(q *quote, pos int) int {
	for pos < len(l.src) {
		c := l.src[pos]
		switch {
		case l.has(pos, q.code):
			pos = l.codeEnd(pos+len(q.code), q.code[strings.IndexAny(q.code, "({")])
		case c == '\\' && !q.raw:
			pos += 2
		case l.has(pos, q.close):
			pos += len(q.close)
			for q.raw && len(q.close) > 1 && l.has(pos, q.close[:1]) {
				pos++ // """a"""" of Kotlin ends with a quote
			}
			return pos
		case c == '\n' && !q.lines:
			return pos
		default:
			pos++
		}
	}
	l.broken = true
	return len(l.src)
}

// maxNesting bounds literals inside code inside literals.
const maxNesting = 40

// codeEnd returns the position after the bracket that closes the code at pos, which stands in a
// literal behind the bracket open, "(" or "{". Its tokens are dropped. Without a closing bracket,
// or too deep, that is the end of src.
func (l *lexer) codeEnd(pos int, open byte) int {
	if l.nesting > maxNesting {
		return len(l.src)
	}
	inner := &lexer{lexicon: l.lexicon, src: l.src, pos: pos, jsx: l.jsx, nesting: l.nesting + 1, limits: l.limits}
	inner.run(pairs[open])
	l.jsx = inner.jsx // after one unterminated element, JSX is off for the whole file
	if inner.pos >= len(l.src) {
		l.broken = true
		return len(l.src)
	}
	return inner.pos + 1
}

// condition reports whether the "#" at pos begins a line of a conditional compilation.
func (l *lexer) condition() bool {
	for _, word := range [...]string{"#if", "#elseif", "#else", "#endif"} {
		if end := l.pos + len(word); l.has(l.pos, word) && (end == len(l.src) || !text.IsIdent(l.src[end])) {
			return true
		}
	}
	return false
}

// directive skips the line of a directive. Of "#if A … #else … #endif" it skips the second
// part too when the first opens a bracket without closing it: only one is compiled.
func (l *lexer) directive() {
	end := l.directiveEnd(l.pos)
	line := bytes.TrimLeft(l.src[l.pos+1:end], " \t")
	switch {
	case bytes.HasPrefix(line, []byte("if")): // ifdef, ifndef too, as elif and else below
		l.ifs = append(l.ifs, len(l.open))
	case bytes.HasPrefix(line, []byte("endif")):
		l.ifs = l.ifs[:max(0, len(l.ifs)-1)]
	case bytes.HasPrefix(line, []byte("el")) && len(l.ifs) > 0 && l.ifs[len(l.ifs)-1] != len(l.open):
		end = l.endif(end)
	}
	l.advance(end)
}

// directiveEnd returns the end of a directive's line; a backslash before the line end and
// a comment that goes on over it continue it.
func (l *lexer) directiveEnd(pos int) int {
	for {
		end := l.lineEnd(pos)
		line := l.src[pos:end]
		if n := bytes.LastIndex(line, []byte("/*")); n >= 0 && !bytes.Contains(line[n:], []byte("*/")) && !bytes.Contains(line[:n], []byte("//")) {
			pos = l.until(pos+n+2, "*/")
			continue
		}
		if end == len(l.src) || !bytes.HasSuffix(bytes.TrimRight(line, "\r"), []byte{'\\'}) {
			return end
		}
		pos = end + 1
	}
}

// endif returns the start of the line of the "#endif" that ends the directive before pos, the end
// of src without one.
func (l *lexer) endif(pos int) int {
	for depth := 0; pos < len(l.src); {
		end := l.lineEnd(pos)
		if line := bytes.TrimLeft(l.src[pos:end], " \t"); len(line) > 0 && line[0] == '#' {
			switch line = bytes.TrimLeft(line[1:], " \t"); {
			case bytes.HasPrefix(line, []byte("if")):
				depth++
			case bytes.HasPrefix(line, []byte("endif")):
				if depth--; depth < 0 {
					return pos
				}
			}
		}
		pos = min(end+1, len(l.src))
	}
	return pos
}

// indentation emits an empty token when the line at pos is deeper or less deep than the one
// before; its match is the number of blocks around the line. How deep the line is in columns
// does not count, only the order. A tab is one column.
func (l *lexer) indentation() {
	column := l.pos - (bytes.LastIndexByte(l.src[:l.pos], '\n') + 1)
	depth := len(l.columns)
	for depth > 0 && l.columns[depth-1] >= column {
		depth--
	}
	if depth+1 == len(l.columns) && l.columns[depth] == column {
		return
	}
	l.columns = append(l.columns[:depth], column)
	l.tokens = append(l.tokens, lexeme{kind: indent, newline: l.newline, start: int32(l.pos), end: int32(l.pos), line: l.line, match: int32(depth)})
}
