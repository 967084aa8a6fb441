//go:build unix && slow

package acceptance

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
)

// TestProviderAway has a provider that is down for 200 events and then back. It
// waits for minutes, as the queue does, and so has a tag of its own; with a clock
// of its own, TestProviderDownAndBack of the observer shows the same in every run.
func TestProviderAway(t *testing.T) {
	t.Parallel() // it mostly waits
	const events, perTurn = 200, 10
	var down atomic.Bool
	down.Store(true)
	api := newStandIn(t, func(*asked) reply {
		if down.Load() {
			return reply{status: http.StatusServiceUnavailable, retryAfter: "1"}
		}
		return reply{}
	})
	m := newMemory(t)
	m.configure(api.with("openai", "BATCH_MAX_SIZE", "10"))
	m.mustCommand("worker", "start")
	sessions := []*host{{m: m, id: "away-a"}, {m: m, id: "away-b"}}
	told, looks := 0, 0
	look := func() {
		looks++
		told += bytes.Count((&host{m: m, id: fmt.Sprint("look-", looks)}).start().stdout, []byte("does not answer"))
	}
	for n := range events {
		h := sessions[n/perTurn%2]
		if n%perTurn == 0 {
			h.prompt(fmt.Sprintf("Part %d", n/perTurn+1))
		}
		h.edit(fmt.Sprintf("src/step_%03d.go", n), fmt.Sprintf("// mark-%03d", n))
		if n%perTurn == perTurn-1 {
			h.stop()
			look()
		}
	}
	until(t, settleLimit, "the user is told", func() bool { look(); return told > 0 })
	look()
	failed := api.count()
	if b := m.books(); b.Processed > len(sessions)*20 || b.Pending+b.Processing < events {
		t.Errorf("while the provider is away: books %+v", b)
	}
	down.Store(false)
	// The queue asks again after a minute, which a busy machine makes longer.
	b := m.settle(5 * settleLimit)
	if b.Processed != b.Received || b.Failed != 0 || !b.Balanced() {
		t.Errorf("books %+v, want all processed", b)
	}
	look()
	// Each event was shown in exactly one call that was answered.
	shown := map[string]int{}
	mark := regexp.MustCompile(`mark-\d{3}`)
	answered := 0
	for _, c := range api.calls() {
		if !c.answered {
			continue
		}
		answered++
		inCall := map[string]bool{}
		for _, s := range mark.FindAllString(c.prompt, -1) {
			inCall[s] = true
		}
		for s := range inCall {
			shown[s]++
		}
	}
	twice := 0
	for _, n := range shown {
		if n > 1 {
			twice++
		}
	}
	if len(shown) != events || twice > 0 {
		t.Errorf("%d events were shown, %d of them twice; want %d and 0", len(shown), twice, events)
	}
	if offline := m.one("SELECT count(*) FROM observations WHERE origin = 'offline'"); offline > 0 {
		t.Errorf("%d observations were made without the provider, which came back in time", offline)
	}
	if told != 1 {
		t.Errorf("the user was told %d times, want once", told)
	}
	figure(t, 5, "down for %d events (%d refused calls), then %d calls: %d processed, %d twice, told %d time", events, failed, answered, len(shown), twice, told)
}
