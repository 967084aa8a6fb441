package offline

import (
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/memory"
)

// retractions say that something which was held for true is not.
var retractions = []string{"was wrong", "were wrong", "i was mistaken", "turned out to be wrong", "turned out not to be", "turns out not to be", "is not the cause", "was not the cause", "wasn't the cause", "isn't the cause",
	"not the cause after all", "had nothing to do with", "has nothing to do with", "nothing to do with", "disproved", "disproves", "ruled out", "my earlier", "my first guess", "my initial",
	"war falsch", "lag falsch", "hat nichts damit zu tun", "nichts zu tun mit", "ist nicht die ursache", "war nicht die ursache", "lag nicht an", "lag doch nicht",
	"estaba equivocado", "me equivoqué", "no era la causa", "no tiene nada que ver", "n'était pas la cause", "je me suis trompé", "rien à voir", "não era a causa", "me enganei",
	"原因ではありません", "原因ではなかった", "関係ありません", "間違いでした", "不是原因", "无关"}

// tookBack reports whether the turn takes back a finding or an assumed cause that its own
// session stored earlier: in a sentence that says so and has the names of its title.
func (r *reversals) tookBack(old *memory.Observation) bool {
	if old.Session != r.session || old.Type != memory.TypeDiscovery && old.Type != memory.TypeDecision {
		return false
	}
	for _, s := range r.said {
		if holds(strings.ToLower(s), retractions...) && namesOf(old.Title, s) {
			return true
		}
	}
	return false
}

var (
	// denies opens a prompt that says no to what was said before; concedes a message that
	// agrees; isNot takes a thing back.
	denies   = regexp.MustCompile(`(?i)^\W*(?:(?:no|nope|nein|nee|non|não|нет)(?:[,.:!]| [–—-] | (?:it|that|this|das|es|eso) )|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not (?:it|right|true|the))\b|(?:that|this|it) (?:isn|wasn)['’]t (?:it|right|true|the)\b|that can(?:not|['’]t) be|das (?:kann nicht|stimmt nicht|ist falsch)|eso no|ce n'est pas|いいえ|いや|違い|違う|不对|不是)`)
	concedes = regexp.MustCompile(`(?i)^(?:you(?:['’]re| are| were) (?:absolutely |quite )?(?:right|correct)|my mistake|i was wrong|(?:du hast|sie haben) recht|stimmt|tienes razón|tiene razón|me equivoqué|tu as raison|vous avez raison|você tem razão|tem razão|おっしゃる通り|その通り|ご指摘の通り|你说得对|您说得对)`)
	isNot    = regexp.MustCompile(`(?i)\b(?:it|that|this)(?: is| was|['’]s) not\b|\b(?:it|that|this) (?:isn|wasn)['’]t\b|\b(?:is|was) not the\b|\b(?:isn|wasn)['’]t the\b|\b(?:liegt|lag|ist|war)(?: es)?(?: doch)? nicht\b|\bno (?:es|era|fue)\b|\bn['’](?:est|était) pas\b|\bnão (?:é|era|foi) |ではありません|ではなく|ではなかった|不是`)
)

// corrected reports whether the user says no to what was told before, and the agent agrees
// and says in so many words what it is not.
func (t *turn) corrected() bool {
	if !denies.MatchString(t.request.text) {
		return false
	}
	for _, s := range t.message[:min(2, len(t.message))] {
		if concedes.MatchString(s.text) {
			return slices.ContainsFunc(t.message[:min(3, len(t.message))], func(s sentence) bool { return isNot.MatchString(s.text) })
		}
	}
	return false
}

// disproved reports whether an earlier record is the finding of the turn before, which the
// user and the agent agree is wrong.
func (r *reversals) disproved(old *memory.Observation) bool {
	return r.corrected && old.Session == r.session && isFindingOf(old, r.number-1)
}

// withoutGuesses leaves out the findings of a batch that a later turn of it disproves.
func withoutGuesses(turns []*turn, observations []memory.Observation) []memory.Observation {
	for _, t := range turns {
		if !t.corrected() || !slices.ContainsFunc(observations, func(o memory.Observation) bool { return o.PromptNumber == t.number }) {
			continue
		}
		observations = slices.DeleteFunc(observations, func(o memory.Observation) bool { return isFindingOf(&o, t.number-1) })
	}
	return observations
}

// isFindingOf reports whether an observation tells what the turn of a number found out
// without changing anything.
func isFindingOf(o *memory.Observation, number int) bool {
	return o.PromptNumber == number && o.Type == memory.TypeDiscovery && len(o.FilesIn(memory.FileModified)) == 0
}

// namesOf reports whether a sentence has the names of a title: half of its words of code,
// at least one, or where it has none half of its other words, at least two.
func namesOf(title, sentence string) bool {
	code, has := 0, 0
	for _, w := range strings.Fields(title) {
		if w = strings.Trim(w, "`'\"“”()[],.;:!?*"); looksLikeCode(w) || isPathLike(w) {
			code++
			if hasToken(sentence, w) {
				has++
			}
		}
	}
	if code > 0 {
		return 2*has >= code
	}
	known := words(sentence)
	n := 0
	for _, w := range words(title) {
		if len(w) > 3 && !fillers[w] {
			n++
			if slices.Contains(known, w) {
				has++
			}
		}
	}
	return has >= 2 && 2*has >= n
}
