package outline

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// A grammar lists the words by which a language declares.
type grammar struct {
	types    map[string]bool // begin a type: class, struct
	spaces   map[string]bool // begin what holds declarations and is no symbol: namespace, impl
	funcs    map[string]bool // begin a function: fn, func. Without any a function is a name before "("
	reserved map[string]bool // stand before "(" and are no name of a function: if, while
	// lineEnds: a line end may end a declaration (Kotlin, Swift).
	lineEnds bool
	// bodyMark is the mark that begins a body without braces: "=>" (C#), "=" (Kotlin).
	bodyMark string
	// attributesApart: attributes do not count to a symbol's lines (Rust).
	attributesApart bool
	// freeSemicolons, freeQuotes: a formatter chooses them.
	freeSemicolons, freeQuotes bool
}

var grammars = map[string]*grammar{
	"javascript": script,
	"typescript": script,
	"tsx":        script,
	"python":     {freeSemicolons: true, freeQuotes: true},
	"ruby":       {freeSemicolons: true},
	"go":         {freeSemicolons: true},
	"rust": {types: text.Set("struct enum union trait type"), spaces: text.Set("impl mod extern"), funcs: text.Set("fn macro_rules"),
		attributesApart: true},
	"java":   {types: text.Set("class interface enum record"), reserved: javaWords},
	"csharp": {types: text.Set("class interface struct enum record"), spaces: text.Set("namespace"), reserved: csharpWords, bodyMark: "=>"},
	"c":      {types: text.Set("struct union enum"), spaces: text.Set("extern"), reserved: cWords},
	"cpp":    {types: text.Set("class struct union enum"), spaces: text.Set("namespace extern"), reserved: cWords},
	"kotlin": {types: text.Set("class interface object"), funcs: text.Set("fun constructor"), lineEnds: true, bodyMark: "=", freeSemicolons: true},
	"swift": {types: text.Set("class struct enum protocol actor"), spaces: text.Set("extension"), funcs: text.Set("func init deinit subscript var"),
		lineEnds: true, freeSemicolons: true},
	"php": {types: text.Set("class interface trait enum"), spaces: text.Set("namespace"), funcs: text.Set("function")},
}

var script = &grammar{freeSemicolons: true, freeQuotes: true}

// The words of each language before "(" that are not the name of a function.
var (
	javaWords   = text.Set(`if for while switch catch return else do try new throw synchronized default this super`)
	csharpWords = text.Set(`if for while switch catch return else do try new throw sizeof typeof using lock foreach fixed where when default this base`)
	cWords      = text.Set(`if for while switch catch return else do try new throw sizeof typeof static_assert _Static_assert alignas decltype
		noexcept requires default this`)
)

// In this file i, k, at, open, next, end and hi are indexes of tokens; hi is the first one behind
// the part that is read, and an index from there on has no token. A function that finds or adds
// declarations (walker.add) returns the first token behind them; ok is false where none begins at
// k, and nothing was added. A span's fields are those of type span in outline.go; owner is the
// qualified name of what the declaration stands in, "" in the file, and in the word that declared
// the owner ("class", "impl"), "" for the file and for namespaces.

// members finds the declarations among the tokens from i to hi, which stand in owner;
// in is the word that declared it ("" for the file and for namespaces).
func (w *walker) members(i, hi int, owner, in string) {
	if in == "enum" && w.language == "java" { // the constants come first
		i = w.find(i, hi, ";") + 1
	}
	w.each(i, hi, func(i int) int { return w.member(i, hi, owner, in) })
}

// member finds the declaration at token i and returns where the next one may begin. It looks for a
// word that declares something or, where functions have no word, for a name with parameters
// (form) and a body behind it; a semicolon, an assignment, a line end or any other body ends what is
// no declaration.
func (w *walker) member(i, hi int, owner, in string) int {
	s := w.attributes(i, hi)
	name, params := -1, -1 // of a function by its form
	for k := s.sign; k < hi; {
		if w.lineEnds && k > s.sign && w.lineEnd(k) {
			return k
		}
		switch t := w.tokens[k]; t.kind {
		case word:
			if name < 0 {
				if next, ok := w.keyword(k, hi, s, owner, in); ok {
					return next
				}
			}
			if p := w.form(k, hi); p > 0 && name < 0 {
				name, params = k, p
				k = w.after(p)
				continue
			}
			k++
		case ';':
			return k + 1
		case '{':
			end := w.after(k)
			if name < 0 && in == "record" && k > s.sign && strings.HasSuffix("."+owner, "."+w.word(k-1)) {
				name, params = k-1, k // the constructor of a record may have no parameters of its own
			}
			if name >= 0 {
				s.body, s.end = k, end
				w.function(name, params, owner, in, s)
			}
			return end
		case '=':
			return w.statementEnd(k, hi)
		case operator:
			if !w.is(k, "=>") || w.bodyMark != "=>" {
				k++
				continue
			}
			s.body, s.end = k, w.statementEnd(k, hi)
			if name >= 0 {
				w.function(name, params, owner, in, s)
			}
			return s.end
		case ':':
			switch {
			case name >= 0 && w.language == "cpp":
				k = w.initializersEnd(k+1, hi)
			case name < 0 && k == s.sign+1: // public:
				return k + 1
			default:
				k++
			}
		case '<':
			k = w.typeParametersEnd(k, hi)
		case '(', '[':
			k = w.after(k)
		case '}', ')', ']': // closes nothing
			return k + 1
		default:
			k++
		}
	}
	return hi
}

// attributes skips the attributes, annotations and template heads of the declaration at
// token i and returns where it begins: a span without body and end.
func (w *walker) attributes(i, hi int) span {
	s := span{outer: i, start: i, sign: i}
	for k := i; k < hi; {
		switch {
		case w.is(k, "#") && (w.is(k+1, "[") || w.is(k+1, "!") && w.is(k+2, "[")):
			for !w.is(k, "[") { // #[a], #![a]
				k++
			}
			k = w.after(k)
			if w.attributesApart {
				s.start = k
			}
		case w.is(k, "[") && w.funcs == nil: // [A] of C#, [[a]] of C and C++
			k = w.after(k)
		case w.is(k, "@") && w.kind(k+1) == word && !w.is(k+1, "interface"): // @interface declares a type
			k = w.annotationEnd(k + 1)
		case w.is(k, "template") && w.is(k+1, "<"):
			k = w.typeParametersEnd(k+1, hi)
		case w.is(k, "__attribute__") || w.is(k, "__declspec"):
			k = w.after(min(k+1, hi-1))
		default:
			return s
		}
		s.sign = k
	}
	return s
}

// annotationEnd returns the end of an annotation whose name is at token k, with its arguments.
func (w *walker) annotationEnd(k int) int {
	for w.kind(k) == word && (w.is(k+1, ".") || w.is(k+1, ":")) {
		k += 2 // @a.b, @file:a
	}
	k++
	if w.is(k, "(") && !w.newlineAt(k) {
		return w.after(k)
	}
	return k
}

// keyword adds the declaration that the word at token k begins and returns its end; ok is
// false for a word that begins none.
func (w *walker) keyword(k, hi int, s span, owner, in string) (next int, ok bool) {
	v := w.word(k)
	switch {
	case w.spaces[v]:
		return w.space(k, hi, owner)
	case w.types[v]:
		return w.typ(k, hi, s, owner)
	case w.funcs[v]:
		return w.declared(k, hi, s, owner, in)
	}
	return 0, false
}

// space finds the declarations in the namespace, module, extension or impl at token k. Those of
// extern and namespace keep the owner; a namespace adds nothing to their names.
func (w *walker) space(k, hi int, owner string) (next int, ok bool) {
	v := w.word(k)
	if v == "extern" && (w.kind(k+1) != literal || !w.is(k+2, "{")) {
		return 0, false
	}
	open := w.find(k+1, hi, "{", ";")
	if !w.is(open, "{") {
		return open + 1, true
	}
	switch v {
	case "mod":
		owner = qualified(owner, w.word(k+1))
	case "impl", "extension":
		owner = qualified(owner, w.extended(k+1, open))
	default:
		v = ""
	}
	end := w.after(open)
	w.members(open+1, end-1, owner, v)
	return end, true
}

// next is like after (the token behind i and what its bracket encloses), but also skips a list of
// type parameters.
func (w *walker) next(i, hi int) int {
	if w.kind(i) == '<' {
		return w.typeParametersEnd(i, hi)
	}
	return w.after(i)
}

// find returns the first token from k on that is one of the marks and does not stand in brackets
// or type parameters; hi or a token behind it without one.
func (w *walker) find(k, hi int, marks ...string) int {
	for k < hi && !slices.ContainsFunc(marks, func(mark string) bool { return w.is(k, mark) }) {
		k = w.next(k, hi)
	}
	return k
}

// extended returns the name of the type that "impl<T> Trait for a::Type<T> where" or "extension
// Type: P" is about, of which tokens i to end are what follows the first word: its last word, or
// the whole of one without a word, as "[u8]".
func (w *walker) extended(i, end int) string {
	i = w.genericEnd(i, end)
	start, name := i, ""
	for ; i < end; i = w.next(i, end) {
		switch v := w.word(i); {
		case v == "for" && !w.is(i+1, "<"):
			start, name = i+1, ""
		case v == "where", v == ":":
			end = i
		case w.kind(i) == word && v != "dyn" && v != "mut" && v != "for":
			name = v
		}
	}
	if name == "" {
		for w.is(start, "&") || w.kind(start) == literal { // &'a [u8]
			start++
		}
		return w.signature(start, end)
	}
	return name
}

// typ declares the type whose word is at token k, and what is declared within it. In C and C++ it
// looks at no more than 8 words before the name, such as macros; a type without a body is only
// named there, not declared.
func (w *walker) typ(k, hi int, s span, owner string) (next int, ok bool) {
	at := k + 1
	// enum class, struct [[a]], struct alignas(8)
	for w.is(at, "class") || w.is(at, "struct") || w.is(at, "[") || w.is(at, "alignas") || w.is(at, "(") {
		at = w.after(at)
	}
	name := w.word(at)
	if w.funcs[name] {
		return 0, false // class func, class var (Swift)
	}
	cLike := w.language == "c" || w.language == "cpp"
	for n := 0; n < 8 && cLike && w.kind(at) == word; n++ {
		if end := w.genericEnd(at+1, hi); w.is(end, "::") { // struct Table<K>::Rep {
			at = end + 1
			name += "." + w.word(at)
		} else if w.kind(at+1) == word && !w.is(at+1, "final") { // class EXPORT Name {
			at++
			name = w.word(at)
		} else {
			break
		}
	}
	switch {
	case cLike && w.is(at, "{"): // typedef struct { ... } Name;
		name = ""
		if after := w.after(at); w.kind(after) == word {
			name = w.word(after)
		}
		if !w.is(s.sign, "typedef") {
			name = ""
		}
	case w.word(k) == "object" && w.kind(at) != word: // companion object {
		name = "Companion"
	case w.kind(at) != word:
		return 0, false
	}
	open, bases := at, false
	for open < hi && !w.is(open, "{") && !w.is(open, ";") && !w.is(open, "=") {
		if w.lineEnds && open > at && w.lineEnd(open) {
			break
		}
		bases = bases || w.is(open, ":")
		if cLike && !bases && (w.is(open, "(") || w.is(open, "*") || w.is(open, ")") || w.is(open, ",")) {
			return 0, false // struct a *f(), struct a x
		}
		open = w.next(open, hi)
	}
	if cLike && (!w.is(open, "{") || name == "") {
		if w.is(open, "{") && w.language == "cpp" { // anonymous
			w.members(open+1, w.after(open)-1, owner, "struct")
			return w.after(open), true
		}
		return 0, false
	}
	s.body, s.end = open, open
	switch {
	case w.is(open, "{"):
		s.end = w.after(open)
	case w.is(open, ";"):
		s.end = open + 1
	case w.is(open, "="):
		s.end = w.statementEnd(open, hi)
	}
	if s.sign >= s.end {
		return 0, false
	}
	name = qualified(owner, name)
	w.add(name, Type, s)
	// The fields of a type of Rust and the constants of an enum declare nothing.
	if v := w.word(k); w.is(open, "{") && (w.language != "rust" || v == "trait") && (v != "enum" || !cLike && w.language != "csharp") {
		w.members(open+1, s.end-1, name, v)
	}
	return s.end, true
}

// declared declares the function whose word is at token k: fn name(...) {...}. One without a body
// is passed over with ok true.
func (w *walker) declared(k, hi int, s span, owner, in string) (next int, ok bool) {
	v := w.word(k)
	at := k + 1
	switch v {
	case "constructor", "init", "deinit", "subscript":
		at = k
	case "var": // of Swift, with code of its own: var name: T { ... }
		return w.computed(k, hi, s, owner, in)
	case "macro_rules":
		at = k + 2
	}
	if w.is(at, "&") { // function &name (PHP)
		at++
	}
	if w.is(at, "r") && w.is(at+1, "#") { // fn r#async (Rust)
		at += 2
	}
	if w.is(at, "<") && !w.is(at+1, "(") { // func < (a: T, b: T) of Swift is a name
		at = w.typeParametersEnd(at, hi)
	}
	// The receiver of a function of Kotlin: T.name, T<V>?.name
	for n := at; n < hi && !w.is(n, "("); n = w.next(n, hi) {
		if w.language != "kotlin" {
			break
		}
		if w.kind(n) == word || w.kind(n) == literal {
			at = n
		}
	}
	name := strings.Trim(w.word(at), "`")
	if w.kind(at) != word && w.kind(at) != literal && w.language != "swift" {
		return 0, false // an anonymous one
	}
	open := at + 1
	for open < hi && !w.is(open, "{") && !w.is(open, ";") && (w.bodyMark == "" || !w.is(open, w.bodyMark)) {
		if w.lineEnds && open > at && w.lineEnd(open) {
			return open, true // without a body
		}
		open = w.next(open, hi)
	}
	if open >= hi || w.is(open, ";") {
		return open + 1, true
	}
	s.body = open
	if w.is(open, "{") {
		s.end = w.after(open)
	} else {
		s.end = w.statementEnd(open, hi)
	}
	w.add(qualified(owner, name), funcKind(in), s)
	return s.end, true
}

// computed declares a property of Swift that is computed; another property is passed over. ok is
// always true.
func (w *walker) computed(k, hi int, s span, owner, in string) (next int, ok bool) {
	open := k + 1
	for open < hi && !w.is(open, "{") && !w.is(open, "=") {
		if open > k+1 && w.lineEnd(open) {
			return open, true
		}
		open = w.next(open, hi)
	}
	// Observers do not compute a value.
	if !w.is(open, "{") || in == "protocol" || w.is(open+1, "willSet") || w.is(open+1, "didSet") {
		return w.statementEnd(open, hi), true
	}
	return w.braced(qualified(owner, strings.Trim(w.word(k+1), "`")), funcKind(in), s, open), true
}

// form returns the index of the bracket of the parameters when token k is the name of a
// function by its form: name(...) followed by what may stand between it and its body; 0 when it is
// not, or the language has a word for functions. An operator's name has at most 7 tokens.
func (w *walker) form(k, hi int) int {
	v := w.word(k)
	if w.funcs != nil || w.reserved[v] {
		return 0
	}
	p := k + 1
	if v == "operator" {
		if w.is(p, "(") && w.is(p+1, ")") {
			p += 2
		}
		for p < hi && !w.is(p, "(") && p < k+8 {
			p++
		}
	} else {
		p = w.genericEnd(p, hi)
	}
	if !w.is(p, "(") || p >= hi {
		return 0
	}
	after := w.after(p)
	if after >= hi {
		return 0
	}
	switch w.kind(after) { // a body, an end, initializers, a qualifier, "= default", an attribute
	case '{', ';', ':', '&', '=', '[':
		return p
	case operator:
		if w.is(after, "=>") || w.is(after, "->") || w.is(after, "&&") {
			return p
		}
	case word:
		if afterParameters[w.word(after)] {
			return p
		}
	}
	return 0
}

var afterParameters = text.Set(`const noexcept override final throw throws try volatile requires where mutable __attribute__`)

// function adds a function that form found: name is the token of its name, params that of the
// bracket behind it. Qualifiers of C++ before the name ("List<K>::Node::") become part of it.
func (w *walker) function(name, params int, owner, in string, s span) {
	n := w.word(name)
	if n == "operator" {
		n = ""
		for i := name; i < params; i++ {
			n += w.word(i)
		}
	}
	if w.is(name-1, "~") {
		n = "~" + n
	}
	for i := name - 1; i > s.sign; i -= 2 {
		if w.is(i, "~") {
			i--
		}
		if !w.is(i, "::") {
			break
		}
		for w.is(i-1, ">") && i > s.sign { // List<K>::Node
			for i--; i > s.sign && !w.is(i, "<"); i-- {
			}
		}
		if w.kind(i-1) != word {
			break
		}
		n = w.word(i-1) + "." + n
		in = "class" // which makes it a method
	}
	w.add(qualified(owner, n), funcKind(in), s)
}

// initializersEnd returns the first token behind the list between a constructor of C++ and its
// body, of which token k is the first: the brace of the body, or a semicolon.
func (w *walker) initializersEnd(k, hi int) int {
	for k < hi {
		if k = w.find(k, hi, "(", "{", ";"); k >= hi {
			return hi
		}
		if w.is(k, ";") {
			return k
		}
		k = w.after(k)
		if w.is(k, "...") {
			k++
		}
		if !w.is(k, ",") {
			return k
		}
		k++
	}
	return hi
}

// typeParametersEnd returns the token after the list of type parameters that begins with
// the "<" at token k, and the token after that mark when it begins none: it is not closed before a
// semicolon or bracket, or within 400 tokens.
func (w *walker) typeParametersEnd(k, hi int) int {
	depth := 0
	for i := k; i < hi && i < k+400; i = w.after(i) {
		switch w.kind(i) {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case ';', '}', ')':
			return k + 1
		}
	}
	return k + 1
}

// genericEnd returns the token after the type parameters at token k, k without any.
func (w *walker) genericEnd(k, hi int) int {
	if w.is(k, "<") {
		return w.typeParametersEnd(k, hi)
	}
	return k
}

// statementEnd returns the end of a statement from token k on: behind its semicolon, at a bracket
// that closes what it stands in, or where a line ends it, in languages with lineEnds.
func (w *walker) statementEnd(k, hi int) int {
	for i := k; i < hi; {
		switch w.kind(i) {
		case ';':
			return i + 1
		case '}', ')', ']':
			return i
		}
		i = w.after(i)
		if w.lineEnds && i < hi && w.lineEnd(i) {
			return i
		}
	}
	return hi
}

// lineEnd reports whether a declaration or statement ends before token i: a line ends
// there, and neither side asks for the other. It is for languages whose line ends may end a
// statement (lineEnds).
func (w *walker) lineEnd(i int) bool {
	if i >= len(w.tokens) || !w.tokens[i].newline {
		return false
	}
	switch k := w.kind(i); k {
	case '.', ',', ':', '=', '+', '-', '*', '/', '%', '?', '|', '&', '<', '>', '{', ')', ']', operator:
		// A brace on the next line belongs to a declaration; a closure does not begin one.
		return k == '{' && w.kind(i-1) == '}'
	case word:
		if continuing[w.word(i)] {
			return false
		}
	}
	switch k := w.kind(i - 1); k {
	case ')', ']', '}', '>', '?', '!', word, number, literal, markup:
		return k != word || !continued[w.word(i-1)]
	case '*':
		return w.is(i-2, ".") // import a.*
	}
	return false
}

// A line that begins with a continuing word goes on with the line before; one that ends
// with a continued word goes on in the next.
var (
	continuing = text.Set(`where else by as is in throws rethrows`)
	continued  = text.Set(`return throw as is in by else fun func class interface object struct enum public private protected internal open override
		final static suspend inline data sealed abstract lateinit const mutating`)
)

// funcKind returns the kind of a function that stands in what the word in declared: Func in the
// file, a namespace or a module of Rust, else Method.
func funcKind(in string) Kind {
	if in == "" || in == "mod" {
		return Func
	}
	return Method
}
