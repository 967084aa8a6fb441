package observer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claudemem"
)

// storageRetry is how long to wait before asking a queue again that could not
// answer. The next arrival asks sooner.
const storageRetry = time.Second

// lookCostFactor is how many times as long as a look at the backlog took the next one is
// put off, so that a long backlog under a storm of arrivals costs a fifth of a
// processor and not all of it. A usual look takes 0.2 ms.
const lookCostFactor = 4

// scheduler is the state of the scheduling goroutine; nobody else touches it.
type scheduler struct {
	o     *Observer
	lanes map[claudemem.SessionID]*lane
	// line holds the sessions that are due, in the order in which they became so.
	line    []claudemem.SessionID
	running int
	// signals counts what the queue has signalled.
	signals int
	// finished has room for every running lane: none ever waits to report.
	finished chan laneResult
}

// lane is a session with work.
type lane struct {
	state laneState
	plan  plan
	// flush counts the requests for this session's open turn; 0 = none is open.
	flush int
	// startedFlush and startedSignals are the counts when the running batch was claimed.
	startedFlush, startedSignals int
	// stalled means that a claim came back empty: somebody else holds the oldest
	// event. The queue signals when that changes.
	stalled bool
	// notBefore holds a lane back whose storage failed; monotonic too.
	notBefore time.Time
	// newest and seenAt are the last arrival and when we learnt of it, on the
	// monotonic clock: quiet time passes even when the time of day is set back.
	newest claudemem.Millis
	seenAt time.Time
}

type laneState int

const (
	laneIdle laneState = iota
	laneWaiting
	laneRunning
)

// plan is what to take from a session.
type plan struct {
	limit int
	// open takes the turn that is still going on as well.
	open bool
}

// laneResult is what came of a lane's turn in work.
type laneResult struct {
	session claudemem.SessionID
	// all says that the claim held everything that was due.
	all bool
	// empty says that there was nothing to claim, failed that the queue did not answer.
	empty, failed bool
}

func newScheduler(o *Observer) *scheduler {
	return &scheduler{
		o:        o,
		lanes:    make(map[claudemem.SessionID]*lane),
		finished: make(chan laneResult, o.opts.MaxObservers),
	}
}

func (s *scheduler) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var rested time.Time // when the next look may be
	for {
		select {
		case <-ctx.Done():
			for ; s.running > 0; s.running-- {
				<-s.finished
			}
			return
		case <-s.o.queue.Ready():
			s.signals++
			for _, l := range s.lanes {
				l.stalled = false
			}
		case <-s.o.wake:
		case r := <-s.finished:
			s.finish(r)
		case <-timer.C:
		}
		if ctx.Err() != nil {
			continue
		}
		timer.Stop()
		start := time.Now()
		if early := rested.Sub(start); early > 0 {
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

// pass looks at the backlog, puts the sessions that are due in line, starts as
// many as may run, and tells those who wait for an idle queue. It returns after
// what time to look again without being woken, 0 = never.
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
	s.apply(requests, waiters, backlog)

	now := claudemem.MillisOf(s.o.opts.Clock())
	var next time.Duration
	held := false // a lane whose storage failed is neither due nor idle
	listed := make(map[claudemem.SessionID]bool, len(backlog))
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
	for s.running < s.o.opts.MaxObservers && len(s.line) > 0 {
		id := s.line[0]
		s.line = s.line[1:]
		s.start(ctx, id, s.lanes[id])
	}
	if s.running == 0 && !held {
		for _, w := range waiters {
			close(w.done)
			s.o.forget(w)
		}
	}
	return next
}

func (s *scheduler) lane(id claudemem.SessionID) *lane {
	l := s.lanes[id]
	if l == nil {
		l = &lane{}
		s.lanes[id] = l
	}
	return l
}

// apply notes flush requests with the lanes that they concern. What is not in the
// backlog has nothing to flush, unless it is in work just now.
func (s *scheduler) apply(requests []flushRequest, waiters []*waiter, backlog []claudemem.Backlog) {
	everything := slices.ContainsFunc(waiters, func(w *waiter) bool { return w.openTurns })
	for _, r := range requests {
		if l := s.lanes[r.session]; r.session != 0 && l != nil {
			l.flush++
		}
	}
	for i := range backlog {
		session := &backlog[i].Session
		_, known := s.lanes[session.ID]
		l := s.lane(session.ID)
		for _, r := range requests {
			if r.session == session.ID && r.session != 0 && !known {
				l.flush++
			}
			if r.session == 0 && r.project == session.ProjectPath && r.except != session.ID {
				l.flush++
			}
		}
		if everything && l.flush == 0 {
			l.flush = 1
		}
	}
}

func (s *scheduler) start(ctx context.Context, id claudemem.SessionID, l *lane) {
	l.state, l.startedFlush, l.startedSignals = laneRunning, l.flush, s.signals
	s.running++
	p := l.plan
	go func() { s.finished <- s.o.workBatch(ctx, id, p) }()
}

func (s *scheduler) finish(r laneResult) {
	s.running--
	l := s.lanes[r.session]
	l.state = laneIdle
	l.stalled = r.empty && l.startedSignals == s.signals // else things may have changed since
	if r.failed {
		l.notBefore = time.Now().Add(storageRetry)
	}
	if r.all && l.flush == l.startedFlush {
		l.flush = 0
	}
}

// due decides whether a session's turn has come and notes the plan for it in the
// lane; if it has not, wait is when time alone will bring it, 0 = never.
func (o *Observer) due(b *claudemem.Backlog, l *lane, now claudemem.Millis) (due bool, wait time.Duration) {
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
	limit, bytes := o.limits(b.Session)
	if b.Bytes > bytes {
		limit = max(1, min(limit, n*bytes/b.Bytes))
	}
	quiet := min(
		b.NewestAt.Add(o.opts.QuietAfter).Sub(now),
		o.opts.QuietAfter-time.Since(l.seenAt),
	)
	l.plan = plan{limit: limit}
	switch {
	case l.flush > 0,
		n >= limit,
		b.Session.Status != claudemem.SessionActive && b.Session.Status != "",
		quiet <= 0:
		l.plan.open = true
		return true, 0
	case b.Stops > 0, b.OldestPrompt < b.Session.PromptCount:
		return true, 0
	}
	return false, quiet
}

// limits is how many events and bytes a batch of a session may have.
func (o *Observer) limits(session claudemem.Session) (events, bytes int) {
	if l, ok := o.distiller.(Limiter); ok {
		events, bytes = l.Limits(session)
	}
	return cmp.Or(events, o.opts.BatchMaxSize), cmp.Or(bytes, o.opts.BatchMaxBytes)
}

// takeRequests returns the flush requests, which are then the caller's, and those who wait.
func (o *Observer) takeRequests() ([]flushRequest, []*waiter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	requests := o.requests
	o.requests = nil
	return requests, slices.Clone(o.waiters)
}

// giveBackRequests keeps requests that could not be looked at.
func (o *Observer) giveBackRequests(requests []flushRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(requests, o.requests...)
}
