package store_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "first", 1))
	claim := m.claim(t, 1, 0)
	pages := rawRows(t, m.path, "PRAGMA page_count")[0][0].(int64)
	if err := m.Pragma(fmt.Sprintf("max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	var accepted int
	var full error
	for i := range 1000 {
		if _, full = m.Enqueue(ctx, event(memory.KindTool, "s", fmt.Sprintf("t%03d", i), memory.Millis(i))); full != nil {
			break
		}
		accepted++
	}
	wantCode(t, full, memory.CodeStorage)
	var coded *memory.Error
	if !errors.As(full, &coded) || !strings.Contains(coded.Hint, "disk is full") {
		t.Errorf("got %+v, want a hint that the disk is full", coded)
	}
	big := memory.Outcome{Observations: []memory.Observation{observation("Big", func(o *memory.Observation) {
		o.Narrative = noise(1 << 20)
	})}}
	wantCode(t, m.Confirm(ctx, claim, big), memory.CodeStorage)
	// What was there can still be read, and nothing is there by half.
	m.audited(t)
	if got := m.books(t); got.Received != 1+accepted || got.Processing != 1 {
		t.Errorf("got %+v, want %d received", got, 1+accepted)
	}
	// There is room again.
	if err := m.Pragma("max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s", "later", 2000))
	if err := m.Confirm(ctx, claim, big); err != nil {
		t.Errorf("confirm with room again: %v", err)
	}
	m.audited(t)
}

func TestLockedByAnotherProgram(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	if err := m.Pragma("busy_timeout = 50"); err != nil {
		t.Fatal(err)
	}
	other, err := rawOpen(t, m.path).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = m.Enqueue(ctx, event(memory.KindTool, "s", "a", 1))
	wantCode(t, err, memory.CodeUnavailable)
	if books := m.books(t); books.Received != 0 { // reading goes on
		t.Errorf("got %+v", books)
	}
	if _, err := other.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s", "a", 1))
	_ = other.Close()
}

func TestDamagedDatabase(t *testing.T) {
	ctx := context.Background()
	t.Run("not a database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "memory.db")
		garbage := bytes.Repeat([]byte("garbage "), 1000)
		if err := os.WriteFile(path, garbage, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(ctx, path, store.Options{})
		wantCode(t, err, memory.CodeStorage)
		_, err = store.OpenReadOnly(ctx, path)
		wantCode(t, err, memory.CodeStorage)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, garbage) {
			t.Errorf("it was touched (%v)", err)
		}
	})
	t.Run("another program's", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "memory.db")
		rawExec(t, path, "CREATE TABLE observations (id INTEGER)")
		_, err := store.Open(ctx, path, store.Options{})
		wantCode(t, err, memory.CodeStorage)
	})
	t.Run("pages overwritten", func(t *testing.T) {
		m := newMemory(t)
		for i := range 200 {
			m.enqueue(t, event(memory.KindTool, "s", fmt.Sprintf("t%03d", i), memory.Millis(i)))
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(m.path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 8192; i < len(file); i++ {
			file[i] = 0xa5
		}
		if err := os.WriteFile(m.path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(ctx, m.path, store.Options{})
		if err == nil { // it may show only when it is used
			_, err = s.Books(ctx)
			if _, enqueueErr := s.Enqueue(ctx, event(memory.KindTool, "s", "x", 1)); err == nil {
				err = enqueueErr
			}
			_ = s.Close()
		}
		wantCode(t, err, memory.CodeStorage)
		m.path = filepath.Join(t.TempDir(), "memory.db")
		m.open(t)
	})
}

func TestReadOnlyDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("directory modes bind neither root nor Windows")
	}
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(m.path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	r, err := store.OpenReadOnly(ctx, m.path)
	if err != nil {
		t.Fatal(err)
	}
	checkReadOnly(t, r, 1)
	_, err = store.Open(ctx, filepath.Join(dir, "other.db"), store.Options{})
	wantCode(t, err, memory.CodeStorage)
}

// A fault of ours in one transaction leaves nothing behind and the writer alive.
func TestPanicLeavesNothingBehind(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1))
	wantCode(t, m.Fail(), memory.CodeInternal)
	m.enqueue(t, event(memory.KindTool, "s", "b", 2))
	counters, err := m.Counters(context.Background())
	if err != nil || counters["half-done"] != 0 {
		t.Errorf("got %v %v, want nothing of the failed transaction", counters, err)
	}
	m.audited(t)
}

func TestCancelledCallerIsNotBooked(t *testing.T) {
	m := newMemory(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Claim(ctx, "c", 1, 0, m.clock.at); err == nil {
		t.Error("a cancelled claim was made")
	}
	if _, err := m.Enqueue(ctx, event(memory.KindTool, "s", "a", 1)); err == nil {
		return // it was quicker
	}
	// It may have been booked all the same; sent again, it is there once.
	m.enqueue(t, event(memory.KindTool, "s", "a", 1))
	if got := m.books(t); got.Received != 1 {
		t.Errorf("got %+v, want one received", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	const writers, each = 16, 40
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				name := fmt.Sprintf("w%02d-%03d", w, i)
				a := event(memory.KindTool, fmt.Sprint("s", w%4), name, memory.Millis(i))
				for range 2 { // each delivered twice
					if _, err := m.Enqueue(ctx, a); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for c := range 3 {
		workers.Go(func() {
			for n := 0; working.Err() == nil; n++ {
				session := memory.SessionID(n%4 + 1)
				claim, err := m.Claim(ctx, fmt.Sprintf("c%d-%d", c, n), session, 7, m.clock.at)
				if err != nil || len(claim.Events) == 0 {
					runtime.Gosched()
					continue
				}
				if err := m.Confirm(ctx, claim, memory.Outcome{}); err != nil {
					t.Error(err)
				}
				if _, err := m.Books(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	stop()
	workers.Wait()
	m.audited(t)
	if got := m.books(t); got.Received != writers*each || got.Duplicates != writers*each || got.Processing != 0 {
		t.Errorf("got %+v, want %d received and as many duplicates", got, writers*each)
	}
}

// killedChild is set for the process that TestKill starts and kills.
const killedChild = "CLAUDEMEM_TEST_KILLED_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedChild); path != "" {
		enqueueUntilKilled(path)
	}
	if path := os.Getenv(migratingChild); path != "" {
		openAndClose(path)
	}
	// Each check of the queue's states is a database of its own with some hundred
	// synced commits; -rapid.checks asks for more.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// enqueueUntilKilled writes the name of each event to standard output once it is
// accepted, and claims, confirms and trims the log meanwhile.
func enqueueUntilKilled(path string) {
	ctx := context.Background()
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := s.Heal(ctx, 1<<62, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Names differ from run to run: the first number is how many there were.
	books, err := s.Books(ctx)
	if err != nil {
		os.Exit(1)
	}
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%08d-%d-%06d", books.Received, w, i)
				if _, err := s.Enqueue(ctx, event(memory.KindTool, fmt.Sprint("s", w), name, memory.Millis(i))); err == nil {
					_, _ = os.Stdout.WriteString(name + "\n")
				}
			}
		}()
	}
	go func() {
		for {
			if _, err := s.TrimLog(ctx, 0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}()
	for n := 0; ; n++ {
		session := memory.SessionID(n%4 + 1)
		claim, err := s.Claim(ctx, fmt.Sprint(os.Getpid(), "-", n), session, 5, base*2)
		if err == nil && len(claim.Events) > 0 {
			_ = s.Confirm(ctx, claim, memory.Outcome{Observations: []memory.Observation{
				observation(fmt.Sprint("From ", claim.Events[0].Key)),
			}})
		}
	}
}

// A process is killed in mid-transaction, again and again: what it had accepted
// is there, once, and nothing is half done.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	accepted := map[string]bool{}
	for round := range 6 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedChild+"="+path)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		for n := 0; n < 30+round*40 && lines.Scan(); n++ {
			accepted[lines.Text()] = true
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // accepted before it died
			if len(lines.Text()) == len("00000000-0-000000") {
				accepted[lines.Text()] = true
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	}
	ctx := context.Background()
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	findings, err := s.Audit(ctx)
	if err != nil || len(findings) > 0 {
		t.Errorf("audit: %v %v", findings, err)
	}
	booked := map[string]bool{}
	for _, r := range rawRows(t, path, "SELECT delivery_id FROM events") {
		booked[r[0].(string)] = true
	}
	if len(accepted) < 100 {
		t.Errorf("only %d events were accepted", len(accepted))
	}
	for name := range accepted {
		if !booked[name] {
			t.Errorf("accepted event %s is lost", name)
		}
	}
	// No observation without the delete of its events, and the reverse.
	batches := rawRows(t, path, "SELECT count(DISTINCT processed_at || '-' || session_id), count(*) FROM events WHERE processed_seq IS NOT NULL")
	observations := rawRows(t, path, "SELECT sum(times_seen) FROM observations")
	if fmt.Sprint(observations[0][0]) == "0" || batches[0][1].(int64) == 0 {
		t.Errorf("nothing was confirmed: %v %v", batches, observations)
	}
	seen := map[string]bool{}
	for _, r := range rawRows(t, path, "SELECT title FROM observations") {
		key := strings.TrimPrefix(r[0].(string), "From ")
		rows := rawRows(t, path, "SELECT outcome FROM events WHERE event_key = ?", key)
		if len(rows) != 1 || rows[0][0] != "processed" || seen[key] {
			t.Errorf("observation of %s, whose event is %v", key, rows)
		}
		seen[key] = true
	}
	if ok := rawRows(t, path, "PRAGMA integrity_check")[0][0]; ok != "ok" {
		t.Errorf("integrity: %v", ok)
	}
	t.Log("accepted " + strconv.Itoa(len(accepted)) + " events in 6 lives")
}
