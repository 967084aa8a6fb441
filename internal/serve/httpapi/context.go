package httpapi

import (
	"context"
	"net/http"
	"strings"
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
	if text != "" {
		defer a.bookings.begin(what.Host, what.HostSessionID)()
	}
	if err := writeJSON(w, status, v); err != nil {
		return false, err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return false, nil // the client has left
	}
	if text == "" {
		return true, nil // nothing to book
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
