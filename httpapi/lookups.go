package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claudemem"
	"claudemem/wire"
)

const (
	// lookupTime bounds what noting a lookup takes: nobody waits for it, but on a
	// kept connection the next request does.
	lookupTime = time.Second
	// maxSessionName bounds a host's name for a session; theirs have 36 characters.
	maxSessionName = 512
)

// lookupBody names observations that a client read without asking the worker for
// them, and for which session; without one the header tells.
type lookupBody struct {
	Host          claudemem.Host            `json:"host"`
	HostSessionID string                    `json:"host_session_id"`
	Observations  []claudemem.ObservationID `json:"observations"`
}

// noteLookup is for commands, which read the database themselves.
func (a *api) noteLookup(w http.ResponseWriter, r *http.Request) error {
	var body lookupBody
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
		return err
	}
	if n := len(body.Observations); n == 0 || n > maxBatch {
		return claudemem.Errorf(claudemem.CodeInvalid, "%d observations", n).
			WithHint("send observations, an array of 1 to " + strconv.Itoa(maxBatch) + " numbers")
	}
	for _, id := range body.Observations {
		if id < 1 {
			return claudemem.Errorf(claudemem.CodeInvalid, "there is no observation %d", id).WithHint("numbers start at 1")
		}
	}
	if body.HostSessionID != "" {
		r.Header.Set(wire.SessionHeader, string(cmp.Or(body.Host.Canonical(), claudemem.HostRaw))+":"+body.HostSessionID)
	}
	return a.answerLookup(w, r, http.StatusAccepted, map[string]string{"status": "noted"}, body.Observations...)
}

// answerLookup answers and then, when the client has its answer, notes that the
// observations were read in full. If that fails, a statistic is wrong.
func (a *api) answerLookup(w http.ResponseWriter, r *http.Request, status int, v any, ids ...claudemem.ObservationID) error {
	if err := writeJSON(w, status, v); err != nil {
		return err
	}
	if a.Lookups == nil || len(ids) == 0 || r.Method == http.MethodHead {
		return nil
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return nil // It left just now and has read nothing.
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), lookupTime)
	defer cancel()
	host, session := readerOf(r)
	if err := a.Lookups.RecordLookup(ctx, host, session, ids...); err != nil {
		a.opts.Logger.Warn("note lookup", "error", err)
	}
	return nil
}

// readerOf reads the header that says for which session is read; one that is not
// HOST:ID is as good as none.
func readerOf(r *http.Request) (claudemem.Host, string) {
	host, session, found := strings.Cut(r.Header.Get(wire.SessionHeader), ":")
	if !found || host == "" || session == "" || len(session) > maxSessionName {
		return "", ""
	}
	return claudemem.Host(host), session
}
