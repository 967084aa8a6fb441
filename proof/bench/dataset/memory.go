// Package dataset makes the memories that benchmarks ask: those of package corpus,
// entered as a host's sessions are (prompts, turns, what came of them), with their
// index. A folder that holds one already is left as it is.
package dataset

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

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/proof/bench/timing"
	"claudemem/proof/corpus"
)

// Newest is when the newest observation was made. It does not move with the clock,
// so that a memory that was kept is that of the next run too.
var Newest = time.Date(2026, 10, 31, 18, 0, 0, 0, time.UTC)

// Memory says which memory, and where its files are.
type Memory struct {
	Dir          string `json:"dir"`
	Observations int    `json:"observations"`
	Seed         uint64 `json:"seed"`
}

// Corpus is what the memory is made of.
func (m Memory) Corpus() *corpus.Corpus {
	return corpus.New(m.Seed, m.Observations, memory.MillisOf(Newest))
}

// Path and IndexPath are its files, named as a worker names them.
func (m Memory) Path() string      { return filepath.Join(m.Dir, "memory.db") }
func (m Memory) IndexPath() string { return filepath.Join(m.Dir, "index.db") }

// fillers is how many sessions are entered at the same time; they share commits.
const fillers = 16

// Fill enters the corpus and tells how long that took, 0 when an earlier run has
// done it.
func (m Memory) Fill(ctx context.Context) (took time.Duration, err error) {
	done := filepath.Join(m.Dir, "filled")
	if _, err := os.Stat(done); err == nil {
		return 0, nil
	}
	// What a run left that was broken off is of no use.
	if err := os.RemoveAll(m.Dir); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return 0, err
	}
	s, err := store.Open(ctx, m.Path(), store.Options{})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	c := m.Corpus()
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
		return 0, err
	}
	took = time.Since(began)
	return took, os.WriteFile(done, nil, 0o600)
}

// enter takes a session the way of a live one: its prompts and the end of its last
// turn arrive, the turn is claimed, what came of it is confirmed.
func enter(ctx context.Context, s *store.Store, c *corpus.Corpus, session int) error {
	host := fmt.Sprintf("5b1d5a52-77a3-4d4b-9a53-%012d", session)
	var arrivals []memory.Arrival
	arrive := func(kind memory.EventKind, at memory.Millis, prompt string) {
		id := fmt.Sprintf("%016x%016x", session, len(arrivals))
		arrivals = append(arrivals, memory.Arrival{
			Key: string(kind) + ":" + id, ReceivedAt: at,
			Event: memory.Event{
				DeliveryID: id, Kind: kind, Host: memory.HostClaudeCode, HostSessionID: host, OccurredAt: at,
				ProjectPath: c.SessionProject(session), Prompt: prompt, PromptID: id,
			},
		})
	}
	each := c.Prompts() / c.Sessions()
	var outcome memory.Outcome
	for n := session * each; n < (session+1)*each; n++ {
		p, summary := c.Prompt(n), c.Summary(n)
		arrive(memory.KindPrompt, p.CreatedAt, p.Text)
		summary.ID, summary.Session = 0, 0
		outcome.Summaries = append(outcome.Summaries, summary)
	}
	arrive(memory.KindStop, arrivals[len(arrivals)-1].ReceivedAt+1, "")
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
	claim, err := s.Claim(ctx, host, receipts[0].Session, len(arrivals), memory.MillisOf(Newest))
	if err != nil {
		return err
	}
	return s.Confirm(ctx, claim, outcome)
}

// Built tells how an index came to be; it is zero when an earlier run has kept it.
type Built struct {
	Took      time.Duration
	CPU       time.Duration
	Documents int
	Fragments int
}

// Build builds the index from nothing, as after an update of the program, unless
// an earlier run has kept it and it is not to be built anew.
func (m Memory) Build(ctx context.Context, anew bool) (b Built, err error) {
	done := filepath.Join(m.Dir, "built")
	if _, err := os.Stat(done); err == nil && !anew {
		return b, nil
	}
	old, err := filepath.Glob(filepath.Join(m.Dir, "index.*"))
	if err != nil {
		return b, err
	}
	for _, path := range append(old, done) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
	}
	s, err := store.Open(ctx, m.Path(), store.Options{})
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	before := timing.CPU()
	began := time.Now()
	ix, err := index.Open(ctx, m.IndexPath(), s, index.Options{})
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if err := ix.CatchUp(ctx); err != nil {
		return b, err
	}
	status := ix.Status()
	b = Built{time.Since(began), timing.CPU() - before, status.Documents, status.Fragments}
	return b, os.WriteFile(done, nil, 0o600)
}
