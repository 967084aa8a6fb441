package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"claudemem/internal/memory"
)

// How long a request may wait for the Reminder, counted from its arrival. A hook waits
// 340 ms at a prompt and 190 ms after a tool, counted from its own start (hook.Verb);
// then it spools the event.
const (
	promptTime = 150 * time.Millisecond
	toolTime   = 80 * time.Millisecond
)

// remind answers an event that was stored: the receipt, with the Reminder's text if that
// is there in time. An error or panic of the Reminder only costs the text.
func (a *server) remind(w http.ResponseWriter, r *http.Request, arrived time.Time, e *memory.Event, answer receipt) error {
	limit := toolTime
	if e.Kind == memory.KindPrompt {
		limit = promptTime
	}
	ctx, cancel := context.WithDeadline(r.Context(), arrived.Add(limit+a.opts.Slack))
	defer cancel()
	if ctx.Err() != nil {
		return writeJSON(w, http.StatusAccepted, answer) // storing the event took all the time
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
		// The client has its answer: the text that comes now reaches nobody.
		got, given = <-asked, false
	}
	if got.Text != "" && (left || !given) {
		a.Reminder.Forget(got.Recollection)
	}
	return err
}

// recalled is an answer of the Reminder.
type recalled struct {
	memory.Recollection
	err error
}

// ask starts a call of the Reminder; the channel gets its one answer even if nobody
// receives it.
func (a *server) ask(ctx context.Context, e memory.Event, session memory.SessionID) <-chan recalled {
	asked := make(chan recalled, 1)
	go func() {
		var got recalled
		defer func() {
			if cause := recover(); cause != nil {
				// Only the type and the stack are logged: the value may quote a prompt.
				a.opts.Logger.Error("recall panicked", "type", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
				got = recalled{err: memory.Errorf(memory.CodeInternal, "recall panicked")}
			}
			asked <- got
		}()
		if a.bookings.wait(ctx, e.Host, e.HostSessionID); ctx.Err() != nil {
			got.err = ctx.Err()
			return
		}
		got.Recollection, got.err = a.Reminder.Recall(ctx, e, session)
		if got.err != nil {
			got.Recollection = memory.Recollection{}
		}
	}()
	return asked
}

// noteTrouble logs the first failure of the Reminder and its first success after that.
// It logs the code and the type of an error, not its text, which may quote a prompt.
func (a *server) noteTrouble(moment memory.Moment, err error) {
	switch {
	case err == nil:
		if a.recallFailing.Load() && a.recallFailing.CompareAndSwap(true, false) {
			a.opts.Logger.Info("recall works again")
		}
	case a.recallFailing.CompareAndSwap(false, true):
		a.opts.Logger.Warn("recall failed; sessions are told nothing at prompts, files and failures until it works",
			"moment", string(moment), "code", string(memory.CodeOf(err)), "type", fmt.Sprintf("%T", err), "late", errors.Is(err, context.DeadlineExceeded))
	}
}
