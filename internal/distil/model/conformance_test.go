package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

const testKey = "sk-test-0123456789abcdef"

// reply is what the stand-in of an API answers.
type reply struct {
	status int
	header map[string]string
	body   string
	cut    bool // the connection ends in the middle of the body
	hang   bool // no answer before the client leaves
}

// dialect is the form of the answers of a family of APIs.
type dialect struct {
	path   string // of a request, below the base URL
	auth   func(http.Header) string
	answer func(text string) string
	error  func(status int, kind, message string) string
	usage  memory.ModelUsage // what answer says
}

var messagesDialect = dialect{
	path: "/v1/messages",
	auth: func(h http.Header) string { return h.Get("X-Api-Key") },
	answer: func(text string) string {
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"answering-model","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":100,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":40}}`, text)
	},
	error: func(_ int, kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	},
	usage: memory.ModelUsage{Input: 120, Cached: 300, Output: 40},
}

var chatDialect = dialect{
	path: "/chat/completions",
	auth: func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
	answer: func(text string) string {
		return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"answering-model","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":420,"completion_tokens":40,"total_tokens":460,"prompt_tokens_details":{"cached_tokens":300}}}`, text)
	},
	error: func(_ int, kind, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, kind)
	},
	usage: memory.ModelUsage{Input: 120, Cached: 300, Output: 40},
}

// openRouterDialect and googleDialect word their errors differently.
func openRouterDialect() dialect {
	d := chatDialect
	d.error = func(status int, _, message string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q},"user_id":"u"}`, status, message)
	}
	return d
}

func googleDialect() dialect {
	d := chatDialect
	d.error = func(status int, kind, message string) string {
		return fmt.Sprintf(`[{"error":{"code":%d,"message":%q,"status":%q}}]`, status, message, strings.ToUpper(kind))
	}
	return d
}

// conforming has a row for every provider; a new provider needs a new row.
var conforming = []struct {
	provider string
	dialect  dialect
	noQuota  bool // no account, so no quota
	tooLong  reply
	quota    reply // 429 that is a quota
}{
	{
		provider: "anthropic", dialect: messagesDialect,
		tooLong: reply{status: 400, body: messagesDialect.error(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")},
		quota:   reply{status: 400, body: messagesDialect.error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")},
	},
	{
		provider: "openai", dialect: chatDialect,
		tooLong: reply{status: 400, body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		quota:   reply{status: 429, body: chatDialect.error(429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")},
	},
	{
		provider: "openrouter", dialect: openRouterDialect(),
		tooLong: reply{status: 400, body: openRouterDialect().error(400, "", "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.")},
		quota:   reply{status: 429, body: openRouterDialect().error(429, "", "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day")},
	},
	{
		provider: "gemini", dialect: googleDialect(),
		tooLong: reply{status: 400, body: googleDialect().error(400, "invalid_argument", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")},
		quota: reply{status: 429, body: `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}]`},
	},
	{
		provider: "ollama", dialect: chatDialect, noQuota: true,
		tooLong: reply{status: 500, body: `{"error":{"message":"input length exceeds maximum context length","type":"api_error","param":null,"code":null}}`},
		quota:   reply{status: 402, body: `{"error":"payment required"}`},
	},
}

// seen is a request as the stand-in received it.
type seen struct {
	method, path string
	header       http.Header
	body         []byte
}

// standIn answers every request with the same reply and keeps the requests.
type standIn struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

func startStandIn(t testing.TB, r reply) *standIn {
	t.Helper()
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		s.mu.Lock()
		s.requests = append(s.requests, seen{req.Method, req.URL.Path, req.Header.Clone(), body})
		s.mu.Unlock()
		if r.hang {
			<-req.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		for name, value := range r.header {
			w.Header().Set(name, value)
		}
		if r.cut {
			w.Header().Set("Content-Length", fmt.Sprint(len(r.body)))
		}
		w.WriteHeader(r.status)
		if r.cut {
			_, _ = io.WriteString(w, r.body[:len(r.body)/2])
			_ = http.NewResponseController(w).Flush() // the client gets a status
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, r.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) only(t *testing.T) seen {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) != 1 {
		t.Fatalf("got %d requests, want 1", len(s.requests))
	}
	return s.requests[0]
}

func (s *standIn) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

var conformanceNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, config Config) Provider {
	t.Helper()
	if config.Timeout == 0 {
		config.Timeout = time.Minute
	}
	if config.APIKey == "" {
		config.APIKey = testKey
	}
	config.Now = func() time.Time { return conformanceNow }
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.(io.Closer).Close() })
	return p
}

func testRequest() memory.ModelRequest {
	return memory.ModelRequest{
		Run: "run-secret-name", Session: 4711004711, Host: "claude-code", Kind: "observation",
		System: "You observe. Answer with <observation>…</observation> & nothing else.",
		History: []memory.ModelMessage{
			{Role: "user", Text: "first prompt"}, {Role: "assistant", Text: "first answer"},
			{Role: "user", Text: "second prompt"}, {Role: "assistant", Text: "second answer"},
		},
		Prompt: `<observed_from_primary_session>a && b \u003c "q"</observed_from_primary_session>`, MaxTokens: 1234,
	}
}

// TestConformance: the same failure has the same class for every provider.
func TestConformance(t *testing.T) {
	for _, row := range conforming {
		d := row.dialect
		usage := d.usage
		cases := []struct {
			name  string
			reply reply
			class memory.ErrorClass // empty: success
			wait  time.Duration
			usage memory.ModelUsage
			free  bool
		}{
			{name: "success", reply: reply{status: 200, body: d.answer("<observation/>")}, usage: usage},
			{name: "success called text", reply: reply{status: 200, body: d.answer("<observation/>"), header: map[string]string{"Content-Type": "text/plain"}}, usage: usage},
			{name: "slow", reply: reply{hang: true}, class: memory.ClassTransient},
			{name: "401", reply: reply{status: 401, body: d.error(401, "authentication_error", "Incorrect API key provided: "+testKey+". You can find your key at https://example.com")}, class: memory.ClassLogin, free: true},
			{name: "403", reply: reply{status: 403, body: d.error(403, "permission_error", "Your API key does not have permission to use the specified resource.")}, class: memory.ClassLogin, free: true},
			{name: "404", reply: reply{status: 404, body: d.error(404, "not_found_error", "model: no-such-model")}, class: memory.ClassLogin, free: true},
			{name: "402", reply: reply{status: 402, body: d.error(402, "billing_error", "Insufficient credits. Add more using https://example.com")}, class: memory.ClassQuota, free: true},
			{name: "429 with Retry-After", reply: reply{status: 429, body: d.error(429, "rate_limit_error", "Number of requests has exceeded your rate limit"), header: map[string]string{"Retry-After": "17"}}, class: memory.ClassRateLimit, wait: 17 * time.Second, free: true},
			{name: "429 with a date", reply: reply{status: 429, body: d.error(429, "rate_limit_error", "slow down"), header: map[string]string{"Retry-After": conformanceNow.Add(90 * time.Second).Format(http.TimeFormat)}}, class: memory.ClassRateLimit, wait: 90 * time.Second, free: true},
			{name: "429 with milliseconds", reply: reply{status: 429, body: d.error(429, "rate_limit_error", "slow down"), header: map[string]string{"Retry-After": "9", "Retry-After-Ms": "1500"}}, class: memory.ClassRateLimit, wait: 1500 * time.Millisecond, free: true},
			{name: "429 with nothing to read", reply: reply{status: 429}, class: memory.ClassRateLimit, free: true},
			{name: "429 insufficient quota", reply: row.quota, class: memory.ClassQuota, free: true},
			{name: "500", reply: reply{status: 500, body: d.error(500, "api_error", "Internal server error")}, class: memory.ClassTransient, free: true},
			{name: "502 with a page", reply: reply{status: 502, body: "<html><body>Bad gateway</body></html>", header: map[string]string{"Content-Type": "text/html"}}, class: memory.ClassTransient, free: true},
			{name: "503 with Retry-After", reply: reply{status: 503, body: "busy", header: map[string]string{"Retry-After": "3"}}, class: memory.ClassTransient, wait: 3 * time.Second, free: true},
			{name: "529", reply: reply{status: 529, body: d.error(529, "overloaded_error", "Overloaded")}, class: memory.ClassTransient, free: true},
			{name: "redirect", reply: reply{status: 302, header: map[string]string{"Location": "/elsewhere"}}, class: memory.ClassLogin, free: true},
			{name: "cut in the body", reply: reply{status: 200, body: d.answer(strings.Repeat("<observation/>", 50)), cut: true}, class: memory.ClassTransient},
			{name: "half an answer", reply: reply{status: 200, body: d.answer("<observation/>")[:120]}, class: memory.ClassTransient},
			{name: "cut error", reply: reply{status: 500, body: d.error(500, "api_error", strings.Repeat("x", 200)), cut: true}, class: memory.ClassTransient, free: true},
			{name: "a network's page", reply: reply{status: 200, body: "<html>Welcome to the hotel's network</html>", header: map[string]string{"Content-Type": "text/html"}}, class: memory.ClassTransient},
			{name: "a login page", reply: reply{status: 200, body: "<html><title>Log in</title></html>", header: map[string]string{"Content-Type": "text/html"}}, class: memory.ClassLogin},
			{name: "garbage", reply: reply{status: 200, body: "what is this", header: map[string]string{"Content-Type": "text/html"}}, class: memory.ClassGarbage},
			{name: "other JSON", reply: reply{status: 200, body: `["what", 1, {"is": "this"}]`}, class: memory.ClassGarbage},
			{name: "JSON of other shape", reply: reply{status: 200, body: `{"content": 7, "choices": "none"}`}, class: memory.ClassGarbage},
			{name: "no content", reply: reply{status: 200, body: `{}`}, class: memory.ClassGarbage},
			{name: "too large", reply: reply{status: 200, body: d.answer(strings.Repeat("x", maxAnswerBytes))}, class: memory.ClassGarbage},
			{name: "empty body", reply: reply{status: 200}, class: memory.ClassGarbage},
			{name: "empty answer", reply: reply{status: 200, body: d.answer("")}, class: memory.ClassGarbage, usage: usage},
			{name: "blank answer", reply: reply{status: 200, body: d.answer(" \n\t ")}, class: memory.ClassGarbage, usage: usage},
			{name: "prompt too long", reply: row.tooLong, class: memory.ClassPromptTooLong, free: true},
			{name: "413", reply: reply{status: 413, body: d.error(413, "request_too_large", "Request exceeds the maximum size")}, class: memory.ClassPromptTooLong, free: true},
			{name: "511", reply: reply{status: 511, body: `{"code":511,"message":"PromptExceedMaxTokens"}`}, class: memory.ClassPromptTooLong, free: true},
			{name: "511 of a network", reply: reply{status: 511, body: "<html>log in first</html>"}, class: memory.ClassTransient, free: true},
			{name: "400 of another kind", reply: reply{status: 400, body: d.error(400, "invalid_request_error", "messages.0: unexpected role")}, class: memory.ClassGarbage, free: true},
			{name: "quota text with status 200", reply: reply{status: 200, body: d.answer("You exceeded your current quota, please check your plan and billing details.")}, class: memory.ClassQuota, usage: usage},
			{name: "login text with status 200", reply: reply{status: 200, body: d.answer("Invalid API key · Please run /login")}, class: memory.ClassLogin, usage: usage},
			{name: "overload text with status 200", reply: reply{status: 200, body: d.answer(`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, class: memory.ClassTransient, usage: usage},
			{name: "error object with status 200", reply: reply{status: 200, body: `{"error":{"code":402,"message":"Insufficient credits"}}`}, class: memory.ClassQuota},
			{name: "overload object with status 200", reply: reply{status: 200, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, class: memory.ClassTransient},
		}
		for _, c := range cases {
			t.Run(row.provider+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				s, answer, err := completeOnce(t, row.provider, c.reply)
				if s.count() != 1 {
					t.Errorf("got %d requests, want 1: a provider must not retry or follow a redirect", s.count())
				}
				if c.class == "" {
					want := memory.ModelAnswer{Text: "<observation/>", Model: "answering-model", Usage: c.usage}
					if err != nil || answer != want {
						t.Errorf("got %+v, %v, want %+v", answer, err, want)
					}
					return
				}
				checkFailure(t, err, row.provider, c.class)
				var failed *memory.ModelError
				errors.As(err, &failed)
				if c.wait != 0 && failed.Wait != c.wait {
					t.Errorf("got wait %v, want %v", failed.Wait, c.wait)
				}
				if failed.Usage != c.usage {
					t.Errorf("got usage %+v, want %+v", failed.Usage, c.usage)
				}
				if got := failed.Free; got != c.free {
					t.Errorf("got free %v, want %v: %v", got, c.free, err)
				}
			})
		}
		t.Run(row.provider+"/connection refused", func(t *testing.T) {
			p := open(t, Config{Provider: row.provider, BaseURL: "http://" + closedPort(t)})
			_, err := p.Complete(t.Context(), testRequest())
			checkFailure(t, err, row.provider, memory.ClassTransient)
			var failed *memory.ModelError
			if errors.As(err, &failed) && !failed.Free {
				t.Errorf("a call that never left should cost nothing: %v", err)
			}
		})
		t.Run(row.provider+"/canceled", func(t *testing.T) {
			s := startStandIn(t, reply{hang: true})
			p := open(t, Config{Provider: row.provider, BaseURL: s.URL})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for s.count() == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond) // polls for the request's arrival
				}
				cancel()
			}()
			if _, err := p.Complete(ctx, testRequest()); err != context.Canceled { //nolint:errorlint // the very value is promised
				t.Errorf("got %v, want context.Canceled itself", err)
			}
		})
		t.Run(row.provider+"/deadline of the caller", func(t *testing.T) {
			untilArrived(t, reply{hang: true}, func(s *standIn, limit time.Duration) {
				p := open(t, Config{Provider: row.provider, BaseURL: s.URL})
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if _, err := p.Complete(ctx, testRequest()); err != context.DeadlineExceeded { //nolint:errorlint // the very value is promised
					t.Errorf("got %v, want context.DeadlineExceeded itself", err)
				}
			})
		})
		t.Run(row.provider+"/own request too large", func(t *testing.T) {
			s := startStandIn(t, reply{status: 200, body: d.answer("x")})
			p := open(t, Config{Provider: row.provider, BaseURL: s.URL})
			request := testRequest()
			request.Prompt = strings.Repeat("x", MaxRequestBytes)
			_, err := p.Complete(t.Context(), request)
			checkFailure(t, err, row.provider, memory.ClassPromptTooLong)
			if s.count() != 0 {
				t.Error("it was sent")
			}
		})
	}
	if len(conforming) != len(vendors) {
		t.Errorf("got %d rows of the conformance table, want %d: one for each vendor", len(conforming), len(vendors))
	}
}

// completeOnce sends one request to a stand-in that answers r, and waits only a short
// time for the answer if r is none.
func completeOnce(t *testing.T, provider string, r reply) (s *standIn, answer memory.ModelAnswer, err error) {
	t.Helper()
	if !r.hang {
		s = startStandIn(t, r)
		answer, err = open(t, Config{Provider: provider, BaseURL: s.URL}).Complete(t.Context(), testRequest())
		return s, answer, err
	}
	s = untilArrived(t, r, func(s *standIn, limit time.Duration) {
		answer, err = open(t, Config{Provider: provider, BaseURL: s.URL, Timeout: limit}).Complete(t.Context(), testRequest())
	})
	return s, answer, err
}

// untilArrived calls ask with a stand-in that answers r, and with a time limit. On a
// loaded machine the limit can end before the request arrives: then it tries again, with
// a new stand-in and four times the limit. It returns the last stand-in.
func untilArrived(t *testing.T, r reply, ask func(s *standIn, limit time.Duration)) *standIn {
	t.Helper()
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		s := startStandIn(t, r)
		ask(s, limit)
		if s.count() > 0 || limit > time.Minute {
			return s
		}
	}
}

func checkFailure(t testing.TB, err error, provider string, class memory.ErrorClass) {
	t.Helper()
	var failed *memory.ModelError
	if !errors.As(err, &failed) {
		t.Fatalf("got %T %v, want a ModelError", err, err)
	}
	if failed.Class != class || failed.Provider != provider {
		t.Errorf("got %s %s (%v), want %s %s", failed.Provider, failed.Class, err, provider, class)
	}
	for _, form := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", failed.Err)} {
		if strings.Contains(form, testKey) || strings.Contains(form, "http://") {
			t.Errorf("key or URL in the error: %s", form)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 2000 {
		t.Errorf("not one short line: %q", err)
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   string // in the error; empty for none
	}{
		{"default", Config{Provider: "anthropic", APIKey: "k"}, ""},
		{"no key needed", Config{Provider: "ollama"}, ""},
		{"no key at another's server", Config{Provider: "openai", BaseURL: "http://127.0.0.1:1234/v1"}, ""},
		{"no key", Config{Provider: "openai"}, "CLAUDE_MEM_OPENAI_API_KEY"},
		{"no key, default written out", Config{Provider: "openai", BaseURL: "https://api.openai.com/v1"}, "CLAUDE_MEM_OPENAI_API_KEY"},
		{"no key, default with its path", Config{Provider: "anthropic", BaseURL: "https://api.anthropic.com/v1/"}, "CLAUDE_MEM_ANTHROPIC_API_KEY"},
		{"unknown", Config{Provider: "acme"}, "anthropic, openai, openrouter, gemini, ollama"},
		{"key with a line break", Config{Provider: "openai", APIKey: "secret\nkey"}, "characters"},
		{"password in the URL", Config{Provider: "openai", APIKey: "k", BaseURL: "https://me:hunter2@example.com/v1"}, "no user"},
		{"query", Config{Provider: "openai", APIKey: "k", BaseURL: "https://example.com/v1?key=hunter2"}, "no query"},
		{"no scheme", Config{Provider: "openai", APIKey: "k", BaseURL: "example.com/v1"}, "want http"},
		{"other scheme", Config{Provider: "openai", APIKey: "k", BaseURL: "file:///etc/passwd"}, "want http"},
		{"no URL", Config{Provider: "openai", APIKey: "k", BaseURL: "http://[::1hunter2"}, "not a URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(tt.config)
			if tt.want == "" {
				if err != nil || p.Name() != tt.config.Provider {
					t.Fatalf("got %v", err)
				}
				return
			}
			var failed *memory.ModelError
			if !errors.As(err, &failed) || failed.Class != memory.ClassLogin || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a login error with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "secret") {
				t.Errorf("secret in %v", err)
			}
		})
	}
}

func TestConfigHidesKey(t *testing.T) {
	c := Config{Provider: "openai", APIKey: testKey, BaseURL: "https://u:hunter2@example.com"}
	for _, form := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), c.LogValue().String()} {
		if strings.Contains(form, testKey) || strings.Contains(form, "hunter2") {
			t.Errorf("secret in %s", form)
		}
	}
}

// TestCloseEndsConnections: Close ends the connections of a provider.
func TestCloseEndsConnections(t *testing.T) {
	ended := make(chan struct{}, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, chatDialect.answer("ok fine"))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			select {
			case ended <- struct{}{}:
			default:
			}
		}
	}
	s.Start()
	defer s.Close()
	p, err := New(Config{Provider: "ollama", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Complete(t.Context(), testRequest()); err != nil {
		t.Fatal(err)
	}
	if err := NewRetry(p, time.Now).Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the connection stayed open")
	}
}
