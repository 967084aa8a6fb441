package search

import (
	"slices"

	"claudemem/internal/memory"
)

// typeNouns are the words by which a type is asked for, in the plural: a "bug" in a
// text is most often one bug. A refactoring is work and no thing, and is asked for in
// the singular too. Changes are left out, since every record is a change.
var typeNouns = map[string]memory.ObservationType{
	"bugs": memory.TypeBugfix, "bugfixes": memory.TypeBugfix, "bug-fixes": memory.TypeBugfix,
	"features":     memory.TypeFeature,
	"refactorings": memory.TypeRefactor, "refactors": memory.TypeRefactor, "refactoring": memory.TypeRefactor,
	"discoveries": memory.TypeDiscovery,
	"decisions":   memory.TypeDecision,
}

var (
	requests    = set("what which list show find give tell recap summarize summarise")
	determiners = set("what which me us all any of the our my a every recent latest newest new some were are was have list")
	qualifiers  = set("design architecture architectural technical")
	topics      = set("about on regarding concerning around for in with of from")
	asides      = set(`did do have has had were was are been be we i you they there made make take taken took fix fixed add added found find
		ship shipped built build implement implemented introduce introduced decide decided hit see saw so far already ever solve solved
		resolve resolved discover discovered`)
	abouts = set("about regarding concerning")
)

// readTypes reads a request for records of a type at the beginning of words. The
// type becomes a filter only where nothing else is asked for; with a topic it makes
// such records stand higher, so that it loses none. It returns the words that are
// left to search for.
func (r *reading) readTypes(words []word, dated bool) ([]word, bool) {
	i, request := 0, false
	if i < len(words) && requests[words[i].text] {
		request = true
		i++
	}
	for i < len(words) && (determiners[words[i].text] || qualifiers[words[i].text]) && !words[i].stop {
		i++
	}
	if i == len(words) {
		return words, false
	}
	noun := words[i]
	t, ok := typeNouns[noun.text]
	if i+1 < len(words) && noun.text == "bug" && words[i+1].text == "fixes" {
		t, ok = memory.TypeBugfix, true
		i++
		noun = words[i]
	}
	i++
	if !ok || noun.stop && i < len(words) {
		return words, false
	}
	rest := words[i:]
	verbs := 0
	for verbs < len(rest) && asides[rest[verbs].text] {
		verbs++
	}
	named := []memory.ObservationType{t}
	switch {
	case verbs == len(rest) && (request || dated):
		r.named, r.strict = named, true
		return nil, true
	case request && (verbs > 0 || topics[rest[0].text]):
		rest = rest[verbs:]
		if abouts[rest[0].text] && len(rest) > 1 {
			rest = rest[1:]
		}
		r.named = named
		return rest, true
	case !request && (len(rest) == 0 || topics[rest[0].text]):
		r.named = named
		// The noun says which type, and is not searched for: "features" would find the
		// features of a model. Alone it may be what is looked for.
		if len(rest) > 1 {
			return append(slices.Clone(words[:i-1]), rest[1:]...), true
		}
		return words, true // not a question: the noun may be what is searched for
	}
	return words, false
}
