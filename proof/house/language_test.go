package house

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/lang"
)

// readers are the packages that understand prose by the tables of package lang.
var readers = []string{"internal/leaf/lang", "internal/distil/observer", "internal/distil/offline", "internal/keep/store/likeness", "internal/find/recall", "internal/find/recall/block", "internal/find/recall/gate", "internal/find/recall/moments", "internal/find/search"}

// namesNotWords are the declarations of these packages that compare text with words which a table
// lists as well, because they are names of something. At most 20: a word of people is a cue.
var namesNotWords = map[string]string{
	"offline.concepts":        "concepts of the mode",
	"offline.decisions":       "concepts of the mode",
	"moments.fileEvidence":    "concepts of the mode",
	"offline.featureNames":    "names in weights.json",
	"offline.integrates":      "verbs of git",
	"offline.investigates":    "verbs of git",
	"offline.revertedCommits": "the subject that git gives a revert",
	"offline.manifestEntry":   "syntax of go.mod",
	"offline.neutral":         "options of programs",
	"block.withoutMembers":    "kinds of symbols",
	"block.isTest":            "kinds of symbols",
	"moments.runNoise":        "messages of shells and languages, with the name in them",
	"recall.IsMeasure":        "units of numbers",
	"search.columns":          "columns of the index",
}

// TestLanguage finds words of people in the code of the packages that read prose: they belong in
// the tables of package lang, where each language has its own.
//
// No literal has a letter beyond ASCII. No literal that text is compared with holds a word or
// phrase of a table: the pattern of a regular expression, an argument of the functions that
// search a text (strings.Contains, CutPrefix, text.Set, …), a case, an operand of == and !=, an
// element of a list of strings, a key of a map. Sentences that the program itself writes are
// compared with nothing and stay in the code; where one is read back it is a constant, so that
// both sides change together. Words of one or two letters are left out, since they are in every
// pattern. A literal without blanks that has a sign of names in it (what-changed, _test.go) or is
// in capitals (AND) is one name, and counts only where a table lists the whole of it. The names of
// cues are words as well: they are left out as arguments of package lang, and in a list that has
// nothing else.
func TestLanguage(t *testing.T) {
	sources := parseSources(t)
	described := describedCues(t)
	listed, cues := listedWords(described), slices.Sorted(maps.Keys(described))
	used := map[string]bool{}
	excused := map[string]bool{}
	for _, file := range sources {
		if !slices.Contains(readers, file.dir) {
			continue
		}
		for _, decl := range file.Decls {
			name := path.Base(file.dir) + "." + declared(decl)
			for _, l := range comparedIn(decl, cues) {
				if word := heldWord(l, listed); word != "" {
					if excused[name] = true; namesNotWords[name] == "" {
						t.Errorf("%s: %s compares text with %q, and a table of package lang lists %q", file.path, name, l, word)
					}
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if s, ok := literal(n); ok {
					used[s] = true
					if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }) {
						t.Errorf("%s: %s has the literal %q; words of people belong in the tables of package lang", file.path, name, s)
					}
				}
				if call, ok := n.(*ast.CallExpr); ok && isLangCall(call) {
					for _, arg := range call.Args {
						if s, ok := literal(arg); ok && !slices.Contains(cues, s) {
							t.Errorf("%s: %s asks package lang for %q; no table has such a cue", file.path, name, s)
						}
					}
				}
				return true
			})
		}
	}
	for _, cue := range cues {
		if !used[cue] {
			t.Errorf("no code asks for the cue %q", cue)
		}
	}
	if len(namesNotWords) > 20 {
		t.Errorf("%d declarations are excused, more than 20", len(namesNotWords))
	}
	for name := range namesNotWords {
		if !excused[name] {
			t.Errorf("%s needs no excuse any more", name)
		}
	}
}

// listedWords returns the phrases of all tables with three letters and more; of a pair, its word.
func listedWords(described map[string]string) map[string]bool {
	listed := map[string]bool{}
	for cue, means := range described {
		if means == "" {
			continue
		}
		for _, p := range lang.Phrases(cue) {
			if strings.Contains(means, "pair") {
				p, _, _ = strings.Cut(p, " ")
			}
			if p = strings.Trim(p, " :,"); utf8.RuneCountInString(p) >= 3 {
				listed[p] = true
			}
		}
	}
	return listed
}

// describedCues returns the cues and what cues.txt says of each, "" for what programs print.
func describedCues(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("internal/leaf/lang/cues.txt")
	if err != nil {
		t.Fatal(err)
	}
	cues := map[string]string{}
	people, programs, ok := strings.Cut(string(data), "# What programs print")
	if !ok {
		t.Fatal("cues.txt has no part for what programs print")
	}
	for part, text := range []string{people, programs} {
		for line := range strings.Lines(text) {
			if name, means, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
				if part > 0 {
					means = ""
				}
				cues[name] = means
			}
		}
	}
	return cues
}

// declared returns the name of a declaration; of several in one, the first.
func declared(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				return s.Names[0].Name
			case *ast.TypeSpec:
				return s.Name.Name
			}
		}
	}
	return ""
}

// literal returns the text of a literal.
func literal(n ast.Node) (string, bool) {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING && l.Kind != token.CHAR {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// searches are the functions that look for one of their arguments in a text, by package.
var searches = map[string]*regexp.Regexp{
	"regexp":  regexp.MustCompile(`Compile`),
	"strings": regexp.MustCompile(`^(?:Contains|Count|Cut|EqualFold|Fields|HasPrefix|HasSuffix|Index|LastIndex|Split|TrimPrefix|TrimSuffix)`),
	"text":    regexp.MustCompile(`^(?:Set|HasWord|ContainsAny|Before|AfterLast)$`),
	"slices":  regexp.MustCompile(`^(?:Contains|Index)$`),
}

// comparedIn returns the literals in a declaration that text is compared with.
func comparedIn(decl ast.Decl, cues []string) []string {
	var out []string
	add := func(list ...ast.Expr) {
		for _, x := range list {
			if pair, ok := x.(*ast.KeyValueExpr); ok {
				x = pair.Key
			}
			for sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD; sum, ok = x.(*ast.BinaryExpr) {
				x = sum.X
				if s, ok := literal(sum.Y); ok {
					out = append(out, s)
				}
			}
			if s, ok := literal(x); ok {
				out = append(out, s)
			}
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if pkg, name := callee(n); searches[pkg] != nil && searches[pkg].MatchString(name) || pkg == "" && name == "cutPrefixes" {
				args := n.Args
				if len(args) > 1 && pkg != "text" && !strings.HasPrefix(name, "Split") {
					args = args[1:] // the text itself comes first
				}
				add(args...)
			}
		case *ast.CaseClause:
			add(n.List...)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				add(n.X, n.Y)
			}
		case *ast.CompositeLit:
			if ofStrings(n.Type) && !onlyCues(n, cues) {
				add(slices.DeleteFunc(slices.Clone(n.Elts), isSum)...) // a sum is written, not compared
			}
		}
		return true
	})
	return out
}

// ofStrings reports whether a type is a list of strings or a map by strings.
func ofStrings(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ArrayType:
		return isString(x.Elt)
	case *ast.MapType:
		return isString(x.Key)
	}
	return false
}

func isSum(x ast.Expr) bool {
	_, ok := x.(*ast.BinaryExpr)
	return ok
}

func isString(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "string"
}

// onlyCues reports whether all literals in a list name cues.
func onlyCues(list *ast.CompositeLit, cues []string) bool {
	only := true
	ast.Inspect(list, func(n ast.Node) bool {
		if s, ok := literal(n); ok {
			only = only && slices.Contains(cues, s)
		}
		return true
	})
	return only
}

// callee returns the package or receiver and the name of what is called.
func callee(call *ast.CallExpr) (pkg, name string) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name, f.Sel.Name
		}
	}
	return "", ""
}

// isLangCall reports whether a call asks a table: package lang, or the rules of one language.
func isLangCall(call *ast.CallExpr) bool {
	pkg, name := callee(call)
	return pkg == "lang" || pkg == "c" && slices.Contains([]string{"Has", "Is", "Front", "Cut", "Phrases", "Knows", "begins"}, name)
}

var (
	escape = regexp.MustCompile(`\\[a-zA-Z]`) // of a pattern: \b is no letter
	word   = regexp.MustCompile(`[\pL\d']+`)
	// aName matches a literal that is the name of something: one word with a sign in it, or
	// in capitals.
	aName = regexp.MustCompile(`^(?:[^\s(|]*[-_./:][^\s(|]*|[A-Z]+/?)$`)
)

// heldWord returns a listed word that a literal holds as whole words, "" for none. A name counts
// as a whole.
func heldWord(l string, listed map[string]bool) string {
	if aName.MatchString(l) {
		if listed[l] {
			return l
		}
		return ""
	}
	l = escape.ReplaceAllString(l, " ")
	words := word.FindAllStringIndex(l, -1)
	for i := range words {
		for j := i; j < min(len(words), i+6); j++ {
			if w := strings.ToLower(l[words[i][0]:words[j][1]]); listed[w] {
				return w
			}
		}
	}
	return ""
}
