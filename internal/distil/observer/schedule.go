package observer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claudemem/internal/memory"
)

// storageRetry is the pause after a failure of the queue. The next arrival ends it
// sooner.
const storageRetry = time.Second

// lookCostFactor is the pause before the next look at the backlog, as a multiple
// of the time that the last one took: a long backlog under many arrivals costs a
// twentieth of a processor, not all of it. A look takes 0.2 ms, with 900 events that wait 1 ms.
const lookCostFactor = 19

// scheduler is the state of the scheduling goroutine; no other goroutine uses it.
type scheduler struct {
	o     *Observer
	lanes map[memory.SessionID]*lane
	// line holds the sessions that are due, in the order in which they became due.
	line    []memory.SessionID
	running int
	// signals counts the queue's signals.
	signals int
	// finished has room for every running lane, so that none waits to report.
	finished chan laneResult
	redo     redoState
}

// lane is a session with work.
type lane struct {
	state laneState
	plan  plan
	// flush counts the requests for this session's open turn; 0 = none is open. They are for the turns
	// up to flushed, the latest one then: events of a later turn came after the request.
	flush, flushed int
	// prompts is the session's number of prompts at the last look.
	prompts int
	// startedFlush and startedSignals are the counts at the time of the running
	// batch's claim.
	startedFlush, startedSignals int
	// stalled: a claim came back empty, because another claimer holds the oldest
	// event. The queue signals when that changes.
	stalled bool
	// notBefore is the end of the pause after a storage failure, on the monotonic
	// clock.
	notBefore time.Time
	// newest is the time of the last arrival, seenAt when the scheduler saw it, on
	// the monotonic clock: quiet time passes even when the time of day is set back.
	newest memory.Millis
	seenAt time.Time
	// endSeen is when the scheduler saw that the session has ended, zero while it goes on.
	endSeen time.Time
}

type laneState int

const (
	laneIdle laneState = iota
	laneWaiting
	laneRunning
)

// plan is the claim to make for a session.
type plan struct {
	limit int
	// open includes the turn that is still going on.
	open bool
}

// laneResult is the result of a lane's batch.
type laneResult struct {
	session memory.SessionID
	// all: the claim held everything that was due.
	all bool
	// empty: there was nothing to claim. failed: the queue did not answer.
	empty, failed bool
}

// newScheduler returns the scheduler of o, which run starts.
func newScheduler(o *Observer) *scheduler {
	return &scheduler{
		o:        o,
		lanes:    make(map[memory.SessionID]*lane),
		finished: make(chan laneResult, o.opts.MaxObservers),
		redo:     redoState{done: make(chan time.Duration, 1)},
	}
}

// run starts due batches whenever something may have become due, until ctx ends and
// those that run have ended.
func (s *scheduler) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var rested time.Time // the earliest next look
	for {
		select {
		case <-ctx.Done():
			for ; s.running > 0; s.running-- {
				<-s.finished
			}
			if s.redo.cancel != nil {
				<-s.redo.done
			}
			return
		case <-s.o.queue.Ready():
			s.signals++
			for _, l := range s.lanes {
				l.stalled = false
			}
			if now := time.Now(); rested.Before(now) {
				rested = now.Add(s.o.opts.LookAfter)
			}
		case <-s.o.wake:
			rested = time.Time{} // somebody waits
		case r := <-s.finished:
			s.finish(r)
			s.redo.look = time.Time{} // the model may answer again
		case pause := <-s.redo.done:
			s.redo.finished(pause)
		case <-timer.C:
		}
		if ctx.Err() != nil {
			continue
		}
		timer.Stop()
		start := time.Now()
		if early := rested.Sub(start); early > 0 {
			s.startWaiting(ctx) // they are due since the last look
			timer.Reset(early)
			continue
		}
		next := s.pass(ctx)
		rested = start.Add((1 + lookCostFactor) * time.Since(start))
		if next > 0 {
			timer.Reset(next)
		}
	}
}

// pass reads the backlog, puts due sessions in line, starts as many as may run,
// and answers waiters when the queue is idle. It returns the time after which to
// look again without being woken, 0 for never.
func (s *scheduler) pass(ctx context.Context) time.Duration {
	requests, waiters := s.o.takeRequests()
	backlog, err := s.o.queue.Backlog(ctx)
	if err != nil {
		s.o.giveBackRequests(requests)
		if ctx.Err() == nil {
			s.o.opts.Logger.Error("list backlog", "error", err)
		}
		return storageRetry
	}
	s.apply(requests, backlog)

	now := memory.MillisOf(s.o.opts.Clock())
	var next time.Duration
	held := false // a lane whose storage failed is neither due nor idle
	listed := make(map[memory.SessionID]bool, len(backlog))
	for i := range backlog {
		b := &backlog[i]
		id := b.Session.ID
		listed[id] = true
		l := s.lane(id)
		if l.state != laneIdle {
			continue
		}
		due, wait := s.o.due(b, l, now)
		held = held || time.Until(l.notBefore) > 0
		if due {
			l.state = laneWaiting
			s.line = append(s.line, id)
		} else if wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	for id, l := range s.lanes {
		if l.state == laneIdle && !listed[id] {
			delete(s.lanes, id)
		}
	}
	// A redo takes one of MaxObservers, which fresh work needs: the turn is redone later. Until it
	// has ended one more may run.
	if s.running+len(s.line) >= s.o.opts.MaxObservers && len(s.line) > 0 && s.redo.cancel != nil {
		s.redo.cancel()
	}
	s.startWaiting(ctx)
	if s.running == 0 && !held {
		for _, idle := range waiters {
			close(idle)
			s.o.forget(idle)
		}
	}
	if s.o.unread.Swap(false) { // a person asked for the kept turns (RetryUnread)
		s.redo.rest, s.redo.look = time.Time{}, time.Time{}
	}
	if s.running == 0 && len(s.line) == 0 {
		if wait := s.redo.next(ctx, s.o); wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// lane returns the lane of a session, a new one if there is none.
func (s *scheduler) lane(id memory.SessionID) *lane {
	l := cmp.Or(s.lanes[id], &lane{})
	s.lanes[id] = l
	return l
}

// apply counts flush requests in their lanes. A session that is not in the backlog
// has nothing to flush, unless a batch of it is being distilled.
func (s *scheduler) apply(requests []flushRequest, backlog []memory.Backlog) {
	for i := range backlog {
		session := &backlog[i].Session
		l := s.lane(session.ID)
		l.prompts = session.PromptCount
		for _, r := range requests {
			if r.session == 0 && r.project == session.ProjectPath && r.except != session.ID && session.StartedAt <= r.at {
				l.flush, l.flushed = l.flush+1, session.PromptCount
			}
		}
	}
	for _, r := range requests {
		if l := s.lanes[r.session]; r.session != 0 && l != nil {
			l.flush, l.flushed = l.flush+1, l.prompts
		}
	}
}

// startWaiting starts the sessions that are due, as many as may run.
func (s *scheduler) startWaiting(ctx context.Context) {
	for s.running < s.o.opts.MaxObservers && len(s.line) > 0 {
		id := s.line[0]
		s.line = s.line[1:]
		s.start(ctx, id, s.lanes[id])
	}
}

// start works on the planned batch of a lane in a goroutine, which reports to
// s.finished.
func (s *scheduler) start(ctx context.Context, id memory.SessionID, l *lane) {
	l.state, l.startedFlush, l.startedSignals = laneRunning, l.flush, s.signals
	s.running++
	p := l.plan
	go func() { s.finished <- s.o.workBatch(ctx, id, p) }()
}

// finish records that a lane's batch has ended and frees its observer: the lane becomes
// idle; after an empty claim it is stalled until the queue signals; after a storage
// failure it pauses; a flush that took all events in is done. It starts no other batch.
func (s *scheduler) finish(r laneResult) {
	s.running--
	l := s.lanes[r.session]
	l.state = laneIdle
	l.stalled = r.empty && l.startedSignals == s.signals // a signal since may have changed that
	if r.failed {
		l.notBefore = time.Now().Add(storageRetry)
	}
	if r.all && l.flush == l.startedFlush {
		l.flush = 0
	}
}

// due decides whether a session's turn has come and stores the plan in its lane.
// If it has not, wait is when time alone will make it due, 0 for never.
func (o *Observer) due(b *memory.Backlog, l *lane, now memory.Millis) (due bool, wait time.Duration) {
	n := b.Tools + b.Stops
	if b.NewestAt != l.newest {
		l.newest, l.seenAt = b.NewestAt, time.Now()
	}
	if n == 0 || l.stalled {
		return false, 0
	}
	if hold := time.Until(l.notBefore); hold > 0 {
		return false, hold
	}
	if !o.opts.BatchingEnabled {
		l.plan = plan{limit: 1, open: true}
		return true, 0
	}
	limit := o.opts.BatchMaxSize
	if l, ok := o.distiller.(Limiter); ok {
		limit = cmp.Or(l.MaxEvents(b.Session), limit)
	}
	if bytes := o.opts.BatchMaxBytes; b.Bytes > bytes {
		limit = max(1, min(limit, n*bytes/b.Bytes))
	}
	quiet := min(
		b.NewestAt.Add(quietAfter).Sub(now),
		quietAfter-time.Since(l.seenAt),
	)
	switch {
	case b.Session.Status == memory.SessionActive, b.Session.Status == "":
		l.endSeen = time.Time{}
	case l.endSeen.IsZero():
		l.endSeen = time.Now()
	}
	if !l.endSeen.IsZero() {
		quiet = min(quiet, ClosingAfter-time.Since(l.endSeen))
	}
	l.plan = plan{limit: limit}
	if b.OldestPrompt > l.flushed {
		l.flush = 0 // what it was for is distilled
	}
	switch {
	case l.flush > 0, n >= limit, quiet <= 0:
		l.plan.open = true
		return true, 0
	case b.Stops > 0, b.OldestPrompt < b.Session.PromptCount:
		return true, 0
	}
	return false, quiet
}

// takeRequests removes and returns the flush requests, and returns the waiters.
func (o *Observer) takeRequests() ([]flushRequest, []chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	requests := o.requests
	o.requests = nil
	return requests, slices.Clone(o.waiters)
}

// giveBackRequests puts back requests that could not be served.
func (o *Observer) giveBackRequests(requests []flushRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(requests, o.requests...)
}
