//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/run/recorded"
)

// untilRemembered waits until the work of the session is in the memory and keeps the time that
// took, in ms since the CLI ended, and the records.
const untilRemembered = `begin=$(date +%s%N)
for i in $(seq 300); do
  "$plugin/bin/claude-mem" recent --all --json >"$out/first.json" 2>/dev/null && grep -q '"title"' "$out/first.json" && break
  sleep 0.1
done
echo $((($(date +%s%N) - begin) / 1000000)) >"$out/took"
"$plugin/bin/claude-mem" queue --json >"$out/unread.json"
"$plugin/bin/claude-mem" doctor >"$out/doctor.txt" 2>&1
`

// untilRedone waits until a model has read what was remembered without it.
const untilRedone = `for i in $(seq 600); do
  "$plugin/bin/claude-mem" queue --json >"$out/queue.json" && grep -q '"unread": \[\]' "$out/queue.json" && break
  sleep 0.2
done
"$plugin/bin/claude-mem" recent --all --json >"$out/second.json"
"$plugin/bin/claude-mem" stats --json >"$out/stats.json"
`

// granted puts the key and the address of the API where the CLI of the worker finds them.
const granted = `printf '{"env":{"ANTHROPIC_BASE_URL":"%s","ANTHROPIC_API_KEY":"%s"}}' "$ANTHROPIC_BASE_URL" "$ANTHROPIC_API_KEY" >"$HOME/.claude/settings.json"
`

// observerRule answers the observer's requests; before it, refusals answer some with 401.
const observerRule = `{"name":"observer","match":"already_recorded|<observation>","in":"system","no_tools":true,"replies":[
 {"text":"<observation><type>bugfix</type><title>Tokens grew past the burst: refill never looked at it</title><subtitle>refill added tokens without the burst as a bound</subtitle><narrative>It is capped now.</narrative><files_modified><file>bucket.go</file></files_modified></observation><summary><request>Why is TestBurstIsTheCeiling red</request><completed>The refill is capped at the burst.</completed></summary>"}]}`

// TestAutoWithoutLogin: the first session of a user whose claude command has no login, or
// one that is refused, is remembered without a model within 10 s; when the login is
// granted, the real CLI reads it, and the same records have the model's words
// (accept-memory, point 3).
func TestAutoWithoutLogin(t *testing.T) {
	plugin := buildPlugin(t)
	for name, v := range map[string]struct {
		rules string
		// before is run ahead of the session, after when it has ended.
		before, after string
	}{
		"no login, then one in the settings": {rules: observerRule, before: "true", after: untilRemembered + granted + untilRedone},
		"a login that is refused, then granted": {
			rules:  `{"name":"refused","match":"already_recorded|<observation>","in":"system","no_tools":true,"times":3,"replies":[{"status":401,"error_type":"authentication_error","error_message":"invalid x-api-key"}]},` + observerRule,
			before: `printf '{"apiKeyHelper":"echo sk-ant-of-a-helper-000000","env":{"ANTHROPIC_BASE_URL":"%s"}}' "$ANTHROPIC_BASE_URL" >"$HOME/.claude/settings.json"`,
			after:  untilRemembered + `"$plugin/bin/claude-mem" queue retry >"$out/retry.txt"; ` + untilRedone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := playAuto(t, plugin, v.rules, v.before, v.after)
			first, second := records(t, out, "first.json"), records(t, out, "second.json")
			if len(first) == 0 || len(second) == 0 {
				t.Fatalf("remembered %v, then %v", first, second)
			}
			if took := note(t, out, "took"); took > 10_000 {
				t.Errorf("remembered after %d ms, want at most 10 s", took)
			}
			if first[0].Origin != "offline" || second[0].Origin != "observer" || first[0].ID != second[0].ID || !strings.Contains(second[0].Title, "past the burst") {
				t.Errorf("first %+v, then %+v, want the model's words in the same record", first[0], second[0])
			}
			unread, err := os.ReadFile(filepath.Join(out, "unread.json"))
			if err != nil || !strings.Contains(string(unread), `"reason": "login"`) {
				t.Errorf("queue %s, %v, want the reason login", unread, err)
			}
			if b := readStats(t, out); !b.balanced() {
				t.Errorf("books %+v", b.Queue)
			}
			calls, largest, cached := observerRequests(t, out)
			if calls != 1 || largest > 40<<10 || !cached {
				t.Errorf("%d calls answered, the largest of %d bytes, cache markers: %t; want one for the turn, at most 40 KB, with markers", calls, largest, cached)
			}
			t.Logf("point 3: %s: remembered in %d ms, redone with %d call of %d bytes", name, note(t, out, "took"), calls, largest)
		})
	}
}

// playAuto plays a session with the provider auto and returns the directory of its traces.
func playAuto(t *testing.T, plugin, rules, before, after string) string {
	t.Helper()
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := recorded.CopyFiles(project, "ratelimit"); err != nil {
		t.Fatal(err)
	}
	played, err := os.ReadFile(filepath.Join("testdata", "two-sessions.json"))
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(t.TempDir(), "scenario.json")
	for path, content := range map[string]string{
		scenario: strings.Replace(string(played), `"rules": [`, `"rules": [`+rules+",", 1),
		filepath.Join(home, ".claude-mem", "config.json"): `{"CLAUDE_MEM_WORKER_PORT":"0"}`,
		filepath.Join(home, ".claude", "settings.json"):   "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cli := strings.TrimSpace(script(t, "--cli"))
	bin := t.TempDir()
	if err := os.Symlink(cli, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--plugin", plugin, "--scenario", scenario, "--project", project, "--home", home, "--out", out, "--timeout", "180",
		"--env", "GOCACHE=" + goEnv(t, "GOCACHE"), "--env", "GOFLAGS=-count=1 -buildvcs=false", "--env", "GOTOOLCHAIN=local",
		"--env", "PATH=" + bin + ":" + os.Getenv("PATH"), "--between", before, "--prompt", fix, "--after", after,
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)
	return out
}

// record is what `recent --json` tells of an observation.
type record struct {
	ID     int    `json:"id"`
	Title  string `json:"title"`
	Origin string `json:"origin"`
}

// records returns the observations in a file that holds the output of `recent --json`.
func records(t *testing.T, out, name string) []record {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	var list []record
	var walk func(raw json.RawMessage)
	walk = func(raw json.RawMessage) {
		var object map[string]json.RawMessage
		var items []json.RawMessage
		switch {
		case json.Unmarshal(raw, &object) == nil:
			var r record
			if object["title"] != nil && object["origin"] != nil && json.Unmarshal(raw, &r) == nil {
				list = append(list, r)
			}
			for _, v := range object {
				walk(v)
			}
		case json.Unmarshal(raw, &items) == nil:
			for _, v := range items {
				walk(v)
			}
		}
	}
	walk(content)
	return list
}

// observerRequests counts the observer's requests that were answered, and returns the size
// of the largest and whether all had cache markers.
func observerRequests(t *testing.T, out string) (calls, largest int, cached bool) {
	t.Helper()
	cached = true
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if r.Kind != "rule" || r.Name != "observer" {
			continue
		}
		calls++
		largest = max(largest, len(r.Body))
		cached = cached && strings.Contains(string(r.Body), `"cache_control"`)
	}
	return calls, largest, cached
}
