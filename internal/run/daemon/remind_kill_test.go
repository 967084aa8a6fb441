//go:build unix

package daemon

import (
	"strings"
	"syscall"
	"testing"
)

// TestKilledBeforeBooking kills a worker as soon as it has answered. Its recollection is
// then booked or not: the session gets it at most once more, and not if it was booked.
func TestKilledBeforeBooking(t *testing.T) {
	dir := t.TempDir()
	process := startProcess(t, dir)
	known(t, peerOf(t, dir))
	for _, session := range []string{"s1", "s2", "s3"} {
		gave := 0
		give := func() {
			if strings.Contains(told(t.Context(), t, peerOf(t, dir), reads(session, "money/money.go")), "(#1)") {
				gave++
			}
		}
		if !eventually(func() bool { give(); return gave == 1 }) { // late at first, on a busy machine
			t.Fatalf("session %s was told nothing", session)
		}
		if err := process.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		process = startProcess(t, dir)
		if !eventually(func() bool { give(); return injected(t, dir, session) > 0 }) {
			t.Fatalf("session %s: nothing is booked", session)
		}
		once := gave
		if err := process.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		process = startProcess(t, dir)
		if give(); gave != once {
			t.Errorf("session %s was told again what is booked", session)
		}
		if gave > 2 {
			t.Errorf("session %s was told %d times", session, gave)
		}
	}
}
