package offline

import (
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
)

// telling leaves out the names that every program has.
func telling(names []string) []string {
	var out []string
	for _, n := range names {
		switch text.AfterLast(text.AfterLast(n, "::"), ".") {
		case "main", "init", "run", "new", "New", "test", "setup", "get", "set", "__init__", "constructor", "render", "default":
		default:
			out = append(out, n)
		}
	}
	return out
}

// firstWord returns the first word of s in lower case, "" for none.
func firstWord(s string) string {
	ws := words(s[:min(len(s), 60)])
	if len(ws) == 0 {
		return ""
	}
	return ws[0]
}

// afterLeadIn drops a lead-in: "The missing cent is found: `vat` rounded …".
func afterLeadIn(s string) string {
	head, tail, ok := strings.Cut(s, ": ")
	if ok && !hasCode(head) && hasCode(tail) && len(words(head)) <= 8 && len(words(tail)) >= 4 && balanced(head) && !carries.MatchString(head) {
		return tail
	}
	return s
}

// carries says of the words in front of a colon that what follows needs them: they name a
// cause, or count what is listed.
var carries = regexp.MustCompile(`(?i)\b(?:cause|culprit|reason) (?:is|was) |(?:^|\P{L})(?:two|three|four|zwei|drei|vier|dos|tres|cuatro|deux|trois|quatre|dois|duas|três) \pL+$`)

// withoutCausePhrase drops "The problem was that".
func withoutCausePhrase(s string) string {
	low := text.LowerASCII(s)
	for _, noun := range []string{"the problem", "the issue", "the bug", "the root cause", "the cause", "the culprit", "the reason", "the failure", "the error"} {
		rest, ok := strings.CutPrefix(low, noun)
		if !ok {
			continue
		}
		for _, verb := range []string{" was that ", " is that ", " was ", " is ", " were "} {
			if tail, ok := strings.CutPrefix(rest, verb); ok {
				if out := s[len(s)-len(tail):]; len(words(out)) >= 4 {
					return out
				}
			}
		}
	}
	return s
}

// withoutReports drops what a title need not say: that the tests pass.
func withoutReports(s string) string {
	s = strings.TrimRight(s, ". ")
	for _, sep := range []string{"; ", ", and ", ", ", " and "} {
		i := strings.LastIndex(s, sep)
		if i > 20 && balanced(s[:i]) && (reportsTests(s[i+len(sep):]) || reportsCommit(s[i+len(sep):])) {
			return strings.TrimRight(s[:i], ",; ")
		}
	}
	return s
}

var imperatives = func() map[string]string {
	m := map[string]string{}
	pairs := strings.Fields(`fixed fix added add updated update removed remove renamed rename moved move refactored refactor extracted extract
		implemented implement changed change created create replaced replace introduced introduce documented document simplified simplify converted convert
		made make wrote write split split cleaned clean wired wire bumped bump switched switch improved improve corrected correct resolved resolve handled handle
		deleted delete dropped drop exposed expose enabled enable disabled disable configured configure migrated migrate upgraded upgrade reverted revert
		adjusted adjust rewrote rewrite pulled pull merged merge guarded guard capped cap cached cache wrapped wrap`)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}()

// imperative takes the agent out of its own sentence: "I've fixed X" → "Fix X".
func imperative(s string) string {
	whole := s
	for again := true; again; {
		again = false
		low := text.LowerASCII(s)
		for _, lead := range []string{"i've ", "i’ve ", "i have ", "i ", "we've ", "we have ", "so ", "now, ", "now ", "also ", "just ", "successfully ", "finally, ", "in short, ", "overall, "} {
			if strings.HasPrefix(low, lead) {
				if lead == "i " && !mayLoseSubject(firstWord(s[2:])) {
					continue
				}
				s, again = s[len(lead):], true
				break
			}
		}
	}
	w := text.Before(s, " ")
	if base, ok := imperatives[text.LowerASCII(w)]; ok && len(w) < len(s) {
		s = base + s[len(w):]
	}
	if s == whole {
		return s // it begins as its author began it: a name may be lower case
	}
	return capital(s)
}

// mayLoseSubject reports whether a verb can stand without the agent's "I".
func mayLoseSubject(verb string) bool {
	switch verb {
	case "also", "chose", "decided", "opted", "picked", "went", "kept", "settled", "used":
		return true
	}
	return imperatives[verb] != ""
}

// baseNames returns the base names of paths, each once.
func baseNames(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = text.Add(out, nameOf(p))
	}
	return out
}

// baseNamesOfPaths shortens those of the names that are paths.
func baseNamesOfPaths(names []string) []string {
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
