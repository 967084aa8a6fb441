package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"claudemem"
)

// How long after its arrival a request may wait for the Reminder. A hook waits
// 340 ms beside a prompt and 190 ms after a tool, counted from its own start
// (hook.Verb), and takes an event that was not answered by then for lost.
const (
	promptTime = 150 * time.Millisecond
	toolTime   = 80 * time.Millisecond
)

// remind answers an event that was taken in, with what its session should be
// reminded of at this moment if that is known in time. The receipt is what
// matters: no fault of the Reminder costs it.
func (a *server) remind(w http.ResponseWriter, r *http.Request, arrived time.Time, e *claudemem.Event, answer receipt) error {
	limit := toolTime
	if e.Kind == claudemem.KindPrompt {
		limit = promptTime
	}
	ctx, cancel := context.WithDeadline(r.Context(), arrived.Add(limit))
	defer cancel()
	if ctx.Err() != nil {
		return writeJSON(w, http.StatusAccepted, answer) // the commit took that long
	}
	asked := a.ask(ctx, *e, answer.SessionDBID)
	var got recalled
	late := false
	select {
	case got = <-asked:
	case <-ctx.Done():
		late = true
		got.err = ctx.Err()
	}
	left := r.Context().Err() != nil
	if !left {
		a.noteTrouble(e.Moment(), got.err)
		answer.AdditionalContext = got.Text
	}
	given, err := a.give(w, r, http.StatusAccepted, answer, answer.AdditionalContext, got.Injection)
	if late {
		// The client has its receipt. What comes now reaches nobody.
		got, given = <-asked, false
	}
	if got.Text != "" && (left || !given) {
		a.Reminder.Forget(got.Recollection)
	}
	return err
}

// recalled is what the Reminder answered.
type recalled struct {
	claudemem.Recollection
	err error
}

// ask starts a call of the Reminder; the channel gets its one answer even if nobody
// receives it.
func (a *server) ask(ctx context.Context, e claudemem.Event, session claudemem.SessionID) <-chan recalled {
	asked := make(chan recalled, 1)
	go func() {
		var got recalled
		defer func() {
			if cause := recover(); cause != nil {
				// The cause may quote what was looked for; where it happened does not.
				a.opts.Logger.Error("recall panicked", "type", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
				got = recalled{err: claudemem.Errorf(claudemem.CodeInternal, "recall panicked")}
			}
			asked <- got
		}()
		if a.bookings.wait(ctx, e.Host, e.HostSessionID); ctx.Err() != nil {
			got.err = ctx.Err()
			return
		}
		got.Recollection, got.err = a.Reminder.Recall(ctx, e, session)
		if got.err != nil {
			got.Recollection = claudemem.Recollection{}
		}
	}()
	return asked
}

// noteTrouble logs that the Reminder fails when it begins to, and that it works
// again: it is asked often. An error's text may quote a prompt, so that only its
// code and its kind are told.
func (a *server) noteTrouble(moment claudemem.Moment, err error) {
	switch {
	case err == nil:
		if a.forgetful.Load() && a.forgetful.CompareAndSwap(true, false) {
			a.opts.Logger.Info("recall works again")
		}
	case a.forgetful.CompareAndSwap(false, true):
		a.opts.Logger.Warn("recall failed; sessions are told nothing at prompts, files and failures until it works",
			"moment", string(moment), "code", string(claudemem.CodeOf(err)), "type", fmt.Sprintf("%T", err), "late", errors.Is(err, context.DeadlineExceeded))
	}
}
