package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"

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

// observation answers an observation in full, and notes that the session has looked it
// up unless lookup is false.
func (a *server) observation(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
	q, err := requestOf[api.ObservationRequest](a, w, r, declared)
	if err != nil {
		return err
	}
	o, err := a.memory.Observation(r.Context(), q)
	if err != nil {
		return err
	}
	var note api.LookupNote
	if q.Lookup {
		note.Observations = []memory.ObservationID{o.ID}
	}
	return a.answerLookup(w, r, http.StatusOK, o, note)
}

// batch answers the observations whose numbers the body lists, in that order. It notes
// those answered in full as looked up by the session, unless lookup is false.
func (a *server) batch(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
	q, err := requestOf[api.BatchRequest](a, w, r, declared)
	if err != nil {
		return err
	}
	found, err := a.memory.Batch(r.Context(), q)
	if err != nil {
		return err
	}
	var note api.LookupNote
	if found.Format == api.FormatFull && (q.Lookup == nil || *q.Lookup) {
		for _, o := range found.Results {
			if !slices.Contains(note.Observations, o.ID) {
				note.Observations = append(note.Observations, o.ID)
			}
		}
	}
	return a.answerLookup(w, r, http.StatusOK, found, note)
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
