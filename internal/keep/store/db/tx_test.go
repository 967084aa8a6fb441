package db

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// withDamaged opens a store that grows to 200 pages at most and to whose writer a database is
// attached whose only table, damaged.t, is overwritten.
func withDamaged(t *testing.T) *DB {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(ctx, filepath.Join(dir, "memory.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	path := filepath.Join(dir, "damaged.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))"); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(file); i++ {
		file[i] = 0xa5
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	err = s.Write(ctx, "attach", Job{Bare: true, Run: func(tx *Tx) {
		_, err := tx.Conn.ExecContext(ctx, "ATTACH ? AS damaged", path)
		if err == nil {
			_, err = tx.Conn.ExecContext(ctx, "PRAGMA main.max_page_count = 200")
		}
		tx.Fail(err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counter returns a counter, 0 for none.
func counter(t *testing.T, s *DB, name string) int {
	t.Helper()
	n, err := Value[int](context.Background(), s.Reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var failures = []struct {
	name string
	fail func(*Tx, *DB)
	code memory.Code
	is   func(error) bool
}{
	{"full disk", func(tx *Tx, _ *DB) {
		tx.Exec("INSERT INTO event_log (event_type, data, created_at) VALUES ('x', hex(zeroblob(1000000)), 1)")
	}, memory.CodeStorage, sqlite.Full},
	{"busy", func(tx *Tx, s *DB) { // the writer has the lock: another connection gets none
		other, err := sql.Open("sqlite", s.Path())
		if err == nil {
			_, err = other.Exec("BEGIN IMMEDIATE")
			_ = other.Close()
		}
		tx.Fail(err)
	}, memory.CodeUnavailable, nil},
	{"damaged", func(tx *Tx, _ *DB) { tx.Exec("DELETE FROM damaged.t") }, memory.CodeStorage, Damaged},
	{"damaged in a query", func(tx *Tx, _ *DB) { tx.Number("SELECT length(x) FROM damaged.t") }, memory.CodeStorage, Damaged},
	{"damaged in a list", func(tx *Tx, _ *DB) { Selected[string](tx, "SELECT x FROM damaged.t") }, memory.CodeStorage, Damaged},
	{"of ours", func(tx *Tx, _ *DB) { tx.Exec("INSERT INTO counters (name, value) VALUES ('x', NULL)") }, memory.CodeInternal, nil},
}

// A statement fails in the middle of a transaction whose function does not look: nothing after
// it runs, all is rolled back, and its error comes out, whatever the function returns.
func TestFailedStatement(t *testing.T) {
	ctx := context.Background()
	for _, c := range failures {
		for _, returned := range []error{nil, memory.Errorf(memory.CodeNotFound, "misled by a zero")} {
			t.Run(c.name, func(t *testing.T) {
				s := withDamaged(t)
				got, err := InKeeping(ctx, s, "do three things", func(tx *Tx) (int, error) {
					tx.Count("before", 1)
					if tx.Err() != nil || tx.Number("SELECT value FROM counters WHERE name = 'before'") != 1 {
						t.Errorf("it failed before: %v", tx.Err())
					}
					c.fail(tx, s)
					first := tx.Err()
					if first == nil {
						t.Error("the statement succeeded")
					}
					var n int
					if tx.Find("SELECT 7", nil, &n) || n != 0 || tx.Number("SELECT 7") != 0 || Selected[int](tx, "SELECT 7") != nil ||
						tx.Exec("UPDATE counters SET value = 5") != 0 || tx.Insert("INSERT INTO counters (name, value) VALUES ('after', 1)") != 0 {
						t.Error("a result is not zero")
					}
					for range tx.Select("SELECT 7").Into(&n) {
						t.Error("a row was read")
					}
					tx.Row("SELECT 7", nil, &n)
					tx.ExecAll([]string{"DELETE FROM counters", "INSERT INTO counters (name, value) VALUES ('after', ?)"}, 1)
					tx.SetCounter("after", 1)
					tx.Fail(errors.New("a later error"))
					if err := tx.Attempt(func() { tx.Count("after", 1) }); !errors.Is(err, first) {
						t.Errorf("an attempt returned %v", err)
					}
					if !errors.Is(tx.Err(), first) {
						t.Errorf("%v took the place of %v", tx.Err(), first)
					}
					return 9, returned
				})
				if memory.CodeOf(err) != c.code || c.is != nil && !c.is(err) || !strings.HasPrefix(err.Error(), "do three things: ") {
					t.Errorf("got %v (%v), want code %v", err, memory.CodeOf(err), c.code)
				}
				if got != 0 || counter(t, s, "before") != 0 || counter(t, s, "after") != 0 {
					t.Errorf("got %d; before %d, after %d, want nothing", got, counter(t, s, "before"), counter(t, s, "after"))
				}
				if err := s.WriteKeeping(ctx, "go on", func(tx *Tx) {
					tx.Count("next", 1)
				}); err != nil || counter(t, s, "next") != 1 {
					t.Errorf("the next transaction: %v", err)
				}
			})
		}
	}
}

// A panic after a failed statement, for want of its result, does not hide the statement's error.
func TestPanicAfterFailedStatement(t *testing.T) {
	s := withDamaged(t)
	err := s.WriteKeeping(context.Background(), "panic", func(tx *Tx) {
		tx.Exec("DELETE FROM damaged.t")
		panic(Selected[int](tx, "SELECT 7")[0])
	})
	if !Damaged(err) {
		t.Errorf("got %v, want that of the damaged database", err)
	}
}

// Of jobs that wait together one fails without saying so: the others are committed.
func TestFailedStatementAmongJobs(t *testing.T) {
	ctx := context.Background()
	s := withDamaged(t)
	running, handed := make(chan struct{}), make(chan struct{})
	results := make(chan error, 3) // as many as are sent
	go func() {
		results <- s.WriteKeeping(ctx, "occupy", func(*Tx) {
			close(running)
			<-handed
		})
	}()
	select {
	case <-running:
	case err := <-results:
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		failed <- s.Write(ctx, "fail", Job{Run: func(tx *Tx) {
			tx.Count("failed", 1)
			tx.Exec("INSERT INTO counters (name, value) VALUES ('x', NULL)")
			tx.Count("failed", 1)
		}})
	}()
	for _, name := range []string{"a", "b"} {
		go func() {
			results <- s.Write(ctx, "count "+name, Job{Run: func(tx *Tx) {
				tx.Count(name, 1)
				if tx.Err() != nil {
					t.Errorf("%s fails by the error of another: %v", name, tx.Err())
				}
			}})
		}()
	}
	for len(s.writer.jobs) < 3 { // until all three wait
		runtime.Gosched()
	}
	close(handed)
	if err := <-failed; memory.CodeOf(err) != memory.CodeInternal {
		t.Errorf("got %v, want the error of the statement", err)
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if a, b, f := counter(t, s, "a"), counter(t, s, "b"), counter(t, s, "failed"); a != 1 || b != 1 || f != 0 {
		t.Errorf("got %d, %d and %d of the failed one, want 1, 1 and 0", a, b, f)
	}
}

// An attempt that fails by its own fault is undone alone; one that fails by another's ends the
// transaction.
func TestAttempt(t *testing.T) {
	ctx := context.Background()
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			s := withDamaged(t)
			err := s.WriteKeeping(ctx, "attempt", func(tx *Tx) {
				tx.Count("before", 1)
				failed := tx.Attempt(func() {
					tx.Count("within", 1)
					c.fail(tx, s)
					tx.Count("within", 1)
				})
				if memory.CodeOf(Fault("", failed)) != c.code {
					t.Errorf("got %v, want code %v", failed, c.code)
				}
				if err := tx.Attempt(func() { tx.Count("second", 1) }); (err == nil) != (c.code == memory.CodeInternal) {
					t.Errorf("the second attempt: %v", err)
				}
				tx.Count("after", 1)
			})
			want := 0
			if c.code == memory.CodeInternal {
				want = 1
			} else if memory.CodeOf(err) != c.code {
				t.Errorf("got %v, want code %v", err, c.code)
			}
			for name, n := range map[string]int{"before": want, "within": 0, "second": want, "after": want} {
				if got := counter(t, s, name); got != n {
					t.Errorf("%s is %d, want %d (%v)", name, got, n, err)
				}
			}
		})
	}
}
