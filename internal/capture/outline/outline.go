// Package outline reads source code: the symbols of a file and how they changed. It is
// the only reader of source code in the program.
//
// A symbol is a function, a method, a type, or a test that is given by name (JavaScript),
// with its qualified name ("Limiter.refill"), its signature, its lines and a hash of its
// code. The hash leaves out comments, blanks, line ends and marks that a formatter sets
// (a comma before a closing bracket, the kind of quotes), so that formatting alone is no
// change. Functions inside of functions belong to the outer one. A declaration without a
// body (a prototype, a method of an interface) belongs to what it stands in.
//
// Go is read with go/parser. Python and Ruby by indentation and by "end"; the others are
// languages of braces. One lexer with a table for each language makes their tokens.
// Broken code gives the symbols that can be told; Outline.Broken says so. A file that is
// made to cost time takes less than a second a MB.
//
// Package symbols compares edits with it, offline and the command outline read files.
// proof/eval/outline compares it with other parsers on public repositories.
package outline

import (
	"bytes"
	"hash"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// Kind says what a symbol is.
type Kind string

const (
	Func   Kind = "func"
	Method Kind = "method"
	Type   Kind = "type"
	Test   Kind = "test" // test("adds up", ...) of JavaScript; its name is the text
)

// A Symbol is a declaration of a file.
type Symbol struct {
	Name      string `json:"name"` // qualified by dots: "Server.Run"
	Kind      Kind   `json:"kind"`
	Signature string `json:"signature"`  // the declaration without its body, on one line, at most 200 bytes
	Start     int    `json:"line_start"` // its first line, from 1; decorators of Python and attributes of Rust are not part of it
	End       int    `json:"line_end"`   // its last line
	Hash      uint64 `json:"-"`          // of its code; of a type without its methods

	body uint64 // hash of its body; 0 for a body of less than tellingBody tokens
}

// An Outline is what a file declares, in the order of the file.
type Outline struct {
	Language string
	Symbols  []Symbol
	// Broken means that the code does not parse as a whole: brackets or literals are left
	// open, so that symbols may be missing.
	Broken bool
}

// MaxSize bounds the source that is read, in bytes.
const MaxSize = 8 << 20

// languages by the extension of a file.
var languages = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".pyw": "python", ".rs": "rust", ".java": "java",
	".kt": "kotlin", ".kts": "kotlin", ".cs": "csharp", ".rb": "ruby", ".rake": "ruby", ".php": "php", ".swift": "swift",
	".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".vue": "javascript", ".svelte": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".ipp": "cpp",
}

// Language returns the language of a file by its name, "" for one without symbols.
func Language(name string) string {
	return languages[strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))]
}

// inCpp are texts that headers of C++ contain, or begin with the rest of, and headers of C do not.
var inCpp = [][]byte{[]byte("\nclass "), []byte("\nnamespace "), []byte("\ntemplate"), []byte("public:"), []byte("std::")}

// Of returns the outline of a file with that name, which only tells the language: the file is not
// opened. A file in no known language, a binary one or one above MaxSize has no symbols and is not
// Broken. One that a fault of the reader keeps from being read is Broken.
func Of(name string, src []byte) (o Outline) {
	o.Language = Language(name)
	if o.Language == "" || len(src) > MaxSize || bytes.IndexByte(src[:min(len(src), 8<<10)], 0) >= 0 {
		return o
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if len(bytes.TrimSpace(src)) == 0 { // the parser of Go calls it broken; a file begins empty
		return o
	}
	if o.Language == "c" && strings.HasSuffix(strings.ToLower(name), ".h") && slices.ContainsFunc(inCpp, func(mark []byte) bool { return bytes.Contains(src, mark) || bytes.HasPrefix(src, mark[1:]) }) {
		o.Language = "cpp"
	}
	defer func() {
		if recover() != nil { // one file must not end the worker
			o = Outline{Language: o.Language, Broken: true}
		}
	}()
	if o.Language == "go" {
		o.golang(src)
	} else {
		o.scan(name, src)
	}
	return o
}

// lexiconOf returns the name of a language's lexicon.
func lexiconOf(language string) string {
	switch language {
	case "typescript", "tsx":
		return "javascript"
	case "cpp":
		return "c"
	}
	return language
}

// scan reads a language other than Go: it sets Symbols and Broken. Of a PHP file what stands outside of
// PHP, of a component all but its script, is left out.
func (o *Outline) scan(name string, src []byte) {
	x := newLexer(lexiconOf(o.Language), src)
	x.jsx = o.Language != "typescript"
	switch ext := strings.ToLower(path.Ext(name)); {
	case o.Language == "php":
		x.advance(x.htmlEnd(0))
	case ext == ".vue" || ext == ".svelte":
		x.script()
	}
	x.run(0)
	x.finish()
	w := &walker{lexer: x, language: o.Language, grammar: grammars[o.Language], steps: maxSteps * (len(x.tokens) + 100)}
	switch o.Language {
	case "python":
		w.pythonBlock(0, len(x.tokens), "", false)
	case "ruby":
		w.rubyBlock(0, len(x.tokens), "", "")
	case "javascript", "typescript", "tsx":
		w.statements(0, len(x.tokens), "")
	default:
		w.members(0, len(x.tokens), "", "")
	}
	w.hashes()
	o.Symbols, o.Broken = w.symbols, x.broken
}

// script confines the lexer to the first <script> of a Vue or Svelte component; without one it has
// nothing to read.
func (l *lexer) script() {
	start := bytes.Index(l.src, []byte("<script"))
	if start < 0 {
		l.pos = len(l.src)
		return
	}
	open := bytes.IndexByte(l.src[start:], '>')
	end := bytes.Index(l.src[start:], []byte("</script"))
	if open < 0 || end < open {
		l.pos = len(l.src)
		return
	}
	l.src = l.src[:start+end]
	l.advance(start + open + 1)
}

// A walker finds the declarations among the tokens of a file. A method that "declares"
// something adds its symbol, with those inside of it, and returns the token after it.
type walker struct {
	*lexer
	*grammar
	language string
	symbols  []Symbol
	spans    []span // of the symbols
	steps    int    // how many more tokens may be looked at, see maxSteps
	depth    int    // how many declarations are open around this one, see each
}

// maxSteps bounds how often a token is looked at, on average; then the rest of a file is
// given up, and it counts as broken. Real files need up to four; a file that is made to
// cost time would take quadratic time.
const maxSteps = 15

// step counts a token that is looked at. It reports false when no more may be.
func (w *walker) step() bool {
	w.steps--
	w.broken = w.broken || w.steps < 0
	return w.steps >= 0
}

// each goes through the declarations from token i to before hi, which stand in one
// declaration: next returns the token after the one at i; if it does not get on, each goes to the
// next token. Beyond maxNesting levels it does nothing: what is declared there belongs to the
// declaration around it.
func (w *walker) each(i, hi int, next func(i int) int) {
	if w.depth == maxNesting {
		return
	}
	w.depth++
	for i < hi {
		i = max(next(i), i+1)
	}
	w.depth--
}

// word returns the text of token i, "" outside of the file.
func (w *walker) word(i int) string {
	if i < 0 || i >= len(w.tokens) {
		return ""
	}
	return string(w.src[w.tokens[i].start:w.tokens[i].end])
}

// kind returns the kind of token i, 0 outside of the file.
func (w *walker) kind(i int) byte {
	if i < 0 || i >= len(w.tokens) {
		return 0
	}
	return w.tokens[i].kind
}

// is reports whether token i is the operator or word s; false for a literal of that text and
// outside of the file.
func (w *walker) is(i int, s string) bool {
	if i < 0 || i >= len(w.tokens) {
		return false
	}
	t := w.tokens[i]
	return int(t.end-t.start) == len(s) && string(w.src[t.start:t.end]) == s && t.kind != literal
}

// newlineAt reports whether token i begins a line; the end of the file does.
func (w *walker) newlineAt(i int) bool { return i >= len(w.tokens) || w.tokens[i].newline }

// after returns the index of the token after i or, if i is an opening bracket, after the one that
// closes it; the number of tokens at the end of the file and once no more may be looked at, so
// that every loop ends.
func (w *walker) after(i int) int {
	if i >= len(w.tokens) || !w.step() {
		return len(w.tokens)
	}
	if t := w.tokens[i]; pairs[t.kind] != 0 {
		return min(max(int(t.match), i)+1, len(w.tokens))
	}
	return i + 1
}

// A span is where a declaration stands, as indexes of tokens.
type span struct {
	outer int // the first token, of its attributes or decorators if it has any
	start int // the first token that counts to its lines
	sign  int // the first token of the signature, after annotations
	body  int // the first token after the signature
	end   int // the first token after the declaration
}

// add appends a symbol. It ignores one without a name or tokens. A declaration is added before
// those inside of it, on which hashes relies.
func (w *walker) add(name string, kind Kind, s span) {
	s.end = min(s.end, len(w.tokens))
	s.body = min(s.body, s.end)
	if name == "" || s.start >= s.end {
		return
	}
	last := w.tokens[s.end-1]
	w.spans = append(w.spans, s)
	w.symbols = append(w.symbols, Symbol{
		Name: text.TruncateBytes(name, maxName), Kind: kind, Signature: w.signature(s.sign, min(s.body, s.end)),
		Start: int(w.tokens[s.start].line), End: int(last.line) + bytes.Count(w.src[last.start:last.end], []byte{'\n'}),
	})
}

// braced adds a symbol whose body is in the braces that token open opens, and returns its end.
func (w *walker) braced(name string, kind Kind, s span, open int) int {
	s.body, s.end = open, w.after(open)
	w.add(name, kind, s)
	return s.end
}

// maxName bounds a qualified name, in bytes.
const maxName = 400

// qualified returns the name of what owner holds, truncated to maxName.
func qualified(owner, name string) string {
	if owner != "" && name != "" {
		name = owner + "." + name
	}
	return text.TruncateBytes(name, maxName)
}

// hashes computes the hash of each symbol, and that of its body if this has tellingBody tokens.
// The hash of a type or a group of tests leaves out the symbols inside of it.
func (w *walker) hashes() {
	for i, s := range w.spans {
		h := hasher{walker: w, Hash64: fnv.New64a(), depth: -1, flat: w.symbols[i].Kind == Type}
		from, holds := s.outer, w.symbols[i].Kind == Type || w.symbols[i].Kind == Test
		for j := i + 1; j < len(w.spans) && w.spans[j].outer < s.end; j++ {
			if holds && w.spans[j].outer >= from { // one within another is left out with it
				h.add(from, w.spans[j].outer)
				from = w.spans[j].end
			}
		}
		h.add(from, s.end)
		w.symbols[i].Hash = h.Sum64()
		if s.end-s.body >= tellingBody {
			h.Reset()
			h.depth = -1
			h.add(s.body, s.end)
			w.symbols[i].body = h.Sum64()
		}
	}
}

// tellingBody is the least number of tokens of a body that identifies a function which got
// another name.
const tellingBody = 10

const maxSignature = 200

// signature returns the source from token i to before token end on one line, without comments and
// a colon at the end, truncated to maxSignature.
func (w *walker) signature(i, end int) string {
	var b strings.Builder
	for ; i < end && b.Len() < maxSignature; i++ {
		t := w.tokens[i]
		if b.Len() > 0 && w.tokens[i-1].end < t.start && t.kind != indent {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Join(strings.Fields(string(w.src[t.start:t.end])), " "))
	}
	s := strings.TrimSuffix(strings.TrimSpace(b.String()), ":")
	return text.TruncateBytes(s, maxSignature)
}

// A hasher adds up tokens by FNV-1a.
type hasher struct {
	*walker
	hash.Hash64
	depth int32 // Python: depth of the first line, -1 before it
	flat  bool  // Python: leaves depths out; those of a type change with its methods
}

// tokenEnd separates the tokens in a hash.
var tokenEnd = []byte{0}

// add hashes the tokens from i to before end, without what a formatter changes: a comma before a
// closing bracket, and by the grammar semicolons and the kind of quotes.
func (h *hasher) add(i, end int) {
	for ; i < end; i++ {
		t := h.tokens[i]
		s := h.src[t.start:t.end]
		switch t.kind {
		case ',':
			if next := h.kind(i + 1); next == ')' || next == ']' || next == '}' {
				continue
			}
		case ';':
			if h.freeSemicolons {
				continue
			}
		case literal:
			if h.freeQuotes && s[0] == '\'' && len(s) > 1 && bytes.IndexByte(s, '"') < 0 {
				s = slices.Concat([]byte{'"'}, s[1:len(s)-1], []byte{'"'})
			}
		case markup:
			s = bytes.Join(bytes.Fields(s), nil)
		case indent:
			if h.flat {
				continue
			}
			if h.depth < 0 {
				h.depth = t.match
			}
			s = []byte{' ', byte(t.match - h.depth)}
		}
		_, _ = h.Write(s) // a hash has no errors
		_, _ = h.Write(tokenEnd)
	}
}
