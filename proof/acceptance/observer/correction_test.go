//go:build unix

package observer

import (
	"bytes"
	"path"
	"testing"

	"claudemem/proof/acceptance/world"
)

// TestCorrection has a user say no to a turn: its record is superseded by that of the next turn, and
// neither the block of the next session, with the session's line, nor the first line of a search
// shows it as what holds. A turn that goes on with the work supersedes nothing.
func TestCorrection(t *testing.T) {
	t.Parallel()
	const wrong, right = "CACHE_SECONDS keeps each exchange rate for five minutes", "CACHE_SECONDS keeps each exchange rate for one minute"
	for prompt, want := range map[string]int{"no, one minute at most, rates move": 1, "nein, höchstens eine Minute": 1, "now one minute for the sandbox": 0, "no tests yet, add some, and one minute": 0} {
		t.Run(prompt, func(t *testing.T) {
			m := world.NewMemory(t)
			m.MustCommand("worker", "start")
			h := &world.Host{M: m, ID: "rates"}
			turn := func(prompt, message string, lines ...string) {
				h.Prompt(prompt)
				file := path.Join(world.HostProject, "rates.py")
				p := h.Payload("PostToolUse")
				p["tool_name"], p["tool_use_id"] = "Edit", prompt
				p["tool_input"] = map[string]any{"file_path": file, "old_string": "x", "new_string": "y"}
				p["tool_response"] = map[string]any{"filePath": file, "structuredPatch": []map[string]any{{"oldStart": 3, "newStart": 3, "lines": lines}}}
				h.Send("save", p)
				p = h.Payload("Stop")
				p["last_assistant_message"] = message
				h.Send("summary", p)
				m.Settle(world.SettleLimit)
			}
			turn("cache the exchange rates", wrong+", because the provider asks for money at each call and is slow in the morning. `cached_rates` looks into the store first, and asks the provider only if nothing is there or it is too old.",
				"+CACHE_SECONDS = 300", "+def cached_rates(currency):", "+    return STORE.get(currency, CACHE_SECONDS)")
			turn(prompt, right+".", "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60")
			if got := m.QueryOne("SELECT count(*) FROM observations o JOIN observations n ON n.id = o.superseded_by WHERE o.prompt_number = 1 AND n.prompt_number = 2"); got != want {
				t.Errorf("%d records superseded, want %d", got, want)
			}
			if want == 0 {
				return
			}
			block := (&world.Host{M: m, ID: "next"}).Start().Stdout
			if !bytes.Contains(block, []byte("one minute")) || bytes.Contains(block, []byte("five minutes")) {
				t.Errorf("the next session is told:\n%s", block)
			}
			m.AwaitIndex()
			found := m.MustCommand("search", "exchange rate", "--all")
			newer, older := bytes.Index(found, []byte("one minute")), bytes.Index(found, []byte("five minutes"))
			if newer < 0 || older >= 0 && older < newer {
				t.Errorf("search finds:\n%s", found)
			}
		})
	}
}
