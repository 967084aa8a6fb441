package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

// The features of a candidate. Most are 0 or 1; the others say so.
const (
	isFirst       = iota // it opens the message, fluff aside
	isLate               // how far down it stands, 0 to 1
	isItem               // item of a list
	isRow                // row of a table
	isOutline            // a lead-in or heading with the beginnings of its list
	isPart               // a clause of a sentence, not all of it
	isCut                // it does not fit and is cut in mid-clause
	ofPrompt             // the user's words
	ofAgent              // a subagent's words
	hasLength            // characters that are shown, of those that fit: 0 to 1
	isShort              // less than six words
	hasNames             // names in code, up to three: 0 to 1
	namesWork            // names a file or symbol that was edited
	namesFailure         // names a test or command that failed
	sharesPrompt         // rare words of the prompt, up to four: 0 to 1
	givesNumber          // a number
	givesMeasure         // a number with a unit, a change from one value to another
	tellsWhy             // cues of language, see cues
	tellsContrast        //
	tellsChoice          //
	tellsReject          //
	tellsCure            //
	tellsLimit           //
	tellsOpen            //
	tellsGuess           //
	negates              //
	pointsBack           // begins with a pronoun: "It …", "Damit …"
	repeatsTitle         // share of its words that the title has: 0 to 1; of a subtitle only
	numFeatures
)

// featureNames are the names of the features in weights.json, in their order.
var featureNames = [numFeatures]string{"first", "late", "item", "row", "outline", "part", "cut", "prompt", "agent", "length", "short", "names", "work", "failure",
	"asked", "number", "measure", "why", "contrast", "choice", "reject", "cure", "limit", "open", "guess", "negation", "back", "repeat"}

// features are the values of a candidate.
type features [numFeatures]float64

func (f *features) set(i int, is bool) {
	if is {
		f[i] = 1
	}
}

// cues are words and phrases, in English, German, Spanish, Japanese and a little French;
// lower case.
var cues = map[int][]string{
	tellsWhy: phrases("because | since | caused by | the cause | root cause | due to | the reason | was that | is that | hence | turns out | came from | came in with | comes from | the problem | the culprit | so | therefore | which means | means that | as soon as | whatever | bug in | race between | by default | " +
		"weil | da | wegen | deshalb | daher | denn | ursache | grund | lag an | liegt an | lag daran | porque | ya que | debido a | por eso | causa | la culpa | puesto que | por defecto | ので | ため | 原因 | せいで | parce que | à cause"),
	tellsContrast: phrases("but | while | however | although | though | unlike | whereas | yet | even though | aber | sondern | obwohl | jedoch | während | pero | sino | aunque | mientras que | しかし | ですが | mais"),
	tellsChoice: phrases("decided | chose | chosen | opted | settled on | went with | going with | stays with | staying with | stick with | kept | keep | keeps | capped | left | picked | prefer | rather than | instead of | trade-off | tradeoff | on purpose | deliberately | agreed | over | " +
		"entschieden | gewählt | bleibt | bleiben | statt | stattdessen | bewusst | lieber | decidí | decidimos | elegí | elegimos | se queda | en vez de | en lugar de | a propósito | 決め | にしました | ではなく | 代わりに | のまま | plutôt que"),
	tellsReject: phrases("considered | rejected | dropped | backed out | tried | gave up | given up | would have | would break | would add | would copy | would need | would mean | off the table | not worth | put back | reverted | undone | doesn't help | didn't help | no difference | noise | nothing to do with | wasn't it | was fine | ruled out | does not work here | " +
		"verworfen | ausprobiert | probiert | zurückgenommen | hätte | würde | bringt nichts | brachte nichts | lag nicht an | descarté | descartado | descartamos | probé | intenté | habría | no sirvió | no era | 却下 | 見送 | 試し | 試した | 戻しました | 不採用 | 効果がな"),
	tellsCure: phrases("now | instead | fixed | fixes | moved | added | changed | replaced | rewrote | rewritten | returns | uses | passes | skips | works | wraps | pinned | set | switched | renamed | removed | gone | no longer | " +
		"jetzt | nun | behoben | hinzugefügt | ersetzt | geändert | nicht mehr | ahora | arreglado | añadí | añadido | cambié | corregido | vuelve a | ya no | ようにし | 修正 | 追加 | 変更 | 直しました | maintenant"),
	tellsLimit: phrases("must | cannot | can't | only | never | always | has to | have to | need to | needs | required | refuses | at most | at least | limit | minimum | maximum | generated | until | unless | as long as | won't | exactly | edit | depends on | " +
		"muss | müssen | darf | dürfen | nur | nie | immer | solange | erst | mindestens | höchstens | debe | deben | sólo | solo | nunca | siempre | hasta | a menos que | のみ | だけ | 必要 | できません | 限り | まで | doit"),
	tellsGuess: phrases("my guess | i guess | probably | might | maybe | perhaps | likely | seems | presumably | i suspect | looks like | could be | vermutlich | wahrscheinlich | vielleicht | ich vermute | scheint | probablemente | quizá | quizás | tal vez | creo que | parece | たぶん | おそらく | かもしれ | と思われ | peut-être"),
	negates:    phrases("not | no | never | nothing | none | without | cannot | nicht | kein | keine | keinen | nie | ohne | nichts | no | nunca | sin | nada | ningún | ninguna | ない | ません | なし | ne"),
}

// sections are headings that tell the same of all below them.
var sections = map[int][]string{
	tellsWhy:    phrases("cause | root cause | why | the problem | problem | what was wrong | what was slow | what happened | diagnosis | findings | ursache | problem war | causa | por qué | 原因"),
	tellsReject: phrases("not done | considered | rejected | alternatives | tried | discarded | verworfen | alternativen | descartado | alternativas | 却下 | 不採用"),
	tellsCure:   phrases("fix | the fix | solution | changes | what i did | what changed | lösung | änderungen | solución | cambios | 修正 | 変更"),
	tellsChoice: phrases("decision | decisions | entscheidung | decisión | 決定"),
}

// backWords begin a sentence that only the one before makes clear.
var backWords = text.Set("it it's its this that that's they they're these those there here he she so also both then which with " +
	"es das dies diese dieser dieses damit dabei dazu sie er so auch esto eso ese esta este así también これ それ この その")

var (
	// number is a number, with a unit or not; measured one with a unit, or two of which
	// one becomes the other.
	number   = regexp.MustCompile(`(?:^|[^\pL\d_#.-])\d[\d.,_]*`)
	measured = regexp.MustCompile(`(?i)\d ?(?:%|ms|µs|us|ns|s|sec|min|h|kb|mb|gb|tb|kib|mib|gib|bytes?|b|x|×|fps|qps|rps|req/s|tokens?|rows?|times|percent|prozent|por ciento|秒|分|回|件|倍)(?:$|[^\pL\d])|\d[^.\n]{0,16}(?:→|->|=>| to | auf | a | down to | instead of )[^.\n\d]{0,4}\d|\b(?:from|von|de) [^.\n]{0,20}\d[^.\n]{0,20} (?:to|auf|a) [^.\n]{0,6}\d`)
)

// featuresOf returns what can be told of a candidate without a title beside it. most is
// how many characters fit.
func (c *chooser) featuresOf(x *candidate, most int) features {
	if x.values == nil {
		f := c.textFeatures(x)
		x.values = &f
	}
	f := *x.values
	short := cut(x.text, most)
	f.set(isCut, strings.HasSuffix(short, "…"))
	f[hasLength] = min(1, float64(utf8.RuneCountInString(short))/float64(most))
	return f
}

// textFeatures returns the features that do not depend on how much fits.
func (c *chooser) textFeatures(x *candidate) features {
	var f features
	low := strings.ToLower(x.text)
	ws := words(x.text)
	f.set(isFirst, x.first)
	f[isLate] = x.late
	f.set(isItem, x.item)
	f.set(isRow, x.row)
	f.set(isOutline, x.outline)
	f.set(isPart, x.part)
	f.set(ofPrompt, x.source == fromPrompt)
	f.set(ofAgent, x.source == fromAgent)
	f.set(isShort, len(ws) < 6 && isASCII(x.text))
	f[hasNames] = float64(codeWords(x.text, 3)) / 3
	f.set(namesWork, slices.ContainsFunc(c.work, func(n string) bool { return mentions(x.text, n) }))
	f.set(namesFailure, slices.ContainsFunc(c.failed, func(n string) bool { return mentions(x.text, n) }))
	f[sharesPrompt] = float64(min(4, shared(c.asked, rareWords(x.text)))) / 4
	f.set(givesNumber, number.MatchString(x.text))
	f.set(givesMeasure, measured.MatchString(x.text))
	for i, list := range cues {
		f.set(i, holds(low, list...) || holds(x.section, sections[i]...))
	}
	f[negates] = max(f[negates], b2f(strings.Contains(low, "n't ")))
	f.set(tellsOpen, leavesOpen(x.sentence) || looksAhead(x.sentence))
	f.set(pointsBack, backWords[firstWord(x.text)])
	return f
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rareWords returns the words of a text that tell what it is about: names in code, words
// of four letters and more that are not in every prompt; cut to their first six letters,
// so that forms of a word are one.
func rareWords(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) < 4 && !unicode.IsDigit(rune(w[0])) || generic[w] || common[w] || verbs[w] != 0 {
			continue
		}
		if r := []rune(w); len(r) > 6 {
			w = string(r[:6])
		}
		out[w] = true
	}
	return out
}

// common are words of four letters and more that tell nothing of a subject.
var common = text.Set("that this with from have when what they them then than your will would should could there their about into only some such very same here after before also been being does doing were which while where these those " +
	"because since still never always every again other more most much many over under just like look want need make makes made good right think said says know nicht auch noch aber oder wenn dass eine einen einem einer sind wird werden wurde kann haben hatte alle mehr sehr dann hier bitte warum para como pero esto esta este cuando todo todos hace hacer está puede porque favor")

// shared counts the words that both sets have.
func shared(a, b map[string]bool) int {
	n := 0
	for w := range b {
		if a[w] {
			n++
		}
	}
	return n
}
