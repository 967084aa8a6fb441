package httpapi

import (
	"bytes"
	"net/http"

	"claudemem"
	"claudemem/wire"
)

// maxDeadLetters is how many dead letters are listed; their count is in the books.
const maxDeadLetters = 100

// health says that the process lives and answers.
func (a *api) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readiness says that every stage is up.
func (a *api) readiness(w http.ResponseWriter, _ *http.Request) error {
	if err := a.Worker.Ready(); err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeInternal {
			err = claudemem.Errorf(claudemem.CodeUnavailable, "not ready: %w", err)
		}
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func (a *api) version(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]any{"version": a.opts.Version, "wire": wire.Version})
}

// stats puts the queue's books and the counts of records beside what the worker tells of itself.
func (a *api) stats(w http.ResponseWriter, r *http.Request, p params) error {
	books, err := a.Records.Books(r.Context())
	if err != nil {
		return err
	}
	totals, err := a.Records.Totals(r.Context(), p.text("project"))
	if err != nil {
		return err
	}
	all := map[string]any{}
	for k, v := range a.Worker.Stats(r.Context(), p.flag("brief")) {
		all[k] = v
	}
	all["queue"], all["totals"], all["version"], all["wire"] = books, totals, a.opts.Version, wire.Version
	return writeJSON(w, http.StatusOK, all)
}

func (a *api) queue(w http.ResponseWriter, r *http.Request) error {
	books, err := a.Records.Books(r.Context())
	if err != nil {
		return err
	}
	dead, err := a.DeadLetters.DeadLetters(r.Context(), maxDeadLetters)
	if err != nil {
		return err
	}
	if dead == nil {
		dead = []claudemem.DeadLetter{}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"queue": books, "dead_letters": dead})
}

type retryBody struct {
	Keys []string `json:"keys"`
}

// retryQueue gives dead letters another try: those of "keys", else all.
func (a *api) retryQueue(w http.ResponseWriter, r *http.Request) error {
	var body retryBody
	err := a.withBody(w, r, func(raw []byte) error {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		return decode(raw, &body)
	})
	if err != nil {
		return err
	}
	if body.Keys != nil && len(body.Keys) == 0 {
		// None named means all to the queue; an empty list does not mean that here.
		return writeJSON(w, http.StatusOK, map[string]int{"revived": 0})
	}
	n, err := a.DeadLetters.Revive(r.Context(), body.Keys...)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]int{"revived": n})
}

// shutdown begins a stop that loses nothing and does not wait for its end.
func (a *api) shutdown(w http.ResponseWriter, _ *http.Request) error {
	defer a.Worker.Shutdown()
	if err := writeJSON(w, http.StatusAccepted, map[string]string{"status": "stopping"}); err != nil {
		return err
	}
	_ = http.NewResponseController(w).Flush() // Before the server stops; a client that left does not change that.
	return nil
}
