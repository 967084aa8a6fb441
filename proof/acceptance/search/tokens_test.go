//go:build unix

package search

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
)

// What a result may cost: in the index about 75 tokens, in full 750.
const (
	indexTokensLeast = 50
	indexTokensMost  = 100
	fullTokensMost   = 750
)

// relevanceFolder holds the records and the queries of our own relevance corpus.
var relevanceFolder = world.Root("proof", "eval", "testdata", "relevance")

// TestTokensOfResults asks the queries of the relevance corpus of its records, and
// counts what the answers would cost a model that reads them.
func TestTokensOfResults(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	records := 0
	readLines(t, filepath.Join(relevanceFolder, "docs.jsonl"), func(line []byte) {
		var d struct {
			world.Note
			Kind    string   `json:"kind"`
			Text    string   `json:"text"`
			Paths   []string `json:"files"`
			DaysAgo int      `json:"days_ago"`
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		at := time.Now().AddDate(0, 0, -d.DaysAgo)
		switch d.Kind {
		case "observation":
			d.Narrative, d.Files, d.Project, d.CreatedAt = d.Text, d.Paths, "/home/dev/"+d.Project, at.UTC().Format(time.RFC3339)
			if _, err := client.Add(d.Note); err != nil {
				t.Fatal(err)
			}
		case "prompt":
			status, body, err := client.Send(http.MethodPost, "/api/sessions/init", map[string]any{
				"host": "raw", "host_session_id": d.Title + d.Project, "project": "/home/dev/" + d.Project, "prompt": d.Text,
				"prompt_id": d.Text, "occurred_at": memory.MillisOf(at),
			})
			if err != nil || status >= 300 {
				t.Fatalf("prompt: %d %v %s", status, err, body)
			}
		default:
			return // a summary is an observer's to write
		}
		records++
	})
	m.Indexed(60 * time.Second)

	type cost struct{ results, tokens, most int }
	costs := map[string]*cost{"index": {}, "full": {}}
	queries := 0
	readLines(t, filepath.Join(relevanceFolder, "queries.jsonl"), func(line []byte) {
		var q struct{ Text string }
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		queries++
		for format, c := range costs {
			var page world.Found
			client.Get(t, "/api/search", url.Values{"query": {q.Text}, "format": {format}, "limit": {"20"}}, &page)
			for _, raw := range page.Results {
				tokens := memory.EstimateTokens(string(raw))
				c.results++
				c.tokens += tokens
				c.most = max(c.most, tokens)
			}
		}
	})
	if records < 300 || queries < 80 || costs["index"].results < 10*queries || costs["index"].results != costs["full"].results {
		t.Fatalf("%d records, %d queries, %d and %d results: too few to count", records, queries, costs["index"].results, costs["full"].results)
	}
	index, full := costs["index"], costs["full"]
	indexMean, fullMean := index.tokens/index.results, full.tokens/full.results
	if indexMean < indexTokensLeast || indexMean > indexTokensMost {
		t.Errorf("a result of the index costs %d tokens on average, want %d to %d", indexMean, indexTokensLeast, indexTokensMost)
	}
	if full.most > fullTokensMost {
		t.Errorf("a full result costs up to %d tokens, want at most %d", full.most, fullTokensMost)
	}
	if fullMean <= indexMean {
		t.Errorf("full results cost %d tokens, those of the index %d", fullMean, indexMean)
	}
	world.Figure(t, 6, "%d queries of %d records: a result costs %d tokens in the index (at most %d), %d in full (at most %d)",
		queries, records, indexMean, index.most, fullMean, full.most)
}

// readLines calls each with the lines of a file.
func readLines(t *testing.T, path string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		each(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
