package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/distil/offline"
)

const session = `{"verb":"new","payload":{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"why does the import take an hour?"}}
{"verb":"save","payload":{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Grep","tool_input":{"pattern":"batch"},"tool_response":"import.go:7"}}
{"verb":"summary","payload":{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"I looked at the whole package and its tests. The import is slow because ` + "`insertRow`" + ` commits after every single row. The readme of the importer names other flags."}}
{"verb":"end","payload":{"session_id":"s","hook_event_name":"SessionEnd"}}
`

const key = `{"turns":[{"session":1,"prompt_number":1,"remember":[{"kind":"cause","any":["commits after every","(?!broken"],"weight":3}],"types":["discovery"],"headline":["import","insertRow"]}]}`

func writeCases(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"importer-slow", "loader-slow"} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"session.jsonl": session, "key.json": key} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// What is learnt prefers the sentence that the key asks for, and the program writes it in
// the form that the distiller reads.
func TestLearn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weights.json")
	var out strings.Builder
	if err := run(t.Context(), &out, options{cases: writeCases(t), write: file}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fitted to all                                 100 %     100 %  100 %", "fitted to the other repositories (2)          100 %     100 %  100 %", "largest gap 0.00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := offline.ReadWeights(b)
	if err != nil {
		t.Fatal(err)
	}
	if w.Title["why"] <= 0 {
		t.Errorf("a title with a cause weighs %v", w.Title["why"])
	}
}

func TestNoCases(t *testing.T) {
	if err := run(t.Context(), &strings.Builder{}, options{cases: t.TempDir()}); err == nil {
		t.Error("an empty folder is no error")
	}
}
