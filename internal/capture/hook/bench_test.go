package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// editPayload is the payload of an Edit of size bytes, which the host sends with
// the file as it was.
func editPayload(tb testing.TB, size int) []byte {
	tb.Helper()
	const line = "\tfor i := range parts { total += len(parts[i].Text) } // \"quoted\"\n"
	payload, err := json.Marshal(map[string]any{
		"session_id": "bench", "transcript_path": "/home/dev/t.jsonl", "cwd": "/home/dev/project",
		"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "toolu_1", "duration_ms": 9,
		"tool_input": map[string]any{"file_path": "/home/dev/project/main.go", "old_string": "hello", "new_string": "hello, world"},
		"tool_response": map[string]any{"filePath": "/home/dev/project/main.go", "oldString": "hello", "newString": "hello, world",
			"originalFile": strings.Repeat(line, size/len(line))},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return payload
}

// BenchmarkEdit measures what a hook does with the bytes of an Edit, in the order
// in which it does it, without files and connections.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"2KB", 2 << 10}, {"500KB", 500 << 10}} {
		payload := editPayload(b, size.bytes)
		r := run{Options: Options{Host: memory.HostClaudeCode, Verb: VerbSave}}
		var withheld glob.Set
		step := func(name string, f func()) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(payload)))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		m, err := r.understand(payload)
		if err != nil {
			b.Fatal(err)
		}
		step("read", func() { _, _ = readInput(bytes.NewReader(payload), largestInput) })
		step("parse", func() { _, _ = r.understand(payload) })
		step("drop files", func() {
			e := m.event
			dropFiles(&e)
		})
		dropFiles(&m.event)
		step("redact", func() { redact.Event(&m.event, withheld) })
		step("truncate", func() { truncateEvent(&m.event, nil) })
		step("encode", func() { wire.EncodeEvent(&m.event) })
	}
}
