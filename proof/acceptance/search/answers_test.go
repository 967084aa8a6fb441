//go:build unix

package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// TestExplanations checks over a real store that what explains a score adds up to it.
func TestExplanations(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	sentences := hostileMemory(t, m, client)
	queries := []string{"rate limiter", "what bugs did we fix", "getUserByEmail", "user_service", "schedular retrys", "日本語のテキスト", `"retry loop" OR cache`, "half a cent AND NOT parser"}
	for i := 0; i < len(sentences); i += 40 {
		queries = append(queries, sentences[i])
	}
	checked, parts, factors := 0, map[string]bool{}, map[string]bool{}
	for _, query := range queries {
		var page struct{ Results []json.RawMessage }
		client.Get(t, "/api/search", url.Values{"query": {query}, "explain": {"1"}, "limit": {"40"}}, &page)
		last := math.Inf(1)
		for _, raw := range page.Results {
			var hit struct {
				ID    int64
				Score float64
				Why   *memory.Explanation
			}
			if err := json.Unmarshal(raw, &hit); err != nil {
				t.Fatal(err)
			}
			if hit.Score == 0 {
				continue // only the filter found it
			}
			if hit.Why == nil || len(hit.Why.Parts) == 0 {
				t.Errorf("%q: #%d has a score and no explanation", query, hit.ID)
				continue
			}
			if sum := hit.Why.Score(); math.Abs(sum-hit.Score) > 1e-9*max(1, math.Abs(hit.Score)) {
				t.Errorf("%q: #%d has the score %v, its explanation adds up to %v: %+v", query, hit.ID, hit.Score, sum, *hit.Why)
			}
			if hit.Score > last {
				t.Errorf("%q: #%d with %v comes after %v", query, hit.ID, hit.Score, last)
			}
			last = hit.Score
			checked++
			for _, p := range hit.Why.Parts {
				parts[p.Name] = true
			}
			for _, f := range hit.Why.Factors {
				factors[f.Name] = true
			}
		}
	}
	if checked < 200 {
		t.Errorf("%d scores explained, want at least 200", checked)
	}
	if len(parts) < 2 {
		t.Errorf("the scores are made of %v only", parts)
	}
	world.Figure(t, 5, "%d scores of %d queries add up (%d kinds of parts, %d of factors)", checked, len(queries), len(parts), len(factors))
}

// The golden answers: a small memory with fixed times, asked through the API. They
// are meant to be read.
func TestAnswersOfTheAPI(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	day := func(d, h, minute int) string {
		return time.Date(2026, 3, d, h, minute, 0, 0, time.UTC).Format(time.RFC3339)
	}
	prompt := func(session, text, at string) {
		status, body, err := client.Send(http.MethodPost, "/api/sessions/init", map[string]any{
			"host": "raw", "host_session_id": session, "project": "/home/dev/tally", "cwd": "/home/dev/tally",
			"prompt": text, "prompt_id": session + at, "occurred_at": mustMillis(t, at),
		})
		if err != nil || status >= 300 {
			t.Fatalf("prompt: %d %v %s", status, err, body)
		}
	}
	edited := func(session, file, at string) {
		status, body, err := client.Send(http.MethodPost, "/api/sessions/observations", map[string]any{
			"host": "raw", "host_session_id": session, "project": "/home/dev/tally", "cwd": "/home/dev/tally", "tool_name": "Edit",
			"tool_input": map[string]any{"file_path": file, "old_string": "round(l)", "new_string": "l"}, "tool_response": map[string]any{"filePath": file},
			"tool_use_id": "t1", "prompt_id": session + day(2, 9, 0), "occurred_at": mustMillis(t, at),
		})
		if err != nil || status >= 300 {
			t.Fatalf("tool: %d %v %s", status, err, body)
		}
	}
	stop := func(session, text, at string) {
		status, body, err := client.Send(http.MethodPost, "/api/sessions/summarize", map[string]any{
			"host": "raw", "host_session_id": session, "project": "/home/dev/tally", "cwd": "/home/dev/tally",
			"last_assistant_message": text, "prompt_id": session + day(2, 9, 0), "occurred_at": mustMillis(t, at),
		})
		if err != nil || status >= 300 {
			t.Fatalf("stop: %d %v %s", status, err, body)
		}
	}
	write := func(n world.Note) {
		n.Project = "/home/dev/tally"
		if _, err := client.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	prompt("one", "Why does the invoice total drift by a cent?", day(2, 9, 0))
	edited("one", "internal/invoice/total.go", day(2, 9, 5))
	stop("one", "The lines are rounded before they are added; I now round the sum once.", day(2, 9, 8))
	m.Settle(30 * time.Second) // the turn becomes the first observation
	write(world.Note{Title: "Totals drift because lines are rounded before they are added", Subtitle: "sum first, round once", Type: "discovery",
		Narrative: "InvoiceTotal rounds every line. Half cents add up over long invoices.", Facts: []string{"100 lines drift by up to 50 cents"},
		Concepts: []string{"problem-solution"}, Files: []string{"internal/invoice/total.go"}, CreatedAt: day(2, 9, 10)})
	write(world.Note{Title: "Round the invoice total once, at the end", Type: "bugfix", Narrative: "InvoiceTotal adds whole cents and rounds the sum.",
		Concepts: []string{"problem-solution"}, Files: []string{"internal/invoice/total.go", "internal/invoice/total_test.go"}, CreatedAt: day(2, 9, 40)})
	prompt("two", "Let the importer retry when the bank answers 429", day(3, 14, 0))
	write(world.Note{Title: "The importer waits as long as Retry-After says", Subtitle: "at most five minutes", Type: "feature",
		Narrative: "fetchStatements honours Retry-After and gives up after five attempts.", Files: []string{"importer/bank.go"}, CreatedAt: day(3, 14, 30)})
	write(world.Note{Title: "Amounts stay whole cents everywhere", Type: "decision", Narrative: "No floats between the importer and the invoice.",
		Concepts: []string{"trade-off", "gotcha"}, CreatedAt: day(3, 15, 0)})
	m.Settle(30 * time.Second)
	m.Indexed(60 * time.Second)

	var got strings.Builder
	got.WriteString("# What the search routes answer\n\nA memory of two prompts, a turn that was distilled, and four observations that were written down.\n")
	for _, ask := range []struct{ path, query string }{
		{"/api/search", "query=cent+rounding&project=tally"},
		{"/api/search", "project=tally&type=decision,feature"},
		{"/api/search/by-file", "file=internal/invoice&project=tally"},
		{"/api/search/timeline", "anchor=3&depth_before=2&depth_after=2"},
		{"/api/search/timeline", "anchor=S2&depth_before=1&depth_after=10"},
		{"/api/search/timeline", "anchor=2026-03-03T00:00:00Z&depth_before=1&depth_after=1"},
		{"/api/search/timeline-by-query", "query=Retry-After+bank&depth_before=1&depth_after=1"},
		{"/api/search/recent-context", "project=tally"},
	} {
		status, body, err := client.Send(http.MethodGet, ask.path+"?"+ask.query, nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("GET %s?%s: %d %v %s", ask.path, ask.query, status, err, body)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, bytes.TrimSpace(scores.ReplaceAll(body, []byte(`"score":"…"`))), "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "\n## GET %s?%s\n\n```json\n%s\n```\n", ask.path, ask.query, indented.String())
	}
	golden := filepath.Join("testdata", "search-answers.golden.md")
	if *world.Update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("answers differ from %s (-want +got):\n%s\nread the change, then run with -update", golden, diff)
	}
	world.Figure(t, 6, "timelines by observation, session, time and query, and recent context are as their golden has them")
}

// scores grow older: recency is a part of them.
var scores = regexp.MustCompile(`"score":[0-9.e+-]+`)

func mustMillis(t *testing.T, at string) memory.Millis {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	return memory.MillisOf(parsed)
}
