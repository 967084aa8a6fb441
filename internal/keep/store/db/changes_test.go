package db

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTellAfter has commits wake a follower once, tellAfter after the first of them.
func TestTellAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s DB
		changed, stop := s.Follow()
		defer stop()
		<-changed // as each follower at its start
		for seq := int64(1); seq <= 6; seq++ {
			begun := time.Now()
			s.feed.tell(seq, tellAfter)
			time.Sleep(tellAfter / 2)
			seq++
			s.feed.tell(seq, tellAfter)
			<-changed
			if took := time.Since(begun); took != tellAfter {
				t.Errorf("woken %v after a commit, want %v", took, tellAfter)
			}
			synctest.Wait()
			if len(changed) > 0 {
				t.Error("woken twice")
			}
		}
	})
}
