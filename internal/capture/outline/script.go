package outline

import (
	"strings"

	"claudemem/internal/leaf/text"
)

// In this file i, k, at, open, end and hi are indexes of tokens; hi is the first one behind the part
// that is read, and an index from there on has no token. A function that finds or declares
// something adds its symbols (walker.add) and returns the first token behind it. A span's fields
// are those of type span in outline.go; owner is the qualified name of what the declaration
// stands in, "" in the file.

// scriptModifiers stand before a declaration of JavaScript and TypeScript, and before a
// member of a class.
var scriptModifiers = text.Set(`export default declare async abstract public private protected static readonly override get set accessor`)

// statements finds the declarations among the statements from token i to hi.
func (w *walker) statements(i, hi int, owner string) {
	w.each(i, hi, func(i int) int { return w.statement(i, hi, owner) })
}

// statement finds the declarations of the statement at token i and returns its end: functions,
// classes, types, variables that hold functions or objects of them, groups of tests. Another
// statement is passed over, with what is in its blocks.
func (w *walker) statement(i, hi int, owner string) int {
	s := span{outer: i, start: i, sign: i}
	k := i
	for w.is(k, "@") && w.kind(k+1) == word {
		k = w.annotationEnd(k + 1)
		s.sign = k
	}
	exported := k
	for scriptModifiers[w.word(k)] && w.kind(k) == word && k < hi {
		k++
	}
	v := w.word(k)
	if w.kind(k) != word {
		v = ""
	}
	switch v {
	case "function":
		return w.functionStatement(k, hi, owner, s)
	case "class":
		return w.class(k, hi, owner, "", s)
	case "interface", "enum", "namespace", "module":
		if w.kind(k+1) == word || v == "module" && w.kind(k+1) == literal {
			return w.scriptType(k, hi, owner, s)
		}
	case "type":
		if w.kind(k+1) == word && (w.is(k+2, "=") || w.is(k+2, "<")) {
			s.end = w.scriptEnd(k+1, hi)
			s.body = w.find(k+2, s.end, "=")
			w.add(qualified(owner, w.word(k+1)), Type, s)
			return s.end
		}
	case "const", "let", "var":
		if w.is(k+1, "enum") {
			return w.scriptType(k+1, hi, owner, s)
		}
		return w.variables(k+1, hi, owner, s)
	case "describe", "it", "test", "suite", "context":
		if end, ok := w.test(k, hi, owner, s); ok {
			return end
		}
	}
	if w.is(exported, "export") && w.is(exported+1, "default") {
		s.body = exported + 2
		return w.value(exported+2, hi, qualified(owner, "default"), owner, s, Func)
	}
	return w.assignment(k, hi, owner, s)
}

// functionStatement declares "function name(...) {...}" whose first word is at token k; one
// without a body (an overload of TypeScript) is passed over.
func (w *walker) functionStatement(k, hi int, owner string, s span) int {
	at := k + 1
	if w.is(at, "*") {
		at++
	}
	name := "default"
	if w.kind(at) == word {
		name = w.word(at)
		at++
	}
	open, ok := w.bodyOf(at, hi)
	if !ok {
		return open
	}
	return w.braced(qualified(owner, name), Func, s, open)
}

// bodyOf returns the brace that opens the body of the function whose parameters, or type
// parameters, begin at token at. Without a body it returns where the declaration ends, and false.
func (w *walker) bodyOf(at, hi int) (open int, ok bool) {
	at = w.genericEnd(at, hi)
	if !w.is(at, "(") {
		return at, false
	}
	at = w.typed(w.after(at), hi)
	return at, at < hi && w.is(at, "{")
}

// typed returns the end of the ": type" at token k, k without one.
func (w *walker) typed(k, hi int) int {
	if w.is(k, ":") {
		return w.typeEnd(k+1, hi)
	}
	return k
}

// typeEnd returns the end of the type at token k: the brace of a body, an arrow, a line
// end or a mark that no type goes on over. A brace where a type has yet to come is a part of it.
func (w *walker) typeEnd(k, hi int) int {
	value := true // a type has to follow
	for i := k; i < hi; {
		switch {
		case w.is(i, "{"):
			if !value {
				return i
			}
			value, i = false, w.after(i)
		case w.is(i, "=>"):
			// "(a: b) => c", which begins with its parameters, is a type when what follows is none of the body.
			if w.is(i-1, ")") && w.is(k, "(") && w.after(k) == i && (!w.is(i+1, "{") || w.is(w.after(i+1), "{") || w.is(w.after(i+1), "=")) {
				value, i = true, i+1
				continue
			}
			return i
		case w.is(i, ";"), w.is(i, "="), w.is(i, ","), w.is(i, ")"), w.is(i, "}"), w.is(i, "]"):
			return i
		case w.is(i, "|"), w.is(i, "&"), w.is(i, "."), w.is(i, "?"), w.is(i, ":"):
			value, i = true, i+1
		case w.kind(i) == word && (typeWords[w.word(i)]):
			value, i = true, i+1
		case w.is(i, "<"):
			value, i = false, w.typeParametersEnd(i, hi)
		default:
			if !value && w.newlineAt(i) && !w.is(i, "[") && !w.is(i, "(") {
				return i
			}
			value, i = false, w.after(i)
		}
	}
	return hi
}

var typeWords = text.Set(`is keyof typeof readonly extends infer asserts unique new in`)

// scriptType declares an interface or an enum whose word is at token k, or what a namespace holds:
// that has no symbol, but its name qualifies theirs.
func (w *walker) scriptType(k, hi int, owner string, s span) int {
	open := w.find(k+1, hi, "{", ";")
	if open >= hi || !w.is(open, "{") {
		return min(open+1, hi)
	}
	s.body, s.end = open, w.after(open)
	name := w.signature(k+1, min(k+2, hi))
	for n := k + 2; w.is(n, "."); n += 2 {
		name += "." + w.word(n+1)
	}
	name = qualified(owner, strings.Trim(name, "\"'"))
	switch w.word(k) {
	case "namespace", "module":
		w.statements(open+1, s.end-1, name)
	default:
		w.add(name, Type, s)
	}
	return s.end
}

// class declares the class whose word is at token k, and its members. other, unless "", is its
// qualified name in place of its own: that of the variable it is assigned to.
func (w *walker) class(k, hi int, owner, other string, s span) int {
	name, open := other, k+1
	if w.kind(open) == word && !w.is(open, "extends") && !w.is(open, "implements") {
		if name == "" {
			name = qualified(owner, w.word(open))
		}
		open++
	}
	if name == "" {
		name = qualified(owner, "default")
	}
	if open = w.find(open, hi, "{", ";"); open >= hi || !w.is(open, "{") {
		return min(open+1, hi)
	}
	end := w.braced(name, Type, s, open)
	for i := open + 1; i < end-1; {
		i = max(w.classMember(i, end-1, name), i+1)
	}
	return end
}

// classMember declares the method at token i, or the function that a field holds, and returns where
// the next member begins. A method without a body (an overload, an abstract one) is passed over.
func (w *walker) classMember(i, hi int, owner string) int {
	s := span{outer: i, start: i, sign: i}
	k := i
	for w.is(k, "@") && w.kind(k+1) == word {
		k = w.annotationEnd(k + 1)
		s.sign = k
	}
	// Such a word may be the name of the member itself: get(), static = 1, async?: x.
	for k < hi && scriptModifiers[w.word(k)] && w.kind(k) == word && !w.is(k+1, "(") && !w.is(k+1, "=") && !w.is(k+1, ":") && !w.is(k+1, ";") && !w.is(k+1, "?") && !w.is(k+1, "<") {
		k++
	}
	if w.is(k, "{") { // static { ... }
		return w.after(k)
	}
	if w.is(k, "*") {
		k++
	}
	if k >= hi {
		return hi
	}
	name, at := w.memberName(k)
	if name == "" {
		return w.scriptEnd(k, hi)
	}
	for w.is(at, "?") || w.is(at, "!") {
		at++
	}
	if w.is(at, "(") || w.is(at, "<") {
		open, ok := w.bodyOf(at, hi)
		if !ok {
			if open < hi && w.newlineAt(open) {
				return open
			}
			return w.scriptEnd(open, hi)
		}
		return w.braced(qualified(owner, name), Method, s, open)
	}
	if at = w.typed(at, hi); w.is(at, "=") {
		return w.value(at+1, hi, qualified(owner, name), owner, s, Method)
	}
	return w.scriptEnd(max(at-1, k), hi) // from the last token, behind which its line may end
}

// memberName returns the name of a member at token k and the token after it; "" and k for a token
// that names none. A computed name keeps its brackets.
func (w *walker) memberName(k int) (string, int) {
	switch w.kind(k) {
	case word, number:
		return w.word(k), k + 1
	case literal:
		return strings.Trim(w.word(k), "\"'`"), k + 1
	case '[':
		end := w.after(k)
		return w.signature(k, end), end
	}
	return "", k
}

// variables declares the functions among "const a = ..., b = ...", from the first name
// at token k on; s is where the statement begins, which counts to the first of them.
func (w *walker) variables(k, hi int, owner string, s span) int {
	for {
		name, at := "", k+1
		if w.kind(k) == word {
			name = w.word(k)
			if w.is(at, "!") {
				at++
			}
		} else {
			at = w.after(min(k, hi-1)) // const { a, b } = ...
		}
		if name != "" {
			name = qualified(owner, name)
		}
		end := w.scriptEnd(k, hi)
		if at = w.typed(at, hi); w.is(at, "=") {
			end = w.value(at+1, hi, name, owner, s, Func)
		}
		if !w.is(end, ",") || end >= hi {
			return end
		}
		k = end + 1
		s = span{outer: k, start: k, sign: k}
	}
}

// assignment declares what "exports.a = ...", "A.prototype.b = ..." assigns at token k.
func (w *walker) assignment(k, hi int, owner string, s span) int {
	name, at := "", k
	for w.kind(at) == word && at < hi {
		name = qualified(name, w.word(at))
		at++
		if !w.is(at, ".") {
			break
		}
		at++
	}
	if at == k || !w.is(at, "=") || at >= hi {
		return w.scriptEnd(k, hi)
	}
	name = strings.ReplaceAll(name, ".prototype", "")
	if name == "module.exports" {
		name = "default"
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "module."), "exports.")
	return w.value(at+1, hi, qualified(owner, name), owner, s, Func)
}

// value declares the function, the class or the functions of the object that begins at
// token k under a qualified name, and returns the end of the expression, with its semicolon. kind
// is that of a function. Without a name only a class is declared, under its own; "default" gives
// way to the name of a function or class, and is not part of the names in an object.
func (w *walker) value(k, hi int, name, owner string, s span, kind Kind) int {
	at := k
	if w.is(at, "async") && !w.newlineAt(at+1) && !w.is(at+1, "=>") {
		at++
	}
	switch {
	case w.is(at, "function"):
		at++
		if w.is(at, "*") {
			at++
		}
		if w.kind(at) == word {
			if name == "default" {
				name = w.word(at)
			}
			at++
		}
		if open, ok := w.bodyOf(at, hi); ok {
			s.body, s.end = open, w.scriptEnd(open, hi)
			if after := w.after(open); !w.is(after, "(") && !w.is(after, ".") || after >= hi {
				w.add(name, kind, s) // function() {...}() is its result
			}
			return s.end
		}
	case w.is(at, "class"):
		if name == "default" && w.kind(at+1) == word {
			name = ""
		}
		end := w.class(at, hi, owner, name, s)
		return w.scriptEnd(end-1, hi)
	case w.is(at, "{"):
		end := w.after(at)
		if name != "" {
			prefix := name
			if prefix == "default" {
				prefix = ""
			}
			w.object(at+1, end-1, prefix)
		}
		return w.scriptEnd(at, hi)
	default:
		if body, ok := w.arrow(at, hi); ok {
			s.body, s.end = body, w.scriptEnd(body, hi)
			w.add(name, kind, s)
			return s.end
		}
	}
	return w.scriptEnd(k, hi)
}

// arrow returns where the body of the arrow function at token k begins, false if there is none.
func (w *walker) arrow(k, hi int) (body int, ok bool) {
	at := w.genericEnd(k, hi)
	switch {
	case w.is(at, "("):
		at = w.typed(w.after(at), hi)
	case w.kind(at) == word:
		at++
	default:
		return 0, false
	}
	if at >= hi || !w.is(at, "=>") {
		return 0, false
	}
	return at + 1, at+1 < hi
}

// object declares the functions of an object literal between tokens i and hi.
func (w *walker) object(i, hi int, owner string) {
	w.each(i, hi, func(i int) int { return w.property(i, hi, owner) })
}

// property declares the function of the property at token i and returns the token behind the
// comma that ends it.
func (w *walker) property(i, hi int, owner string) int {
	s := span{outer: i, start: i, sign: i}
	k := i
	for (w.is(k, "async") || w.is(k, "get") || w.is(k, "set")) && !w.is(k+1, "(") && !w.is(k+1, ":") && !w.is(k+1, ",") {
		k++
	}
	if w.is(k, "*") {
		k++
	}
	name, at := w.memberName(min(k, hi-1))
	if name != "" && (w.is(at, "(") || w.is(at, "<")) {
		if open, ok := w.bodyOf(at, hi); ok {
			return w.braced(qualified(owner, name), Method, s, open)
		}
	}
	end := i
	for end < hi && !w.is(end, ",") {
		end = w.after(end)
	}
	if name != "" && w.is(at, ":") {
		w.value(at+1, end, qualified(owner, name), owner, s, Method)
	}
	return end + 1
}

// test declares test("name", ...) whose word is at token k, and what a group of tests (another word
// than it and test) holds. ok is false if there is no such call.
func (w *walker) test(k, hi int, owner string, s span) (end int, ok bool) {
	open := k + 1
	for w.is(open, ".") { // it.only, test.each
		open += 2
	}
	if !w.is(open, "(") || w.kind(open+1) != literal || !w.is(open+2, ",") {
		return 0, false
	}
	name := strings.Trim(w.word(open+1), "\"'`")
	s.body, s.end = open+2, w.after(open)
	if name != "" {
		w.add(name, Test, s)
		w.symbols[len(w.symbols)-1].Signature += ")" // test("name")
	}
	if v := w.word(k); v != "it" && v != "test" {
		last := s.end - 1
		for i := open + 3; i < last; i++ { // the first function among the arguments holds the tests
			body := i + 1
			switch {
			case w.is(i, "=>"):
			case w.is(i, "function"):
				for body < last && !w.is(body, "{") {
					body = w.after(body)
				}
			default:
				continue
			}
			if w.is(body, "{") {
				w.statements(body+1, w.after(body)-1, owner)
			}
			break
		}
	}
	return w.scriptEnd(s.end-1, hi), true
}

// scriptEnd returns the end of the statement that goes on at token k: after its
// semicolon, before a comma of its list, or where a line ends it.
func (w *walker) scriptEnd(k, hi int) int {
	for i := k; i < hi; {
		switch w.kind(i) {
		case ';':
			return i + 1
		case ',', '}', ')', ']':
			if i > k { // at k it is the last token of what goes on
				return i
			}
		}
		i = w.after(i)
		if i < hi && w.scriptLineEnd(i) {
			return i
		}
	}
	return hi
}

// scriptLineEnd reports whether a statement ends at the line end before token i. What
// begins like a parameter list or an index goes on with the line before, as the language
// has it.
func (w *walker) scriptLineEnd(i int) bool {
	if !w.newlineAt(i) {
		return false
	}
	switch k := w.kind(i); k {
	case '.', ',', ':', '=', '+', '-', '*', '/', '%', '?', '|', '&', '<', '>', '^', operator, '(', '[', markup:
		return (k == '(' || k == '[' || k == '*') && w.kind(i-1) == '}'
	case word:
		if scriptContinuing[w.word(i)] {
			return false
		}
	}
	switch k := w.kind(i - 1); k {
	case ')', ']', '}', '>', word, number, literal, markup:
		return k != word || !scriptContinued[w.word(i-1)]
	case '+', '-':
		return w.is(i-2, "+") || w.is(i-2, "-")
	}
	return false
}

// A line that begins with a scriptContinuing word goes on with the line before; one that
// ends with a scriptContinued word goes on in the next.
var (
	scriptContinuing = text.Set(`else catch finally as in instanceof of extends implements satisfies`)
	scriptContinued  = text.Set(`return throw new typeof as is in extends implements instanceof of else export default`)
)
