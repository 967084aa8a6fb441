package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// isDropped reports whether a rune separates words and means nothing more.
func isDropped(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// Bounds of what is taken for an expression: prose has longer runs of words.
const (
	// maxOperand is how many bare words may stand between two operators.
	maxOperand = 3
	// maxBeside is how many bare words may stand beside a phrase or a prefix.
	maxBeside = 3
)

// isExpression reports whether a text looks like a full-text expression: operators
// in capitals between words, NEAR(…), a quoted phrase at the beginning, a prefix*,
// a column:word. Prose is none, even if it has a word in quotes or shouts AND: as an
// expression it would demand all of its words. So a phrase or a prefix counts only beside
// at most maxBeside words, operators only between operands of at most maxOperand words.
func isExpression(text string) bool {
	tokens, ok := lexExpression(text)
	if !ok || len(tokens) == 0 {
		return false
	}
	var operators, phrases, prefixes, words, run, near int
	for i, t := range tokens {
		switch t.kind {
		case operatorToken:
			if t.text == "AND" && i+1 < len(tokens) && tokens[i+1].text == "NOT" {
				continue // the NOT says it all
			}
			before := i > 0 && tokens[i-1].operand(false) || t.text == "NOT" && i > 1 && tokens[i-1].text == "AND" && tokens[i-2].operand(false)
			after := i+1 < len(tokens) && tokens[i+1].operand(true)
			if !before || !after {
				return false
			}
			operators++
			run = 0
		case phraseToken:
			phrases++
		case prefixToken:
			prefixes++
		case nearToken:
			near++
		case wordToken:
			words++
			run++
			if run > maxOperand && near == 0 {
				return false
			}
		}
	}
	switch {
	case near > 0:
		return true
	case operators > 0:
		// Shouted prose has no small letter, and more words than a query of acronyms.
		return words <= maxOperand+1 || strings.ToUpper(text) != text
	case phrases > 0:
		return words <= maxBeside && tokens[0].kind == phraseToken
	default:
		return prefixes > 0 && words <= maxBeside
	}
}

// excludes reports whether an expression says what shall not be found: its words
// alone would find just that.
func excludes(text string) bool {
	tokens, _ := lexExpression(text)
	return slices.ContainsFunc(tokens, func(t expressionToken) bool { return t.kind == operatorToken && t.text == "NOT" })
}

type tokenKind int

const (
	wordToken tokenKind = iota
	phraseToken
	prefixToken
	operatorToken
	nearToken
	openToken
	closeToken
)

type expressionToken struct {
	kind tokenKind
	text string
}

// operand reports whether t can be what an operator joins: with next set the token behind the
// operator, which may open a parenthesis, else the one before it. The small words of prose
// are no operands.
func (t expressionToken) operand(next bool) bool {
	switch t.kind {
	case wordToken:
		return !lang.Is(t.text, "query-prose")
	case phraseToken, prefixToken:
		return true
	case nearToken, openToken:
		return next
	case closeToken:
		return !next
	default:
		return false
	}
}

// columns are the names by which package index knows its columns.
var columns = text.Set("title text narrative facts fact files file concepts concept")

// lexExpression takes a text apart; ok is false when a quote or a parenthesis is
// left open.
func lexExpression(text string) (tokens []expressionToken, ok bool) {
	depth := 0
	for _, at := range expressionPart.FindAllStringIndex(text, -1) {
		t := expressionToken{text: text[at[0]:at[1]]}
		switch t.text[0] {
		case '(':
			depth++
			t.kind = openToken
		case ')':
			if depth--; depth < 0 {
				return nil, false
			}
			t.kind = closeToken
		case '"':
			t.kind = phraseToken
			if t.text, ok = strings.CutSuffix(t.text[1:], `"`); !ok || strings.TrimSpace(t.text) == "" {
				return nil, false
			}
		default:
			t.kind = wordKind(t.text, text[at[1]:])
		}
		tokens = append(tokens, t)
	}
	return tokens, depth == 0
}

// expressionPart is a phrase, whose end may be missing, a parenthesis or a word.
var expressionPart = regexp.MustCompile(`"[^"]*"?|[()]|[^ ()"]+`)

// wordKind returns what a word of the query is: an operator, NEAR with its list when
// rest, the text behind it, begins with "(", a column or prefix (file:x, pre*), else a
// word.
func wordKind(word, rest string) tokenKind {
	switch {
	case word == "NEAR" && strings.HasPrefix(rest, "("):
		return nearToken
	case word == "AND" || word == "OR" || word == "NOT" || word == "NEAR" || strings.HasPrefix(word, "NEAR/"):
		return operatorToken
	}
	if column, rest, ok := strings.Cut(word, ":"); ok && columns[column] && rest != "" {
		return prefixToken
	}
	// A prefix is at least two letters or digits and one star: not **kwargs, *.go, x*.
	if stem, ok := strings.CutSuffix(word, "*"); ok && len(stem) >= 2 && !strings.ContainsFunc(stem, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		return prefixToken
	}
	return wordToken
}
