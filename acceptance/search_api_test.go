//go:build unix

package acceptance

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
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"claudemem"
)

// api is a client of a memory's worker, over its socket.
type api struct {
	*http.Client
	m *memory
}

// api needs a worker that runs or has run; one that is started later is found too.
func (m *memory) api() *api {
	m.t.Helper()
	var info struct{ Socket string }
	m.readJSON("worker.json", &info)
	transport := &http.Transport{
		MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", info.Socket)
		},
	}
	m.t.Cleanup(transport.CloseIdleConnections)
	return &api{Client: &http.Client{Transport: transport, Timeout: 30 * time.Second}, m: m}
}

// send returns the status and the body; an error means that there is no answer.
func (a *api) send(method, target string, body any) (int, []byte, error) {
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

// get fails the test unless the answer is 200, and decodes it.
func (a *api) get(t testing.TB, path string, params url.Values, into any) {
	t.Helper()
	status, body, err := a.send(http.MethodGet, path+"?"+params.Encode(), nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s?%.200s: %d, %v: %.300s", path, params.Encode(), status, err, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v: %.300s", path, err, body)
	}
}

// note is an observation that somebody writes down.
type note struct {
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

// errRefused means that the worker answered and did not keep it.
var errRefused = errors.New("refused")

// add enters an observation; an error other than errRefused leaves open whether it is kept.
func (a *api) add(n note) (claudemem.ObservationID, error) {
	status, body, err := a.send(http.MethodPost, "/api/observations", n)
	if err != nil {
		return 0, err
	}
	var kept struct{ ID claudemem.ObservationID }
	if status != http.StatusCreated || json.Unmarshal(body, &kept) != nil || kept.ID == 0 {
		return 0, fmt.Errorf("%w: %d: %.300s", errRefused, status, body)
	}
	return kept.ID, nil
}

// found is what the tests read of a page of results.
type found struct {
	Total   int               `json:"total"`
	Results []json.RawMessage `json:"results"`
}

// observations are the ids of the results, all observations, in order.
func (f *found) observations(t testing.TB) []claudemem.ObservationID {
	t.Helper()
	ids := make([]claudemem.ObservationID, len(f.Results))
	for i, raw := range f.Results {
		var hit struct{ ID claudemem.ObservationID }
		if err := json.Unmarshal(raw, &hit); err != nil {
			t.Fatal(err)
		}
		ids[i] = hit.ID
	}
	return ids
}

// readIndex reads one number of index.db as it lies on disk; ok is false when
// there is no such index to read.
func (m *memory) readIndex(query string) (n int64, ok bool) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.dir, "index.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return 0, false
	}
	defer db.Close()
	return n, db.QueryRow(query).Scan(&n) == nil
}

// indexPosition is the last change that the index has taken in, -1 while it is being built.
const indexPosition = `SELECT CASE WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'build') THEN -1 ELSE seq END FROM cursor`

// newestChange is the number of the last change that was committed.
func (m *memory) newestChange() (seq int64) {
	m.query(func(r *sql.Rows) error { return r.Scan(&seq) }, `SELECT coalesce(max(seq), 0) FROM changes`)
	return seq
}

// indexed waits until the index has taken in what was committed.
func (m *memory) indexed(limit time.Duration) {
	m.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		want := m.newestChange()
		seq, ok := m.readIndex(indexPosition)
		if ok && seq >= want {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("the index is at %d (%v) after %v, want %d", seq, ok, limit, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// word is the nth of words that no text has, letters only, and no two of which are
// one typing error apart: each syllable stands for a digit, and the last for their sum.
func word(n int) string {
	syllables := []string{"ba", "ke", "di", "fo", "gu", "ly", "me", "na", "ro", "tu"}
	out, sum := "zx", 0
	for _, d := range fmt.Sprintf("%05d", n) {
		sum += int(d-'0') * 3
		out += syllables[d-'0']
	}
	return out + syllables[sum%10] + "q"
}

func number(n int) string { return strconv.Itoa(n) }
