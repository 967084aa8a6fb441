package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// tellMCP calls a tool at an address of the worker and returns the answer's text.
func tellMCP(t *testing.T, client *http.Client, url, tool string, arguments map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Result.Content) != 1 {
		t.Fatalf("%s: status %d, %s", tool, response.StatusCode, raw)
	}
	return answer.Result.Content[0].Text
}

// TestMCP calls the tools on socket and port: an observation that an agent saves is
// redacted, found, hidden and restored.
func TestMCP(t *testing.T) {
	noLeaks(t)
	cfg := config(t.TempDir())
	cfg.Port = ptr(freePort(t))
	w := open(t, cfg)
	token, err := readToken(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	unix := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.socket)
	}}
	tcp := &http.Transport{}
	t.Cleanup(unix.CloseIdleConnections)
	t.Cleanup(tcp.CloseIdleConnections)
	for _, way := range []struct {
		name, url string
		via       http.RoundTripper
	}{{"socket", "http://localhost", unix}, {"port", fmt.Sprintf("http://127.0.0.1:%d", w.port), bearer{tcp, token}}} {
		t.Run(way.name, func(t *testing.T) {
			client := &http.Client{Transport: way.via}
			project := "/src/" + way.name
			saved := tellMCP(t, client, way.url, "save_memory", map[string]any{
				"text": "The till wants CP437. Its password is in <private>the drawer</private>. token=ghp_" + strings.Repeat("a1B2", 9), "project": project})
			id, _, found := strings.Cut(strings.TrimPrefix(saved, "Saved as #"), " ")
			if !found || !strings.Contains(saved, "was not kept") {
				t.Fatalf("saved: %q", saved)
			}
			got := tellMCP(t, client, way.url, "get_observations", map[string]any{"ids": id})
			if !strings.Contains(got, "CP437") || strings.Contains(got, "drawer") || strings.Contains(got, "ghp_") {
				t.Errorf("kept: %q", got)
			}
			indexed(t, w)
			if got := tellMCP(t, client, way.url, "search_memory", map[string]any{"query": "till cp437", "project": project}); !strings.Contains(got, "#"+id) {
				t.Errorf("searched: %q", got)
			}
			tellMCP(t, client, way.url, "forget_memory", map[string]any{"ids": id})
			if got := tellMCP(t, client, way.url, "search_memory", map[string]any{"project": project}); strings.Contains(got, "#"+id) {
				t.Errorf("hidden, and found all the same: %q", got)
			}
			tellMCP(t, client, way.url, "forget_memory", map[string]any{"ids": id, "undo": true})
			if got := tellMCP(t, client, way.url, "search_memory", map[string]any{"project": project}); !strings.Contains(got, "#"+id) {
				t.Errorf("brought back, and not found: %q", got)
			}
		})
	}
}

// bearer shows the token: not every system tells whose a connection is.
type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// TestMCPIdle checks that an open connection of a client does not reset the idle time.
func TestMCPIdle(t *testing.T) {
	cfg := config(t.TempDir())
	var idle atomic.Int64 // how far the worker's clock is ahead
	cfg.Clock = func() time.Time { return time.Now().Add(time.Duration(idle.Load())) }
	cfg.Housekeeping = 5 * time.Millisecond
	cfg.IdleExit = ptr(time.Hour)
	w := open(t, cfg)
	link, err := net.Dial("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = link.Close() }()
	body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if _, err := fmt.Fprintf(link, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	var status [12]byte
	if _, err := io.ReadFull(link, status[:]); err != nil || string(status[:]) != "HTTP/1.1 200" {
		t.Fatalf("ping: %q, %v", status, err)
	}
	if !eventually(func() bool { return w.open.Load() == 0 }) {
		t.Fatal("the request is still counted")
	}
	idle.Store(int64(2 * time.Hour))
	select {
	case <-w.Done():
	case <-time.After(2 * time.Minute):
		t.Error("the worker does not end")
	}
}

// TestMCPSlowClients checks that clients that send nothing, or half a message, do not
// delay other requests.
func TestMCPSlowClients(t *testing.T) {
	w := open(t, config(t.TempDir()))
	for range 50 {
		link, err := net.Dial("unix", w.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = link.Close() })
		if _, err := io.WriteString(link, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.socket)
	}}
	defer transport.CloseIdleConnections()
	if got := tellMCP(t, &http.Client{Transport: transport}, "http://localhost", "get_observations", map[string]any{"ids": 1}); !strings.HasPrefix(got, "error ("+string(memory.CodeNotFound)) {
		t.Errorf("got %q", got)
	}
}

// freePort is a port that nobody holds just now; the worker takes the next one if that
// has changed.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
