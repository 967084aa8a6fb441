package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// histories has sessions of other agents as these have stored them, and the payloads of their hooks.
const histories = "../../../testdata/histories"

// geminiID is the id of a call of Gemini CLI.
var geminiID = regexp.MustCompile(` tool \S+__\S+_\d+_\d+ `)

// hooksOf returns the prompts, tools and stops that the recorded payloads of an agent's hooks become.
func hooksOf(t *testing.T, host memory.Host) (lines []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(histories, string(host)+"-hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(content)) {
		var hook struct{ Payload json.RawMessage }
		if err := json.Unmarshal([]byte(l), &hook); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(hook.Payload, []byte(`"source":`)) && !bytes.Contains(hook.Payload, []byte(`"reason":`)) { // of a session's beginning and end
			lines = append(lines, captured(t, host, string(hook.Payload))...)
		}
	}
	return lines
}

// TestHistories: what an agent has stored of a session becomes the events that its hooks have reported.
func TestHistories(t *testing.T) {
	for _, host := range []memory.Host{memory.HostCodex, memory.HostGemini} {
		t.Run(string(host), func(t *testing.T) {
			got, r := readAll(t, filepath.Join(histories, string(host)), nil)
			if host == memory.HostGemini { // its hooks are told no ids of calls
				for i := range got {
					got[i] = geminiID.ReplaceAllString(got[i], " tool ")
				}
			}
			if diff := cmp.Diff(hooksOf(t, host), got); diff != "" {
				t.Errorf("-hooks +history:\n%s", diff)
			}
			if c := r.Counts; c.Unknown+c.Broken > 0 || len(r.Unreadable) > 0 {
				t.Errorf("left out: %+v, %v", c, r.Unreadable)
			}
		})
	}
}

// codexLine is a record of Codex CLI.
func codexLine(kind, payload string) string {
	return `{"timestamp":"2026-03-01T10:00:00.000Z","type":"` + kind + `","payload":{` + payload + "}}\n"
}

// TestCodex: the layouts of older versions, copies of a fork, and what is left out and counted.
func TestCodex(t *testing.T) {
	meta := func(id, more string) string {
		return codexLine("session_meta", `"id":"`+id+`","cwd":"/p","source":"cli"`+more)
	}
	turn := func(id string) string {
		return codexLine("turn_context", `"turn_id":"`+id+`","cwd":"/p"`) + codexLine("event_msg", `"type":"user_message","message":"Do `+id+`"`)
	}
	call := func(name, arguments, output string) string {
		return codexLine("response_item", `"type":"function_call","name":"`+name+`","arguments":`+arguments+`,"call_id":"c"`) +
			codexLine("response_item", `"type":"function_call_output","call_id":"c","output":`+output)
	}
	bash := func(text string) string { return `s tool c Bash {"command":"go test"} ` + text }
	for name, test := range map[string]struct {
		text   string
		want   []string
		counts Counts
	}{
		"shell of words":            {call("shell", `"{\"command\":[\"bash\",\"-lc\",\"go test\"]}"`, `"{\"output\":\"ok\\n\",\"metadata\":{\"exit_code\":0}}"`), []string{bash(`"ok\n"`)}, Counts{Lines: 3, Tools: 1}},
		"shell of a text":           {call("shell_command", `"{\"command\":\"go test\"}"`, `"Exit code: 0\nWall time: 1 seconds\nOutput:\nok"`), []string{bash(`"ok"`)}, Counts{Lines: 3, Tools: 1}},
		"what a file shows":         {call("exec_command", `"{\"cmd\":\"go test\"}"`, `"The log:\nOutput:\nok"`), []string{bash(`"The log:\nOutput:\nok"`)}, Counts{Lines: 3, Tools: 1}},
		"refused":                   {call("exec_command", `"{\"cmd\":\"go test\"}"`, `"exec command rejected by user"`), nil, Counts{Lines: 3}},
		"a patch that fits nothing": {call("apply_patch", `"*** Begin Patch"`, `"apply_patch verification failed: Failed to find expected lines"`), nil, Counts{Lines: 3}}, // no hook is told of it
		"other tools":               {call("update_plan", `"{}"`, `"Plan updated"`), nil, Counts{Lines: 3, Unknown: 1}},
		"unknown records":           {codexLine("new_kind", `"type":"x"`) + "no JSON\n" + codexLine("event_msg", `"type":"token_count"`), nil, Counts{Lines: 4, Unknown: 1, Broken: 1}},
		"without turns":             {codexLine("event_msg", `"type":"user_message","message":"Do it"`) + codexLine("event_msg", `"type":"task_complete","last_agent_message":"Done."`), []string{"s prompt Do it", "s stop Done."}, Counts{Lines: 3, Prompts: 1, Stops: 1}},
	} {
		got, c := parse(t, meta("s", "")+test.text)
		if diff := cmp.Diff(test.want, got); diff != "" || c != test.counts {
			t.Errorf("%s: %+v; -want +got:\n%s", name, c, diff)
		}
	}

	dir := t.TempDir()
	write(t, filepath.Join(dir, "2026", "03", "01", "rollout-s.jsonl"), meta("s", "")+turn("t1"), day)
	write(t, filepath.Join(dir, "2026", "03", "02", "rollout-f.jsonl"), strings.ReplaceAll(meta("f", `,"forked_from_id":"s"`)+meta("s", "")+turn("t1")+turn("t2"), "T10:00:00", "T11:00:00"), day)
	write(t, filepath.Join(dir, "2026", "03", "02", "rollout-a.jsonl"), strings.Replace(meta("a", "")+turn("t3"), `"cli"`, `{"subagent":"review"}`, 1), day)
	got, r := readAll(t, dir, nil)
	if diff := cmp.Diff([]string{"s prompt t1 Do t1", "f prompt t2 Do t2"}, got); diff != "" || r.Counts.Copied != 1 || r.Counts.OfHost != 1 {
		t.Errorf("%+v; -want +got:\n%s", r.Counts, diff)
	}
}

// TestGemini: the directory of a session is the one of its hash, and without one it is none; of a message
// and a call that are written again one event is made.
func TestGemini(t *testing.T) {
	const dir = "/home/dev/limiter"
	sum := sha256.Sum256([]byte(dir))
	head := `"sessionId":"s","projectHash":"` + hex.EncodeToString(sum[:]) + `","startTime":"2026-03-01T10:00:00.000Z"`
	message := func(id, kind, more string) string {
		return `{"id":"` + id + `","timestamp":"2026-03-01T10:00:00.000Z","type":"` + kind + `",` + more + "}"
	}
	call := func(id, status string) string {
		return `{"id":"` + id + `","name":"run_shell_command","args":{"command":"ls"},"status":"` + status + `","timestamp":"2026-03-01T10:00:01.000Z","resultDisplay":"a",` +
			`"result":[{"functionResponse":{"response":{"output":"a"}}}]}`
	}
	messages := []string{
		message("1", "user", `"content":"Look at /home/dev/limiter/main.go"`),
		message("2", "gemini", `"content":"I look.","toolCalls":[`+call("c1", "success")+","+call("c2", "cancelled")+"]"),
		message("2", "gemini", `"content":"I look.","toolCalls":[`+call("c1", "success")+"]"),
		message("3", "info", `"content":"Hm"`), message("4", "new", `"content":"Hm"`), message("5", "gemini", `"content":"Done."`),
	}
	want := []string{"s prompt Look at /home/dev/limiter/main.go", `s tool c1 Bash {"command":"ls"} {"stdout":"a"}`, "s stop I look.\nDone."}
	lines := "{" + head + `,"kind":"main"}` + "\n" + `{"$set":{"messages":[` + messages[0] + "]}}\n" + strings.Join(messages, "\n") + "\n"
	document := "{\n" + head + `,"messages":[` + "\n" + strings.Join(messages, ",\n") + "\n]}"
	for name, test := range map[string]struct {
		root, text string
		want       []string
	}{
		"document":  {dir, document, want},
		"lines":     {dir, lines, want},
		"elsewhere": {"/home/dev/other", lines, nil},
		"subagent":  {dir, strings.Replace(lines, `"main"`, `"subagent"`, 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			write(t, filepath.Join(home, "limiter", "chats", "session-1.json"+map[bool]string{true: "l"}[name != "document"]), test.text, day)
			write(t, filepath.Join(home, "limiter", ".project_root"), test.root+"\n", day)
			got, r := readAll(t, home, nil)
			if diff := cmp.Diff(test.want, got); diff != "" || len(got) > 0 && r.Counts.Unknown != 1 {
				t.Errorf("%+v; -want +got:\n%s", r.Counts, diff)
			}
		})
	}
}

func FuzzHistories(f *testing.F) {
	for _, host := range []memory.Host{memory.HostCodex, memory.HostGemini} {
		if err := filepath.WalkDir(filepath.Join(histories, string(host)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasPrefix(filepath.Ext(path), ".json") {
				return err
			}
			content, err := os.ReadFile(path)
			for l := range strings.Lines(string(content)) {
				if len(l) > 4<<10 {
					content = bytes.Replace(content, []byte(l), nil, 1)
				}
			}
			f.Add(content)
			return err
		}); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(fuzzParser)
}

// TestEventsAreCopies: an event stays as it is while the next lines are read, as an import keeps many.
func TestEventsAreCopies(t *testing.T) {
	const line = `{"type":"hook_payload","sessionId":"s","cwd":"/p","timestamp":"2026-01-02T03:04:05Z","payload":{"tool":"%s","call_id":"c%d","args":{"n":%[2]d},"output":"out%[2]d","hook_event_name":"tool.execute.after","session_id":"s","cwd":"/p"}}` + "\n"
	for _, tool := range []string{"bash", "read", "webfetch", "memory_save"} {
		p := NewParser(strings.NewReader(fmt.Sprintf(line, tool, 1) + fmt.Sprintf(line, tool, 2)))
		first, err := p.Next()
		if err != nil {
			t.Fatal(err)
		}
		before := string(first.ToolInput) + string(first.ToolResponse)
		if _, err := p.Next(); err != nil {
			t.Fatal(err)
		}
		if after := string(first.ToolInput) + string(first.ToolResponse); after != before || !strings.Contains(before, "out1") {
			t.Errorf("%s: %s became %s", tool, before, after)
		}
	}
}
