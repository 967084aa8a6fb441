package index

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
)

// segments counts the segments of the full-text index.
func segments(t *testing.T, ix *Index) (n int) {
	t.Helper()
	b, done, err := ix.current()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if err := b.reader.QueryRowContext(t.Context(), "SELECT count(DISTINCT segid) FROM texts_idx").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTidy: after a build of many records the full-text index is one segment. Where there is no
// room for that, or it is interrupted, the index answers as before.
func TestTidy(t *testing.T) {
	feed := newMemoryFeed()
	for i := range int64(tidyFrom + 500) {
		feed.put(observation(i+1, fmt.Sprintf("Retry %d of the cart's cache", i), fmt.Sprintf("The slow query number %d held the lock of worker%d until its token expired.", i, i%7)))
	}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	if n := segments(t, ix); n != 1 {
		t.Errorf("%d segments after a build", n)
	}
	feed.put(observation(9_999, "Another login", "The token of the login expired."))
	catchUp(t, ix)
	if n := segments(t, ix); n < 2 {
		t.Fatalf("%d segments after another record: nothing to tidy up", n)
	}
	before := answersTo(t, ix)

	var pages int
	if err := ix.base.conn.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := ix.base.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages)
	if err := ix.tidy(t.Context(), ix.base); err != nil {
		t.Errorf("without room: %v", err)
	}
	if n := segments(t, ix); n < 2 {
		t.Error("there was room")
	}
	limit(1 << 30)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ix.tidy(cancelled, ix.base); err == nil {
		t.Error("interrupted: no error")
	}
	if got := answersTo(t, ix); !reflect.DeepEqual(got, before) {
		t.Error("it answers otherwise")
	}
	if _, err := ix.base.conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 50"); err != nil { // or it waits for the reader
		t.Fatal(err)
	}
	reader, err := ix.base.reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (n int) {
		if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM contents").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	records := read()
	if err := ix.tidy(t.Context(), ix.base); err != nil {
		t.Errorf("beside a reader: %v", err)
	}
	if n := read(); n != records {
		t.Errorf("the reader counts %d records, and %d before", n, records)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := segments(t, ix); n != 1 {
		t.Errorf("%d segments at last", n)
	}
	if got := answersTo(t, ix); !reflect.DeepEqual(got, before) {
		t.Error("tidied up, it answers otherwise")
	}
	if err := ix.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := segments(t, ix); n != 1 {
		t.Errorf("%d segments after Reindex", n)
	}
	checkContents(t, ix, feed)
}
