package offline

import (
	"path"
	"strings"

	"claudemem/text"
)

// decl is a declaration that a line of source begins.
type decl struct {
	name string
	// owner is the type that a method belongs to, when the line itself says so.
	owner string
	// holds says that what is declared inside belongs to it: a class, an impl.
	holds bool
	test  bool
	// kind is func or type.
	kind string
}

// languageOf returns the language of a file by its extension, "" for one whose
// declarations we do not know.
func languageOf(p string) string {
	switch text.LowerASCII(path.Ext(p)) {
	case ".go":
		return "go"
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return "js"
	case ".py", ".pyi":
		return "py"
	case ".rs":
		return "rs"
	case ".java", ".kt", ".kts", ".cs", ".scala", ".swift":
		return "java"
	case ".rb":
		return "rb"
	case ".php":
		return "php"
	case ".sh", ".bash":
		return "sh"
	}
	return ""
}

// declaration returns what a line of a language declares; false for none. It looks at
// single lines: enough to name what an edit touched, no substitute for a parser.
func declaration(lang, line string) (decl, bool) {
	s := strings.TrimLeft(line, " \t")
	indented := len(s) < len(line)
	switch lang {
	case "go":
		if indented {
			return decl{}, false
		}
		return goDecl(s)
	case "js":
		return jsDecl(s, indented)
	case "py":
		s = strings.TrimPrefix(s, "async ")
		if rest, ok := strings.CutPrefix(s, "def "); ok {
			n := ident(rest)
			return decl{name: n, kind: "func", test: strings.HasPrefix(n, "test")}, n != ""
		}
		if rest, ok := strings.CutPrefix(s, "class "); ok {
			n := ident(rest)
			return decl{name: n, kind: "type", holds: true}, n != ""
		}
	case "rs":
		return rustDecl(s)
	case "java":
		return javaDecl(s, indented)
	case "rb":
		if rest, ok := strings.CutPrefix(s, "def "); ok {
			n := ident(strings.TrimPrefix(rest, "self."))
			return decl{name: n, kind: "func"}, n != ""
		}
		for _, k := range []string{"class ", "module "} {
			if rest, ok := strings.CutPrefix(s, k); ok {
				n := ident(rest)
				return decl{name: n, kind: "type", holds: true}, n != ""
			}
		}
	case "php":
		s = dropWords(s, modifiers)
		if rest, ok := strings.CutPrefix(s, "function "); ok {
			n := ident(rest)
			return decl{name: n, kind: "func", test: strings.HasPrefix(n, "test")}, n != ""
		}
		for _, k := range []string{"class ", "interface ", "trait ", "enum "} {
			if rest, ok := strings.CutPrefix(s, k); ok {
				n := ident(rest)
				return decl{name: n, kind: "type", holds: true}, n != ""
			}
		}
	case "sh":
		if rest, ok := strings.CutPrefix(s, "function "); ok {
			n := ident(rest)
			return decl{name: n, kind: "func"}, n != ""
		}
		if n := ident(s); n != "" && strings.HasPrefix(strings.TrimLeft(s[len(n):], " "), "()") {
			return decl{name: n, kind: "func"}, true
		}
	}
	return decl{}, false
}

// goDecl returns what a line of Go declares: a function, method or type; false for none.
func goDecl(s string) (decl, bool) {
	if rest, ok := strings.CutPrefix(s, "type "); ok {
		n := ident(rest)
		return decl{name: n, kind: "type"}, n != "" && !strings.HasPrefix(rest, "(")
	}
	rest, ok := strings.CutPrefix(s, "func ")
	if !ok {
		return decl{}, false
	}
	d := decl{kind: "func"}
	if strings.HasPrefix(rest, "(") {
		receiver, after, ok := strings.Cut(rest[1:], ")")
		if !ok {
			return decl{}, false
		}
		receiver, _, _ = strings.Cut(receiver, "[")
		d.owner = strings.TrimLeft(text.AfterLast(strings.TrimSpace(receiver), " "), "*")
		rest = strings.TrimSpace(after)
	}
	d.name = ident(rest)
	d.test = d.owner == "" && (strings.HasPrefix(d.name, "Test") || strings.HasPrefix(d.name, "Fuzz") || strings.HasPrefix(d.name, "Benchmark"))
	return d, d.name != ""
}

var modifiers = text.Set(`export default async declare abstract public private protected static readonly get set override final
	synchronized native internal open sealed data inline suspend virtual partial unsafe extern inner companion lateinit mutating @Override`)

var notMethods = text.Set(`if for while switch catch function return else do try with await yield new delete typeof throw constructor_ using lock foreach when guard super this print assert`)

// jsDecl returns what a line of JavaScript or TypeScript declares: a function, method,
// type, or a test by its title; false for none.
func jsDecl(s string, indented bool) (decl, bool) {
	for _, k := range []string{"test(", "it(", "describe(", "test.each(", "it.only(", "test.only("} {
		if rest, ok := strings.CutPrefix(s, k); ok && len(rest) > 1 && strings.IndexByte("\"'`", rest[0]) >= 0 {
			if end := strings.IndexByte(rest[1:], rest[0]); end > 0 {
				return decl{name: shown(rest[1:1+end], maxTestName), kind: "func", test: true}, true
			}
		}
	}
	full := s
	s = dropWords(s, modifiers)
	for _, k := range []string{"function* ", "function *", "function "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			return decl{name: n, kind: "func"}, n != ""
		}
	}
	for _, k := range []string{"class ", "interface ", "enum ", "namespace "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			return decl{name: n, kind: "type", holds: k == "class "}, n != ""
		}
	}
	if rest, ok := strings.CutPrefix(s, "type "); ok {
		n := ident(rest)
		return decl{name: n, kind: "type"}, n != "" && strings.Contains(rest, "=")
	}
	for _, k := range []string{"const ", "let ", "var "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			if n == "" || indented && full == s {
				return decl{}, false // a local
			}
			if strings.Contains(rest, "=>") || strings.Contains(rest, "= function") || strings.Contains(rest, "= async") || strings.HasSuffix(rest, "= (") {
				return decl{name: n, kind: "func"}, true
			}
			return decl{}, false
		}
	}
	if indented { // a method
		n := ident(strings.TrimPrefix(s, "#"))
		rest := strings.TrimPrefix(s, "#")[len(n):]
		if n != "" && !notMethods[n] && strings.HasPrefix(rest, "(") && strings.HasSuffix(strings.TrimSpace(rest), "{") && !strings.Contains(rest, "=>") && !strings.Contains(rest, "function") {
			return decl{name: n, kind: "func", owner: "."}, true
		}
	}
	return decl{}, false
}

// rustDecl returns what a line of Rust declares, impl blocks as types; false for none.
func rustDecl(s string) (decl, bool) {
	if strings.HasPrefix(s, "pub(") {
		_, s, _ = strings.Cut(s, ") ")
	}
	s = strings.TrimPrefix(s, "pub ")
	if rest, ok := strings.CutPrefix(s, "impl"); ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "<")) {
		if strings.HasPrefix(rest, "<") {
			_, rest, _ = strings.Cut(rest, "> ")
		}
		if _, of, ok := strings.Cut(rest, " for "); ok {
			rest = of
		}
		n := ident(strings.TrimSpace(rest))
		return decl{name: n, kind: "type", holds: true}, n != ""
	}
	for _, k := range []string{"struct ", "enum ", "trait ", "type ", "mod ", "union "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			return decl{name: n, kind: "type", holds: k == "trait "}, n != ""
		}
	}
	if rest, ok := strings.CutPrefix(s, "macro_rules! "); ok {
		return decl{name: ident(rest), kind: "func"}, ident(rest) != ""
	}
	for _, k := range []string{"default ", "const ", "async ", "unsafe ", "extern \"C\" "} {
		s = strings.TrimPrefix(s, k)
	}
	if rest, ok := strings.CutPrefix(s, "fn "); ok {
		n := ident(rest)
		return decl{name: n, kind: "func"}, n != ""
	}
	return decl{}, false
}

// javaDecl returns what a line of Java or a language like it (Kotlin, C#, Swift …)
// declares; false for none.
func javaDecl(s string, indented bool) (decl, bool) {
	s = dropWords(s, modifiers)
	for _, k := range []string{"class ", "interface ", "enum ", "record ", "object ", "struct ", "protocol ", "extension ", "trait "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			return decl{name: n, kind: "type", holds: true}, n != ""
		}
	}
	for _, k := range []string{"fun ", "func ", "def "} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			n := ident(rest)
			return decl{name: n, kind: "func"}, n != ""
		}
	}
	open := strings.IndexByte(s, '(')
	end := strings.TrimSpace(s)
	if !indented || open <= 0 || strings.HasSuffix(end, ";") || !strings.HasSuffix(end, "{") && !strings.HasSuffix(end, ")") && !strings.HasSuffix(end, ",") {
		return decl{}, false
	}
	head := strings.Fields(s[:open])
	if len(head) < 2 || strings.ContainsAny(s[:open], "=.\"'") || notMethods[head[0]] {
		return decl{}, false
	}
	n := head[len(head)-1]
	return decl{name: n, kind: "func"}, ident(n) == n
}

// dropWords takes leading modifiers off a line.
func dropWords(s string, drop map[string]bool) string {
	for {
		w, rest, ok := strings.Cut(s, " ")
		if !ok || !drop[w] {
			return s
		}
		s = strings.TrimLeft(rest, " ")
	}
}

// ident returns the identifier that s begins with, "" for none.
func ident(s string) string {
	i := 0
	for i < len(s) && (text.IsIdent(s[i]) || s[i] == '$' || s[i] >= 0x80) {
		i++
	}
	if i > 80 || i > 0 && text.IsDigit(s[0]) {
		return ""
	}
	return s[:i]
}

// isComment reports whether a line of source is only a comment.
func isComment(lang, line string) bool {
	s := strings.TrimSpace(line)
	if s == "" {
		return true
	}
	switch lang {
	case "py", "sh", "rb":
		return s[0] == '#' && !strings.HasPrefix(s, "#!")
	case "":
		return false
	}
	return strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*") || strings.HasPrefix(s, "*/") || s[0] == '*' && (len(s) == 1 || s[1] == ' ')
}

// isImport reports whether a line of source only names what is imported.
func isImport(lang, line string) bool {
	s := strings.TrimSpace(line)
	switch lang {
	case "go":
		return strings.HasPrefix(s, "import ") || s == ")" || s == "import (" || strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) && !strings.Contains(s, " ") || strings.HasPrefix(s, "package ")
	case "js":
		return strings.HasPrefix(s, "import ") || strings.HasPrefix(s, "} from ") || strings.Contains(s, "= require(")
	case "py":
		return strings.HasPrefix(s, "import ") || strings.HasPrefix(s, "from ") && strings.Contains(s, " import ")
	case "rs":
		return strings.HasPrefix(s, "use ") || strings.HasPrefix(s, "pub use ")
	case "java", "php":
		return strings.HasPrefix(s, "import ") || strings.HasPrefix(s, "use ") || strings.HasPrefix(s, "package ") || strings.HasPrefix(s, "using ")
	case "rb":
		return strings.HasPrefix(s, "require")
	}
	return false
}
