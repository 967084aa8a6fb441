//go:build unix

package capture

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

const (
	crashSessions = 8
	crashEvents   = 500
	crashKills    = 20
)

func sendAll(m *world.Memory, each func()) (slowest time.Duration) {
	var wg sync.WaitGroup
	var worst atomic.Int64
	for s := range crashSessions {
		n := crashEvents / crashSessions
		if s < crashEvents%crashSessions {
			n++
		}
		wg.Go(func() {
			verbs, payloads := world.CrashPayloads(s, n)
			for i := range payloads {
				r := m.Send(verbs[i], payloads[i])
				for old := worst.Load(); int64(r.Took) > old && !worst.CompareAndSwap(old, int64(r.Took)); old = worst.Load() {
				}
				each()
			}
		})
	}
	wg.Wait()
	return time.Duration(worst.Load())
}

// TestCrash kills the worker 20 times while 8 hosts send 500 events.
func TestCrash(t *testing.T) {
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")

	var sent atomic.Int64
	done := make(chan struct{})
	killed := make(chan int)
	go func() {
		kills := 0
		for kills < crashKills {
			// Spread the kills over the whole run: the next one when enough events
			// have been sent, plus a random moment.
			for sent.Load() < int64(kills*crashEvents/(crashKills+1)) {
				select {
				case <-done:
					killed <- kills
					return
				case <-time.After(time.Millisecond):
				}
			}
			time.Sleep(time.Duration(rand.IntN(15)) * time.Millisecond)
			if pid := m.WorkerPID(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
				continue
			}
			select { // no worker at the moment: the hooks start one
			case <-done:
				killed <- kills
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
		killed <- kills
	}()
	slowest := sendAll(m, func() { sent.Add(1) })
	close(done)
	kills := <-killed
	for kills < crashKills { // the sending was over first: kill while it distils
		m.MustCommand("worker", "start")
		if pid := m.WorkerPID(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			kills++
		}
	}
	checkCrashed(t, m, fmt.Sprintf("%d SIGKILLs, slowest hook %v", kills, slowest.Round(time.Millisecond)))
}

// TestSpoolOnly sends everything while no worker can start: another process
// holds its lock.
func TestSpoolOnly(t *testing.T) {
	m := world.NewMemory(t)
	release := m.HoldLock()
	slowest := sendAll(m, func() {})
	if got := m.Spooled(); got != crashEvents {
		t.Errorf("%d deliveries in the spool, want %d", got, crashEvents)
	}
	release()
	checkCrashed(t, m, fmt.Sprintf("spool only, slowest hook %v", slowest.Round(time.Millisecond)))
}

func checkCrashed(t *testing.T, m *world.Memory, how string) {
	t.Helper()
	b := m.Settle(90 * time.Second)
	if b.Received != crashEvents || b.Processed != crashEvents || !b.Balanced() {
		t.Errorf("books %+v, want %d received and processed", b, crashEvents)
	}
	// Order: what was processed later happened later.
	type position struct {
		at       int64
		delivery string
	}
	last := map[int64]position{}
	wrong, rows := 0, 0
	m.Query(func(r *sql.Rows) error {
		var session int64
		var p position
		if err := r.Scan(&session, &p.at, &p.delivery); err != nil {
			return err
		}
		rows++
		if l, ok := last[session]; ok && (p.at < l.at || p.at == l.at && p.delivery < l.delivery) {
			wrong++
		}
		last[session] = p
		return nil
	}, `SELECT session_id, occurred_at, delivery_id FROM events WHERE kind IN ('tool','stop') ORDER BY session_id, processed_seq`)
	if wrong != 0 {
		t.Errorf("%d of %d events were processed out of the order of their session", wrong, rows)
	}
	// Records exactly once: every turn touched a file of its own.
	turns, observed := 0, 0
	m.Query(func(r *sql.Rows) error {
		var path string
		var n int
		if err := r.Scan(&path, &n); err != nil {
			return err
		}
		turns++
		observed += n
		if n != 1 {
			t.Errorf("%s is in %d observations, want 1", path, n)
		}
		return nil
	}, `SELECT path, count(DISTINCT observation_id) FROM observation_files WHERE role = 'modified' GROUP BY path`)
	wantTurns := 0
	for s := range crashSessions {
		n := crashEvents / crashSessions
		if s < crashEvents%crashSessions {
			n++
		}
		verbs, _ := world.CrashPayloads(s, n)
		for i, v := range verbs {
			if v == "save" && (i == 0 || verbs[i-1] == "new") {
				wantTurns++ // a turn that edited something
			}
		}
	}
	if turns != wantTurns {
		t.Errorf("observations of %d turns, want %d", turns, wantTurns)
	}
	var doubled int
	m.Query(func(r *sql.Rows) error { return r.Scan(&doubled) },
		`SELECT count(*) FROM (SELECT 1 FROM session_summaries GROUP BY session_id, prompt_number HAVING count(*) > 1)`)
	if doubled != 0 {
		t.Errorf("%d turns have more than one summary", doubled)
	}
	world.Figure(t, 4, "%s: %d events received, %d processed, %d duplicates refused, %d out of order, %d turns observed once each",
		how, b.Received, b.Processed, b.Duplicates, wrong, observed)
}

// TestLateCommit puts a relay between the hooks and the worker that passes a
// POST on only when its hook has given up: the event is spooled and committed.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	var info struct{ Socket string }
	m.ReadJSON("worker.json", &info)
	behind := info.Socket + ".real"
	if err := os.Rename(info.Socket, behind); err != nil {
		t.Fatal(err)
	}
	relay, err := net.Listen("unix", info.Socket)
	if err != nil {
		t.Fatal(err)
	}
	const events = 10
	answers := make(chan error, events)
	go func() {
		for {
			hook, err := relay.Accept()
			if err != nil {
				return
			}
			go func() { answers <- passOnLate(hook, behind) }()
		}
	}()
	verbs, payloads := world.CrashPayloads(0, events)
	for i := range payloads {
		m.Send(verbs[i], payloads[i])
	}
	for range events {
		if err := <-answers; err != nil {
			t.Errorf("late POST: %v", err)
		}
	}
	relay.Close() // removes its socket
	if err := os.Rename(behind, info.Socket); err != nil {
		t.Fatal(err)
	}
	b := m.Settle(60 * time.Second)
	if b.Received != events || b.Processed != events || b.Duplicates != events || !b.Balanced() {
		t.Errorf("books %+v, want %d received, processed and refused as duplicates", b, events)
	}
	// Each event came twice, by the late POST and by the spool, in either order.
	world.Figure(t, 4, "POST that commits after the hook gave up: %d posted late and spooled, %d processed, %d duplicates refused", events, b.Processed, b.Duplicates)
}

// passOnLate reads a hook's request, waits until the hook hangs up, and only
// then sends the request to the worker's socket. The answer is 202, or 200 when
// the spool was quicker.
func passOnLate(hook net.Conn, socket string) error {
	defer hook.Close()
	request, err := http.ReadRequest(bufio.NewReader(hook))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	if _, err := hook.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("hook did not hang up: %w", err)
	}
	worker, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer worker.Close()
	request.Body = io.NopCloser(bytes.NewReader(body))
	if err := request.Write(worker); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(worker), request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted && response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
