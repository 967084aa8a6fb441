package redact

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"claudemem/internal/capture/redact/documents"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

var globs = glob.System{}.Compile([]string{".env*", "*.pem", "id_*", ".netrc", ".aws/credentials", "*.key"})

func quoteJSON(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// places are the ways for a text to get into an event.
var places = map[string]func(t testing.TB, text string) memory.Event{
	"prompt": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindPrompt, Prompt: "please " + text}
	},
	"last message": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindStop, LastAssistantMessage: "done\n" + text}
	},
	"error": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: "Exit code 1\n" + text}
	},
	"command": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: json.RawMessage(`{"command":` + quoteJSON(t, "true\n"+text) + `}`)}
	},
	"output": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(`{"stdout":` + quoteJSON(t, "x\n"+text+"\n") + `,"stderr":"","interrupted":false}`)}
	},
	"output as a string": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(quoteJSON(t, text))}
	},
	"file content": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Read", ToolResponse: json.RawMessage(`{"type":"text","file":{"filePath":"/p/a.go","content":` + quoteJSON(t, "package a\n"+text) + `,"numLines":3}}`)}
	},
	"written content": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Write", ToolInput: json.RawMessage(`{"file_path":"/p/a.go","content":` + quoteJSON(t, text) + `}`)}
	},
	"edit": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolInput: json.RawMessage(`{"file_path":"/p/a.go","old_string":` + quoteJSON(t, text) + `,"new_string":"y"}`)}
	},
	"patch lines": func(t testing.TB, text string) memory.Event {
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, quoteJSON(t, "+"+strings.TrimSuffix(line, "\n")))
		}
		return memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolResponse: json.RawMessage(`{"structuredPatch":[{"oldStart":1,"lines":[` + strings.Join(lines, ",") + `]}]}`)}
	},
	"content blocks": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "mcp__x__y", ToolResponse: json.RawMessage(`[{"type":"text","text":` + quoteJSON(t, text) + `}]`)}
	},
	"json in a string": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(`{"stdout":` + quoteJSON(t, `{"log":`+quoteJSON(t, text)+`}`) + `}`)}
	},
	"escaped by the sender": func(t testing.TB, text string) memory.Event {
		var b strings.Builder
		for _, r := range text {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte("0123456789abcdef"[r>>shift&15])
			}
		}
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(`{"stdout":"` + b.String() + `"}`)}
	},
	"key": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "X", ToolInput: json.RawMessage(`{` + quoteJSON(t, text) + `:1}`)}
	},
	"cwd": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "X", Cwd: "/home/" + text}
	},
	"path in input": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Read", ToolInput: json.RawMessage(`{"file_path":` + quoteJSON(t, "/home/"+text) + `}`)}
	},
	"branch": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindPrompt, Branch: text}
	},
}

func marshal(t testing.TB, e *memory.Event) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("the event is no JSON any more: %v", err)
	}
	return string(b)
}

func TestEventMasksEverywhere(t *testing.T) {
	for place, build := range places {
		for _, tt := range mustMask {
			t.Run(place+"/"+tt.name, func(t *testing.T) {
				e := build(t, tt.text)
				Event(&e, globs)
				text := marshal(t, &e)
				assertGone(t, text, tt.secret)
				if again := Event(&e, globs); again != nil {
					t.Errorf("a second time masks %v in %s", again, text)
				}
			})
		}
	}
}

// TestTagInFolder checks that a folder whose name has a tag is not taken for the folder that
// it is in, in which files would be written then.
func TestTagInFolder(t *testing.T) {
	for _, name := range []string{"<private>", "<private>x</private>", "</claude-mem-context>", "<system-reminder>x"} {
		e := memory.Event{ProjectPath: "/home/ada/" + name, WorktreeRoot: "/home/ada/" + name, Cwd: "/home/ada/" + name + "/"}
		Event(&e, glob.Set{})
		for _, path := range []string{e.ProjectPath, e.WorktreeRoot, e.Cwd} {
			if !strings.HasPrefix(path, "/home/ada/"+shapes.Mask(rulePrivate)) {
				t.Errorf("%q became %q", name, path)
			}
		}
	}
}

func TestEventStripsEverywhere(t *testing.T) {
	for place, build := range places {
		for _, tt := range privateForms {
			t.Run(place+"/"+tt.name, func(t *testing.T) {
				e := build(t, tt.text)
				Event(&e, glob.Set{})
				if text := marshal(t, &e); strings.Contains(text, "hush") {
					t.Errorf("still there: %s", text)
				}
			})
		}
	}
}

func TestEventLeavesCodeAlone(t *testing.T) {
	for _, text := range mustNotMask {
		for _, place := range []string{"prompt", "output", "written content", "json in a string"} {
			e := places[place](t, text)
			before := marshal(t, &e)
			if counts := Event(&e, globs); counts != nil || marshal(t, &e) != before {
				t.Errorf("%s: %q\n became %s, %v", place, text, marshal(t, &e), counts)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"untouched, byte for byte", "{ \"a\" :\t[1, 2.50, null, \"\\u0041\\/\"] }", "{ \"a\" :\t[1, 2.50, null, \"\\u0041\\/\"] }"},
		{"only the string changes", `{ "a": "x <private>y</private>", "b" : 1e3 }`, `{ "a": "x ", "b" : 1e3 }`},
		{"value of a key", `{"db":{"password":"swordfish","user":"bob"}}`, `{"db":{"password":"[redacted:password]","user":"bob"}}`},
		{"escaped key", `{"pass\u0077ord":"swordfish"}`, `{"pass\u0077ord":"[redacted:password]"}`},
		{"array of a key", `{"api_keys":["k4Jd82jdLs92","9fK2mQ7xLw3R"]}`, `{"api_keys":["[redacted:assigned-secret]","[redacted:assigned-secret]"]}`},
		{"random key", `{"key":"9fK2mQ7xLw3RtY8vBn4Zc6Hd"}`, `{"key":"[redacted:assigned-secret]"}`},
		{"numbers stay", `{"token":12345678,"password":null,"secret":true}`, `{"token":12345678,"password":null,"secret":true}`},
		{"object of a key", `{"credentials":{"name":"k4Jd82jdLs92"}}`, `{"credentials":{"name":"k4Jd82jdLs92"}}`},
		{"usage of tokens", `{"usage":{"input_tokens":1,"tokens":"many"}}`, `{"usage":{"input_tokens":1,"tokens":"many"}}`},
		{"tag over lines of a patch", `{"p":"/a","lines":["+a","+<private>","+hush","+</private>","+z"],"q":"/b"}`, `{"p":"/a","lines":["+a","+","","","+z"],"q":"/b"}`},
		{"tag to the end of the lines", `{"lines":["+a","+<private>","+hush"],"q":"/b"}`, `{"lines":["+a","+",""],"q":"/b"}`},
		{"tag to the end of a value", `{"a":"x <private> y","b":"z"}`, `{"a":"x ","b":"z"}`},
		{"tag over content blocks", `[{"type":"text","text":"a<private>hush"},{"type":"text","text":"hush</private>z"}]`, `[{"type":"text","text":"a"},{"type":"","text":"z"}]`},
		{"tag to the end of the content blocks", `{"content":[{"type":"text","text":"a<private>hush"},{"type":"text","text":"hush"},{"type":"image","source":{"data":"hush"}}],"z":"z"}`, `{"content":[{"type":"text","text":"a"},{"type":"","text":""},{"type":"","source":{"data":"hush"}}],"z":"z"}`},
		{"key over lines of a patch", `["-----BEGIN PRIVATE KEY-----","MIIEvQIBADANBgkqhkiG9w0B","-----END PRIVATE KEY-----","z"]`, `["[redacted:private-key]","","","z"]`},
		{"no JSON", `{"a":"<private>x`, `"{\"a\":\""`},
		{"two values", `1 "<private>" 2`, `"1 \""`},
		{"a number", `12`, `12`},
		{"nothing", ``, ``},
		{"lone surrogate", `{"a":"\ud800 <private>x</private>"}`, "{\"a\":\"\ufffd \"}"},
		{"control characters", `{"a":"\u0000\u001b<private>x</private>"}`, `{"a":"\u0000\u001b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var counts map[string]int
			got := scrubJSON([]byte(tt.in), &counts)
			if string(got) != tt.want {
				t.Errorf("scrubJSON(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestEventWithholdsFiles(t *testing.T) {
	const plain = "COLOUR=blue" // no rule knows this; only the file's name makes it private
	tests := []struct {
		name            string
		input, response string
		err             string
		gone            bool
	}{
		{"read", `{"file_path":"/p/.env"}`, `{"type":"text","file":{"filePath":"/p/.env","content":"COLOUR=blue"}}`, "", true},
		{"write", `{"file_path":"/p/.env","content":"COLOUR=blue"}`, `{"type":"create","filePath":"/p/.env","content":"COLOUR=blue","originalFile":"COLOUR=blue","structuredPatch":[{"lines":["+COLOUR=blue"]}]}`, "", true},
		{"edit", `{"file_path":"/p/.env","old_string":"COLOUR=blue","new_string":"COLOUR=blue"}`, `{"oldString":"COLOUR=blue"}`, "", true},
		{"multi edit", `{"file_path":"/p/.env","edits":[{"old_string":"COLOUR=blue","new_string":"x"}]}`, `{}`, "", true},
		{"failed edit", `{"file_path":"/p/.env","old_string":"x","new_string":"y"}`, ``, "String to replace not found: COLOUR=blue", true},
		{"escaped name", `{"file_path":"\/p\/.e\u006ev"}`, `{"content":"COLOUR=blue"}`, "", true},
		{"several files", `{"paths":["/p/a","/p/.env"]}`, `[{"type":"text","text":"COLOUR=blue"}]`, "", true},
		{"cat", `{"command":"cat .env"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"cat further on", `{"command":"cd /p && cat ./config/.env.local | head"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"option", `{"command":"docker run --env-file=.env x"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"quoted", `{"command":"cat \"$HOME/.aws/credentials\""}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"heredoc", `{"command":"cat > .env <<EOF\nCOLOUR=blue\nEOF"}`, `{"stdout":""}`, "", true},
		{"echo into", `{"command":"echo COLOUR=blue > .env"}`, `{"stdout":""}`, "", true},
		{"failed cat", `{"command":"cat .env; false"}`, ``, "Exit code 1\nCOLOUR=blue", true},
		{"pattern of a shell", `{"command":"cat .e*"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"pattern with a set", `{"command":"cat config/.[e]nv"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"pattern of keys", `{"command":"head *.pem"}`, `{"stdout":"COLOUR=blue"}`, "", true},
		{"pattern of all", `{"command":"wc -l *"}`, `{"stdout":"COLOUR=blue"}`, "", false},
		{"pattern of others", `{"command":"cat src/*.go"}`, `{"stdout":"COLOUR=blue"}`, "", false},
		{"diff", `{"command":"git diff"}`, `{"stdout":"diff --git a/.env b/.env\nindex 1..2 100644\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-COLOUR=blue\n+COLOUR=blue2\n"}`, "", true},
		{"diff of another", `{"command":"git diff"}`, `{"stdout":"diff --git a/a.go b/a.go\n@@ -1 +1 @@\n-COLOUR=blue\ndiff --git a/.env b/.env\n"}`, "", false},
		{"merge", `{"command":"git show"}`, `{"stdout":"diff --cc config/.env\nindex 1,2..3\n--- a/config/.env\n+++ b/config/.env\n@@@ -1 -1 +1 @@@\n--COLOUR=blue\n"}`, "", true},
		{"diff without prefixes", `{"command":"git diff --no-prefix"}`, `{"stdout":"diff --git .env .env\n--- .env\n+++ .env\n@@ -1 +1 @@\n-COLOUR=blue\n"}`, "", true},
		{"diff of diff", `{"command":"diff -ru old new"}`, `{"stdout":"--- old/.env\t2026-05-01 10:00:00\n+++ new/.env\t2026-05-02 10:00:00\n@@ -1 +1 @@\n-COLOUR=blue\n"}`, "", true},
		{"new file in diff", `{"command":"diff -ruN old new"}`, `{"stdout":"--- /dev/null\n+++ new/.env\t2026-05-02\n@@ -0,0 +1 @@\n+COLOUR=blue\n"}`, "", true},
		{"comment in diff", `{"command":"git diff"}`, `{"stdout":"diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1,2 +1 @@\n--- a comment\n-COLOUR=blue\n"}`, "", true},
		{"another after it", `{"command":"diff -ru old new"}`, `{"stdout":"--- old/.env\n+++ new/.env\n@@ -1 +1 @@\n--- old/a.go\n+++ new/a.go\n@@ -1 +1 @@\n-COLOUR=blue\n"}`, "", false},
		{"git show of a name", `{"command":"git show HEAD~1:config/.env"}`, `{"stdout":"COLOUR=blue\n"}`, "", true},
		{"search around", `{"command":"grep -rn -C1 blue ."}`, `{"stdout":".env-2-COLOUR=blue\n.env:3:x\n"}`, "", true},
		{"search in a commit", `{"command":"git grep -n blue HEAD"}`, `{"stdout":"HEAD:.env:3:COLOUR=blue\n"}`, "", true},
		{"search with headings", `{"command":"rg --heading blue"}`, `{"stdout":".env\n3:COLOUR=blue\n\na.go\n1:x\n"}`, "", true},
		{"search with headings in another", `{"command":"rg --heading blue"}`, `{"stdout":".env\n\na.go\n1:COLOUR=blue\n"}`, "", false},
		{"search", `{"command":"grep -rn blue ."}`, `{"stdout":"./config/.env:3:COLOUR=blue\n"}`, "", true},
		{"head of several", `{"command":"head $(ls -A)"}`, `{"stdout":"==> .env <==\nCOLOUR=blue\n\n==> a.go <==\npackage a\n"}`, "", true},
		{"other file", `{"file_path":"/p/a.go"}`, `{"content":"COLOUR=blue"}`, "", false},
		{"jq", `{"command":"jq .data.key x.json"}`, `{"stdout":"COLOUR=blue"}`, "", false},
		{"other command", `{"command":"echo environment"}`, `{"stdout":"COLOUR=blue"}`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := memory.Event{Kind: memory.KindTool, ToolName: "X", ToolInput: json.RawMessage(tt.input), ToolError: tt.err}
			if tt.response != "" {
				e.ToolResponse = json.RawMessage(tt.response)
			}
			counts := Event(&e, globs)
			text := marshal(t, &e)
			if got := !strings.Contains(text, plain); got != tt.gone {
				t.Errorf("gone = %v, want %v: %s", got, tt.gone, text)
			}
			if tt.gone != (counts[ruleWithheld] > 0) {
				t.Errorf("counts = %v", counts)
			}
			if strings.Contains(tt.input, "file_path") && !strings.Contains(text, "p") {
				t.Errorf("the path is gone: %s", text)
			}
			before := marshal(t, &e)
			if again := Event(&e, globs); again[ruleWithheld] != 0 && e.ToolError == "" || marshal(t, &e) != before {
				t.Errorf("not idempotent: %v %s", again, marshal(t, &e))
			}
		})
	}
}

// Every string field of an Event is either cleaned or named here.
func TestTextsNamesEveryField(t *testing.T) {
	var e memory.Event
	seen := map[uintptr]bool{}
	for _, text := range Texts(&e) {
		seen[reflect.ValueOf(text).Pointer()] = true
	}
	ours := map[string]bool{
		"DeliveryID": true, "Kind": true, "Host": true, "HostSessionID": true, "Backfill": true, // checked by intake
	}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.String && !seen[f.Addr().Pointer()] && !ours[v.Type().Field(i).Name] {
			t.Errorf("Texts lacks %s", v.Type().Field(i).Name)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, build := range places {
		for i := range mustMask {
			if i%7 == 0 {
				e := build(f, mustMask[i].text)
				f.Add(string(e.ToolInput))
				f.Add(string(e.ToolResponse))
			}
		}
		for i := range privateForms {
			if i%5 == 0 {
				e := build(f, privateForms[i].text)
				f.Add(string(e.ToolResponse))
			}
		}
	}
	f.Add("\"Secret=0A\xc70A0")        // no UTF-8, no JSON
	f.Add("\"0://000\xe1000000@\"")    // no UTF-8
	f.Add("\"a://0f1e2d3c4b5a6978@\"") // masked twice once
	f.Add(`["<private>",["x"],"</private>"]`)
	f.Add(`{"a":"-----BEGIN PRIVATE KEY-----","b":["<private>"]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var counts map[string]int
		got := scrubJSON([]byte(raw), &counts)
		if json.Valid([]byte(raw)) && !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
		again := scrubJSON(got, &counts)
		if string(again) != string(got) {
			t.Errorf("not idempotent:\n %q\n %q\n %q", raw, got, again)
		}
		if d, ok := documents.Parse([]byte(raw)); ok && utf8.ValidString(raw) && cleanJSON([]byte(raw)) {
			var counts map[string]int
			if scrubStrings(&d, &counts); counts != nil {
				t.Errorf("the fast path overlooks %v in %q", counts, raw)
			}
		}
		e := memory.Event{Kind: memory.KindTool, ToolInput: json.RawMessage(raw), ToolResponse: json.RawMessage(raw)}
		Event(&e, globs)
	})
}

// TestReportsOfWithheldFiles checks that assignments in an agent's report that names a
// withheld file are masked, and that those in other reports, in closing messages, in
// commands and in their output are not.
func TestReportsOfWithheldFiles(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"The `.env` has:\n\nCOLOUR=blue\n- `LIMIT=\"5\"`\n", "The `.env` has:\n\nCOLOUR=" + shapes.Mask(ruleWithheld) + "\n- `LIMIT=\"" + shapes.Mask(ruleWithheld) + "\"`\n"},
		{"I set COLOUR=blue in main.go", "I set COLOUR=blue in main.go"},
		{"the file .env is read first; x=1, a == b", "the file .env is read first; x=1, a == b"},
		{".env sets COLOUR=$COLOUR", ".env sets COLOUR=$COLOUR"},
	} {
		e := memory.Event{Kind: memory.KindTool, ToolName: "Task", ToolResponse: json.RawMessage(quoteJSON(t, tt.text))}
		Event(&e, globs)
		if text := string(e.ToolResponse); text != quoteJSON(t, tt.want) {
			t.Errorf("%q became %s, want %q", tt.text, text, tt.want)
		}
		if Event(&e, globs)[ruleWithheld] != 0 {
			t.Errorf("masked twice: %s", e.ToolResponse)
		}
	}
	text := "COLOUR=blue php artisan test passes; I can put it into .env.testing."
	for _, e := range []memory.Event{
		{Kind: memory.KindStop, LastAssistantMessage: text},
		{Kind: memory.KindTool, ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"COLOUR=blue php artisan test"}`), ToolResponse: json.RawMessage(`{"stdout":` + quoteJSON(t, text) + `}`)},
	} {
		if counts := Event(&e, globs); counts != nil {
			t.Errorf("%v masked in %q %s %s", counts, e.LastAssistantMessage, e.ToolInput, e.ToolResponse)
		}
	}
}
