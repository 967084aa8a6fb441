package block

import (
	"context"
	"fmt"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// freshSession holds the records that the offline distiller makes of a session's
// waiting events; they are not stored. nil: no events wait.
type freshSession struct {
	session memory.SessionID
	self    bool
	// newest is the time of the last waiting event.
	newest       memory.Millis
	summaries    []memory.Summary
	observations []memory.Observation
	learnings    []memory.Learning
	// symbols are the changes of functions and types, as far as they are known already.
	symbols []memory.SymbolChange
}

// freshSessions are in the order of the session index.
type freshSessions struct {
	sessions []*freshSession
	// failed is why one of them is missing.
	failed error
}

// of returns what waits in a session, an empty one if nothing does.
func (f freshSessions) of(id memory.SessionID) *freshSession {
	for _, s := range f.sessions {
		if s.session == id {
			return s
		}
	}
	return &freshSession{}
}

// distilFresh distils what waits in the recent sessions, all at once; one that
// fails, or is not there when ctx ends, does not cost the others.
func (r *run) distilFresh(ctx context.Context) freshSessions {
	var out freshSessions
	recent, err := r.recent.Wait()
	if err != nil || r.opts.Distiller == nil {
		return out // The session index tells of the error.
	}
	var tries []*recall.Attempt[*freshSession]
	for _, d := range recent {
		if d.Undistilled > 0 {
			tries = append(tries, recall.Try(ctx, func(ctx context.Context) (*freshSession, error) {
				return r.distilSession(ctx, d.Session)
			}))
		}
	}
	for _, t := range tries {
		switch f, err := t.Wait(); {
		case err != nil:
			out.failed = err
		case f != nil:
			out.sessions = append(out.sessions, f)
		}
	}
	return out
}

// distilSession distils the waiting events of a session by opts.Distiller and stores nothing; nil
// when none wait any more.
func (r *run) distilSession(ctx context.Context, s memory.Session) (*freshSession, error) {
	batch, err := r.source.Undistilled(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	if len(batch.Events) == 0 {
		return nil, nil // An observer was faster.
	}
	outcome, err := r.opts.Distiller.Distil(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("distil waiting events: %w", err)
	}
	f := &freshSession{session: s.ID, self: r.isSelf(s), observations: outcome.Observations, learnings: outcome.Learnings}
	for _, e := range batch.Events {
		f.newest = max(f.newest, e.Event.OccurredAt)
		for _, c := range e.Symbols {
			c.Session = s.ID
			f.symbols = append(f.symbols, c)
		}
	}
	f.summaries = append(f.summaries, collect.Keep(outcome.Summaries, func(sum memory.Summary) bool { return !sum.Empty() })...)
	return f, nil
}
