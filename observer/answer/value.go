package answer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem"
	"claudemem/text"
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
	// maxSupersedes bounds the records that one observation reverses.
	maxSupersedes = 8
)

// observation returns the observation that a record holds, cleaned and cut to the
// limits. A missing title is made from the rest; false when there is nothing to keep.
func (o *Options) observation(r *record) (claudemem.Observation, bool) {
	obs := claudemem.Observation{
		Type:      o.observationType(r.value(nType)),
		Title:     title(r.value(nTitle), maxTitle),
		Subtitle:  text.TruncateBytes(text.Line(r.value(nSubtitle)), maxSubtitle),
		Narrative: prose(r.value(nNarrative), maxNarrative),
		Facts:     facts(r.lists[nFacts]),
		Origin:    claudemem.OriginObserver,
	}
	obs.Concepts = o.concepts(r.lists[nConcepts], r.value(nType), string(obs.Type))
	addFiles(&obs, r.lists[nFilesRead], claudemem.FileRead)
	addFiles(&obs, append(r.lists[nFilesModified], r.lists[nFilesEdited]...), claudemem.FileModified)
	obs.Supersedes = r.supersedes()
	if r.fields() == 0 && obs.Title == "" {
		obs.Narrative = prose(r.loose.String(), maxNarrative)
		if isIdle(obs.Narrative) {
			obs.Narrative = ""
		}
	}
	if obs.Title == "" && obs.Narrative == "" && len(obs.Facts) == 0 && len(obs.Concepts) == 0 {
		return obs, false
	}
	if r.cutField == nTitle && obs.Narrative == "" && len(obs.Facts) == 0 {
		return obs, false // half a title is worse than none
	}
	if obs.Title == "" {
		obs.Title = derivedTitle(&obs)
	}
	return obs, obs.Title != ""
}

// supersedes returns the observations that the record says it reverses: "#12", "12" and
// "#12, #13" name some, S12 is a session. Where the answer broke off, the last number may
// be a part of one.
func (r *record) supersedes() []claudemem.ObservationID {
	items := r.lists[nSupersedes]
	if r.cutField == nSupersedes && len(items) > 0 {
		items = items[:len(items)-1]
	}
	var ids []claudemem.ObservationID
	for _, item := range append(slices.Clone(items), r.value(nSupersedes)) {
		for _, word := range strings.FieldsFunc(item, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			n, err := strconv.ParseInt(word, 10, 64)
			if id := claudemem.ObservationID(n); err == nil && n > 0 && len(ids) < maxSupersedes && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// value returns a text field, from its element or else from an attribute of the
// record.
func (r *record) value(n name) string {
	if s := r.texts[n]; !isNothing(s) {
		return s
	}
	for _, a := range r.attrs {
		if a.key == n && !isNothing(a.value) {
			return a.value
		}
	}
	return ""
}

// derivedTitle returns a title for an observation without one.
func derivedTitle(obs *claudemem.Observation) string {
	for _, s := range slices.Concat([]string{obs.Narrative}, obs.Facts, []string{obs.Subtitle, strings.Join(obs.Concepts, ", ")}) {
		if t := title(firstSentence(s), maxDerivedTitle); t != "" {
			return t
		}
	}
	return ""
}

// firstSentence returns the first sentence of s: up to a line's end or to a full
// stop before a new sentence, not that of "e.g. tabs" or "./... passes".
func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	for i, r := range s {
		after := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			if i >= 12 && begins(s[after:]) {
				return strings.TrimRight(s[:i], ".!? ")
			}
		case '。', '！', '？':
			return s[:i]
		}
	}
	return s
}

// begins reports whether s is empty or a blank and a new sentence.
func begins(s string) bool {
	if s == "" {
		return true
	}
	rest, ok := strings.CutPrefix(s, " ")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLower(first) && !unicode.IsPunct(first)
}

// title returns s as one line without Markdown around it.
func title(s string, limit int) string {
	s = text.Line(s)
	for {
		before := s
		s = strings.TrimSpace(strings.TrimLeft(s, "#"))
		for _, marks := range [][2]string{{"**", "**"}, {"__", "__"}, {`"`, `"`}, {"“", "”"}, {"'", "'"}} {
			s = strings.TrimSpace(between(s, marks[0], marks[1]))
		}
		if s == before {
			break
		}
	}
	s = text.TruncateBytes(s, limit)
	if isNothing(s) {
		return ""
	}
	return s
}

// between returns s without marks that enclose all of it and occur nowhere within.
func between(s, open, end string) string {
	if len(s) < len(open)+len(end)+1 || !strings.HasPrefix(s, open) || !strings.HasSuffix(s, end) {
		return s
	}
	inner := s[len(open) : len(s)-len(end)]
	if strings.Contains(inner, open) || strings.Contains(inner, end) {
		return s
	}
	return inner
}

// prose returns a text of several lines; a list in JSON becomes lines.
func prose(s string, limit int) string {
	s = paragraph(s)
	if strings.HasPrefix(s, "[\"") && strings.HasSuffix(s, "]") {
		if v, end, complete := parseJSON(s); complete && end == len(s) {
			s = paragraph(strings.Join(v.strings(), "\n"))
		}
	}
	s = text.TruncateBytes(s, limit)
	if isNothing(s) {
		return ""
	}
	return s
}

// facts returns items as single lines without bullets, each once, up to maxFacts.
func facts(items []string) []string {
	var kept []string
	for _, s := range items {
		s = text.TruncateBytes(text.Line(withoutBullet(text.Line(s))), maxFact)
		if !isNothing(s) && len(kept) < maxFacts && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// concepts returns each concept up to its first ':', in lower case with hyphens,
// without the type.
func (o *Options) concepts(items []string, types ...string) []string {
	var kept []string
	for _, s := range items {
		s, _, _ = strings.Cut(withoutBullet(text.Line(s)), ":")
		for _, c := range o.concept(s) {
			same := func(t string) bool { return letters(t) == letters(c) }
			if c != "" && !isNothing(c) && !slices.ContainsFunc(types, same) && !slices.Contains(kept, c) && len(kept) < maxConcepts {
				kept = append(kept, c)
			}
		}
	}
	return kept
}

// concept returns the known concept that s spells, or the known ones that s lists.
func (o *Options) concept(s string) []string {
	if isNothing(s) {
		return nil
	}
	if known := o.knownConcept(s); known != "" {
		return []string{known}
	}
	var all []string
	for _, w := range strings.Fields(s) {
		known := o.knownConcept(w)
		if known == "" {
			all = nil
			break
		}
		all = append(all, known)
	}
	if len(all) > 1 {
		return all
	}
	return []string{strings.Trim(text.TruncateBytes(kebab(s), maxConcept), "-.…")}
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

// kebab returns s in lower case with hyphens between the words.
func kebab(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '+' && r != '#' && r != '.' {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Trim(b.String(), "-.")
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
var synonyms = map[string]claudemem.ObservationType{
	"bug": "bugfix", "bugfixes": "bugfix", "fix": "bugfix", "fixed": "bugfix", "fixes": "bugfix", "hotfix": "bugfix", "regression": "bugfix",
	"feat": "feature", "features": "feature", "newfeature": "feature", "enhancement": "feature", "addition": "feature", "implementation": "feature",
	"refactoring": "refactor", "refactored": "refactor", "cleanup": "refactor", "restructuring": "refactor", "simplification": "refactor",
	"changes": "change", "chore": "change", "config": "change", "configuration": "change", "update": "change", "modification": "change",
	"docs": "change", "documentation": "change", "test": "change", "tests": "change", "build": "change", "migration": "change",
	"learning": "discovery", "finding": "discovery", "findings": "discovery", "insight": "discovery", "investigation": "discovery",
	"research": "discovery", "analysis": "discovery", "exploration": "discovery", "discoveries": "discovery", "gotcha": "discovery",
	"choice": "decision", "decisions": "decision", "design": "decision", "architecture": "decision", "tradeoff": "decision",
}

// observationType returns the mode's type for the type that the model wrote.
func (o *Options) observationType(s string) claudemem.ObservationType {
	find := func(word string) (claudemem.ObservationType, bool) {
		for _, t := range o.Types {
			if letters(string(t)) == word {
				return t, true
			}
		}
		t, ok := synonyms[word]
		return t, ok && slices.Contains(o.Types, t)
	}
	s = text.TruncateBytes(s, maxConcept)
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
	for _, w := range append([]string{s}, words...) {
		if t, ok := find(letters(w)); ok {
			return t
		}
	}
	return o.FallbackType
}

// summary returns the summary that a record holds; false for an empty one.
func summary(r *record) (claudemem.Summary, bool) {
	text := func(n name) string { return prose(r.value(n), maxField) }
	s := claudemem.Summary{
		Request:      text(nRequest),
		Investigated: text(nInvestigated),
		Learned:      text(nLearned),
		Completed:    text(nCompleted),
		NextSteps:    text(nNextSteps),
		FilesRead:    files(r.lists[nFilesRead]),
		FilesEdited:  files(append(r.lists[nFilesEdited], r.lists[nFilesModified]...)),
		Notes:        text(nNotes),
		Origin:       claudemem.OriginObserver,
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
func learning(r *record) (claudemem.Learning, bool) {
	content := r.value(nContent)
	if content == "" {
		content = r.loose.String()
	}
	l := claudemem.Learning{
		Category:   fallbackCategory,
		Content:    text.TruncateBytes(text.Line(withoutBullet(text.Line(content))), maxContent),
		Confidence: confidence(r.value(nConfidence)),
	}
	if c, ok := categories[letters(text.TruncateBytes(r.value(nCategory), maxConcept))]; ok {
		l.Category = c
	}
	return l, !isNothing(l.Content)
}

// confidence parses "0.8", "80%", "8/10" and "high".
func confidence(s string) float64 {
	switch letters(text.TruncateBytes(s, 20)) {
	case "high", "veryhigh", "certain", "strong":
		return 0.9
	case "medium", "moderate":
		return 0.6
	case "low", "weak":
		return 0.3
	}
	number, of, ratio := strings.Cut(strings.TrimSpace(s), "/")
	percent := strings.HasSuffix(number, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.Replace(strings.TrimSuffix(number, "%"), ",", ".", 1)), 64)
	if err != nil || math.IsNaN(n) {
		return unsaidConfidence
	}
	switch {
	case percent:
		n /= 100
	case ratio:
		if d, err := strconv.ParseFloat(strings.TrimSpace(of), 64); err == nil && d > 0 {
			n /= d
		}
	case n > 10:
		n /= 100
	case n > 1:
		n /= 10
	}
	// Rounded to two digits, which print the same everywhere.
	return math.Round(max(0, min(1, n))*100) / 100
}
