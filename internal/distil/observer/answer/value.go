package answer

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Limits of the parsed values, in bytes and in items. They are far above what the
// prompts ask for, so that only faulty answers are truncated.
const (
	maxTitle = 200
	// maxDerivedTitle bounds a title made of a sentence.
	maxDerivedTitle = 100
	maxSubtitle     = 400
	maxNarrative    = 6000
	maxFact         = 800
	maxConcept      = 60
	maxPath         = 500
	maxField        = 3000 // a summary's
	maxContent      = 600  // a learning's

	maxItems    = 64
	maxFacts    = 24
	maxConcepts = 12
	maxFiles    = 64
	maxKeywords = 15
	// maxSupersedes bounds the records that one observation reverses.
	maxSupersedes = 8
)

// observation returns the observation that a record holds, cleaned and cut to the
// limits. A missing title is made from the rest; false when there is nothing to keep.
func (o *Options) observation(r *record) (memory.Observation, bool) {
	obs := memory.Observation{
		Type:      o.observationType(r.value("type")),
		Title:     title(r.value("title"), maxTitle),
		Subtitle:  text.TruncateBytes(text.Line(r.value("subtitle")), maxSubtitle),
		Narrative: prose(cmp.Or(r.value("narrative"), r.value("content")), maxNarrative),
		Facts:     facts(append(r.lists["facts"], keywords(r.value("keywords"))...)),
		Origin:    memory.OriginObserver,
	}
	obs.Concepts = o.concepts(r.lists["concepts"], r.value("type"), string(obs.Type))
	addFiles(&obs, r.lists["filesread"], memory.FileRead)
	addFiles(&obs, append(r.lists["filesmodified"], r.lists["filesedited"]...), memory.FileModified)
	obs.Supersedes = r.supersedes()
	if len(r.seen) == 0 && obs.Title == "" {
		obs.Narrative = prose(decode(r.loose), maxNarrative)
		if isIdle(obs.Narrative) {
			obs.Narrative = ""
		}
	}
	if obs.Narrative == "" && len(obs.Facts) == 0 && obs.Title == "" && len(obs.Concepts) == 0 {
		return obs, false
	}
	if obs.Title == "" {
		obs.Title = derivedTitle(&obs)
	}
	return obs, obs.Title != ""
}

// keywords returns the English words of an observation in another language as a fact, since search
// and recall look into facts: the first maxKeywords; nil for none.
func keywords(s string) []string {
	words := strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || c == ',' || c == ';' })
	if len(words) == 0 {
		return nil
	}
	return []string{"English: " + strings.Join(words[:min(len(words), maxKeywords)], " ")}
}

// supersedes returns the observations that the record says it reverses: "#12", "12" and
// "#12, #13" name some, S12 is a session.
func (r *record) supersedes() []memory.ObservationID {
	var ids []memory.ObservationID
	for _, item := range append(r.lists["supersedes"], r.value("supersedes")) {
		for _, word := range strings.FieldsFunc(item, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			n, err := strconv.ParseInt(word, 10, 64)
			if id := memory.ObservationID(n); err == nil && n > 0 && len(ids) < maxSupersedes && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// value returns a text field, from its element or else from an attribute of the
// record.
func (r *record) value(n string) string {
	return cmp.Or(valueOf(r.texts[n]), valueOf(r.attrs[n]))
}

// derivedTitle returns a title for an observation without one.
func derivedTitle(obs *memory.Observation) string {
	for _, s := range slices.Concat([]string{obs.Narrative}, obs.Facts, []string{obs.Subtitle, strings.Join(obs.Concepts, ", ")}) {
		if t := title(firstSentence(s), maxDerivedTitle); t != "" {
			return t
		}
	}
	return ""
}

// firstSentence returns the first sentence of s, of at least 12 bytes: up to a line's
// end or to a full stop before a new sentence, not that of "e.g. tabs" or "./... passes".
func firstSentence(s string) string {
	title := ""
	for _, sentence := range text.Sentences(text.Before(strings.TrimSpace(s), "\n"), begins) {
		if title = strings.TrimSpace(title + " " + sentence); len(title) >= 12 {
			break
		}
	}
	return strings.TrimRight(title, ".!?。！？ ")
}

// begins reports whether rest can begin a sentence.
func begins(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(first) && !unicode.IsPunct(first)
}

// quotes are the marks that models put around titles.
var quotes = [][2]string{{"**", "**"}, {"__", "__"}, {`"`, `"`}, {"“", "”"}, {"'", "'"}}

// title returns s as one line without Markdown around it.
func title(s string, limit int) string {
	s = text.Line(s)
	for before := ""; s != before; {
		before = s
		s = strings.TrimLeft(s, "# ")
		for _, q := range quotes {
			inner, opens := strings.CutPrefix(s, q[0])
			inner, closes := strings.CutSuffix(inner, q[1])
			if opens && closes && inner != "" && !strings.Contains(inner, q[0]) && !strings.Contains(inner, q[1]) {
				s = strings.TrimSpace(inner)
			}
		}
	}
	return valueOf(text.TruncateBytes(s, limit))
}

// valueOf returns s, "" if it means that there is nothing.
func valueOf(s string) string {
	if isNothing(s) {
		return ""
	}
	return s
}

// prose returns a text of several lines; a list in JSON becomes lines.
func prose(s string, limit int) string {
	s = paragraph(s)
	var lines []string
	if strings.HasPrefix(s, "[\"") && json.Unmarshal([]byte(s), &lines) == nil {
		s = paragraph(clean(strings.Join(lines, "\n")))
	}
	return valueOf(paragraph(text.TruncateBytes(s, limit))) // what is left may have another indentation
}

// facts returns items as single lines without bullets, each once, up to maxFacts.
func facts(items []string) []string {
	kept := text.Add(nil, collect.Map(items, func(s string) string { return valueOf(text.TruncateBytes(withoutBullet(s), maxFact)) })...)
	return kept[:min(len(kept), maxFacts)]
}

// concepts returns each concept up to its first ':', in lower case with hyphens,
// without the type.
func (o *Options) concepts(items []string, types ...string) []string {
	var kept []string
	for _, s := range items {
		for _, c := range o.concept(text.Before(withoutBullet(s), ":")) {
			same := func(t string) bool { return letters(t) == letters(c) }
			if !slices.ContainsFunc(types, same) {
				kept = text.Add(kept, valueOf(c))
			}
		}
	}
	return kept[:min(len(kept), maxConcepts)]
}

// concept returns the known concepts that s spells or lists, or s as a new one.
func (o *Options) concept(s string) []string {
	words := strings.Fields(s)
	all := collect.Keep(collect.Map(words, o.knownConcept), func(known string) bool { return known != "" })
	if known := o.knownConcept(s); known != "" || len(all) == 0 || len(all) < len(words) {
		return []string{cmp.Or(known, strings.Trim(text.TruncateBytes(kebab(valueOf(s)), maxConcept), "-.…"))}
	}
	return all
}

// knownConcept returns the mode's concept that s spells, "" for none.
func (o *Options) knownConcept(s string) string {
	s = letters(s)
	for _, k := range o.Concepts {
		if l := letters(k); s != "" && (l == s || l+"s" == s || l == s+"s") {
			return k
		}
	}
	return ""
}

var notInConcept = regexp.MustCompile(`[^\pL\pM\p{Nd}+#.]+`)

// kebab returns s in lower case with hyphens between the words.
func kebab(s string) string {
	return strings.Trim(notInConcept.ReplaceAllString(strings.ToLower(s), "-"), "-.")
}

// letters returns s without the characters in which spellings differ.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// synonyms are other names for the built-in modes' types; they apply only in modes
// with the type.
var synonyms = map[string]string{
	"bug": "bugfix", "bugfixes": "bugfix", "fix": "bugfix", "fixed": "bugfix", "fixes": "bugfix", "hotfix": "bugfix", "regression": "bugfix",
	"feat": "feature", "features": "feature", "newfeature": "feature", "enhancement": "feature", "addition": "feature", "implementation": "feature",
	"refactoring": "refactor", "refactored": "refactor", "cleanup": "refactor", "restructuring": "refactor", "simplification": "refactor",
	"changes": "change", "chore": "change", "config": "change", "configuration": "change", "update": "change", "modification": "change",
	"docs": "change", "documentation": "change", "test": "change", "tests": "change", "build": "change", "migration": "change",
	"learning": "discovery", "finding": "discovery", "findings": "discovery", "insight": "discovery", "investigation": "discovery",
	"research": "discovery", "analysis": "discovery", "exploration": "discovery", "discoveries": "discovery", "gotcha": "discovery",
	"choice": "decision", "decisions": "decision", "design": "decision", "architecture": "decision", "tradeoff": "decision",
}

var notInType = regexp.MustCompile(`[^\pL\p{Nd}_-]+`)

// observationType returns the mode's type for the type that the model wrote: that of the whole
// text, else of the first word that spells one or a synonym, else FallbackType.
func (o *Options) observationType(s string) memory.ObservationType {
	s = text.TruncateBytes(s, maxConcept)
	for _, w := range append([]string{s}, notInType.Split(s, -1)...) {
		w = letters(w)
		for _, t := range o.Types {
			if name := letters(string(t)); name == w || name == synonyms[w] {
				return t
			}
		}
	}
	return o.FallbackType
}

// summary returns the summary that a record holds; false for an empty one.
func summary(r *record) (memory.Summary, bool) {
	text := func(n string) string { return prose(r.value(n), maxField) }
	s := memory.Summary{
		Request:      text("request"),
		Investigated: text("investigated"),
		Learned:      text("learned"),
		Completed:    text("completed"),
		NextSteps:    text("nextsteps"),
		FilesRead:    files(r.lists["filesread"]),
		FilesEdited:  files(append(r.lists["filesedited"], r.lists["filesmodified"]...)),
		Notes:        text("notes"),
		Origin:       memory.OriginObserver,
	}
	return s, !s.Empty()
}

// The categories of learnings, with other names for them.
var categories = map[string]string{
	"architecture": "architecture", "architectural": "architecture", "design": "architecture", "structure": "architecture",
	"convention": "convention", "conventions": "convention", "style": "convention", "pattern": "convention", "naming": "convention",
	"gotcha": "gotcha", "gotchas": "gotcha", "pitfall": "gotcha", "bug": "gotcha", "warning": "gotcha", "trap": "gotcha",
	"dependency": "dependency", "dependencies": "dependency", "library": "dependency", "tool": "dependency", "tooling": "dependency",
	"workflow": "workflow", "process": "workflow", "testing": "workflow", "build": "workflow", "deployment": "workflow", "command": "workflow",
	"preference": "preference", "preferences": "preference", "userpreference": "preference",
}

const (
	// fallbackCategory is the most general category.
	fallbackCategory = "convention"
	// unsaidConfidence replaces a missing or malformed confidence.
	unsaidConfidence = 0.5
)

// learning returns the learning that a record holds; false without content. An unknown
// category becomes fallbackCategory.
func learning(r *record) (memory.Learning, bool) {
	l := memory.Learning{
		Category:   cmp.Or(categories[letters(text.TruncateBytes(r.value("category"), maxConcept))], fallbackCategory),
		Content:    text.TruncateBytes(withoutBullet(cmp.Or(r.value("content"), decode(r.loose))), maxContent),
		Confidence: confidence(r.value("confidence")),
	}
	return l, !isNothing(l.Content)
}

var confidences = map[string]float64{
	"high": 0.9, "veryhigh": 0.9, "certain": 0.9, "strong": 0.9, "medium": 0.6, "moderate": 0.6, "low": 0.3, "weak": 0.3,
}

// confidence parses "0.8", "80%", "8/10" and "high" as a number from 0 to 1; a number alone is out
// of 10 if it is above 1, out of 100 above 10. Anything else is unsaidConfidence.
func confidence(s string) float64 {
	if n, ok := confidences[letters(text.TruncateBytes(s, 20))]; ok {
		return n
	}
	number, of, ratio := strings.Cut(strings.TrimSpace(s), "/")
	number, percent := strings.CutSuffix(number, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.Replace(number, ",", ".", 1)), 64)
	switch {
	case ratio:
		d, _ := strconv.ParseFloat(strings.TrimSpace(of), 64)
		n /= d
	case percent, n > 10:
		n /= 100
	case n > 1:
		n /= 10
	}
	if err != nil || math.IsNaN(n) {
		return unsaidConfidence
	}
	// Rounded to two digits, which print the same everywhere.
	return math.Round(max(0, min(1, n))*100) / 100
}
