package offline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// plain is text.Plain of at most maxText bytes that closes with '›' what it opens with '‹'.
func plain(s string) string {
	opened, before := 0, ' '
	return strings.Map(func(r rune) rune {
		switch {
		case r == '‹':
			opened++
		case r == '>' && opened > 0 && before != '-' && before != '=':
			opened--
			r = '›'
		}
		before = r
		return r
	}, text.Plain(s[:min(len(s), maxText)]))
}

// maxText bounds how much of one foreign text is looked at.
const maxText = 32 << 10

// cut shortens s to at most n characters. It ends where a clause ends, if that
// leaves a good part of s, else at a word, with an ellipsis; it leaves no lone
// backquote. The Truncate functions of package text know nothing of clauses and code.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end, word, clause, count := 0, 0, 0, 0
	for i, r := range s {
		if count == n-1 {
			end = i
			break
		}
		if r == ' ' {
			word = i
			if c := clauseEnd(s, i); c > 0 && balanced(s[:c]) {
				clause = c
			}
		}
		count++
	}
	if clause > end*2/5 {
		return withoutStump(s[:clause])
	}
	if word > end/2 {
		end = word
	}
	s = strings.TrimRight(s[:end], " ,;:.(")
	if strings.Count(s, "`")%2 == 1 {
		if i := strings.LastIndexByte(s, '`'); i > end/2 {
			s = strings.TrimRight(s[:i], " ,;:.(")
		} else {
			s = string([]rune(s)[:min(utf8.RuneCountInString(s), n-2)]) + "`"
		}
	}
	return s + "…"
}

// withoutStump drops a last clause of a word or two: "…; before".
func withoutStump(s string) string {
	if i := strings.LastIndexAny(s, ",;:"); i > len(s)/2 && i+1 < len(s) && s[i+1] == ' ' && len(strings.Fields(s[i+1:])) < 3 && balanced(s[:i]) {
		return s[:i]
	}
	return s
}

// clauseEnd returns where the clause before the space at i ends, 0 when none does: at
// punctuation, or before a conjunction that only goes on.
func clauseEnd(s string, i int) int {
	if i > 0 && strings.IndexByte(",;:", s[i-1]) >= 0 {
		return i - 1
	}
	if lang.Is(text.Before(s[i+1:min(len(s), i+12)], " "), "clause-start") {
		return i
	}
	return 0
}

// balanced reports whether no backquote, quotation mark or bracket is left open.
func balanced(s string) bool {
	return strings.Count(s, "`")%2 == 0 && strings.Count(s, `"`)%2 == 0 &&
		strings.Count(s, "(") <= strings.Count(s, ")")
}

// shown is plain text of at most n characters.
func shown(s string, n int) string { return cut(plain(s), n) }

// capital makes the first letter upper case, unless the first word is a name in
// code or of a file, where the case matters.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if looksLikeCode(first) {
		return s
	}
	r, size := utf8.DecodeRuneInString(s)
	if unicode.IsLower(r) {
		return string(unicode.ToUpper(r)) + s[size:]
	}
	return s
}

// uncapital returns a sentence with a small first letter, to follow a colon; "I", names
// and acronyms keep their case.
func uncapital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if lang.Is(first, "small-word") {
		return text.LowerASCII(first) + s[len(first):]
	}
	return s
}

// looksLikeCode reports whether a word is an identifier, path or command and no word of
// prose.
func looksLikeCode(word string) bool {
	word = strings.Trim(word, ",;:.!?()\"'")
	if word == "" {
		return false
	}
	if strings.ContainsAny(word, "`_/\\#=<>{}[]$@*") || strings.Contains(word, "()") || strings.Contains(word, "--") || strings.Contains(word, "::") {
		return true
	}
	if i := strings.IndexByte(word, '.'); i > 0 && i < len(word)-1 && text.IsLetter(word[i+1]) && text.IsLetter(word[i-1]) {
		return true
	}
	upper, lower := 0, 0
	for i, r := range word {
		if unicode.IsUpper(r) && i > 0 {
			upper++
		}
		if unicode.IsLower(r) {
			lower++
		}
	}
	return upper > 0 && lower > 0 && !strings.HasPrefix(word, "I'")
}

// words splits text into lower-case words of letters and digits; apostrophes stay.
func words(s string) []string {
	return strings.FieldsFunc(text.LowerASCII(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
}

// mentions reports whether s speaks of name: as a whole word, in any case for words
// of more than three letters.
func mentions(s, name string) bool {
	if len(name) > 3 {
		s, name = text.LowerASCII(s), text.LowerASCII(name)
	}
	return name != "" && text.HasWord(s, name)
}

// list joins names for people: "a, b and 3 more".
func list(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:n], ", ") + " and " + strconv.Itoa(len(names)-n) + " more"
}
