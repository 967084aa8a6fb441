package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

// oldRows makes rows of the four tables that are pruned, at times before now.
func oldRows(t *testing.T, m *testStore, days ...int) {
	t.Helper()
	rawExec(t, m.path, "DELETE FROM changes")
	for _, d := range days {
		at := int64(m.clock.at.Add(-time.Duration(d) * day))
		for _, query := range []string{
			"INSERT INTO changes (kind, id, operation, created_at) VALUES ('session', 1, 'update', ?)",
			"INSERT INTO event_log (event_type, data, created_at) VALUES ('lookup', '{\"observations\":[1]}', ?)",
			"INSERT INTO llm_calls (provider, kind, outcome, started_at) VALUES ('x', 'turn', 'ok', ?)",
			"INSERT INTO injections (host, host_session_id, hook_event, created_at) VALUES ('raw', 's', 'SessionStart', ?)",
		} {
			rawExec(t, m.path, query, at)
		}
	}
}

// ages returns the ages in days of the rows of a table, the oldest first.
func ages(t *testing.T, m *testStore, table, column string) string {
	t.Helper()
	text := ""
	for _, row := range rawRows(t, m.path, "SELECT "+column+" FROM "+table+" ORDER BY 1") {
		text += fmt.Sprint(int64(m.clock.at-memory.Millis(row[0].(int64)))/day.Milliseconds(), " ")
	}
	return text
}

func TestPrune(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 0))
	oldRows(t, m, 400, 181, 179, 31, 29, 1)
	m.reopen(t)
	pruned, err := m.Prune(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"changes": 4, "event_log": 2, "llm_calls": 2, "injections": 2}, map[string]int(pruned)); diff != "" {
		t.Error(diff)
	}
	for table, want := range map[string][2]string{
		"changes": {"created_at", "29 1 "}, "event_log": {"created_at", "179 31 29 1 "}, "lookups": {"created_at", "179 31 29 1 "},
		"llm_calls": {"started_at", "179 31 29 1 "}, "injections": {"created_at", "179 31 29 1 "},
	} {
		if got := ages(t, m, table, want[0]); got != want[1] {
			t.Errorf("%s has rows of %s days, want %s", table, got, want[1])
		}
	}
	if oldest, newest, err := m.ChangeRange(context.Background()); err != nil || newest-oldest != 1 {
		t.Errorf("the feed is %d to %d, %v; want the last two", oldest, newest, err)
	}
}

// TestPruneWithWrongClock: a clock that is a year ahead makes no row old but those of a
// week, and one that is set back none at all.
func TestPruneWithWrongClock(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 0))
	oldRows(t, m, 181, 179, 170, 100, 1)
	today := m.clock.at
	left := func(want string) {
		t.Helper()
		if _, err := m.Prune(context.Background()); err != nil {
			t.Fatal(err)
		}
		now := m.clock.at
		m.clock.at = today
		if got := ages(t, m, "event_log", "created_at"); got != want {
			t.Errorf("rows of %s days are left, want %s", got, want)
		}
		m.clock.at = now
	}
	m.clock.at = today.Add(365 * day)
	left("170 100 1 ") // a week ahead at most
	left("170 100 1 ") // and not again on the same day
	m.clock.at = today.Add(-365 * day)
	left("170 100 1 ")
	m.clock.at = today.Add(day)
	left("170 100 1 ")
	// A computer that was off for a year catches up.
	m.clock.at = today.Add(365 * day)
	for range 60 {
		m.clock.at = m.clock.at.Add(day)
		if _, err := m.Prune(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	left("")
}

func TestVacuum(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 0))
	for range 40 {
		rawExec(t, m.path, "INSERT INTO notices (key, text, created_at) VALUES (hex(randomblob(8)), hex(randomblob(100000)), 1)")
	}
	size := func() int64 {
		t.Helper()
		if err := m.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(m.path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	full := size()
	rawExec(t, m.path, "DELETE FROM notices")
	given, err := m.Vacuum(context.Background(), 1<<20)
	if after := size(); err != nil || given < 6<<20 || full-after < given {
		t.Errorf("gave back %d, %v; the file had %d bytes and has %d", given, err, full, after)
	}
	if again, err := m.Vacuum(context.Background(), 1<<20); err != nil || again != 0 {
		t.Errorf("gave back %d again, %v", again, err)
	}
}

// logBytes is the size of the memory's write-ahead log.
func (m *testStore) logBytes(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(m.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestTrimLog: a log of some MB is gone afterwards, and what was in it is in the database. A
// reader keeps it, without an error.
func TestTrimLog(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	payload := json.RawMessage(`"` + strings.Repeat("x", 60_000) + `"`)
	for n := range 60 {
		m.enqueue(t, event(memory.KindTool, "s", fmt.Sprint("e", n), memory.Millis(n), func(a *memory.Arrival) { a.Event.ToolResponse = payload }))
	}
	before := m.logBytes(t)
	if before < 3<<20 {
		t.Fatalf("the log has %d bytes, the test wants some MB", before)
	}
	if given, err := m.TrimLog(ctx, before); given != 0 || err != nil || m.logBytes(t) != before {
		t.Errorf("a log of the size that it may keep: %d bytes given back, %v", given, err)
	}
	db := rawOpen(t, m.path)
	defer func() { _ = db.Close() }()
	reading, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var events int
	if err := reading.QueryRow("SELECT count(*) FROM events").Scan(&events); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s", "last", 100))
	if given, err := m.TrimLog(ctx, 0); given != 0 || err != nil {
		t.Errorf("with a reader in the way: %d bytes given back, %v", given, err)
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	if given, err := m.TrimLog(ctx, 1<<20); given < before || err != nil || m.logBytes(t) != 0 {
		t.Errorf("%d bytes given back of %d, %d left, %v", given, before, m.logBytes(t), err)
	}
	// The database alone has everything.
	alone := filepath.Join(t.TempDir(), "memory.db")
	b, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := rawRows(t, alone, "SELECT count(*) FROM events")[0][0]; got != int64(61) {
		t.Errorf("%v events in the database, want 61", got)
	}
	m.audited(t)
}
