//go:build unix

package search

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

var tableKills = world.Scaled(5, 50)

const (
	// trainable is the number of observations from which on the table is trained.
	trainable = 1000
	// tableQueries is the number of queries whose answers are compared.
	tableQueries = 40
)

// TestTableKill kills the worker again and again while it trains the embedding table and
// puts new vectors in the place of the old ones, and now and then deletes what is derived.
// A second worker that is started meanwhile ends at once. After each kill all is found, by the
// vectors of one table: those of before or those of after, and in the end as in a run that
// nobody disturbed.
func TestTableKill(t *testing.T) {
	m := world.NewMemory(t)
	m.MustCommand("config", "set", "CLAUDE_MEM_EMBEDDER_TRAINING", "off") // else a slow run is trained by itself before the first answers
	m.MustCommand("worker", "start")
	fillTable(t, m.API())
	m.Indexed(time.Minute)
	_, old := tableAnswers(t, m)
	m.MustCommand("config", "set", "CLAUDE_MEM_EMBEDDER_TRAINING", "on")
	m.MustCommand("worker", "restart")
	began := time.Now()
	m.MustCommand("reindex")
	took := time.Since(began)
	status, trained := tableAnswers(t, m)
	if status.Trained != trainable {
		t.Fatalf("undisturbed: %+v", status)
	}
	different := 0
	for q := range old {
		if old[q] != trained[q] {
			different++
		}
	}
	if different < tableQueries/2 {
		t.Fatalf("only %d of %d answers changed by the training", different, tableQueries)
	}

	builtin, afterwards, deleted, secondWorkers := 0, 0, 0, 0
	for kills := 1; kills <= tableKills; kills++ {
		// Half of the time it begins with the built-in table.
		if kills%2 == 1 {
			m.MustCommand("worker", "stop")
			if err := os.Remove(filepath.Join(m.Dir, "index.table")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			m.MustCommand("worker", "start")
		}
		client := m.API()
		if code, body, err := client.Send(http.MethodPost, "/api/admin/reindex", struct{}{}); err != nil || code != http.StatusAccepted {
			t.Fatalf("reindex: %d, %v: %s", code, err, body)
		}
		moment := time.Duration(rand.Int64N(int64(took) * 5 / 4))
		if kills%5 == 0 { // a second worker meanwhile
			time.Sleep(moment / 2)
			first, began := m.WorkerPID(), time.Now()
			var exit *exec.ExitError
			if _, err := m.Command("worker", "run"); !errors.As(err, &exit) || exit.ExitCode() != 4 || time.Since(began) > 10*time.Second {
				t.Fatalf("a second worker ended after %v with %v, want that of a conflict", time.Since(began), err)
			}
			if first == 0 || m.WorkerPID() != first {
				t.Fatalf("the worker was %d, now it is %d", first, m.WorkerPID())
			}
			moment /= 2
			secondWorkers++
		}
		time.Sleep(moment)
		pid := m.WorkerPID()
		if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Fatal("no worker to kill")
		}
		world.WaitGone(t, pid)
		switch kills % 10 {
		case 4:
			deleteIndex(m) // all that is derived
			deleted++
		case 8:
			if err := os.Remove(filepath.Join(m.Dir, "index.vec")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			deleted++
		}
		m.MustCommand("worker", "start")
		got, answers := tableAnswers(t, m)
		want := trained
		if got.Trained == 0 {
			want = old
			builtin++
		} else {
			afterwards++
		}
		compareAnswers(t, fmt.Sprintf("after kill %d, table %s", kills, got.Model), answers, want)
		if t.Failed() {
			return
		}
	}
	m.MustCommand("reindex")
	got, answers := tableAnswers(t, m)
	if got.Model != status.Model {
		t.Errorf("in the end the table is %s, undisturbed %s", got.Model, status.Model)
	}
	compareAnswers(t, "in the end", answers, trained)
	m.EachFile(func(path string, _ []byte) {
		if name := filepath.Base(path); strings.HasSuffix(name, ".new") || strings.HasPrefix(name, ".index") {
			t.Errorf("%s is left", path)
		}
	})
	world.Figure(t, 3, "%d SIGKILLs while the table was trained or changed (%d times the built-in table answered then, %d times the trained one; %d times files were also deleted, %d times a second worker was started): %d answers of %d each time those of one table",
		tableKills, builtin, afterwards, deleted, secondWorkers, tableQueries, tableQueries)
}

// fillTable writes enough observations down, and a word of its own into each.
func fillTable(t *testing.T, client *world.API) {
	t.Helper()
	c := corpus.New(9, trainable, memory.MillisOf(time.Now()))
	var next atomic.Int64
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for n := int(next.Add(1) - 1); n < trainable; n = int(next.Add(1) - 1) {
				o := c.Observation(n)
				_, err := client.Add(world.Note{Title: o.Title, Narrative: o.Narrative + " The marker is " + word(n) + ".", Facts: o.Facts, Type: string(o.Type), Project: "/home/dev/tally",
					CreatedAt: o.CreatedAt.Time().UTC().Format(time.RFC3339)})
				if err != nil {
					t.Errorf("observation %d: %v", n, err)
					return
				}
			}
		})
	}
	writers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// trainedStatus is what GET /api/stats says of the vectors.
type trainedStatus struct {
	State    string `json:"state"`
	Model    string `json:"model"`
	Trained  int    `json:"trained"`
	Waiting  int    `json:"waiting"`
	Behind   int    `json:"behind"`
	Building bool   `json:"building"`
	Error    string `json:"train_error"`
}

// trained waits until the index has all vectors, and returns its state.
func trained(m *world.Memory) trainedStatus {
	m.T.Helper()
	client := m.API()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var stats struct {
			Index     trainedStatus `json:"index"`
			Documents int           `json:"documents"`
		}
		client.Get(m.T, "/api/stats", url.Values{"brief": {"1"}}, &stats)
		if x := stats.Index; x.State == "ok" && x.Waiting == 0 && x.Behind == 0 && !x.Building {
			if x.Error != "" {
				m.T.Errorf("training: %s", x.Error)
			}
			return x
		}
		if time.Now().After(deadline) {
			m.T.Fatalf("the index is not complete: %+v", stats.Index)
		}
	}
}

// tableAnswers returns the answers to some queries with the likeness of each hit, all by the
// same table, and that table.
func tableAnswers(t *testing.T, m *world.Memory) (table trainedStatus, answers [tableQueries]string) {
	t.Helper()
	table = trained(m)
	client := m.API()
	for q := range answers {
		n := q * trainable / tableQueries
		var page struct {
			Results []struct {
				Title string
				Why   struct {
					Parts []struct {
						Name string
						Note string
					}
				}
			}
		}
		// Three words of the record's kind, and its own.
		text := "why does the " + []string{"login", "cache", "parser", "build", "queue"}[q%5] + " fail after the update " + word(n)
		client.Get(t, "/api/search", url.Values{"query": {text}, "limit": {"15"}, "explain": {"1"}}, &page)
		var b strings.Builder
		for _, r := range page.Results {
			fmt.Fprintf(&b, "%s:", r.Title)
			for _, p := range r.Why.Parts {
				if p.Name == "likeness" {
					b.WriteString(" " + p.Note)
				}
			}
			b.WriteByte('\n')
		}
		answers[q] = b.String()
		if len(page.Results) < 10 {
			t.Errorf("%q finds only %d", text, len(page.Results))
		}
	}
	if trained(m).Model != table.Model {
		return tableAnswers(t, m) // it was trained by itself meanwhile
	}
	return table, answers
}

func compareAnswers(t *testing.T, when string, got, want [tableQueries]string) {
	t.Helper()
	wrong := 0
	for q := range got {
		if got[q] != want[q] {
			if wrong++; wrong == 1 {
				t.Errorf("%s: query %d\n got %s\nwant %s", when, q, got[q], want[q])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d answers are others", when, wrong, len(got))
	}
}
