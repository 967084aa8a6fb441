package hook

import (
	"testing"
	"time"
)

// TestStatedDeadlines has the bounds of each hook as they were promised.
func TestStatedDeadlines(t *testing.T) {
	for verb, want := range map[Verb]struct {
		budget  time.Duration
		timeout int
	}{
		VerbSave: {250 * time.Millisecond, 5}, VerbSummary: {250 * time.Millisecond, 5}, VerbNew: {400 * time.Millisecond, 5},
		VerbEnd: {500 * time.Millisecond, 2}, VerbContext: {2 * time.Second, 10},
	} {
		if got := verb.times(); got.budget != want.budget || got.timeout != want.timeout {
			t.Errorf("%s: %v and %d s of the host, want %v and %d s", verb, got.budget, got.timeout, want.budget, want.timeout)
		}
	}
	if workerTime != 1200*time.Millisecond || fallbackTime != 600*time.Millisecond {
		t.Errorf("context waits %v for the worker and %v for the big binary", workerTime, fallbackTime)
	}
}
