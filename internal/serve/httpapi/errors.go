package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"claudemem/internal/serve/api"
)

// fail answers with an error. The text of an error that is no memory.Error may contain
// paths or content: it is logged, and the client gets "internal error".
func (a *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	body := api.NewErrorBody(err)
	status := api.StatusOf(body.Error.Code)
	if status >= http.StatusInternalServerError && r.Context().Err() == nil {
		a.opts.Logger.Error("request failed", "method", r.Method, "route", r.Pattern, "code", body.Error.Code, "error", err)
		if a.opts.Failed != nil {
			a.opts.Failed(err)
		}
	}
	// The rest of the body is not read.
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	if err := writeJSON(w, status, body); err != nil {
		a.opts.Logger.Error("encode error body", "error", err)
	}
}

// writeJSON answers with v as JSON. It returns an error of the encoding, before anything
// was written; only Flush can tell whether the client received the answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	// Answers are never HTML (nosniff is set); the tags of a context block stay readable.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may have left
	return nil
}
