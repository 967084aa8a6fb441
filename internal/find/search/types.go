package search

import (
	"slices"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// readTypes reads a request for records of a type at the beginning of words, mostly in the
// plural: a "bug" in a text is most often one bug. The
// type becomes a filter only where nothing else is asked for; with a topic it makes
// such records stand higher, so that it loses none: r.named is the type and r.strict says that
// it is a filter. dated says that a time was taken out of the words. It returns the words that
// are left to search for, and whether there was a type.
func (r *reading) readTypes(words []word, dated bool) ([]word, bool) {
	i, request := 0, false
	if i < len(words) && lang.Is(words[i].text, "query-request") {
		request = true
		i++
	}
	for i < len(words) && lang.Is(words[i].text, "query-determiner") && !words[i].stop {
		i++
	}
	if i == len(words) {
		return words, false
	}
	noun := words[i]
	t := memory.ObservationType(lang.Value(noun.text, "type-noun"))
	if i+1 < len(words) && lang.Is(noun.text+" "+words[i+1].text, "bug-fix") {
		t = memory.TypeBugfix
		i++
		noun = words[i]
	}
	i++
	if t == "" || noun.stop && i < len(words) {
		return words, false
	}
	rest := words[i:]
	verbs := 0
	for verbs < len(rest) && lang.Is(rest[verbs].text, "query-aside") {
		verbs++
	}
	named := []memory.ObservationType{t}
	switch {
	case verbs == len(rest) && (request || dated):
		r.named, r.strict = named, true
		return nil, true
	case request && (verbs > 0 || lang.Is(rest[0].text, "query-topic")):
		rest = rest[verbs:]
		if lang.Is(rest[0].text, "query-about") && len(rest) > 1 {
			rest = rest[1:]
		}
		r.named = named
		return rest, true
	case !request && (len(rest) == 0 || lang.Is(rest[0].text, "query-topic")):
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
