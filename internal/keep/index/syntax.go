package index

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// A full-text expression is
//
//	or      = and { "OR" and }
//	and     = [ "NOT" ] near { [ "AND" ] [ "NOT" ] near }
//	near    = primary | term "NEAR" [ "/" number ] term { "NEAR" [ "/" number ] term }
//	primary = "(" or ")" | "NEAR" "(" term { term } [ "," number ] ")" | column ":" primary | term
//	term    = word [ "*" ] | '"' text '"' [ "*" ]
//
// as people know it from FTS5, with NOT allowed after AND. It is read by this
// package and written anew for FTS5 (clause.go) with the words as package words makes them, so
// no text of the user's gets into FTS5's own parser but inside of quotes.

const (
	// maxNesting and maxTerms bound an expression: FTS5's parser has a stack of 100
	// and people write a handful.
	maxNesting = 30
	maxTerms   = 64
	// nearDistance is NEAR's default, as in FTS5; maxNear the most that is asked for.
	nearDistance = 10
	maxNear      = 100
	// minPrefix is the shortest beginning that may be searched with *: one letter
	// stands for a large part of all words.
	minPrefix = 2
)

// expression is a parsed expression.
type expression struct {
	*clause
	// words are those that a record shall have, for scoring.
	words []words.QueryWord
}

// columns maps the names of the columns that a user may search in to clauses with their fields.
var columns = map[string]clause{
	"title": inTitle, "text": inText, "narrative": inText, "facts": inText, "fact": inText,
	"files": inFiles, "file": inFiles, "concepts": inConcepts, "concept": inConcepts,
}

var (
	inTitle    = clause{op: clauseIn, fields: 1 << rank.Title}
	inText     = clause{op: clauseIn, fields: 1 << rank.Text}
	inFiles    = clause{op: clauseIn, fields: 1<<rank.Files | 1<<rank.Parts}
	inConcepts = clause{op: clauseIn, fields: 1 << rank.Concepts}
)

// token is a part of an expression. Its kind is one of marks, tokenWord or tokenText; 0 is the end.
type token struct {
	kind rune
	text string
	// glued says that no space stands before it.
	glued bool
}

const (
	marks     = `():,*`
	tokenWord = 'a'
	tokenText = '"' // in quotes
)

// errSyntax returns the error for text that is no expression.
func errSyntax(format string, args ...any) error {
	return memory.Errorf(memory.CodeInvalid, "read expression: "+format, args...).
		WithHint("AND OR NOT NEAR, a * after a word, phrases in double quotes, parentheses")
}

// tokens cuts an expression up.
func tokens(s string) ([]token, error) {
	var list []token
	glued := false
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(r) || r == 0 {
			s, glued = s[size:], false
			continue
		}
		t := token{glued: glued}
		switch {
		case r == '"':
			end := strings.IndexByte(s[1:], '"')
			if end < 0 {
				return nil, errSyntax("a quote is not closed")
			}
			t.kind, t.text, size = tokenText, s[1:1+end], end+2
		case strings.ContainsRune(marks, r):
			t.kind = r
		default:
			end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == 0 || r == '"' || strings.ContainsRune(marks, r) })
			if end < 0 {
				end = len(s)
			}
			t.kind, t.text, size = tokenWord, s[:end], end
		}
		list = append(list, t)
		s, glued = s[size:], true
	}
	return list, nil
}

// parseExpression reads an expression. One without any operator is none: those
// are plain words.
func parseExpression(s string) (*expression, error) {
	if len(s) > maxQueryBytes {
		return nil, errSyntax("it is too long")
	}
	list, err := tokens(s)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: list}
	root := p.orExpression(0, true)
	switch {
	case p.next().kind != 0:
		p.fail("a parenthesis or a colon stands alone")
	case !p.operator:
		p.fail("there is no operator")
	case root == nil:
		p.fail("there is nothing to look for")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &expression{root, p.words}, nil
}

type parser struct {
	tokens   []token
	at       int
	terms    int
	operator bool
	words    []words.QueryWord
	err      error // the first one
}

// peek returns the next token, at the end the zero token.
func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{}
}

// next returns the next token, as peek does, and moves behind it.
func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// keyword reports whether the next token is this operator, which must be in capitals and not in quotes.
func (p *parser) keyword(word string) bool {
	t := p.peek()
	return t.kind == tokenWord && t.text == word
}

// accept takes an operator when it comes next.
func (p *parser) accept(word string) bool {
	if !p.keyword(word) {
		return false
	}
	p.at++
	p.operator = true
	return true
}

// fail notes the first error and ends the parse: no token is left.
func (p *parser) fail(format string, args ...any) *clause {
	if p.err == nil {
		p.err = errSyntax(format, args...)
	}
	p.at = len(p.tokens)
	return nil
}

// orExpression parses operands that OR joins. It and the levels below it (andExpression,
// nearExpression, primary) return the clause of what they parsed, nil for what has no
// word in it and after an error. depth bounds the nesting; wanted says that the words
// shall be in the records, as those behind NOT are not.
func (p *parser) orExpression(depth int, wanted bool) *clause {
	if depth > maxNesting {
		return p.fail("it is nested too deeply")
	}
	var parts []*clause
	for {
		if part := p.andExpression(depth, wanted); part != nil {
			parts = append(parts, part)
		}
		if !p.accept("OR") {
			return clauseOf(clauseOr, parts)
		}
	}
}

// clauseOf returns a clause of several parts, nil of none and the part itself of one.
func clauseOf(op clauseOp, parts []*clause) *clause {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &clause{op: op, parts: parts}
}

// andExpression parses operands that follow each other, with AND or nothing between
// them, each perhaps behind a NOT.
func (p *parser) andExpression(depth int, wanted bool) *clause {
	var with, without []*clause
	for first := true; ; first = false {
		if !first {
			and := p.accept("AND")
			if t := p.peek(); !and && (t.kind == 0 || t.kind == ')' || p.keyword("OR")) {
				break
			}
		}
		not := p.accept("NOT")
		switch part := p.nearExpression(depth, wanted && !not); {
		case part == nil:
		case not:
			without = append(without, part)
		default:
			with = append(with, part)
		}
	}
	if len(without) == 0 {
		return clauseOf(clauseAnd, with)
	}
	if len(with) == 0 {
		return p.fail("NOT needs something to take away from")
	}
	return &clause{op: clauseAnd, parts: with, without: without}
}

// nearExpression parses one operand, or terms with NEAR or NEAR/5 between them. Without
// a NEAR it returns what primary does.
func (p *parser) nearExpression(depth int, wanted bool) *clause {
	start := *p // with the words and the count of terms, which primary adds to
	left := p.primary(depth, wanted)
	distance, ok := p.nearOperator()
	if !ok {
		return left
	}
	// Only terms can be near each other: they are read again as such.
	*p = start
	phrases := p.nearTerm(nil, wanted)
	for {
		d, ok := p.nearOperator()
		if !ok {
			return nearClause(phrases, distance)
		}
		distance = max(distance, d)
		phrases = p.nearTerm(phrases, wanted)
	}
}

// nearOperator parses NEAR or NEAR/5 between two terms and returns its distance; false,
// without moving, if another token comes next.
func (p *parser) nearOperator() (distance int, ok bool) {
	t := p.peek()
	if t.kind != tokenWord || p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind == '(' {
		return 0, false
	}
	distance = nearDistance
	if number, found := strings.CutPrefix(t.text, "NEAR/"); found {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return 0, false
		}
		distance = min(n, maxNear)
	} else if t.text != "NEAR" {
		return 0, false
	}
	p.at++
	p.operator = true
	return distance, true
}

// nearTerm parses one operand of NEAR, which must be a word or a phrase, and appends it to
// phrases.
func (p *parser) nearTerm(phrases []phrase, wanted bool) []phrase {
	t := p.next()
	if t.kind != tokenWord && t.kind != tokenText || isOperator(t) {
		p.fail("NEAR stands between words and phrases only")
		return nil
	}
	return p.appendPhrase(phrases, t, wanted)
}

// appendPhrase appends a word or phrase, if it has a word.
func (p *parser) appendPhrase(phrases []phrase, t token, wanted bool) []phrase {
	if c := p.phrase(t, false, wanted); c != nil {
		phrases = append(phrases, c.phrases...)
	}
	return phrases
}

// nearClause returns the clause of phrases that are at most so many words apart, nil of none.
func nearClause(phrases []phrase, distance int) *clause {
	if len(phrases) == 0 {
		return nil
	}
	return &clause{op: clauseNear, phrases: phrases, distance: distance}
}

// isOperator reports whether a token is the name of an operator, in capitals and not in quotes.
func isOperator(t token) bool {
	return t.kind == tokenWord && (t.text == "AND" || t.text == "OR" || t.text == "NOT" || t.text == "NEAR")
}

// primary parses an operand: a parenthesis, NEAR(a b, 5), column:operand, or a word or
// phrase with or without a star.
func (p *parser) primary(depth int, wanted bool) *clause {
	t := p.next()
	switch t.kind {
	case '(':
		inner := p.orExpression(depth+1, wanted)
		if p.next().kind != ')' {
			return p.fail("a parenthesis is not closed")
		}
		return inner
	case tokenText:
		p.operator = true // quotes alone make an expression
		return p.starred(t, wanted)
	case tokenWord:
		following := p.peek()
		switch {
		case t.text == "NEAR" && following.kind == '(':
			return p.nearList(wanted)
		case isOperator(t):
			return p.fail("%s needs something on both sides", t.text)
		case following.kind == ':' && following.glued:
			return p.inColumn(t.text, depth, wanted)
		}
		return p.starred(t, wanted)
	}
	return p.fail("a word is missing")
}

// inColumn parses column:operand from its colon.
func (p *parser) inColumn(name string, depth int, wanted bool) *clause {
	column, ok := columns[strings.ToLower(name)]
	if !ok {
		return p.fail("there is no column of this name")
	}
	if depth >= maxNesting { // title:text:word nests without orExpression
		return p.fail("it is nested too deeply")
	}
	p.at++
	p.operator = true
	inner := p.primary(depth+1, wanted)
	if inner == nil {
		return nil
	}
	column.parts = []*clause{inner}
	return &column
}

// nearList parses NEAR(a b, 5) from its parenthesis.
func (p *parser) nearList(wanted bool) *clause {
	p.at++
	p.operator = true
	var phrases []phrase
	for {
		switch t := p.next(); t.kind {
		case tokenWord, tokenText:
			phrases = p.appendPhrase(phrases, t, wanted)
		case ')':
			return nearClause(phrases, nearDistance)
		case ',':
			n, err := strconv.Atoi(p.next().text)
			if err != nil || n < 0 || p.next().kind != ')' {
				return p.fail("NEAR's distance is no number")
			}
			return nearClause(phrases, min(n, maxNear))
		default:
			return p.fail("NEAR takes words and phrases only")
		}
	}
}

// starred parses what may follow a word or phrase, a star and commas, and returns the
// clause of it all.
func (p *parser) starred(t token, wanted bool) *clause {
	star := false
	if s := p.peek(); s.kind == '*' {
		if !s.glued {
			return p.fail("a star stands alone")
		}
		p.at++
		p.operator, star = true, true
	}
	// A comma outside of NEAR separates as a space does.
	for p.peek().kind == ',' {
		p.at++
	}
	return p.phrase(t, star, wanted)
}

// phrase returns the clause of a term, its words as the index has them; star says that its last word
// is a beginning. A stop word that stands alone is left out (nil), as in plain queries.
func (p *parser) phrase(t token, star, wanted bool) *clause {
	p.terms++
	if p.terms > maxTerms {
		return p.fail("it has too many words")
	}
	whole := collect.Keep(words.Query(t.text), func(w words.QueryWord) bool { return !w.Part && !w.Joined })
	if len(whole) == 0 || len(whole) == 1 && t.kind == tokenWord && !star && words.IsStop(whole[0].Raw) {
		return nil
	}
	if wanted {
		p.words = append(p.words, whole...)
	}
	stems := collect.Map(whole, func(w words.QueryWord) string { return w.Text })
	stemmed := nearClause([]phrase{newPhrase(slices.Clone(stems), false)}, 0)
	if !star {
		return stemmed
	}
	last := len(whole) - 1
	if utf8.RuneCountInString(whole[last].Raw) < minPrefix {
		return p.fail("a beginning of one letter stands for too many words")
	}
	stems[last] = whole[last].Raw
	// What is kept are stems: of "running" only "run", which does not begin with "running". A word
	// typed whole is found by its stem; a beginning that goes beyond it, "runni*", finds nothing.
	return clauseOf(clauseOr, []*clause{nearClause([]phrase{newPhrase(stems, true)}, 0), stemmed})
}
