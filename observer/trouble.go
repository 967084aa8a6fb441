package observer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"claudemem"
)

const (
	// probeEvery is the pause between calls to a provider that has failed for long;
	// work in between goes to the fallback.
	probeEvery = time.Minute
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
	cappedDay   map[claudemem.TokenCap]string
	capped      map[claudemem.SessionID]bool
}

// trouble is a series of failures that the events did not cause.
type trouble struct {
	since, last time.Time
	// hold is the time until which the provider is not asked.
	hold time.Time
	err  error
	told map[claudemem.ErrorClass]bool
}

// init makes t ready for use, without any trouble.
func (t *troubles) init(opts *ModelOptions) {
	t.opts = opts
	t.away = map[string]*trouble{}
	t.met = map[string]bool{}
	t.refusals = map[string]int{}
	t.cappedDay = map[claudemem.TokenCap]string{}
	t.capped = map[claudemem.SessionID]bool{}
}

// isOffline reports whether a session is distilled without a model at present.
func (t *troubles) isOffline(provider string, session claudemem.SessionID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.opts.Clock()
	if now.Before(t.cappedUntil) || t.capped[session] {
		return true
	}
	a := t.away[provider]
	return a != nil && now.Sub(a.since) >= t.opts.WaitFor
}

// heldBackError returns the failure that keeps a provider from being asked now,
// nil when it may be asked.
func (t *troubles) heldBackError(provider string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.away[provider]
	if a == nil {
		return nil
	}
	wait := a.hold.Sub(t.opts.Clock())
	// Ignored when the clock was set back.
	if wait <= 0 || wait > maxHold {
		return nil
	}
	return &heldBack{wait: wait, err: a.err}
}

// askAgain lets every provider be asked at once and every cap be reached anew: the
// settings have changed. How long a provider has failed stays known.
func (t *troubles) askAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.away {
		a.hold = time.Time{}
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
// instead.
func (t *troubles) noteFailure(ctx context.Context, provider string, session claudemem.SessionID, err error) bool {
	var capped *claudemem.CapError
	if errors.As(err, &capped) {
		t.capReached(ctx, capped.Which, session)
		return true
	}
	var failed *claudemem.ModelError
	if !errors.As(err, &failed) {
		return false // a failure of our own storage, or of the fallback
	}
	if !isTransient(err) {
		t.noteRefusal(ctx, provider, failed)
		return false
	}
	var held *heldBack
	t.mu.Lock()
	now := t.opts.Clock()
	a := t.away[provider]
	if a == nil || now.Sub(a.last) > max(t.opts.WaitFor, maxHold) || now.Before(a.last) {
		// The last failure is so long ago that this one begins a new series.
		a = &trouble{since: now, told: map[claudemem.ErrorClass]bool{}}
		t.away[provider] = a
	}
	long := now.Sub(a.since) >= t.opts.WaitFor
	tell := false
	if !errors.As(err, &held) {
		a.last, a.err = now, failed
		a.hold = now.Add(min(failed.Wait, maxHold))
		if long {
			a.hold = now.Add(max(probeEvery, min(failed.Wait, maxHold)))
		}
		tell = !a.told[failed.Class]
		a.told[failed.Class] = true
	}
	t.mu.Unlock()
	if tell {
		t.notify(ctx, noticeKey(provider, failed.Class), t.noticeText(provider, failed))
	}
	return long
}

// manyRefusals is the number of refusals in a row that make a notice. One bad event is
// refused up to three times before an event beside it is answered.
const manyRefusals = 4

// noteRefusal records that a provider refused a request for its content, as it does for
// one bad event or, when a setting does not fit the model, always.
func (t *troubles) noteRefusal(ctx context.Context, provider string, failed *claudemem.ModelError) {
	t.mu.Lock()
	t.refusals[provider]++
	tell := t.refusals[provider] == manyRefusals
	t.mu.Unlock()
	if tell {
		t.notify(ctx, noticeKey(provider, claudemem.ClassGarbage), fmt.Sprintf(
			"claude-mem: %s refuses what it is asked (%v). These events are remembered without a model. Run `claude-mem doctor`.", provider, failed.Err))
	}
}

// noteUnusable records two answers in a row that held nothing of what was asked for.
func (t *troubles) noteUnusable(ctx context.Context, provider string) {
	t.mu.Lock()
	t.refusals[provider] += 2
	tell := t.refusals[provider] >= manyRefusals && t.refusals[provider] < manyRefusals+2
	t.mu.Unlock()
	if tell {
		t.notify(ctx, noticeKey(provider, claudemem.ClassGarbage), fmt.Sprintf(
			"claude-mem: the answers of %s cannot be used: they are not in the form that is asked for. The events are remembered without a model. Run `claude-mem doctor`.", provider))
	}
}

// providerAnswered ends a provider's series of failures and clears its notices.
func (t *troubles) providerAnswered(ctx context.Context, provider string, session claudemem.SessionID) {
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
	for _, class := range []claudemem.ErrorClass{
		claudemem.ClassTransient, claudemem.ClassRateLimit, claudemem.ClassQuota, claudemem.ClassLogin, claudemem.ClassGarbage,
	} {
		// After the first answer, notices of an earlier worker are cleared as well.
		if first || a != nil && a.told[class] || refused && class == claudemem.ClassGarbage {
			if err := t.opts.Store.ClearNotice(ctx, noticeKey(provider, class)); err != nil {
				t.opts.Logger.Warn("clear notice", "error", err)
			}
		}
	}
}

// capReached records that a cap was reached and adds a notice once a day.
func (t *troubles) capReached(ctx context.Context, which claudemem.TokenCap, session claudemem.SessionID) {
	now := t.opts.Clock()
	today := now.Format(time.DateOnly)
	t.mu.Lock()
	text := "claude-mem: a session has reached its token cap (CLAUDE_MEM_SESSION_TOKEN_CAP). The rest of it is remembered without a model."
	if which == claudemem.CapDay {
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

func noticeKey(provider string, class claudemem.ErrorClass) string {
	return "provider_" + provider + "_" + string(class)
}

// noticeText returns the notice of a failure. The same failure has the same text,
// so that a restarted worker does not repeat it.
func (t *troubles) noticeText(provider string, failed *claudemem.ModelError) string {
	what := "does not answer."
	switch failed.Class {
	case claudemem.ClassLogin:
		what = fmt.Sprintf("refuses the login or is not set up (%v). Run `claude-mem doctor`.", failed.Err)
	case claudemem.ClassQuota:
		what = "has no quota or credit left."
	case claudemem.ClassRateLimit:
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
