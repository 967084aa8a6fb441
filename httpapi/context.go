package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"claudemem"
	"claudemem/api"
)

// bookTime bounds what is done after an answer was given.
const bookTime = 5 * time.Second

// give answers with v, which has a text out of memory in it, and tells whether
// the client got it.
//
// What was given is booked after the answer was written, and only if it was.
// Booked before, it would count as given to a hook that had stopped waiting, and
// the session would never be shown it again; a process that dies between the two
// at worst shows something twice.
func (a *server) give(w http.ResponseWriter, r *http.Request, status int, v any, text string, what claudemem.Injection) (given bool, err error) {
	if text != "" {
		defer a.bookings.begin(what.Host, what.HostSessionID)()
	}
	if err := writeJSON(w, status, v); err != nil {
		return false, err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return false, nil // It left just now.
	}
	if text == "" {
		return true, nil // There is nothing to book.
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bookTime)
	defer cancel()
	if err := a.Books.RecordInjection(ctx, what); err != nil {
		// The session has its text; at worst it is shown some of it again.
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
	// A session has started, whatever becomes of its block: the others have something to finish.
	after := context.WithoutCancel(r.Context())
	defer func() {
		ctx, cancel := context.WithTimeout(after, bookTime)
		defer cancel()
		a.Worker.Touch(ctx, req)
	}()

	block, err := a.Blocks.Context(r.Context(), req)
	if err != nil {
		// At once: the hook has yet to read the memory itself.
		a.fail(w, r, err)
		_ = http.NewResponseController(w).Flush() // It may have left.
		return nil
	}
	if r.Context().Err() != nil {
		return nil // The hook has left and reads the memory itself; notices stay for whoever is there.
	}
	a.attachNotices(r.Context(), &block)
	_, err = a.give(w, r, http.StatusOK, block, block.Text, block.Injection)
	return err
}

// attachNotices adds what the user has to be told; the model never sees it.
func (a *server) attachNotices(ctx context.Context, block *claudemem.ContextBlock) {
	notices, err := a.Books.TakeNotices(ctx)
	if err != nil {
		// A session must not go without its block for that; they are told at the next start.
		a.opts.Logger.Error("take notices", "error", err)
		return
	}
	if block.SystemMessage != "" {
		notices = append([]string{block.SystemMessage}, notices...)
	}
	block.SystemMessage = strings.Join(notices, "\n")
}
