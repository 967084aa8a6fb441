//go:build unix

package damage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/store"
	"claudemem/internal/run/control"
	"claudemem/internal/run/daemon"
	workerapi "claudemem/internal/serve/api"
)

const (
	// damagedRecords is enough for a trained table.
	damagedRecords = 1100
	damagedPage    = 4096
)

// damagedFiles are the files that are damaged.
var damagedFiles = []string{"index.db", "index.vec", "index.table", "memory.db"}

// damageWays are the kinds of damage. Each changes bytes of a file in place.
var damageWays = []struct {
	name   string
	change func(file []byte, r *rand.Rand)
}{
	{"byte", func(file []byte, r *rand.Rand) { file[r.IntN(len(file))] ^= byte(1 + r.IntN(255)) }},
	{"block", func(file []byte, r *rand.Rand) {
		at := r.IntN(max(1, len(file)-512))
		for i := range min(512, len(file)-at) {
			file[at+i] = byte(r.Uint32())
		}
	}},
	{"zeroed page", func(file []byte, r *rand.Rand) { clear(pageOf(file, r.IntN(pagesOf(file)))) }},
	{"swapped pages", func(file []byte, r *rand.Rand) {
		x, y := pageOf(file, r.IntN(pagesOf(file))), pageOf(file, r.IntN(pagesOf(file)))
		n := min(len(x), len(y))
		for i := range n {
			x[i], y[i] = y[i], x[i]
		}
	}},
}

func pagesOf(file []byte) int { return (len(file) + damagedPage - 1) / damagedPage }

func pageOf(file []byte, n int) []byte {
	return file[n*damagedPage : min((n+1)*damagedPage, len(file))]
}

// damageBench is a prepared memory, copies of which are damaged.
type damageBench struct {
	t     *testing.T
	from  string // its data directory
	texts map[string]string
	want  []string // the answers of the whole memory to damageQueries
	label string   // of the try
	// failing says that memory.db is damaged: searches may fail until the next worker has recovered it.
	failing bool
	// figures by file.
	noticed, harmless, different, processes, live, stopped map[string]int
}

// damageQueries are asked of each copy.
var damageQueries = []string{"Total 77 was rounded twice", "amount read summed", "part13.go", `"rounded twice" AND 400`}

func newDamageBench(t *testing.T) *damageBench {
	m := world.NewMemory(t)
	path := filepath.Join(t.TempDir(), "export.jsonl")
	world.WriteExport(t, path, "/src/tally", 0, damagedRecords)
	m.MustCommand("worker", "start")
	m.MustCommand("import", "--yes", path)
	m.MustCommand("reindex")
	m.MustCommand("backup")
	m.MustCommand("worker", "stop")
	b := &damageBench{t: t, from: m.Dir, texts: map[string]string{}}
	for _, counts := range []*map[string]int{&b.noticed, &b.harmless, &b.different, &b.processes, &b.live, &b.stopped} {
		*counts = map[string]int{}
	}
	for n := range damagedRecords {
		b.texts[fmt.Sprintf("Total %d was rounded twice", n)] = strings.Repeat(fmt.Sprintf("Amount %d is rounded when it is read and again when it is summed. ", n), 4)
	}
	b.inWorker(b.copied(), func(peer *workerapi.Remote) { b.want = b.answers(peer) })
	return b
}

// copied returns a copy of the prepared data directory.
func (b *damageBench) copied() string {
	dir := filepath.Join(b.t.TempDir(), "m")
	if err := os.CopyFS(dir, os.DirFS(b.from)); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// inWorker opens a worker of this process for dir and calls fn with a client of it.
func (b *damageBench) inWorker(dir string, fn func(peer *workerapi.Remote)) {
	b.t.Helper()
	w, err := daemon.Open(b.t.Context(), daemon.Config{DataDir: dir, Version: "test", CheckIndex: time.Millisecond})
	switch {
	case err != nil && b.failing: // the next one recovers the memory
		return
	case err != nil:
		b.t.Fatalf("%s: %v", b.label, err)
	}
	defer func() {
		if err := w.Close(context.WithoutCancel(b.t.Context())); err != nil {
			b.t.Error(err)
		}
	}()
	b.ask(dir, fn)
}

// inProcess does so with a process of its own.
func (b *damageBench) inProcess(dir string, fn func(peer *workerapi.Remote)) {
	b.t.Helper()
	var output bytes.Buffer
	cmd := exec.Command(world.Binary("claude-mem"), "worker", "run", "--check-index", "1ms")
	cmd.Env = append(os.Environ(), "CLAUDE_MEM_DATA_DIR="+dir)
	cmd.Stderr = &output
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	world.Until(b.t, 30*time.Second, "the worker serves", func() bool {
		_, err := os.Stat(filepath.Join(dir, "worker.json"))
		return err == nil || len(ended) > 0
	})
	if len(ended) > 0 && b.failing {
		return
	}
	if len(ended) > 0 {
		b.t.Fatalf("the worker ended: %v: %s", <-ended, output.Bytes())
	}
	b.ask(dir, fn)
	_ = cmd.Process.Signal(os.Interrupt)
	if err := <-ended; err != nil && !b.failing || bytes.Contains(output.Bytes(), []byte("panic")) {
		b.t.Errorf("the worker: %v: %s", err, output.Bytes())
	}
}

func (b *damageBench) ask(dir string, fn func(peer *workerapi.Remote)) {
	peer, err := workerapi.FindWorker(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	fn(peer)
}

// answers asks the queries and returns the titles of each answer. A text that is not the record's
// fails the test, and so does a search without an answer.
func (b *damageBench) answers(peer *workerapi.Remote) (all []string) {
	b.t.Helper()
	for _, query := range damageQueries {
		var page struct {
			Results []struct{ Title, Narrative string }
		}
		err := peer.DoWithin(b.t.Context(), time.Minute, http.MethodGet, "/api/search?kind=observation&format=full&limit=10&query="+url.QueryEscape(query), nil, &page)
		if err != nil && !b.failing {
			b.t.Errorf("%q: %v", query, err)
		}
		var titles []string
		for _, r := range page.Results {
			titles = append(titles, r.Title)
			if want, ok := b.texts[r.Title]; r.Narrative != want && (ok || !strings.Contains(r.Title+r.Narrative, "withheld")) {
				b.t.Errorf("%q: %q has the text %q", query, r.Title, r.Narrative)
			}
		}
		all = append(all, strings.Join(titles, "\n"))
	}
	return all
}

// repairsOf returns the repairs of a file.
func repairsOf(dir, file string) (list []control.Repair) {
	return slices.DeleteFunc(control.Repairs(dir), func(r control.Repair) bool { return r.File != file })
}

// damage changes a file in place, and reports whether its bytes are other ones.
func (b *damageBench) damage(path string, way func([]byte, *rand.Rand), r *rand.Rand) bool {
	b.t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	before := slices.Clone(file)
	way(file, r)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(file, 0); err != nil {
		b.t.Fatal(err)
	}
	return !bytes.Equal(before, file)
}

// try damages a file of a copy once or twice and checks what becomes of it.
func (b *damageBench) try(file string, n int) {
	r := rand.New(rand.NewPCG(uint64(n), 4))
	way := damageWays[n%len(damageWays)]
	dir := b.copied()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, file)
	worker := b.inWorker
	if n/len(damageWays)%10 == 0 {
		worker = b.inProcess
		b.processes[file]++
	}
	b.label = fmt.Sprintf("%s, %s %d", file, way.name, n)
	changed, got := false, []string(nil)
	// An open index is compared with its sums while there are searches.
	b.failing = file == "memory.db"
	if live := file == "index.db" && n/len(damageWays)%3 == 1; live {
		b.live[file]++
		worker(dir, func(peer *workerapi.Remote) {
			b.answers(peer)
			changed = b.damage(path, way.change, r)
			if changed {
				world.Until(b.t, 30*time.Second, b.label+": it is noticed", func() bool { b.answers(peer); return len(repairsOf(dir, file)) > 0 })
			}
			got = b.settled(peer)
		})
	} else {
		changed = b.damage(path, way.change, r)
		if b.failing { // a worker that finds damage while it serves stops, and the next one recovers
			worker(dir, func(peer *workerapi.Remote) { b.answers(peer) })
			worker = b.inWorker
		}
		b.failing = false
		worker(dir, func(peer *workerapi.Remote) { b.answers(peer); got = b.settled(peer) })
	}
	made := repairsOf(dir, file)
	switch {
	case !changed:
		b.harmless[file]++
	case len(made) > 0 || b.told(dir, file):
		b.noticed[file]++
	case file == "index.db":
		b.t.Errorf("%s: changed pages were not noticed", b.label)
	case slices.Equal(got, b.want):
		b.harmless[file]++
	default:
		b.t.Errorf("%s: other answers without a word:\n%s\nwant:\n%s", b.label, got, b.want)
	}
	if file != "memory.db" && !slices.Equal(got, b.want) && len(made) == 0 {
		b.different[file]++
	}
	if len(made) > 0 && n%5 == 0 && file != "memory.db" {
		b.again(file, way.change, dir, b.label, r)
	}
}

// told reports whether the worker has told of damage of the memory otherwise than by a repair: a
// record was taken from a backup or withheld.
func (b *damageBench) told(dir, file string) bool {
	if file != "memory.db" {
		return false
	}
	s, err := store.Open(b.t.Context(), filepath.Join(dir, file), store.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	standing, err := s.Standing(b.t.Context(), time.Now())
	return err == nil && len(standing) > 0
}

// settled waits until the index is built and returns the answers.
func (b *damageBench) settled(peer *workerapi.Remote) []string {
	b.t.Helper()
	world.Until(b.t, time.Minute, "the index is built: "+b.label, func() bool {
		var stats struct {
			Index struct {
				State             string
				Building          bool
				Behind, Documents int
				Waiting           int
			}
		}
		err := peer.Do(b.t.Context(), http.MethodGet, "/api/stats?brief=1", nil, &stats)
		return err == nil && stats.Index.State == "ok" && !stats.Index.Building && stats.Index.Behind == 0 && stats.Index.Documents > 0 && stats.Index.Waiting == 0
	})
	return b.answers(peer)
}

// again damages a repaired file once more: the repair is not made a second time, searches are
// answered, and a rebuild that a person asks for makes it whole.
func (b *damageBench) again(file string, way func([]byte, *rand.Rand), dir, label string, r *rand.Rand) {
	b.t.Helper()
	for range 20 { // until it is damage of the same kind
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return // the table was not trained anew
		}
		b.damage(filepath.Join(dir, file), way, r)
		b.inWorker(dir, func(peer *workerapi.Remote) { b.answers(peer) })
		if held := control.HeldRepairs(dir, false, time.Now()); len(held) > 0 {
			b.stopped[file]++
			seen := map[string]bool{}
			for _, r := range repairsOf(dir, file) {
				if seen[r.Reason] {
					b.t.Errorf("%s: repaired twice: %v", b.label, repairsOf(dir, file))
				}
				seen[r.Reason] = true
			}
			return
		}
	}
	content, _ := json.Marshal(control.Repairs(dir))
	b.t.Errorf("%s: repairs go on: %s", b.label, content)
}

// run tries each file so often.
func (b *damageBench) run(tries int) {
	for _, file := range damagedFiles {
		for n := range tries {
			b.try(file, n)
			if b.t.Failed() {
				return
			}
		}
		world.Figure(b.t, 4, "%s: %d damages (%d in processes of their own, %d while it was open): %d noticed, %d harmless; %d held after a second one",
			file, tries, b.processes[file], b.live[file], b.noticed[file], b.harmless[file], b.stopped[file])
	}
}

// TestSomeDamage is TestRandomDamage with a few tries.
func TestSomeDamage(t *testing.T) { newDamageBench(t).run(5) }
