package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// toStandIn redirects requests to a vendor's own endpoint to the stand-in.
type toStandIn struct {
	base string
	got  []string
}

func (r *toStandIn) RoundTrip(req *http.Request) (*http.Response, error) {
	r.got = append(r.got, req.URL.Scheme+"://"+req.URL.Host+req.URL.Path)
	u, err := url.Parse(r.base)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = u.Scheme, u.Host, u.Host
	return http.DefaultTransport.RoundTrip(req)
}

// poison sets the environment variables that the vendors' SDKs read; ours must not.
func poison(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Env: env-header", "ANTHROPIC_PROFILE": "no-such-profile", "ANTHROPIC_CONFIG_DIR": t.TempDir(),
		"OPENAI_API_KEY": "env-key", "OPENAI_ADMIN_KEY": "env-admin", "OPENAI_ORG_ID": "env-org", "OPENAI_PROJECT_ID": "env-project",
		"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_CUSTOM_HEADERS": "X-Env: env-header",
	} {
		t.Setenv(name, value)
	}
}

// TestRequests: the requests to the vendors' own endpoints, in a hostile
// environment.
func TestRequests(t *testing.T) {
	poison(t)
	wantURL := map[string]string{
		"anthropic":  "https://api.anthropic.com/v1/messages",
		"openai":     "https://api.openai.com/v1/chat/completions",
		"openrouter": "https://openrouter.ai/api/v1/chat/completions",
		"gemini":     "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
		"ollama":     "http://127.0.0.1:11434/v1/chat/completions",
	}
	wantBody := map[string]string{
		"openai": `"max_completion_tokens":1234,"reasoning_effort":"none"`,
	}
	for _, row := range conforming {
		t.Run(row.provider, func(t *testing.T) {
			s := startStandIn(t, reply{status: 200, body: row.dialect.answer("<observation/>")})
			route := &toStandIn{base: s.URL}
			p := open(t, Config{Provider: row.provider, Transport: route})
			if _, err := p.Complete(t.Context(), testRequest()); err != nil {
				t.Fatal(err)
			}
			if len(route.got) != 1 || route.got[0] != wantURL[row.provider] {
				t.Errorf("got %v, want %s", route.got, wantURL[row.provider])
			}
			req := s.only(t)
			if req.method != http.MethodPost || req.header.Get("Content-Type") != "application/json" {
				t.Errorf("got %s %s", req.method, req.header.Get("Content-Type"))
			}
			if got := row.dialect.auth(req.header); got != testKey {
				t.Errorf("got key %q, want the configured one", got)
			}
			for name, values := range req.header {
				if strings.HasPrefix(name, "X-Stainless") || name == "Traceparent" {
					t.Errorf("header %s tells of this machine", name)
				}
				if strings.Contains(strings.Join(values, " "), "env-") {
					t.Errorf("header %s is from the environment", name)
				}
			}
			if got := req.header.Get("User-Agent"); got != "claude-mem" {
				t.Errorf("got user agent %q", got)
			}
			for _, secret := range []string{testKey, "env-", "run-secret-name", "4711004711"} {
				if strings.Contains(string(req.body), secret) {
					t.Errorf("%q is in the body: %s", secret, req.body)
				}
			}
			v, _ := vendorOf(row.provider)
			want := `"max_tokens":1234`
			if w, ok := wantBody[row.provider]; ok {
				want = w
			}
			for _, part := range []string{want, fmt.Sprintf(`"model":%q`, v.defaultModel), `<observed_from_primary_session>a && b \\u003c \"q\"</observed`} {
				if !strings.Contains(string(req.body), part) {
					t.Errorf("want %s in %s", part, req.body)
				}
			}
			if len(req.body) > 1200 {
				t.Errorf("body has %d bytes: the wrapping should be small", len(req.body))
			}
			if strings.Contains(string(req.body), `"stream":true`) {
				t.Error("a stream was asked for")
			}
		})
	}
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type wireBlock struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Cache *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

// TestMessagesBody: the stable prefix has two cache marks, and there are no
// others.
func TestMessagesBody(t *testing.T) {
	request := testRequest()
	request.System += strings.Repeat(" Write in plain English.", 1000) // more than any model's minimum
	request.History = append(request.History, memory.ModelMessage{Role: "user", Text: "  "})
	s := startStandIn(t, reply{status: 200, body: messagesDialect.answer("ok fine")})
	p := open(t, Config{Provider: "anthropic", BaseURL: s.URL})
	if _, err := p.Complete(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var body struct {
		System   []wireBlock   `json:"system"`
		Messages []wireMessage `json:"messages"`
		Thinking struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(s.only(t).body, &body); err != nil {
		t.Fatal(err)
	}
	if len(body.System) != 1 || body.System[0].Text != request.System || body.System[0].Cache == nil || body.System[0].Cache.Type != "ephemeral" {
		t.Errorf("got system %+v", body.System)
	}
	if body.Thinking.Type != "disabled" {
		t.Errorf("got thinking %q", body.Thinking.Type)
	}
	want := append(testRequest().History, memory.ModelMessage{Role: "user", Text: request.Prompt})
	if len(body.Messages) != len(want) {
		t.Fatalf("got %d messages, want %d", len(body.Messages), len(want))
	}
	for i, m := range body.Messages {
		var blocks []wireBlock
		if err := json.Unmarshal(m.Content, &blocks); err != nil || len(blocks) != 1 {
			t.Fatalf("message %d: %v %s", i, err, m.Content)
		}
		if m.Role != want[i].Role || blocks[0].Text != want[i].Text {
			t.Errorf("message %d: got %s %q, want %+v", i, m.Role, blocks[0].Text, want[i])
		}
		if marked := blocks[0].Cache != nil; marked != (i == len(want)-2) {
			t.Errorf("message %d: cache mark %v", i, marked)
		}
	}
}

func TestChatBody(t *testing.T) {
	request := testRequest()
	request.Model = "my-model"
	s := startStandIn(t, reply{status: 200, body: chatDialect.answer("ok fine")})
	p := open(t, Config{Provider: "openai", BaseURL: s.URL + "/v1"})
	if _, err := p.Complete(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	req := s.only(t)
	if req.path != "/v1/chat/completions" {
		t.Errorf("got path %s", req.path)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(req.body, &body); err != nil {
		t.Fatal(err)
	}
	var got []memory.ModelMessage
	var msgs []wireMessage
	if err := json.Unmarshal(body["messages"], &msgs); err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		var text string
		if err := json.Unmarshal(m.Content, &text); err != nil {
			t.Fatalf("content %s: %v", m.Content, err)
		}
		got = append(got, memory.ModelMessage{Role: m.Role, Text: text})
	}
	want := append([]memory.ModelMessage{{Role: "system", Text: request.System}}, append(request.History, memory.ModelMessage{Role: "user", Text: request.Prompt})...)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	// A server that imitates the API knows only the old name of the limit.
	if len(body) != 3 || string(body["max_tokens"]) != "1234" || string(body["model"]) != `"my-model"` {
		t.Errorf("got %s", req.body)
	}
}

// TestNoKeyNoHeader: a local server without a key gets no Authorization, also
// when the environment has one.
func TestNoKeyNoHeader(t *testing.T) {
	poison(t)
	s := startStandIn(t, reply{status: 200, body: chatDialect.answer("ok fine")})
	for _, provider := range []string{"ollama", "openai"} {
		p, err := New(Config{Provider: provider, BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Complete(t.Context(), testRequest()); err != nil {
			t.Fatal(err)
		}
	}
	for _, req := range s.requests {
		if auth := req.header.Values("Authorization"); len(auth) != 0 {
			t.Errorf("got %v, want no Authorization", auth)
		}
	}
}

func TestMessagesWithoutKey(t *testing.T) {
	poison(t)
	s := startStandIn(t, reply{status: 200, body: messagesDialect.answer("ok fine")})
	p, err := New(Config{Provider: "anthropic", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Complete(t.Context(), testRequest()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"X-Api-Key", "Authorization"} {
		if got := s.only(t).header.Get(name); got != "" {
			t.Errorf("got %s %q, want none", name, got)
		}
	}
}

// TestRedirectIsNotFollowed: a redirect to another host does not get the key.
func TestRedirectIsNotFollowed(t *testing.T) {
	for _, row := range conforming {
		elsewhere := startStandIn(t, reply{status: 200, body: row.dialect.answer("stolen")})
		s := startStandIn(t, reply{status: 307, header: map[string]string{"Location": elsewhere.URL}})
		p := open(t, Config{Provider: row.provider, BaseURL: s.URL})
		_, err := p.Complete(t.Context(), testRequest())
		checkFailure(t, err, row.provider, memory.ClassLogin)
		if elsewhere.count() != 0 {
			t.Errorf("%s: the redirect was followed", row.provider)
		}
	}
}

func TestVendorSpecificAnswers(t *testing.T) {
	tests := []struct {
		name, provider string
		reply          reply
		class          memory.ErrorClass
		wait           time.Duration
	}{
		{"refusal", "anthropic", reply{status: 200, body: `{"type":"message","content":[],"stop_reason":"refusal","usage":{"input_tokens":5,"output_tokens":0}}`}, memory.ClassGarbage, 0},
		{"window full", "anthropic", reply{status: 200, body: `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded"}`}, memory.ClassPromptTooLong, 0},
		{"spend limit", "anthropic", reply{status: 400, body: messagesDialect.error(400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.")}, memory.ClassQuota, 0},
		{"window and answer", "anthropic", reply{status: 400, body: messagesDialect.error(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000")}, memory.ClassPromptTooLong, 0},
		{"chat refusal", "openai", reply{status: 200, body: `{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I can't"},"finish_reason":"stop"}]}`}, memory.ClassGarbage, 0},
		{"content filter", "openai", reply{status: 200, body: `{"choices":[{"message":{"role":"assistant","content":"half"},"finish_reason":"content_filter"}]}`}, memory.ClassGarbage, 0},
		{"larger than a minute's tokens", "openai", reply{status: 429, body: chatDialect.error(429, "rate_limit_exceeded", "Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 10000, Requested 12000.")}, memory.ClassPromptTooLong, 0},
		{"requests of a day", "openai", reply{status: 429, body: chatDialect.error(429, "rate_limit_exceeded", "Rate limit reached for gpt-x on requests per day (RPD): Limit 200, Used 200."), header: map[string]string{"Retry-After": "432"}}, memory.ClassRateLimit, 432 * time.Second},
		{"all thought, no answer", "openai", reply{status: 200, body: `{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":1234,"total_tokens":1244}}`}, memory.ClassGarbage, 0},
		{"moderation", "openrouter", reply{status: 403, body: `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence"],"flagged_input":"…"}}}`}, memory.ClassGarbage, 0},
		{"key limit", "openrouter", reply{status: 403, body: `{"error":{"code":403,"message":"Key limit exceeded (total limit). Manage it using https://example.com"}}`}, memory.ClassQuota, 0},
		{"failure while answering", "openrouter", reply{status: 200, body: `{"choices":[{"error":{"code":502,"message":"Upstream error"},"message":{"role":"assistant","content":""},"finish_reason":"error"}]}`}, memory.ClassTransient, 0},
		{"limit while answering", "openrouter", reply{status: 200, body: `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down","provider_name":"x"}}}`}, memory.ClassRateLimit, 0},
		{"minute's quota", "gemini", reply{status: 429, body: `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"retryDelay":"34s"}]}}]`}, memory.ClassRateLimit, 34 * time.Second},
		{"bad key is a 400", "gemini", reply{status: 400, body: googleDialect().error(400, "invalid_argument", "API key not valid. Please pass a valid API key.")}, memory.ClassLogin, 0},
		{"wrong country", "gemini", reply{status: 400, body: googleDialect().error(400, "failed_precondition", "User location is not supported for the API use.")}, memory.ClassLogin, 0},
		{"model not pulled", "ollama", reply{status: 404, body: chatDialect.error(404, "not_found_error", `model "x" not found, try pulling it first`)}, memory.ClassLogin, 0},
		{"error as a string", "ollama", reply{status: 500, body: `{"error":"llama runner process has terminated"}`}, memory.ClassTransient, 0},
		{"cut error of a day's length", "openai", reply{status: 503, header: map[string]string{"Retry-After": "99999999999999999999"}}, memory.ClassTransient, maxWait},
	}
	for _, tt := range tests {
		t.Run(tt.provider+"/"+tt.name, func(t *testing.T) {
			s := startStandIn(t, tt.reply)
			p := open(t, Config{Provider: tt.provider, BaseURL: s.URL})
			_, err := p.Complete(t.Context(), testRequest())
			checkFailure(t, err, tt.provider, tt.class)
			var failed *memory.ModelError
			if errors.As(err, &failed) && failed.Wait != tt.wait {
				t.Errorf("got wait %v, want %v", failed.Wait, tt.wait)
			}
		})
	}
}

// TestUsageCountsThinking: Gemini's thinking is in the total only, and costs.
func TestUsageCountsThinking(t *testing.T) {
	s := startStandIn(t, reply{status: 200, body: `{"model":"m","choices":[{"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":160}}`})
	answer, err := open(t, Config{Provider: "gemini", BaseURL: s.URL}).Complete(t.Context(), testRequest())
	want := memory.ModelUsage{Input: 100, Output: 60}
	if err != nil || answer.Usage != want {
		t.Errorf("got %+v, %v, want %+v", answer.Usage, err, want)
	}
}
