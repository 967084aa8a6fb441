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
	// probeEvery is how often a provider that has been away for long is asked
	// whether it is back; what comes in between does without.
	probeEvery = time.Minute
	// maxHold bounds how long a provider's own word keeps it from being asked.
	maxHold = time.Hour
	// cappedSessions bounds the sessions whose cap is remembered.
	cappedSessions = 1000
)

// troubles is what is known of providers that do not answer, and of caps.
type troubles struct {
	opts *ModelOptions

	mu sync.Mutex
	// away are the providers that failed last time, by name; met are those that
	// have answered since the worker was started.
	away map[string]*trouble
	met  map[string]bool
	// cappedUntil is the end of a day whose cap was reached, cappedDay the day that
	// the user was told of, by cap; capped are the sessions whose own was.
	cappedUntil time.Time
	cappedDay   map[claudemem.TokenCap]string
	capped      map[claudemem.SessionID]bool
}

// trouble is a row of failures that are not the events' own.
type trouble struct {
	since, last time.Time
	// hold is until when the provider is not asked.
	hold time.Time
	err  error
	told map[claudemem.ErrorClass]bool
}

func (t *troubles) init(opts *ModelOptions) {
	t.opts = opts
	t.away = map[string]*trouble{}
	t.met = map[string]bool{}
	t.cappedDay = map[claudemem.TokenCap]string{}
	t.capped = map[claudemem.SessionID]bool{}
}

// isOffline says whether a session is done without a model just now.
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

// heldBackError returns the failure that goes on, nil when the provider may be asked.
func (t *troubles) heldBackError(provider string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.away[provider]
	if a == nil {
		return nil
	}
	wait := a.hold.Sub(t.opts.Clock())
	// A clock that was set back must not keep it away.
	if wait <= 0 || wait > maxHold {
		return nil
	}
	return &heldBack{wait: wait, err: a.err}
}

// heldBack is a failure of before that still holds; nobody was asked.
type heldBack struct {
	wait time.Duration
	err  error
}

func (e *heldBack) Error() string             { return "not asked again yet: " + e.err.Error() }
func (e *heldBack) Unwrap() error             { return e.err }
func (e *heldBack) Transient() bool           { return true }
func (e *heldBack) RetryAfter() time.Duration { return e.wait }

// noteFailure notes a failure and says whether the fallback does the work instead.
func (t *troubles) noteFailure(ctx context.Context, provider string, session claudemem.SessionID, err error) bool {
	var capped *claudemem.CapError
	if errors.As(err, &capped) {
		t.capReached(ctx, capped.Which, session)
		return true
	}
	if !isTransient(err) {
		return false
	}
	var failed *claudemem.ModelError
	if !errors.As(err, &failed) {
		return false // our own storage
	}
	var held *heldBack
	t.mu.Lock()
	now := t.opts.Clock()
	a := t.away[provider]
	if a == nil || now.Sub(a.last) > max(t.opts.WaitFor, maxHold) || now.Before(a.last) {
		// Nobody has asked for so long that this is another row.
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

// providerAnswered notes that a provider answered.
func (t *troubles) providerAnswered(ctx context.Context, provider string, session claudemem.SessionID) {
	t.mu.Lock()
	a := t.away[provider]
	delete(t.away, provider)
	delete(t.capped, session)
	t.cappedUntil = time.Time{}
	first := !t.met[provider]
	t.met[provider] = true
	t.mu.Unlock()
	for _, class := range []claudemem.ErrorClass{
		claudemem.ClassTransient, claudemem.ClassRateLimit, claudemem.ClassQuota, claudemem.ClassLogin,
	} {
		// The first time whatever a former worker may have told is taken back.
		if first || a != nil && a.told[class] {
			if err := t.opts.Store.ClearNotice(ctx, noticeKey(provider, class)); err != nil {
				t.opts.Logger.Warn("clear notice", "error", err)
			}
		}
	}
}

// capReached notes that a cap was reached and tells it once a day.
func (t *troubles) capReached(ctx context.Context, which claudemem.TokenCap, session claudemem.SessionID) {
	now := t.opts.Clock()
	today := now.Format(time.DateOnly)
	t.mu.Lock()
	text := "claude-mem: a session has used the tokens that it may have (CLAUDE_MEM_SESSION_TOKEN_CAP). The rest of it is remembered without a model."
	if which == claudemem.CapDay {
		t.cappedUntil = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
		text = "claude-mem: the tokens of " + today + " are used up (CLAUDE_MEM_DAILY_TOKEN_CAP). Until midnight sessions are remembered without a model."
	} else {
		if len(t.capped) >= cappedSessions {
			clear(t.capped) // they are noted again when they are worked on
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

// noticeText is what the user is told. The same trouble has the same words, so that a
// worker that is started anew does not tell it again.
func (t *troubles) noticeText(provider string, failed *claudemem.ModelError) string {
	var what string
	switch failed.Class {
	case claudemem.ClassLogin:
		what = fmt.Sprintf("%s refuses the login or is not set up (%v). `claude-mem doctor` tells what to do.", provider, failed.Err)
	case claudemem.ClassQuota:
		what = fmt.Sprintf("%s says that its quota or credit is used up.", provider)
	case claudemem.ClassRateLimit:
		what = fmt.Sprintf("%s asks to be called less often.", provider)
	default:
		what = fmt.Sprintf("%s cannot be reached.", provider)
	}
	return fmt.Sprintf("claude-mem: %s What was captured waits; after %.0f minutes it is remembered without a model.", what, t.opts.WaitFor.Minutes())
}

func (t *troubles) notify(ctx context.Context, key, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
	defer cancel()
	if err := t.opts.Store.AddNotice(ctx, key, text); err != nil {
		t.opts.Logger.Warn("keep notice", "key", key, "error", err)
	}
}
