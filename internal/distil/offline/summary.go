package offline

import (
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	maxRequest = 300
	maxField   = 400
)

// summarise makes the checkpoint of a turn that ended; ok is false when there is
// nothing to say of it or it goes on. known are the observations of the turn, old and new. The caller
// sets the session.
func (t *turn) summarise(known []memory.Observation) (s memory.Summary, ok bool) {
	if !t.stopped {
		return s, false
	}
	s = memory.Summary{
		PromptNumber: t.number,
		Request:      cut(t.request.text, maxRequest),
		NextSteps:    t.nextSteps(),
		Origin:       memory.OriginOffline,
		CreatedAt:    t.last.Event.OccurredAt,
	}
	if len(known) == 0 && s.NextSteps == "" && !t.answered() {
		return s, false
	}
	var read, edited []string
	for i := range known {
		read, edited = text.Add(read, known[i].FilesIn(memory.FileRead)...), text.Add(edited, known[i].FilesIn(memory.FileModified)...)
	}
	for _, e := range t.episodes {
		read, edited = text.Add(read, e.read...), text.Add(edited, pathsOf(e.edits)...)
	}
	read = slices.DeleteFunc(read, func(p string) bool { return slices.Contains(edited, p) })
	s.FilesRead, s.FilesEdited = append([]string(nil), read[:min(len(read), maxFiles)]...), edited[:min(len(edited), maxFiles)]
	s.Investigated = t.investigated(read)
	s.Completed = t.completed(known)
	if s.Learned = t.learned(); s.Learned == "" && len(known) == 0 {
		s.Learned = t.answer()
	}
	return s, !s.Empty()
}

// investigated returns what the agent read and searched and which checks failed.
func (t *turn) investigated(read []string) string {
	var parts []string
	if len(read) > 0 {
		parts = append(parts, "read "+list(read, 4))
	}
	failed := collect.Keep(checksOf(t.steps), func(c *check) bool { return !c.passed })
	ran := text.Add(nil, collect.Map(failed, func(c *check) string { return "`" + c.text + "`" })...)
	if slices.ContainsFunc(t.steps, (*step).searches) {
		parts = append(parts, "searched the code")
	}
	if len(ran) > 0 {
		parts = append(parts, "ran "+list(ran, 2)+", which failed")
	}
	if slices.ContainsFunc(t.episodes, func(e *episode) bool { return len(e.answers) > 0 }) {
		parts = append(parts, "asked a subagent")
	}
	return shown(capital(strings.Join(parts, "; ")), maxField)
}

// searches reports whether the step searched files.
func (s *step) searches() bool {
	return s.Tool == toolcall.ToolSearch || s.probes && slices.ContainsFunc(s.Commands, func(c toolcall.Command) bool { return slices.Contains(searchers, c.Program()) })
}

// completed returns what is different now, the evidence with it: it stands alone in lists of sessions.
// What was done is told by the titles that say so, else by the agent, else by the evidence; a cause, a
// finding, a decision and what is left are not. It is "" where nothing was done.
func (t *turn) completed(known []memory.Observation) string {
	done := collect.Pick(collect.Pointers(known), func(o *memory.Observation) (string, bool) {
		return o.Title, strings.HasPrefix(o.Title, givenUp) || o.Type != memory.TypeDiscovery && o.Type != memory.TypeDecision && tellsDeed(o.Title)
	})
	evidence := ""
	for _, e := range t.episodes {
		kind := e.typeOf()
		if !e.works() || kind == memory.TypeDiscovery && len(e.edits) == 0 {
			continue
		}
		if len(done) == 0 {
			done = t.excerpt(maxField/2, func(s sentence) bool {
				return s.is == isSo && tellsDeed(s.text) && !isFluff(s.text) && !reportsTests(s.text) && !leavesOpen(s) && !leans(s.text) && !lang.Has(s.text, "committed") && (e.only || e.relevance(s) > 0)
			})
		}
		if title := e.title(kind); len(done) == 0 && kind != memory.TypeDiscovery && !strings.HasPrefix(title, anyChange) && (title != t.request.clause || tellsDeed(title)) {
			done = []string{title}
		}
		switch {
		case len(e.edits) == 0 || evidence != "":
		case len(e.blocking()) > 0:
			evidence = capital(e.worked(3))
		default:
			evidence = e.subtitle(kind)
		}
	}
	files := text.Add(nil, collect.Flat(known, func(o memory.Observation) []string { return o.FilesIn(memory.FileModified) })...)
	if len(done) == 0 && evidence == "" && len(files) > 0 { // an earlier batch told the work
		evidence = "Changed " + list(files, 3)
	}
	return shown(sentencesOf(text.Add([]string{strings.Join(done[:min(len(done), 3)], "; ")}, evidence)), maxField)
}

// tellsDeed reports whether a statement says what was done or is different now, and not how it was.
func tellsDeed(s string) bool {
	if asks(s) || lang.Has(s, "guess", "offer", "reject", "failing", "ahead", "left-open") {
		return false
	}
	return intentOf(firstWord(imperative(s)))&^(wantFindOut|wantDecision) != 0 ||
		lang.Has(s, "deed") && !lang.Has(s, "cause-word") && (!lang.Has(s, "was-wrong") || lang.Has(s, "is-right"))
}

// learned returns the reasons that the agent gave, else the tests that failed before a fix; "" for
// none.
func (t *turn) learned() string {
	parts := t.excerpt(maxField, func(s sentence) bool {
		return !isFluff(s.text) && !reportsTests(s.text) && !looksAhead(s) && !lang.Has(s.text, "committed") && lang.Has(s.text, "explain") &&
			(!lang.Has(s.text, "passing-now") || !lang.Has(s.text, "test"))
	})
	if len(parts) == 0 {
		for _, e := range t.episodes {
			for _, c := range e.fixed {
				if len(c.failure.Tests) > 0 {
					return shown("`"+c.text+"` failed in "+list(c.failure.Tests, 3), maxField)
				}
			}
		}
	}
	return shown(sentencesOf(parts), maxField)
}

// excerpt returns the sentences of the agent's message that keep accepts, up to the first that
// exceeds room bytes.
func (t *turn) excerpt(room int, keep func(sentence) bool) (parts []string) {
	for _, s := range t.message {
		if !keep(s) {
			continue
		}
		if room -= len(s.text); room < 0 {
			break
		}
		parts = append(parts, s.text)
	}
	return parts
}

// nextSteps returns what the agent left open and what still fails.
func (t *turn) nextSteps() string {
	var parts []string
	n := 0
	for _, s := range t.message {
		if !looksAhead(s) && !leavesOpen(s) || rejects(s) || isFluff(s.text) || lang.Has(s.text, "still-failing") && t.proven() || passesOnly(s) {
			continue
		}
		text := s.text[s.label:]
		if !s.headed {
			text = capital(text)
		}
		if n += len(text); n > maxField-60 {
			break
		}
		parts = append(parts, text)
	}
	parts = text.Add(parts, t.request.later)
	for _, e := range t.episodes {
		for _, c := range e.blocking() {
			if s := "`" + c.text + "` still fails."; len(parts) < 5 && !strings.Contains(strings.Join(parts, " "), c.text) {
				parts = text.Add(parts, s)
			}
		}
	}
	return shown(sentencesOf(parts), maxField)
}

// passesOnly reports whether a sentence only says that checks pass, whatever heading it
// stands under.
func passesOnly(s sentence) bool {
	own := sentence{text: s.text[s.label:]}
	return reportsTests(own.text) && !looksAhead(own) && !leavesOpen(own)
}

// proven reports whether all that was checked passes: what "still fails" then does so by
// design.
func (t *turn) proven() bool {
	return !slices.ContainsFunc(t.episodes, func(e *episode) bool { return len(e.open) > 0 }) &&
		slices.ContainsFunc(t.episodes, func(e *episode) bool { return len(e.passes) > 0 })
}

// minAnswer is how many words an answer has at least, where words are parted by blanks.
const minAnswer = 14

// leavesOpen reports whether a sentence of the agent names a next step, or says what was
// left undone.
func leavesOpen(s sentence) bool {
	return !asks(s.text) && !rejects(s) && // the first is an offer
		(s.is == isOpen || lang.Begins(s.text, "next-start") || lang.Has(s.text, "left-open") && !lang.Has(s.text, "on-purpose"))
}

// rejects reports whether a sentence of the agent is about an alternative that was not
// taken, by its heading or by what speaks against it: it is no next step.
func rejects(s sentence) bool {
	return s.is == isRejected || lang.Has(s.text, "left-out") && lang.Has(s.text, "disadvantage")
}

// offers reports whether a sentence of the agent only says what it could do if the user
// wished: no fact, and nothing that was left open.
func offers(s string) bool {
	s = strings.ReplaceAll(s, "’", "'")
	return lang.Begins(s, "offer-whole") ||
		lang.Begins(s, "if-wanted") && lang.Has(s, "would-do") && !lang.Has(s, "cannot") ||
		lang.Begins(s, "would-do") && lang.Has(s, "if-wanted")
}

// putOff returns what the user puts off in the prompt ("we try again after the
// release"), "" for nothing.
func putOff(prompt string) string {
	for _, u := range typed(prompt) {
		for _, part := range strings.Split(u.text, ", ") {
			if lang.Has(part, "resume") && lang.Has(part, "later") && !strings.HasSuffix(part, "?") && tells(part) && (lang.Has(part, "ourselves") || !lang.IsASCII(part)) {
				return shown(capital(part), maxField)
			}
		}
	}
	return ""
}

// answered reports whether the turn answered a question or found something out: its
// message says something of the program.
func (t *turn) answered() bool {
	return (t.request.is(wantFindOut|wantDecision) || t.investigates()) && t.answer() != ""
}

// answer returns the sentences of the agent's message that say something of the program.
func (t *turn) answer() string {
	all := sentencesOf(t.excerpt(maxField, func(s sentence) bool {
		return !isFluff(s.text) && !reportsTests(s.text) && !lang.Has(s.text, "committed") && !strings.HasSuffix(s.text, "?") && tells(s.text) && (hasCode(s.text) || len(t.steps) > 0)
	}))
	if len(words(all)) < minAnswer && !tellsUnspaced(all) || !hasCode(all) || !lang.Has(all, "explain") && codeWords(all, 3) < 3 {
		return "" // an inventory
	}
	return shown(all, maxField)
}
