package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"claudemem"
	"claudemem/index"
	"claudemem/index/corpus"
	"claudemem/store"
)

// newest is when the newest observation was made. It does not move with the clock,
// so that a memory that was kept is that of the next run too.
var newest = time.Date(2026, 10, 31, 18, 0, 0, 0, time.UTC)

func newCorpus(r run) *corpus.Corpus {
	return corpus.New(r.Seed, r.Observations, claudemem.MillisOf(newest))
}

func memoryPath(r run) string { return filepath.Join(r.Dir, "memory.db") }
func indexPath(r run) string  { return filepath.Join(r.Dir, "index.db") }

// fillers is how many sessions are entered at the same time; they share commits.
const fillers = 16

// fill enters the corpus, unless it is there from an earlier run.
func fill(ctx context.Context, r run) (f figures, err error) {
	done := filepath.Join(r.Dir, "filled")
	if _, err := os.Stat(done); err == nil {
		return f, nil
	}
	// What a run left that was broken off is of no use.
	if err := os.RemoveAll(r.Dir); err != nil {
		return f, err
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return f, err
	}
	s, err := store.Open(ctx, memoryPath(r), store.Options{})
	if err != nil {
		return f, err
	}
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	c := newCorpus(r)
	var next atomic.Int64
	var group sync.WaitGroup
	for range fillers {
		group.Go(func() {
			for {
				session := int(next.Add(1)) - 1
				if session >= c.Sessions() || ctx.Err() != nil {
					return
				}
				if err := enter(ctx, s, c, session); err != nil {
					cancel(fmt.Errorf("enter session %d: %w", session, err))
				}
			}
		})
	}
	group.Wait()
	err = context.Cause(ctx)
	cancel(nil)
	if err := errors.Join(err, s.Close()); err != nil {
		return f, err
	}
	f.Fill = time.Since(began)
	return f, os.WriteFile(done, nil, 0o600)
}

// enter takes a session the way of a live one: its prompts and the end of its last
// turn arrive, the turn is claimed, what came of it is confirmed.
func enter(ctx context.Context, s *store.Store, c *corpus.Corpus, session int) error {
	host := fmt.Sprintf("5b1d5a52-77a3-4d4b-9a53-%012d", session)
	var arrivals []claudemem.Arrival
	arrive := func(kind claudemem.EventKind, at claudemem.Millis, prompt string) {
		id := fmt.Sprintf("%016x%016x", session, len(arrivals))
		arrivals = append(arrivals, claudemem.Arrival{
			Key: string(kind) + ":" + id, ReceivedAt: at,
			Event: claudemem.Event{
				DeliveryID: id, Kind: kind, Host: claudemem.HostClaudeCode, HostSessionID: host, OccurredAt: at,
				ProjectPath: c.SessionProject(session), Prompt: prompt, PromptID: id,
			},
		})
	}
	each := c.Prompts() / c.Sessions()
	var outcome claudemem.Outcome
	for n := session * each; n < (session+1)*each; n++ {
		p, summary := c.Prompt(n), c.Summary(n)
		arrive(claudemem.KindPrompt, p.CreatedAt, p.Text)
		summary.ID, summary.Session = 0, 0
		outcome.Summaries = append(outcome.Summaries, summary)
	}
	arrive(claudemem.KindStop, arrivals[len(arrivals)-1].ReceivedAt+1, "")
	receipts, err := s.Enqueue(ctx, arrivals...)
	if err != nil {
		return err
	}
	first, last := c.SessionObservations(session)
	for n := first; n < last; n++ {
		o := c.Observation(n)
		o.ID, o.Session = 0, 0
		outcome.Observations = append(outcome.Observations, o)
	}
	claim, err := s.Claim(ctx, host, receipts[0].Session, len(arrivals), claudemem.MillisOf(newest))
	if err != nil {
		return err
	}
	return s.Confirm(ctx, claim, outcome)
}

// build builds the index from nothing, as after an update of the program, unless
// an earlier run has kept it.
func build(ctx context.Context, r run) (f figures, err error) {
	done := filepath.Join(r.Dir, "built")
	if _, err := os.Stat(done); err == nil && !r.Rebuild {
		return f, nil
	}
	old, err := filepath.Glob(filepath.Join(r.Dir, "index.*"))
	if err != nil {
		return f, err
	}
	for _, path := range append(old, done) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	s, err := store.Open(ctx, memoryPath(r), store.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	before := cpuTime()
	began := time.Now()
	ix, err := index.Open(ctx, indexPath(r), s, index.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if err := ix.CatchUp(ctx); err != nil {
		return f, err
	}
	f.Build, f.BuildCPU = time.Since(began), cpuTime()-before
	f.BuildPeak = memoryOf("VmHWM")
	status := ix.Status()
	f.Documents, f.Fragments = status.Documents, status.Fragments
	return f, os.WriteFile(done, nil, 0o600)
}
