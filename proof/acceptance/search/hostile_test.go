//go:build unix

package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

var hostileQueries = world.Scaled(500, 10_000)

const (
	hostileClients = 4
	// hostileLimit is when a query counts as hanging: far above what any takes on
	// a busy machine, below what a client waits.
	hostileLimit = 10 * time.Second
	// hostileMedian bounds what garbage costs on the whole.
	hostileMedian = 250 * time.Millisecond
)

// faultTexts are what SQLite and its full-text engine say of a bad query. No query
// here contains one, so that none can be an echo.
var faultTexts = []string{
	"sqlite", "sql logic", "fts5:", "no such column", "no such table", "unterminated string", "malformed match", "unrecognized token",
	"syntax error near", "unknown special query", "parse error", "goroutine ", "runtime error",
}

// TestHostileQueries asks a real worker for what nobody should ask for, thousands of times.
func TestHostileQueries(t *testing.T) {
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	sentences := hostileMemory(t, m, client)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	type outcome struct {
		status int
		took   time.Duration
	}
	outcomes := make([]outcome, hostileQueries)
	var queries sync.WaitGroup
	for c := range hostileClients {
		queries.Go(func() {
			for i := c; i < hostileQueries; i += hostileClients {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				target, huge := hostileTarget(random, i, sentences)
				start := time.Now()
				status, body, err := client.Send(http.MethodGet, target, nil)
				outcomes[i] = outcome{status, time.Since(start)}
				if err != nil {
					// A server may stop reading a head that is far too long, and hang up.
					if !huge {
						t.Errorf("query %d: %v: %.200q", i, err, target)
					}
					continue
				}
				if problem := hostileProblem(status, body); problem != "" {
					t.Errorf("query %d: %s: %d %.300s\nfor %.300q", i, problem, status, body, target)
				}
			}
		})
	}
	queries.Wait()

	counts := map[int]int{}
	times := make([]time.Duration, 0, hostileQueries)
	for i, o := range outcomes {
		counts[o.status]++
		times = append(times, o.took)
		if o.took > hostileLimit {
			t.Errorf("query %d took %v", i, o.took)
		}
	}
	slices.Sort(times)
	median, p99, worst := times[len(times)/2], times[len(times)*99/100], times[len(times)-1]
	if median > hostileMedian {
		t.Errorf("the median query took %v, want at most %v", median, hostileMedian)
	}
	if counts[http.StatusOK] < hostileQueries/2 {
		t.Errorf("only %d of %d were answered with results: %v", counts[http.StatusOK], hostileQueries, counts)
	}
	// It is still the same worker, and it still finds.
	var after world.Found
	client.Get(t, "/api/search", url.Values{"query": {sentences[0]}}, &after)
	if len(after.Results) == 0 {
		t.Error("after all that the worker finds nothing")
	}
	world.Figure(t, 4, "%d queries: %d answered, %d refused as invalid, %d as too large or by hanging up, no 500; p50 %v, p99 %v, slowest %v",
		hostileQueries, counts[200], counts[400]+counts[404], counts[413]+counts[414]+counts[431]+counts[0],
		median.Round(100*time.Microsecond), p99.Round(time.Millisecond), worst.Round(time.Millisecond))
}

// hostileProblem says what is wrong with an answer, "" when nothing is.
func hostileProblem(status int, body []byte) string {
	lower := strings.ToLower(string(body))
	for _, text := range faultTexts {
		if strings.Contains(lower, text) {
			return "the answer tells of a fault (" + text + ")"
		}
	}
	switch {
	case status >= 500:
		return "server error"
	case status == http.StatusRequestHeaderFieldsTooLarge || status == http.StatusRequestURITooLong:
		return "" // net/http says so itself, in plain text
	case status != http.StatusOK && status != http.StatusBadRequest && status != http.StatusNotFound && status != http.StatusRequestEntityTooLarge:
		return "unexpected status"
	case !json.Valid(body):
		return "the answer is not JSON"
	case status == http.StatusOK && !strings.Contains(lower, `"results":[`) && !strings.Contains(lower, `"timeline":[`):
		return "an answer without results"
	}
	return ""
}

// hostileMemory fills the memory and returns sentences of it.
func hostileMemory(t *testing.T, m *world.Memory, client *world.API) []string {
	t.Helper()
	subjects := []string{"parser", "scheduler", "rate limiter", "HTTPServer", "user_service.go", "migration", "retry loop", "cache"}
	verbs := []string{"drops", "keeps", "retries", "rejects", "rounds", "doubles", "forgets", "locks"}
	objects := []string{"the last token", "empty batches", "getUserByEmail calls", "stale rows", "the deadline", "half a cent", "日本語のテキスト", "the ETag"}
	var sentences []string
	for n := range 400 {
		s := fmt.Sprintf("The %s %s %s", subjects[n%8], verbs[n/8%8], objects[(n/64+n)%8])
		sentences = append(sentences, s)
		kind := []string{"bugfix", "feature", "decision"}[n%3]
		if _, err := client.Add(world.Note{Title: s, Narrative: s + " when the queue is full; see section " + number(n) + ".", Type: kind,
			Facts: []string{"seen in run " + number(n)}, Concepts: []string{"gotcha"}, Files: []string{"internal/part" + number(n%17) + ".go"},
			Project: "/home/dev/project" + number(n%3)}); err != nil {
			t.Fatal(err)
		}
	}
	m.Indexed(60 * time.Second)
	return sentences
}

// hostilePieces are what queries are made of besides words and random runes.
var hostilePieces = []string{
	`"`, `""`, `'`, `''`, "`", "(", ")", "((", "))", "{", "}", "[", "]", "*", "**", "^", "+", "-", "--", ":", "::", ";", ",", "%", "_", `\`, `\\`, "/", "|", "&", "=", "<>", "~", "@", "#", "$", "!", "?", ".", "...",
	"AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR(a b, 3)", "NEAR/2", "AND NOT", "OR OR", "and", "title:", "title : x", "- title : x", "{title text} : x", "nosuchcolumn:x", "scope:p1", "rowid", "rank:", "x*", `"x"*`, `"un`, `closed"`,
	"'; DROP TABLE observations; --", "' OR '1'='1", "1 UNION SELECT 1", "%%%s%n", "${jndi:x}", "<script>", "../../etc/passwd", "null", "undefined", "-1", "0", "NaN", "1e309", "9999999999999999999999",
	"\x00", "a\x00b", "\x01\x02", "\r\n", "\t", "\u200b", "\u202e", "\ufeff", "\ufffd", "\xff\xfe", "\xc3\x28", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "é", "e\u0301", "ﷺ", "漢字", "한국어", "العربية", "ǅ", "ß", "İ",
	"last week", "in March", "yesterday", "between 2026-13-45 and now", "since 99999", "0000-00-00", "what bugs did we fix", "type:bugfix", "#12", "S12",
}

// hostileText is a query of pieces, words and random runes; sizes vary from
// nothing to as much as a request can carry, and now and then more.
func hostileText(random *rand.Rand, sentences []string) string {
	var b strings.Builder
	pieces := 1 + random.IntN(12)
	switch random.IntN(200) {
	case 0:
		pieces = 2000
	case 1:
		return strings.Repeat(hostilePieces[random.IntN(len(hostilePieces))], 1+random.IntN(3000))
	case 2:
		return strings.Repeat("(", 500) + "a" + strings.Repeat(")", random.IntN(501))
	case 3:
		return strings.Repeat("zq", 1+random.IntN(15_000)) // one long word
	}
	for range pieces {
		switch random.IntN(4) {
		case 0:
			b.WriteString(hostilePieces[random.IntN(len(hostilePieces))])
		case 1:
			words := strings.Fields(sentences[random.IntN(len(sentences))])
			b.WriteString(words[random.IntN(len(words))])
		case 2:
			for range random.IntN(8) {
				b.WriteRune(rune(random.IntN(0x11000)))
			}
		default:
			raw := make([]byte, random.IntN(6))
			for i := range raw {
				raw[i] = byte(random.IntN(256))
			}
			b.Write(raw)
		}
		if random.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// hostileTarget is the ith request; huge ones are refused before they are read.
func hostileTarget(random *rand.Rand, i int, sentences []string) (target string, huge bool) {
	text := hostileText(random, sentences)
	if i%500 == 499 {
		return "/api/search?query=" + url.QueryEscape(strings.Repeat(text+" ", 1+(1<<20)/(len(text)+1))), true
	}
	params := url.Values{}
	path := "/api/search"
	switch random.IntN(10) {
	case 0:
		path = "/api/search/by-file"
		params.Set("file", text)
	case 1:
		path = "/api/search/by-concept"
		params.Set("concept", text)
	case 2:
		path = "/api/search/timeline-by-query"
		params.Set("query", text)
	case 3:
		path = "/api/search/timeline"
		params.Set("anchor", text)
	case 4:
		path = "/api/search/" + []string{"observations", "sessions", "prompts"}[random.IntN(3)]
		params.Set("query", text)
	default:
		params.Set("query", text)
	}
	// Other parameters are garbage too, now and then.
	for _, name := range []string{"project", "files", "concepts", "session_id", "kind", "order", "format", "limit", "offset", "since", "dateRange", "explain"} {
		if random.IntN(40) == 0 {
			params.Set(name, hostileText(random, sentences))
		}
	}
	if random.IntN(4) == 0 {
		params.Set("project", "/home/dev/project1")
	}
	if random.IntN(4) == 0 {
		params.Set("explain", "1")
	}
	if random.IntN(4) == 0 {
		params.Set("type", "bugfix")
	}
	target = path + "?" + params.Encode()
	return target, len(target) > 60<<10
}

// TestHostileObservations writes down what nobody should: each is kept, cleaned,
// or refused with a reason, and what is kept is found.
func TestHostileObservations(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	kept, refused := 0, 0
	for n, text := range []string{
		"nul \x00 within", strings.Repeat("long word after word ", 50_000), strings.Repeat("x", 1<<20), "\xff\xfe not UTF-8", "\u202eright to left",
		strings.Repeat("(", 10_000), "' OR 1=1; DROP TABLE observations", `"unclosed AND OR NOT`, strings.Repeat("😀", 5000), "<private>all of it</private>",
		strings.Repeat("- fact\n", 20_000), "日本語" + strings.Repeat("の文", 3000),
	} {
		marker := word(90_000 + n)
		id, err := client.Add(world.Note{Title: "Hostile " + marker, Narrative: text, Facts: []string{text[:min(len(text), 2000)]}, Project: "/home/dev/tally"})
		switch status := fmt.Sprint(err); {
		case err == nil:
			kept++
			m.Indexed(60 * time.Second)
			var f world.Found
			client.Get(t, "/api/search", url.Values{"query": {marker}}, &f)
			if ids := f.Observations(t); len(ids) == 0 || ids[0] != id {
				t.Errorf("text %d is kept as #%d, and a search for %s finds %v", n, id, marker, ids)
			}
		case strings.Contains(status, ": 400:") || strings.Contains(status, ": 413:"):
			refused++
		default:
			t.Errorf("text %d: %v", n, err)
		}
	}
	world.Figure(t, 4, "hostile observations: %d kept and found, %d refused with a reason", kept, refused)
}
