package observer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Retries of the observer's own writes.
const (
	// detachedTimeout bounds a write after Close was called.
	detachedTimeout = 5 * time.Second
	// confirmTries and confirmPause bridge a short storage failure (a full disk, a
	// lock) without paying a model twice for the same outcome.
	confirmTries = 4
	confirmPause = 200 * time.Millisecond
	// giveBackPause grows to maxGiveBackPause. A claim that is not returned blocks
	// its session until the worker restarts, so returning it is tried until Close.
	giveBackPause    = time.Second
	maxGiveBackPause = 30 * time.Second
)

// workBatch claims one batch of a session, of p.limit events and the stop behind them, and distils
// it. Before, it takes off the queue what the settings no longer allow, and gives back the turn
// that is still going on, unless p.open, and a last turn that the limit has cut. No claim is left
// when it returns.
func (o *Observer) workBatch(ctx context.Context, session memory.SessionID, p plan) laneResult {
	result := laneResult{session: session}
	claim, err := o.queue.Claim(ctx, session, p.limit+o.stopsBeside())
	if err != nil {
		if ctx.Err() == nil {
			o.opts.Logger.Error("claim batch", "session", session, "error", err)
		}
		result.failed = true
		return result
	}
	if len(claim.Events) > p.limit && p.limit < wholeTurnEvents && !slices.ContainsFunc(claim.Events, isOnline) {
		// The limit is for a model's request; rules are given whole turns.
		o.release(ctx, claim)
		p.limit = wholeTurnEvents
		return o.workBatch(ctx, session, p)
	}
	if len(claim.Events) == 0 {
		result.empty = true
		return result
	}
	result.all = len(claim.Events) < p.limit
	if claim = o.renew(ctx, claim); len(claim.Events) == 0 {
		return result
	}
	if n := len(claim.Events); n > p.limit && claim.Events[n-1].Event.Kind != memory.KindStop {
		o.release(ctx, subClaim(claim, n-1, n))
		claim = subClaim(claim, 0, n-1)
	}
	all := len(claim.Events)
	end := all
	switch {
	case !p.open:
		end = closedTurns(claim)
	case !result.all:
		end = wholeTurns(claim.Events)
	}
	if end < all {
		o.release(ctx, subClaim(claim, end, all))
		claim = subClaim(claim, 0, end)
	}
	o.opts.Mark(session, claim.Events)
	for len(claim.Events) > 0 {
		n := firstTurn(claim.Events)
		turn := subClaim(claim, 0, n)
		claim = subClaim(claim, n, len(claim.Events))
		if o.finishClaim(ctx, turn) {
			continue
		}
		result.all = false
		if len(claim.Events) > 0 {
			o.release(ctx, claim)
		}
		break
	}
	return result
}

// firstTurn returns how many of a claim's events are distilled first: those up to the first stop, or
// of the first turn and of the turns whose events lie among its own. So an observer that was late
// makes the same records as one that was called at each turn's end.
func firstTurn(events []memory.PendingEvent) int {
	n := 1
	for i := 0; i < n; i++ {
		if events[i].Event.Kind == memory.KindStop {
			return i + 1
		}
		for j := n; j < len(events); j++ {
			if events[j].PromptNumber == events[i].PromptNumber {
				n = j + 1
			}
		}
	}
	return n
}

// renew returns a claim as the settings have it now: events that the user no longer wants
// captured are taken off the queue as skipped.
func (o *Observer) renew(ctx context.Context, claim memory.Claim) memory.Claim {
	left, skipped := claim, map[string][]memory.PendingEvent{}
	left.Events = nil
	for i := range claim.Events {
		e := &claim.Events[i]
		if reason := o.opts.Renew(e); reason != "" {
			skipped[reason] = append(skipped[reason], *e)
		} else {
			left.Events = append(left.Events, *e)
		}
	}
	for reason, events := range skipped {
		part := claim
		part.Events = events
		o.opts.Logger.Info("waiting events skipped: no longer captured", "session", claim.Session.ID, "events", len(events), "reason", reason)
		o.giveBack(ctx, part, func(ctx context.Context) error { return o.queue.Skip(ctx, part, reason) })
	}
	return left
}

// stopsBeside returns how many events a claim may take beyond its limit if they end the
// turn: a limit counts what a prompt shows, and a stop alone would take a call of its own.
func (o *Observer) stopsBeside() int {
	if o.opts.BatchingEnabled {
		return 1
	}
	return 0
}

// closedTurns returns how many of a claim's events belong to finished turns, which are
// distilled without the one that is still going on: a turn's findings are only clear at
// its end. It returns all if there is no other turn.
func closedTurns(claim memory.Claim) int {
	for i := range slices.Backward(claim.Events) {
		if e := &claim.Events[i]; e.Event.Kind == memory.KindStop || e.PromptNumber < claim.Session.PromptCount {
			return i + 1
		}
	}
	return len(claim.Events)
}

// wholeTurns returns how many events come before a last turn that the claim's limit has
// cut: distilled in two parts, it would be asked about twice. It returns all if there is no
// such turn, or no other one.
func wholeTurns(events []memory.PendingEvent) int {
	last := len(events) - 1
	begin := last
	for begin > 0 && events[begin-1].PromptNumber == events[last].PromptNumber {
		begin--
	}
	if begin == 0 || events[last].Event.Kind == memory.KindStop {
		return len(events)
	}
	return begin
}

// subClaim returns a claim of some of the claim's events, which may be confirmed or given back by itself.
func subClaim(claim memory.Claim, from, to int) memory.Claim {
	claim.Events = claim.Events[from:to:to]
	return claim
}

// finishClaim confirms, gives back or buries a claim. From the third attempt on it looks for the
// event that is at fault. It reports whether the events are off the queue.
func (o *Observer) finishClaim(ctx context.Context, claim memory.Claim) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			err := panicked(r)
			o.opts.Logger.Error("observe batch", "session", claim.Session.ID, "error", err, "stack", stack())
			o.retry(ctx, claim, err, true)
			done = false
		}
	}()
	attempts := slices.MaxFunc(claim.Events, func(a, b memory.PendingEvent) int { return a.Attempts - b.Attempts }).Attempts
	if attempts >= 2 && len(claim.Events) > 1 {
		return o.bisect(ctx, claim, nil)
	}
	failure, done := o.attempt(ctx, claim)
	switch {
	case failure == nil:
		return done
	case attempts < 2:
		o.retry(ctx, claim, failure, true)
		return false
	}
	return o.distilOrBury(ctx, claim, failure)
}

// bisect distils the halves of a claim that failed as a whole, with cause. When one half
// fails it is bisected in its turn until the bad event is found, which goes to the
// fallback; the other events are distilled, for about two attempts at each
// halving. When both halves fail, no single event is the cause, and the fallback
// takes all.
func (o *Observer) bisect(ctx context.Context, claim memory.Claim, cause error) bool {
	n := len(claim.Events)
	if n == 1 {
		return o.distilOrBury(ctx, claim, cause)
	}
	first, second := subClaim(claim, 0, n/2), subClaim(claim, n/2, n)
	firstErr, done := o.attempt(ctx, first)
	if !done && firstErr == nil {
		o.release(ctx, second)
		return false
	}
	secondErr, done := o.attempt(ctx, second)
	switch {
	case firstErr != nil && secondErr != nil:
		return o.buryHalves(ctx, claim, secondErr)
	case firstErr != nil && !done:
		o.release(ctx, first)
		return false
	case firstErr != nil:
		return o.bisect(ctx, first, firstErr)
	case secondErr != nil:
		return o.bisect(ctx, second, secondErr)
	}
	return done
}

// buryHalves calls distilOrBury for a claim's halves, which failed with cause, one after the
// other. When the first half went back to the queue, the second goes back behind it, so
// that the order is kept.
func (o *Observer) buryHalves(ctx context.Context, claim memory.Claim, cause error) bool {
	n := len(claim.Events)
	if !o.distilOrBury(ctx, subClaim(claim, 0, n/2), cause) {
		o.release(ctx, subClaim(claim, n/2, n))
		return false
	}
	return o.distilOrBury(ctx, subClaim(claim, n/2, n), cause)
}

// distilOrBury has the fallback distil a claim that failed with cause, in ever smaller
// parts after failures so that one bad event takes no good one with it, and buries the
// events that it fails on.
func (o *Observer) distilOrBury(ctx context.Context, claim memory.Claim, cause error) bool {
	failure, done := o.distilAndConfirm(ctx, o.opts.Fallback, claim, memory.UnreadReasonOf(cause))
	switch {
	case failure == nil:
		return done
	case len(claim.Events) > 1:
		return o.buryHalves(ctx, claim, cause)
	}
	o.opts.Logger.Error("bury events", "session", claim.Session.ID, "events", len(claim.Events), "error", failure)
	o.giveBack(ctx, claim, func(ctx context.Context) error { return o.queue.Bury(ctx, claim, failure) })
	return true
}

// attempt is distilAndConfirm by the distiller itself, and logs a failure.
func (o *Observer) attempt(ctx context.Context, claim memory.Claim) (failure error, done bool) {
	failure, done = o.distilAndConfirm(ctx, o.distiller, claim, "")
	if failure != nil {
		o.opts.Logger.Warn("distil batch", "session", claim.Session.ID, "events", len(claim.Events), "error", failure)
	}
	return failure, done
}

// distilAndConfirm distils a claim and stores the outcome, and with it why no model has
// read the events, unless unread is "". It returns a failure that the events caused, and goes on
// holding them; after any other they are given back for later. done says whether they are off the queue.
func (o *Observer) distilAndConfirm(ctx context.Context, d Distiller, claim memory.Claim, unread memory.UnreadReason) (failure error, done bool) {
	batch, err := o.batch(ctx, claim)
	if err != nil {
		o.retry(ctx, claim, err, false)
		return nil, false
	}
	outcome, err := distil(ctx, Marking{d, o.store}, batch)
	if err == nil {
		if unread != "" {
			outcome.Unread = markUnread(outcome.Unread, claim.Events, unread)
		}
		err = o.confirm(ctx, claim, outcome)
	}
	switch {
	case err == nil:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lines = append(o.lines, outcome.Lines...)
		o.lines = o.lines[max(0, len(o.lines)-knownTurns):]
		return nil, true
	case isTransient(err):
		o.retry(ctx, claim, err, false)
		return nil, false
	case ctx.Err() != nil:
		o.release(ctx, claim)
		return nil, false
	}
	return err, false
}

// batch returns a claim with the prompts and the stored observations of its turns, the
// observations nearby, and what the session's last turns changed.
func (o *Observer) batch(ctx context.Context, claim memory.Claim) (memory.Batch, error) {
	symbols.Later(ctx, claim.Events)
	if err := symbols.Undone(ctx, &claim.Session, claim.Events, func(ctx context.Context) ([]memory.SymbolChange, error) {
		changes, _, err := o.store.Symbols(ctx, memory.Query{Session: claim.Session.ID}, "")
		slices.Reverse(changes) // the oldest first
		return changes, err
	}); err != nil {
		return memory.Batch{}, err
	}
	b, err := o.store.Batch(ctx, claim.Session, claim.Events)
	o.mu.Lock()
	defer o.mu.Unlock()
	b.Lines = slices.DeleteFunc(slices.Clone(o.lines), func(l memory.TurnLines) bool { return l.Session != claim.Session.ID })
	return b, err
}

// confirm stores the outcome and takes the events off the queue. A conflict counts
// as success: another worker has confirmed the claim. A storage failure is
// returned as Transient; any other error says that this outcome cannot be stored.
func (o *Observer) confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error {
	outcome.Symbols = collect.Flat(claim.Events, func(e memory.PendingEvent) []memory.SymbolChange { return e.Symbols })
	symbols.About(outcome.Observations, claim.Events)
	assignToSession(claim.Session, claim.Events, &outcome)
	err := persist(ctx, func(ctx context.Context) error { return o.queue.Confirm(ctx, claim, outcome) })
	if memory.CodeOf(err) == memory.CodeConflict {
		return nil
	}
	return err
}

// persist writes an outcome, again after a storage failure; one that lasts is returned as
// Transient.
func persist(ctx context.Context, write func(context.Context) error) error {
	for try := 1; ; try++ {
		err := detached(ctx, write)
		if err == nil || !storageFault(err) {
			return err
		}
		if try == confirmTries || model.Sleep(ctx, confirmPause<<try) != nil {
			return transientError{err}
		}
	}
}

// assignToSession sets the session and the project of all records of an outcome. An observation is of
// the project of its turn, since a session may be resumed in another one; learnings are too if all
// events are.
func assignToSession(session memory.Session, events []memory.PendingEvent, outcome *memory.Outcome) {
	projects := projectsOfTurns(&session, events)
	for i := range outcome.Observations {
		o := &outcome.Observations[i]
		o.Session, o.ProjectPath = session.ID, cmp.Or(projects[o.PromptNumber], session.ProjectPath)
	}
	all := slices.Compact(slices.Sorted(maps.Values(projects)))
	learnt := session.ProjectPath
	if len(all) == 1 {
		learnt = cmp.Or(all[0], learnt)
	}
	for i := range outcome.Summaries {
		outcome.Summaries[i].Session = session.ID
	}
	for i := range outcome.Learnings {
		l := &outcome.Learnings[i]
		l.ProjectPath = learnt
		if l.CreatedAt == 0 && len(events) > 0 { // by its time a learning is forgotten with its session
			l.CreatedAt = events[len(events)-1].Event.OccurredAt
		}
	}
	for i := range outcome.Symbols {
		outcome.Symbols[i].Session = session.ID
	}
}

// projectsOfTurns returns the projects of the turns that have one, by the numbers of their prompts; none
// for a turn whose events are of several.
func projectsOfTurns(session *memory.Session, events []memory.PendingEvent) map[int]string {
	projects := map[int]string{}
	for i := range events {
		turn, project := events[i].PromptNumber, cmp.Or(events[i].Event.ProjectPath, session.ProjectPath)
		if known, ok := projects[turn]; ok && known != project {
			project = ""
		}
		projects[turn] = project
	}
	return projects
}

// retry gives a claim back to the queue to be tried again later; counted adds to its
// attempts, which are limited. When the observer closes, it is due at once: what the cause
// calls a lack is its own end.
func (o *Observer) retry(ctx context.Context, claim memory.Claim, cause error, counted bool) {
	if !counted && ctx.Err() != nil {
		o.release(ctx, claim)
		return
	}
	if !counted {
		o.opts.Logger.Warn("postpone batch", "session", claim.Session.ID, "events", len(claim.Events), "error", cause)
	}
	o.giveBack(ctx, claim, func(ctx context.Context) error { return o.queue.Retry(ctx, claim, cause, counted) })
}

// release gives a claim back to the queue untouched: no attempt is counted, and it is due at once.
func (o *Observer) release(ctx context.Context, claim memory.Claim) {
	o.giveBack(ctx, claim, func(ctx context.Context) error { return o.queue.Release(ctx, claim) })
}

// giveBack returns a claim by how, and repeats it until that succeeds. Once ctx
// has ended it tries a last time; the next worker heals what is still claimed
// then.
func (o *Observer) giveBack(ctx context.Context, claim memory.Claim, how func(context.Context) error) {
	for wait := giveBackPause; ; wait = min(2*wait, maxGiveBackPause) {
		err := detached(ctx, how)
		if err == nil || memory.CodeOf(err) == memory.CodeConflict {
			return
		}
		o.opts.Logger.Error("give claim back", "session", claim.Session.ID, "events", len(claim.Events), "error", err)
		if ctx.Err() != nil {
			return
		}
		_ = model.Sleep(ctx, wait) // tried once more when ctx has ended
	}
}

// detached runs a write that Close must not interrupt.
func detached(ctx context.Context, write func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
	defer cancel()
	return write(ctx)
}

// distil calls a distiller and returns its panic as an error.
func distil(ctx context.Context, d Distiller, batch memory.Batch) (outcome memory.Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			outcome, err = memory.Outcome{}, panicked(r)
		}
	}()
	return d.Distil(ctx, batch)
}

// storageFault reports whether an error is of the storage or of time, not of the batch.
func storageFault(err error) bool {
	code := memory.CodeOf(err)
	return code == memory.CodeStorage || code == memory.CodeUnavailable ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
