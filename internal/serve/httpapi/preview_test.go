package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

func someBlock() memory.ContextBlock {
	text := "<claude-mem-context>\nHistory.\n\n## Recent Sessions\n- [2h ago] Fixed totals.\n\n## Relevant Past Work\n- Totals: rounded once (#124)\n- Totals: rounded once (#124)\n</claude-mem-context>"
	return memory.ContextBlock{
		Text: text, Tokens: 55,
		Layers:  []memory.LayerCost{{Name: "sessions", Tokens: 12, Items: 1}, {Name: "observations", Tokens: 25, Items: 2}},
		Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}, {Name: "symbols", Tokens: 90, Items: 4, Reason: "budget"}},
		BuildMS: 1.5,
		Lines: []memory.ContextLine{
			{Layer: "sessions", Text: "- [2h ago] Fixed totals.", Tokens: 7, Session: 12, Why: "newest session"},
			{Layer: "observations", Text: "- Totals: rounded once (#124)", Tokens: 9, Observation: 124, Why: "pinned"},
			{Layer: "observations", Text: "- Totals: rounded once (#124)", Tokens: 9, Observation: 124, Why: "twice"},
			{Layer: "observations", Text: "- not in the text", Tokens: 9, Why: "a fault"},
		},
		Injection: memory.Injection{Where: "SessionStart", Tokens: 55, Budget: 500},
	}
}

// A preview shows the block and the number of each line; nothing is booked, no session has
// started, and no notice is taken.
func TestPreview(t *testing.T) {
	s := serve(t, Options{})
	s.block = someBlock()
	s.notices = []string{"still to be told"}
	path := "/api/context/preview?project_path=/p&host=claude-code&session_id=s1&source=compact&budget=500"
	got := s.do(t, s.unix, "GET", path, "")
	var preview api.Preview
	if err := json.Unmarshal([]byte(got.body), &preview); err != nil || got.status != 200 {
		t.Fatalf("status %d, %v: %s", got.status, err, got.body)
	}
	if preview.Text != s.block.Text || preview.Budget != 500 || preview.EffectiveBudget != 500 || preview.Source != "compact" {
		t.Errorf("got %+v", preview)
	}
	want := []api.PreviewLine{{Number: 5, ContextLine: s.block.Lines[0]}, {Number: 8, ContextLine: s.block.Lines[1]}, {Number: 9, ContextLine: s.block.Lines[2]}}
	if diff := cmp.Diff(want, preview.Lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	request := memory.ContextRequest{Host: "claude-code", HostSessionID: "s1", ProjectPath: "/p", Source: "compact", Budget: 500, Explain: true}
	if s.asked[0] != request {
		t.Errorf("asked for %+v, want %+v", s.asked[0], request)
	}
	if got := s.do(t, s.tcp, http.MethodHead, path, ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: status %d: %s", got.status, got.body)
	}
	s.err = memory.Errorf(memory.CodeUnavailable, "no layer")
	if got := s.do(t, s.unix, "GET", path, ""); got.status != 503 {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	// The other route does its work after the answer before it frees the connection.
	if len(s.booked) != 0 || len(s.touched) != 0 || len(s.notices) != 1 {
		t.Errorf("booked %d, touched %d, notices left %v", len(s.booked), len(s.touched), s.notices)
	}
}

func TestGoldenPreviews(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		change     func(*fakeWorker)
	}{
		{"preview", "/api/context/preview?project=/home/ada/tally&budget=500", func(f *fakeWorker) { f.block = someBlock() }},
		{"preview-empty", "/api/context/preview?project=/p&source=resume", nil},
		{"preview-without-project", "/api/context/preview", nil},
		{"preview-bad-budget", "/api/context/preview?project=/p&budget=" + strings.Repeat("9", 30), nil},
	} {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, "", tt.path, "", tt.change) })
	}
}
