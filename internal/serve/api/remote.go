package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// Remote is the memory of a running worker, asked through its socket.
type Remote struct {
	Memory
	Info   wire.WorkerInfo
	client *http.Client
}

// FindWorker returns a client of a data directory's worker. It does not check that
// the worker answers; CodeUnavailable when there is no trace of one.
func FindWorker(dataDir string) (*Remote, error) {
	info, err := wire.ReadWorkerInfo(dataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Socket == "" {
		return nil, memory.Errorf(memory.CodeUnavailable, "no worker is running").
			WithHint("`claude-mem worker start` starts one")
	}
	if err != nil {
		return nil, memory.Errorf(memory.CodeUnavailable, "read worker.json: %w", err).
			WithHint("`claude-mem worker restart` writes it anew")
	}
	return NewRemote(info), nil
}

// NewRemote returns a client of the worker that info describes.
func NewRemote(info wire.WorkerInfo) *Remote {
	var dialer net.Dialer
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", info.Socket)
		},
	}
	r := &Remote{Info: info, client: &http.Client{Transport: transport}}
	r.Memory = r.send
	return r
}

// send sends a call to its route.
func (r *Remote) send(ctx context.Context, c Call) error {
	path, err := pathOf(c.Path, c.Request)
	if err != nil {
		return err
	}
	if values := Values(c.Request); len(values) > 0 {
		path += "?" + values.Encode()
	}
	var body any
	if HasBody(c.Request) {
		body = c.Request
	}
	limit := remoteTimeout
	if c.Path == MergePath {
		limit = mergeTimeout
	}
	return r.DoWithin(ctx, limit, c.Method, path, body, c.Answer)
}

// Identity is the answer of GET /api/version.
type Identity struct {
	Version string `json:"version"`
	Wire    int    `json:"wire"`
}

// Identity returns the version of the worker. CodeUnavailable means that no process
// answers on the socket.
func (r *Remote) Identity(ctx context.Context) (Identity, error) {
	var id Identity
	err := r.Do(ctx, http.MethodGet, "/api/version", nil, &id)
	return id, err
}

// Shutdown asks the worker to stop. It returns when the worker has accepted, before it has
// stopped.
func (r *Remote) Shutdown(ctx context.Context) error {
	return r.Do(ctx, http.MethodPost, "/api/admin/shutdown", nil, nil)
}

// remoteTimeout bounds one request to a worker when the caller's context does not.
const remoteTimeout = 10 * time.Second

// mergeTimeout bounds a merge of projects, which is one transaction: 100,000 observations take
// about a quarter of a minute.
const mergeTimeout = 10 * time.Minute

// Do sends a request with body as JSON (nil = none) and decodes the answer into
// out (nil = not wanted). An error of the worker comes back as *memory.Error.
func (r *Remote) Do(ctx context.Context, method, path string, body, out any) error {
	return r.DoWithin(ctx, remoteTimeout, method, path, body, out)
}

// DoWithin is Do with another bound of the time.
func (r *Remote) DoWithin(ctx context.Context, limit time.Duration, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var reader io.Reader
	if body != nil || method == http.MethodPost {
		raw, err := json.Marshal(cmp.Or[any](body, struct{}{}))
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, reader)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	if reader != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	// The worker's own wire version, so that a worker of another version can be asked to
	// stop.
	request.Header.Set(wire.Header, strconv.Itoa(r.Info.Wire))
	response, err := r.client.Do(request)
	if err != nil {
		return unanswered(method, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return unanswered(method, err)
	}
	if response.StatusCode >= 400 {
		return answerError(response.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return memory.Errorf(memory.CodeInternal, "decode the worker's answer to %s: %w", path, err)
	}
	return nil
}

// unanswered returns the CodeUnavailable error of a request without an answer. The worker
// may have done what it was asked for, unless it was not reached.
func unanswered(method string, err error) error {
	hint := "`claude-mem worker status` tells more; `claude-mem worker start` starts one"
	if !NotReached(err) && method != http.MethodGet {
		hint = "it may have been done: look before you try again; `claude-mem worker status` tells more"
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err // without the address of a socket's request
	}
	return memory.Errorf(memory.CodeUnavailable, "the worker does not answer: %w", err).WithHint(hint)
}

// NotReached reports whether a request failed before the worker could have seen it.
func NotReached(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// answerError returns the error of a worker's answer; CodeInternal if the body has none.
func answerError(status int, raw []byte) error {
	var body ErrorBody
	if json.Unmarshal(raw, &body) != nil || body.Error.Code == "" {
		return memory.Errorf(memory.CodeInternal, "the worker answered with status %d", status)
	}
	return &memory.Error{Code: body.Error.Code, Message: body.Error.Message, Hint: body.Error.Hint}
}

// Codes of errors that only HTTP has.
const (
	CodeUnauthorized memory.Code = "unauthorized"       // the token is missing or wrong
	CodeMethod       memory.Code = "method_not_allowed" // the route has another method
	CodeMediaType    memory.Code = "media_type"         // a write whose body is not JSON
)

// statuses is the one table from codes to HTTP statuses.
var statuses = map[memory.Code]int{
	memory.CodeInvalid:     http.StatusBadRequest,
	memory.CodeNotFound:    http.StatusNotFound,
	memory.CodeForbidden:   http.StatusForbidden,
	memory.CodeConflict:    http.StatusConflict,
	memory.CodeWireVersion: http.StatusConflict,
	memory.CodeUnavailable: http.StatusServiceUnavailable,
	memory.CodeTooLarge:    http.StatusRequestEntityTooLarge,
	memory.CodeNewerSchema: http.StatusServiceUnavailable,
	memory.CodeOlderSchema: http.StatusServiceUnavailable,
	memory.CodeNoMemory:    http.StatusServiceUnavailable,
	memory.CodeStorage:     http.StatusInsufficientStorage,
	memory.CodeInternal:    http.StatusInternalServerError,
	CodeUnauthorized:       http.StatusUnauthorized,
	CodeMethod:             http.StatusMethodNotAllowed,
	CodeMediaType:          http.StatusUnsupportedMediaType,
}

// StatusOf returns the HTTP status of an error with a code.
func StatusOf(code memory.Code) int { return cmp.Or(statuses[code], http.StatusInternalServerError) }

// ErrorBody is the shape of every error: of HTTP answers, and of commands with --json.
type ErrorBody struct {
	Error struct {
		Code    memory.Code `json:"code"`
		Message string      `json:"message"`
		Hint    string      `json:"hint,omitempty"`
	} `json:"error"`
}

// NewErrorBody returns an error in the shape of the API. Only the message of a
// *memory.Error is shown: other errors may contain paths or content.
func NewErrorBody(err error) (body ErrorBody) {
	body.Error.Code = memory.CodeOf(err)
	if known, ok := errors.AsType[*memory.Error](err); ok {
		body.Error.Message, body.Error.Hint = known.Message, known.Hint
	} else {
		body.Error.Message, body.Error.Hint = "internal error", "see claude-mem worker logs"
	}
	return body
}
