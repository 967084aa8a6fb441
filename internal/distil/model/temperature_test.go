package model

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTemperature: 0 goes to the models of each vendor that take it, in the form of its API, and
// nothing to the others.
func TestTemperature(t *testing.T) {
	for _, test := range []struct {
		provider, model string
		cold            bool
	}{
		{"anthropic", "", false}, {"anthropic", "claude-haiku-4-5", true}, {"anthropic", "claude-sonnet-4-6", true}, {"anthropic", "claude-opus-4-6", true},
		{"anthropic", "claude-opus-4-20250514", true}, {"anthropic", "claude-opus-4-7", false}, {"anthropic", "claude-sonnet-5", false},
		{"openai", "", false}, {"openai", "gpt-4.1-mini", true}, {"openai", "gpt-5-mini", false},
		{"openrouter", "", true}, {"openrouter", "google/gemini-3.5-flash", false},
		{"gemini", "", false}, {"gemini", "gemini-2.5-flash", true},
		{"ollama", "", true}, {"ollama", "llama3:8b", true},
	} {
		form := chatDialect
		if test.provider == "anthropic" {
			form = messagesDialect
		}
		s := startStandIn(t, reply{status: 200, body: form.answer("<observation/>")})
		request := testRequest()
		request.Model = test.model
		if _, err := open(t, Config{Provider: test.provider, BaseURL: s.URL}).Complete(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		body := s.only(t).body
		if got := bytes.Contains(body, []byte(`,"temperature":0`)); got != test.cold || got != bytes.Contains(body, []byte("temperature")) {
			t.Errorf("%s %s: temperature 0 is sent: %v, want %v, in %s", test.provider, test.model, got, test.cold, body)
		}
	}
}

// TestTemperatureIsDropped: a model that answers 400 to it is asked again without one, and from
// then on never with one; other models still are, and another 400 is no reason.
func TestTemperatureIsDropped(t *testing.T) {
	messages := map[string]string{
		"refuses": "`temperature` is deprecated for this model.", "refuses-too": "Unsupported value: 'temperature' does not support 0 with this model.",
	}
	for _, row := range conforming {
		v, _ := vendorOf(row.provider)
		prefix := v.cold[0]
		var sent []string // whether each request had a temperature
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			cold := bytes.Contains(body, []byte(`"temperature":0`))
			sent = append(sent, map[bool]string{true: "cold", false: "-"}[cold])
			for model, message := range messages {
				if cold && bytes.Contains(body, []byte(`"`+prefix+model+`"`)) {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, row.dialect.error(400, "invalid_request_error", message))
					return
				}
			}
			if bytes.Contains(body, []byte(prefix+"broken")) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, row.dialect.error(400, "invalid_request_error", "messages: at least one is required"))
				return
			}
			_, _ = io.WriteString(w, row.dialect.answer("<observation/>"))
		}))
		defer s.Close()
		p := open(t, Config{Provider: row.provider, BaseURL: s.URL})
		for _, call := range []struct {
			model, want string
			fails       bool
		}{
			{"refuses", "cold -", false}, {"refuses", "-", false}, {"refuses-too", "cold -", false}, {"takes", "cold", false}, {"broken", "cold", true}, {"refuses", "-", false},
		} {
			sent = nil
			request := testRequest()
			request.Model = prefix + call.model
			_, err := p.Complete(t.Context(), request)
			if got := strings.Join(sent, " "); got != call.want || (err != nil) != call.fails {
				t.Errorf("%s %s: requests %q, want %q, %v", row.provider, call.model, got, call.want, err)
			}
		}
	}
}

// TestCutAnswer: an answer that reached its limit of tokens says so.
func TestCutAnswer(t *testing.T) {
	for _, row := range conforming {
		for _, cut := range []bool{false, true} {
			body := row.dialect.answer("<observation><title>A")
			if cut {
				body = strings.NewReplacer(`"end_turn"`, `"max_tokens"`, `"finish_reason":"stop"`, `"finish_reason":"length"`).Replace(body)
			}
			s := startStandIn(t, reply{status: 200, body: body})
			answer, err := open(t, Config{Provider: row.provider, BaseURL: s.URL}).Complete(t.Context(), testRequest())
			if err != nil || answer.Cut != cut {
				t.Errorf("%s: cut %v, want %v, %v", row.provider, answer.Cut, cut, err)
			}
		}
	}
}
