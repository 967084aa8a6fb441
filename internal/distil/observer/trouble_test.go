package observer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// ledgerOf opens the ledger of a rig's store with its caps.
type ledgerOf struct {
	mu     sync.Mutex
	ledger *accounts.Ledger
	caps   accounts.Caps
}

func (l *ledgerOf) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ledger = nil
}

func (l *ledgerOf) booked(r *rig, p model.Provider) *model.Booked {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ledger == nil {
		var err error
		if l.ledger, err = r.store.NewLedger(context.Background(), func() accounts.Caps { return l.caps }); err != nil {
			r.t.Fatal(err)
		}
	}
	return model.NewBooked(p, l.ledger, nil, nil)
}

func fails(class memory.ErrorClass) error {
	return &memory.ModelError{Provider: "p", Class: class, Err: errors.New("no")}
}

// turnsOf enqueues n events in turns of size.
func (r *rig) turnsOf(session string, n, size int) {
	r.t.Helper()
	for i := 0; i < n; i += size {
		r.together(func() {
			r.prompt(session)
			r.tools(session, size)
			r.stop(session)
		})
	}
}

func TestProviderDownAndBack(t *testing.T) {
	for _, class := range []memory.ErrorClass{memory.ClassTransient, memory.ClassLogin} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := true
				var mu sync.Mutex
				p := &scripted{name: "p"}
				p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
					mu.Lock()
					defer mu.Unlock()
					if down {
						return memory.ModelAnswer{}, fails(class)
					}
					return memory.ModelAnswer{Text: usualAnswer(r)}, nil
				}
				r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true, MaxObservers: 2})
				r.turnsOf("a", 100, 5)
				r.turnsOf("b", 100, 5)
				time.Sleep(30 * time.Minute)
				r.idle()
				if b := r.books(); b.Pending != 240 || b.Failed != 0 {
					t.Errorf("down: %+v, want 240 pending", b)
				}
				if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "claude-mem: p ") {
					t.Errorf("notices: got %q, want one", got)
				}
				if n := len(p.all()); n > 70 {
					t.Errorf("%d calls in 30 minutes to a provider that is down, want about one a minute for each session", n)
				}
				if _, err := r.store.TakeNotices(context.Background()); err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				down = false
				mu.Unlock()
				time.Sleep(3 * time.Minute)
				r.idle()
				b := r.books()
				if b.Processed != b.Received || b.Failed != 0 {
					t.Errorf("back: %+v, want all processed", b)
				}
				if got := r.offline.got(); len(got) != 0 {
					t.Errorf("%d events were extracted offline, want none", len(got))
				}
				// Each of the 40 turns has one observation and one checkpoint.
				if got := len(r.observations()); got != 40 {
					t.Errorf("observations: got %d, want 40", got)
				}
				for _, id := range []memory.SessionID{1, 2} {
					s, err := r.store.SessionSummaries(context.Background(), id, 0)
					if err != nil || len(s) != 20 {
						t.Errorf("session %d: %d summaries, %v, want 20", id, len(s), err)
					}
				}
				if got := r.notices(); len(got) != 0 {
					t.Errorf("notices: got %q, want none told again", got)
				}
			})
		})
	}
}

func TestWorkDoesNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p", do: func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
			return memory.ModelAnswer{}, fails(memory.ClassTransient)
		}}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 20, 5)
		time.Sleep(59 * time.Minute)
		r.idle()
		if b := r.books(); b.Pending != 24 {
			t.Errorf("after 59 minutes: %+v, want 24 pending", b)
		}
		time.Sleep(3 * time.Minute)
		r.idle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("after an hour: %+v, want all processed", b)
		}
		before := len(p.all())
		r.turnsOf("a", 20, 5)
		r.waitIdle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("later: %+v, want all processed at once", b)
		}
		if n := len(p.all()) - before; n > 1 {
			t.Errorf("%d calls within a minute, want at most one to see whether it is back", n)
		}
	})
}

func TestRetryAfterHoldsForAllSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if call == 0 {
				return memory.ModelAnswer{}, &memory.ModelError{Provider: "p", Class: memory.ClassRateLimit, Wait: 5 * time.Minute, Err: errors.New("slow down")}
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 2, 2)
		r.turnsOf("b", 2, 2)
		time.Sleep(4 * time.Minute)
		r.idle()
		if n := len(p.all()); n != 1 {
			t.Errorf("%d calls before the time that was asked for, want 1", n)
		}
		time.Sleep(2 * time.Minute)
		r.idle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("books: %+v, want all processed", b)
		}
	})
}

func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if strings.Contains(r.Prompt, "poison.go") {
				return memory.ModelAnswer{}, fails(memory.ClassGarbage)
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true, BatchMaxSize: 20})
		r.prompt("a")
		r.close() // so that all twenty are one batch
		r.open()
		for i := range 20 {
			name := fmt.Sprintf("src/good%02d.go", i)
			if i == 13 {
				name = "src/poison.go"
			}
			r.edit("a", name, 400)
		}
		time.Sleep(time.Hour)
		r.idle()
		if b := r.books(); b.Processed != b.Received || b.Failed != 0 {
			t.Errorf("books: %+v, want all processed", b)
		}
		if got := r.offline.got(); len(got) != 1 || got[0] != "tool:15" {
			t.Errorf("offline: got %v, want the poisonous event alone", got)
		}
		observed := map[string]bool{}
		for _, o := range r.observations() {
			if o.Origin == memory.OriginObserver {
				for _, f := range o.FilesIn(memory.FileModified) {
					observed[f] = true
				}
			}
		}
		if len(observed) != 19 || observed["src/poison.go"] {
			t.Errorf("the model observed %d files, want the 19 good ones", len(observed))
		}
		if n := len(p.all()); n > 12 {
			t.Errorf("%d calls to find one event of 20, want at most 12", n)
		}
	})
}

func TestPromptTooLongCompacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if len(r.History) >= 4 {
				return memory.ModelAnswer{}, fails(memory.ClassPromptTooLong)
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 6, 2)
		r.waitIdle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("books: %+v, want all processed at once", b)
		}
		got := p.all()
		if len(got) != 4 || got[2].Run == got[3].Run || len(got[3].History) != 0 || !strings.Contains(got[3].Prompt, "already_recorded") {
			t.Errorf("got %d calls, want the third again in a fresh run with a digest", len(got))
		}
	})
}

func TestAnswersAreNotPaidTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if call == 1 {
				return memory.ModelAnswer{}, fails(memory.ClassTransient)
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.together(func() {
			r.prompt("a")
			for range 7 {
				r.edit("a", "src/big.go", 6000) // more than one call shows
			}
			r.stop("a")
		})
		time.Sleep(5 * time.Minute)
		r.idle()
		if got, want := p.kinds(), "observation turn turn"; got != want {
			t.Errorf("calls: got %q, want %q", got, want)
		}
		if got := len(r.observations()); got != 1 {
			t.Errorf("observations: got %d, want 1", got)
		}
	})
}

func TestErrorInTextIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if call == 0 {
				return memory.ModelAnswer{Text: "Claude AI usage limit reached|1760000000"}, nil
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 2, 2)
		r.idle()
		if b := r.books(); b.Pending != 3 {
			t.Errorf("books: %+v, want 3 pending", b)
		}
		if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "quota") {
			t.Errorf("notices: %q", got)
		}
		time.Sleep(2 * time.Minute)
		r.idle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("books: %+v, want all processed", b)
		}
	})
}

func TestCaps(t *testing.T) {
	tests := []struct {
		name   string
		caps   accounts.Caps
		notice string
	}{
		{"day", accounts.Caps{Day: 30_000}, "CLAUDE_MEM_DAILY_TOKEN_CAP"},
		{"session", accounts.Caps{Session: 15_000}, "CLAUDE_MEM_SESSION_TOKEN_CAP"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p"}
				p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
					time.Sleep(time.Second) // two at once
					return memory.ModelAnswer{Text: usualAnswer(r)}, nil
				}
				ledger := ledgerOf{caps: tt.caps}
				r := startRig(t, nil, nil, observer.Options{BatchingEnabled: true, MaxObservers: 2})
				r.close()
				m := codeMode(t)
				r.choice = func(memory.Session) observer.Choice {
					return observer.Choice{Provider: ledger.booked(r, p), Mode: m}
				}
				r.open()
				for range 10 {
					r.turnsOf("a", 4, 4)
					r.turnsOf("b", 4, 4)
					r.waitIdle()
				}
				if b := r.books(); b.Processed != b.Received {
					t.Errorf("books: %+v, want all processed", b)
				}
				calls := len(p.all())
				if calls == 0 || calls >= 40 || len(r.offline.got()) == 0 {
					t.Errorf("%d calls and %d events offline, want some of both", calls, len(r.offline.got()))
				}
				sum, err := r.store.Spending(context.Background(), 0, time.UTC)
				if err != nil {
					t.Fatal(err)
				}
				receipt, err := r.store.SessionReceipt(context.Background(), 1)
				if err != nil {
					t.Fatal(err)
				}
				day, ofSession := tokens(sum.Total), tokens(receipt.Cost.Total)
				if tt.caps.Day > 0 && day > tt.caps.Day || tt.caps.Session > 0 && ofSession > tt.caps.Session {
					t.Errorf("used %d of the day, %d of the session: caps %+v", day, ofSession, tt.caps)
				}
				if err != nil || sum.Total.Calls != calls || sum.Total.TokensIn != p.input {
					t.Errorf("the books say %+v, %v; the provider counted %d calls and %d tokens", sum.Total, err, calls, p.input)
				}
				if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], tt.notice) {
					t.Errorf("notices: got %q, want one of %s", got, tt.notice)
				}
				if tt.caps.Day == 0 {
					return
				}
				time.Sleep(24 * time.Hour)
				r.turnsOf("a", 4, 4)
				r.waitIdle()
				if len(p.all()) <= calls {
					t.Error("no call on the next day")
				}
			})
		})
	}
}

// tokens counts what calls used or may have used.
func tokens(s accounts.Spent) int { return s.TokensIn + s.TokensOut + s.TokensCached + s.Reserved }

func TestCapCountsCallOfKilledWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		ledger := ledgerOf{caps: accounts.Caps{Day: 19_000}}
		r := startRig(t, nil, nil, observer.Options{BatchingEnabled: true})
		r.close()
		m := codeMode(t)
		r.choice = func(memory.Session) observer.Choice {
			return observer.Choice{Provider: ledger.booked(r, p), Mode: m}
		}
		r.open()
		ledger.booked(r, p)
		// A reservation of a killed worker.
		if _, err := ledger.ledger.Reserve(context.Background(), memory.ModelReservation{Provider: "p", Kind: "turn", Input: 10_000, Output: 4_000, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		ledger.reset()
		r.restart()
		ledger.booked(r, p)
		if sum, err := r.store.Spending(context.Background(), 0, time.UTC); err != nil || tokens(sum.Total) != 14_000 {
			t.Errorf("after the crash %+v counts, %v, want 14000 tokens", sum.Total, err)
		}
		r.turnsOf("a", 2, 2)
		r.waitIdle()
		if n := len(p.all()); n != 0 {
			t.Errorf("%d calls, want none: with 14000 of 19000 counted there is no room for one", n)
		}
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("books: %+v", b)
		}
	})
}
