package devices

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestGently: an exchange that nobody waits for brings the same as another one, edits and what was forgotten too, and ends when it is told to.
func TestGently(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.options.Gently, b.options.Gently = true, true
	for i := range 40 {
		a.remember(fmt.Sprintf("fact %d.", i))
	}
	share(t, a, b)
	for i := range 12 {
		a.edit(fmt.Sprintf("fact %d.", i), fmt.Sprintf("fact %d. edited", i))
		b.edit(fmt.Sprintf("fact %d.", i+6), fmt.Sprintf("fact %d. edited too", i+6))
	}
	a.forget("fact 30.")
	rounds(3, a, b)
	same(t, a, b)
	if a.find("fact 30.") != 0 || b.find("fact 30.") != 0 || b.find("fact 39.") == 0 {
		t.Error("something is lost or back")
	}
	a.remember("last.")
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := Sync(ctx, a.store, a.options); err == nil {
		t.Error("an exchange that was to end did not")
	}
	rounds(2, a, b)
	same(t, a, b)
}
