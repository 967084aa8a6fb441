package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"claudemem"
	"claudemem/wire"
)

// Local is the API for its own process: the same routes and rules, no connection.
// It is let in as a client on the socket is, for nobody else can hold one.
type Local struct {
	handler http.Handler
}

// NewLocal makes the API for this process alone.
func NewLocal(deps Deps, opts Options) *Local {
	a := newAPI(deps, opts)
	local := &Local{}
	if deps.MCP != nil {
		a.mcp = deps.MCP(local)
	}
	local.handler = a.guarded(a.router())
	return local
}

// Do asks a route (target: path and query) with body as JSON, nil for none, and
// decodes the answer into out, nil when it is not wanted. session names, as HOST:ID,
// the session on whose behalf that is done, "" when it is not known. An error of the
// route comes back as *claudemem.Error.
func (l *Local) Do(ctx context.Context, method, target, session string, body, out any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		sent = bytes.NewReader(raw)
	}
	ctx = context.WithValue(ctx, linkKey{}, &link{unix: true})
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, sent)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if session != "" {
		request.Header.Set(wire.SessionHeader, session)
	}
	answer := recorder{header: http.Header{}}
	l.handler.ServeHTTP(&answer, request)
	if err := ctx.Err(); err != nil {
		return err // whatever was answered then, nobody waits for it
	}
	if answer.status >= http.StatusBadRequest {
		var failed errorBody
		if err := json.Unmarshal(answer.body.Bytes(), &failed); err != nil {
			return errors.Join(fmt.Errorf("%s: status %d", request.URL.Path, answer.status), err)
		}
		return &claudemem.Error{Code: failed.Error.Code, Message: failed.Error.Message, Hint: failed.Error.Hint}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer.body.Bytes(), out); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", request.URL.Path, err)
	}
	return nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// FlushError says that the answer has arrived, which it has.
func (r *recorder) FlushError() error { return nil }
