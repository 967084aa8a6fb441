package offline

import (
	"slices"
	"strings"
)

// What is to be done next and what is left open, in English, German, Spanish and
// Japanese; in lower case.
var (
	// nextHeadings head lists of next steps.
	nextHeadings = phrases("next | next step | next steps | todo | to do | remaining | follow-up | follow up | follow-ups | still open | open | open points | what's left | not done | left to do | " +
		"nächster schritt | nächste schritte | als nächstes | offen | noch offen | offene punkte | noch zu tun | siguiente paso | siguientes pasos | próximo paso | próximos pasos | pendiente | pendientes | por hacer | " +
		"次のステップ | 残課題 | 残り | 今後 | 未対応")
	// nextStarts begin a sentence that names the next step.
	nextStarts = phrases("next: | next, | next up | next i | next we | next step | todo: | remaining: | still open: | open: | left open: | als nächstes | nächster schritt | nächste schritte | offen: | noch offen | siguiente paso | siguientes pasos | próximo paso | próximos pasos | pendiente: | 次は | 次に | 次のステップ | 残り")
	// leftOpen are said of what was not done, not tested or is only proposed.
	leftOpen = phrases("i haven't | i have not | i've not | i couldn't | i could not | i can't | i cannot | i didn't add | i didn't write | i didn't test | i didn't update | i didn't check | i didn't fix | i did not add | i did not test | " +
		"i'd go with | i'd suggest | i suggest | i'd recommend | i recommend | i would suggest | i would recommend | left open | untested | not tested | is stale | are stale | stale now | not covered | still missing | " +
		"noch nicht | steht noch aus | stehen noch aus | fehlt noch | fehlen noch | muss noch | müssen noch | bleibt offen | ich schlage vor | ich empfehle | nicht getestet | ungetestet | " +
		"queda por | quedan por | queda pendiente | quedan pendientes | está pendiente | solo falta | sólo falta | todavía falta | aún falta | todavía no | aún no | sugiero | recomiendo | sin probar | " +
		"まだ | 未対応 | 未実装 | 未テスト | 残っています | 今後の")
	// rejectedHeadings head what was considered and not chosen.
	rejectedHeadings = phrases("considered | rejected | decided against | ruled out | alternative | alternatives | not chosen | what i tried | things i tried | tried and dropped | why not | non-goals | " +
		"verworfen | verworfene | alternativen | nicht gewählt | ausprobiert | bewusst nicht | dagegen entschieden | descartado | descartados | descartada | descartadas | alternativas | écarté | écartés | écartée | écartées | rejeté | rejetés | " +
		"rejeitado | rejeitados | scartato | scartati | scartate | alternativa | 却下 | 不採用 | 代替案 | 見送 | 备选 | 未采用 | 放弃")
	// disadvantages are said of what was left out on purpose, after "I did not add …".
	disadvantages = phrases("because it would | because that would | since it would | since that would | it would have | that would have | as it would | as that would | not worth | no benefit | no gain | overkill | on purpose | deliberately")
	// later says of the user's own words that something is put off: both lists have to be met.
	resumes = phrases("try again | try it again | try that again | retry | redo | come back | revisit | pick it up | pick this up | do it | do that | do the rest | continue | finish it | noch einmal | nochmal | wieder | weiter | holen wir nach | machen wir | intentamos | volvemos | retomamos | seguimos | hacemos | 再度 | もう一度 | 対応します | やります")
	later   = phrases("after the release | after the | after that | later | tomorrow | next week | next sprint | next release | once | nach dem release | nach der | später | morgen | nächste woche | después de | más tarde | más adelante | mañana | la próxima semana | 後で | あとで | リリース後 | 明日 | 来週")
)

// minAnswer is how many words an answer has at least.
const minAnswer = 14

// isNextHeading reports whether a line that ends in a colon heads a list of next steps.
func isNextHeading(line string) bool {
	low := strings.ToLower(strings.Trim(line, "*_#:： "))
	return slices.Contains(nextHeadings, low)
}

// leavesOpen reports whether a sentence of the agent names a next step, or says what was
// left undone.
func leavesOpen(s sentence) bool {
	if strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, "？") {
		return false // an offer
	}
	low := strings.ToLower(s.text)
	if rejects(s) {
		return false
	}
	return slices.ContainsFunc(nextStarts, func(p string) bool { return strings.HasPrefix(low, p) }) || holds(low, leftOpen...) ||
		slices.Contains(nextHeadings, s.section)
}

// rejects reports whether a sentence of the agent is about an alternative that was not
// taken, by its heading or by what speaks against it: it is no next step.
func rejects(s sentence) bool {
	if holds(s.section, rejectedHeadings...) && !holds(s.section, "next", "todo", "to do") {
		return true
	}
	low := strings.ToLower(s.text)
	return holds(low, "i didn't add", "i did not add", "i didn't write") && holds(low, disadvantages...)
}

// What an agent offers to do: a condition in front or behind, and what it can or would do
// then; in lower case.
var (
	ifWanted = phrases("if you want | if you like | if you'd like | if you wish | if you prefer | if you would like | if that helps | should you want | just say the word | on request | " +
		"wenn du willst | wenn du möchtest | wenn du magst | falls du willst | falls du möchtest | falls gewünscht | wenn gewünscht | auf wunsch | wenn sie möchten | falls sie möchten | si quieres | si lo prefieres | si prefieres | si te parece | si lo deseas | " +
		"si tu veux | si vous voulez | si vous le souhaitez | si tu le souhaites | si tu préfères | se quiser | se você quiser | se preferir | caso queira | se quiseres | se vuoi | se preferisci | se ti va | se volete")
	wouldDo = phrases("i can | i could | i'll | i will | i'd | i would | happy to | kann ich | ich kann | könnte ich | ich könnte | mache ich | ich mache | puedo | podría | lo añado | je peux | je pourrais | je m'en | posso | podemos | poderia | possiamo | potrei")
	// offersWhole are offers in languages without blanks.
	offersWhole = []string{"よろしければ", "ご希望であれば", "必要であれば", "必要なら", "如果你愿意", "如果需要的话", "如有需要", "需要的话"}
)

// offers reports whether a sentence of the agent only says what it could do if the user
// wished: no fact, and nothing that was left open.
func offers(s string) bool {
	low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	if slices.ContainsFunc(offersWhole, func(p string) bool { return strings.HasPrefix(low, p) }) {
		return true
	}
	if startsWith(low, ifWanted) {
		return holds(low, wouldDo...) && !holds(low, "i can't", "i cannot", "no puedo", "não posso", "je ne peux", "non posso", "kann ich nicht")
	}
	return startsWith(low, wouldDo) && holds(low, ifWanted...)
}

// withoutOffers returns the sentences that are no offers. One that says as well what is
// still open stays.
func withoutOffers(list []sentence) []sentence {
	return slices.DeleteFunc(list, func(s sentence) bool { return offers(s.text) && !looksAhead(s) && !leavesOpen(s) })
}

// putOff returns what the user puts off in the prompt ("we try again after the
// release"), "" for nothing.
func putOff(prompt string) string {
	for _, u := range typed(prompt) {
		for _, part := range strings.Split(u.text, ", ") {
			low := strings.ToLower(part)
			if holds(low, resumes...) && holds(low, later...) && !strings.HasSuffix(part, "?") && tells(part) && (holds(low, ourselves...) || !isASCII(part)) {
				return shown(capital(part), maxField)
			}
		}
	}
	return ""
}

// ourselves are the words for who puts something off: what happens by itself "again
// after the restart" is no plan.
var ourselves = phrases("we | we'll | i | i'll | let's | lets | wir | ich | intentamos | volvemos | retomamos | seguimos | hacemos")

// answered reports whether the turn answered a question or found something out: its
// message says something of the program.
func (t *turn) answered() bool {
	if !t.request.is(wantFindOut|wantDecision) && !t.investigates() {
		return false
	}
	return t.answer() != ""
}

// answer returns the sentences of the agent's message that say something of the program.
func (t *turn) answer() string {
	var parts []string
	n := 0
	for _, s := range t.message {
		if isFluff(s.text) || reportsTests(s.text) || reportsCommit(s.text) || strings.HasSuffix(s.text, "?") || !tells(s.text) || !hasCode(s.text) && len(t.steps) == 0 {
			continue
		}
		if n += len(s.text); n > maxField {
			break
		}
		parts = append(parts, s.text)
	}
	all := strings.Join(parts, " ")
	if len(words(all)) < minAnswer && isASCII(all) || !hasCode(all) || !slices.ContainsFunc(parts, explains) && codeWords(all, 3) < 3 {
		return "" // an inventory
	}
	return shown(all, maxField)
}
