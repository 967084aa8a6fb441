package redact

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/memory"
)

// cleanEvent is a tool event of the size of a usual payload, 2.4 KB, with code
// in it and nothing to take out.
func cleanEvent(tb testing.TB, size int) memory.Event {
	tb.Helper()
	code := "func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tkey := r.URL.Query().Get(\"key\")\n\tif key == \"\" {\n\t\thttp.Error(w, \"missing key\", http.StatusBadRequest)\n\t\treturn\n\t}\n\tvalue, ok := s.cache[key]\n\tif !ok {\n\t\tvalue = s.load(key) // slow: from disk\n\t}\n\tfmt.Fprintf(w, \"%s = %v\\n\", key, value)\n}\n\n"
	content := strings.Repeat(code, size/len(code)+1)[:size]
	return memory.Event{
		DeliveryID: strings.Repeat("0", 32), Kind: memory.KindTool, Host: memory.HostClaudeCode,
		HostSessionID: "fd7825f3-13d0-45c8-afca-1deaafb35d2e", PromptID: "84f08d1d-5044-4678-a452-57022ab72c1f",
		ProjectPath: "/home/dev/project", WorktreeRoot: "/home/dev/project", Cwd: "/home/dev/project", Branch: "main",
		ToolName: "Read", ToolUseID: "toolu_01A09q90qw90lq917835lq9",
		ToolInput:    json.RawMessage(`{"file_path":"/home/dev/project/src/server.go"}`),
		ToolResponse: json.RawMessage(`{"type":"text","file":{"filePath":"/home/dev/project/src/server.go","content":` + quoteJSON(tb, content) + `,"numLines":8,"startLine":1,"totalLines":8}}`),
	}
}

func BenchmarkEventClean(b *testing.B) {
	e := cleanEvent(b, 2000)
	b.ReportAllocs()
	b.SetBytes(int64(len(marshal(b, &e))))
	for b.Loop() {
		if Event(&e, globs) != nil {
			b.Fatal("not clean")
		}
	}
}

func BenchmarkEventWithSecret(b *testing.B) {
	e := cleanEvent(b, 2000)
	response := string(e.ToolResponse)
	at := strings.Index(response, "slow")
	response = response[:at] + "password=hunter2 " + response[at:]
	b.ReportAllocs()
	for b.Loop() {
		e.ToolResponse = json.RawMessage(response)
		if Event(&e, globs) == nil {
			b.Fatal("clean")
		}
	}
}

func BenchmarkTextClean50KB(b *testing.B) {
	e := cleanEvent(b, 50_000)
	text := string(e.ToolResponse)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secrets.Text(text)
	}
}

// BenchmarkPEMMarkers scans texts of nothing but BEGIN lines. The time per byte of a
// text of 512 KB should be that of one of 32 KB.
func BenchmarkPEMMarkers(b *testing.B) {
	for _, part := range []struct{ name, text string }{
		{"lower", "-----begin private key-----\n"}, {"upper", "-----BEGIN PRIVATE KEY-----\n"}, {"shared", "-----begin private key"}, {"open", "-----begin private key, "},
	} {
		for _, size := range []int{32 << 10, 512 << 10} {
			text := strings.Repeat(part.text, size/len(part.text))
			b.Run(part.name+"/"+strconv.Itoa(size>>10)+"KB", func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					secrets.Text(text)
				}
			})
		}
	}
}

// BenchmarkEdit500KB scans an Edit whose two texts have 250 KB each.
func BenchmarkEdit500KB(b *testing.B) {
	e := cleanEvent(b, 250_000)
	text := quoteJSON(b, strings.Repeat("\tfor i := range parts { total += len(parts[i].Text) } // \"quoted\"\n\tif a < b && c[i] == \"x\" { call(a, b, \"name\", 'c') }\n", 2200))
	e.ToolName, e.ToolInput = "Edit", json.RawMessage(`{"file_path":"/home/dev/project/src/server.go","old_string":`+text+`,"new_string":"x"}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(e.ToolInput) + len(e.ToolResponse)))
	for b.Loop() {
		if Event(&e, globs) != nil {
			b.Fatal("not clean")
		}
	}
}
