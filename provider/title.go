package provider

import (
	"path"
	"strings"

	"claudemem"
)

// Lengths of what is written, in characters. A title has to fit one line of a
// context block beside its neighbours.
const (
	maxTitle     = 120
	maxSubtitle  = 160
	maxNarrative = 900
	maxFact      = 260
	maxFacts     = 8
)

// typeOf decides what sort of work an episode was: first by what happened, then by
// what was asked for.
func (e *episode) typeOf() claudemem.ObservationType {
	r := &e.turn.request
	switch {
	case len(e.edits) == 0 && len(e.fixed) > 0:
		return claudemem.TypeDiscovery // installing or starting something was the cure
	case len(e.edits) == 0 && (len(e.commits) > 0 || len(e.deps) > 0):
		return claudemem.TypeChange
	case len(e.edits) == 0 || len(e.blocking()) > 0:
		return claudemem.TypeDiscovery
	case e.all(func(x *edit) bool { return x.kind == pathDoc || x.commentOnly }):
		return claudemem.TypeChange
	}
	newCode := e.newCode()
	moved := e.movesOnly()
	code := e.any(func(x *edit) bool { return x.kind == pathCode && !x.importOnly })
	switch {
	case !code && !e.any(func(x *edit) bool { return x.kind == pathTest }):
		if r.is(wantFix) && len(e.fixed) > 0 {
			return claudemem.TypeBugfix
		}
		return claudemem.TypeChange
	case !code:
		if r.is(wantFix) && e.failedFirst && len(e.fixed) > 0 {
			return claudemem.TypeBugfix
		}
		return claudemem.TypeChange
	case e.only && r.is(wantRefactor) && !r.is(wantFix|wantFeature) && (len(newCode) == 0 || moved || !e.failedFirst):
		return claudemem.TypeRefactor
	case e.only && r.is(wantRefactor) && moved:
		return claudemem.TypeRefactor
	case len(e.fixed) > 0 && (e.failedFirst || r.is(wantFix)) && !(r.is(wantFeature) && len(newCode) > 0 && !r.is(wantFix)):
		return claudemem.TypeBugfix
	case r.is(wantFix) && !r.is(wantFeature):
		return claudemem.TypeBugfix
	case moved:
		return claudemem.TypeRefactor
	case r.is(wantFeature) || len(newCode) > 0:
		return claudemem.TypeFeature
	case r.is(wantFix):
		return claudemem.TypeBugfix
	}
	return claudemem.TypeChange
}

// blocking are the open failures that keep the work from being done: a measure
// that fails after the last edit, or anything that the agent itself calls open.
func (e *episode) blocking() []*check {
	var out []*check
	for _, c := range e.open {
		if c.part.kind.isMeasure() || len(e.edits) > 0 && e.turn.admits() {
			out = append(out, c)
		}
	}
	return out
}

// admits reports whether the agent says that something is left undone or broken.
func (t *turn) admits() bool {
	for _, s := range t.message {
		if holds(lower(s.text), "still fails", "still failing", "not done", "couldn't", "could not", "unable to", "not fixed", "doesn't work", "does not work") {
			return true
		}
	}
	return false
}

func (e *episode) any(is func(*edit) bool) bool {
	for _, x := range e.edits {
		if is(x) {
			return true
		}
	}
	return false
}

func (e *episode) all(is func(*edit) bool) bool {
	return len(e.edits) > 0 && !e.any(func(x *edit) bool { return !is(x) })
}

// newCode are the declarations that the episode added to the program itself, but
// for those that it only moved there.
func (e *episode) newCode() []string {
	var out, gone []string
	for _, x := range e.edits {
		gone = append(gone, x.removed...)
	}
	for _, x := range e.edits {
		if x.kind != pathCode {
			continue
		}
		for _, n := range x.added {
			if indexOf(gone, n) < 0 && indexOf(x.tests, n) < 0 {
				out = add(out, n)
			}
		}
		if x.created && len(x.added) == 0 && x.from == "" {
			out = add(out, x.path)
		}
	}
	return out
}

// movesOnly reports whether what came somewhere went somewhere else: a rename, or
// code moved between files.
func (e *episode) movesOnly() bool {
	var came, went []string
	renames := 0
	for _, x := range e.edits {
		if x.kind != pathCode {
			continue
		}
		if x.from != "" {
			renames++
		}
		if from, _ := x.renamed(); from != "" {
			renames++
			continue
		}
		came = append(came, x.added...)
		went = append(went, x.removed...)
	}
	both := 0
	for _, n := range came {
		if indexOf(went, n) >= 0 {
			both++
		}
	}
	return renames > 0 && len(came) <= both || both > 0 && both >= len(came)-1
}

// files are the paths that the episode edited, the program's own first.
func (e *episode) files() []string {
	var code, rest []string
	for _, x := range e.edits {
		switch {
		case x.kind == pathLock:
		case x.kind == pathCode:
			code = add(code, x.path)
		default:
			rest = add(rest, x.path)
		}
	}
	return add(code, rest...)
}

// symbols are the names that the episode's edits go by, the program's own first,
// new ones before changed ones.
func (e *episode) symbols() []string {
	var fresh, changed []string
	for _, x := range e.edits {
		if x.kind != pathCode {
			continue
		}
		for _, n := range x.added {
			if indexOf(x.tests, n) < 0 {
				fresh = add(fresh, n)
			}
		}
		changed = add(changed, x.changed...)
	}
	return add(fresh, changed...)
}

// failedTests are the names of the tests that failed and pass now.
func (e *episode) failedTests() []string {
	var out []string
	for _, c := range e.fixed {
		out = add(out, c.failure.tests...)
	}
	return out
}

// title says in one line what is worth remembering of the episode.
func (e *episode) title(t claudemem.ObservationType) string {
	var s string
	switch {
	case t == claudemem.TypeBugfix:
		s = e.fixTitle()
	case t == claudemem.TypeDiscovery && len(e.blocking()) > 0:
		s = e.openTitle()
	case t == claudemem.TypeDiscovery:
		s = e.cureTitle()
	default:
		s = e.workTitle(t)
	}
	return shown(strings.TrimRight(s, ". "), maxTitle)
}

func (e *episode) fixTitle() string {
	subject := firstOf(e.failedTests())
	if strings.Contains(subject, " ") {
		subject = "" // a test that is called by a sentence
	}
	if cause := e.tell(true); cause != "" {
		if verb, rest, ok := strings.Cut(cause, " "); ok && verb == "Fix" {
			return "Fix " + rest
		}
		if subject != "" && !mentions(cause, subject) && len(subject) < 50 {
			return "Fix " + subject + ": " + uncapital(cause)
		}
		return "Fix: " + uncapital(cause)
	}
	if e.only && e.turn.request.clause != "" {
		s := e.turn.request.clause
		if !strings.HasPrefix(lower(s), "fix ") && verbs[firstWord(s)]&wantFix == 0 {
			s = "Fix: " + uncapital(s)
		}
		if sym := firstOf(e.symbols()); sym != "" && !mentions(s, lastPart(sym, ".")) && len(s)+len(sym) < 70 {
			s += " (" + sym + ")"
		}
		return s + e.proof(maxTitle-len(s))
	}
	if c := e.commitTitle(); c != "" {
		return c
	}
	what := subject
	if what == "" {
		for _, c := range e.fixed {
			if c.failure.named && c.failure.message != "" {
				what = cut(c.failure.message, 60)
				break
			}
		}
	}
	if what == "" && len(e.fixed) > 0 {
		what = "`" + e.fixed[0].part.text + "`"
	}
	if what == "" {
		return "Fix " + e.place()
	}
	s := "Fix " + what + " in " + e.place()
	if subject != "" || strings.HasPrefix(what, "`") {
		return s
	}
	return s + e.proof(maxTitle-len(s))
}

// proof is a tail for a title that says what passes again, when there is room.
func (e *episode) proof(room int) string {
	tail := ""
	if t := e.failedTests(); len(t) > 0 {
		tail = ": " + t[0] + " passes again"
	} else if len(e.fixed) > 0 {
		tail = ": `" + e.fixed[len(e.fixed)-1].part.text + "` passes again"
	}
	if len(tail) > room {
		return ""
	}
	return tail
}

// openTitle is for work that ends with something failing.
func (e *episode) openTitle() string {
	c := e.blocking()[0]
	name := firstOf(c.failure.tests)
	for _, s := range e.turn.message {
		if isFluff(s.text) || reportsCommit(s.text) {
			continue
		}
		low := lower(s.text)
		if name != "" && mentions(s.text, name) || holds(low, "still fails", "still failing", "fails", "failing", "fail") {
			return afterLeadIn(s.text)
		}
	}
	what := "`" + c.part.text + "`"
	if name != "" {
		what = name
	}
	s := what + " still fails"
	if len(e.edits) == 0 {
		s = what + " fails"
	}
	if c.failure.named {
		s += ": " + c.failure.message
	} else if c.failure.file != "" {
		s += " (" + c.failure.file + ")"
	}
	if files := e.files(); len(files) > 0 && len(s) < 70 {
		s += " after editing " + nameOf(files[0])
	}
	return s
}

// cureTitle is for a failure that went away without an edit.
func (e *episode) cureTitle() string {
	c := e.fixed[0]
	if len(e.deps) > 0 {
		return "`" + c.part.text + "` needed: " + uncapitalFirst(e.deps[0])
	}
	return "`" + c.part.text + "` passes after " + e.cure()
}

// cure names the command between a failure and its end.
func (e *episode) cure() string {
	for _, s := range e.steps {
		for i := range s.parts {
			if k := s.parts[i].kind; k == kindInstall || k == kindOther || k == kindGit {
				return "`" + s.parts[i].text + "`"
			}
		}
	}
	return "another command"
}

func (e *episode) workTitle(t claudemem.ObservationType) string {
	if from, to := e.rename(); to != "" && t == claudemem.TypeRefactor {
		return "Rename " + from + " to " + to + " (" + list(baseNames(e.files()), 2) + ")"
	}
	if len(e.edits) == 0 {
		return e.bareTitle()
	}
	docs := e.all(func(x *edit) bool { return x.kind == pathDoc })
	clause := e.turn.request.clause
	if e.only && clause != "" {
		return e.withNames(clause)
	}
	if s := e.tell(false); s != "" {
		return e.withNames(s)
	}
	if c := e.commitTitle(); c != "" && !docs {
		return c
	}
	x := e.edits[0]
	if docs {
		switch {
		case len(x.headings) > 0:
			return "Write in " + nameOf(x.path) + ": " + list(x.headings, 3)
		case len(x.under) > 0 && x.firstLine == "":
			return "Change in " + nameOf(x.path) + ": " + list(x.under, 3)
		case x.firstLine != "":
			return nameOf(x.path) + " now says: " + x.firstLine
		}
		return "Update " + list(baseNames(e.files()), 3)
	}
	if tests := e.tests(); len(tests) > 0 && e.all(func(x *edit) bool { return x.kind == pathTest }) {
		return "Add " + list(tests, 2) + " in " + list(baseNames(e.files()), 2)
	}
	verb := "Change "
	switch t {
	case claudemem.TypeFeature:
		verb = "Add "
		if fresh := e.newCode(); len(fresh) > 0 {
			return verb + list(fresh, 3) + " in " + list(baseNames(e.files()), 2)
		}
	case claudemem.TypeRefactor:
		verb = "Refactor "
	}
	return verb + e.place()
}

// bareTitle is for a turn that only committed or changed what is installed.
func (e *episode) bareTitle() string {
	switch {
	case len(e.deps) > 0:
		if s := e.tell(false); s != "" {
			return s
		}
		return e.deps[0]
	case len(e.commits) > 1:
		return "Commits: " + quoted(e.commits)
	default:
		return "Commit: " + firstOf(e.commits)
	}
}

// withNames adds to a title the symbols that it should have named.
func (e *episode) withNames(title string) string {
	names := telling(e.newCode())
	if len(names) == 0 {
		names = telling(e.symbols())
	}
	if len(names) == 0 {
		for _, f := range e.files() {
			if mentions(title, nameOf(f)) || mentions(title, strings.TrimSuffix(nameOf(f), path.Ext(f))) {
				return title
			}
		}
		names = baseNames(e.files())
	}
	for _, n := range names {
		if mentions(title, lastPart(lastPart(n, "::"), ".")) || mentions(title, nameOf(n)) {
			return title
		}
	}
	for _, f := range e.files() {
		if mentions(title, nameOf(f)) && len(names) > 0 {
			names = names[:1]
		}
	}
	short := cut(title, 84)
	tail := " (" + list(baseNamesOfPaths(names), 2) + ")"
	if len(short)+len(tail) > maxTitle {
		return title
	}
	return short + tail
}

// telling leaves out the names that every program has.
func telling(names []string) []string {
	var out []string
	for _, n := range names {
		switch lastPart(lastPart(n, "::"), ".") {
		case "main", "init", "run", "new", "New", "test", "setup", "get", "set", "__init__", "constructor", "render", "default":
		default:
			out = append(out, n)
		}
	}
	return out
}

func (e *episode) rename() (from, to string) {
	for _, x := range e.edits {
		if from, to := x.renamed(); to != "" && x.kind == pathCode {
			return from, to
		}
		if x.from != "" {
			return nameOf(x.from), nameOf(x.path)
		}
	}
	return "", ""
}

func (e *episode) tests() []string {
	var out []string
	for _, x := range e.edits {
		out = add(out, x.tests...)
	}
	return out
}

// place names where the work was: symbols and their file, else files.
func (e *episode) place() string {
	files := baseNames(e.files())
	if sym := e.symbols(); len(sym) > 0 {
		return list(sym, 2) + " (" + list(files, 2) + ")"
	}
	return list(files, 3)
}

// commitTitle is a commit's subject when it can stand as a title.
func (e *episode) commitTitle() string {
	for i := len(e.commits) - 1; i >= 0; i-- {
		c := e.commits[i]
		if prefix, rest, ok := strings.Cut(c, ": "); ok && !strings.Contains(strings.TrimSpace(before(prefix, "(")), " ") {
			switch before(before(prefix, "("), "!") {
			case "fix", "feat", "chore", "docs", "test", "refactor", "perf", "ci", "build", "style", "revert":
				c = rest
			}
		}
		if n := len(words(c)); n >= 3 && !strings.HasPrefix(lower(c), "wip") {
			if c == e.commits[i] {
				return c
			}
			return capital(c)
		}
	}
	return ""
}

// tell picks from the agent's closing words the sentence that tells best what the
// episode was about, and trims it to a title. For a fix the cause counts most.
func (e *episode) tell(fix bool) string {
	best, bestScore := -1, 2
	if !e.only {
		bestScore = 3 // with several episodes the sentence must name what this one touched
	}
	for i, s := range e.turn.message {
		score := e.relevance(s)
		if fix && tellsCause(s.text) {
			score += 2
		}
		if fix && i > 0 && holds(s.section, "root cause", "cause", "the problem", "problem", "the issue", "issue") {
			score += 2
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		return ""
	}
	s := e.turn.message[best].text
	if fix {
		s = afterLeadIn(s)
		s = withoutCausePhrase(s)
	}
	return imperative(withoutReports(s))
}

// relevance scores a sentence by how much it is about the episode.
func (e *episode) relevance(s sentence) int {
	if isFluff(s.text) || reportsTests(s.text) {
		return 0
	}
	score := 0
	named := false
	for _, f := range e.files() {
		if mentions(s.text, nameOf(f)) || mentions(s.text, f) {
			named = true
			score += 2
			break
		}
	}
	for _, n := range e.symbols() {
		if n = lastPart(lastPart(n, "::"), "."); len(n) >= 3 && mentions(s.text, n) {
			named = true
			score += 2
			break
		}
	}
	for _, n := range e.failedTests() {
		if mentions(s.text, n) {
			named = true
			score++
			break
		}
	}
	for _, d := range e.deps {
		for _, w := range strings.Fields(d)[1:] {
			if len(w) > 3 && w != "dependency" && mentions(s.text, strings.Trim(w, ",()")) {
				named = true
				score += 2
				break
			}
		}
	}
	if s.first {
		score += 2
	}
	if len(words(s.text)) >= 5 {
		score++
	}
	if looksAhead(s) {
		score -= 4
	}
	if reportsCommit(s.text) {
		score -= 3
	}
	switch firstWord(s.text) {
	case "it", "this", "that", "they", "these", "those", "there", "also":
		score -= 2
	}
	if len(words(s.text)) < 4 {
		score -= 2
	}
	if !e.only && !named {
		return 0
	}
	return score
}

func firstWord(s string) string {
	ws := words(s[:min(len(s), 60)])
	if len(ws) == 0 {
		return ""
	}
	return ws[0]
}

// afterLeadIn drops a lead-in: "The missing cent is found: `vat` rounded …".
func afterLeadIn(s string) string {
	head, tail, ok := strings.Cut(s, ": ")
	if ok && !hasCode(head) && hasCode(tail) && len(words(head)) <= 8 && len(words(tail)) >= 4 && balanced(head) {
		return tail
	}
	return s
}

// withoutCausePhrase drops "The problem was that".
func withoutCausePhrase(s string) string {
	low := lower(s)
	for _, noun := range []string{"the problem", "the issue", "the bug", "the root cause", "the cause", "the culprit", "the reason", "the failure", "the error"} {
		rest, ok := strings.CutPrefix(low, noun)
		if !ok {
			continue
		}
		for _, verb := range []string{" was that ", " is that ", " was ", " is ", " were "} {
			if tail, ok := strings.CutPrefix(rest, verb); ok {
				if out := s[len(s)-len(tail):]; len(words(out)) >= 4 {
					return out
				}
			}
		}
	}
	return s
}

// withoutReports drops what a title need not say: that the tests pass.
func withoutReports(s string) string {
	s = strings.TrimRight(s, ". ")
	for _, sep := range []string{"; ", ", and ", ", ", " and "} {
		i := strings.LastIndex(s, sep)
		if i > 20 && balanced(s[:i]) && (reportsTests(s[i+len(sep):]) || reportsCommit(s[i+len(sep):])) {
			return strings.TrimRight(s[:i], ",; ")
		}
	}
	return s
}

var imperatives = func() map[string]string {
	m := map[string]string{}
	pairs := strings.Fields(`fixed fix added add updated update removed remove renamed rename moved move refactored refactor extracted extract
		implemented implement changed change created create replaced replace introduced introduce documented document simplified simplify converted convert
		made make wrote write split split cleaned clean wired wire bumped bump switched switch improved improve corrected correct resolved resolve handled handle
		deleted delete dropped drop exposed expose enabled enable disabled disable configured configure migrated migrate upgraded upgrade reverted revert
		adjusted adjust rewrote rewrite pulled pull merged merge guarded guard capped cap cached cache wrapped wrap`)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}()

// imperative takes the agent out of its own sentence: "I've fixed X" → "Fix X".
func imperative(s string) string {
	whole := s
	for again := true; again; {
		again = false
		low := lower(s)
		for _, lead := range []string{"i've ", "i’ve ", "i have ", "i ", "we've ", "we have ", "so ", "now, ", "now ", "also ", "just ", "successfully ", "finally, ", "in short, ", "overall, "} {
			if strings.HasPrefix(low, lead) {
				if lead == "i " && !mayLoseSubject(firstWord(s[2:])) {
					continue
				}
				s, again = s[len(lead):], true
				break
			}
		}
	}
	w := before(s, " ")
	if base, ok := imperatives[lower(w)]; ok && len(w) < len(s) {
		s = base + s[len(w):]
	}
	if s == whole {
		return s // it begins as its author began it: a name may be lower case
	}
	return capital(s)
}

// mayLoseSubject tells the verbs that can stand without the agent's "I".
func mayLoseSubject(verb string) bool {
	switch verb {
	case "also", "chose", "decided", "opted", "picked", "went", "kept", "settled", "used":
		return true
	}
	return imperatives[verb] != ""
}

func baseNames(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = add(out, nameOf(p))
	}
	return out
}

// baseNamesOfPaths shortens those of the names that are paths.
func baseNamesOfPaths(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if isPathLike(n) && !strings.Contains(n, "::") {
			n = nameOf(n)
		}
		out = add(out, n)
	}
	return out
}

func quoted(list []string) string {
	q := make([]string, 0, len(list))
	for _, s := range list {
		if s != "" {
			q = append(q, "“"+s+"”")
		}
	}
	return strings.Join(q, ", ")
}

func uncapitalFirst(s string) string {
	if s == "" {
		return s
	}
	return lower(s[:1]) + s[1:]
}
