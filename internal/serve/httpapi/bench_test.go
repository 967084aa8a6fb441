package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkIngest posts a tool event of 2.4 KB over the Unix socket to an
// ingester that does nothing, on kept connections.
func BenchmarkIngest(b *testing.B) {
	body := `{"delivery_id":"0123456789abcdef0123456789abcdef","kind":"tool","host":"claude-code","host_session_id":"0b7c1f6e-52d4-4b6f-9c7a-000000000001",` +
		`"occurred_at":1772625600000,"project_path":"/home/ada/work/tally","worktree_root":"/home/ada/work/tally","tool_name":"Bash","tool_use_id":"toolu_01",` +
		`"tool_input":{"command":"go test ./..."},"tool_response":{"stdout":"` + strings.Repeat("ok  tally/internal/money 0.01s\\n", 62) + `"}}`
	s := serve(b, Options{})
	s.unix.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	s.api.Ingester = discard{}
	s.api.Reminder = &reminderFunc{} // never asked: not a moment
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := s.unix.Post(s.url("/api/sessions/observations"), "application/json", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				b.Fatal(resp.Status)
			}
		}
	})
}
