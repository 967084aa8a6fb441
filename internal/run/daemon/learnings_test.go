package daemon

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// addLearning keeps what a command says.
func addLearning(ctx context.Context, dir string, l memory.Learning) (added api.Learning, err error) {
	err = Change(ctx, dir, true, func(m api.Memory) error {
		added, err = m.AddLearning(ctx, api.NewLearning{ProjectPath: l.ProjectPath, Category: l.Category, Content: l.Content, Confidence: &l.Confidence})
		return err
	})
	return added, err
}

func editLearning(ctx context.Context, dir string, id int64, edit memory.LearningEdit) (changed api.Learning, err error) {
	err = Change(ctx, dir, false, func(m api.Memory) error {
		changed, err = m.EditLearning(ctx, api.LearningEdit{ID: id, LearningEdit: edit})
		return err
	})
	return changed, err
}

// TestLearningsWithAndWithoutWorker checks that both store the same, without secrets.
func TestLearningsWithAndWithoutWorker(t *testing.T) {
	const secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
	for name, running := range map[string]bool{"worker": true, "no worker": false} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			dir := t.TempDir()
			if running {
				open(t, config(dir))
			}
			l, err := addLearning(t.Context(), dir, memory.Learning{
				ProjectPath: "/home/dev/shop", Category: "workflow", Content: "Deploys use " + secret + ".<private>Ada</private>", Confidence: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if l.ID == 0 || !l.Active || strings.Contains(l.Content, secret) || strings.Contains(l.Content, "Ada") || !strings.Contains(l.Content, "[redacted:") {
				t.Errorf("added %+v", l)
			}
			words := "Deploys use a token " + secret + "."
			if l, err = editLearning(t.Context(), dir, l.ID, memory.LearningEdit{Content: &words}); err != nil || strings.Contains(l.Content, secret) {
				t.Errorf("edited %+v, %v", l, err)
			}
			off := false
			if l, err = editLearning(t.Context(), dir, l.ID, memory.LearningEdit{Active: &off}); err != nil || l.Active {
				t.Errorf("retired %+v, %v", l, err)
			}
			if _, err := editLearning(t.Context(), dir, 99, memory.LearningEdit{Active: &off}); memory.CodeOf(err) != memory.CodeNotFound {
				t.Errorf("one that is not there: %v", err)
			}
			wholly := memory.Learning{ProjectPath: "/home/dev/shop", Category: "workflow", Content: "<private>Ada pays.</private>", Confidence: 1}
			if _, err := addLearning(t.Context(), dir, wholly); memory.CodeOf(err) != memory.CodeInvalid {
				t.Errorf("a private one: %v", err)
			}
		})
	}
}

// TestLearningsNeedTheLock checks that nothing is written while another process holds the
// worker's lock.
func TestLearningsNeedTheLock(t *testing.T) {
	dir := t.TempDir()
	lock, err := control.WaitLock(context.Background(), dir, 0)
	if err != nil || lock == nil {
		t.Fatalf("lock %v, %v", lock, err)
	}
	defer func() { _ = lock.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), lockPoll) // waits no longer than its caller
	defer cancel()
	_, err = addLearning(ctx, dir, memory.Learning{ProjectPath: "/p", Category: "gotcha", Content: "x", Confidence: 1})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("added while another process is the worker: %v", err)
	}
	off := false
	if _, err = editLearning(t.Context(), t.TempDir(), 1, memory.LearningEdit{Active: &off}); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("edited where nothing is remembered: %v", err)
	}
}

// TestLearningsAtOnce adds learnings from several processes without a worker; each is
// stored.
func TestLearningsAtOnce(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	words := []string{"bicycle", "harbour", "lantern", "meadow"}
	var adding sync.WaitGroup
	for _, word := range words {
		adding.Go(func() {
			l := memory.Learning{ProjectPath: "/p", Category: "gotcha", Content: fmt.Sprintf("The %s is red.", word), Confidence: 1}
			if _, err := addLearning(context.Background(), dir, l); err != nil {
				t.Error(err)
			}
		})
	}
	adding.Wait()
	w := open(t, config(dir))
	if n, err := w.store.CountLearnings(t.Context(), memory.LearningQuery{Project: "/p"}); n != len(words) || err != nil {
		t.Errorf("%d learnings, %v, want %d", n, err, len(words))
	}
}

// TestStatuslineIsNotUse checks that requests of the status line do not reset the idle
// time, and that the stats have the ledger.
func TestStatuslineIsNotUse(t *testing.T) {
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	var stats struct {
		Ledger struct {
			PeriodDays int `json:"period_days"`
		} `json:"ledger"`
		Notices []any `json:"notices"`
	}
	if err := peer.Do(t.Context(), http.MethodGet, "/api/stats", nil, &stats); err != nil || stats.Ledger.PeriodDays != 7 || stats.Notices == nil {
		t.Errorf("stats %+v, %v", stats, err)
	}
	if !eventually(func() bool { return w.open.Load() == 0 }) {
		t.Fatal("the request does not end")
	}
	long := time.Now().Add(-time.Hour).UnixNano()
	w.lastUse.Store(long)
	var line memory.Statusline
	if err := peer.Do(t.Context(), http.MethodGet, "/api/statusline?session_id=s", nil, &line); err != nil || line != (memory.Statusline{}) {
		t.Errorf("line %+v, %v", line, err)
	}
	if w.lastUse.Load() != long {
		t.Error("a status line counts as use")
	}
}
