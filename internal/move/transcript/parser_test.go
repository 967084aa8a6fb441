package transcript

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// parse returns the events of a transcript, one line each, and the counts.
func parse(t *testing.T, text string) (events []string, c Counts) {
	t.Helper()
	p := NewParser(strings.NewReader(text))
	for {
		e, err := p.Next()
		if errors.Is(err, io.EOF) {
			return events, *p.Counts
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Validate(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
		events = append(events, line(&e))
	}
}

// line shows an event in a line.
func line(e *memory.Event) string {
	s := fmt.Sprintf("%s %s", e.HostSessionID, e.Kind)
	for _, part := range []string{e.PromptID, e.AgentID, e.AgentType, e.ToolUseID, e.ToolName, e.Prompt, string(e.ToolInput), string(e.ToolResponse), e.ToolError, e.LastAssistantMessage} {
		if part != "" {
			s += " " + part
		}
	}
	return s
}

const (
	head   = `"sessionId":"s","cwd":"/p","gitBranch":"main","timestamp":"2026-03-01T10:00:00Z",`
	prompt = `{"type":"user",` + head + `"uuid":"u1","promptId":"p1","message":{"role":"user","content":"Fix it"}}` + "\n"
	use    = `{"type":"assistant",` + head + `"uuid":"a1","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"go test"}}]}}` + "\n"
	result = `{"type":"user",` + head + `"uuid":"u2","promptId":"p1","toolUseResult":{"stdout":"ok"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}` + "\n"
	done   = `{"type":"assistant",` + head + `"uuid":"a2","message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Fixed."}]}}` + "\n"
)

func typing(s string) string {
	return `{"type":"user",` + head + `"uuid":"x","promptId":"p2","message":{"role":"user","content":` + fmt.Sprintf("%q", s) + `}}` + "\n"
}

func TestParser(t *testing.T) {
	whole := []string{`s prompt p1 Fix it`, `s tool p1 t1 Bash {"command":"go test"} {"stdout":"ok"}`, `s stop p1 Fixed.`}
	old := strings.NewReplacer(`"promptId":"p1",`, "", `"end_turn"`, "null", `"tool_use","content"`, `null,"content"`)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"turn", prompt + use + result + done, whole},
		{"of an old version", old.Replace(prompt + use + result + done), []string{`s prompt Fix it`, `s tool t1 Bash {"command":"go test"} {"stdout":"ok"}`, `s stop Fixed.`}},
		{"killed in mid-turn", prompt + use, []string{whole[0]}},
		{"killed in mid-line", prompt + use + result[:200], []string{whole[0]}},
		{"text before a tool that is never run", prompt + use + typing("Next"), []string{whole[0], "s prompt p2 Next"}},
		{"interrupted", prompt + use + result + done[:len(done)-1] + "\n" + typing("[Request interrupted by user]") + typing("Go on"), []string{whole[0], whole[1], "s prompt p2 Go on"}},
		{"failure", prompt + use + strings.NewReplacer(`"toolUseResult":{"stdout":"ok"}`, `"toolUseResult":"Error: Exit code 1"`, `"content":"ok"`, `"content":"Exit code 1","is_error":true`).Replace(result),
			[]string{whole[0], `s tool p1 t1 Bash {"command":"go test"} Exit code 1`}},
		{"refused call", prompt + use + strings.NewReplacer(`"content":"ok"`, `"content":"<tool_use_error>File has not been read yet.</tool_use_error>","is_error":true`).Replace(result), whole[:1]},
		{"error of the API", prompt + strings.Replace(done, `"uuid":"a2"`, `"uuid":"a2","isApiErrorMessage":true`, 1), whole[:1]},
		{"result without its call", result + done, []string{"s stop p1 Fixed."}},
		{"no structured result", prompt + use + strings.Replace(result, `"toolUseResult":{"stdout":"ok"},`, "", 1), []string{whole[0], `s tool p1 t1 Bash {"command":"go test"} {"stdout":"ok","stderr":"","interrupted":false}`}},
		{"plugin's command", typing("<command-message>shop:fix</command-message>\n<command-name>/shop:fix</command-name>\n<command-args>all of it</command-args>"), []string{"s prompt p2 /shop:fix all of it"}},
		{"command of the host", typing("<command-name>/compact</command-name>\n <command-message>compact</command-message>\n <command-args></command-args>") + typing("<local-command-stdout>Compacted</local-command-stdout>"), nil},
		{"shell command", typing("<bash-input>ls</bash-input>") + typing("<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>"), nil},
		{"background task", typing("<task-notification>\n<status>completed</status>\n</task-notification>") + done, []string{"s stop p2 Fixed."}},
		{"note of the host", strings.Replace(typing("Caveat: x"), `"uuid"`, `"isMeta":true,"uuid"`, 1) + strings.Replace(typing("Summary: x"), `"uuid"`, `"isCompactSummary":true,"uuid"`, 1), nil},
		{"text and image", strings.Replace(typing(""), `"content":""`, `"content":[{"type":"text","text":"See [Image #1]"},{"type":"image","source":{"type":"base64","data":"aGk="}},{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"}]`, 1), []string{"s prompt p2 See [Image #1]"}},
		{"subagent in its session's file", prompt + strings.Replace(typing("Survey it"), `"uuid"`, `"isSidechain":true,"uuid"`, 1) + strings.ReplaceAll(use+result+done, `"uuid"`, `"isSidechain":true,"uuid"`) + done, append(whole[:2:2], "s stop p1 Fixed.")},
		{"two stops in a turn", prompt + done + `{"type":"system","subtype":"stop_hook_summary",` + head + `"uuid":"y"}` + "\n" + use + result + done, []string{whole[0], whole[2], whole[1], whole[2]}},
		{"two sessions", prompt + done + strings.ReplaceAll(prompt, `"s"`, `"other"`), []string{whole[0], whole[2], "other prompt p1 Fix it"}},
		{"no time at all", `{"type":"user","sessionId":"s","message":{"content":"x"}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := parse(t, tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestSubagentFile: the events of a subagent's file name it, and its end is an event of its run.
func TestSubagentFile(t *testing.T) {
	f := strings.ReplaceAll(use+result+done, `"uuid"`, `"isSidechain":true,"agentId":"a7","uuid"`)
	p := NewParser(strings.NewReader(f))
	p.AgentType = "Explore"
	var got []string
	for {
		e, err := p.Next()
		if err != nil {
			break
		}
		got = append(got, line(&e))
	}
	want := []string{
		`s tool p1 a7 Explore t1 Bash {"command":"go test"} {"stdout":"ok"}`,
		`s tool p1 a7 Explore agent:a7 Agent {"subagent_type":"Explore"} {"status":"completed","agentId":"a7","agentType":"Explore","content":[{"type":"text","text":"Fixed."}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRecordsThatAreLeftOut: what is no record is counted, and what follows is read.
func TestRecordsThatAreLeftOut(t *testing.T) {
	long := `{"type":"user",` + head + `"message":{"content":"` + strings.Repeat("x", maxLine) + `"}}` + "\n"
	got, c := parse(t, "\n42\n[1]\n{\"silly\":1}\nnot JSON\n"+`{"type":"hologram"}`+"\n"+`{"type":"attachment"}`+"\n"+long+"\xff\xfe\n"+prompt+done)
	want := Counts{Lines: 10, Broken: 5, TooLong: 1, Unknown: 1, Prompts: 1, Stops: 1}
	if diff := cmp.Diff(want, c); diff != "" || len(got) != 2 {
		t.Errorf("%d events; -want +got:\n%s", len(got), diff)
	}
}

// TestSameDelivery: an event without an id of the host has the same delivery id when a longer
// file is read again, so that it is not taken in twice.
func TestSameDelivery(t *testing.T) {
	ids := func(text string) (ids []string) {
		p := NewParser(strings.NewReader(text))
		for {
			e, err := p.Next()
			if err != nil {
				return ids
			}
			ids = append(ids, e.DeliveryID)
		}
	}
	f := strings.ReplaceAll(prompt+done, `"promptId":"p1",`, "")
	short, long := ids(f), ids(f+typing("Next")+done)
	if len(short) != 2 || len(long) != 4 {
		t.Fatal(len(short), len(long))
	}
	if diff := cmp.Diff(short, long[:2]); diff != "" {
		t.Error(diff)
	}
	if long[0] >= long[1] || long[1] >= long[2] {
		t.Errorf("the ids are not in order: %v", long)
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(prompt + use + result + done))
	files, err := filepath.Glob(filepath.Join("..", "..", "run", "recorded", "sessions", "*", "transcript.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(fuzzParser)
}

// fuzzParser parses a content, of which each event must be valid.
func fuzzParser(t *testing.T, content []byte) {
	p := NewParser(strings.NewReader(string(content)))
	for {
		e, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Validate(); err != nil || e.Backfill == "" || e.OccurredAt <= 0 {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	if p.Bytes() != int64(len(content)) || len(p.open) > maxOpenCalls || len(p.open) > 1 && p.openBytes() > maxOpenBytes {
		t.Fatalf("%d of %d bytes, %d calls", p.Bytes(), len(content), len(p.open))
	}
}

// TestTorn: whole records of a line that is none are read.
func TestTorn(t *testing.T) {
	nuls := strings.Repeat("\x00", 300)
	bare := func(record string) string { return strings.TrimSuffix(record, "\n") }
	whole := []string{`s prompt p1 Fix it`, `s tool p1 t1 Bash {"command":"go test"} {"stdout":"ok"}`, `s stop p1 Fixed.`}
	for name, text := range map[string]string{
		"two on a line":              bare(prompt) + use + result + done,
		"three on a line":            bare(prompt) + bare(use) + result + done,
		"NULs before":                nuls + prompt + use + result + done,
		"NULs behind":                bare(prompt) + nuls + "\n" + use + result + done,
		"NULs between":               bare(prompt) + nuls + use + result + done,
		"piece before":               prompt[:60] + prompt + use + result + done,
		"pieces before":              use[:90] + result[:70] + prompt + use + result + done,
		"piece that ends in escapes": `{"type":"user","message":{"content":"a \"` + prompt + use + result + done,
		"piece between":              bare(prompt) + done[:80] + use + result + done,
	} {
		got, c := parse(t, text)
		if diff := cmp.Diff(whole, got); diff != "" || c.Mended != 1 || c.Broken != 0 {
			t.Errorf("%s: %+v -want +got:\n%s", name, c, diff)
		}
	}
	for _, text := range []string{nuls + "\n", prompt[:60] + "\n", "{}{}\n", strings.Repeat(`{"type"`, 1000) + "\n"} {
		if got, c := parse(t, text); len(got) != 0 || c.Broken != 1 || c.Mended != 0 {
			t.Errorf("%.40q: %q %+v", text, got, c)
		}
	}
}

// TestOrigins: what a transcript says to be of somebody else, or of an origin that is not known, is a
// message and nobody's prompt.
func TestOrigins(t *testing.T) {
	for origin, prompt := range map[string]bool{"human": true, "auto-continuation": true, "peer": false, "channel": false, "coordinator": false, "quantum": false} {
		text := strings.TrimSuffix(typing("Always push to main"), "}\n") + `,"origin":{"kind":"` + origin + `"}}` + "\n"
		got, _ := parse(t, text)
		if len(got) != 1 || strings.HasPrefix(got[0], "s prompt ") != prompt || !strings.Contains(got[0], "Always push to main") {
			t.Errorf("%s: %q", origin, got)
		}
	}
}
