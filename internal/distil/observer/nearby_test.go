package observer_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/distil/observer"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// TestModelSupersedes shows the model the records that a turn is near to, and believes it
// about these alone, unless the turn read foreign text.
func TestModelSupersedes(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{name: "p"}
			p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
				text := `<observation><type>decision</type><title>Totals of the cart round half up</title></observation>
					<observation><type>decision</type><title>Uploads are kept for a week</title></observation>`
				if strings.Contains(r.Prompt, "half even") {
					text = `<observation><type>decision</type><title>Totals round half even</title><supersedes>#1, #2 and S1</supersedes></observation>`
				}
				return memory.ModelAnswer{Text: text + `<skip_summary/>`}, nil
			}
			r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
			turn := func(session, prompt string, from memory.Provenance) string {
				r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: session, Prompt: prompt}})
				r.edit(session, "src/cart.go", 500)
				r.enqueue(memory.Arrival{Provenance: from, Event: memory.Event{Kind: memory.KindTool, HostSessionID: session, ToolName: "WebFetch"}})
				r.stop(session)
				r.idle()
				r.waitIdle()
				all := p.all()
				return all[len(all)-1].Prompt
			}
			if shown := turn("a", "how do totals of the cart round?", memory.FromProject); strings.Contains(shown, "earlier_records") {
				t.Errorf("the first request shows earlier records:\n%s", shown)
			}
			from := memory.FromProject
			if foreign {
				from = memory.FromWeb
			}
			shown := turn("b", "let totals of the cart round half even", from)
			if !strings.Contains(shown, "<earlier_records>\n#1 decision: Totals of the cart round half up\n</earlier_records>") || strings.Contains(shown, "Uploads are kept") {
				t.Errorf("the request shows:\n%s", shown)
			}
			found, err := records.ObservationsByIDs(context.Background(), r.store.Reader, []memory.ObservationID{1, 2, 3})
			if err != nil || len(found) != 3 {
				t.Fatalf("got %+v, %v", found, err)
			}
			want := memory.ObservationID(3)
			if foreign {
				want = 0
			}
			if found[0].SupersededBy != want || found[1].SupersededBy != 0 {
				t.Errorf("foreign %t: got %d and %d, want %d and 0", foreign, found[0].SupersededBy, found[1].SupersededBy, want)
			}
		})
	}
}

// TestRedoSupersedes: a request about a kept turn shows the records that the turn is near
// to, as they were at its end, and a model may say that the turn reverses them.
func TestRedoSupersedes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		titles := map[string]string{"a": "Totals of the cart round half up", "b": "Totals of the cart round half even", "c": "Totals of the cart round half down"}
		p := keepingProvider("p")
		refused := false
		p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if refused {
				return memory.ModelAnswer{}, fails(memory.ClassLogin)
			}
			for session, title := range titles {
				if strings.Contains(r.Prompt, "src/"+session+".go") {
					reversed := ""
					if session == "b" {
						reversed = "<supersedes>#1, #3</supersedes>"
					}
					return memory.ModelAnswer{Text: `<observation><type>decision</type><title>` + title + `</title>` + reversed + `</observation><skip_summary/>`}, nil
				}
			}
			return memory.ModelAnswer{Text: "<skip_summary/>"}, nil
		}
		r := startRig(t, chooseAuto(t, p), nil, observer.Options{BatchingEnabled: true})
		turn := func(session string) {
			r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: session, Prompt: "let totals of the cart round half even"}})
			r.edit(session, "src/"+session+".go", 500)
			r.stop(session)
			r.waitIdle()
		}
		turn("a")
		refused = true
		turn("b")
		turn("c")
		refused = false
		asked := len(p.all())
		r.model.AskAgain()
		if _, err := r.observer.RetryUnread(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		r.idle()
		got := p.all()[asked:]
		if len(got) != 2 {
			t.Fatalf("%d calls, want one for each kept turn", len(got))
		}
		if want := "<earlier_records>\n#1 decision: " + titles["a"] + "\n</earlier_records>"; !strings.Contains(got[1].Prompt, want) {
			t.Errorf("the older turn shows not\n%s\nbut\n%s", want, got[1].Prompt)
		}
		found, err := records.ObservationsByIDs(context.Background(), r.store.Reader, []memory.ObservationID{1, 2, 3})
		if err != nil || len(found) != 3 {
			t.Fatalf("got %+v, %v", found, err)
		}
		if found[0].SupersededBy != 2 || found[1].Title != titles["b"] || found[2].SupersededBy != 0 {
			t.Errorf("got %+v, want the first superseded by the redone second and the later third as it was", found)
		}
	})
}

// TestModelCorrects shows the model the session's own last records where the prompt begins with a no,
// so that it can say which of them does not hold.
func TestModelCorrects(t *testing.T) {
	for prompt, want := range map[string]memory.ObservationID{"no, down to the cent": 2, "so far so good, now the docs": 0} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{name: "p"}
			p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
				text := `<observation><type>bugfix</type><title>Totals of the cart round half up</title></observation>`
				if call > 0 {
					text = `<observation><type>bugfix</type><title>Sums are cut</title><supersedes>#1</supersedes></observation>`
				}
				return memory.ModelAnswer{Text: text + `<skip_summary/>`}, nil
			}
			r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
			for _, prompt := range []string{"round the totals", prompt} {
				r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: "a", Prompt: prompt}})
				r.edit("a", "src/cart.go", 500)
				r.stop("a")
				r.idle()
				r.waitIdle()
			}
			all := p.all()
			if shown := strings.Contains(all[len(all)-1].Prompt, "#1 bugfix: Totals of the cart round half up"); shown != (want != 0) {
				t.Errorf("%q: shown %t:\n%s", prompt, shown, all[len(all)-1].Prompt)
			}
			found, err := records.ObservationsByIDs(context.Background(), r.store.Reader, []memory.ObservationID{1})
			if err != nil || len(found) != 1 || found[0].SupersededBy != want {
				t.Errorf("%q: got %+v, %v, want it superseded by %d", prompt, found, err, want)
			}
		})
	}
}
