package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

// TestTruncateString: whatever stands at the place of the cut, the JSON stays valid
// and what is kept is head and tail of what was there.
func TestTruncateString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{`\\`, `\"`, `\u0041`, `\ud83d\ude00`, `\n`, `x`, `u`, `é`, `𝄞`, `\\u`, `\\\\\\`, `0041`})
		unit := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "unit"), "")
		in := strings.Repeat("a", rapid.IntRange(0, 12).Draw(t, "shift")) + strings.Repeat(unit, 3*6*longestField/len(unit)) // an escape has up to 6 bytes
		raw := []byte(`"` + in + `"`)
		out := truncateJSON(raw, nil)
		var was, is string
		if err := json.Unmarshal(raw, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &is); err != nil {
			t.Fatalf("not valid after the cut: %v", err)
		}
		if len(is) > longestField {
			t.Fatalf("%d bytes left", len(is))
		}
		head, rest, _ := strings.Cut(is, "\n"+cutMark)
		_, tail, _ := strings.Cut(rest, " bytes cut]\n")
		if !strings.HasPrefix(was, head) || !strings.HasSuffix(was, tail) || head == "" || tail == "" {
			t.Fatalf("head %q… and tail …%q are not the text's", head[:min(len(head), 20)], tail[max(0, len(tail)-20):])
		}
	})
}

func TestFileContentsTravelWhole(t *testing.T) {
	body := strings.Repeat("x", longestWhole-100)
	tooLong := strings.Repeat("x", longestWhole+1)
	cases := []struct {
		tool, input, response string
		whole                 int
	}{
		{"Write", `{"file_path":"a","content":"` + body + `"}`, `{"type":"create","content":"` + body + `","originalFile":"` + body + `"}`, 1},
		{"Edit", `{"old_string":"a","new_string":"` + body + `"}`, `{"originalFile":"` + body + `","newString":"` + body + `"}`, 1},
		{"MultiEdit", `{"edits":[{"old_string":"` + body + `","new_string":"` + body + `"}]}`, `{"originalFile":"` + body + `"}`, 2},
		{"NotebookEdit", `{}`, `{"original_file":"` + body + `","updated_file":"` + body + `"}`, 0},
		{"Read", `{}`, `{"file":{"content":"` + body + `"}}`, 0},
		{"Write", `{"content":"` + tooLong + `"}`, `{"originalFile":"` + tooLong + `"}`, 0},
	}
	for _, c := range cases {
		e := memory.Event{ToolName: c.tool, ToolInput: json.RawMessage(c.input), ToolResponse: json.RawMessage(c.response)}
		truncateEvent(&e, nil)
		if !json.Valid(e.ToolInput) || !json.Valid(e.ToolResponse) {
			t.Errorf("%s: no longer JSON", c.tool)
		}
		if got := bytes.Count(append(e.ToolInput, e.ToolResponse...), []byte(`"`+body+`"`)); got != c.whole {
			t.Errorf("%s: %d contents travel whole, want %d", c.tool, got, c.whole)
		}
		if rest := len(e.ToolInput) + len(e.ToolResponse) - c.whole*len(body); rest > 5*longestField {
			t.Errorf("%s: %d bytes beside them", c.tool, rest)
		}
	}
}

// TestWholeFilesAreLeftOut checks what is sent of an edit's response: all of it but the
// texts of whole files over 64 KB, which are not redacted or truncated either.
func TestWholeFilesAreLeftOut(t *testing.T) {
	const head, patch = `{"filePath":"/p/a.go","oldString":"a\\u00e9"`, `"structuredPatch":[{"oldStart":3,"oldLines":1,"newStart":3,"newLines":1,"lines":["-a","+b"]}],"userModified":false`
	secret := "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	long := `"` + strings.Repeat(`\ta line \"of\" a file\n`, 5000) + secret + `"`
	short := `"` + strings.Repeat("x", longestField-2) + `"`
	written := `"` + strings.Repeat("y", longestField) + `"`
	for name, c := range map[string]struct{ tool, response, want string }{
		"edit":            {"Edit", head + `,"originalFile":` + long + `,` + patch + `}`, head + `,` + patch + `}`},
		"multi-edit":      {"MultiEdit", head + ` , "originalFile" : ` + long + ` , ` + patch + ` }`, head + `,` + patch + `}`},
		"without a patch": {"Edit", head + `,"originalFile":` + long + `,"structuredPatch":[]}`, head + `,"structuredPatch":[]}`},
		"several edits":   {"MultiEdit", `{"edits":[],"originalFileContents":` + long + `,` + patch + `}`, `{"edits":[],` + patch + `}`},
		"content, again":  {"Write", `{"type":"update","content":` + written + `,"originalFile":` + long + `,` + patch + `}`, `{"type":"update",` + patch + `}`},
		"alone":           {"Edit", `{"originalFile":` + long + `}`, `{}`},
		"twice":           {"Edit", `{"originalFile":` + long + `,"original\u0046ile":` + long + `,` + patch + `}`, `{` + patch + `}`},
		"notebook":        {"NotebookEdit", `{"new_source":"x","original_file":` + long + `,"error":"","updated_file":` + long + `}`, `{"new_source":"x","error":""}`},
		"short":           {"Write", head + `,"originalFile":` + short + `,` + patch + `}`, head + `,"originalFile":` + short + `,` + patch + `}`},
		"new file":        {"Write", `{"type":"create","originalFile":null,"structuredPatch":[],"content":` + short + `}`, `{"type":"create","originalFile":null,"structuredPatch":[],"content":` + short + `}`},
		"a list":          {"Edit", `["originalFile",` + short + `]`, `["originalFile",` + short + `]`},
		"a text":          {"Edit", short, short},
	} {
		s := newStage(t)
		s.run(say("PostToolUse", "a", `,"tool_name":"`+c.tool+`","tool_input":{"file_path":"/p/a.go","content":`+written+`},"tool_response":`+c.response))
		if events := s.spooled(); len(events) != 1 || string(events[0].ToolResponse) != c.want {
			t.Errorf("%s: %d events, response %.300s\nwant %.300s", name, len(events), events[0].ToolResponse, c.want)
		}
	}
	// What a tool of another name calls so is a text like any other.
	s := newStage(t)
	s.run(say("PostToolUse", "a", `,"tool_name":"mcp__x","tool_response":{"originalFile":`+long+`}`))
	if events := s.spooled(); len(events) != 1 || !strings.Contains(string(events[0].ToolResponse), "bytes cut]") {
		t.Errorf("the text of another tool is left out: %d events", len(events))
	}
	holdsNothing(t, s.data(), secret)
}

// TestWholeFileInPieces reads payloads in pieces of any length, so that each kind of escape is cut
// anywhere: the text of a long file is never kept, and what is around it always is.
func TestWholeFileInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	payload := func(tool, text string) (head, member, rest string) {
		return `{"session_id":"s","tool_name":"` + tool + `","tool_input":{"a":"` + strings.Repeat("b", 20<<10) + `"},"tool_response":{"x":1`,
			`,"originalFile":"` + text + `"`, `,"structuredPatch":[",\"originalFile\":\""]}}`
	}
	for round := range 120 {
		var text strings.Builder
		for size := longestField/2 + random.IntN(2*longestField); text.Len() < size; {
			text.WriteString([]string{`\\`, `\"`, `\n`, `\u0041`, "x", strings.Repeat(`\\`, random.IntN(200)), "}, "}[random.IntN(7)])
		}
		tool := []string{"Edit", "Write", "Bash"}[round%3]
		head, member, rest := payload(tool, text.String())
		want := head + rest
		if len(`""`)+text.Len() <= longestField || tool == "Bash" {
			want = head + member + rest
		}
		got, err := readInput(pieces{strings.NewReader(head + member + rest), random, 1 + round*round}, largestInput)
		if string(got) != want || err != nil {
			t.Fatalf("round %d, a text of %d bytes in an %s: read %d bytes, want %d (%v)", round, text.Len(), tool, len(got), len(want), err)
		}
	}
	head, member, rest := payload("Edit", strings.Repeat("x", 2*longestField))
	asked := strings.Replace(head, "tool_response", "tool_input", 1) + member + rest // what was asked for stays
	if got, err := readInput(strings.NewReader(asked), largestInput); string(got) != asked || err != nil {
		t.Errorf("read %d bytes of a tool's input, want %d (%v)", len(got), len(asked), err)
	}
	for _, broken := range []string{head + member, head + strings.TrimSuffix(member, `"`), head + member + "}"} {
		if got, err := readInput(strings.NewReader(broken), largestInput); err != nil || jsonscan.Check(got) == nil {
			t.Errorf("half a payload has become a whole one: %v", err)
		}
	}
}

// pieces reads up to most bytes at a time.
type pieces struct {
	io.Reader
	random *rand.Rand
	most   int
}

func (p pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), 1+p.random.IntN(p.most))])
}

func TestListsAreCut(t *testing.T) {
	var objects, texts, members, matrix []string
	for i := range 60_000 {
		objects = append(objects, fmt.Sprintf(`{"type":"text","text":"line %d of many"}`, i))
		texts = append(texts, fmt.Sprintf(`"path/to/file%d.go"`, i))
		members = append(members, fmt.Sprintf(`"key %d":%d`, i, i))
		matrix = append(matrix, "["+strings.Repeat("1,", 100)+"1]")
	}
	list := func(parts []string) string { return "[" + strings.Join(parts, ",") + "]" }
	for name, c := range map[string]struct {
		raw  string
		into any
	}{
		"objects": {list(objects), &[]struct{ Type, Text string }{}},
		"texts":   {list(texts), &[]string{}},
		"members": {"{" + strings.Join(members, ",") + "}", &map[string]any{}},
		"arrays":  {list(matrix), &[]any{}},
		"nested":  {`{"content":` + list(objects) + `,"last":true}`, &struct{ Last bool }{}},
		"deep":    {strings.Repeat(`{"a":[`, 20) + list(texts) + strings.Repeat(`]}`, 20), &map[string]any{}},
	} {
		out := truncateJSON(json.RawMessage(c.raw), nil)
		if len(out) > longestList+1024 {
			t.Errorf("%s: %d bytes left", name, len(out))
		}
		if err := json.Unmarshal(out, c.into); err != nil {
			t.Errorf("%s: its type has changed: %v", name, err)
		}
		if !bytes.Contains(out, []byte("cut")) {
			t.Errorf("%s: nothing says that it was cut", name)
		}
		if name != "deep" && !bytes.HasSuffix(out, []byte(c.raw[len(c.raw)-100:])) {
			t.Errorf("%s: its end is gone", name)
		}
	}
}

func TestImagesAreLeftOut(t *testing.T) {
	pixels := strings.Repeat("iVBORw0KGgo", 100)
	for _, raw := range []string{
		`{"type":"image","file":{"base64":"` + pixels + `","type":"image/png"}}`,
		`[{"type":"image","data":"` + pixels + `","mimeType":"image/png"},{"type":"text","text":"hi"}]`,
		`{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixels + `"}}]}`,
	} {
		out := string(truncateJSON(json.RawMessage(raw), nil))
		if !json.Valid([]byte(out)) || strings.Contains(out, pixels) || !strings.Contains(out, "image left out, 1100 bytes") {
			t.Errorf("%.60s… became %s", raw, out)
		}
	}
	// Text about images is text.
	kept := `{"data":"x","command":"grep '\"base64\"' \"image"}`
	if out := string(truncateJSON(json.RawMessage(kept), nil)); out != kept {
		t.Errorf("%s became %s", kept, out)
	}
}

// FuzzTruncate: valid JSON stays valid and is bounded.
func FuzzTruncate(f *testing.F) {
	for _, payload := range fixtures(f) {
		f.Add([]byte(payload), 1000)
	}
	f.Add([]byte(`{"a":"\ud83d\ude00\\\"","base64":"x","data":[1,{"type":"image"}]}`), 30_000)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		if !json.Valid(data) || len(data) == 0 || len(data) > 1<<16 {
			return
		}
		data = bytes.TrimSpace(data)
		times = min(max(times, 1), 1<<19/len(data)+1)
		raw := append(append([]byte{'['}, bytes.Repeat(append(data, ','), times)...), "0]"...)
		out := truncateJSON(raw, []string{"content"})
		if !json.Valid(out) {
			t.Fatalf("not valid any more: %.200q", out)
		}
		if len(out) > len(raw)+256 || len(out) > longestList+longestWhole+4096 {
			t.Fatalf("%d bytes of %d left", len(out), len(raw))
		}
	})
}

// TestDropMiddles: what is enormous loses its middle before redaction and leaks
// nothing by that: not a private text whose opening tag was in the middle, not
// a secret near what is kept.
func TestDropMiddles(t *testing.T) {
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	line := strings.Repeat("some text of no interest, ", 40) + "\n"
	filler := strings.Repeat(line, 2<<20/len(line))
	text := key + filler + "<PRIVATE\nx=1>HUSH" + filler[:longestField/4] + "HUSH</private>" + filler[:longestField/4] + key + " END"
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	s.run(say("PostToolUse", "a", `,"tool_name":"Bash","tool_response":{"stdout":`+string(quoted)+`,"list":["x",[`+string(quoted)+`]]}`))
	s.run(say("Stop", "a", `,"last_assistant_message":`+string(quoted)))
	s.run(say("PostToolUseFailure", "a", `,"tool_name":"Bash","error":`+string(quoted)))
	s.run(say("UserPromptSubmit", "a", `,"prompt":`+string(quoted)))
	events := s.spooled()
	if len(events) != 4 {
		t.Fatalf("%d events, log %q", len(events), s.logged())
	}
	for _, e := range events {
		for _, text := range []string{e.Prompt, e.ToolError, e.LastAssistantMessage} {
			if text != "" && (!strings.HasSuffix(text, "END") || len(text) > longestField+64) {
				t.Errorf("%s: %d bytes, ends with %q", e.Kind, len(text), text[len(text)-10:])
			}
		}
		if e.ToolResponse != nil && (!json.Valid(e.ToolResponse) || bytes.Count(e.ToolResponse, []byte("END\"")) != 2) {
			t.Errorf("response of %d bytes", len(e.ToolResponse))
		}
	}
	holdsNothing(t, s.data(), "HUSH")
	holdsNothing(t, s.data(), key[4:30])
}

// TestContentCutEarlyIsTruncated cuts a file of over 1 MB within a private key: half of
// the key is at the cut before redaction, and must not be in what is sent. Content that
// was not cut stays whole.
func TestContentCutEarlyIsTruncated(t *testing.T) {
	const keyLine = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n"
	body := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat(keyLine, 60) + "-----END " + "PRIVATE KEY-----\n"
	line := strings.Repeat("a line of a file ", 4) + "\n"
	fill := func(n int) string { return strings.Repeat(line, n/len(line)) }
	for name, content := range map[string]string{
		"before the head's end":  fill(earlyEnd-len(body)/2) + body + fill(1200<<10),
		"after the tail's start": fill(1200<<10) + body + fill(earlyEnd-len(body)/2),
	} {
		text, whole := string(jsonscan.AppendQuote(nil, content)), string(jsonscan.AppendQuote(nil, fill(100<<10)))
		s := newStage(t)
		s.run(say("PostToolUse", "a", `,"tool_name":"Write","tool_input":{"file_path":"/p/a.go","content":`+text+`}`))
		s.run(say("PostToolUse", "a", `,"tool_name":"MultiEdit","tool_input":{"edits":[{"old_string":`+whole+`,"new_string":`+text+`}]}`))
		events := s.spooled()
		if len(events) != 2 || len(events[0].ToolInput) > 2*longestField || !strings.Contains(string(events[1].ToolInput), whole) {
			t.Errorf("%s: %d events, want one truncated and one with its old_string", name, len(events))
		}
		holdsNothing(t, s.data(), keyLine[:20])
	}
}

// TestSizeOfPart checks that the size of a member bounds what it takes, is exact for
// usual keys, and allocates nothing.
func TestSizeOfPart(t *testing.T) {
	for key, exact := range map[string]bool{"": true, "file_path": true, `a"b\c`: true, "é𝄞": true, "\x00\x1f": true, "a\nb\tc": false} {
		p := part{key, []byte("12")}
		takes := len(p.label()) + len(p.value) + 1
		if got := p.size(true); got < takes || exact && got != takes {
			t.Errorf("%q: size %d, takes %d", key, got, takes)
		}
		if n := testing.AllocsPerRun(100, func() { p.size(true) }); n != 0 {
			t.Errorf("%q: %v allocations", key, n)
		}
	}
	if got := (part{"", []byte("12")}).size(false); got != 3 {
		t.Errorf("an element takes %d bytes, want 3", got)
	}
}
