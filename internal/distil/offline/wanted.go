package offline

import (
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
)

// redTest is a test that shall fail, in the object of an order: "a failing test", "the red
// spec".
const redTest = `(?:(?:a|an|the|one|another|some|two|three|me an?|us an?) )?(?:(?:[\w-]+ ){0,2}(?:failing|red)|red) (?:(?:unit|regression|integration|feature|acceptance|e2e) )?(?:tests?|specs?|cases?|examples?|scenarios?|assertions?)\b`

var (
	// asksForFailure is a request for a failure: "confirm that it fails", "write the failing
	// spec first", "it has to be red".
	asksForFailure = regexp.MustCompile(`(?i)\b(?:(?:confirm|verify|make sure|ensure|prove|demonstrate)(?: that)?|(?:check|show|show me|see|assert) that) (?:\S+ ){1,5}?(?:really |indeed |still |first |now )?(?:fails?|is red|goes red|crash(?:es)?|is rejected|panics?|errors out)\b|` +
		`\b(?:watch|see|make) (?:it|them|the tests?) fail\b|\bfailing test first\b|\bred first\b|` +
		`\b(?:write|add|create|start with|begin with|commit|push) ` + redTest + `|` +
		`\b(?:should|must|has to|have to|is expected to|needs to|is supposed to) (?:first |now |still )?(?:fail|be red|stay red|be rejected|crash)\b|` +
		`\bdass [^.?!\n]{0,40}(?:fehlschlägt|scheitert|rot ist)|\b(?:soll(?:te|en)?|muss|müssen) (?:[a-zäöü]+ ){0,2}(?:fehlschlagen|scheitern|rot (?:sein|bleiben))|\b(?:schreib|leg|erstell|bau)\w*[^.?!\n]{0,20} (?:fehlschlagende[nrs]?|rote[nrs]?) (?:\S+-)?(?:tests?|specs?)\b|` +
		`\b(?:confirma|comprueba|verifica|asegúrate)[^.?!\n]{0,40}\b(?:falla|falle|rechaza)\b|\b(?:debe(?:ría)?|tienen? que) (?:fallar|estar en rojo)\b|\b(?:escribe|añade|agrega|crea|quiero)[^.?!\n]{0,30}(?:prueba|test|spec|caso)s? que (?:falle|fallen)\b|` +
		`\b(?:vérifie|confirme)[^.?!\n]{0,40}échoue|\bdo(?:it|ivent) (?:d'abord )?échouer|\bun (?:test|spec) (?:qui échoue|rouge)|\bdeve falhar|\bteste que falhe|` +
		`(?:失敗|落ちる|エラーになる)(?:する)?(?:こと|の)を?(?:確認|確かめ)|(?:失敗する|落ちる)(?:テスト|ケース|スペック)(?:を|から)`)
	// noFailure takes such a request back: "check that it no longer fails", "see why it fails".
	noFailure = regexp.MustCompile(`(?i)\b(?:no longer|not|never|n't|why|whether|if|stop|stops|what|where|when|nothing|none|fix|mend|repair|nicht mehr|kein\w*|warum|ya no|por qué|ne doit)\b[^.?!\n]{0,30}\b(?:fail|crash|panic|red|error|reject|fehl|scheiter|rot|fall|échou)`)
	// asWanted is what an agent says of such a failure.
	asWanted = regexp.MustCompile(`(?i)\bas (?:you )?(?:expected|intended|it should|they should|wanted|asked|requested|agreed|designed|planned|it must)\b|\bby design\b|\bon purpose\b|\b(?:intentionally|deliberately) (?:red|failing)|\b(?:is|was|are) (?:expected|supposed|meant) to (?:fail|crash)|` +
		`\bwie (?:erwartet|gewünscht|gewollt|verlangt|besprochen|geplant|vorgesehen|es soll)|\bcomo (?:se )?(?:esperaba|debe|era de esperar|querías|pediste|pedías|pedido|esperado|estaba previsto)|\bcomme (?:prévu|demandé|attendu|voulu)|(?:期待|予想|想定|ご?依頼|指示)(?:の)?(?:通り|どおり)`)
	failWord = regexp.MustCompile(`(?i)\bfail|\berror|\bred\b|reject|crash|panic|fehl|scheiter|\brot\b|fall[aóe]|rechaz|\brojo|échou|\brouge|falha|失敗|落ち|エラー`)
)

// wants reports whether a check that failed had to: the user asked for it, the agent says
// so, or the agent shows the error that is given now in place of another one.
func (t *turn) wants(c *check) bool {
	for _, s := range text.Sentences(t.request.text, beginsSentence) {
		if asksForFailure.MatchString(s) && !noFailure.MatchString(s) {
			return !t.admits()
		}
	}
	for _, s := range t.message {
		if asWanted.MatchString(s.text) && failWord.MatchString(s.text) {
			return !t.admits()
		}
	}
	if c.Kind.IsProof() || len(c.failure.Message) < 12 || !strings.Contains(t.raw, c.failure.Message) {
		return false
	}
	for _, s := range t.steps[:c.step.at] {
		for _, old := range s.checks {
			if !old.passed && old.text == c.text && old.failure.Message != c.failure.Message {
				return true
			}
		}
	}
	return false
}
