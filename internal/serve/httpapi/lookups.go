package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// lookupTime bounds the noting of a lookup: the next request on the same connection
	// waits for it.
	lookupTime = time.Second
	// maxSessionName bounds a host's name for a session, in bytes; usual ones have 36.
	maxSessionName = 512
)

// noteLookups notes the observations in the body as read in full by a session, for
// clients that read them by other means. Without a session in the body the header names
// it.
func (a *server) noteLookups(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
	note, err := requestOf[api.LookupNote](a, w, r, declared)
	if err != nil {
		return err
	}
	if err := note.Check(); err != nil {
		return err
	}
	return a.answerLookup(w, r, http.StatusAccepted, api.Status{Status: "noted"}, note)
}

// answerLookup answers with v and then, if the client received it, notes that the
// observations were read in full. An error of that is logged: only a statistic is wrong.
func (a *server) answerLookup(w http.ResponseWriter, r *http.Request, status int, v any, note api.LookupNote) error {
	if err := writeJSON(w, status, v); err != nil {
		return err
	}
	if a.Memory.Keeper == nil || len(note.Observations) == 0 || r.Method == http.MethodHead {
		return nil
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return nil // the client left and has read nothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), lookupTime)
	defer cancel()
	if note.HostSessionID == "" {
		note.Host, note.HostSessionID = readerOf(r)
	}
	if _, err := a.memory.NoteLookups(ctx, note); err != nil {
		a.opts.Logger.Warn("note lookup", "error", err)
	}
	return nil
}

// readerOf returns host and session from the header HOST:ID that names the reading
// session; two empty strings when it is missing or has another form.
func readerOf(r *http.Request) (memory.Host, string) {
	host, session, found := strings.Cut(r.Header.Get(wire.SessionHeader), ":")
	if !found || host == "" || session == "" || len(session) > maxSessionName {
		return "", ""
	}
	return memory.Host(host), session
}
