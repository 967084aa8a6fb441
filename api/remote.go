package api

import (
	"bytes"
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

	"claudemem"
	"claudemem/store"
	"claudemem/wire"
)

// Remote is the memory of a running worker, asked through its socket.
type Remote struct {
	Info   wire.WorkerInfo
	client *http.Client
}

var _ Memory = (*Remote)(nil)

// FindWorker returns a client of a data directory's worker. It does not check that
// the worker answers; CodeUnavailable when there is no trace of one.
func FindWorker(dataDir string) (*Remote, error) {
	info, err := wire.ReadWorkerInfo(dataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Socket == "" {
		return nil, claudemem.Errorf(claudemem.CodeUnavailable, "no worker is running").
			WithHint("`claude-mem worker start` starts one")
	}
	if err != nil {
		return nil, claudemem.Errorf(claudemem.CodeUnavailable, "read worker.json: %w", err).
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
	return &Remote{Info: info, client: &http.Client{Transport: transport}}
}

// Identity is what GET /api/version answers.
type Identity struct {
	Version string `json:"version"`
	Wire    int    `json:"wire"`
}

// Identity asks the worker what it is. An error with CodeUnavailable means that
// nobody answers on the socket.
func (r *Remote) Identity(ctx context.Context) (Identity, error) {
	var id Identity
	err := r.Do(ctx, http.MethodGet, "/api/version", nil, &id)
	return id, err
}

// Shutdown asks the worker to stop; it returns when the worker has agreed, not
// when it has stopped.
func (r *Remote) Shutdown(ctx context.Context) error {
	return r.Do(ctx, http.MethodPost, "/api/admin/shutdown", nil, nil)
}

// remoteTimeout bounds one request to a worker when the caller's context does not.
const remoteTimeout = 10 * time.Second

// Do sends a request with body as JSON (nil = none) and decodes the answer into
// out (nil = not wanted). An error of the worker comes back as *claudemem.Error.
func (r *Remote) Do(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	var reader io.Reader
	if body != nil || method == http.MethodPost {
		raw := []byte("{}")
		if body != nil {
			var err error
			if raw, err = json.Marshal(body); err != nil {
				return fmt.Errorf("encode request: %w", err)
			}
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
	// The worker's own wire version: whoever looks after a worker of another
	// version must be able to ask it to stop.
	request.Header.Set(wire.Header, strconv.Itoa(r.Info.Wire))
	response, err := r.client.Do(request)
	if err != nil {
		return claudemem.Errorf(claudemem.CodeUnavailable, "the worker does not answer: %w", errors.Unwrap(err)).
			WithHint("`claude-mem worker status` tells more; `claude-mem worker start` starts one")
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return claudemem.Errorf(claudemem.CodeUnavailable, "read the worker's answer: %w", err)
	}
	if response.StatusCode >= 400 {
		return answerError(response.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return claudemem.Errorf(claudemem.CodeInternal, "decode the worker's answer to %s: %w", path, err)
	}
	return nil
}

func answerError(status int, raw []byte) error {
	var body ErrorBody
	if json.Unmarshal(raw, &body) != nil || body.Error.Code == "" {
		return claudemem.Errorf(claudemem.CodeInternal, "the worker answered with status %d", status)
	}
	return &claudemem.Error{Code: body.Error.Code, Message: body.Error.Message, Hint: body.Error.Hint}
}

// ErrorBody is the shape of every error: of HTTP answers, and of commands with --json.
type ErrorBody struct {
	Error struct {
		Code    claudemem.Code `json:"code"`
		Message string         `json:"message"`
		Hint    string         `json:"hint,omitempty"`
	} `json:"error"`
}

// NewErrorBody returns the shape of an error. Only a *claudemem.Error has a message
// of its own: another one may hold paths or content and is an internal error.
func NewErrorBody(err error) (body ErrorBody) {
	body.Error.Code = claudemem.CodeOf(err)
	var known *claudemem.Error
	if errors.As(err, &known) {
		body.Error.Message, body.Error.Hint = known.Message, known.Hint
	} else {
		body.Error.Message, body.Error.Hint = "internal error", "see claude-mem worker logs"
	}
	return body
}

// get asks a GET route with a request's parameters.
func get[A any](ctx context.Context, r *Remote, path string, request any) (out A, err error) {
	if values := Values(request); len(values) > 0 {
		path += "?" + values.Encode()
	}
	return out, r.Do(ctx, http.MethodGet, path, nil, &out)
}

// send sends a body to a route.
func send[A any](ctx context.Context, r *Remote, method, path string, body any) (out A, err error) {
	return out, r.Do(ctx, method, path, body, &out)
}

// Search implements Memory.
func (r *Remote) Search(ctx context.Context, q SearchRequest) (SearchPage, error) {
	return get[SearchPage](ctx, r, "/api/search", q)
}

// Timeline implements Memory.
func (r *Remote) Timeline(ctx context.Context, q TimelineRequest) (Timeline, error) {
	return get[Timeline](ctx, r, "/api/search/timeline", q)
}

// Observations implements Memory.
func (r *Remote) Observations(ctx context.Context, q ObservationsRequest) (Listing[Observation], error) {
	return get[Listing[Observation]](ctx, r, "/api/observations", q)
}

// Batch implements Memory.
func (r *Remote) Batch(ctx context.Context, q BatchRequest) (Batch, error) {
	return send[Batch](ctx, r, http.MethodPost, "/api/observations/batch", q)
}

// Summaries implements Memory.
func (r *Remote) Summaries(ctx context.Context, q RecordsRequest) (Listing[Summary], error) {
	return get[Listing[Summary]](ctx, r, "/api/summaries", q)
}

// Prompts implements Memory.
func (r *Remote) Prompts(ctx context.Context, q RecordsRequest) (Listing[Prompt], error) {
	return get[Listing[Prompt]](ctx, r, "/api/prompts", q)
}

// Sessions implements Memory.
func (r *Remote) Sessions(ctx context.Context, q SessionsRequest) (Page[SessionDigest], error) {
	return get[Page[SessionDigest]](ctx, r, "/api/sessions", q)
}

// Session implements Memory.
func (r *Remote) Session(ctx context.Context, q SessionRequest) (SessionRecords, error) {
	return get[SessionRecords](ctx, r, fmt.Sprintf("/api/sessions/%d", q.ID), q)
}

// Receipt implements Memory.
func (r *Remote) Receipt(ctx context.Context, q ReceiptRequest) (out store.SessionReceipt, err error) {
	if err := q.checkName(); err != nil {
		return out, err
	}
	return get[store.SessionReceipt](ctx, r, "/api/sessions/"+url.PathEscape(q.Name)+"/receipt", q)
}

// Projects implements Memory.
func (r *Remote) Projects(ctx context.Context, q ProjectsRequest) (Page[Project], error) {
	return get[Page[Project]](ctx, r, "/api/projects", q)
}

// Learnings implements Memory.
func (r *Remote) Learnings(ctx context.Context, q LearningsRequest) (Page[Learning], error) {
	return get[Page[Learning]](ctx, r, "/api/learnings", q)
}

// Stats implements Memory.
func (r *Remote) Stats(ctx context.Context, q StatsRequest) (Stats, error) {
	return get[Stats](ctx, r, "/api/stats", q)
}

// Queue implements Memory.
func (r *Remote) Queue(ctx context.Context) (Queue, error) {
	return get[Queue](ctx, r, "/api/queue", struct{}{})
}

// Preview implements Memory.
func (r *Remote) Preview(ctx context.Context, q ContextRequest) (Preview, error) {
	return get[Preview](ctx, r, "/api/context/preview", q)
}

// AddObservation implements Memory.
func (r *Remote) AddObservation(ctx context.Context, n NewObservation) (Observation, error) {
	return send[Observation](ctx, r, http.MethodPost, "/api/observations", n)
}

func observationPath(id claudemem.ObservationID) string {
	return fmt.Sprintf("/api/observations/%d", id)
}

// EditObservation implements Memory.
func (r *Remote) EditObservation(ctx context.Context, id claudemem.ObservationID, edit claudemem.ObservationEdit) (Observation, error) {
	return send[Observation](ctx, r, http.MethodPatch, observationPath(id), edit)
}

// HideObservation implements Memory.
func (r *Remote) HideObservation(ctx context.Context, id claudemem.ObservationID, purge bool) (Hidden, error) {
	return send[Hidden](ctx, r, http.MethodDelete, observationPath(id)+"?"+Values(HideRequest{purge}).Encode(), nil)
}

// RestoreObservation implements Memory.
func (r *Remote) RestoreObservation(ctx context.Context, id claudemem.ObservationID) (Observation, error) {
	return send[Observation](ctx, r, http.MethodPost, observationPath(id)+"/restore", nil)
}

// AddLearning implements Memory.
func (r *Remote) AddLearning(ctx context.Context, n NewLearning) (Learning, error) {
	return send[Learning](ctx, r, http.MethodPost, "/api/learnings", n)
}

// EditLearning implements Memory.
func (r *Remote) EditLearning(ctx context.Context, id int64, edit claudemem.LearningEdit) (Learning, error) {
	return send[Learning](ctx, r, http.MethodPatch, fmt.Sprintf("/api/learnings/%d", id), edit)
}

// RetryQueue implements Memory.
func (r *Remote) RetryQueue(ctx context.Context, q RetryRequest) (Revived, error) {
	return send[Revived](ctx, r, http.MethodPost, "/api/queue/retry", q)
}

// NoteLookups implements Memory.
func (r *Remote) NoteLookups(ctx context.Context, n LookupNote) error {
	return r.Do(ctx, http.MethodPost, "/api/lookups", n, nil)
}
