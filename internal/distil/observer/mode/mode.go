package mode

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Mode defines what an observer records, with everything inherited.
type Mode struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Types has at least one; Fallback is one of them.
	Types    []Term                 `json:"types"`
	Fallback memory.ObservationType `json:"fallback_type"`
	Concepts []Term                 `json:"concepts"`
	Wording  Wording                `json:"wording"`
}

// Term is a type of observations, or a concept, which is a tag of them.
type Term struct {
	ID string `json:"id"`
	// Glyph of a type is one character of the Basic Multilingual Plane; concepts have none.
	Glyph      string `json:"glyph,omitempty"`
	Definition string `json:"definition"`
}

// Wording is the mode's own text in the prompts.
type Wording struct {
	// Role describes the observed agent and the purpose.
	Role string `json:"role"`
	// Worth and Skip list what to record and what not, a line each.
	Worth []string `json:"worth"`
	Skip  []string `json:"skip"`
	// Good is a whole answer as an example, in XML; Nothing describes a turn that deserves
	// none; Bad are useless titles, each with its reason.
	Good    string   `json:"good"`
	Nothing string   `json:"nothing"`
	Bad     []string `json:"bad"`
}

// TypeIDs returns the mode's types in order, for the answer's parser.
func (m Mode) TypeIDs() []memory.ObservationType { return ids[memory.ObservationType](m.Types) }

// ConceptIDs returns the mode's concepts in order, for the answer's parser.
func (m Mode) ConceptIDs() []string { return ids[string](m.Concepts) }

// Vocabulary returns the types and the concepts that a mode has.
func (m Mode) Vocabulary() (types, concepts []string) { return ids[string](m.Types), m.ConceptIDs() }

func ids[ID ~string](terms []Term) []ID {
	return collect.Map(terms, func(t Term) ID { return ID(t.ID) })
}

// Glyph returns the sign of a type. A type that the mode does not have gets the
// sign from other modes.
func (m *Mode) Glyph(t memory.ObservationType) string {
	for _, known := range m.Types {
		if known.ID == string(t) {
			return known.Glyph
		}
	}
	return t.Glyph()
}

// Problem is a mistake in a mode's file.
type Problem struct {
	// Field is the place, as in types[2].glyph; "" is the whole file.
	Field   string `json:"field"`
	Message string `json:"message"`
}

// String returns "field: message".
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// Limits of a mode. Each of its words is paid for with every call.
const (
	maxTypes      = 16
	maxConcepts   = 24
	maxLines      = 16
	maxDefinition = 300 // bytes; also of a line
	maxRole       = 600
	maxExample    = 3000
	// maxSystemTokens bounds the system prompt: each call pays for it.
	maxSystemTokens = 1800
)

var idPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// problems returns the mistakes in a complete mode.
func (m *Mode) problems() []Problem {
	var found []Problem
	report := func(field, format string, args ...any) {
		found = append(found, Problem{field, fmt.Sprintf(format, args...)})
	}
	text := func(field, s string, limit int) {
		switch {
		case strings.TrimSpace(s) == "":
			report(field, "is missing")
		case len(s) > limit:
			report(field, "has %d bytes; at most %d are allowed", len(s), limit)
		case !utf8.ValidString(s):
			report(field, "is not valid UTF-8")
		}
	}
	lines := func(field string, all []string) {
		if len(all) > maxLines {
			report(field, "has %d lines; at most %d are allowed", len(all), maxLines)
		}
		for i, l := range all {
			text(fmt.Sprintf("%s[%d]", field, i), l, maxDefinition)
		}
	}

	terms := func(field string, all []Term, limit int) map[string]bool {
		if len(all) > limit {
			report(field, "has %d %s; at most %d are allowed", len(all), field, limit)
		}
		seen := map[string]bool{}
		for i, t := range all {
			switch at := fmt.Sprintf("%s[%d].id", field, i); {
			case !idPattern.MatchString(t.ID) || len(t.ID) > 40:
				report(at, "%q is no name; use lower-case words with hyphens, as in trade-off", t.ID)
			case seen[t.ID]:
				report(at, "%q is there twice", t.ID)
			}
			seen[t.ID] = true
			text(fmt.Sprintf("%s[%d].definition", field, i), t.Definition, maxDefinition)
		}
		return seen
	}

	text("description", m.Description, maxDefinition)
	if len(m.Types) == 0 {
		report("types", "a mode needs at least one type")
	}
	types := terms("types", m.Types, maxTypes)
	glyphs := map[string]string{}
	for i, t := range m.Types {
		at := fmt.Sprintf("types[%d].glyph", i)
		switch other, taken := glyphs[t.Glyph]; {
		case !isGlyph(t.Glyph):
			report(at, "%q is not one visible character of the Basic Multilingual Plane (no emoji)", t.Glyph)
		case taken:
			report(at, "%s is the sign of %s already", t.Glyph, other)
		default:
			glyphs[t.Glyph] = t.ID
		}
	}
	if len(m.Types) > 0 && !types[string(m.Fallback)] {
		report("fallback_type", "%q is not among the types", m.Fallback)
	}
	terms("concepts", m.Concepts, maxConcepts)
	for i, c := range m.Concepts {
		if types[c.ID] {
			report(fmt.Sprintf("concepts[%d].id", i), "%q is a type as well; a concept says something else than the type", c.ID)
		}
	}
	text("wording.role", m.Wording.Role, maxRole)
	lines("wording.worth", m.Wording.Worth)
	lines("wording.skip", m.Wording.Skip)
	lines("wording.bad", m.Wording.Bad)
	if m.Wording.Good != "" {
		text("wording.good", m.Wording.Good, maxExample)
	}
	if m.Wording.Nothing != "" {
		text("wording.nothing", m.Wording.Nothing, maxRole)
	}
	if len(found) == 0 {
		if n := memory.EstimateTokens(System(*m, "")); n > maxSystemTokens {
			report("", "the first prompt has about %d tokens, paid for with every call; at most %d are allowed", n, maxSystemTokens)
		}
	}
	return found
}

// isGlyph reports whether s is one printable character of the Basic Multilingual Plane.
func isGlyph(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && size == len(s) && r <= 0xffff && r != utf8.RuneError &&
		unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
}
