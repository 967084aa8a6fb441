package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestLogIsTrimmed: the log of a large batch is cut some time after it, and the index alone
// has everything. Until then it stays.
func TestLogIsTrimmed(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	timer := make(chan time.Time)
	feed := newMemoryFeed()
	path := filepath.Join(t.TempDir(), "index.db")
	ix, err := Open(t.Context(), path, feed, Options{
		Clock: func() time.Time { return time.Unix(0, now.Load()) },
		After: func(time.Duration) <-chan time.Time { return timer },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	for n := range 500 {
		var text strings.Builder
		for i := range 100 {
			fmt.Fprintf(&text, "word%dx%d ", n, i)
		}
		feed.put(observation(int64(n+1), fmt.Sprintf("Title %d", n), text.String()))
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	timer <- time.Time{} // too early
	timer <- time.Time{} // the follower has come round
	if size() <= keptLog {
		t.Fatalf("the log has %d bytes before its time", size())
	}
	now.Add(int64(trimAfter))
	for end := time.Now().Add(time.Minute); size() > 0; time.Sleep(time.Millisecond) {
		select {
		case timer <- time.Time{}:
		default: // the follower may have seen the time already, and waits for nothing then
		}
		if time.Now().After(end) {
			t.Fatalf("the log still has %d bytes", size())
		}
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkContents(t, ix, feed)
}
