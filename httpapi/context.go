package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"claudemem"
)

// bookTime bounds what is done after a block was given.
const bookTime = 5 * time.Second

// context gives a session its block.
//
// The block is booked after the answer was written, and only if it was. Booked
// before, it would count as given to a hook that had stopped waiting, and a
// later resume would never show its content; a process that dies between the
// two at worst shows something twice.
func (a *api) context(w http.ResponseWriter, r *http.Request, p params) error {
	req := claudemem.ContextRequest{Host: claudemem.Host(p.text("host")), HostSessionID: p.text("session_id"),
		ProjectPath: p.text("project_path"), Source: p.text("source"), Budget: p.number("budget")}
	// A session has started, whatever becomes of its block: the others have something to finish.
	after := context.WithoutCancel(r.Context())
	defer func() {
		ctx, cancel := context.WithTimeout(after, bookTime)
		defer cancel()
		a.Worker.Touch(ctx, req)
	}()

	block, err := a.Recaller.Context(r.Context(), req)
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
	if err := writeJSON(w, http.StatusOK, block); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil || a.Injections == nil || block.Text == "" {
		return nil // It left just now, or there is nothing to book.
	}
	ctx, cancel := context.WithTimeout(after, bookTime)
	defer cancel()
	if err := a.Injections.RecordInjection(ctx, block.Injection); err != nil {
		// The session has its block; at worst a resume shows some of it again.
		a.opts.Logger.Error("book context block", "error", err)
	}
	return nil
}

// attachNotices adds what the user has to be told; the model never sees it.
func (a *api) attachNotices(ctx context.Context, block *claudemem.ContextBlock) {
	if a.Notices == nil {
		return
	}
	notices, err := a.Notices.TakeNotices(ctx)
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
