package offline

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// telling leaves out the names that every program has.
func telling(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return lang.Is(text.AfterLast(text.AfterLast(n, "::"), "."), "plain-name")
	})
}

// firstWord returns the first word of s in lower case, "" for none.
func firstWord(s string) string {
	return text.First(words(s[:min(len(s), 60)]))
}

// withoutCausePhrase drops "The problem was that".
func withoutCausePhrase(s string) string {
	if rest := s[lang.Front(s, "cause-phrase"):]; len(words(rest)) >= 4 {
		return rest
	}
	return s
}

// withoutReports drops what a title need not say: that the tests pass.
func withoutReports(s string) string {
	s = strings.TrimRight(s, ". ")
	seps := []string{"; ", ", "}
	for _, and := range lang.Phrases("list-and") {
		seps = append(seps, " "+and+" ")
	}
	for _, sep := range seps {
		i := strings.LastIndex(s, sep)
		if i > 20 && balanced(s[:i]) && (reportsTests(s[i+len(sep):]) || lang.Has(s[i+len(sep):], "committed")) {
			return strings.TrimRight(s[:i], ",; ")
		}
	}
	return s
}

// imperative takes the agent out of its own sentence: "I've fixed X" → "Fix X".
func imperative(s string) string {
	whole := s
	for again := true; again; {
		rest, ok := lang.Cut(s, "subject", "subject-verb")
		if again = ok && (mayLoseSubject(firstWord(rest)) || lang.Front(s, "subject") > 0); again {
			s = rest
		}
	}
	w := text.Before(s, " ")
	if base := lang.Value(text.LowerASCII(w), "past"); base != "" && len(w) < len(s) {
		s = base + s[len(w):]
	}
	if s == whole {
		return s // it begins as its author began it: a name may be lower case
	}
	return capital(s)
}

// mayLoseSubject reports whether a verb can stand without the agent's "I".
func mayLoseSubject(verb string) bool {
	return lang.Is(verb, "subjectless") || lang.Value(verb, "past") != ""
}

// baseNames returns the names, each once, and of those that are paths the base names.
func baseNames(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if isPathLike(n) && !strings.Contains(n, "::") {
			n = nameOf(n)
		}
		out = text.Add(out, n)
	}
	return out
}

// quoted returns the texts that are not empty in quotes, with commas.
func quoted(list []string) string {
	q := make([]string, 0, len(list))
	for _, s := range list {
		if s != "" {
			q = append(q, "“"+s+"”")
		}
	}
	return strings.Join(q, ", ")
}

// uncapitalFirst returns s with its first byte in lower case.
func uncapitalFirst(s string) string {
	if s == "" {
		return s
	}
	return text.LowerASCII(s[:1]) + s[1:]
}
