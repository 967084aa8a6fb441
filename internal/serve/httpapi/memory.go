package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// handler serves a route: it writes the answer.
type handler func(http.ResponseWriter, *http.Request, []api.Param) error

// caller serves a route: it returns the answer, which is sent with the route's status.
type caller func(http.ResponseWriter, *http.Request, []api.Param) (any, error)

// endpoint returns the route of a method of Memory; answer is an example.
func endpoint[Q, A any](a *server, method func(api.Memory, context.Context, Q) (A, error), about string, answer A, example string) route {
	c := api.CallOf(method)
	return call(a, c.Method, c.Path, about, func(ctx context.Context, q Q) (A, error) { return method(a.memory, ctx, q) }, answer, example)
}

// call returns a route that answers what a function returns for a request, which is
// in the parameters and the body.
func call[Q, A any](a *server, method, path, about string, ask func(context.Context, Q) (A, error), answer A, example string) route {
	var none Q
	r := route{method: method, path: path, about: about, params: api.ParamsOf(none), answer: answer, example: example}
	if api.HasBody(none) {
		r.body = none
	}
	r.call = func(w http.ResponseWriter, r *http.Request, declared []api.Param) (any, error) {
		q, err := requestOf[Q](a, w, r, declared)
		if err != nil {
			return nil, err
		}
		return ask(r.Context(), q)
	}
	return r
}

// requestOf returns the request in the body and the declared parameters. An empty body
// is an empty object.
func requestOf[Q any](a *server, w http.ResponseWriter, r *http.Request, declared []api.Param) (q Q, err error) {
	if err := api.Parse(&q, declared, r.URL.RawQuery, r.PathValue); err != nil || !api.HasBody(q) {
		return q, err
	}
	return q, a.withBody(w, r, func(raw []byte) error {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		return decode(raw, &q)
	})
}

// searchBy serves the routes for observations of a type, a file or a concept: the
// parameter with that key.
func (a *server) searchBy(key string) caller {
	return func(w http.ResponseWriter, r *http.Request, declared []api.Param) (any, error) {
		q, err := requestOf[api.SearchRequest](a, w, r, declared)
		if err != nil {
			return nil, err
		}
		about := strings.Join(map[string][]string{"type": q.Types, "files": q.Files, "concepts": q.Concepts}[key], ",")
		page, err := a.Memory.SearchKind(r.Context(), q, memory.RecordObservation)
		if err != nil {
			return nil, err
		}
		*map[string]*string{"type": &page.Type, "files": &page.File, "concepts": &page.Concept}[key] = about
		if *page.Query == "" {
			page.Query = nil
		}
		return page, nil
	}
}

// noting returns the route of a method that answers observations. If the client received the
// answer, those that shown names are noted as looked up by the session.
func noting[Q, A any](a *server, method func(api.Memory, context.Context, Q) (A, error), shown func(Q, *A) []memory.ObservationID, about string, answer A, example string) route {
	rt := endpoint(a, method, about, answer, example)
	rt.handle = func(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
		q, err := requestOf[Q](a, w, r, declared)
		if err != nil {
			return err
		}
		answer, err := method(a.memory, r.Context(), q)
		if err != nil {
			return err
		}
		return a.answerLookup(w, r, http.StatusOK, answer, api.LookupNote{Observations: shown(q, &answer)})
	}
	return rt
}

// shownOne returns the observation that was answered, unless the client notes that itself.
func shownOne(q api.ObservationRequest, o *api.Observation) []memory.ObservationID {
	if !q.Lookup {
		return nil
	}
	return []memory.ObservationID{o.ID}
}

// shownOf returns the observations of a batch, each once, if they were answered in full, unless
// the client notes that itself.
func shownOf(q api.BatchRequest, found *api.Batch) (ids []memory.ObservationID) {
	if found.Format != api.FormatFull || q.Lookup != nil && !*q.Lookup {
		return nil
	}
	for i := range found.Results {
		if id := found.Results[i].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// retireRequest names a learning to make inactive.
type retireRequest struct {
	ID int64 `param:"learning_id"`
}

// retireLearning makes a learning inactive. Its row stays, so that no observer adds
// it again.
func (a *server) retireLearning(ctx context.Context, q retireRequest) (api.Learning, error) {
	return a.memory.EditLearning(ctx, api.LearningEdit{ID: q.ID, LearningEdit: memory.LearningEdit{Active: new(bool)}})
}

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
