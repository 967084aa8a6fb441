package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

func TestTrainingStep(t *testing.T) {
	for n, want := range map[int]int{0: 0, 999: 0, 1000: 1000, 1249: 1000, 1250: 1250, 1561: 1250, 1562: 1562, 1951: 1562, 1952: 1952, 2440: 2440} {
		if got := TrainingStep(n); got != want {
			t.Errorf("a memory of %d observations is trained on %d, want %d", n, got, want)
		}
	}
}

// trainable is the number of observations of trainableFeed: one training step.
const trainable = LeastTrained

var trainableDocuments = sync.OnceValue(func() (list []memory.Document) {
	c := corpus.New(3, trainable, 1_700_000_000_000)
	for n := range trainable {
		list = append(list, c.Document(n))
	}
	for n := range 60 {
		p := c.Prompt(n)
		d := prompt(p.ID, p.Session, p.Text)
		d.ProjectPath = list[0].ProjectPath
		list = append(list, d)
	}
	return list
})

// trainableFeed returns a feed with enough observations, and some prompts.
func trainableFeed() *memoryFeed {
	feed := newMemoryFeed()
	feed.put(trainableDocuments()...)
	return feed
}

func trainIndex(t *testing.T, ix *Index) {
	t.Helper()
	if err := ix.Train(t.Context(), TrainOptions{}); err != nil {
		t.Fatal(err)
	}
}

// answersTo returns what some queries find, with all figures.
func answersTo(t *testing.T, ix *Index) (list []Answer) {
	t.Helper()
	for _, text := range []string{"login fails after the token expired", "slow query of the cart", "why did the worker lose the lock", "retry", "cache"} {
		a, err := ix.Rank(t.Context(), Request{Text: text, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// checkTables checks that each record is found by its own text with a likeness of 1: the
// vectors of query and record are of the same table.
func checkTables(t *testing.T, ix *Index, feed *memoryFeed) {
	t.Helper()
	for i, d := range feed.all() {
		text := d.Title
		if d.Kind == memory.RecordPrompt {
			text = d.Text
		} else if i%10 != 0 {
			continue // one in ten is enough
		}
		a, err := ix.Rank(t.Context(), Request{Text: text, Filter: Filter{Only: []memory.RecordRef{d.RecordRef}}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Matches) != 1 || math.Abs(a.Matches[0].Likeness-1) > .01 {
			t.Errorf("%v is not like its own text %q: %+v", d.RecordRef, text, a.Matches)
		}
	}
}

// TestTrain trains the table of a memory. The answers change, stay the same after a restart
// and for a reader, and come back from nothing but the records.
func TestTrain(t *testing.T) {
	feed, path := trainableFeed(), filepath.Join(t.TempDir(), "index.db")
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	if !ix.TrainingDue() {
		t.Error("a table that was never trained is not due")
	}
	before := answersTo(t, ix)
	checkTables(t, ix, feed)
	trainIndex(t, ix)
	status := ix.Status()
	if status.Trained != trainable || status.Waiting != 0 || status.Model == embed.Model || !strings.HasPrefix(status.Model, embed.Model+"+") {
		t.Errorf("after the training: %+v", status)
	}
	if ix.TrainingDue() {
		t.Error("due at once again")
	}
	after := answersTo(t, ix)
	if reflect.DeepEqual(before, after) {
		t.Error("the training changed no answer")
	}
	checkTables(t, ix, feed)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+nextSuffix)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// A request may move its vector to the built-in table's.
	trained := ix.base.tableVectors(ix.table, "close the handles", 0)
	if slices.Equal(trained.Other, trained.Vector) {
		t.Error("the vector by the trained table is that of the built-in one")
	}
	for _, way := range []float32{.5, 1, 1.5} {
		moved := ix.base.tableVectors(ix.table, "close the handles", way)
		for i, x := range moved.Other {
			if want := (1-way)*trained.Other[i] + way*trained.Vector[i]; math.Abs(float64(x-want)) > 1e-6 {
				t.Fatalf("number %d moved by %v is %f, want %f", i, way, x, want)
			}
		}
	}
	// What is new afterwards gets vectors of the same tables.
	feed.put(observation(5000, "The walrus service leaks file handles", "Each upload opens a handle that nobody closes."), prompt(5001, 3, "close the walrus handles"))
	catchUp(t, ix)
	checkTables(t, ix, feed)
	feed.delete(ref(memory.RecordObservation, 5000), ref(memory.RecordPrompt, 5001))
	catchUp(t, ix)
	if err := ix.Train(t.Context(), TrainOptions{}); err != nil || ix.Status().Model != status.Model {
		t.Errorf("training without new records: %v, model %s, was %s", err, ix.Status().Model, status.Model)
	}
	if got := answersTo(t, ix); !reflect.DeepEqual(got, after) {
		t.Error("training without new records changed answers")
	}

	reader, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if got := answersTo(t, reader); !reflect.DeepEqual(got, after) {
		t.Error("a reader answers otherwise")
	}
	if err := ix.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkTables(t, ix, feed)
	if got := ix.Status().Model; got != status.Model {
		t.Errorf("after a rebuild the model is %s, was %s", got, status.Model)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}

	ix = openIndex(t, path, feed, Options{})
	if got := ix.Status(); got.Model != status.Model || got.Waiting != 0 {
		t.Errorf("after a restart: %+v", got)
	}
	catchUp(t, ix)
	checkTables(t, ix, feed)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.db", "index.vec", "index.table"} {
		if err := os.Remove(filepath.Join(filepath.Dir(path), name)); err != nil {
			t.Fatal(err)
		}
	}
	ix = openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	if !ix.TrainingDue() {
		t.Error("without its files the table is not due")
	}
	trainIndex(t, ix)
	if got := ix.Status().Model; got != status.Model {
		t.Errorf("the same records gave the table %s, and before %s", got, status.Model)
	}
	if got := answersTo(t, ix); !reflect.DeepEqual(got, after) {
		t.Error("built from nothing, it answers otherwise")
	}
}

// A change of the table that was interrupted is completed or taken back at the next start:
// each state of the files that a kill can leave answers by one table.
func TestTrainInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing concurrent")
	}
	feed, folder := trainableFeed(), t.TempDir()
	before, after := filepath.Join(folder, "before"), filepath.Join(folder, "after")
	ix := openIndex(t, filepath.Join(mustMkdir(t, before), "index.db"), feed, Options{})
	catchUp(t, ix)
	untrained := answersTo(t, ix)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, before, after)
	ix = openIndex(t, filepath.Join(after, "index.db"), feed, Options{})
	trainIndex(t, ix)
	trained, model := answersTo(t, ix), ix.Status().Model
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		// files are copied from the folder before or after, to the name behind the arrow.
		files []string
		model string
		want  []Answer
		waits bool // its vectors are made anew
	}{
		{"table written", []string{"before/index.db", "before/index.vec", "after/index.table>index.table.new"}, embed.Model, untrained, false},
		{"vectors written", []string{"before/index.db", "before/index.vec", "after/index.table>index.table.new", "after/index.vec>index.vec.new"}, embed.Model, untrained, false},
		{"vectors renamed", []string{"before/index.db", "after/index.vec", "after/index.table>index.table.new"}, model, trained, false},
		{"both renamed", []string{"before/index.db", "after/index.vec", "after/index.table"}, model, trained, false},
		{"all done", []string{"after/index.db", "after/index.vec", "after/index.table"}, model, trained, false},
		{"only the name of the table survived a power cut", []string{"before/index.db", "before/index.vec", "after/index.table"}, model, trained, true},
		{"table deleted", []string{"after/index.db", "after/index.vec"}, embed.Model, untrained, true},
		{"vectors deleted", []string{"after/index.db", "after/index.table"}, model, trained, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tt.files {
				from, name, renamed := strings.Cut(f, ">")
				if !renamed {
					name = filepath.Base(from)
				}
				copyFile(t, filepath.Join(folder, from), filepath.Join(dir, name))
				if name == "index.db" {
					copyFile(t, sumsPath(filepath.Join(folder, from)), sumsPath(filepath.Join(dir, name)))
				}
			}
			ix := openIndex(t, filepath.Join(dir, "index.db"), feed, Options{})
			if got := ix.Status(); (got.Waiting > 0) != tt.waits && !tt.waits {
				t.Errorf("%d documents wait for vectors", got.Waiting)
			}
			catchUp(t, ix)
			if got := ix.Status().Model; got != tt.model {
				t.Errorf("model %s, want %s", got, tt.model)
			}
			checkTables(t, ix, feed)
			if got := answersTo(t, ix); !tt.waits && !reflect.DeepEqual(got, tt.want) {
				t.Error("it answers otherwise")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*"+nextSuffix)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}

	t.Run("damaged table", func(t *testing.T) {
		copyFolder(t, after, filepath.Join(folder, "damaged"))
		table := filepath.Join(folder, "damaged", "index.table")
		raw, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		if err := os.WriteFile(table, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		reader, err := OpenReadOnly(t.Context(), filepath.Join(folder, "damaged", "index.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a := answersTo(t, reader)[0]; a.Semantic || len(a.Matches) == 0 {
			t.Errorf("a reader without the table: semantic %v, %d matches", a.Semantic, len(a.Matches))
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		ix := openIndex(t, filepath.Join(folder, "damaged", "index.db"), feed, Options{})
		catchUp(t, ix)
		checkTables(t, ix, feed)
		if got := ix.Status(); got.Model != embed.Model || got.Trained != 0 {
			t.Errorf("status %+v", got)
		}
		trainIndex(t, ix)
		if got := ix.Status().Model; got != model {
			t.Errorf("trained again: %s, want %s", got, model)
		}
	})
	t.Run("training switched off", func(t *testing.T) {
		ix := openIndex(t, filepath.Join(after, "index.db"), feed, Options{Untrained: true})
		catchUp(t, ix)
		checkTables(t, ix, feed)
		if ix.TrainingDue() {
			t.Error("it is due")
		}
		trainIndex(t, ix) // does nothing
		if got := ix.Status(); got.Model != embed.Model || got.Trained != 0 {
			t.Errorf("status %+v", got)
		}
		if _, err := os.Stat(filepath.Join(after, "index.table")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the table is still there: %v", err)
		}
	})
}

func mustMkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// changingFeed changes records whenever some are read, before that.
type changingFeed struct {
	*memoryFeed
	mu     sync.Mutex
	change func(read int, refs []memory.RecordRef) // nil: nothing
	reads  int
}

func (f *changingFeed) Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error) {
	f.mu.Lock()
	change := f.change
	f.reads++
	n := f.reads
	f.mu.Unlock()
	if change != nil {
		change(n, refs)
	}
	return f.memoryFeed.Documents(ctx, refs...)
}

// Records that change while the table is trained, and while the new vectors are made, have
// vectors of the new table in the end, and those that were deleted have none.
func TestTrainWhileRecordsChange(t *testing.T) {
	feed := &changingFeed{memoryFeed: trainableFeed()}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	feed.mu.Lock()
	feed.change = func(n int, refs []memory.RecordRef) {
		if len(refs) <= 50 {
			return // no batch of the training or of new vectors
		}
		id := int64(n)
		feed.delete(ref(memory.RecordObservation, 10*id))
		feed.put(observation(10*id+1, fmt.Sprintf("The exporter %d drops its last row", n), "The loop ends one row early."),
			observation(10_000+id, fmt.Sprintf("A new note %d on the importer", n), "It reads the header twice."),
			prompt(20_000+id, 9, fmt.Sprintf("look at the importer %d again", n)))
	}
	feed.mu.Unlock()
	trainIndex(t, ix)
	feed.mu.Lock()
	feed.change = nil
	changes := feed.reads
	feed.mu.Unlock()
	catchUp(t, ix)
	if ix.Status().Trained == 0 || changes < 10 {
		t.Errorf("%d batches, status %+v", changes, ix.Status())
	}
	checkTables(t, ix, feed.memoryFeed)
	fragments := 0
	for _, d := range feed.all() {
		fragments += len(fragmentsOf(&d))
	}
	if s := ix.Status(); s.Documents != len(feed.all()) || s.Fragments != fragments || s.Waiting != 0 {
		t.Errorf("%+v for %d records of %d fragments", s, len(feed.all()), fragments)
	}
}

// An error of the disk leaves the old table in use, is told, and is gone after the next
// training.
func TestTrainOnFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector; what is concurrent about training is in TestTrain")
	}
	feed, folder := trainableFeed(), t.TempDir()
	ix := openIndex(t, filepath.Join(folder, "index.db"), feed, Options{})
	catchUp(t, ix)
	before := answersTo(t, ix)
	for _, name := range []string{"index.table.new", "index.vec.new"} {
		// A folder with something in it can be neither written nor deleted.
		blocked := filepath.Join(folder, name)
		mustMkdir(t, filepath.Join(blocked, "x"))
		if err := ix.Train(t.Context(), TrainOptions{}); err == nil {
			t.Errorf("with %s blocked: no error", name)
		}
		if s := ix.Status(); s.TrainError == "" || s.Trained != 0 || s.Error != "" {
			t.Errorf("with %s blocked: %+v", name, s)
		}
		if got := answersTo(t, ix); !reflect.DeepEqual(got, before) {
			t.Error("the old table does not answer")
		}
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
	}
	// The vectors cannot be written while they are made.
	fails := &changingFeed{memoryFeed: feed}
	ix2 := openIndex(t, filepath.Join(t.TempDir(), "index.db"), fails, Options{})
	catchUp(t, ix2)
	fails.mu.Lock()
	fails.change = func(int, []memory.RecordRef) {
		if s := ix2.base.successor; s != nil {
			_ = s.set.Close()
		}
	}
	fails.mu.Unlock()
	if err := ix2.Train(t.Context(), TrainOptions{}); err == nil {
		t.Error("with a closed file of vectors: no error")
	}
	if got := answersTo(t, ix2); !reflect.DeepEqual(got, before) {
		t.Error("the old table does not answer")
	}

	// The store cannot be read while they are made.
	stuck := &changingFeed{memoryFeed: trainableFeed()}
	ix3 := openIndex(t, filepath.Join(t.TempDir(), "index.db"), stuck, Options{After: func(time.Duration) <-chan time.Time { return nil }})
	catchUp(t, ix3)
	failed := errors.New("disk error")
	stuck.mu.Lock()
	stuck.change = func(int, []memory.RecordRef) {
		if ix3.base.successor != nil {
			stuck.memoryFeed.mu.Lock()
			stuck.fail = failed
			stuck.memoryFeed.mu.Unlock()
		}
	}
	stuck.mu.Unlock()
	if err := ix3.Train(t.Context(), TrainOptions{}); !errors.Is(err, failed) {
		t.Errorf("with a store that cannot be read: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(ix3.path), "*"+nextSuffix)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	trainIndex(t, ix)
	if s := ix.Status(); s.TrainError != "" || s.Trained != trainable {
		t.Errorf("with room again: %+v", s)
	}
	checkTables(t, ix, feed)
}

// A training ends with its context, and with the index. One at a time runs: another one waits for
// its end, and then the table is trained.
func TestTrainEnds(t *testing.T) {
	feed, path := trainableFeed(), filepath.Join(t.TempDir(), "index.db")
	paused := make(chan struct{}, 1)
	now := time.Now()
	var mu sync.Mutex
	ix := openIndex(t, path, feed, Options{
		Clock: func() time.Time { // each look at it takes 10 ms
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(10 * time.Millisecond)
			return now
		},
		After: func(d time.Duration) <-chan time.Time {
			if d > 10*time.Second {
				return nil // until the log is cut
			}
			if d > time.Second {
				t.Errorf("a rest of %v", d)
			}
			select {
			case paused <- struct{}{}:
			default:
			}
			return nil // for ever
		},
	})
	catchUp(t, ix)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ix.Train(ctx, TrainOptions{Share: .25}) }()
	<-paused
	second := make(chan error, 1)
	go func() { second <- ix.Train(t.Context(), TrainOptions{}) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if s := ix.Status(); s.TrainError != "" {
		t.Errorf("an end that was wanted is told as an error: %s", s.TrainError)
	}
	if err := <-second; err != nil || ix.Status().Trained != trainable {
		t.Errorf("a second training: %v, %+v", err, ix.Status())
	}
	go func() { ended <- ix.Train(t.Context(), TrainOptions{Share: .25}) }()
	<-paused
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("no error after the index was closed")
	}
}

// A table is not trained with few records, nor for another model.
func TestNotTrained(t *testing.T) {
	feed := trainableFeed()
	feed.delete(ref(memory.RecordObservation, 1))
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	trainIndex(t, ix)
	if s := ix.Status(); s.Trained != 0 || s.Model != embed.Model || ix.TrainingDue() {
		t.Errorf("with %d observations: %+v", trainable-1, s)
	}
}

// TestTrainingDueUnlocks: the question whether training is due leaves the index to its writer, also
// where a damaged table stays.
func TestTrainingDueUnlocks(t *testing.T) {
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), trainableFeed(), Options{})
	catchUp(t, ix)
	ix.tableKept.Store(true)
	if ix.TrainingDue() {
		t.Error("due with a damaged table")
	}
	if !ix.mu.TryLock() {
		t.Fatal("the index is still locked")
	}
	ix.mu.Unlock()
}

// TestLot: what a large memory is trained on is drawn from all of it.
func TestLot(t *testing.T) {
	ids := []int64{}
	for id := range int64(1000) {
		ids = append(ids, id)
	}
	drawn := slices.Clone(ids)
	slices.SortFunc(drawn, func(x, y int64) int {
		if lot(x) < lot(y) {
			return -1
		}
		return 1
	})
	sum := int64(0)
	for _, id := range drawn[:100] {
		sum += id
	}
	if mean := sum / 100; mean < 400 || mean > 600 {
		t.Errorf("the mean of 100 numbers drawn of 1000 is %d", mean)
	}
}
