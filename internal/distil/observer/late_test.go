package observer_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"claudemem/internal/distil/observer"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// TestLateObserver gives an observer the turns of a session one by one, and all at once as when it
// was busy: it makes the same records.
func TestLateObserver(t *testing.T) {
	const session = "a"
	tool := func(r *rig, prompt, input, response, failure string) {
		name := "Bash"
		if strings.Contains(input, "old_string") {
			name = "Edit"
		}
		e := memory.Event{Kind: memory.KindTool, HostSessionID: session, PromptID: prompt, ToolName: name, ToolInput: []byte(input), ToolResponse: []byte(response), ToolError: failure}
		r.enqueue(memory.Arrival{Event: e})
	}
	edit := func(r *rig, prompt, file string) {
		tool(r, prompt, `{"file_path":"/home/dev/shop/`+file+`","old_string":"1","new_string":"0"}`, `{"filePath":"/home/dev/shop/`+file+`"}`, "")
	}
	begin := func(r *rig, prompt, text string) {
		r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: session, PromptID: prompt, Prompt: text}})
	}
	stop := func(r *rig, prompt, text string) {
		r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindStop, HostSessionID: session, PromptID: prompt, LastAssistantMessage: text}})
	}
	turns := []func(r *rig){
		func(r *rig) {
			begin(r, "p1", "Write a test that shows that the last row is lost, don't fix anything yet.")
			edit(r, "p1", "rows_test.go")
			tool(r, "p1", `{"command":"go test ./..."}`, "", "Exit code 1\n--- FAIL: TestLastRow (0.00s)\n    rows_test.go:17: 9 rows, want 10\nFAIL")
			stop(r, "p1", "TestLastRow reproduces it: the last row of each page is lost. Nothing is fixed yet, the test is red on purpose.")
		},
		func(r *rig) {
			begin(r, "p2", "Then fix it.")
			edit(r, "p2", "rows.go")
			tool(r, "p2", `{"command":"go test ./..."}`, `{"stdout":"ok  \texample.com/shop\t0.004s"}`, "")
			stop(r, "p2", "The index began at 1, so the last row was lost. It begins at 0 now.")
		},
		func(r *rig) {
			begin(r, "p3", "Do the same in columns.go.")
			edit(r, "p3", "columns.go")
			stop(r, "p3", "columns.go begins at 0 too: `Columns` had the same fault.")
		},
	}
	made := func(late bool) (records []string) {
		synctest.Test(t, func(t *testing.T) {
			r := startRig(t, chooseAlways(t, nil, false), nil, observer.Options{BatchingEnabled: true})
			if late {
				r.together(func() {
					for _, turn := range turns {
						turn(r)
					}
				})
			}
			for _, turn := range turns {
				if !late {
					r.together(func() { turn(r) })
				}
				r.waitIdle()
			}
			for _, o := range r.observations() {
				records = append(records, fmt.Sprintf("turn %d, %s: %s\n%s\n%s\n%q", o.PromptNumber, o.Type, o.Title, o.Subtitle, o.Narrative, o.Facts))
			}
			summaries, err := r.store.SessionSummaries(t.Context(), 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range summaries {
				records = append(records, fmt.Sprintf("turn %d: %q", s.PromptNumber, []string{s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps}))
			}
		})
		return records
	}
	want := made(false)
	if len(want) < 5 || !strings.Contains(strings.Join(want, "\n"), "still fails") {
		t.Fatalf("the turns give %q", want)
	}
	if diff := cmp.Diff(want, made(true)); diff != "" {
		t.Errorf("a late observer remembers something else (-in time +late):\n%s", diff)
	}
}

// TestInterruptedTurn has a call of a turn end amid the next one: the model is asked about each turn
// once, not about each of their parts.
func TestInterruptedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := keepingProvider("p")
		r := startRig(t, chooseAlways(t, p, true), nil, observer.Options{BatchingEnabled: true})
		r.together(func() {
			for _, e := range []struct {
				prompt string
				kind   memory.EventKind
			}{{"p1", memory.KindPrompt}, {"p1", memory.KindTool}, {"p2", memory.KindPrompt}, {"p2", memory.KindTool}, {"p1", memory.KindTool}, {"p2", memory.KindTool}, {"p2", memory.KindStop}} {
				event := memory.Event{Kind: e.kind, HostSessionID: "a", PromptID: e.prompt}
				switch e.kind {
				case memory.KindPrompt:
					event.Prompt = "Fix " + e.prompt
				case memory.KindTool:
					event.ToolName, event.ToolInput = "Bash", []byte(`{"command":"make all"}`)
				case memory.KindStop:
					event.LastAssistantMessage = "Fixed."
				}
				r.enqueue(memory.Arrival{Event: event})
			}
		})
		r.waitIdle()
		if n := len(p.all()); n != 2 {
			t.Errorf("%d requests about two turns: %s", n, p.kinds())
		}
	})
}
