package model

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"claudemem/internal/memory"
)

// TestReach: the request and the class of the answer for each vendor.
func TestReach(t *testing.T) {
	for _, test := range []struct {
		provider, path, header, value string
	}{
		{"anthropic", "/v1/models", "X-Api-Key", "sk-right"},
		{"openai", "/models", "Authorization", "Bearer sk-right"},
		{"openrouter", "/key", "Authorization", "Bearer sk-right"},
		{"gemini", "/models", "Authorization", "Bearer sk-right"},
		{"ollama", "/models", "Authorization", "Bearer sk-right"},
	} {
		t.Run(test.provider, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.Method != http.MethodGet || r.URL.Path != test.path:
					t.Errorf("asked %s %s, want %s", r.Method, r.URL.Path, test.path)
				case r.Header.Get(test.header) != test.value:
					w.WriteHeader(http.StatusUnauthorized)
				}
				_, _ = io.WriteString(w, `{"data":[]}`)
			}))
			defer server.Close()
			if err := Reach(t.Context(), Config{Provider: test.provider, BaseURL: server.URL, APIKey: "sk-right"}); err != nil {
				t.Errorf("with the key: %v", err)
			}
			err := Reach(t.Context(), Config{Provider: test.provider, BaseURL: server.URL, APIKey: "sk-wrong"})
			if got := classOf(err); got != memory.ClassLogin {
				t.Errorf("with another key: %v, class %q", err, got)
			}
			server.Close()
			err = Reach(t.Context(), Config{Provider: test.provider, BaseURL: server.URL, APIKey: "sk-right"})
			if got := classOf(err); got != memory.ClassTransient {
				t.Errorf("of nobody: %v, class %q", err, got)
			}
		})
	}
	if got := classOf(Reach(t.Context(), Config{Provider: "openai"})); got != memory.ClassLogin {
		t.Errorf("without a key: class %q", got)
	}
}

func classOf(err error) memory.ErrorClass {
	var failed *memory.ModelError
	if !errors.As(err, &failed) {
		return ""
	}
	return failed.Class
}
