package records_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// base is the time at which the tests' clock begins.
const base memory.Millis = 1_760_000_000_000

// clock is a clock that a test moves by hand.
type clock struct{ at memory.Millis }

func (c *clock) now() time.Time { return c.at.Time() }

func ref(kind memory.RecordKind, id int64) memory.RecordRef {
	return memory.RecordRef{Kind: kind, ID: id}
}

// tempDir makes a directory that goes with the check and not with the test.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "claudemem-records-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// projects is a memory with two projects of one label and a third one.
func projects(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, project := range []string{"/home/dev/shop", "/work/shop", "/home/dev/blog"} {
		in := func(a *memory.Arrival) { a.Event.ProjectPath = project }
		if _, err := s.Enqueue(t.Context(), event(memory.KindPrompt, project, project, 0, in)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: project, Type: memory.TypeBugfix, Title: "of " + project,
			Concepts: []string{"c"}, Files: []memory.FileRef{{Path: "src/auth.go"}}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// event makes an arrival of the kind at base+at ms in the session; its name is
// its delivery id and, for a tool, its use id.
func event(kind memory.EventKind, session, name string, at memory.Millis, change ...func(*memory.Arrival)) memory.Arrival {
	a := memory.Arrival{
		Key:        string(kind) + ":" + session + ":" + name,
		ReceivedAt: base + at,
		Event: memory.Event{
			DeliveryID: name, Kind: kind, Host: memory.HostClaudeCode, HostSessionID: session,
			OccurredAt: base + at, ProjectPath: "/home/dev/shop",
		},
	}
	switch kind {
	case memory.KindTool:
		a.Event.ToolName, a.Event.ToolUseID = "Bash", name
		a.Event.ToolInput = json.RawMessage(`{"command":"go test ./..."}`)
		a.Event.ToolResponse = json.RawMessage(`{"stdout":"<ok>"}`)
	case memory.KindPrompt:
		a.Event.Prompt = "prompt " + name
	case memory.KindStop:
		a.Event.LastAssistantMessage = "done " + name
	}
	for _, c := range change {
		c(&a)
	}
	return a
}
