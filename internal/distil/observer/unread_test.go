package observer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/distil/observer"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

const prose = "The developer did a fine job here, and there is much to be said about the way in which it was done. I would start with the tests, and then turn to the many other things that matter."

// unread returns why no model has read events, with their number.
func (r *rig) unread() map[memory.UnreadReason]int {
	r.t.Helper()
	found, err := r.store.Unread(r.t.Context(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	counts := map[memory.UnreadReason]int{}
	for _, u := range found {
		counts[u.Reason] = u.Events
	}
	return counts
}

// lastCall returns what the ledger says of the only provider.
func (r *rig) lastCall() accounts.LastCall {
	r.t.Helper()
	a, err := r.store.Activity(r.t.Context(), 0)
	if err != nil || len(a.LastCalls) != 1 {
		r.t.Fatalf("%+v, %v", a.LastCalls, err)
	}
	return a.LastCalls[0]
}

// TestUnusableAnswerIsAskedOnceMore: prose is no answer. The model is reminded of the
// form once; then the turn is remembered without it, and the memory says so.
func TestUnusableAnswerIsAskedOnceMore(t *testing.T) {
	for name, test := range map[string]struct {
		keeps bool
		// good is the number of the call that is answered well, 0 for none.
		good              int
		calls             int
		observed, offline int
		unread            int
	}{
		"then it answers":                       {good: 2, calls: 2, observed: 1},
		"never":                                 {calls: 2, offline: 1, unread: 3},
		"then it answers, kept by the provider": {keeps: true, good: 2, calls: 2, observed: 1},
		"never, while the conversation is kept here": {keeps: true, calls: 2, offline: 1, unread: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p"}
				if test.keeps {
					p = keepingProvider("p")
				}
				p.do = func(call int, r memory.ModelRequest) (memory.ModelAnswer, error) {
					if call+1 == test.good {
						return memory.ModelAnswer{Text: usualAnswer(r)}, nil
					}
					return memory.ModelAnswer{Text: prose}, nil
				}
				var ledger ledgerOf
				r := startRig(t, nil, nil, observer.Options{BatchingEnabled: true})
				r.close()
				m := codeMode(t)
				r.choice = func(memory.Session) observer.Choice {
					return observer.Choice{Provider: ledger.booked(r, p), Mode: m, KeepsRuns: test.keeps}
				}
				r.open()
				r.turnsOf("a", 2, 2)
				r.waitIdle()
				if b := r.books(); b.Processed != b.Received {
					t.Errorf("books: %+v, want all processed", b)
				}
				calls := p.all()
				if len(calls) != test.calls {
					t.Fatalf("%d calls, want %d", len(calls), test.calls)
				}
				again := calls[1].Prompt
				if !strings.Contains(again, "held none of the elements") || strings.Contains(again, "src/file") == test.keeps || calls[1].Run != calls[0].Run {
					t.Errorf("the reminder:\n%s", again)
				}
				var observed, offline int
				for _, o := range r.observations() {
					if o.Origin == memory.OriginObserver {
						observed++
					} else {
						offline++
					}
				}
				if observed != test.observed || offline != test.offline {
					t.Errorf("%d observations by the model and %d offline, want %d and %d", observed, offline, test.observed, test.offline)
				}
				if got := r.unread()[memory.UnreadUnusable]; got != test.unread {
					t.Errorf("%d events are booked as unread, want %d", got, test.unread)
				}
				if c := r.lastCall(); c.Answered != test.calls || c.Unusable != test.calls-test.observed {
					t.Errorf("the ledger has %+v", c)
				}
				// A conversation in the wrong form does not go on.
				if test.observed == 0 {
					r.turnsOf("a", 2, 2)
					r.waitIdle()
					if next := p.all()[2]; next.Run == calls[0].Run || len(next.History) != 0 {
						t.Errorf("the next turn goes on in run %s with %d messages", next.Run, len(next.History))
					}
					if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "cannot be used") {
						t.Errorf("notices: %q", got)
					}
				}
			})
		})
	}
}

// TestLastingRefusalIsSaid: a provider that answers everything with status 400.
func TestLastingRefusalIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuses := true
		p := &scripted{name: "p"}
		p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			if refuses {
				return memory.ModelAnswer{}, &memory.ModelError{Provider: "p", Class: memory.ClassGarbage, Status: 400, Err: errors.New("status 400: max_tokens is too large")}
			}
			return memory.ModelAnswer{Text: usualAnswer(r)}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 3, 3)
		time.Sleep(time.Hour)
		r.waitIdle()
		if b := r.books(); b.Processed != b.Received || len(p.all()) != 4 {
			t.Errorf("books %+v after %d calls, want all processed after 4", b, len(p.all()))
		}
		if got := r.unread(); got[memory.UnreadRefused] != 4 {
			t.Errorf("unread: %v, want 4 refused events", got)
		}
		if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "max_tokens is too large") {
			t.Errorf("notices: %q, want one with the provider's words", got)
		}
		refuses = false
		r.turnsOf("a", 3, 3)
		time.Sleep(time.Hour)
		r.waitIdle()
		if got := r.notices(); len(got) != 0 {
			t.Errorf("notices after an answer: %q, want none", got)
		}
	})
}

// TestErrorTextsWait: the text of an error in the place of an answer is a failure of its
// class: nothing is confirmed, the events wait. One that an answer quotes is no failure.
func TestErrorTextsWait(t *testing.T) {
	if testing.Short() {
		t.Skip("16 simulated hours")
	}
	for text, waits := range map[string]bool{
		"401 Unauthorized":                      true,
		"quota exhausted":                       true,
		"overloaded":                            true,
		"Credit balance is too low":             true,
		"Invalid API key · Please run /login":   true,
		"<!DOCTYPE html><title>Sign in</title>": true,
		"<observation><type>bugfix</type><title>401 Unauthorized came from a clock skew</title></observation><skip_summary/>": false,
		"Nothing worth recording.": false,
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p", do: func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
					return memory.ModelAnswer{Text: text}, nil
				}}
				r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
				r.turnsOf("a", 2, 2)
				r.idle()
				b := r.books()
				if waits && (b.Pending != 3 || len(r.notices()) != 1) || !waits && (b.Processed != b.Received || len(r.notices()) != 0) {
					t.Errorf("books %+v, notices %q", b, r.notices())
				}
				time.Sleep(2 * time.Hour)
				r.waitIdle()
				if b := r.books(); b.Processed != b.Received {
					t.Errorf("later: %+v, want all processed", b)
				}
				unread := 0
				for _, n := range r.unread() {
					unread += n
				}
				if want := map[bool]int{true: 3}[waits]; unread != want {
					t.Errorf("%d events are booked as unread, want %d", unread, want)
				}
			})
		})
	}
}
