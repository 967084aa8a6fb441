//go:build unix && slow

package observer

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"

	"claudemem/proof/acceptance/world"
)

// TestProviderAway has a provider that is down for 200 events and then back. It
// waits for minutes, as the queue does, and so has a tag of its own; with a clock
// of its own, TestProviderDownAndBack of the observer shows the same in every run.
func TestProviderAway(t *testing.T) {
	t.Parallel() // it mostly waits
	const events, perTurn = 200, 10
	var down atomic.Bool
	down.Store(true)
	api := world.NewStandIn(t, func(*world.Asked) world.Reply {
		if down.Load() {
			return world.Reply{Status: http.StatusServiceUnavailable, RetryAfter: "1"}
		}
		return world.Reply{}
	})
	m := world.NewMemory(t)
	m.Configure(api.With("openai", "BATCH_MAX_SIZE", "10"))
	m.MustCommand("worker", "start")
	sessions := []*world.Host{{M: m, ID: "away-a"}, {M: m, ID: "away-b"}}
	told, looks := 0, 0
	look := func() {
		looks++
		told += bytes.Count((&world.Host{M: m, ID: fmt.Sprint("look-", looks)}).Start().Stdout, []byte("does not answer"))
	}
	for n := range events {
		h := sessions[n/perTurn%2]
		if n%perTurn == 0 {
			h.Prompt(fmt.Sprintf("Part %d", n/perTurn+1))
		}
		h.Edit(fmt.Sprintf("src/step_%03d.go", n), fmt.Sprintf("// mark-%03d", n))
		if n%perTurn == perTurn-1 {
			h.Stop()
			look()
		}
	}
	world.Until(t, world.SettleLimit, "the user is told", func() bool { look(); return told > 0 })
	look()
	failed := api.Count()
	if b := m.Books(); b.Processed > len(sessions)*20 || b.Pending+b.Processing < events {
		t.Errorf("while the provider is away: books %+v", b)
	}
	down.Store(false)
	// The queue asks again after a minute, which a busy machine makes longer.
	b := m.Settle(5 * world.SettleLimit)
	if b.Processed != b.Received || b.Failed != 0 || !b.Balanced() {
		t.Errorf("books %+v, want all processed", b)
	}
	look()
	// Each event was shown in exactly one call that was answered.
	shown := map[string]int{}
	mark := regexp.MustCompile(`mark-\d{3}`)
	answered := 0
	for _, c := range api.Calls() {
		if !c.Answered {
			continue
		}
		answered++
		inCall := map[string]bool{}
		for _, s := range mark.FindAllString(c.Prompt, -1) {
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
	if offline := m.QueryOne("SELECT count(*) FROM observations WHERE origin = 'offline'"); offline > 0 {
		t.Errorf("%d observations were made without the provider, which came back in time", offline)
	}
	if told != 1 {
		t.Errorf("the user was told %d times, want once", told)
	}
	world.Figure(t, 5, "down for %d events (%d refused calls), then %d calls: %d processed, %d twice, told %d time", events, failed, answered, len(shown), twice, told)
}
