package observer_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"claudemem/internal/distil/observer"
	"claudemem/internal/memory"
)

// TestBackfilledEventsWithoutModel: no model is shown an event that is marked offline, not later
// either; a live event of the same session is.
func TestBackfilledEventsWithoutModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := keepingProvider("p")
		r := startRig(t, chooseAlways(t, p, true), nil, observer.Options{BatchingEnabled: true})
		turn := func(name string, how memory.Backfill) {
			from := memory.Event{HostSessionID: "a", PromptID: name, Backfill: how}
			prompt, stop := from, from
			prompt.Kind, prompt.Prompt = memory.KindPrompt, "Fix "+name
			stop.Kind, stop.LastAssistantMessage = memory.KindStop, "The cause in "+name+".go was an index that began at 1, so the last row was lost."
			arrivals := []memory.Arrival{{Event: prompt}}
			for range 60 {
				tool := from
				tool.Kind, tool.ToolName = memory.KindTool, "Edit"
				tool.ToolInput = []byte(`{"file_path":"/home/dev/shop/` + name + `.go","old_string":"1","new_string":"0"}`)
				tool.ToolResponse = []byte(`{"filePath":"/home/dev/shop/` + name + `.go"}`)
				arrivals = append(arrivals, memory.Arrival{Event: tool})
			}
			r.together(func() {
				for _, a := range append(arrivals, memory.Arrival{Event: stop}) {
					r.enqueue(a)
				}
			})
			r.waitIdle()
		}
		turn("past", memory.BackfillOffline)
		turn("strange", "something else")
		if n := len(p.all()); n != 0 {
			t.Errorf("%d requests to the model", n)
		}
		made := len(r.observations())
		if made != 2 {
			t.Errorf("%d observations of two turns", made)
		}
		turn("asked", memory.BackfillModel)
		turn("live", "")
		for _, request := range p.all() {
			if strings.Contains(request.Prompt, "file: past.go") || strings.Contains(request.Prompt, "file: strange.go") {
				t.Errorf("the model was shown %s", request.Prompt)
			}
		}
		if kinds := p.kinds(); !strings.Contains(kinds, "turn") {
			t.Errorf("the model was asked for %q", kinds)
		}
		turns, err := r.store.UnreadTurns(t.Context())
		if err != nil || len(turns) != 0 {
			t.Errorf("%d turns wait for a model: %v", len(turns), err)
		}
		r.audited()
	})
}
