package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// TestBothWays: what a host has in the user's place becomes the same event through a hook and from a
// transcript, or none.
func TestBothWays(t *testing.T) {
	content, err := os.ReadFile("../../../testdata/host-text/forms.json")
	if err != nil {
		t.Fatal(err)
	}
	var forms []struct{ Name, Text, Typed, From, Message string }
	if err := json.Unmarshal(content, &forms); err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		t.Run(f.Name, func(t *testing.T) {
			quoted, _ := json.Marshal(f.Text)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "-p", "s.jsonl"), `{"type":"user",`+head+`"uuid":"u1","promptId":"p1","message":{"role":"user","content":`+string(quoted)+"}}\n", day)
			imported, _ := readAll(t, dir, nil)
			var want []string
			switch {
			case f.Typed != "":
				want = []string{"s prompt p1 " + f.Typed}
			case f.Message != "":
				e := memory.Event{Kind: memory.KindPrompt, HostSessionID: "s", PromptID: "p1"}
				wire.Message(&e, hosttext.Message{From: f.From, Text: f.Message})
				want = []string{line(&e)}
			}
			if diff := cmp.Diff(want, imported); diff != "" {
				t.Errorf("imported: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(want, captured(t, "", `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt_id":"p1","cwd":"/p","prompt":`+string(quoted)+"}")); diff != "" {
				t.Errorf("captured: -want +got:\n%s", diff)
			}
		})
	}
}

// captured returns the events that a hook without a worker makes of a payload, one line each.
func captured(t *testing.T, host memory.Host, payload string) (lines []string) {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "CLAUDE_MEM_DATA_DIR": filepath.Join(home, "mem"), "CLAUDE_MEM_SLACK": "60s"}
	verb := hook.VerbNew // as the host runs it
	if host != "" {
		verb = "" // the payload names the event
	}
	hook.Run(hook.Options{
		Host: host, Verb: verb,
		Stdin: strings.NewReader(payload), Stdout: new(strings.Builder), Getenv: func(key string) string { return env[key] },
		Now: time.Now, Rand: func() uint64 { return 1 }, StartWorker: func(string) error { return nil },
	})
	spool := wire.SpoolOf(env["CLAUDE_MEM_DATA_DIR"])
	names, err := spool.List(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		entry, err := spool.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(entry.Event))
	}
	return lines
}
