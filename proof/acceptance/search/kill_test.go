//go:build unix

package search

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
)

var indexKills = world.Scaled(10, 50)

const (
	indexWriters = 3
	// rebuildEvery is after how many kills the index is deleted: killed workers
	// then also leave one that was half rebuilt.
	rebuildEvery = 5
)

// TestIndexKill kills the worker again and again while observations are written down
// through its API, and now and then deletes the index. Each observation has a word
// that no other has.
func TestIndexKill(t *testing.T) {
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()

	// What the writers know to be kept: the id of each number of a word.
	var mu sync.Mutex
	acknowledged := map[int]memory.ObservationID{}
	var next atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range indexWriters {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := int(next.Add(1))
				id, err := client.Add(killNote(n))
				switch {
				case err == nil:
					mu.Lock()
					acknowledged[n] = id
					mu.Unlock()
				case errors.Is(err, world.ErrRefused):
					t.Errorf("observation %d: %v", n, err)
					return
				default: // killed: whether it is kept is not known, and nobody was told that it is
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	behind, building, deleted := 0, 0, 0
	for kills := 1; kills <= indexKills; kills++ {
		// Soon after the start, while the index opens and catches up, or later, while
		// it follows what is written.
		time.Sleep(time.Duration(20+rand.IntN(150)+kills%3*200) * time.Millisecond)
		pid := m.WorkerPID()
		if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Fatal("no worker to kill")
		}
		world.WaitGone(t, pid)
		switch seq, ok := m.ReadIndex(world.IndexPosition); {
		case !ok || seq < 0:
			building++
		case seq < m.NewestChange():
			behind++
		}
		if kills%rebuildEvery == 0 {
			deleteIndex(m)
			deleted++
		}
		m.MustCommand("worker", "start")
	}
	close(stop)
	writers.Wait()
	if t.Failed() {
		return
	}
	// Committed is what the database has: all that was acknowledged, and some of
	// which nobody was told.
	committed := map[int]memory.ObservationID{}
	m.Query(func(r *sql.Rows) error {
		var id memory.ObservationID
		var title string
		if err := r.Scan(&id, &title); err != nil {
			return err
		}
		var n int
		if _, err := fmt.Sscanf(title, "Note %d", &n); err != nil {
			return err
		}
		if other, ok := committed[n]; ok {
			t.Errorf("note %d is kept twice: #%d and #%d", n, other, id)
		}
		committed[n] = id
		return nil
	}, `SELECT id, title FROM observations WHERE deleted_at IS NULL`)
	for n, id := range acknowledged {
		if committed[n] != id {
			t.Errorf("note %d was acknowledged as #%d, and is #%d", n, id, committed[n])
		}
	}
	if behind+building == 0 {
		t.Errorf("no kill left work to the index")
	}
	if len(acknowledged) < indexKills {
		t.Errorf("only %d observations between %d kills", len(acknowledged), indexKills)
	}
	m.Indexed(60 * time.Second)
	missing, twice := checkFound(t, client, committed)
	world.Figure(t, 3, "%d SIGKILLs (%d while the index had changes to take in, %d while it was built; %d times it was also deleted): %d observations committed, %d not found, %d found twice",
		indexKills, behind, building, deleted, len(committed), missing, twice)

	m.MustCommand("worker", "stop")
	deleteIndex(m)
	m.MustCommand("worker", "start")
	start := time.Now()
	m.Indexed(60 * time.Second)
	took := time.Since(start)
	missing, twice = checkFound(t, client, committed)
	world.Figure(t, 3, "index deleted: %d found again after %v, %d not, %d twice", len(committed)-missing, took.Round(10*time.Millisecond), missing, twice)
}

// killNote is the observation with the nth word. Its facts give it several fragments.
func killNote(n int) world.Note {
	return world.Note{
		Title: fmt.Sprintf("Note %d on the retry loop", n), Type: "discovery", Project: "/home/dev/tally",
		Narrative: fmt.Sprintf("The loop in client.go gives up after three attempts; the marker is %s. Part %d of the survey.", word(n), n%7),
		Facts:     []string{fmt.Sprintf("attempt %d waits %d ms", n%5, 100*(n%9)), "the breaker opens at five failures"},
		Files:     []string{fmt.Sprintf("internal/client/part%d.go", n%11)},
	}
}

// checkFound searches for each observation by its word, as words and as a phrase.
func checkFound(t *testing.T, client *world.API, committed map[int]memory.ObservationID) (missing, twice int) {
	t.Helper()
	for n, id := range committed {
		var words, phrase world.Found
		client.Get(t, "/api/search", url.Values{"query": {"marker " + word(n)}, "limit": {"20"}}, &words)
		client.Get(t, "/api/search", url.Values{"query": {`"marker is ` + word(n) + `"`}, "limit": {"20"}}, &phrase)
		ids := words.Observations(t)
		if len(ids) == 0 || ids[0] != id {
			t.Errorf("note %d (%s) is #%d; a search for its word finds %v", n, word(n), id, ids)
			missing++
			continue
		}
		if slices.Contains(ids[1:], id) || hasDuplicates(ids) {
			t.Errorf("note %d is found twice: %v", n, ids)
			twice++
		}
		if got := phrase.Observations(t); len(got) != 1 || got[0] != id || phrase.Total != 1 {
			t.Errorf("a search for the phrase of note %d finds %v of %d, want [%d]", n, got, phrase.Total, id)
			twice++
		}
	}
	return missing, twice
}

func hasDuplicates(ids []memory.ObservationID) bool {
	sorted := slices.Sorted(slices.Values(ids))
	return len(slices.Compact(sorted)) < len(ids)
}

// deleteIndex removes what is derived from memory.db, whatever its names.
func deleteIndex(m *world.Memory) {
	m.T.Helper()
	if m.RemoveIndex() == 0 {
		m.T.Fatal("there is no index to delete")
	}
}
