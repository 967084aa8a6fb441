package embedder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"claudemem/internal/distil/model"
	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
)

var _ index.Embedder = (*Client)(nil)

const testKey = "sk-test-0123456789abcdef"

// server is an embedding server with answers set by a test.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []embeddingsRequest
	headers  []http.Header
	// answer writes the answer to a request; nil for the usual one.
	answer func(w http.ResponseWriter, r *http.Request, q embeddingsRequest)
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q embeddingsRequest
		if r.URL.Path != "/v1/embeddings" || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
			http.Error(w, "no such thing", http.StatusNotFound)
			return
		}
		s.mu.Lock()
		s.requests, s.headers = append(s.requests, q), append(s.headers, r.Header.Clone())
		answer := s.answer
		s.mu.Unlock()
		if answer == nil {
			answer = usual
		}
		answer(w, r, q)
	}))
	t.Cleanup(s.Close)
	return s
}

// usual answers with a vector made from the text's length, the last text first.
func usual(w http.ResponseWriter, _ *http.Request, q embeddingsRequest) {
	type entry struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []entry
	for i, text := range slices.Backward(q.Input) {
		data = append(data, entry{i, []float64{3 * float64(len(text)), 4 * float64(len(text)), 0}})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": q.Model})
}

func (s *server) answers(f func(w http.ResponseWriter, r *http.Request, q embeddingsRequest)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *server) asked() []embeddingsRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// clock is a clock set by a test.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

func newClock() *clock {
	at := &clock{}
	at.ms.Store(1_800_000_000_000)
	return at
}

func newClient(t *testing.T, s *server) (*Client, *clock) {
	t.Helper()
	at := newClock()
	c, err := New(model.Config{BaseURL: s.URL, Model: "m", APIKey: testKey, Now: at.now, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, at
}

func TestEmbed(t *testing.T) {
	s := newServer(t)
	c, _ := newClient(t, s)
	texts := make([]string, 0, 150)
	for i := range 150 {
		texts = append(texts, strings.Repeat("a", i+1))
	}
	texts[7], texts[100], texts[149] = "", " \x00…!", "é\xff"+strings.Repeat("ü", maxText)
	got, err := c.Embed(t.Context(), texts...)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	for i, v := range got {
		want := []float32{.6, .8, 0}
		if i == 7 || i == 100 {
			want = []float32{0, 0, 0}
		}
		if !slices.Equal(v, want) {
			t.Errorf("vector %d is %v, want %v", i, v, want)
		}
	}
	sent := 0
	for _, q := range s.asked() {
		if q.Model != "m" || len(q.Input) > maxBatch {
			t.Errorf("model %q, %d texts", q.Model, len(q.Input))
		}
		for _, text := range q.Input {
			sent++
			if len(text) > maxText || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
				t.Errorf("sent %d bytes, %.20q", len(text), text)
			}
		}
	}
	if sent != 148 || len(s.asked()) != 3 {
		t.Errorf("sent %d texts in %d requests", sent, len(s.asked()))
	}
	if h := s.headers[0]; h.Get("Authorization") != "Bearer "+testKey || h.Get("User-Agent") != "claude-mem" {
		t.Errorf("headers %v", h)
	}
	if c.Model() != "openai-compatible:m" || c.Dimensions() != 3 || c.pause != nil {
		t.Errorf("model %s, %d dimensions, trouble %v", c.Model(), c.Dimensions(), c.pause)
	}
}

func TestNothingToSend(t *testing.T) {
	s := newServer(t)
	c, _ := newClient(t, s)
	if got, err := c.Embed(t.Context()); err != nil || len(got) != 0 || len(s.asked()) != 0 {
		t.Errorf("no texts: %v, %v, %d requests", got, err, len(s.asked()))
	}
	got, err := c.Embed(t.Context(), "", "!")
	if err != nil || len(got) != 2 || !slices.Equal(got[1], make([]float32, 3)) {
		t.Errorf("texts without words: %v, %v", got, err)
	}
}

// The vectors keep their order when a server leaves out the index.
func TestWithoutIndex(t *testing.T) {
	s := newServer(t)
	s.answers(func(w http.ResponseWriter, _ *http.Request, _ embeddingsRequest) {
		fmt.Fprint(w, `{"data":[{"embedding":[2,0]},{"embedding":[0,2]}]}`)
	})
	c, _ := newClient(t, s)
	got, err := c.Embed(t.Context(), "a", "b")
	if err != nil || !slices.Equal(got[0], []float32{1, 0}) || !slices.Equal(got[1], []float32{0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	status := func(code int, header, body string) func(http.ResponseWriter, *http.Request, embeddingsRequest) {
		return func(w http.ResponseWriter, _ *http.Request, _ embeddingsRequest) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, embeddingsRequest)
		pause  time.Duration
		reason string
	}{
		{"500", status(500, "", `{"error":{"message":"out of memory"}}`), firstPause, "status 500: out of memory"},
		{"503 page", status(503, "", "<html>bad gateway</html>"), firstPause, "status 503: Service Unavailable"},
		{"429 in seconds", status(429, "30", `{"error":"slow down"}`), 30 * time.Second, "slow down"},
		{"429 as a date", status(429, time.UnixMilli(1_800_000_090_000).UTC().Format(http.TimeFormat), ""), 90 * time.Second, "status 429"},
		{"429 for a year", status(429, "31536000", ""), longestAsked, "status 429"},
		{"429 unreadable", status(429, "NaN", ""), firstPause, "status 429"},
		{"key refused", status(401, "", `{"error":{"message":"Incorrect API key provided: `+testKey+`"}}`), longestPause, "Incorrect API key provided: [redacted]"},
		{"another key in the message", status(403, "", `key sk-live-aaaaaaaaaaaaaaaa is not allowed`), longestPause, "[redacted] is not allowed"},
		{"no such model", status(404, "", `{"error":{"message":"model m not found"}}`), longestPause, "model m not found"},
		{"redirect", status(302, "", ""), firstPause, "status 302"},
		{"refuses everything", status(400, "", `{"detail":"unknown field"}`), firstPause, "unknown field"},
		{"garbage", status(200, "", "not JSON"), firstPause, "not the JSON"},
		{"nothing", status(200, "", ""), firstPause, "not the JSON"},
		{"error with status 200", status(200, "", `{"error":{"message":"no model is loaded"}}`), firstPause, "no model is loaded"},
		{"too few", status(200, "", `{"data":[{"embedding":[1,0,0]}]}`), firstPause, "1 vectors for 2 texts"},
		{"index twice", status(200, "", `{"data":[{"index":1,"embedding":[1,0,0]},{"index":1,"embedding":[1,0,0]}]}`), firstPause, "not those of the texts"},
		{"index beyond", status(200, "", `{"data":[{"index":1,"embedding":[1,0,0]},{"index":9,"embedding":[1,0,0]}]}`), firstPause, "not those of the texts"},
		{"dimensions differ", status(200, "", `{"data":[{"embedding":[1,0,0]},{"embedding":[1,0]}]}`), firstPause, "2 dimensions, want 3"},
		{"other dimensions than before", status(200, "", `{"data":[{"embedding":[1,0]},{"embedding":[1,0]}]}`), firstPause, "2 dimensions, want 3"},
		{"no dimensions", status(200, "", `{"data":[{"embedding":[]},{"embedding":[]}]}`), firstPause, "0 dimensions"},
		{"too large numbers", status(200, "", `{"data":[{"embedding":[1e99,0,0]},{"embedding":[1,0,0]}]}`), firstPause, "not the JSON"},
		{"connection cut", func(w http.ResponseWriter, _ *http.Request, _ embeddingsRequest) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		}, firstPause, "no connection"},
		{"cut in the middle", func(w http.ResponseWriter, _ *http.Request, _ embeddingsRequest) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"data":`)
		}, firstPause, "the answer was cut off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			c, at := newClient(t, s)
			if _, err := c.Embed(t.Context(), "first"); err != nil {
				t.Fatal(err)
			}
			s.answers(tt.answer)
			_, err := c.Embed(t.Context(), "a", "b")
			checkUnavailable(t, err, at.now().Add(tt.pause))
			if !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %q, want %q", err, tt.reason)
			}
			// Until then nothing is sent, then it is tried again.
			requests := len(s.asked())
			at.advance(tt.pause - time.Millisecond)
			_, err = c.Embed(t.Context(), "a", "b")
			checkUnavailable(t, err, at.now().Add(time.Millisecond))
			if len(s.asked()) != requests {
				t.Error("asked again during the pause")
			}
			at.advance(time.Millisecond)
			s.answers(nil)
			if _, err := c.Embed(t.Context(), "a", "b"); err != nil || c.pause != nil {
				t.Errorf("after the pause: %v, trouble %v", err, c.pause)
			}
		})
	}
}

func checkUnavailable(t *testing.T, err error, until time.Time) {
	t.Helper()
	var again *pause
	if memory.CodeOf(err) != memory.CodeUnavailable || !errors.As(err, &again) {
		t.Fatalf("error %v", err)
	}
	if got := again.until; !got.Equal(until) {
		t.Errorf("again at %v, want %v", got, until)
	}
	var shown *memory.Error
	errors.As(err, &shown)
	for _, text := range []string{err.Error(), shown.Hint, fmt.Sprintf("%+v", err)} {
		if strings.Contains(text, testKey) || strings.Contains(text, "http://") {
			t.Errorf("%q tells a secret", text)
		}
	}
}

func TestPauseGrows(t *testing.T) {
	s := newServer(t)
	s.answers(func(w http.ResponseWriter, _ *http.Request, _ embeddingsRequest) {
		w.WriteHeader(http.StatusInternalServerError)
	})
	c, at := newClient(t, s)
	want := firstPause
	for range 10 {
		_, err := c.Embed(t.Context(), "a")
		checkUnavailable(t, err, at.now().Add(want))
		at.advance(want)
		want = min(2*want, longestPause)
	}
	// A clock that jumps back ends the pause instead of making it longer.
	if _, err := c.Embed(t.Context(), "a"); err == nil {
		t.Fatal("no error")
	}
	at.advance(-24 * time.Hour)
	s.answers(nil)
	if _, err := c.Embed(t.Context(), "a"); err != nil {
		t.Errorf("after the clock was set back: %v", err)
	}
}

// TestRefusedText: a refused text costs no other text its vector.
func TestRefusedText(t *testing.T) {
	s := newServer(t)
	s.answers(func(w http.ResponseWriter, r *http.Request, q embeddingsRequest) {
		for _, text := range q.Input {
			if len(text) > shortText || strings.Contains(text, "forbidden") {
				http.Error(w, `{"error":{"message":"input too long"}}`, http.StatusBadRequest)
				return
			}
		}
		usual(w, r, q)
	})
	c, _ := newClient(t, s)
	texts := make([]string, maxBatch)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	texts[20], texts[50] = strings.Repeat("long ", 1000), "forbidden"
	got, err := c.Embed(t.Context(), texts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := []float32{.6, .8, 0}
		if i == 50 {
			want = []float32{0, 0, 0}
		}
		if !slices.Equal(v, want) {
			t.Errorf("vector %d is %v, want %v", i, v, want)
		}
	}
	if n := len(s.asked()); n > 40 {
		t.Errorf("%d requests", n)
	}
}

func TestHang(t *testing.T) {
	s, arrived := newHangingServer(t)
	c, _ := newClient(t, s)

	// A canceled caller is no failure of the server.
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := c.Embed(ctx, "a")
		result <- err
	}()
	<-arrived
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) || c.pause != nil {
		t.Fatalf("after cancel: %v, trouble %v", err, c.pause)
	}
}

// TestTimeLimit: the time limit ends, and the next one need not wait.
func TestTimeLimit(t *testing.T) {
	// On a loaded machine the limit can end before the request arrives: then once more
	// with four times the limit.
	for limit := 20 * time.Millisecond; ; limit *= 4 {
		s, _ := newHangingServer(t)
		at := newClock()
		c, err := New(model.Config{BaseURL: s.URL, Model: "m", Now: at.now, Timeout: limit})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		_, err = c.Embed(t.Context(), "a")
		checkUnavailable(t, err, at.now().Add(firstPause))
		_, err = c.Embed(t.Context(), "a")
		checkUnavailable(t, err, at.now().Add(firstPause))
		if n := len(s.asked()); n == 1 {
			return
		} else if n > 1 || limit > time.Minute {
			t.Fatalf("%d requests, want 1", n)
		}
	}
}

// newHangingServer starts a server that never answers. arrived receives once for each
// of the first ten requests.
func newHangingServer(t *testing.T) (s *server, arrived <-chan struct{}) {
	t.Helper()
	s = newServer(t)
	requests := make(chan struct{}, 10)
	s.answers(func(_ http.ResponseWriter, r *http.Request, _ embeddingsRequest) {
		requests <- struct{}{}
		<-r.Context().Done()
	})
	return s, requests
}

func TestServerIsAway(t *testing.T) {
	s := newServer(t)
	c, at := newClient(t, s)
	s.Close()
	_, err := c.Embed(t.Context(), "a")
	checkUnavailable(t, err, at.now().Add(firstPause))
}

func TestConcurrent(t *testing.T) {
	s := newServer(t)
	var n atomic.Int64
	s.answers(func(w http.ResponseWriter, r *http.Request, q embeddingsRequest) {
		if n.Add(1)%5 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		usual(w, r, q)
	})
	c, at := newClient(t, s)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				got, err := c.Embed(t.Context(), "a", "b")
				if err != nil && memory.CodeOf(err) != memory.CodeUnavailable {
					t.Errorf("error %v", err)
				}
				if err == nil && math.Abs(float64(got[1][1])-.8) > 1e-6 {
					t.Errorf("vector %v", got[1])
				}
				at.advance(firstPause)
			}
		})
	}
	group.Wait()
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNew(t *testing.T) {
	tests := []struct{ base, want string }{
		{"http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/embeddings"},
		{" http://127.0.0.1:11434/ ", "http://127.0.0.1:11434/v1/embeddings"},
		{"https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"},
		{"https://api.openai.com/v1/", "https://api.openai.com/v1/embeddings"},
		{"https://api.openai.com/v1/embeddings", "https://api.openai.com/v1/embeddings"},
		{"https://host/openai/v1beta/", "https://host/openai/v1beta/embeddings"},
		{"", ""}, {"localhost:11434", ""}, {"ftp://host", ""}, {"http://", ""}, {"http://user:secret@host/v1", ""},
		{"http://host/v1?key=secret", ""}, {"http://host:secret/", ""}, {"http://host/%zz", ""},
	}
	for _, tt := range tests {
		asked := ""
		c, err := New(model.Config{BaseURL: tt.base, Model: "m", Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String()
			return nil, errors.New("not sent")
		})})
		if tt.want == "" {
			if memory.CodeOf(err) != memory.CodeInvalid || strings.Contains(err.Error(), "secret") {
				t.Errorf("New(%q): %v", tt.base, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("New(%q): %v, want %s", tt.base, err, tt.want)
			continue
		}
		if _, err := c.Embed(t.Context(), "a"); err == nil || asked != tt.want {
			t.Errorf("New(%q): asked %s, %v, want %s", tt.base, asked, err, tt.want)
		}
	}
	if _, err := New(model.Config{BaseURL: "http://host"}); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("without a model: %v", err)
	}
	if _, err := New(model.Config{BaseURL: "http://host", Model: "m", APIKey: "a\nb"}); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("a key of two lines: %v", err)
	}
}

func TestConfigHidesKey(t *testing.T) {
	config := model.Config{BaseURL: "http://user:pass@host", Model: "m", APIKey: testKey}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", config)
	for _, text := range []string{fmt.Sprint(config), fmt.Sprintf("%+v", config), fmt.Sprintf("%#v", config), log.String()} {
		if strings.Contains(text, testKey) || strings.Contains(text, "pass@") {
			t.Errorf("%s", text)
		}
	}
}

func FuzzVectorsOf(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,0,0]}]}`))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := &Client{dims: 3}
		var answer embeddingsAnswer
		if json.Unmarshal(body, &answer) != nil {
			return
		}
		vectors, err := c.vectorsOf(answer, 1)
		if err != nil {
			return
		}
		length := 0.0
		for _, x := range vectors[0] {
			length += float64(x) * float64(x)
		}
		if len(vectors) != 1 || len(vectors[0]) != 3 || length != 0 && math.Abs(length-1) > 1e-4 {
			t.Fatalf("%v", vectors)
		}
	})
}
