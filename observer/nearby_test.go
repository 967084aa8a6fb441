package observer_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"claudemem"
	"claudemem/observer"
)

// TestModelSupersedes shows the model the records that a turn is near to, and believes it
// about these alone, unless the turn read foreign text.
func TestModelSupersedes(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{name: "p"}
			p.do = func(call int, r claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
				text := `<observation><type>decision</type><title>Totals of the cart round half up</title></observation>
					<observation><type>decision</type><title>Uploads are kept for a week</title></observation>`
				if strings.Contains(r.Prompt, "half even") {
					text = `<observation><type>decision</type><title>Totals round half even</title><supersedes>#1, #2 and S1</supersedes></observation>`
				}
				return claudemem.ModelAnswer{Text: text + `<skip_summary/>`}, nil
			}
			r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
			turn := func(session, prompt string, from claudemem.Provenance) string {
				r.enqueue(claudemem.Arrival{Event: claudemem.Event{Kind: claudemem.KindPrompt, HostSessionID: session, Prompt: prompt}})
				r.edit(session, "src/cart.go", 500)
				r.enqueue(claudemem.Arrival{Provenance: from, Event: claudemem.Event{Kind: claudemem.KindTool, HostSessionID: session, ToolName: "WebFetch"}})
				r.stop(session)
				r.idle()
				r.waitIdle()
				all := p.all()
				return all[len(all)-1].Prompt
			}
			if shown := turn("a", "how do totals of the cart round?", claudemem.FromProject); strings.Contains(shown, "earlier_records") {
				t.Errorf("the first request shows earlier records:\n%s", shown)
			}
			from := claudemem.FromProject
			if foreign {
				from = claudemem.FromWeb
			}
			shown := turn("b", "let totals of the cart round half even", from)
			if !strings.Contains(shown, "<earlier_records>\n#1 decision: Totals of the cart round half up\n</earlier_records>") || strings.Contains(shown, "Uploads are kept") {
				t.Errorf("the request shows:\n%s", shown)
			}
			found, err := r.store.ObservationsByIDs(context.Background(), 1, 2, 3)
			if err != nil || len(found) != 3 {
				t.Fatalf("got %+v, %v", found, err)
			}
			want := claudemem.ObservationID(3)
			if foreign {
				want = 0
			}
			if found[0].SupersededBy != want || found[1].SupersededBy != 0 {
				t.Errorf("foreign %t: got %d and %d, want %d and 0", foreign, found[0].SupersededBy, found[1].SupersededBy, want)
			}
		})
	}
}
