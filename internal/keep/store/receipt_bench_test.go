package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// busyYears fills a memory with 5,000 sessions, 100,000 observations, 500,000
// events, 30,000 injections and 10,000 lookups, by way of SQL: they would take
// minutes to come in one by one.
func busyYears(b *testing.B) *store.Store {
	b.Helper()
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "memory.db")
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		b.Fatal(err)
	}
	const count = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
	for _, fill := range []struct {
		n     int
		query string
	}{
		{5_000, `INSERT INTO sessions (ulid, host, host_session_id, project, label, started_at, updated_at, event_count)
			SELECT printf('%026d', i), 'claude-code', printf('%08x-77a3-4d4b-9a53-000000000000', i), '/home/dev/shop', 'shop', i * 1000000, i * 1000000 + 900000, 100 FROM n`},
		{100_000, `INSERT INTO observations (ulid, session_id, project, type, title, narrative, content_hash, discovery_tokens, created_at)
			SELECT printf('%026d', i), i / 20 + 1, '/home/dev/shop', 'change', 'Change ' || i, printf('%.400c', 'x'), i, 500, i * 50000 FROM n`},
		{500_000, `INSERT INTO events (event_key, delivery_id, session_id, kind, tool_name, prompt_id, occurred_at, received_at, outcome, reason)
			SELECT printf('tool:claude-code:%08x:toolu_%024d', i / 100, i), printf('%032d', i), i / 100 + 1,
				CASE i % 20 WHEN 0 THEN 'prompt' WHEN 19 THEN 'stop' ELSE 'tool' END,
				CASE i % 20 WHEN 0 THEN '' WHEN 19 THEN '' ELSE substr('BashReadEditGrep', i % 4 * 4 + 1, 4) END,
				printf('%036d', i / 20), i * 10000, i * 10000, CASE WHEN i % 4 = 3 AND i % 20 <> 19 THEN 'skipped' ELSE 'processed' END,
				CASE WHEN i % 4 = 3 AND i % 20 <> 19 THEN 'tool' ELSE '' END FROM n`},
		{30_000, `INSERT INTO injections (session_id, host, host_session_id, hook_event, source, observations, layers, tokens, created_at)
			SELECT i / 6 + 1, 'claude-code', printf('%08x-77a3-4d4b-9a53-000000000000', i / 6), CASE i % 6 WHEN 0 THEN 'SessionStart' ELSE 'UserPromptSubmit' END,
				CASE i % 6 WHEN 0 THEN 'startup' ELSE 'prompt' END, json_array(i * 3 % 100000 + 1, i * 7 % 100000 + 1),
				printf('[{"name":"%.200c"}]', 'x'), 300, i * 150000 FROM n`},
		{10_000, `INSERT INTO event_log (event_type, session_id, data, created_at)
			SELECT 'lookup', i / 2 + 1, json_object('observations', json_array(i * 7 % 100000 + 1)), i * 500000 FROM n`},
		{10_000, `INSERT INTO llm_calls (session_id, provider, model, kind, tokens_in, tokens_out, outcome, started_at)
			SELECT i / 2 + 1, 'anthropic', 'haiku', 'turn', 3000, 300, 'ok', i * 500000 FROM n`},
	} {
		if _, err := db.Exec(fmt.Sprintf(count, fill.n) + fill.query); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	if s, err = store.Open(ctx, path, store.Options{Clock: func() time.Time { return time.UnixMilli(6e9) }}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkReceipt measures what people wait for who ask what became of a session.
func BenchmarkReceipt(b *testing.B) {
	ctx := context.Background()
	s := busyYears(b)
	for _, id := range []memory.SessionID{1, 2500, 5000} {
		b.Run(fmt.Sprint("session=", id), func(b *testing.B) {
			for b.Loop() {
				if r, err := s.SessionReceipt(ctx, id); err != nil || r.Captured.Events != 100 || len(r.Given) != 6 {
					b.Fatal(r, err)
				}
			}
		})
	}
	b.Run("prefix", func(b *testing.B) {
		for b.Loop() {
			if found, err := s.SessionNamed(ctx, "000009c4-77a3", ""); err != nil || found.ID != 2501 {
				b.Fatal(found, err)
			}
		}
	})
	for name, since := range map[string]memory.Millis{"week": 5e9 - 7*24*3600*1000, "ever": 0} {
		b.Run("totals/"+name, func(b *testing.B) {
			for b.Loop() {
				if sum, err := s.ReceiptTotals(ctx, since); err != nil || sum.Captured.Events != 500_000 {
					b.Fatal(sum, err)
				}
			}
		})
	}
}
