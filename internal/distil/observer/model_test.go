package observer_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/distil/observer"
	"claudemem/internal/memory"
)

func repeat(s string, n int) string {
	out := ""
	for range n {
		out += s
	}
	return out
}

func TestCallsOnTheWire(t *testing.T) {
	batching := observer.Options{BatchingEnabled: true, BatchMaxSize: 40}
	const o, turn = "observation ", "turn "
	tests := []struct {
		name     string
		schedule observer.Options
		do       func(r *rig)
		want     string
	}{
		{"3 tools unbatched", observer.Options{}, func(r *rig) { r.prompt("a"); r.tools("a", 3); r.stop("a") }, repeat(o, 3) + turn},
		{"3 tools batched", batching, func(r *rig) { r.prompt("a"); r.tools("a", 3); r.stop("a") }, turn},
		{"25 tools", batching, func(r *rig) { r.prompt("a"); r.tools("a", 25); r.stop("a") }, turn},
		{"much output", batching, func(r *rig) { r.prompt("a"); r.edit("a", "x.go", 9000); r.stop("a") }, turn},
		{"10 tools with size 3", observer.Options{BatchingEnabled: true, BatchMaxSize: 3},
			func(r *rig) { r.prompt("a"); r.tools("a", 10); r.stop("a") }, repeat(o, 3) + turn},
		{"5 tools with size 3", observer.Options{BatchingEnabled: true, BatchMaxSize: 3},
			func(r *rig) { r.prompt("a"); r.tools("a", 5); r.stop("a") }, o + turn},
		{"5 tools with size 3, one by one", observer.Options{BatchingEnabled: true, BatchMaxSize: 3}, func(r *rig) {
			r.prompt("a")
			for range 5 {
				r.tools("a", 1)
				r.idle()
			}
			r.stop("a")
		}, o + turn},
		{"9 tools with size 3", observer.Options{BatchingEnabled: true, BatchMaxSize: 3},
			func(r *rig) { r.prompt("a"); r.tools("a", 9); r.stop("a") }, repeat(o, 2) + turn},
		{"two turns that waited", batching, func(r *rig) {
			r.close()
			r.open()
			r.prompt("a")
			r.tools("a", 5)
			r.stop("a")
			r.prompt("a")
			r.tools("a", 2)
			r.stop("a")
		}, turn + turn},
		{"an answer without tools", batching, func(r *rig) { r.prompt("a"); r.stop("a") }, turn},
		{"a second stop with nothing new", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2); r.stop("a"); r.waitIdle(); r.stop("a") }, turn},
		{"a second stop with nothing new, after a restart", batching, func(r *rig) {
			r.prompt("a")
			r.tools("a", 2)
			r.stop("a")
			r.waitIdle()
			r.restart()
			r.stop("a")
		}, turn},
		{"a second stop with more work", batching, func(r *rig) {
			r.prompt("a")
			r.tools("a", 2)
			r.stop("a")
			r.waitIdle()
			r.tools("a", 2)
			r.stop("a")
		}, turn + turn},
		{"a stop out of nothing", batching, func(r *rig) {
			r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindStop, HostSessionID: "a"}})
		}, ""},
		{"an open turn", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2) }, ""},
		{"the next prompt", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2); r.idle(); r.prompt("a") }, o},
		{"the session's end", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2); r.idle(); r.end("a"); time.Sleep(observer.ClosingAfter) }, o},
		{"the next session", batching, func(r *rig) {
			r.prompt("a")
			r.tools("a", 2)
			r.idle()
			b := r.prompt("b")
			r.observer.FlushProject("/home/dev/shop", b)
		}, o},
		{"ten minutes", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2); time.Sleep(10 * time.Minute) }, o},
		{"nine minutes", batching, func(r *rig) { r.prompt("a"); r.tools("a", 2); time.Sleep(9 * time.Minute) }, ""},
		{"more than a prompt shows", batching, func(r *rig) {
			r.prompt("a")
			for range 19 {
				r.edit("a", "src/big.go", 6000)
			}
			r.stop("a")
		}, repeat(o, 3) + turn},
		{"a limit tears no turn", observer.Options{BatchingEnabled: true, BatchMaxSize: 8}, func(r *rig) {
			r.together(func() { // else the observer may see a turn that is still arriving
				for range 3 {
					r.prompt("a")
					r.tools("a", 5)
					r.stop("a")
				}
			})
		}, repeat(turn, 3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p"}
				r := startRig(t, chooseAlways(t, p, false), nil, tt.schedule)
				tt.do(r)
				r.idle()
				r.waitIdle()
				if got := p.kinds() + " "; got != tt.want && (tt.want != "" || got != " ") {
					t.Errorf("calls: got %q, want %q", got, tt.want)
				}
				if b := r.books(); b.Failed != 0 || b.Processing != 0 {
					t.Errorf("books: %+v", b)
				}
			})
		})
	}
}

func TestFieldsThatTheModelCannotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
			return memory.ModelAnswer{Text: `<observation><type>bugfix</type><title>Fixed the total</title>
				<files_read><file>/home/dev/shop/src/cart.go</file></files_read>
				<files_modified><file>src/invented.go</file><file>README.md</file></files_modified></observation>
				<summary><request>fix</request><completed>fixed</completed><files_edited><file>nowhere.go</file></files_edited></summary>
				<learning category="gotcha" confidence="0.8">Totals are in cents</learning>`}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.prompt("a")
		r.edit("a", "src/cart.go", 300)
		r.enqueue(memory.Arrival{
			Event: memory.Event{Kind: memory.KindTool, HostSessionID: "a", ToolName: "Read", Branch: "main", HeadCommit: "abc", ToolInput: []byte(`{"file_path":"/home/dev/shop/README.md"}`)},
			Files: []memory.FileRef{{Path: "README.md", Role: memory.FileRead}},
		})
		r.stop("a")
		r.idle()
		o := r.observations()[0]
		if got := o.FilesIn(memory.FileModified); len(got) != 1 || got[0] != "src/cart.go" {
			t.Errorf("modified: got %v, want src/cart.go", got)
		}
		if got := o.FilesIn(memory.FileRead); len(got) != 1 || got[0] != "README.md" {
			t.Errorf("read: got %v, want README.md", got)
		}
		if o.Origin != memory.OriginObserver || o.Branch != "main" || o.HeadCommit != "abc" || o.DiscoveryTokens < 80 || o.PromptNumber != 1 || o.Files[0].Hash != "h" {
			t.Errorf("got %+v", o)
		}
		s, err := r.store.SessionSummaries(context.Background(), 1, 0)
		if err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
		if len(s[0].FilesEdited) != 1 || s[0].FilesEdited[0] != "src/cart.go" || s[0].Completed != "fixed" || s[0].Origin != memory.OriginObserver {
			t.Errorf("got %+v", s[0])
		}
	})
}

func TestEmptyAnswers(t *testing.T) {
	tests := []struct {
		name, text string
		summaries  int
		origin     memory.Origin
	}{
		{"empty", "", 0, ""},
		{"idle", "<observations/>", 0, ""},
		{"skip", `<skip_summary reason="nothing"/>`, 0, ""},
		{"prose: the host's own words have to do", "I think the developer did a fine job here, and it would be wrong to add to that. Let me know what you think of it, and of the many other things that could be said about it.", 1, memory.OriginOffline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p", do: func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
					return memory.ModelAnswer{Text: tt.text}, nil
				}}
				r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
				r.prompt("a")
				r.tools("a", 2)
				r.stop("a")
				r.idle()
				if b := r.books(); b.Processed != 4 {
					t.Errorf("books: got %+v, want 4 processed", b)
				}
				s, err := r.store.SessionSummaries(context.Background(), 1, 0)
				if err != nil || len(s) != tt.summaries || len(s) > 0 && s[0].Origin != tt.origin {
					t.Errorf("summaries: got %+v, %v, want %d by %s", s, err, tt.summaries, tt.origin)
				}
			})
		})
	}
}

func TestSwitching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := keepingProvider("a"), &scripted{name: "b"}
		chosen := observer.Choice{Provider: a, Mode: codeMode(t), KeepsRuns: true}
		r := startRig(t, func(memory.Session) observer.Choice { return chosen }, nil, observer.Options{BatchingEnabled: true})
		turn := func() {
			r.prompt("s")
			r.tools("s", 2)
			r.stop("s")
			r.idle()
		}
		turn()
		turn()
		if got, want := a.kinds(), "turn turn"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		first := a.all()[1]
		if len(first.History) != 2 {
			t.Errorf("the second turn has a history of %d, want 2", len(first.History))
		}
		chosen = observer.Choice{Provider: b, Mode: chosen.Mode}
		turn()
		got := b.all()
		if len(got) != 1 || got[0].Run == first.Run || len(got[0].History) != 0 {
			t.Errorf("the other provider got %+v, want a fresh run", got)
		}
		if len(a.ended) != 1 || a.ended[0] != first.Run {
			t.Errorf("ended: got %v, want %s", a.ended, first.Run)
		}
		chosen.Provider = nil
		turn()
		if len(a.all()) != 2 || len(b.all()) != 1 || len(r.offline.got()) != 3 {
			t.Errorf("with no provider: %d and %d calls, %d events offline", len(a.all()), len(b.all()), len(r.offline.got()))
		}
		if books := r.books(); books.Processed != books.Received {
			t.Errorf("books: %+v", books)
		}
	})
}

func TestRunResumesAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := keepingProvider("p")
		var ledger ledgerOf
		r := startRig(t, nil, nil, observer.Options{BatchingEnabled: true})
		r.close()
		m := codeMode(t)
		r.choice = func(memory.Session) observer.Choice {
			return observer.Choice{Provider: ledger.booked(r, p), Mode: m, KeepsRuns: true}
		}
		r.open()
		id := r.prompt("s")
		r.tools("s", 2)
		r.stop("s")
		r.idle()
		session, err := r.store.Session(context.Background(), id)
		if err != nil || session.MemorySessionID == "" || session.MemorySessionID == session.HostSessionID {
			t.Fatalf("got %+v, %v, want a run of its own", session, err)
		}
		ledger.reset()
		r.restart()
		r.prompt("s")
		r.tools("s", 2)
		r.stop("s")
		r.idle()
		got := p.all()
		if len(got) != 2 || got[1].Run != session.MemorySessionID || len(got[1].History) != 2 {
			t.Errorf("got %d calls, the last in run %s, want %s going on", len(got), got[1].Run, session.MemorySessionID)
		}
		ledger.reset()
		r.end("s")
		session.Status = memory.SessionCompleted
		r.model.Ended(context.Background(), session)
		if len(p.ended) != 1 || p.ended[0] != session.MemorySessionID {
			t.Errorf("ended: got %v", p.ended)
		}
	})
}

// TestOneRequestShowsTheTurn checks that events and closing message stand in one request,
// with relative paths, under a mark of its own, and that the system prompt is the same for
// all sessions, so that a provider can cache it.
func TestOneRequestShowsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		if _, err := r.store.AddLearning(t.Context(), memory.Learning{ProjectPath: "/home/dev/shop", Category: "convention", Content: "Prices are in cents"}); err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{"a", "b"} {
			r.prompt(session)
			r.edit(session, "src/cart.go", 100)
			r.stop(session)
			r.waitIdle()
		}
		all := p.all()
		if len(all) != 2 {
			t.Fatalf("%d calls, want 2", len(all))
		}
		mark := regexp.MustCompile(`</parameters ([0-9a-f]{8})>`)
		marks := map[string]bool{}
		for _, q := range all {
			for _, want := range []string{"Done with this part.", "file: src/cart.go\n", "-a\n+b\n", "<directory>/home/dev/shop</directory>", "- Prices are in cents\n"} {
				if !strings.Contains(q.Prompt, want) {
					t.Errorf("%q is not in the prompt:\n%s", want, q.Prompt)
				}
			}
			if strings.Contains(q.Prompt, "/home/dev/shop/") {
				t.Errorf("an absolute path in\n%s", q.Prompt)
			}
			marks[mark.FindStringSubmatch(q.Prompt)[1]] = true
		}
		if len(marks) != 2 {
			t.Errorf("marks: %v, want one for each request", marks)
		}
		if all[0].System != all[1].System || strings.Contains(all[0].System, "shop") {
			t.Error("the system prompt depends on the session")
		}
	})
}
