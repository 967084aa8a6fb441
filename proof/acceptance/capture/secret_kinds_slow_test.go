//go:build unix && slow

package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"

	"claudemem/proof/samples"
)

// A leakSearch finds the parts of planted secrets in bytes: by their first eight.
type leakSearch map[[8]byte]plantedPart

type plantedPart struct{ kind, text string }

// plantSample adds the parts of a sample's secret.
func (l leakSearch) plantSample(kind string, s *samples.Sample) {
	for _, part := range s.Parts() {
		if len(part) == 8 {
			l[[8]byte([]byte(part))] = plantedPart{kind, part}
		}
	}
}

// leaks adds the kinds whose secrets are in content to found, with where they are.
func (l leakSearch) leaks(where string, content []byte, found map[string]string) {
	for i := 0; i+8 <= len(content); i++ {
		if p, ok := l[[8]byte(content[i:])]; ok && found[p.kind] == "" {
			found[p.kind] = fmt.Sprintf("%s in %s: …%.70q", p.text, where, content[max(0, i-40):min(len(content), i+30)])
		}
	}
}

// TestSecretKinds plants secrets of every sixth kind of both lists by the ways in that a real
// memory has: the hook binary's prompts, commands, outputs, files, answers of tools and
// closing messages, and the worker's routes for events, memories and learnings. It then
// looks into the bytes of the spool before the worker has run, and afterwards into every
// file of the data directory and every request to the model.
func TestSecretKinds(t *testing.T) {
	t.Parallel()
	api := world.NewStandIn(t, nil)
	m := world.NewMemory(t)
	m.Configure(api.With("anthropic", "SESSION_TOKEN_CAP", "0", "DAILY_TOKEN_CAP", "0"))
	release := m.HoldLock()
	project := t.TempDir()
	random := rand.New(rand.NewPCG(14, 6))
	var kinds []samples.Kind
	for n, k := range slices.Concat(samples.First, samples.Later()) {
		if n%6 == 0 { // a session with a model takes a second
			kinds = append(kinds, k)
		}
	}
	secrets := leakSearch{}
	var posts []post
	for n := range kinds {
		all := slices.DeleteFunc(kinds[n].Samples(random), func(s samples.Sample) bool { return strings.HasPrefix(s.Secret, `\u`) })
		text := make([]string, 3)
		for i := range text {
			s := &all[(n+i*len(all)/3)%len(all)]
			secrets.plantSample(kinds[n].Name, s)
			text[i] = s.Text
		}
		id := fmt.Sprintf("kind-%d", n)
		send := func(verb string, payload map[string]any) {
			payload["session_id"], payload["cwd"], payload["prompt_id"] = id, project, id+"-p"
			m.Send(verb, payload)
		}
		send("new", map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "Why does this fail?\n" + text[0]})
		send("save", map[string]any{"hook_event_name": "PostToolUse", "tool_name": "mcp__store__write", "tool_use_id": id + "-t",
			"tool_input":    map[string]any{"command": text[1], "content": "line\n" + text[2], "nested": map[string]any{"body": quote(text[0])}},
			"tool_response": []any{map[string]any{"type": "text", "text": text[2]}, map[string]any{"stdout": text[0], "stderr": text[1]}}})
		send("save", map[string]any{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": id + "-f",
			"tool_input": map[string]any{"command": "make"}, "error": "Exit code 1\n" + text[1]})
		send("summary", map[string]any{"hook_event_name": "Stop", "last_assistant_message": "Done. It has\n\n" + text[2]})
		posts = append(posts,
			post{"/api/sessions/observations", map[string]any{"contentSessionId": id + "-http", "tool_name": "Read", "tool_use_id": id, "cwd": project,
				"tool_input": map[string]any{"file_path": "a.txt"}, "tool_response": text[1]}},
			post{"/api/sessions/complete", map[string]any{"session": id + "-http", "reason": "other"}},
			post{"/api/observations", map[string]any{"project": "p", "title": fmt.Sprint("Kind ", n), "narrative": text[0]}},
			post{"/api/learnings", map[string]any{"project_path": project, "category": "convention", "content": text[2]}})
	}
	check := func(who string, least float64, found map[string]string) {
		share := 1 - float64(len(found))/float64(len(kinds))
		world.Figure(t, 4, "real ways in: the %s masks %d of %d kinds (%.1f %%, bar %.0f %%)", who, len(kinds)-len(found), len(kinds), 100*share, 100*least)
		for kind, where := range found {
			t.Logf("%s: %s", kind, where)
		}
		if share < least {
			t.Errorf("the %s masks %.1f %% of the kinds, the bar is %.0f %%", who, 100*share, 100*least)
		}
	}
	byHook := map[string]string{}
	m.EachFile(func(path string, content []byte) { secrets.leaks(filepath.Base(path), content, byHook) })
	if n := m.Spooled(); n < 3*len(kinds) {
		t.Fatalf("%d events in the spool, want %d: the test looks at too little", n, 4*len(kinds))
	}
	check("hook", 0.90, byHook)

	release()
	m.MustCommand("worker", "start")
	postAll(m, posts)
	books := m.Settle(4 * world.SettleLimit)
	m.MustCommand("worker", "stop")
	byWorker := map[string]string{}
	m.EachFile(func(path string, content []byte) { secrets.leaks(filepath.Base(path), content, byWorker) })
	calls := api.Calls()
	for _, c := range calls {
		secrets.leaks("a request to the model", c.Body, byWorker)
	}
	check("worker", 0.97, byWorker)
	if len(calls) < len(kinds)/2 || books.Processed < 3*len(kinds) {
		t.Errorf("%d calls, books %+v: the test looks at too little", len(calls), books)
	}
}

// A post is a body for a route of the worker.
type post struct {
	route string
	body  any
}

// postAll posts to the running worker.
func postAll(m *world.Memory, posts []post) {
	m.T.Helper()
	var info struct{ Socket string }
	m.ReadJSON("worker.json", &info)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", info.Socket)
	}}}
	for _, p := range posts {
		b, err := json.Marshal(p.body)
		if err != nil {
			m.T.Fatal(err)
		}
		resp, err := client.Post("http://worker"+p.route, "application/json", bytes.NewReader(b))
		if err != nil {
			m.T.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); err != nil || resp.StatusCode/100 != 2 {
			m.T.Errorf("POST %s: %s %s %v", p.route, resp.Status, answer, err)
		}
	}
}
