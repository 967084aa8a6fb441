//go:build unix

package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"claudemem/proof/acceptance/world"
)

// BenchmarkSocket measures durable events a second through the whole way in: 8
// writers post 2.4 KB tool events to the socket of a real worker, which redacts
// with the full rules and answers after the commit.
func BenchmarkSocket(b *testing.B) {
	m := world.NewMemory(b)
	m.MustCommand("worker", "start")
	var info struct{ Socket string }
	m.ReadJSON("worker.json", &info)
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", info.Socket)
		},
	}}
	const writers = 8
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				body := socketEvent(w, n)
				if n == 1 {
					b.SetBytes(int64(len(body)))
				}
				resp, err := client.Post("http://localhost/api/sessions/observations", "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusAccepted {
					b.Errorf("status %d", resp.StatusCode)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	if books := m.Books(); books.Received != b.N {
		b.Errorf("%d events received, want %d", books.Received, b.N)
	}
}

// socketEvent is a tool event of 2.4 KB: a test run with its output.
func socketEvent(writer int, n int64) []byte {
	var out strings.Builder
	for i := 0; out.Len() < 1900; i++ {
		fmt.Fprintf(&out, "=== RUN   TestHandler%d/case_%d\n    handler_test.go:%d: status = 200, body has %d bytes\n", n%97, i, 40+i, 128*i)
	}
	input, _ := json.Marshal(map[string]any{"command": "go test ./internal/handler -run TestHandler -v", "description": "Run the handler tests"})
	response, _ := json.Marshal(map[string]any{"stdout": out.String(), "stderr": "", "interrupted": false})
	body, _ := json.Marshal(map[string]any{
		"host": "claude-code", "host_session_id": fmt.Sprintf("bench-%d", writer), "tool_name": "Bash",
		"tool_use_id": fmt.Sprintf("toolu_%d_%d", writer, n), "prompt_id": "p1", "cwd": "/home/dev/project",
		"project_path": "/home/dev/project", "tool_input": json.RawMessage(input), "tool_response": json.RawMessage(response),
	})
	return body
}
