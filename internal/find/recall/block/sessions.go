package block

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// sessionChars bounds the text of a session's line, in characters: about 60 tokens.
	sessionChars = 200
	// requestChars bounds the request in a session's line.
	requestChars = 80
	// withRequest is the number of latest sessions that also show the request; for
	// older ones the completed work is enough.
	withRequest = 3
	// askedStart begins a line that has only the request, askedMark the request behind
	// what was done.
	askedStart = "Asked: "
	askedMark  = " (asked: "
	// nextMark begins the next step, which nextChars bounds.
	nextMark  = " Next: "
	nextChars = 140
	// ownSummaries bounds the own turns that a session is shown after a compaction.
	ownSummaries = 5
)

// sessionLines returns the lines of the recent sessions; after a compaction the
// session's own turns come first.
func (r *run) sessionLines(ctx context.Context) (built, error) {
	recent, err := r.recent.Wait()
	if err != nil {
		return built{}, err
	}
	fresh, _ := r.fresh.Wait() // Without it, what is stored has to do.
	// Events that were waiting may have been stored by the time they were read.
	if fresh.failed == nil && slices.ContainsFunc(recent, func(d memory.SessionDigest) bool { return d.Undistilled > 0 && fresh.of(d.Session.ID).session == 0 }) {
		if again, err := r.recentSessions(ctx); err == nil { // Else the list as it was has to do.
			recent = again
		}
	}
	var own built
	if r.req.Source == sourceCompact {
		if own, err = r.ownLines(ctx, fresh); err != nil {
			return built{}, err
		}
	}
	others := r.otherLines(recent, fresh)
	if len(others.known) > 0 && len(others.lines) < r.opts.MaxSessions && len(recent) == r.recentLimit() {
		// There are more, whose lines may take the places that became free.
		if more, err := r.source.RecentSessions(ctx, r.req.ProjectPath, 3*r.recentLimit()); err == nil {
			others = r.otherLines(more, fresh)
		}
	}
	for i := range others.lines {
		l := &others.lines[i]
		l.why = fmt.Sprintf("session %d of %d, %s", i+1, len(others.lines), l.why)
	}
	return built{lines: append(own.lines, others.lines...), known: append(own.known, others.known...)}, nil
}

// otherLines returns the lines of sessions other than the asking one.
func (r *run) otherLines(recent []memory.SessionDigest, fresh freshSessions) built {
	var out built
	for _, d := range recent {
		if r.isSelf(d.Session) || len(out.lines) == r.opts.MaxSessions || r.judged.Silenced(memory.RecordRef{Kind: memory.RecordSession, ID: int64(d.Session.ID)}) {
			continue
		}
		waiting := fresh.of(d.Session.ID)
		if r.req.Source == sourceResume && !r.isNews(d, waiting) {
			continue
		}
		l := r.sessionLine(d, waiting, len(out.lines) < withRequest)
		if l.text == "" {
			continue
		}
		l.lead, l.tail, l.session = r.age(d.Session.UpdatedAt), fmt.Sprintf(" (S%d)", d.Session.ID), d.Session.ID
		l.claim = recall.ClaimOf(d.Session.UpdatedAt, false, false, text.Sentences(text.Before(l.text, askedMark), nil)...)
		out.add(l, r.hostSaysWork(l.text))
	}
	return out
}

// ownLines returns a line for each turn of the asking session, the newest first: after a
// compaction that is what its model has just lost. None for an unknown session.
func (r *run) ownLines(ctx context.Context, fresh freshSessions) (built, error) {
	if r.self.ID == 0 {
		return built{}, nil
	}
	stored, err := r.source.SessionSummaries(ctx, r.self.ID, ownSummaries)
	if err != nil {
		return built{}, err
	}
	summaries := turnsOf(fresh.of(r.self.ID), stored)
	var out built
	for _, s := range summaries[:min(len(summaries), ownSummaries)] {
		at := s.CreatedAt
		at = cmp.Or(at, r.self.UpdatedAt)
		if text := r.summaryText(s, true); text != "" {
			out.add(line{lead: r.age(at) + "This session: ", text: text, session: r.self.ID, from: s.Provenance, proof: r.proofOf(&s),
				why: "this session, " + summaryOf(s.PromptNumber)}, r.hostSaysWork(text))
		}
	}
	return out, nil
}

// isNews reports whether a session said anything since the asking one was last given a block.
func (r *run) isNews(d memory.SessionDigest, waiting *freshSession) bool {
	if waiting.newest == 0 && d.Summary == nil { // Nothing better to tell by.
		return d.Session.UpdatedAt > r.since
	}
	return waiting.newest > r.since || d.Summary != nil && d.Summary.CreatedAt > r.since
}

// sessionLine returns a session's line without its age and number: its most substantial
// turn, how that was proven and, with request, what for and the last next step. It is empty if
// nothing is known of the session.
func (r *run) sessionLine(d memory.SessionDigest, waiting *freshSession, request bool) line {
	stored := d.Turns
	if len(stored) == 0 && d.Summary != nil {
		stored = []memory.Summary{*d.Summary}
	}
	turns := slices.DeleteFunc(turnsOf(waiting, stored), func(s memory.Summary) bool { return s.Empty() })
	// A turn after the last summary that has none itself was broken off; what it
	// was asked to do is the latest that is known.
	brokenOff := len(waiting.summaries) == 0 && d.Undistilled > 0 && (len(turns) == 0 || turns[0].PromptNumber < d.Session.PromptCount)
	if asked := r.plain(d.LastPrompt); asked != "" && (brokenOff || len(turns) == 0) {
		return line{text: text.TruncateWidth(askedStart+asked, sessionChars), why: "its last prompt: there is no summary of it"}
	}
	main := memory.MainTurn(turns)
	if main < 0 {
		return line{}
	}
	said, why := r.summaryText(turns[main], request), summaryOf(turns[main].PromptNumber)
	if main > 0 {
		why += ", its most substantial"
	}
	if main < len(waiting.summaries) {
		why += ", made on the spot of what waits in the queue"
	}
	if next := r.nextStep(turns, main); request && next != "" && !recall.ContainsFold(said, next) {
		said = insert(said, nextMark+text.TruncateWidth(next, nextChars))
	}
	return line{text: said, why: why, from: turns[main].Provenance, proof: r.proofOf(&turns[main])}
}

// turnsOf returns the summaries of a session's turns, the newest first: those that wait
// in the queue, then those of other turns that are stored.
func turnsOf(waiting *freshSession, stored []memory.Summary) []memory.Summary {
	turns := slices.Clone(waiting.summaries)
	slices.Reverse(turns)
	known := collect.Set(collect.Map(turns, func(s memory.Summary) int { return s.PromptNumber }))
	return append(turns, slices.DeleteFunc(slices.Clone(stored), func(s memory.Summary) bool { return known[s.PromptNumber] })...)
}

// nextStep returns the next step that the last turn left, or the main one if what came
// after it was small; one that a later turn may have done is none.
func (r *run) nextStep(turns []memory.Summary, main int) string {
	const small = 120
	for i := range turns[:main+1] {
		if next := r.plain(turns[i].NextSteps); next != "" && !turns[i].Provenance.Foreign() {
			return text.Unstopped(next)
		}
		if turns[i].Substance() > small {
			break
		}
	}
	return ""
}

func summaryOf(turn int) string { return fmt.Sprintf("summary of turn %d", turn) }

// summaryText returns a summary on one line: what was completed or found, with request
// also what for; else what was asked.
func (r *run) summaryText(s memory.Summary, request bool) string {
	asked := r.plain(s.Request)
	goal := askedMark + text.TruncateWidth(asked, requestChars) + ")"
	done := r.accomplished(s.Completed, sessionChars-text.Width(goal))
	if found := r.plain(s.Learned); done == "" && found != "" {
		done, request = found, true // what was found needs its question
	}
	if text.IsForeignOrder(s.Provenance, done) {
		done = ""
	}
	done = text.Reported(s.Provenance, done)
	switch {
	case request && done != "" && len(recall.WordsOf(asked)) > 0 && !recall.ContainsFold(done, asked):
		return text.TruncateWidth(done, sessionChars-text.Width(goal)) + goal
	case done != "":
		return text.TruncateWidth(done, sessionChars)
	case asked != "":
		said := askedStart + asked
		if rest := r.plain(s.Investigated); rest != "" && !s.Provenance.Foreign() {
			said = askedStart + text.TruncateWidth(asked, requestChars) + "; " + rest
		}
		return text.TruncateWidth(said, sessionChars)
	}
	for _, rest := range []string{s.Investigated, s.NextSteps} {
		if rest = r.plain(rest); rest != "" && !text.IsForeignOrder(s.Provenance, rest) {
			return text.TruncateWidth(text.Reported(s.Provenance, rest), sessionChars)
		}
	}
	return ""
}

// accomplished returns the statements of completed, each once, as many as fit whole into room, the
// first in any case. Clauses that only tell of passing runs and edited files are left out, unless
// there are no others.
func (r *run) accomplished(completed string, room int) string {
	all := text.Sentences(r.plain(completed), nil)
	done, said := "", []recall.Saying(nil)
	for _, sentence := range all {
		whole := text.Unstopped(sentence)
		s := strings.Join(slices.DeleteFunc(strings.Split(whole, "; "), recall.IsRoutine), "; ")
		if s == "" || done != "" && text.Width(done+s)+2 > room || recall.SaidIn(said, recall.Statement{Text: s, Words: recall.WordsOf(s)}) {
			continue
		}
		said = append(said, recall.SayingOf(s))
		done = strings.TrimSpace(done + " " + s + sentence[len(whole):])
	}
	return cmp.Or(done, strings.Join(all, " "))
}

// proofOf returns how the work of a turn was proven, as proofIn does.
func (r *run) proofOf(s *memory.Summary) func() string {
	return func() string { return proofIn(r.plain(s.Completed)) }
}

// age returns how long ago something was, as the start of a line.
func (r *run) age(at memory.Millis) string {
	return "[" + text.Age(r.now.Time(), at.Time()) + "] "
}
