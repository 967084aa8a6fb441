package observer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// chooseAuto is chooseAlways for a provider that nobody has named.
func chooseAuto(t *testing.T, p model.Provider) func(memory.Session) observer.Choice {
	m := codeMode(t)
	return func(memory.Session) observer.Choice {
		return observer.Choice{Provider: p, Mode: m, KeepsRuns: true, Auto: true}
	}
}

// switched is a provider that fails with an error of class until it is granted.
func switched(class memory.ErrorClass) (p *scripted, granted *atomic.Bool) {
	granted = new(atomic.Bool)
	p = keepingProvider("p")
	p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
		if !granted.Load() {
			return memory.ModelAnswer{}, fails(class)
		}
		return memory.ModelAnswer{Text: usualAnswer(r)}, nil
	}
	return p, granted
}

// origins counts the observations and summaries of a session by who made them.
func (r *rig) origins(session memory.SessionID) string {
	r.t.Helper()
	counts := map[memory.Origin]int{}
	for _, o := range r.observations() {
		counts[o.Origin]++
	}
	summaries, err := r.store.SessionSummaries(context.Background(), session, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	of := map[memory.Origin]int{}
	for _, s := range summaries {
		of[s.Origin]++
	}
	return fmt.Sprintf("%d offline, %d observer; %d offline, %d observer", counts[memory.OriginOffline], counts[memory.OriginObserver], of[memory.OriginOffline], of[memory.OriginObserver])
}

// audited fails the test when the books are out of order.
func (r *rig) audited() {
	r.t.Helper()
	if found, err := r.store.Audit(context.Background()); err != nil || len(found) > 0 {
		r.t.Errorf("audit: %v, %v", found, err)
	}
	r.books()
}

// TestRefusedLoginOfAuto: a turn does not wait for a login that nobody has promised. It is
// remembered at once, and by the model when the login is granted, in the same rows.
func TestRefusedLoginOfAuto(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassLogin)
		r := startRig(t, chooseAuto(t, p), nil, observer.Options{BatchingEnabled: true, MaxObservers: 2})
		r.turnsOf("a", 2, 2)
		r.waitIdle()
		if b := r.books(); b.Processed != b.Received {
			t.Fatalf("books: %+v, want all processed at once", b)
		}
		if got, want := r.origins(1), "1 offline, 0 observer; 1 offline, 0 observer"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "remembered without a model, and again with it") {
			t.Errorf("notices: %q", got)
		}
		before := r.observations()[0]
		for range 20 { // in 10 minutes
			time.Sleep(30 * time.Second)
			r.turnsOf("a", 2, 2)
			r.waitIdle()
		}
		if n := len(p.all()); n > 5 {
			t.Errorf("%d calls in 10 minutes to a provider that refuses the login, want few", n)
		}
		if got := r.unread()["login"]; got != 63 {
			t.Errorf("%d events unread, want 63", got)
		}
		session, err := r.store.Session(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		granted.Store(true)
		time.Sleep(40 * time.Minute)
		r.idle()
		if got, want := r.origins(1), "0 offline, 21 observer; 0 offline, 21 observer"; got != want {
			t.Errorf("after it was granted %s, want %s", got, want)
		}
		if after := r.observations()[0]; after.ID != before.ID || after.ULID != before.ULID || after.CreatedAt != before.CreatedAt || after.Title == before.Title {
			t.Errorf("%+v became %+v, want another text in the same row", before, after)
		}
		if got := r.unread(); len(got) != 0 || len(r.notices()) != 0 {
			t.Errorf("unread %v, notices %q, want none", got, r.notices())
		}
		if now, err := r.store.Session(context.Background(), 1); err != nil || now.MemorySessionID != session.MemorySessionID {
			t.Errorf("the session's run is %q, %v, want %q as before: a redo has its own", now.MemorySessionID, err, session.MemorySessionID)
		}
		if runs := len(p.ended); runs < 21 {
			t.Errorf("%d runs ended, want the one of each of 21 redos", runs)
		}
		r.audited()
	})
}

// TestRedoDoesNotShowTheFirstPass: the model is not told what was recorded of the turn
// without it, and is told of the other turns.
func TestRedoDoesNotShowTheFirstPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassLogin)
		r := startRig(t, chooseAuto(t, p), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 2, 2)
		r.waitIdle()
		first := r.observations()[0].Title
		r.turnsOf("a", 2, 2)
		r.waitIdle()
		second := r.observations()[1].Title
		granted.Store(true)
		asked := len(p.all())
		r.model.AskAgain()
		if _, err := r.observer.RetryUnread(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		r.idle()
		got := p.all()[asked:]
		if len(got) != 2 {
			t.Fatalf("%d calls, want one for each turn", len(got))
		}
		if strings.Contains(got[0].Prompt, second) || !strings.Contains(got[0].Prompt, first) {
			t.Errorf("the newest turn is asked about first, and shows %q, not %q:\n%s", first, second, got[0].Prompt)
		}
		if strings.Contains(got[1].Prompt, first) {
			t.Errorf("the older turn shows its own first record:\n%s", got[1].Prompt)
		}
	})
}

// TestLastingRefusal: a provider that refuses everything is asked a few times, then now and
// then; what it has not read says why, and is read when it answers.
func TestLastingRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassGarbage)
		r := startRig(t, chooseAlways(t, p, true), nil, observer.Options{BatchingEnabled: true})
		for range 30 {
			r.turnsOf("a", 4, 4)
			time.Sleep(20 * time.Second)
		}
		r.waitIdle()
		r.idle()
		if b := r.books(); b.Processed != b.Received {
			t.Errorf("books: %+v, want all processed", b)
		}
		if n := len(p.all()); n > 8 {
			t.Errorf("%d calls for 30 turns in 10 minutes, want 4 and few probes", n)
		}
		if got := r.unread()[memory.UnreadRefused]; got != 150 {
			t.Errorf("%d events refused, want 150", got)
		}
		if got := r.notices(); len(got) != 1 || !strings.Contains(got[0], "refuses what it is asked") {
			t.Errorf("notices: %q", got)
		}
		granted.Store(true)
		time.Sleep(3 * time.Hour)
		r.idle()
		if got := r.unread(); len(got) != 0 {
			t.Errorf("unread %v, want none", got)
		}
		r.audited()
	})
}

// TestRedoesAreFewAndGiveWay: kept turns are read one after the other, slowly, and a fresh
// turn does not wait for one.
func TestRedoesAreFewAndGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassLogin)
		var slow atomic.Bool
		answer := p.do
		p.do = func(n int, q memory.ModelRequest) (memory.ModelAnswer, error) {
			if q.Redo && slow.Load() {
				time.Sleep(5 * time.Minute)
			}
			return answer(n, q)
		}
		r := startRig(t, chooseAuto(t, p), nil, observer.Options{BatchingEnabled: true, MaxObservers: 1})
		for range 40 {
			r.turnsOf("a", 2, 2)
			r.waitIdle()
		}
		granted.Store(true)
		asked := len(p.all())
		r.model.AskAgain()
		if n, err := r.observer.RetryUnread(context.Background()); n != 120 || err != nil {
			t.Fatalf("%d events, %v, want 120", n, err)
		}
		time.Sleep(2 * time.Minute)
		r.idle()
		if n := len(p.all()) - asked; n < 10 || n > 13 {
			t.Errorf("%d redos in two minutes, want one in 10 s", n)
		}
		slow.Store(true)
		time.Sleep(time.Minute)
		r.idle()
		start := time.Now()
		r.turnsOf("b", 2, 2)
		r.waitIdle()
		if b := r.books(); b.Processed != b.Received || time.Since(start) > time.Second {
			t.Errorf("after %v %+v, want the fresh turn distilled at once", time.Since(start), b)
		}
		slow.Store(false)
		time.Sleep(time.Hour)
		r.idle()
		if got := r.unread(); len(got) != 0 {
			t.Errorf("unread %v, want none", got)
		}
		r.audited()
	})
}

// TestTurnThatCannotBeRead: a turn that a model refuses again is left alone after two tries,
// until somebody asks for it.
func TestTurnThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		p.do = func(_ int, r memory.ModelRequest) (memory.ModelAnswer, error) {
			return memory.ModelAnswer{Text: prose}, nil
		}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true})
		r.turnsOf("a", 2, 2)
		time.Sleep(48 * time.Hour)
		r.idle()
		if n := len(p.all()); n != 6 {
			t.Errorf("%d calls in two days, want 3 times 2", n)
		}
		if got := r.unread()[memory.UnreadUnusable]; got != 3 {
			t.Errorf("%d events unread, want 3", got)
		}
		p.mu.Lock()
		p.do = nil
		p.mu.Unlock()
		if n, err := r.observer.RetryUnread(context.Background()); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		time.Sleep(time.Minute)
		r.idle()
		if got := r.unread(); len(got) != 0 {
			t.Errorf("unread %v, want none", got)
		}
	})
}

// TestKilledDuringRedo: a worker that dies between the model's answer and the commit leaves
// the turn as it was; the next worker redoes it, once.
func TestKilledDuringRedo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassLogin)
		image := filepath.Join(t.TempDir(), "memory.db")
		r := startRig(t, chooseAuto(t, p), nil, observer.Options{BatchingEnabled: true})
		answer := p.do
		copied := false
		copyDisk := sync.OnceFunc(func() { // what the disk holds while the answers are on their way: all of them wait for it
			copied = true
			for _, suffix := range []string{"", "-wal"} {
				content, err := os.ReadFile(filepath.Join(r.dir, "memory.db") + suffix)
				if err == nil {
					err = os.WriteFile(image+suffix, content, 0o600)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		p.do = func(n int, q memory.ModelRequest) (memory.ModelAnswer, error) {
			if q.Redo {
				copyDisk()
			}
			return answer(n, q)
		}
		r.turnsOf("a", 2, 2)
		r.waitIdle()
		granted.Store(true)
		time.Sleep(40 * time.Minute)
		r.idle()
		r.close()
		r.dir = filepath.Dir(image)
		granted.Store(false) // the next worker waits until it was looked at
		r.open()
		if got, want := r.origins(1), "1 offline, 0 observer; 1 offline, 0 observer"; got != want || !copied {
			t.Errorf("after the kill %s, want %s", got, want)
		}
		granted.Store(true)
		time.Sleep(40 * time.Minute)
		r.idle()
		if got, want := r.origins(1), "0 offline, 1 observer; 0 offline, 1 observer"; got != want {
			t.Errorf("the next worker made %s, want %s", got, want)
		}
		r.audited()
	})
}

// TestRedoLeavesHalfTheDay: redos stop at half of the day's cap.
func TestRedoLeavesHalfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, granted := switched(memory.ClassLogin)
		ledger := ledgerOf{caps: accounts.Caps{Day: 120_000}}
		r := startRig(t, nil, nil, observer.Options{BatchingEnabled: true})
		r.close()
		m := codeMode(t)
		r.choice = func(memory.Session) observer.Choice {
			return observer.Choice{Provider: ledger.booked(r, p), Mode: m, Auto: true}
		}
		r.open()
		for range 40 {
			r.turnsOf("a", 2, 2)
			r.waitIdle()
		}
		granted.Store(true)
		time.Sleep(3 * time.Hour)
		r.idle()
		sum, err := r.store.Spending(context.Background(), 0, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if used := tokens(sum.Total); used > 60_000 || used < 30_000 {
			t.Errorf("redos used %d of 120000 tokens, want up to half", used)
		}
		if got := r.notices(); len(got) != 0 {
			t.Errorf("notices %q: fresh work has its cap", got)
		}
		r.turnsOf("b", 2, 2)
		r.waitIdle()
		if s, err := r.store.SessionSummaries(context.Background(), 2, 0); err != nil || len(s) != 1 || s[0].Origin != memory.OriginObserver {
			t.Errorf("a fresh turn made %+v, %v, want the model's summary", s, err)
		}
	})
}

// TestSkippedAtTheClaim: an event that the user no longer wants captured when its turn is
// claimed is not shown to the model, and is booked as skipped; the rest of the turn is read.
func TestSkippedAtTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p"}
		forbidden := ""
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{BatchingEnabled: true, Renew: func(e *memory.PendingEvent) string {
			if forbidden == "" && e.Event.Kind == memory.KindTool {
				forbidden = e.Key
			}
			if e.Key == forbidden {
				return memory.SkipExcluded
			}
			return ""
		}})
		r.turnsOf("a", 3, 3)
		r.waitIdle()
		if b := r.books(); b.Skipped != 1 || b.Pending+b.Processing+b.Failed != 0 {
			t.Errorf("books %+v, want one event skipped and none waiting", b)
		}
		files := map[string]bool{}
		for _, q := range p.all() {
			for _, m := range filePath.FindAllStringSubmatch(q.Prompt, -1) {
				files[m[1]] = true
			}
		}
		if len(files) != 2 {
			t.Errorf("the model was shown %d files, want the 2 of the events that are left", len(files))
		}
		r.audited()
	})
}
