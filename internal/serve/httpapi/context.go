package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// bookTime bounds the work after an answer was sent.
const bookTime = 5 * time.Second

// give answers with v, which contains a text for the model, and reports whether the
// client received it.
//
// The text is booked as shown after the answer was written, and only then. If it were
// booked before, a hook that has stopped waiting would count as having shown it, and the
// session would never get it again; a process that dies between the two shows something
// twice at worst.
func (a *server) give(w http.ResponseWriter, r *http.Request, status int, v any, text string, what memory.Injection) (given bool, err error) {
	booked := text != "" || what.Arm != "" // of a trial what is withheld is booked too
	if booked {
		defer a.bookings.begin(what.Host, what.HostSessionID)()
	}
	if err := writeJSON(w, status, v); err != nil {
		return false, err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return false, nil // the client has left
	}
	if !booked {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bookTime)
	defer cancel()
	if err := a.Books.RecordInjection(ctx, what.Complete()); err != nil {
		// The session has its text; at worst it gets some of it again.
		a.opts.Logger.Error("book what was given", "where", what.Where, "error", err)
	}
	return true, nil
}

// context answers the context block of a session that starts, and then has the project's
// other sessions flushed.
func (a *server) context(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
	asked, err := requestOf[api.ContextRequest](a, w, r, declared)
	if err != nil {
		return err
	}
	req := asked.Block()
	// The other sessions of the project are flushed even if there is no block.
	after := context.WithoutCancel(r.Context())
	defer func() {
		ctx, cancel := context.WithTimeout(after, bookTime)
		defer cancel()
		a.Worker.Touch(ctx, req)
	}()

	block, err := a.Blocks.Context(r.Context(), req)
	if err != nil {
		// Flushed at once: the hook now has to read the memory itself.
		a.fail(w, r, err)
		_ = http.NewResponseController(w).Flush() // it may have left
		return nil
	}
	if r.Context().Err() != nil {
		return nil // the hook has left and reads the memory itself; the notices stay
	}
	a.attachNotices(r.Context(), &block)
	_, err = a.give(w, r, http.StatusOK, block, block.Text, block.Injection)
	return err
}

// attachNotices puts the notices for the user before the block's SystemMessage, which the
// model does not see.
func (a *server) attachNotices(ctx context.Context, block *memory.ContextBlock) {
	notices, err := a.Books.TakeNotices(ctx)
	if err != nil {
		// The block is more important; the notices come at the next start.
		a.opts.Logger.Error("take notices", "error", err)
		return
	}
	if block.SystemMessage != "" {
		notices = append(notices, block.SystemMessage)
	}
	block.SystemMessage = strings.Join(notices, "\n")
}

// bookings counts, by session, the texts that were shown and are not booked yet. A host
// that has its answer may ask for the same session again before the commit; it waits, so
// that the same records are not shown twice.
type bookings struct {
	mu   sync.Mutex
	open map[memory.SessionName]*booking
}

type booking struct {
	n    int // texts
	done chan struct{}
}

// begin counts a text that is about to be shown to a session. end must be called once, when it
// is booked, or was not shown.
func (b *bookings) begin(host memory.Host, id string) (end func()) {
	name := memory.SessionName{Host: host, ID: id}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[memory.SessionName]*booking{}
	}
	of := b.open[name]
	if of == nil {
		of = &booking{done: make(chan struct{})}
		b.open[name] = of
	}
	of.n++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if of.n--; of.n == 0 {
			close(of.done)
			delete(b.open, name)
		}
	}
}

// wait returns when the injections begun for a session are booked, or when ctx ends.
func (b *bookings) wait(ctx context.Context, host memory.Host, id string) {
	b.mu.Lock()
	of := b.open[memory.SessionName{Host: host, ID: id}]
	b.mu.Unlock()
	if of == nil {
		return
	}
	select {
	case <-of.done:
	case <-ctx.Done():
	}
}

// How long a request may wait for the Reminder, counted from its arrival. A hook waits
// 340 ms at a prompt and 190 ms after a tool, counted from its own start (hook.Verb);
// then it spools the event.
const (
	promptTime = 150 * time.Millisecond
	toolTime   = 80 * time.Millisecond
)

// remind answers an event that was stored: the receipt, with the Reminder's text if that
// is there in time. An error or panic of the Reminder only costs the text. A text that came too
// late, or that the client did not receive, is forgotten, so that it may be shown another time.
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
	if (got.Text != "" || got.Injection.Arm != "") && (left || !given) {
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
// receives it. The call waits for what the session was shown before to be booked. An error has no
// text.
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
