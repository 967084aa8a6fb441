//go:build unix

package world

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// API is a client of a memory's worker, over its socket.
type API struct {
	*http.Client
	m *Memory
}

// API needs a worker that runs or has run; one that is started later is found too.
func (m *Memory) API() *API {
	m.T.Helper()
	var info struct{ Socket string }
	m.ReadJSON("worker.json", &info)
	transport := &http.Transport{
		MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", info.Socket)
		},
	}
	m.T.Cleanup(transport.CloseIdleConnections)
	return &API{Client: &http.Client{Transport: transport, Timeout: 30 * time.Second}, m: m}
}

// Send returns the status and the body; an error means that there is no answer.
func (a *API) Send(method, target string, body any) (int, []byte, error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequest(method, "http://localhost"+target, reader)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// Get fails the test unless the answer is 200, and decodes it.
func (a *API) Get(t testing.TB, path string, params url.Values, into any) {
	t.Helper()
	status, body, err := a.Send(http.MethodGet, path+"?"+params.Encode(), nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s?%.200s: %d, %v: %.300s", path, params.Encode(), status, err, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v: %.300s", path, err, body)
	}
}

// Note is an observation that somebody writes down.
type Note struct {
	Title     string   `json:"title,omitempty"`
	Subtitle  string   `json:"subtitle,omitempty"`
	Narrative string   `json:"narrative,omitempty"`
	Facts     []string `json:"facts,omitempty"`
	Concepts  []string `json:"concepts,omitempty"`
	Files     []string `json:"files_modified,omitempty"`
	Type      string   `json:"type,omitempty"`
	Project   string   `json:"project"`
	CreatedAt string   `json:"created_at,omitempty"`
}

// ErrRefused means that the worker answered and did not keep it.
var ErrRefused = errors.New("refused")

// Add enters an observation; an error other than errRefused leaves open whether it is kept.
func (a *API) Add(n Note) (memory.ObservationID, error) {
	status, body, err := a.Send(http.MethodPost, "/api/observations", n)
	if err != nil {
		return 0, err
	}
	var kept struct{ ID memory.ObservationID }
	if status != http.StatusCreated || json.Unmarshal(body, &kept) != nil || kept.ID == 0 {
		return 0, fmt.Errorf("%w: %d: %.300s", ErrRefused, status, body)
	}
	return kept.ID, nil
}

// Found is what the tests read of a page of results.
type Found struct {
	Total   int               `json:"total"`
	Results []json.RawMessage `json:"results"`
}

// Observations are the ids of the results, all observations, in order.
func (f *Found) Observations(t testing.TB) []memory.ObservationID {
	t.Helper()
	ids := make([]memory.ObservationID, len(f.Results))
	for i, raw := range f.Results {
		var hit struct{ ID memory.ObservationID }
		if err := json.Unmarshal(raw, &hit); err != nil {
			t.Fatal(err)
		}
		ids[i] = hit.ID
	}
	return ids
}

// ReadIndex reads one number of index.db as it lies on disk; ok is false when
// there is no such index to read.
func (m *Memory) ReadIndex(query string) (n int64, ok bool) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.Dir, "index.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return 0, false
	}
	defer db.Close()
	return n, db.QueryRow(query).Scan(&n) == nil
}

// IndexPosition is the last change that the index has taken in, -1 while it is being built.
const IndexPosition = `SELECT CASE WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'build') THEN -1 ELSE seq END FROM cursor`

// NewestChange is the number of the last change that was committed.
func (m *Memory) NewestChange() (seq int64) {
	m.Query(func(r *sql.Rows) error { return r.Scan(&seq) }, `SELECT coalesce(max(seq), 0) FROM changes`)
	return seq
}

// Indexed waits until the index has taken in what was committed.
func (m *Memory) Indexed(limit time.Duration) {
	m.T.Helper()
	deadline := time.Now().Add(limit)
	for {
		want := m.NewestChange()
		seq, ok := m.ReadIndex(IndexPosition)
		if ok && seq >= want {
			return
		}
		if time.Now().After(deadline) {
			m.T.Fatalf("the index is at %d (%v) after %v, want %d", seq, ok, limit, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// RemoveIndex is deleteIndex and returns how many files there were.
func (m *Memory) RemoveIndex() (removed int) {
	m.T.Helper()
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		m.T.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "index") || strings.HasPrefix(e.Name(), "vectors") {
			if err := os.RemoveAll(filepath.Join(m.Dir, e.Name())); err != nil {
				m.T.Fatal(err)
			}
			removed++
		}
	}
	return removed
}

// WaitGone waits until a killed process is gone: until then it may still write.
func WaitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for syscall.Kill(pid, 0) == nil {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(state), ") Z ") {
			return // dead, and nobody has asked for its exit status
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlives SIGKILL", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

// ToolAnswer calls a tool of the MCP server in a directory and returns the result as JSON.
func (m *Memory) ToolAnswer(dir, tool string, arguments map[string]any) (string, error) {
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		return "", err
	}
	cmd := exec.Command(Binary("claude-mem"), "mcp")
	cmd.Env, cmd.Dir = m.Env, dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = in.Close() }()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintf(in, "%s\n", call)
	for decoder := json.NewDecoder(out); ; {
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if err := decoder.Decode(&answer); err != nil {
			return "", err
		}
		if answer.ID == 2 {
			if !bytes.Contains(answer.Result, []byte("content")) {
				return "", fmt.Errorf("%s: %.200s", tool, answer.Result)
			}
			return string(answer.Result), nil
		}
	}
}
