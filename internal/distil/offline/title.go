package offline

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Lengths of what is written, in characters. A title has to fit one line of a
// context block beside its neighbours.
const (
	maxTitle     = 100
	maxSubtitle  = 200
	maxNarrative = 900
	maxFact      = 260
	maxFacts     = 8
)

// evidentTitle returns the title that the evidence of the tools gives, "" where what was
// said tells it better.
func (e *episode) evidentTitle(t memory.ObservationType) string {
	if t == memory.TypeDiscovery || len(e.edits) == 0 && len(e.reverts) > 0 {
		return e.title(t)
	}
	return ""
}

// title says in one line what is worth remembering of the episode, as a record of type t, from the
// evidence and the user's words. A discovery must have a blocking failure, or one that was overcome.
func (e *episode) title(t memory.ObservationType) string {
	var s string
	switch {
	case t == memory.TypeBugfix:
		s = e.fixTitle()
	case t == memory.TypeDiscovery && len(e.blocking()) > 0:
		s = e.openTitle()
	case t == memory.TypeDiscovery:
		s = e.cureTitle()
	default:
		s = e.workTitle(t)
	}
	return shown(strings.TrimRight(s, ". "), maxTitle)
}

// fixTitle returns the title of a bug fix of which the agent told nothing: by the
// user's words, the commit, or what failed.
func (e *episode) fixTitle() string {
	subject := text.First(e.failedTests())
	if strings.Contains(subject, " ") {
		subject = "" // a test that is called by a sentence
	}
	if e.only && e.turn.request.clause != "" {
		s := e.turn.request.clause
		if intentOf(firstWord(s))&wantFix == 0 {
			s = "Fix: " + uncapital(s)
		}
		s = e.withNames(s, s)
		return s + e.proofTail(maxTitle-len(s))
	}
	if c := e.commitTitle(); c != "" {
		return c
	}
	what := subject
	for _, c := range e.fixed {
		if what == "" && c.failure.Named {
			what = cut(c.failure.Message, 60)
		}
	}
	if what == "" && len(e.fixed) > 0 {
		what = "`" + e.fixed[0].text + "`"
	}
	switch s := e.symptom(); {
	case s != "" && len(e.fixed) > 0:
		return "Fixed: " + uncapital(s)
	case s != "":
		return anyChange + list(baseNames(e.files()), 1) + ": " + uncapital(s)
	case what == "":
		return "Fix " + e.place()
	}
	s := "Fix " + what + " in " + e.place()
	if subject != "" || strings.HasPrefix(what, "`") {
		return s
	}
	return s + e.proofTail(maxTitle-len(s))
}

// symptom returns the user's sentence that says what is broken and by its name, "" for none.
func (e *episode) symptom() string {
	if !e.only {
		return ""
	}
	for _, s := range sentences(e.turn.request.text[:min(len(e.turn.request.text), maxTyped)]) {
		ws := words(s.text)
		if complains(s.text) && !asks(s.text) && tells(s.text) && len(ws) >= 5 && !slices.ContainsFunc(ws[:min(len(ws), 6)], func(w string) bool { return lang.Is(w, "pronoun") }) {
			return strings.TrimRight(text.Before(s.text, ". "), ". ")
		}
	}
	return ""
}

// proofTail returns the end of a title that says what passes again: the first test or else the last
// command that failed and passes by the end (failedTests, fixed); "" for none, or when it exceeds
// room bytes.
func (e *episode) proofTail(room int) string {
	tail := ""
	if t := e.failedTests(); len(t) > 0 {
		tail = ": " + t[0] + " passes again"
	} else if len(e.fixed) > 0 {
		tail = ": `" + e.fixed[len(e.fixed)-1].passedBy() + "` passes again"
	}
	if len(tail) > room {
		return ""
	}
	return tail
}

// openTitle returns the title of work that ends with something failing. The episode must have a
// blocking failure.
func (e *episode) openTitle() string {
	c := e.blocking()[0]
	name := text.First(c.failure.Tests)
	for _, s := range e.turn.message {
		if !isFluff(s.text) && !lang.Has(s.text, "committed") && (name != "" && mentions(s.text, name) || lang.Has(s.text, "failing")) {
			return s.text[s.label:] // that it fails is so, whatever is not done
		}
	}
	s := cmp.Or(name, "`"+c.text+"`") + " " + e.failing()
	if c.failure.Named {
		s += ": " + c.failure.Message
	} else if c.failure.File != "" {
		s += " (" + c.failure.File + ")"
	}
	if files := e.files(); len(files) > 0 && len(s) < 70 {
		s += " after editing " + nameOf(files[0])
	}
	return s
}

// anyChange begins the title of work of which only the place is known.
const anyChange = "Change "

// workTitle returns the title of work of type t: by the user's words, the
// commit, else by what was edited.
func (e *episode) workTitle(t memory.ObservationType) string {
	if from, to := e.rename(); to != "" && t == memory.TypeRefactor {
		return "Rename " + from + " to " + to + " (" + list(baseNames(e.files()), 2) + ")"
	}
	if len(e.edits) == 0 {
		return e.bareTitle()
	}
	docs := e.all(func(x *edit) bool { return x.kind == toolcall.FileDoc })
	clause := e.turn.request.clause
	if e.only && clause != "" {
		return e.withNames(clause, clause)
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
	if tests := e.newTests(); len(tests) > 0 && e.all(func(x *edit) bool { return x.kind == toolcall.FileTest }) {
		return "Add " + list(tests, 2) + " in " + list(baseNames(e.files()), 2)
	}
	verb := anyChange
	switch t {
	case memory.TypeFeature:
		verb = "Add "
		if fresh := e.newCode(); len(fresh) > 0 {
			return verb + list(fresh, 3) + " in " + list(baseNames(e.files()), 2)
		}
	case memory.TypeRefactor:
		verb = "Refactor "
	}
	return verb + e.place()
}

// bareTitle returns the title of a turn that only committed or changed what is
// installed.
func (e *episode) bareTitle() string {
	switch {
	case len(e.reverts) > 0:
		return "Reverted " + quoted(e.reverts[:min(len(e.reverts), 2)]) + ": the work is not there any more"
	case len(e.deps) > 0:
		return e.deps[0]
	case len(e.commits) > 1:
		return "Commits: " + quoted(e.commits)
	default:
		return "Commit: " + text.First(e.commits)
	}
}

// withNames adds names to a title, in brackets: new symbols, else edited ones, else, if said names
// no code, the files. It adds none if said, the title and what stands beside it, has one of them,
// or if the title would exceed maxTitle bytes.
func (e *episode) withNames(title, said string) string {
	names := telling(e.newCode())
	if len(names) == 0 {
		names = telling(e.touched())
	}
	if len(names) == 0 && !hasCode(said) {
		names = e.files()
	}
	named := func(n string) bool {
		return mentions(said, text.AfterLast(text.AfterLast(n, "::"), ".")) || mentions(said, nameOf(n)) || mentions(said, strings.TrimSuffix(nameOf(n), path.Ext(n)))
	}
	if len(names) == 0 || slices.ContainsFunc(names, named) {
		return title
	}
	short := cut(title, 84)
	tail := " (" + list(baseNames(names), 2) + ")"
	if len(short)+len(tail) > maxTitle {
		return title
	}
	return short + tail
}

// likeBefore puts into a title that only says "the same for …", or of which only the place is known
// while user or agent say so, what was done before: the title of the newest record of work among
// earlier, of the turns before.
func (t *turn) likeBefore(made, earlier []memory.Observation) {
	if len(made) == 0 {
		return
	}
	same, before := "", memory.Observation{}
	message := collect.Map(t.message, func(s sentence) utterance { return utterance{text: s.text} })
	for _, u := range slices.Concat(t.request.said, message) {
		if s := strings.TrimRight(withoutOpening(u.text), ".!。 "); lang.Has(s, "same") && len(words(s)) <= maxBrief {
			same = s
		}
	}
	for _, o := range earlier {
		if o.Session == t.session && t.isNear(o.PromptNumber) && o.PromptNumber > before.PromptNumber && len(o.FilesIn(memory.FileModified)) > 0 {
			before = o
		}
	}
	if title := &made[0].Title; same != "" && before.Title != "" && (strings.HasPrefix(*title, anyChange) || strings.Contains(*title, same)) {
		if head, rest, ok := strings.Cut(before.Title, ": "); ok && lang.Has(head, "same") {
			before.Title = rest
		}
		if !hasCode(same) {
			same += " (" + list(baseNames(made[0].FilesIn(memory.FileModified)), 2) + ")"
		}
		*title = cut(capital(same)+": "+before.Title, maxTitle)
	}
}

// place names where the work was: symbols and their file, else files; "" if only lock files were
// edited.
func (e *episode) place() string {
	files := baseNames(e.files())
	if sym := e.touched(); len(sym) > 0 {
		return list(sym, 2) + " (" + list(files, 2) + ")"
	}
	return list(files, 3)
}

// commitTitle returns a commit's subject that can stand as a title, "" for none.
func (e *episode) commitTitle() string {
	for _, c := range slices.Backward(e.commits) {
		if prefix, rest, ok := strings.Cut(c, ": "); ok && lang.Is(text.Before(text.Before(prefix, "("), "!"), "commit-type") {
			c = capital(rest)
		}
		if len(words(c)) >= 3 && !lang.Begins(c, "commit-draft") {
			return c
		}
	}
	return ""
}

// relevance scores a sentence by how much it is about the episode. 0 and less: not at all. Beside
// other episodes with work, only a sentence that names what this one touched has a score.
func (e *episode) relevance(s sentence) points {
	if isFluff(s.text) || reportsTests(s.text) {
		return 0
	}
	score, named := points(0), false
	names := func(n points, list []string, is func(string) bool) {
		if slices.ContainsFunc(list, is) {
			named = true
			score += n
		}
	}
	names(2, e.files(), func(f string) bool { return mentions(s.text, nameOf(f)) || mentions(s.text, f) })
	names(2, e.touched(), func(n string) bool {
		n = text.AfterLast(text.AfterLast(n, "::"), ".")
		return len(n) >= 3 && mentions(s.text, n)
	})
	names(1, e.failedTests(), func(n string) bool { return mentions(s.text, n) })
	for _, d := range e.deps {
		names(2, strings.Fields(d)[1:], func(w string) bool {
			return len(w) > 3 && w != "dependency" && mentions(s.text, strings.Trim(w, ",()"))
		})
	}
	length := len(words(s.text))
	score.add(2, s.first)
	score.add(1, length >= 5)
	score.add(-2, length < 4)
	score.add(-4, looksAhead(s))
	score.add(-3, lang.Has(s.text, "committed"))
	score.add(-2, leans(s.text))
	if !e.only && !named {
		return 0
	}
	return score
}

// telling leaves out the names that every program has.
func telling(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return lang.Is(text.AfterLast(text.AfterLast(n, "::"), "."), "plain-name")
	})
}

// firstWord returns the first word of s in lower case, "" for none.
func firstWord(s string) string {
	return text.First(words(s[:min(len(s), 60)]))
}

// withoutCausePhrase drops "The problem was that".
func withoutCausePhrase(s string) string {
	if rest := s[lang.Front(s, "cause-phrase"):]; len(words(rest)) >= 4 {
		return rest
	}
	return s
}

// withoutReports drops what a title need not say: that the tests pass.
func withoutReports(s string) string {
	s = strings.TrimRight(s, ". ")
	ands := collect.Map(lang.Phrases("list-and"), func(and string) string { return " " + and + " " })
	for _, sep := range append([]string{"; ", ", "}, ands...) {
		i := strings.LastIndex(s, sep)
		if i > 20 && balanced(s[:i]) && (reportsTests(s[i+len(sep):]) || lang.Has(s[i+len(sep):], "committed")) {
			return strings.TrimRight(s[:i], ",; ")
		}
	}
	return s
}

// imperative takes the agent out of its own sentence: "I've fixed X" → "Fix X".
func imperative(s string) string {
	whole := s
	for again := true; again; {
		rest, ok := lang.Cut(s, "subject", "subject-verb")
		verb := firstWord(rest) // which may stand without the agent's "I"
		if again = ok && (lang.Is(verb, "subjectless") || lang.Value(verb, "past") != "" || lang.Front(s, "subject") > 0); again {
			s = rest
		}
	}
	w := text.Before(s, " ")
	if base := lang.Value(text.LowerASCII(w), "past"); base != "" && len(w) < len(s) {
		s = base + s[len(w):]
	}
	if s == whole {
		return s // it begins as its author began it: a name may be lower case
	}
	return capital(s)
}

// baseNames returns the names, each once, and of those that are paths the base names.
func baseNames(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if isPathLike(n) && !strings.Contains(n, "::") {
			n = nameOf(n)
		}
		out = text.Add(out, n)
	}
	return out
}

// quoted returns the texts that are not empty in quotes, with commas.
func quoted(list []string) string {
	list = collect.Keep(list, func(s string) bool { return s != "" })
	return strings.Join(collect.Map(list, func(s string) string { return "“" + s + "”" }), ", ")
}

// uncapitalFirst returns s with its first byte in lower case.
func uncapitalFirst(s string) string {
	if s == "" {
		return s
	}
	return text.LowerASCII(s[:1]) + s[1:]
}
