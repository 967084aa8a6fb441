package db

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTellAfter has commits wake a follower once: tellAfter after the last of them, and after tellMost where
// they do not end.
func TestTellAfter(t *testing.T) {
	const pause = 3 * time.Millisecond
	for commits, want := range map[int]time.Duration{1: tellAfter, 2: tellAfter + pause, 3: tellAfter + 2*pause, 1000: tellMost} {
		synctest.Test(t, func(t *testing.T) {
			var s DB
			changed, stop := s.Follow()
			defer stop()
			<-changed // as each follower at its start
			for round := range int64(3) {
				begun, woken := time.Now(), false
				for n := int64(1); !woken; n++ {
					if n <= int64(commits) {
						s.feed.tell(1000*round + n)
					}
					select {
					case <-changed:
						woken = true
					case <-time.After(pause):
					}
				}
				if took := time.Since(begun); took != want {
					t.Errorf("%d commits: woken %v after the first, want %v", commits, took, want)
				}
				time.Sleep(time.Second)
				if len(changed) > 0 {
					t.Error("woken twice")
				}
			}
		})
	}
}
