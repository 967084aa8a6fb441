package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/proof/corpus"
)

// trainable is the number of observations from which on the table is trained.
const trainable = 1000

// fillTrainable stores enough observations in the data directory to train a table.
func fillTrainable(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, control.Database), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := corpus.New(5, trainable, 1_700_000_000_000)
	for n := range trainable {
		o := c.Observation(n)
		if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: o.ProjectPath, Type: o.Type, Title: o.Title, Narrative: o.Narrative, Origin: memory.OriginUser}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// training returns a Config with which the worker trains as fast as it can.
func training(dir string) Config {
	cfg := config(dir)
	cfg.TrainShare = 1
	return cfg
}

// TestTrainTable: the worker trains the table by itself, a forget deletes it and the next
// worker trains it again without what was forgotten; a setting switches it off.
func TestTrainTable(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector; what is concurrent about training is in TestTrain of index")
	}
	noLeaks(t)
	dir := t.TempDir()
	fillTrainable(t, dir)
	table := filepath.Join(dir, control.Table)
	trained := func(w *Worker, want int) bool {
		return eventually(func() bool {
			s := w.finder.status()
			return s.Status != nil && s.Trained == want && s.Waiting == 0 && s.Behind == 0
		})
	}
	w := open(t, training(dir))
	indexed(t, w)
	if err := w.trainTable(t.Context()); err != nil || !trained(w, trainable) {
		t.Fatalf("%v; index %+v", err, w.finder.status().Status)
	}
	first := w.finder.status().Model
	closeWorker(t, w)
	if info, err := os.Stat(table); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the table: %v, %v", info, err)
	}

	// Enough stay to train it again.
	extra := fields{"project": "/elsewhere", "title": "The walrus token is hunter two", "narrative": "It opens the vault."}
	w = open(t, training(dir))
	remember(t, peerOf(t, dir), extra)
	indexed(t, w)
	closeWorker(t, w)
	none := func(string) string { return "" }
	if _, err := Forget(t.Context(), dir, memory.Forgetting{ProjectPath: "/elsewhere"}, none, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(table + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("after forget there are %v, %v", left, err)
	}
	w = open(t, training(dir))
	indexed(t, w)
	if s := w.finder.status(); s.Trained != 0 {
		t.Errorf("after forget the index uses a table of %d observations", s.Trained)
	}
	if err := w.trainTable(t.Context()); err != nil || !trained(w, trainable) {
		t.Errorf("trained again: %v; %+v", err, w.finder.status().Status)
	}
	if again := w.finder.status().Model; again != first {
		t.Errorf("the same records gave the table %s and then %s", first, again)
	}
	closeWorker(t, w)

	if _, err := Reindex(t.Context(), dir, func(int, int) {}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(table); err != nil {
		t.Errorf("after reindex: %v", err)
	}
	off := training(dir)
	if off.Settings, err = settings.LoadForWorker(dir, func(key string) string {
		return map[string]string{settings.KeyProvider: "offline", settings.KeyEmbedderTraining: "off"}[key]
	}); err != nil {
		t.Fatal(err)
	}
	w = open(t, off)
	indexed(t, w)
	if err := w.trainTable(t.Context()); err != nil || !trained(w, 0) {
		t.Errorf("switched off: %v; %+v", err, w.finder.status().Status)
	}
	if _, err := os.Stat(table); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("switched off, and the table is there: %v", err)
	}
	closeWorker(t, w)
}
