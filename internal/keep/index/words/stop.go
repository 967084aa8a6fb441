package words

import "strings"

// stops are the words of a question that say nothing about what is looked for.
// English as in the usual short lists, and what people write around a search
// (find, show); German without those that are English words too (die, war, so).
var stops = func() map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(`
a about again am an and any anything are as at be because been being but by can cant could
did didnt do does doesnt doing dont each either else ever every everything few for from
had has have having he her here hers him his how i if in into is isnt it its ive just lets like
may me might mine more most much must my myself no nor not of on once one or other our ours out
over own please same shall she should show since so some somehow something such than that thats the
their them then there these they thing things this those though through to too under until up
us very was wasnt we were what whats when where wheres whether which while who whom whose why
will with within without wont would wouldnt yet you your yours find tell
aber als am auch auf aus bei beim bis das dass dem den der des doch du durch ein eine einem
einen einer es für gegen haben hat hatte ich ihr im ist kann können mit nach nicht noch nur
ob oder ohne sich sie sind über um und uns unser vom von vor warum wann wenn wer werden wie wir wird wo
wurde wurden zu zum zur zwischen`) {
		m[fold(word)] = true
	}
	return m
}()

// fold returns a word as it is before stemming.
func fold(word string) string {
	a := newAnalyser(len(word), true)
	a.analyse(word)
	return string(a.raws)
}

// IsStop reports whether a word, in lower case and not stemmed, is one that
// queries are better off without.
func IsStop(word string) bool { return stops[word] }
