package outline

import (
	"bytes"

	"claudemem/internal/leaf/text"
)

// In this file i, k, at, next, end and hi are indexes of tokens; hi is the first one behind the
// part that is read. A function that finds declarations adds their symbols (walker.add) and
// returns the first token behind them. A span's fields are those of type span in outline.go; owner
// is the qualified name of what the declaration stands in, "" in the file.
// pythonBlock finds the declarations among the lines from token i to hi; class says that they are
// those of a class. A block of Python goes on while its lines are deeper than the line that
// opened it.
func (w *walker) pythonBlock(i, hi int, owner string, class bool) {
	w.each(i, hi, func(i int) int { return w.pythonLine(i, hi, owner, class) })
}

// pythonLine finds the declaration of the line at token i and returns the next line, that behind the
// whole block of a function or class. What is declared under a condition counts like the rest.
func (w *walker) pythonLine(i, hi int, owner string, class bool) int {
	for w.kind(i) == indent {
		i++
	}
	if i >= hi {
		return hi
	}
	s := span{outer: i, start: i, sign: i}
	for w.is(s.start, "@") {
		s.start = w.lineAfter(s.start, hi)
		if s.start >= hi {
			return hi
		}
	}
	s.sign = s.start
	k := s.start
	if w.is(k, "async") {
		k++
	}
	end := w.lineAfter(s.start, hi)
	switch {
	case w.kind(k) != word:
	case (w.is(k, "def") || w.is(k, "class")) && w.kind(k+1) == word:
		name := qualified(owner, w.word(k+1))
		s.body = w.pythonColon(k, end)
		s.end = w.pythonBlockEnd(s.start, end, hi)
		if w.is(k, "class") {
			w.add(name, Type, s)
			w.pythonBlock(s.body+1, s.end, name, true)
		} else if class {
			w.add(name, Method, s)
		} else {
			w.add(name, Func, s)
		}
		return s.end
	case w.is(k, "if"), w.is(k, "else"), w.is(k, "elif"), w.is(k, "try"), w.is(k, "except"), w.is(k, "finally"), w.is(k, "with"):
		// Declarations under a condition count like others.
		return min(w.pythonColon(k, end)+1, end)
	}
	return end
}

// pythonColon returns the token of the colon that ends the head of the line from k to end, end
// without one. Colons in brackets and those of lambdas are others.
func (w *walker) pythonColon(k, end int) int {
	lambda := 0
	for ; k < end; k = w.after(k) {
		switch {
		case w.is(k, "lambda"):
			lambda++
		case w.is(k, ":") && lambda > 0:
			lambda--
		case w.is(k, ":"):
			return k
		}
	}
	return end
}

// lineAfter returns the first token of the logical line after that of token i: line ends in
// brackets do not count.
func (w *walker) lineAfter(i, hi int) int {
	for i = w.after(i); i < hi && !w.newlineAt(i); i = w.after(i) {
	}
	return i
}

// pythonBlockEnd returns the end of the block of the line at token i, whose next line is
// at token end. Tokens of depth at the end of the block belong to what follows.
func (w *walker) pythonBlockEnd(i, end, hi int) int {
	depth := w.columnOf(i)
	for end < hi && w.columnOf(end) > depth {
		end = w.lineAfter(end, hi)
	}
	for end > i+1 && w.kind(end-1) == indent {
		end--
	}
	return end
}

// columnOf returns how far token i stands from the start of its line, in bytes.
func (w *walker) columnOf(i int) int {
	start := int(w.tokens[i].start)
	return start - 1 - bytes.LastIndexByte(w.src[:start], '\n')
}

// rubyBlock finds the declarations among the tokens from i to hi; in is "class" within a class or
// module, "" in the file.
func (w *walker) rubyBlock(i, hi int, owner, in string) {
	w.each(i, hi, func(i int) int { return w.rubyStatement(i, hi, owner, in) })
}

// rubyStatement finds the declaration at token i and returns what follows it; behind a block that
// declares nothing (if, do) it goes on after its end, so that nothing within counts.
func (w *walker) rubyStatement(i, hi int, owner, in string) int {
	if !w.rubyKeyword(i) {
		return w.after(i)
	}
	s := span{outer: i, start: i, sign: i}
	k := i
	for rubyVisibilities[w.word(k)] && w.is(k+1, "def") && !w.newlineAt(k+1) {
		k++
	}
	switch w.word(k) {
	case "def":
		return w.rubyMethod(k, hi, owner, in, s)
	case "class", "module":
		if w.is(k+1, "<") { // class << self
			s.end = w.rubyEnd(k, hi)
			w.rubyBlock(w.lineAfter(k, hi), s.end-1, owner, in)
			return s.end
		}
		at := k + 1
		if w.is(at, "::") {
			at++
		}
		if w.kind(at) != word {
			return at
		}
		name := w.word(at)
		at++
		for w.is(at, "::") {
			name, at = name+"."+w.word(at+1), at+2
		}
		name = qualified(owner, name)
		s.body, s.end = w.lineAfter(k, hi), w.rubyEnd(k, hi)
		if s.body >= s.end { // module A; def b; end; end
			s.body = at
		}
		w.add(name, Type, s)
		w.rubyBlock(s.body, s.end-1, name, "class")
		return s.end
	}
	if w.rubyOpens(k) {
		return w.rubyEnd(k, hi)
	}
	return w.after(k)
}

// rubyVisibilities may stand before a def in its line.
var rubyVisibilities = text.Set(`private public protected private_class_method module_function memoize`)

// rubyMethod declares the method whose def is at token k; s begins at the words before it.
func (w *walker) rubyMethod(k, hi int, owner, in string, s span) int {
	at := k + 1
	if w.is(at+1, ".") { // def self.name
		at += 2
	}
	if at >= hi {
		return hi
	}
	next := w.rubyNameEnd(at, hi)
	pos, end := w.tokens[at].start, w.tokens[next-1].end
	name := string(w.src[pos:end])
	if w.is(next, "(") && !w.newlineAt(next) {
		next = w.after(next)
	}
	if w.is(next, "=") && !w.newlineAt(next) { // def name = expression
		s.body, s.end = next, w.lineAfter(next, hi)
	} else {
		s.body, s.end = w.lineAfter(k, hi), w.rubyEnd(k, hi)
	}
	kind := Func
	if in != "" {
		kind = Method
	}
	w.add(qualified(owner, name), kind, s)
	return s.end
}

// rubyNameEnd returns the token after the name of a method at token at: "a", "a?", "a=", "[]". All
// tokens that follow each other without a blank belong to it, up to "(" or ";".
func (w *walker) rubyNameEnd(at, hi int) int {
	next := at + 1
	for next < hi && w.tokens[next].start == w.tokens[next-1].end && !w.is(next, "(") && !w.is(next, ";") {
		next++
	}
	return min(next, hi)
}

// rubyOpeners begin what an "end" closes; the conditional ones only at the start of a
// statement, for "a if b" has no end.
var (
	rubyOpeners     = text.Set(`def class module begin do case`)
	rubyConditional = text.Set(`if unless while until for`)
)

// rubyKeyword reports whether token i is a word that may be a keyword: not the name of a method
// ("x.begin", "def begin") or of a key ("begin: 1").
func (w *walker) rubyKeyword(i int) bool {
	return w.kind(i) == word && !w.is(i-1, ".") && !w.is(i-1, "?.") && !w.is(i-1, "def") &&
		(!w.is(i+1, ":") || w.tokens[i].end != w.tokens[i+1].start)
}

// rubyOpens reports whether the word at token i opens a block that an "end" closes.
func (w *walker) rubyOpens(i int) bool {
	if !w.rubyKeyword(i) {
		return false
	}
	v := w.word(i)
	if rubyOpeners[v] {
		return v != "do" || !w.rubyLoop(i)
	}
	if !rubyConditional[v] {
		return false
	}
	if i == 0 || w.newlineAt(i) {
		return true
	}
	switch w.kind(i - 1) {
	case '=', operator, '(', '[', '{', ',', ';', '|', '<', '+':
		return true
	case word:
		p := w.word(i - 1)
		return p == "then" || p == "do" || p == "else" || p == "and" || p == "or" || p == "not"
	}
	return false
}

// rubyLoop reports whether the "do" at token i belongs to a "while" of its line, whose
// end it shares.
func (w *walker) rubyLoop(i int) bool {
	for k := i - 1; k >= 0 && w.step(); k-- {
		if v := w.word(k); (v == "while" || v == "until" || v == "for") && w.kind(k) == word && w.rubyOpens(k) {
			return true
		}
		if w.newlineAt(k) {
			return false
		}
	}
	return false
}

// rubyEnd returns the token after the "end" that closes what token i opens; without one it returns
// hi and the file is broken.
func (w *walker) rubyEnd(i, hi int) int {
	depth := 0
	for k := i; k < hi && w.step(); k++ {
		switch {
		case w.is(k, "end") && w.rubyKeyword(k):
			if depth--; depth == 0 {
				return k + 1
			}
		case w.is(k, "def") && w.rubyEndless(k, hi):
		case w.rubyOpens(k):
			depth++
		}
	}
	w.broken = true
	return hi
}

// rubyEndless reports whether the def at token k has the form "def name(...) = expression", which
// has no "end". Without a blank before "=" it is a name ("def a=").
func (w *walker) rubyEndless(k, hi int) bool {
	at := k + 1
	if w.is(at+1, ".") {
		at += 2
	}
	if at >= hi {
		return false
	}
	at = w.rubyNameEnd(at, hi)
	if w.is(at, "(") {
		at = w.after(at)
	}
	return at < hi && w.is(at, "=") && !w.newlineAt(at) && int(w.tokens[at-1].end) < int(w.tokens[at].start)
}
