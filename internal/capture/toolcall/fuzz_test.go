package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// FuzzParseCommands checks the bounds of a command line's reading, by the grammar
// and by words.
func FuzzParseCommands(f *testing.F) {
	for _, line := range []string{
		"cd x && go test ./... 2>&1 | tail -3", "if a; then b; fi > out", "cat > f <<EOF\nx\nEOF\nls", "bash -c 'sh -c \"ls\"'", "echo $(a | b) <(c)",
		"f() { f; }; f", "'", "$(", "a \\", "((1+2)) && [[ -f x ]]", "for f in *; do cp $f b/; done", "set -e; dir /b & type x.txt", "git commit -m \"$(cat <<'E'\nx\nE\n)\"",
		"; and test", "print ${(f)x}", "&& ||", "> out", "sudo env A=1 timeout 5 npx jest -t 'a b'",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, commands := range [][]Command{ParseCommands(line), splitWords(line, "", 0)} {
			if len(commands) > maxCommands {
				t.Errorf("%d commands", len(commands))
			}
			for i := range commands {
				c := &commands[i]
				_, _, _ = c.Text(), c.Verb(), c.Kind.String()
				if len(c.Words) == 0 && c.Kind.IsCheck() {
					t.Errorf("a check without a program: %+v", c)
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("Bash", `{"command":"go test ./... | tail"}`, `{"stdout":"--- FAIL: TestX (0.00s)\n    x_test.go:3: got 1"}`, "")
	f.Add("Bash", `{"command":["bash","-lc","make"]}`, `"x"`, "Exit code 2\nmake: *** [x] Error 1")
	f.Add("Edit", `{"file_path":"/p/a.go","edits":[{"old_string":"a\nb","new_string":"a\nc"}]}`, `{}`, "")
	f.Add("Write", `{"file_path":"a.md","content":"x"}`, `{"type":"create"}`, "")
	f.Add("Agent", `{"prompt":"x"}`, `{"content":[{"text":"y"}]}`, "")
	f.Add("Read", `{"path":7,"file_path":"C:\\p\\a.go"}`, `[]`, "")
	f.Add("apply_patch", `{"command":"*** Begin Patch\n*** Add File: b.go\n+x\n*** Update File: ../c\n*** Move to: d\n@@\n-a\n+b\n\n*** Delete File: e\n*** End Patch"}`, `"Success."`, "")
	f.Fuzz(func(t *testing.T, tool, in, out, failed string) {
		e := memory.Event{Kind: memory.KindTool, ToolName: tool, ToolInput: json.RawMessage(in), ToolResponse: json.RawMessage(out), ToolError: failed, Cwd: "/p", WorktreeRoot: "/p"}
		c := Parse(&e)
		if len(c.Sources()) == 0 {
			t.Error("a call shows something")
		}
		_, _ = c.IsOwn(), c.OnlyLooks()
		for _, x := range c.Edits {
			if x.Path == "" || strings.HasPrefix(x.Path, "/") {
				t.Errorf("an edit of %q", x.Path)
			}
		}
	})
}

func FuzzParseOutput(f *testing.F) {
	for _, s := range []string{
		"", "Exit code 1", "E   assert 1 == 2", "at a (b.js:1:2)\n\tat c.D(E.java:3)", "\x1b[31m\xff\x00'", "code: 'EX'", "x: Y: z: w", "File \"a\", line 1\n b",
		"not ok 1 - x\n  error: |-\n    y:", "✕ a (1 ms)", "FAIL a > b", "a.go:1:2: x", "[ERROR] A:[1,2] x", "test a ... FAILED", "error[E1]: x\n --> a.rs:1:2",
		"[info] - a *** FAILED ***\n[info]   b", "  1) test a (B)\n     a.exs:1\n     Assertion with == failed\n     left:  1", "[xUnit.net 00:00:01]  a [FAIL]\nError Message:\n x",
	} {
		f.Add(s, "/p")
	}
	f.Fuzz(func(t *testing.T, output, root string) {
		v := ParseOutput(output, root)
		if len(v.Lines) > 2*maxEndLines || len(v.Tests) > maxTests || len(v.Places) > maxPlaces || len(v.Functions) > maxFunctions || len(v.Message) > 3*maxLineBytes {
			t.Errorf("%d lines, %d tests, %d places, message of %d bytes", len(v.Lines), len(v.Tests), len(v.Places), len(v.Message))
		}
		for _, l := range v.Lines {
			if len(l.Text) > maxLineBytes || strings.ContainsAny(l.Text, "\n\r") {
				t.Errorf("line %q", l.Text)
			}
		}
	})
}

// TestLongLinesStayCheap keeps the grammar from taking more than linear time for lines
// that nobody writes by hand.
func TestLongLinesStayCheap(t *testing.T) {
	for _, part := range []string{"(", "((", "$(", "`", "{ ", "<<a\n", "if a; then ", "a && ", "a | ", "${x:-", "\"$(", "f() { f; f; }; f; ", "f() { " + strings.Repeat("f; ", 1000) + "}; f; ", "[[ ", "case x in ", "echo $(echo "} {
		line := strings.Repeat(part, maxLine/len(part))
		began := time.Now()
		ParseCommands(line)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q repeated: %v", part, took)
		}
	}
}
