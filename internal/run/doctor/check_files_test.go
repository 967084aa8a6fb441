package doctor

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// TestLostEvents: an event that the worker took in after its hook had given it up is not lost.
func TestLostEvents(t *testing.T) {
	dir := t.TempDir()
	db := openMemory(t, dir)
	now := memory.MillisOf(time.Now())
	lost := func() string {
		for _, f := range Examine(t.Context(), Config{DataDir: dir, Getenv: environment()}).Findings {
			if f.Name == "event-lost" {
				count, _, _ := strings.Cut(f.Text, " from ")
				return count
			}
		}
		return ""
	}
	lose := func(delivery string) {
		if err := wire.LossesOf(dir, environment()).Add(memory.Loss{DeliveryID: delivery, At: now, Worker: "no answer in time", Hook: "no space left on device"}); err != nil {
			t.Fatal(err)
		}
	}
	event := memory.Event{
		Kind: memory.KindPrompt, Host: memory.HostClaudeCode, HostSessionID: "s", ProjectPath: "/p", Prompt: "why", OccurredAt: now, DeliveryID: "taken",
	}
	if _, err := db.Enqueue(t.Context(), memory.Arrival{Event: event, Key: "k", ReceivedAt: now}); err != nil {
		t.Fatal(err)
	}
	lose("taken")
	write(t, filepath.Join(dir, "logs", "hook.log"), `{"time":"`+time.Now().Format(time.RFC3339)+`","msg":"`+hook.EventLost+`: spool"}`)
	if got := lost(); got != "" {
		t.Errorf("found %q, want nothing", got)
	}
	lose("gone")
	if got := lost(); got != "1 event lost" {
		t.Errorf("found %q, want 1", got)
	}
}

// TestNotUnderstood: payloads of which the hooks could make nothing are counted, with what the last one had.
func TestNotUnderstood(t *testing.T) {
	dir := t.TempDir()
	line := func(at time.Time, last string) string {
		return `{"time":"` + at.Format(time.RFC3339) + `","msg":"` + hook.NotUnderstood + `","error":"unknown: no session id; members: ` + last + `"}` + "\n"
	}
	now := time.Now()
	write(t, filepath.Join(dir, "logs", "hook.log"), line(now.AddDate(0, 0, -3), "old")+line(now.Add(-time.Hour), "a")+line(now, "b, c"))
	found := map[string]string{}
	for _, f := range Examine(t.Context(), Config{DataDir: dir, Getenv: environment()}).Findings {
		found[f.Name] = f.Text
	}
	got := found["not-understood"]
	if !strings.HasPrefix(got, "2 payloads of other programs not understood since ") || !strings.HasSuffix(got, "the last was of unknown: no session id; members: b, c") || found["hook-errors"] != "" {
		t.Errorf("found %q, errors %q", got, found["hook-errors"])
	}
}
