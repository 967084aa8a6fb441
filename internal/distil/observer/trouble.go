package observer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"claudemem/internal/memory"
)

const (
	// probeEvery is the pause between calls to a provider that has failed for long;
	// work in between goes to the fallback. It doubles up to maxProbe.
	probeEvery = time.Minute
	maxProbe   = 30 * time.Minute
	// maxHold bounds a provider's Retry-After.
	maxHold = time.Hour
	// cappedSessions bounds the sessions whose cap is remembered.
	cappedSessions = 1000
)

// troubles records failing providers and reached caps.
type troubles struct {
	opts *ModelOptions

	mu sync.Mutex
	// away are the providers whose last call failed, by name; met are those that
	// have answered since the worker started.
	away map[string]*trouble
	met  map[string]bool
	// refusals count the requests in a row, by provider, whose answers could not be used.
	refusals map[string]int
	// cappedUntil is the end of the day whose cap was reached, cappedDay the day of
	// the last notice by cap, capped the sessions whose own cap was reached.
	cappedUntil time.Time
	cappedDay   map[memory.TokenCap]string
	capped      map[memory.SessionID]bool
}

// trouble is a series of failures that the events did not cause.
type trouble struct {
	since, last time.Time
	// hold is the time until which the provider is not asked.
	hold time.Time
	// offline says that work does not wait for the provider; probes counts the calls in
	// vain since then.
	offline bool
	probes  int
	err     error
	told    map[memory.ErrorClass]bool
}

// holdOff keeps the provider from being asked for a while after a failure: for as long as
// it asked for and, when work does not wait for it, at least until the next probe.
func (a *trouble) holdOff(now time.Time, wait time.Duration) {
	wait = min(wait, maxHold)
	if a.offline {
		wait = max(wait, min(maxProbe, probeEvery<<min(a.probes, 10)))
		a.probes++
	}
	a.hold = now.Add(wait)
}

// isOffline reports whether a session is distilled without a model at present: a token cap was
// reached, or the provider has failed for WaitFor.
func (t *troubles) isOffline(provider string, session memory.SessionID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.opts.Clock()
	if now.Before(t.cappedUntil) || t.capped[session] {
		return true
	}
	a := t.away[provider]
	return a != nil && (a.offline || now.Sub(a.since) >= t.opts.WaitFor)
}

// heldBackError returns the failure that keeps a provider from being asked now,
// nil when it may be asked.
func (t *troubles) heldBackError(provider string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := t.heldFor(provider); wait > 0 {
		return &heldBack{wait: wait, err: t.away[provider].err}
	}
	return nil
}

// heldFor returns how long a provider is not asked, 0 when it may be. The caller holds mu.
func (t *troubles) heldFor(provider string) time.Duration {
	a := t.away[provider]
	if a == nil {
		return 0
	}
	wait := a.hold.Sub(t.opts.Clock())
	if wait > maxHold { // the clock was set back
		return 0
	}
	return max(wait, 0)
}

// askAgain lets every provider be asked at once and every cap be reached anew: the
// settings have changed. How long a provider has failed stays known.
func (t *troubles) askAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.away {
		a.hold, a.probes = time.Time{}, 0
	}
	t.cappedUntil = time.Time{}
	clear(t.capped)
}

// heldBack repeats an earlier failure without a call.
type heldBack struct {
	wait time.Duration
	err  error
}

func (e *heldBack) Error() string             { return "not asked again yet, last failure: " + e.err.Error() }
func (e *heldBack) Unwrap() error             { return e.err }
func (e *heldBack) Transient() bool           { return true }
func (e *heldBack) RetryAfter() time.Duration { return e.wait }

// noteFailure records a failure and reports whether the fallback does the work
// instead. auto says that nobody has named the provider: no work waits for its login.
func (t *troubles) noteFailure(ctx context.Context, provider string, session memory.SessionID, auto bool, err error) bool {
	if capped, ok := errors.AsType[*memory.CapError](err); ok {
		t.capReached(ctx, capped.Which, session)
		return true
	}
	failed, ok := errors.AsType[*memory.ModelError](err)
	if !ok {
		return false // a failure of our own storage, or of the fallback
	}
	if !isTransient(err) {
		return t.noteRefusal(ctx, provider, failed)
	}
	t.mu.Lock()
	now := t.opts.Clock()
	a := t.away[provider]
	if a == nil || now.Sub(a.last) > max(t.opts.WaitFor, maxHold) || now.Before(a.last) {
		// The last failure is so long ago that this one begins a new series.
		a = &trouble{since: now, told: map[memory.ErrorClass]bool{}}
		t.away[provider] = a
	}
	atOnce := auto && failed.Class == memory.ClassLogin
	a.offline = a.offline || atOnce || now.Sub(a.since) >= t.opts.WaitFor
	offline := a.offline
	tell := false
	if !errors.As(err, new(*heldBack)) {
		a.last, a.err = now, failed
		a.holdOff(now, failed.Wait)
		tell = !a.told[failed.Class]
		a.told[failed.Class] = true
	}
	t.mu.Unlock()
	if tell {
		t.notify(ctx, noticeKey(provider, failed.Class), t.noticeText(provider, failed, atOnce))
	}
	return offline
}

// manyRefusals is the number of refusals in a row that make a notice. One bad event is
// refused up to three times before an event beside it is answered.
const manyRefusals = 4

// noteRefusal records that a provider refused a request for its content, as it does for
// one bad event or, when a setting does not fit the model, always. From manyRefusals on it
// reports that the fallback does the work instead, and the provider is only asked now and
// then whether it still does.
func (t *troubles) noteRefusal(ctx context.Context, provider string, failed *memory.ModelError) bool {
	t.mu.Lock()
	t.refusals[provider]++
	n := t.refusals[provider]
	if n >= manyRefusals {
		now := t.opts.Clock()
		a := cmp.Or(t.away[provider], &trouble{since: now, told: map[memory.ErrorClass]bool{}})
		t.away[provider] = a
		a.last, a.err, a.offline = now, failed, true
		a.holdOff(now, 0)
	}
	t.mu.Unlock()
	if n == manyRefusals {
		t.notify(ctx, noticeKey(provider, memory.ClassGarbage), fmt.Sprintf(
			"claude-mem: %s refuses what it is asked (%v). Sessions are remembered without a model until it answers. Run `claude-mem doctor`.", provider, failed.Err))
	}
	return n >= manyRefusals
}

// noteUnusable records two answers in a row that held nothing of what was asked for. It adds a
// notice once, when there were manyRefusals since the provider's last usable answer.
func (t *troubles) noteUnusable(ctx context.Context, provider string) {
	t.mu.Lock()
	t.refusals[provider] += 2
	tell := t.refusals[provider] >= manyRefusals && t.refusals[provider] < manyRefusals+2
	t.mu.Unlock()
	if tell {
		t.notify(ctx, noticeKey(provider, memory.ClassGarbage), fmt.Sprintf(
			"claude-mem: the answers of %s cannot be used: they are not in the form that is asked for. The events are remembered without a model. Run `claude-mem doctor`.", provider))
	}
}

// providerAnswered ends a provider's series of failures and clears its notices.
func (t *troubles) providerAnswered(ctx context.Context, provider string, session memory.SessionID) {
	t.mu.Lock()
	a := t.away[provider]
	delete(t.away, provider)
	refused := t.refusals[provider] >= manyRefusals
	delete(t.refusals, provider)
	delete(t.capped, session)
	t.cappedUntil = time.Time{}
	first := !t.met[provider]
	t.met[provider] = true
	t.mu.Unlock()
	for _, class := range []memory.ErrorClass{
		memory.ClassTransient, memory.ClassRateLimit, memory.ClassQuota, memory.ClassLogin, memory.ClassGarbage,
	} {
		// After the first answer, notices of an earlier worker are cleared as well.
		if first || a != nil && a.told[class] || refused && class == memory.ClassGarbage {
			if err := t.opts.Store.ClearNotice(ctx, noticeKey(provider, class)); err != nil {
				t.opts.Logger.Warn("clear notice", "error", err)
			}
		}
	}
}

// capReached records that a cap was reached and adds a notice once a day. That of the day counts
// until midnight, local time; either ends when the provider answers.
func (t *troubles) capReached(ctx context.Context, which memory.TokenCap, session memory.SessionID) {
	now := t.opts.Clock()
	today := now.Format(time.DateOnly)
	t.mu.Lock()
	text := "claude-mem: a session has reached its token cap (CLAUDE_MEM_SESSION_TOKEN_CAP). The rest of it is remembered without a model."
	if which == memory.CapDay {
		t.cappedUntil = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
		text = "claude-mem: the token cap of " + today + " is reached (CLAUDE_MEM_DAILY_TOKEN_CAP). Until midnight sessions are remembered without a model."
	} else {
		if len(t.capped) >= cappedSessions {
			clear(t.capped) // each is recorded again at its next call
		}
		t.capped[session] = true
		text += " (" + today + ")"
	}
	tell := t.cappedDay[which] != today
	t.cappedDay[which] = today
	t.mu.Unlock()
	if tell {
		t.notify(ctx, "cap_"+string(which), text)
	}
}

// noticeKey returns the key of a notice about a provider. The store and the status line know this form,
// and notices of an earlier worker have it.
func noticeKey(provider string, class memory.ErrorClass) string {
	return "provider_" + provider + "_" + string(class)
}

// noticeText returns the notice of a failure. The same failure has the same text,
// so that a restarted worker does not repeat it.
// atOnce says that no work waits for the provider.
func (t *troubles) noticeText(provider string, failed *memory.ModelError, atOnce bool) string {
	if atOnce {
		return fmt.Sprintf("claude-mem: %s refuses the login or is not set up (%v). Sessions are remembered without a model, and again with it once it answers. `claude-mem doctor` says what to do.",
			provider, failed.Err)
	}
	what := "does not answer."
	switch failed.Class {
	case memory.ClassLogin:
		what = fmt.Sprintf("refuses the login or is not set up (%v). Run `claude-mem doctor`.", failed.Err)
	case memory.ClassQuota:
		what = "has no quota or credit left."
	case memory.ClassRateLimit:
		what = "limits the rate of calls."
	}
	return fmt.Sprintf("claude-mem: %s %s Captured events wait; after %.0f minutes they are remembered without a model.", provider, what, t.opts.WaitFor.Minutes())
}

// notify adds a notice to the user; an error is only logged.
func (t *troubles) notify(ctx context.Context, key, text string) {
	err := detached(ctx, func(ctx context.Context) error { return t.opts.Store.AddNotice(ctx, key, text) })
	if err != nil {
		t.opts.Logger.Warn("keep notice", "key", key, "error", err)
	}
}

// Transient is an error that can say that the events of the batch are not its
// cause: no network, rate limit, quota, login. It costs the events no attempt; the
// queue retries later.
type Transient interface {
	error
	Transient() bool
}

// isTransient reports whether err, or one that it wraps, is Transient and says so. A nil one is not.
func isTransient(err error) bool {
	t, ok := errors.AsType[Transient](err)
	return ok && t.Transient()
}

// transientError makes err Transient: a failure of our own storage.
type transientError struct{ err error }

func (e transientError) Error() string   { return e.err.Error() }
func (e transientError) Unwrap() error   { return e.err }
func (e transientError) Transient() bool { return true }

// panicked returns the error for a recovered value. It quotes the runtime's own
// messages only: any other value may contain a piece of a payload, and errors are
// logged.
func panicked(value any) error {
	if err, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic of type %T", value)
}

// stack returns the panicking goroutine's stack, at most 4 KB.
func stack() string {
	s := debug.Stack()
	return string(s[:min(len(s), 4<<10)])
}
