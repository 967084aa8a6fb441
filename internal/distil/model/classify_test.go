package model

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claudemem/internal/memory"
)

func TestErrorInText(t *testing.T) {
	tests := []struct {
		text  string
		class memory.ErrorClass // empty: no error
	}{
		// What the claude CLI says in place of an answer.
		{"Claude AI usage limit reached|1763640000", memory.ClassQuota},
		{"You've hit your limit · resets 3pm (Europe/Berlin)", memory.ClassQuota},
		{"You’ve hit your session limit · resets 3pm", memory.ClassQuota},
		{"You've reached your weekly limit for Opus", memory.ClassQuota},
		{"5-hour limit reached ∙ resets 7pm", memory.ClassQuota},
		{"Weekly limit reached ∙ resets Mon 9am", memory.ClassQuota},
		{"Credit balance is too low", memory.ClassQuota},
		{"You're out of extra usage · resets 3pm", memory.ClassQuota},
		{"Invalid API key · Please run /login", memory.ClassLogin},
		{"Invalid API key · Fix external API key", memory.ClassLogin},
		{"Not logged in · Please run /login", memory.ClassLogin},
		{"Please run /login · API Error: 401 {\"type\":\"error\"}", memory.ClassLogin},
		{"OAuth token has expired. Please run /login", memory.ClassLogin},
		{"OAuth token revoked · Please run /login", memory.ClassLogin},
		{"Your account does not have access to Claude Code. Please run /login.", memory.ClassLogin},
		{`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}} · Please run /login`, memory.ClassLogin},
		{`API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit."}}`, memory.ClassRateLimit},
		{`API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 201000 tokens > 200000 maximum"}}`, memory.ClassPromptTooLong},
		{`API Error (529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}) · Retrying`, memory.ClassTransient},
		{"API Error: 500 Internal server error", memory.ClassTransient},
		{"API Error: 402 Payment Required", memory.ClassQuota},
		{"API Error: Request timed out.", memory.ClassTransient},
		{"API Error: Connection error.", memory.ClassTransient},
		{"API Error: Unable to connect to API (ECONNREFUSED)", memory.ClassTransient},
		{"API Error: Request timed out. Check your internet connection and proxy settings", memory.ClassTransient},
		{"Prompt is too long", memory.ClassPromptTooLong},
		{"prompt is too long: 208310 tokens > 200000 maximum", memory.ClassPromptTooLong},
		// What APIs and gateways say.
		{"You exceeded your current quota, please check your plan and billing details.", memory.ClassQuota},
		{"Error: insufficient_quota", memory.ClassQuota},
		{"Insufficient credits. Add more using https://openrouter.ai/settings/credits", memory.ClassQuota},
		{"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.", memory.ClassQuota},
		{"This request requires more credits, or fewer max_tokens.", memory.ClassQuota},
		{"Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 10000", memory.ClassRateLimit},
		{"Too Many Requests", memory.ClassRateLimit},
		{"Rate limit exceeded.", memory.ClassRateLimit},
		{"Overloaded", memory.ClassTransient},
		{"The model is currently overloaded. Please try again later.", memory.ClassTransient},
		{"Internal Server Error", memory.ClassTransient},
		{"503 Service Unavailable", memory.ClassTransient},
		{"API key not valid. Please pass a valid API key.", memory.ClassLogin},
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, memory.ClassTransient},
		{`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, memory.ClassQuota},
		{`[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`, memory.ClassTransient},
		{"  \n Credit balance is too low \n", memory.ClassQuota},
		{"**Credit balance is too low**", memory.ClassQuota},
		// HTTP statuses in words, as gateways and clients write them.
		{"401 Unauthorized", memory.ClassLogin},
		{"HTTP/1.1 401 Unauthorized", memory.ClassLogin},
		{"Error: 403 Forbidden", memory.ClassLogin},
		{"Unauthorized", memory.ClassLogin},
		{"Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}", memory.ClassLogin},
		{"Request failed with status code 429", memory.ClassRateLimit},
		{"402 Payment Required", memory.ClassQuota},
		{"HTTP 503", memory.ClassTransient},
		{"504 Gateway Timeout", memory.ClassTransient},
		{"upstream connect error or disconnect/reset before headers", memory.ClassTransient},
		{"Error code: 400 - {\"error\":{\"message\":\"maximum context length is 8192 tokens\"}}", memory.ClassPromptTooLong},
		{"quota exhausted", memory.ClassQuota},
		{"Your monthly quota has been exhausted.", memory.ClassQuota},
		{"Resource has been exhausted (e.g. check quota).", memory.ClassQuota},
		{"Too many requests, please try again later.", memory.ClassRateLimit},
		{"Authentication required", memory.ClassLogin},
		{"Failed to authenticate. API Error: 401 terminated", memory.ClassLogin},
		{"Session expired. Please run /login to sign in again.", memory.ClassLogin},
		{"OAuth account information not found in config · Please run /login", memory.ClassLogin},
		{"ExpiredTokenException: The security token included in the request is expired", memory.ClassLogin},
		{"PERMISSION_DENIED: Vertex AI API has not been used in project x", memory.ClassLogin},
		{"RESOURCE_EXHAUSTED", memory.ClassQuota},
		{"ThrottlingException: Too many tokens, please wait before trying again.", memory.ClassRateLimit},
		{"Missing API key", memory.ClassLogin},
		// Pages of proxies and login portals.
		{"<!DOCTYPE html>\n<html><head><title>Sign in – Example SSO</title></head><body>" + strings.Repeat("<p>x</p>", 1000), memory.ClassLogin},
		{"<html>\n<head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>", memory.ClassTransient},
		{"<html><head><title>401 Authorization Required</title></head></html>", memory.ClassLogin},
		{"<html><body>Something went wrong</body></html>", memory.ClassTransient},

		// What an observer may say about such things.
		{"", ""},
		{"   ", ""},
		{"No observation: routine reading.", ""},
		{"Nothing worth recording in this batch.", ""},
		{"<observation><title>Credit balance is too low</title></observation>", ""},
		{"Credit balance is too low\n<observation><title>x</title></observation>", ""},
		{"<skip_summary reason=\"API Error: 500\"/>", ""},
		{"The user exceeded the API quota and added a retry with back-off.", ""},
		{"The session dealt with a rate limit: requests now wait for Retry-After.", ""},
		{"Rate limit reached was the error; the fix adds a queue.", ""},
		{"Rate limiting was added to the login route.", ""},
		{"Quota exceeded errors are now retried with exponential back-off.", ""},
		{"API Error handling was moved into one module.", ""},
		{"API errors are now logged.", ""},
		{"API Error: Users see a toast now, because the team decided so.", ""},
		{"Overloaded functions were replaced by options.", ""},
		{"Internal server error in /login was caused by a nil map; fixed.", ""},
		{"Connection error handling was improved.", ""},
		{"Prompt is too long for the header; the user shortened it.", ""},
		{"Invalid API keys are now rejected at start-up.", ""},
		{"You have reached your goal.", ""},
		{"Insufficient quota handling: " + strings.Repeat("the queue waits and tells the user once. ", 12), ""},
		{"You've hit your limit · " + strings.Repeat("and a long explanation follows ", 20), ""},
		{`{"error":"none"}`, ""},
		{`{"error":{"message":"no type, no code"}}`, ""},
		{`{"observations":[]}`, ""},
		{`[{"type":"discovery"}]`, ""},
		{`{"error":`, ""},
		{strings.Repeat("Overloaded ", 1000), ""},
		{"401 Unauthorized\n<observation><title>x</title></observation>", ""},
		{"<observation><title>Login answered 401 Unauthorized: clock skew</title></observation>", ""},
		{"<html><observation><title>A page around an answer</title></observation></html>", ""},
		{"401 tests pass now.", ""},
		{"Tokens expired too early; the clock of the container was wrong, so that every login of the tests failed, and it took long to see.", ""},
		{"Failed to authenticate users are logged now.", ""},
		{"Session expired errors are shown to the user now.", ""},
		{"404 pages are served from the cache now.", ""},
		{"500 rows were imported by the new job.", ""},
		{"Unauthorized users are sent to the login page now.", ""},
		{"The login page answered 401 Unauthorized because of a clock skew.", ""},
		{"Quota is exhausted only after the retry, which is what the test checks.", ""},
		{"The HTML page starts with <!DOCTYPE html>.", ""},
	}
	for _, tt := range tests {
		if class := ErrorInText(tt.text); class != tt.class {
			t.Errorf("ErrorInText(%.80q) = %q, want %q", tt.text, class, tt.class)
		}
	}
}

func FuzzErrorInText(f *testing.F) {
	for _, seed := range []string{
		"Credit balance is too low", `API Error: 529 {"type":"error"}`, `[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]`,
		"<observation>Overloaded", "API Error (429", "⚠ rate limit exceeded", `{"error":{"message":"m","code":7,"details":[{"retryDelay":"1s"}]}}`, "\xff\xfe API Error: 500",
	} {
		f.Add(seed)
	}
	classes := map[memory.ErrorClass]bool{
		memory.ClassTransient: true, memory.ClassRateLimit: true, memory.ClassQuota: true,
		memory.ClassLogin: true, memory.ClassPromptTooLong: true, memory.ClassGarbage: true,
	}
	f.Fuzz(func(t *testing.T, text string) {
		class := ErrorInText(text)
		if class != "" && !classes[class] {
			t.Errorf("got %q", class)
		}
		if again := ErrorInText(" " + text + "\n"); class != "" && len(text) < 1000 && again != class {
			t.Errorf("got %q, with space around %q", class, again)
		}
		if ErrorInText(text+"<observation>") != "" {
			t.Error("an answer with an element is no error")
		}
		for _, status := range []int{200, 400, 403, 429, 500, 511} {
			e := Endpoint{now: time.Now, key: "k-e-y"}
			failed := e.classify(status, http.Header{}, []byte(text))
			if !classes[failed.Class] || failed.Wait < 0 || failed.Wait > maxWait {
				t.Errorf("status %d: %+v", status, failed)
			}
			if !utf8.ValidString(failed.Err.Error()) || strings.Contains(failed.Err.Error(), "k-e-y") || utf8.RuneCountInString(failed.Err.Error()) > maxDetail+50 {
				t.Errorf("status %d: text %q", status, failed.Err.Error())
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		seconds, millis string
		want            time.Duration
	}{
		{"", "", 0},
		{"30", "", 30 * time.Second},
		{" 30 ", "", 30 * time.Second},
		{"1.5", "", 1500 * time.Millisecond},
		{"30", "250", 250 * time.Millisecond},
		{"30", "soon", 30 * time.Second},
		{"0", "", 0},
		{"-5", "", 0},
		{"NaN", "", 0},
		{"Inf", "", maxWait},
		{"1e300", "", maxWait},
		{"1e400", "", maxWait},
		{"99999999999999999999999", "", maxWait},
		{"172800", "", maxWait},
		{"", "99999999999999", maxWait},
		{"soon", "", 0},
		{"Fri, 20 Nov 2026 12:01:00 GMT", "", time.Minute},
		{"Friday, 20-Nov-26 12:01:00 GMT", "", time.Minute},
		{"Fri Nov 20 12:01:00 2026", "", time.Minute},
		{"Fri, 20 Nov 2026 11:00:00 GMT", "", 0},
		{"Fri, 20 Nov 2096 11:00:00 GMT", "", maxWait},
		{"2026-11-20T12:01:00Z", "", 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		if tt.seconds != "" {
			h.Set("Retry-After", tt.seconds)
		}
		if tt.millis != "" {
			h.Set("Retry-After-Ms", tt.millis)
		}
		if got := RetryAfter(h, now); got != tt.want {
			t.Errorf("RetryAfter(%q, %q) = %v, want %v", tt.seconds, tt.millis, got, tt.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"30", "1.5", "-1", "NaN", "+Inf", "1e309", "0x1p10", "Fri, 20 Nov 2026 12:01:00 GMT", "9223372036854775807", "1_0"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, seconds, millis string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {millis}}
		if got := RetryAfter(h, conformanceNow); got < 0 || got > maxWait {
			t.Errorf("got %v", got)
		}
	})
}

func TestClean(t *testing.T) {
	tests := []struct{ name, text, key, want string }{
		{"key", "bad key abc-123 given", "abc-123", "bad key [redacted] given"},
		{"echo of a key", "Incorrect API key provided: sk-proj-ab**********yz.", "", "Incorrect API key provided: [redacted]"},
		{"google key", "key AIzaSyA-1234567_x is bad", "", "key [redacted] is bad"},
		{"bearer", "Authorization: Bearer abc.def.ghi-jkl", "", "Authorization: [redacted]"},
		{"32 characters without a known prefix", "key 0123456789abcdef0123456789ABCDEF is bad", "", "key [redacted] is bad"},
		{"user in a URL", "proxy http://user:pass@host:1/", "", "proxy http[redacted]host:1/"},
		{"value of a field", `{"api_key": "0123456789abcdef"}`, "", `{"api_[redacted]"}`},
		{"key across the end", strings.Repeat("x ", 145) + "sk-ant-api03-0123456789", "", strings.Repeat("x ", 145) + "[redacted]"},
		{"key past the end", strings.Repeat("x ", 147) + "sk-ant-api03-0123456789", "", strings.Repeat("x ", 147) + "[reda…"},
		{"header without a value", "status 401: x-api-key is invalid", "", "status 401: x-api-key is invalid"},
		{"lines", "a\r\n\tb\x00c\x1b[31m", "", "a b c [31m"},
		{"not UTF-8", "a\xffb", "", "a\uFFFDb"},
		{"plain", "ask-me about risk-free things", "", "ask-me about risk-free things"},
		{"long", strings.Repeat("ä", 400), "", strings.Repeat("ä", 299) + "…"},
	}
	for _, tt := range tests {
		if got := Clean(tt.text, tt.key); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
