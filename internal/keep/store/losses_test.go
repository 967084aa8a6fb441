package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestBookLosses books each loss once, without those that were stored after all, and tells
// the user of all that he was not told of.
func TestBookLosses(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "late", 10))
	book := func(id string, count int64, deliveries string, want int) {
		t.Helper()
		lost, err := m.BookLosses(ctx, memory.LossRecord{
			ID: id, Count: count, Recent: count, First: 100 + memory.Millis(count), Last: 200, Deliveries: strings.Split(deliveries, " "),
		}, func(count int, from memory.Millis) string { return fmt.Sprintf("%d from %d", count, from) })
		if err != nil || lost != want {
			t.Errorf("%s with %d: %d lost, %v, want %d", id, count, lost, err, want)
		}
	}
	told := func(want string) {
		t.Helper()
		texts, err := m.TakeNotices(ctx)
		if got := strings.Join(texts, "|"); err != nil || got != want {
			t.Errorf("told %q, %v, want %q", got, err, want)
		}
	}
	book("a", 0, "", 0)
	told("")
	book("a", 3, "x late y", 2)
	book("a", 3, "x late y", 0)
	book("a", 4, "x late y z", 1)
	told("3 from 103")
	book("a", 5, "x late y z late", 0) // stored meanwhile
	told("")
	book("a", 6, "x late y z late v", 1)
	book("b", 1, "w", 1) // a record that was made anew, or another
	told("2 from 101")
	book("a", 1006, "q", 1000) // more than there is room for ids
	told("1000 from 1106")
	book("a", 1007, "q", 1)
	book("c", 1, "q", 1)
	if books := m.books(t); books.Lost != 1007 || books.Received != 1 || !books.Balanced() {
		t.Errorf("books %+v, want 1007 lost", books)
	}
}
