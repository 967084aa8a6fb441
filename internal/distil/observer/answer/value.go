package answer

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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

	maxFacts    = 24
	maxConcepts = 12
	maxFiles    = 64
	// maxSupersedes bounds the records that one observation reverses.
	maxSupersedes = 8
)

// observation returns the observation that a record holds, cleaned and cut to the limits;
// without a title if there is nothing to keep. A missing title is made from the text; if
// this has elements of its own, or there are concepts alone, understood is false.
func (o *Options) observation(r *record) (obs memory.Observation, understood bool) {
	obs = memory.Observation{
		Type:       o.observationType(r.value("type")),
		Title:      title(r.value("title")),
		Subtitle:   text.TruncateBytes(text.Line(r.value("subtitle")), maxSubtitle),
		Narrative:  r.prose("narrative", maxNarrative),
		Facts:      distinct(r.fields["facts"], maxFacts, fact),
		Supersedes: numbers(r.fields["supersedes"]),
		Origin:     memory.OriginObserver,
	}
	concepts := r.fields["concepts"]
	if words := strings.Fields(strings.Join(concepts, " ")); !slices.ContainsFunc(words, func(w string) bool { return o.knownConcept(w) == "" }) {
		concepts = words // "gotcha pattern"
	}
	kind := []string{letters(r.value("type")), letters(string(obs.Type))}
	obs.Concepts = distinct(concepts, maxConcepts, func(s string) string {
		if s = o.concept(s); slices.Contains(kind, letters(s)) {
			return ""
		}
		return s
	})
	for _, path := range files(r.fields["filesread"]) {
		obs.Files = append(obs.Files, memory.FileRef{Path: path, Role: memory.FileRead})
	}
	for _, path := range files(r.fields["filesmodified"]) {
		obs.Files = append(obs.Files, memory.FileRef{Path: path, Role: memory.FileModified})
	}
	if r.cut == "title" && obs.Narrative == "" && len(obs.Facts) == 0 {
		obs.Title = "" // half a title is worse than none
	} else if obs.Title == "" {
		obs.Title = derivedTitle(&obs)
		return obs, len(scan(obs.Title+obs.Narrative)) == 0 && (obs.Title != "" || len(obs.Concepts) == 0)
	}
	return obs, true
}

// summary returns the summary that a record holds, which may be empty.
func summary(r *record) memory.Summary {
	return memory.Summary{
		Request:      r.prose("request", maxField),
		Investigated: r.prose("investigated", maxField),
		Learned:      r.prose("learned", maxField),
		Completed:    r.prose("completed", maxField),
		NextSteps:    r.prose("nextsteps", maxField),
		FilesRead:    files(r.fields["filesread"]),
		FilesEdited:  files(append(r.fields["filesedited"], r.fields["filesmodified"]...)),
		Notes:        r.prose("notes", maxField),
		Origin:       memory.OriginObserver,
	}
}

// categories are those of learnings; the first is the most general one.
var categories = []string{"convention", "architecture", "gotcha", "dependency", "workflow", "preference"}

// learning returns the learning that a record holds; one without content has none.
func learning(r *record) memory.Learning {
	l := memory.Learning{
		Category:   categories[0],
		Content:    valueOf(text.TruncateBytes(withoutBullet(r.value("content")), maxContent)),
		Confidence: confidence(r.value("confidence")),
	}
	for _, c := range categories { // "dependencies" and "Preference" as well
		if strings.HasPrefix(letters(r.value("category")), c[:len(c)-1]) {
			l.Category = c
		}
	}
	return l
}

// unsaidConfidence replaces a missing or malformed confidence.
const unsaidConfidence = 0.5

// confidence parses "0.8", "80%" and "high", and rounds to two digits, which print the same
// everywhere.
func confidence(s string) float64 {
	if n, ok := map[string]float64{"high": 0.9, "medium": 0.6, "low": 0.3}[strings.ToLower(s)]; ok {
		return n
	}
	number, percent := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(number, 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n >= 0 && n <= 1) {
		return unsaidConfidence
	}
	return math.Round(n*100) / 100
}

// numbers returns the observations that "#12", "12" or "#12, #13" name; S12 is a session.
func numbers(items []string) []memory.ObservationID {
	var ids []memory.ObservationID
	for _, word := range strings.FieldsFunc(strings.Join(items, " "), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		n, err := strconv.ParseInt(word, 10, 64)
		if id := memory.ObservationID(n); err == nil && n > 0 && len(ids) < maxSupersedes && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// value returns the first text of a field that says something.
func (r *record) value(field string) string {
	for _, s := range r.fields[field] {
		if s = strings.TrimSpace(s); !isNothing(s) {
			return s
		}
	}
	return ""
}

// prose returns the texts of a field as lines.
func (r *record) prose(field string, limit int) string {
	var kept []string
	for _, s := range r.fields[field] {
		kept = append(kept, valueOf(paragraph(s)))
	}
	return text.TruncateBytes(paragraph(strings.Join(kept, "\n")), limit)
}

// derivedTitle returns the first sentence of an observation without a title, "" if it has
// none.
func derivedTitle(obs *memory.Observation) string {
	s := cmp.Or(obs.Narrative, text.First(obs.Facts))
	sentences := text.Sentences(text.Before(s, "\n"), begins)
	return title(strings.TrimRight(text.TruncateBytes(text.First(sentences), maxDerivedTitle), ".!?。！？ "))
}

// begins reports whether rest can begin a sentence.
func begins(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(first) && !unicode.IsPunct(first)
}

// title returns s as one line without Markdown around it.
func title(s string) string {
	s = text.Line(s)
	for before := ""; s != before; {
		before = s
		s = strings.TrimLeft(s, "# ")
		inner, opens := strings.CutPrefix(s, "**")
		inner, closes := strings.CutSuffix(inner, "**")
		if opens && closes && !strings.Contains(inner, "**") {
			s = strings.TrimSpace(inner)
		}
	}
	return valueOf(text.TruncateBytes(s, maxTitle))
}

// valueOf returns s, "" if it means that there is nothing.
func valueOf(s string) string {
	if isNothing(s) {
		return ""
	}
	return s
}

// fact returns s as a single line without a bullet.
func fact(s string) string { return valueOf(text.TruncateBytes(withoutBullet(s), maxFact)) }

var notInConcept = regexp.MustCompile(`[^\pL\pM\p{Nd}+#.]+`)

// concept returns the mode's concept that s spells up to its first ':', or s in lower case
// with hyphens.
func (o *Options) concept(s string) string {
	s = strings.ToLower(valueOf(text.Before(withoutBullet(s), ":")))
	kebab := strings.Trim(notInConcept.ReplaceAllString(s, "-"), "-.")
	return cmp.Or(o.knownConcept(s), valueOf(strings.Trim(text.TruncateBytes(kebab, maxConcept), "-.…")))
}

// knownConcept returns the mode's concept that s spells, "" for none.
func (o *Options) knownConcept(s string) string {
	s = strings.TrimSuffix(letters(s), "s")
	for _, k := range o.Concepts {
		if s != "" && strings.TrimSuffix(letters(k), "s") == s {
			return k
		}
	}
	return ""
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
	"bug": "bugfix", "fix": "bugfix", "fixed": "bugfix", "hotfix": "bugfix", "feat": "feature", "enhancement": "feature",
	"cleanup": "refactor", "chore": "change", "config": "change", "docs": "change", "test": "change", "tests": "change",
	"choice": "decision", "design": "decision",
}

// observationType returns the mode's type for the type that the model wrote, the first one
// if there are several.
func (o *Options) observationType(s string) memory.ObservationType {
	s = letters(text.TruncateBytes(s, maxConcept))
	s = cmp.Or(synonyms[s], s)
	found, first := o.FallbackType, len(s)
	for _, t := range o.Types {
		if at := strings.Index(s, letters(string(t))); at >= 0 && at < first {
			found, first = t, at
		}
	}
	return found
}
