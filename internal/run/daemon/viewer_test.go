package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"claudemem/internal/leaf/settings"
)

// browse returns the worker's answer to a request on its socket.
func browse(t *testing.T, w *Worker, path string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(content)
}

// TestKeysAreMasked sets every secret of the settings and the password of a URL, and looks for
// them in the pages and their JSON.
func TestKeysAreMasked(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	secrets := map[string]string{settings.KeyOpenAIBaseURL: "https://ada:the-password-of-ada@llm.example/v1"}
	for i, s := range settings.All() {
		if s.Secret {
			secrets[s.Key] = fmt.Sprintf("sk-%02d-no-page-may-show-this", i)
		}
	}
	if len(secrets) < 5 {
		t.Fatalf("only %d secrets", len(secrets))
	}
	for key, value := range secrets {
		if err := settings.Set(dir, key, value); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, config(dir))
	if status, body := browse(t, w, "/logs"); status != http.StatusOK || strings.Contains(body, "no-page-may-show") {
		t.Errorf("/logs: status %d: %s", status, body)
	}
	for _, path := range []string{"/settings", "/settings?changed=1", "/api/settings", "/api/stats"} {
		status, body := browse(t, w, path)
		if status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", path, status, body)
		}
		for key := range secrets {
			if !strings.Contains(body, strings.TrimPrefix(key, "CLAUDE_MEM_")) {
				t.Errorf("%s is without %s", path, key)
			}
		}
		for _, bad := range []string{"no-page-may-show", "the-password-of-ada"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s shows %q", path, bad)
			}
		}
	}
}
