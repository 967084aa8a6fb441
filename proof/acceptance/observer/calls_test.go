//go:build unix

package observer

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// TestCalls counts the calls on the wire for each provider, with the tag e2e those
// of the real claude CLI too. Without the tag slow only the first one gets the shapes of a turn
// that do not depend on the provider.
func TestCalls(t *testing.T) {
	t.Parallel()
	turn := func(n int) func(*world.Host) { return func(h *world.Host) { h.Turn(n) } }
	shapes := []struct {
		name     string
		settings []string
		tools    int
		play     func(*world.Host)
		want     int
	}{
		{"3 tools unbatched", []string{"BATCHING_ENABLED", "false"}, 3, turn(3), 4},
		// One call at the end of a turn, for its events and the closing message.
		{"3 tools", nil, 3, turn(3), 1},
		{"25 tools", nil, 25, turn(25), 1},
		{"5 tools with size 3", []string{"BATCH_MAX_SIZE", "3"}, 5, turn(5), 2},
		{"10 tools with size 3", []string{"BATCH_MAX_SIZE", "3"}, 10, turn(10), 4},
		{"a leftover, next prompt", nil, 2, func(h *world.Host) { leftover(h); h.Prompt("Go on") }, 1},
		{"a leftover, session end", nil, 2, func(h *world.Host) { leftover(h); h.End() }, 1},
		{"a leftover, next session", nil, 2, func(h *world.Host) { leftover(h); (&world.Host{M: h.M, ID: h.ID + "-next"}).Start() }, 1},
	}
	for i, vendor := range append([]string{"anthropic", "openai", "openrouter", "gemini", "ollama"}, realVendors...) {
		shapes := shapes
		if i > 0 {
			shapes = shapes[:world.Scaled(2, len(shapes))]
		}
		t.Run(vendor, func(t *testing.T) {
			path := pathOf(t, vendor)
			var counts []string
			for _, shape := range shapes {
				api := world.NewStandIn(t, nil)
				m := world.NewMemory(t)
				m.Configure(api.With(vendor, shape.settings...))
				if path != "" {
					m.Prepend(path)
				}
				m.MustCommand("worker", "start")
				h := &world.Host{M: m, ID: "calls"}
				shape.play(h)
				b := m.Settle(world.SettleLimit)
				calls := api.Calls()
				if len(calls) != shape.want {
					t.Errorf("%s: %d calls, want %d", shape.name, len(calls), shape.want)
				}
				if b.Failed != 0 || !b.Balanced() {
					t.Errorf("%s: books %+v", shape.name, b)
				}
				shown := 0
				for _, c := range calls {
					shown += strings.Count(c.Prompt, "<observed_from_primary_session>")
				}
				if shown != shape.tools {
					t.Errorf("%s: %d events were shown, want %d", shape.name, shown, shape.tools)
				}
				if rows := m.QueryOne("SELECT count(*) FROM llm_calls WHERE provider = ? AND outcome = 'ok'", vendor); rows != shape.want {
					t.Errorf("%s: %d calls in the ledger, want %d", shape.name, rows, shape.want)
				}
				if n := m.QueryOne("SELECT count(*) FROM observations WHERE origin = 'observer'"); n == 0 {
					t.Errorf("%s: nothing was recorded", shape.name)
				}
				counts = append(counts, fmt.Sprint(len(calls)))
				m.MustCommand("worker", "stop")
			}
			world.Figure(t, 1, "%s %s", vendor, strings.Join(counts, "/"))
		})
	}
}

// leftover is a turn that never ends: its events wait.
func leftover(h *world.Host) {
	h.Prompt("Begin something")
	h.Edits(2)
}
