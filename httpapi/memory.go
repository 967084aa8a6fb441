package httpapi

import (
	"context"
	"net/http"
	"strings"

	"claudemem"
	"claudemem/api"
)

// handler serves a route.
type handler func(http.ResponseWriter, *http.Request, api.Params) error

// query returns a GET route whose request is in the parameters; answer is an example.
func query[Q, A any](path, about string, call func(context.Context, Q) (A, error), answer A, example string) route {
	var none Q
	return route{method: http.MethodGet, path: path, about: about, params: api.ParamsOf(none), answer: answer, example: example,
		handle: func(w http.ResponseWriter, r *http.Request, p api.Params) error {
			var q Q
			p.Bind(&q)
			return answered(w, http.StatusOK)(call(r.Context(), q))
		}}
}

// withJSON returns a route whose request is the body.
func withJSON[B, A any](a *server, method, path, about string, status int, call func(context.Context, *http.Request, B) (A, error), example string) route {
	var none B
	var answer A
	return route{method: method, path: path, about: about, body: none, answer: answer, status: status, example: example,
		handle: func(w http.ResponseWriter, r *http.Request, _ api.Params) error {
			var body B
			if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
				return err
			}
			return answered(w, status)(call(r.Context(), r, body))
		}}
}

// onRecord returns a route about the record whose number is in the path.
func onRecord[ID, A any](method, path, about string, param api.Param, number func(string) (ID, error), call func(context.Context, ID) (A, error), answer A) route {
	return route{method: method, path: path, about: about, params: []api.Param{param}, answer: answer,
		handle: func(w http.ResponseWriter, r *http.Request, _ api.Params) error {
			id, err := number(r.PathValue("id"))
			if err != nil {
				return err
			}
			return answered(w, http.StatusOK)(call(r.Context(), id))
		}}
}

// answered writes what a call returned.
func answered(w http.ResponseWriter, status int) func(any, error) error {
	return func(answer any, err error) error {
		if err != nil {
			return err
		}
		return writeJSON(w, status, answer)
	}
}

// searchKind serves the routes that are about one kind of record.
func (a *server) searchKind(kind claudemem.RecordKind) func(context.Context, api.SearchRequest) (api.SearchPage, error) {
	return func(ctx context.Context, q api.SearchRequest) (api.SearchPage, error) {
		return a.Memory.SearchKind(ctx, q, kind)
	}
}

// searchBy serves the routes that are about a type, a file or a concept.
func (a *server) searchBy(name string) handler {
	return func(w http.ResponseWriter, r *http.Request, p api.Params) error {
		var q api.SearchRequest
		p.Bind(&q)
		switch name {
		case "file":
			q.Files = p.List(name)
		case "concept":
			q.Concepts = p.List(name)
		}
		page, err := a.Memory.SearchKind(r.Context(), q, claudemem.RecordObservation)
		if err != nil {
			return err
		}
		about := strings.Join(p.List(name), ",")
		switch name {
		case "type":
			page.Type = about
		case "file":
			page.File = about
		case "concept":
			page.Concept = about
		}
		if *page.Query == "" {
			page.Query = nil
		}
		return writeJSON(w, http.StatusOK, page)
	}
}

// observation answers the observation whose number is in the path, in full, and notes
// that the session has looked it up.
func (a *server) observation(w http.ResponseWriter, r *http.Request, _ api.Params) error {
	id, err := api.ObservationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	o, err := a.Memory.Observation(r.Context(), id)
	if err != nil {
		return err
	}
	return a.answerLookup(w, r, http.StatusOK, o, api.LookupNote{Observations: []claudemem.ObservationID{o.ID}})
}

// batch answers the observations whose numbers the body lists, in that order, as
// api.Local.Batch does. It notes those answered in full as looked up by the session,
// unless lookup is false.
func (a *server) batch(w http.ResponseWriter, r *http.Request, _ api.Params) error {
	var body api.BatchRequest
	if err := a.withBody(w, r, func(raw []byte) error { return decode(raw, &body) }); err != nil {
		return err
	}
	found, err := a.Memory.Batch(r.Context(), body)
	if err != nil {
		return err
	}
	var note api.LookupNote
	there := map[claudemem.ObservationID]bool{}
	for _, o := range found.Results {
		if found.Format == api.FormatFull && !there[o.ID] && (body.Lookup == nil || *body.Lookup) {
			note.Observations = append(note.Observations, o.ID)
		}
		there[o.ID] = true
	}
	return a.answerLookup(w, r, http.StatusOK, found, note)
}

// editObservation changes the observation whose number is in the path and returns it.
func (a *server) editObservation(ctx context.Context, r *http.Request, edit claudemem.ObservationEdit) (api.Observation, error) {
	id, err := api.ObservationNumber(r.PathValue("id"))
	if err != nil {
		return api.Observation{}, err
	}
	return a.Memory.EditObservation(ctx, id, edit)
}

// hideObservation takes an observation out of everything that is shown and searched.
func (a *server) hideObservation(w http.ResponseWriter, r *http.Request, p api.Params) error {
	id, err := api.ObservationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	var q api.HideRequest
	p.Bind(&q)
	return answered(w, http.StatusOK)(a.Memory.HideObservation(r.Context(), id, q.Purge))
}

// editLearning changes the learning whose number is in the path and returns it.
func (a *server) editLearning(ctx context.Context, r *http.Request, edit claudemem.LearningEdit) (api.Learning, error) {
	id, err := api.LearningNumber(r.PathValue("id"))
	if err != nil {
		return api.Learning{}, err
	}
	return a.Memory.EditLearning(ctx, id, edit)
}

// retireLearning makes a learning inactive; its row stays, so that no observer
// brings it back.
func (a *server) retireLearning(ctx context.Context, id int64) (api.Learning, error) {
	active := false
	return a.Memory.EditLearning(ctx, id, claudemem.LearningEdit{Active: &active})
}

// session serves a session with its records.
func (a *server) session(w http.ResponseWriter, r *http.Request, p api.Params) error {
	id, err := api.SessionNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	q := api.SessionRequest{ID: id}
	p.Bind(&q)
	return answered(w, http.StatusOK)(a.Memory.Session(r.Context(), q))
}

// receipt serves a session's receipt. The path names the session by its number, or
// as agents and logs do by the host's name for it.
func (a *server) receipt(w http.ResponseWriter, r *http.Request, p api.Params) error {
	q := api.ReceiptRequest{Name: r.PathValue("id")}
	p.Bind(&q)
	return answered(w, http.StatusOK)(a.Memory.Receipt(r.Context(), q))
}
