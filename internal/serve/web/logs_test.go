package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// logAt writes lines to a log.
func logAt(t testing.TB, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// logged returns a line of a log, n seconds after noon.
func logged(n int, level, message string) string {
	b, _ := json.Marshal(map[string]any{"time": noon.Add(time.Duration(n) * time.Second), "level": level, "msg": message, "n": n})
	return string(b)
}

// said returns the messages on a page, as they stand there.
func said(body string) string {
	var all []string
	for _, part := range strings.Split(body, `<p class="said" dir="auto">`)[1:] {
		message, _, _ := strings.Cut(part, "<")
		all = append(all, strings.TrimSpace(message))
	}
	return strings.Join(all, " ")
}

func TestLogs(t *testing.T) {
	dir := t.TempDir()
	worker, hook := filepath.Join(dir, "worker.log"), filepath.Join(dir, "hook.log")
	logAt(t, filepath.Join(dir, "worker-2.log"), logged(1, "INFO", "one"), logged(2, "ERROR", "two"))
	logAt(t, worker, logged(4, "DEBUG", "four"), "goroutine 1", logged(6, "WARN", "six"))
	logAt(t, hook, logged(3, "WARN", "three"), logged(5, "WARN", "five"))
	v := New((&fake{}).memory(), Options{Location: time.UTC, Logs: []Log{{"worker", worker, filepath.Join(dir, "worker-*.log")}, {"hook", hook, filepath.Join(dir, "hook.log.1")}}})
	for path, want := range map[string]string{
		"/logs":                       "six five goroutine 1 four three two one",
		"/logs?level=warn":            "six five goroutine 1 three two",
		"/logs?level=error":           "goroutine 1 two",
		"/logs?log=hook":              "five three",
		"/logs?log=worker&level=info": "six goroutine 1 two one",
		"/logs?q=O":                   "goroutine 1 four two one",
		"/logs?q=n%3D5&fragment=1":    "five",
		"/logs?q=nothing":             "",
	} {
		w := serve(v, path)
		if got := said(w.Body.String()); got != want || w.Code != http.StatusOK {
			t.Errorf("%s: status %d, %q, want %q", path, w.Code, got, want)
		}
	}
	if body := serve(v, "/logs?level=warn").Body.String(); !strings.Contains(body, `href="/logs?level=warn" aria-current="true"`) {
		t.Errorf("the level in force is not marked: %s", body)
	}
	if w := serve(v, "/logs?level=loud"); w.Code != http.StatusBadRequest {
		t.Errorf("an unknown level: status %d", w.Code)
	}
}

// TestLogsAreReadFromTheirEnd: of a long log the page reads the end, in whole lines.
func TestLogsAreReadFromTheirEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker.log")
	var lines []string
	for n := range 30_000 {
		lines = append(lines, logged(n, "INFO", fmt.Sprintf("line%d", n)))
	}
	logAt(t, path, lines...)
	tail, cut, err := Log{Path: path}.tail(logTail)
	if err != nil || !cut || len(tail) < 500 || len(tail) > 10_000 || string(tail[0]) != lines[len(lines)-len(tail)] {
		t.Errorf("%d lines, cut %v, the first is %.80q, %v", len(tail), cut, tail[0], err)
	}
	body := serve(New((&fake{}).memory(), Options{Logs: []Log{{Name: "worker", Path: path}}}), "/logs").Body.String()
	if !strings.HasPrefix(said(body), "line29999 line29998 ") || strings.Count(body, `class="said"`) != maxLogLines {
		t.Errorf("the page begins with %.80s", said(body))
	}
	logAt(t, path, strings.Repeat("&", 2*logTail))
	if tail, cut, err := (Log{Path: path}).tail(logTail); len(tail) != 1 || !cut || err != nil {
		t.Errorf("of one long line: %d lines, cut %v, %v", len(tail), cut, err)
	}
}

// TestLogsWeight: a hundred lines of long texts stay below the weight of a page.
func TestLogsWeight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker.log")
	var lines []string
	for n := range 150 {
		b, _ := json.Marshal(map[string]any{"time": noon, "level": "ERROR", "msg": strings.Repeat("'", 700), "stack": strings.Repeat("'", 700), "n": n})
		lines = append(lines, string(b))
	}
	logAt(t, path, lines...)
	w := serve(New((&fake{}).memory(), Options{Logs: []Log{{Name: "worker", Path: path}}}), "/logs")
	if n := w.Body.Len(); n > 150<<10 || n < 50<<10 {
		t.Errorf("the page has %d bytes", n)
	}
}

func TestLogsMissingOrNoFile(t *testing.T) {
	dir := t.TempDir()
	body := serve(New((&fake{}).memory(), Options{Logs: []Log{{Name: "worker", Path: filepath.Join(dir, "logs", "worker.log")}}}), "/logs").Body.String()
	if !strings.Contains(body, "There is no log yet") {
		t.Errorf("without a log: %s", body)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "hook.log")); err != nil {
		t.Skip(err)
	}
	body = serve(New((&fake{}).memory(), Options{Logs: []Log{{Name: "hook", Path: filepath.Join(dir, "hook.log")}}}), "/logs").Body.String()
	if !strings.Contains(body, "hook: not a regular file") {
		t.Errorf("with a link: %s", body)
	}
}

func BenchmarkLogs(b *testing.B) {
	path := filepath.Join(b.TempDir(), "worker.log")
	var lines []string
	for n := range 10_000 {
		lines = append(lines, logged(n, "INFO", "settings changed"))
	}
	logAt(b, path, lines...)
	v := New((&fake{}).memory(), Options{Logs: []Log{{Name: "worker", Path: path}, {Name: "hook", Path: path}}})
	for b.Loop() {
		serve(v, "/logs?q=nowhere")
	}
}
