package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
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
func (a *api) context(w http.ResponseWriter, r *http.Request) error {
	req, err := contextRequest(r.URL.Query())
	if err != nil {
		return err
	}
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

func contextRequest(q url.Values) (claudemem.ContextRequest, error) {
	req := claudemem.ContextRequest{
		Host:          claudemem.Host(first(q, "host", "platformSource")),
		HostSessionID: first(q, "session_id", "host_session_id", "contentSessionId", "session"),
		ProjectPath:   first(q, "project_path", "project", "cwd"),
		Source:        first(q, "source"),
	}
	if req.Host == "" {
		req.Host = claudemem.HostRaw
	}
	if req.Source == "" {
		req.Source = "startup"
	}
	if req.ProjectPath == "" {
		return req, claudemem.Errorf(claudemem.CodeInvalid, "no project_path").WithHint("send the project's root directory as project_path")
	}
	var err error
	req.Budget, err = number(q, "budget", 0, 0, 1<<20)
	return req, err
}

// first returns the first parameter of the names that is not empty.
func first(q url.Values, names ...string) string {
	for _, n := range names {
		if v := q.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// number reads a whole number within bounds; missing is the default.
func number(q url.Values, name string, missing, least, most int) (int, error) {
	v := q.Get(name)
	if v == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return 0, claudemem.Errorf(claudemem.CodeInvalid, "%s is %.40q", name, v).
			WithHint(name + " is a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return n, nil
}
