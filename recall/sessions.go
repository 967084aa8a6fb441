package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem"
	"claudemem/text"
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
	// ownSummaries bounds the own turns that a session is shown after a compaction.
	ownSummaries = 5
)

// sessionLines returns the lines of the recent sessions; after a compaction the
// session's own turns come first.
func (r *run) sessionLines(ctx context.Context) (built, error) {
	recent, err := r.recent.wait()
	if err != nil {
		return built{}, err
	}
	fresh, _ := r.fresh.wait() // Without it, what is stored has to do.
	if overtaken(recent, fresh) {
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
func (r *run) otherLines(recent []claudemem.SessionDigest, fresh freshSessions) built {
	var out built
	for _, d := range recent {
		if r.isSelf(d.Session) || len(out.lines) == r.opts.MaxSessions {
			continue
		}
		waiting := fresh.of(d.Session.ID)
		if r.req.Source == sourceResume && !r.isNews(d, waiting) {
			continue
		}
		text, why := r.sessionText(d, waiting, len(out.lines) < withRequest)
		if text == "" {
			continue
		}
		out.add(line{lead: r.age(d.Session.UpdatedAt), text: text, session: d.Session.ID, why: why}, r.hostSaysWork(text))
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
	summaries := slices.Clone(fresh.of(r.self.ID).summaries)
	slices.Reverse(summaries)
	known := map[int]bool{}
	for _, s := range summaries {
		known[s.PromptNumber] = true
	}
	for _, s := range stored {
		if !known[s.PromptNumber] {
			summaries = append(summaries, s)
		}
	}
	var out built
	for _, s := range summaries[:min(len(summaries), ownSummaries)] {
		at := s.CreatedAt
		if at == 0 {
			at = r.self.UpdatedAt
		}
		if text := r.summaryText(s, true); text != "" {
			out.add(line{lead: r.age(at) + "This session: ", text: text, session: r.self.ID,
				why: "this session, " + summaryOf(s.PromptNumber)}, r.hostSaysWork(text))
		}
	}
	return out, nil
}

// isNews reports whether a session said anything since the asking one was last given a block.
func (r *run) isNews(d claudemem.SessionDigest, waiting *freshSession) bool {
	switch {
	case waiting.newest > r.since, d.Summary != nil && d.Summary.CreatedAt > r.since:
		return true
	case waiting.newest == 0 && d.Summary == nil: // Nothing better to tell by.
		return d.Session.UpdatedAt > r.since
	default:
		return false
	}
}

// sessionText returns the text of a session's line and its source.
func (r *run) sessionText(d claudemem.SessionDigest, waiting *freshSession, request bool) (said, why string) {
	for _, s := range slices.Backward(waiting.summaries) {
		if said := r.summaryText(s, request); said != "" {
			return said, summaryOf(s.PromptNumber) + ", made on the spot of what waits in the queue"
		}
	}
	// A turn after the last summary that has none itself was broken off; what it
	// was asked to do is the latest that is known.
	if d.Summary != nil && (d.Undistilled == 0 || d.Summary.PromptNumber >= d.Session.PromptCount) {
		if said := r.summaryText(*d.Summary, request); said != "" {
			return said, summaryOf(d.Summary.PromptNumber)
		}
	}
	if asked := r.plain(d.LastPrompt); asked != "" {
		return text.TruncateUTF16(askedStart+asked, sessionChars), "its last prompt: there is no summary of it"
	}
	if d.Summary != nil {
		return r.summaryText(*d.Summary, request), summaryOf(d.Summary.PromptNumber)
	}
	return "", ""
}

func summaryOf(turn int) string { return fmt.Sprintf("summary of turn %d", turn) }

// summaryText returns a summary on one line: what was completed, with request also what
// for; else what was asked and what came of it.
func (r *run) summaryText(s claudemem.Summary, request bool) string {
	done, asked := r.plain(s.Completed), r.plain(s.Request)
	switch {
	case request && done != "" && asked != "" && !strings.Contains(strings.ToLower(done), strings.ToLower(asked)):
		goal := askedMark + text.TruncateUTF16(asked, requestChars) + ")"
		return text.TruncateUTF16(done, sessionChars-text.UTF16Len(goal)) + goal
	case done != "":
		return text.TruncateUTF16(done, sessionChars)
	case asked != "":
		said := askedStart + asked
		for _, rest := range []string{s.Learned, s.Investigated} {
			if rest = r.plain(rest); rest != "" {
				said = askedStart + text.TruncateUTF16(asked, requestChars) + "; found: " + rest
				break
			}
		}
		return text.TruncateUTF16(said, sessionChars)
	}
	for _, rest := range []string{s.Learned, s.Investigated, s.NextSteps} {
		if rest = r.plain(rest); rest != "" {
			return text.TruncateUTF16(rest, sessionChars)
		}
	}
	return ""
}

// age returns how long ago something was, as the start of a line.
func (r *run) age(at claudemem.Millis) string {
	return "[" + text.Age(r.now.Time(), at.Time()) + "] "
}
