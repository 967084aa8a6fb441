package offline

import (
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
)

// intent is what a user wants, as far as the wording tells.
type intent uint

const (
	wantFix intent = 1 << iota
	wantFeature
	wantRefactor
	wantDocs
	wantTests
	wantChange
	wantFindOut
	wantDecision
	wantBetter // faster, smaller
)

var verbs = func() map[string]intent {
	m := map[string]intent{}
	for want, list := range map[intent]string{
		wantFix:      "fix repair resolve correct debug unbreak",
		wantFeature:  "add implement create introduce support allow enable build expose extend provide",
		wantRefactor: "refactor rename extract move split simplify clean cleanup tidy inline dedupe deduplicate reorganize reorganise restructure pull consolidate untangle modularize decouple",
		wantDocs:     "document",
		wantTests:    "cover",
		wantChange:   "update change bump upgrade remove delete drop replace switch configure disable use format revert migrate adjust raise lower increase decrease make set put convert turn mention",
		wantFindOut:  "investigate explain analyze analyse understand explore survey find review check why how where what which who does show tell look see list trace compare",
		wantDecision: "decide choose",
	} {
		for _, v := range strings.Fields(list) {
			m[v] |= want
		}
	}
	return m
}()

// request is a parsed prompt: what the user wants and a short form of it.
type request struct {
	text  string // plain
	wants intent
	// clause is the part of the prompt that says what to do, as an imperative, ""
	// when the prompt alone would tell nobody what was done.
	clause string
	// rules are the standing rules that the prompt states.
	rules []rule
	// later is what the prompt puts off, "" for nothing.
	later string
}

// parseRequest returns what a user's prompt asks for (a fix, a feature, an answer …), by
// its words, and the clause that says it best.
func parseRequest(prompt string) request {
	r := request{text: plain(prompt)}
	head := r.text[:min(len(r.text), 2000)]
	low := text.LowerASCII(head)
	ws := words(head)
	for i, w := range ws {
		want, ok := verbs[w]
		if !ok || negated(ws, i) || isName(head, w) {
			continue
		}
		if want == wantFix || want == wantFeature || want == wantRefactor || want == wantDocs || want == wantTests || want == wantDecision || i < 12 {
			r.wants |= want
		}
	}
	if complains(head, low) {
		if !holds(low, "don't fix", "do not fix", "not fix", "don't change", "do not change", "without fixing", "without changing anything", "only investigate", "just investigate", "don't touch") {
			r.wants |= wantFix
		}
	}
	if holds(low, "readme", "docs", "documentation", "changelog", "doc comment", "runbook", "docstring", "write it down", "comment") {
		r.wants |= wantDocs
	}
	if holds(low, "write a test", "add a test", "add tests", "write tests", "test coverage", "unit tests for", "tests for") {
		r.wants |= wantTests
	}
	if holds(low, "should we", "should it", "or should", "better to", "vs", "versus", "decide", "and not", "which one", "pros and cons", "trade-off", "tradeoff") && strings.Contains(head, "?") || holds(low, "decide") {
		r.wants |= wantDecision
	}
	if holds(low, "we need", "i want", "i'd like", "i would like", "should be able to", "it should", "should also", "we want", "ask for") {
		r.wants |= wantFeature
	}
	if strings.Contains(head, "?") || holds(low, "find out", "find the cause", "look into", "let me know why") {
		r.wants |= wantFindOut
	}
	if foreignFeature.MatchString(head) {
		r.wants |= wantFeature
	}
	if foreignRefactor.MatchString(head) {
		r.wants |= wantRefactor
	}
	if better.MatchString(head) {
		r.wants |= wantBetter
	}
	r.clause = bestClause(r.text)
	if r.clause == "" && r.wants&(wantFeature|wantRefactor|wantDocs|wantTests|wantDecision|wantBetter) == 0 && unexpected.MatchString(head) {
		r.wants |= wantFix
	}
	r.rules, r.later = rulesOf(prompt), putOff(prompt)
	return r
}

// complaints are words and phrases that say that something is broken.
var complaints = []string{"bug", "broken", "fails", "failing", "crash", "crashes", "regression", "doesn't work", "does not work", "is wrong", "is red", "panics",
	"throws", "wrong result", "should be ignored", "not working", "stopped working", "complains", "vanishes", "breaks", "flaky",
	"hangs", "hang", "freezes", "stuck", "deadlock", "leaks", "blows up", "dies", "die", "disappears", "disappear", "ignores", "loses", "duplicates", "corrupts", "never returns", "never comes back", "never finishes", "never ends", "times out",
	"comes out wrong", "gets lost", "used to work", "no longer works", "nothing happens", "look wrong", "looks wrong", "look too good", "incorrect", "unexpected", "segfaults", "can't be right", "doesn't build", "won't start", "out of memory", "100% cpu"}

var (
	// symptom is what is told of something broken in other forms: what it does in place of
	// what it should, an error by its name, since when.
	symptom = regexp.MustCompile(`(?i)\b\w+(?:Error|Exception)\b|\bnil pointer|\bnull pointer|\bNPE\b|\bstack ?trace|\btraceback|\bSIG(?:SEGV|ABRT|BUS)|\bSQLITE_BUSY|\bexit (?:code|status) [1-9]|` +
		`\b(?:returns?|shows?|prints?|gives?|reports?|renders?|outputs?|gets?|becomes?|is|are) (?:nothing|empty|too many|too few|the wrong|a wrong|an empty|twice|only one|null|NaN|undefined|unknown)\b|` +
		`\bnothing (?:gets|is|was|comes|shows)\b|\b(?:prints?|returns?|shows?|runs?|sends?) [^.?!\n]{1,60}\b(?:again|twice|instead)\b|\bsince (?:the (?:last|latest)|yesterday|this|upgrading|updating|v?\d)|\beats? [^.?!\n]{0,12}\d|\b(?:too|so) slow\b|` +
		`\bshould(?:n't| not) (?:be|have|happen|show|return|match)|\bshould be (?:detected|treated|rejected|readable|escaped|recogni[sz]ed)|\b(?:redraws?|blinks?|flickers?|jumps?) like`)
	// foreignTrouble is the same, and an order to fix it, in other languages.
	foreignTrouble = regexp.MustCompile(`(?i)(?:^|\P{L})(?:behebe?n?|repariere?n?|korrigiere?n?|fehler|kaputt|defekt|falsch|stürzt|abgestürzt|hängt|absturz|bricht ab|schlägt fehl|fehlschlägt|funktioniert nicht|geht nicht|tut nicht|verschwinde[nt]|` +
		`arregla\w*|arréglalo|arreglar|corrige\w*|corrígelo|repara\w*|falla[ns]?|fallo|roto|rota|rompe|da error|un error|el error|se cuelga|se bloquea|no funciona|no anda|mal|plante|corrigez|répare\w*|erreur|cassée?|bloque|ne marche pas|ne fonctionne pas|conserta\w*|quebrad[oa]|não funciona|трассировка|ошибка|исправь\w*|падает|не работает)(?:$|\P{L})|` +
		`失敗|落ち|クラッシュ|壊れ|動かな|動きません|おかしい|エラー|バグ|不具合|固ま|直して|修正して|表示されな|返ってこな|修复|报错|崩溃|错误`)
	// unexpected sets what happens against what should; a wish may do so as well.
	unexpected      = regexp.MustCompile(`(?i)(?:^|\P{L})(?:although|even though|despite|yet (?:it|we|they|i)|obwohl|trotzdem|aunque|a pesar de|alors que|bien que|embora|apesar de|хотя)(?:$|\P{L})|なのに|はずが|はずなのに|てしま(?:う|い|っ)|明明|却`)
	foreignFeature  = regexp.MustCompile(`(?i)(?:^|\P{L})(?:füge?|hinzufügen|hinzu|einbauen|baue?|ergänze?n?|implementiere?n?|unterstütze?n?|añade|añadir|agrega\w*|implementa\w*|crea|soporta\w*|ajoute[rz]?|implémente[rz]?|adiciona\w*|добавь\w*)(?:$|\P{L})|追加して|実装して|入れて|作って|対応して|添加|实现`)
	foreignRefactor = regexp.MustCompile(`(?i)(?:^|\P{L})(?:refaktorier\w*|umbenenn\w*|benenne|verschiebe?n?|aufräumen|zerlege?n?|auslagern|refactoriza\w*|renombra\w*|mueve|extrae|divide|renomme[rz]?|déplace[rz]?)(?:$|\P{L})|リファクタ|リネーム|名前を変え|分割して|移動して|重构`)
	better          = regexp.MustCompile(`(?i)\b(?:faster|slow|slower|speed|performance|perf|optimi[sz]e|latency|throughput|shave|memory use|less memory|allocations?|smaller binary|schneller|langsam|más rápido|lento)\b|速く|高速|遅い`)
)

// complains reports whether a prompt says that something is broken. low is the prompt in
// lower case.
func complains(prompt, low string) bool {
	for _, c := range complaints {
		if holds(low, c) && (strings.Contains(c, " ") || !isName(prompt, c)) {
			return true
		}
	}
	return symptom.MatchString(prompt) || foreignTrouble.MatchString(prompt)
}

func (r *request) is(want intent) bool { return r.wants&want != 0 }

// isName reports whether a word occurs in the prompt only as a name, capitalised in
// mid-sentence or inside code: Allow, `add`.
func isName(prompt, word string) bool {
	for from := 0; ; {
		i := strings.Index(text.LowerASCII(prompt[from:]), word)
		if i < 0 {
			return true
		}
		i += from
		end := min(i+len(word), len(prompt))
		inside := i > 0 && (text.IsIdent(prompt[i-1]) || strings.IndexByte("`.#/", prompt[i-1]) >= 0) || end < len(prompt) && (text.IsIdent(prompt[end]) || prompt[end] == '(' || prompt[end] == '`')
		if !inside {
			lower := prompt[i] >= 'a' && prompt[i] <= 'z'
			start := i == 0 || i >= 2 && strings.IndexByte(".!?:\n", prompt[i-2]) >= 0 || strings.IndexByte("\n", prompt[i-1]) >= 0
			if lower || start {
				return false
			}
		}
		from = end
	}
}

// negated reports whether the verb at i is forbidden rather than asked for.
func negated(ws []string, i int) bool {
	for j := max(0, i-3); j < i; j++ {
		switch ws[j] {
		case "don't", "don’t", "not", "without", "never", "no", "dont":
			return true
		}
	}
	return false
}

// leads are removed from the beginning of a clause: politeness and connection.
var leads = []string{
	"please ", "can you ", "could you ", "would you ", "can we ", "could we ", "i want you to ", "i'd like you to ", "i need you to ", "i would like you to ",
	"let's ", "lets ", "we should ", "we need to ", "you should ", "you need to ", "go ahead and ", "now ", "then ", "also ", "and ", "so ", "ok ", "okay ", "ok, ", "okay, ", "hey ", "hi ", "hi, ",
	"hey, ", "next ", "next, ", "just ", "first ", "first, ", "one more: ", "one more thing: ", "while we're here: ", "good, ", "great, ", "nice, ", "thanks, ", "yes, ", "yes ", "try to ", "help me ", "next up: ", "task: ", "todo: ",
}

var needs = []string{"we need ", "i need ", "i want ", "we want ", "i'd like ", "i would like ", "there should be "}

// bestClause picks the clause of a prompt that says best what to do.
func bestClause(prompt string) string {
	best, bestScore := "", 2
	for _, s := range sentences(prompt) {
		candidates := []string{s.text}
		if _, tail, ok := strings.Cut(s.text, ": "); ok {
			candidates = append(candidates, tail)
		}
		for _, c := range candidates {
			c = trimClause(c)
			if score := clauseScore(c); score > bestScore {
				best, bestScore = c, score
			}
		}
	}
	return best
}

// trimClause strips what surrounds the order itself.
func trimClause(c string) string {
	for again := true; again; {
		again = false
		low := text.LowerASCII(c)
		for _, l := range leads {
			if strings.HasPrefix(low, l) {
				c, again = strings.TrimLeft(c[len(l):], " "), true
				break
			}
		}
	}
	low := text.LowerASCII(c)
	for _, n := range needs {
		if strings.HasPrefix(low, n) {
			c = "Add " + c[len(n):]
			break
		}
	}
	c = strings.TrimRight(c, ".!?… ")
	for _, next := range []string{", then ", ", and then ", " and commit ", ", and commit ", ", commit ", " and run the ", " and make sure "} {
		if i := strings.Index(text.LowerASCII(c), next); i > 12 {
			c = strings.TrimRight(c[:i], ", ")
		}
	}
	for _, tail := range []string{", please", " please", ", thanks", " for me", ", then commit", " and commit", ", and commit", " and run the tests", ", and run the tests", " and make sure the tests pass", " and make sure tests pass", " and commit everything"} {
		if len(c) > len(tail) && strings.HasSuffix(text.LowerASCII(c), tail) {
			c = c[:len(c)-len(tail)]
		}
	}
	return capital(c)
}

var pronouns = text.Set("it this that them those these there everything something things stuff")

var generic = text.Set(`fix the a an and bug bugs test tests failing fails failed error errors issue issues problem problems code please make pass work
	working run again all my our is are not to of in for on with up do it's please now file files project build still so we i you me docs documentation doc some more tests`)

// clauseScore returns how well a clause alone says what was done; 3 is enough.
func clauseScore(c string) int {
	ws := words(c)
	if len(ws) < 2 || len(ws) > 30 {
		return 0
	}
	score := 0
	if want, ok := verbs[ws[0]]; ok && want != wantFindOut && want != wantDecision {
		score += 3
	} else if ok {
		score++
	} else if ws[0] == "write" {
		score += 2
	}
	telling := 0
	for i, w := range ws {
		if pronouns[w] && i < 4 {
			score -= 3
		}
		if !generic[w] && verbs[w] == 0 && !pronouns[w] {
			telling++
		}
	}
	if telling == 0 {
		return 0
	}
	if hasCode(c) {
		score++
	}
	if strings.HasSuffix(c, "?") {
		score -= 2
	}
	return score
}
