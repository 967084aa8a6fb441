package daemon

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
	"strconv"
	"time"

	"claudemem"
	"claudemem/wire"
)

// Peer is a running worker as another process sees it: through its socket.
type Peer struct {
	Info wire.WorkerInfo
	// Session names, as HOST:ID, the session on whose behalf is asked; "" for none.
	Session string
	client  *http.Client
}

// FindPeer looks a data directory's worker up. It does not tell whether the
// worker answers; CodeUnavailable when there is no trace of one.
func FindPeer(dataDir string) (*Peer, error) {
	info, err := wire.ReadWorkerInfo(dataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Socket == "" {
		return nil, claudemem.Errorf(claudemem.CodeUnavailable, "no worker is running").
			WithHint("`claude-mem worker start` starts one")
	}
	if err != nil {
		return nil, claudemem.Errorf(claudemem.CodeUnavailable, "read worker.json: %w", err).
			WithHint("`claude-mem worker restart` writes it anew")
	}
	var dialer net.Dialer
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", info.Socket)
		},
	}
	return &Peer{Info: info, client: &http.Client{Transport: transport}}, nil
}

// Identity is what GET /api/version answers.
type Identity struct {
	Version string `json:"version"`
	Wire    int    `json:"wire"`
}

// Identity asks the worker what it is. An error with CodeUnavailable means that
// nobody answers on the socket.
func (p *Peer) Identity(ctx context.Context) (Identity, error) {
	var id Identity
	err := p.Do(ctx, http.MethodGet, "/api/version", nil, &id)
	return id, err
}

// Shutdown asks the worker to stop; it returns when the worker has agreed, not
// when it has stopped.
func (p *Peer) Shutdown(ctx context.Context) error {
	return p.Do(ctx, http.MethodPost, "/api/admin/shutdown", nil, nil)
}

// peerTimeout bounds one request to a worker when the caller's context does not.
const peerTimeout = 10 * time.Second

// Do sends a request with body as JSON (nil = none) and decodes the answer into
// out (nil = not wanted). An error of the worker comes back as *claudemem.Error.
func (p *Peer) Do(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
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
	request.Header.Set(wire.Header, strconv.Itoa(p.Info.Wire))
	if p.Session != "" {
		request.Header.Set(wire.SessionHeader, p.Session)
	}
	response, err := p.client.Do(request)
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
	var body struct {
		Error struct {
			Code    claudemem.Code `json:"code"`
			Message string         `json:"message"`
			Hint    string         `json:"hint"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Error.Code == "" {
		return claudemem.Errorf(claudemem.CodeInternal, "the worker answered with status %d", status)
	}
	return &claudemem.Error{Code: body.Error.Code, Message: body.Error.Message, Hint: body.Error.Hint}
}
