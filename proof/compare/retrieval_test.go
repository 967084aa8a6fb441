//go:build linux

package compare

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/eval/relevance"
)

// measureRetrieval asks the same queries of each set. The eval asks claude-mem and BM25.
func measureRetrieval(t *testing.T, r *report, folder, program string) {
	there, err := relevance.Sets(folder)
	world.Must(t, err)
	var asked []string
	for _, name := range sets {
		if slices.Contains(there, name) {
			asked = append(asked, name)
		} else {
			r.notRun("the set "+name, "it was not among the sets that were given")
		}
	}
	if len(asked) == 0 {
		t.Fatalf("none of %v is in %s", sets, folder)
	}
	file := filepath.Join(t.TempDir(), "rankings.jsonl")
	cmd := exec.Command("go", "run", "./proof/eval", "-no-bars", "-data", folder, "-sets", strings.Join(asked, ","),
		"-queries", strconv.Itoa(*queries), "-rankings", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("eval: %v\n%s", err, out)
	}
	found := readRankings(t, file)
	for _, name := range asked {
		documents, all, err := relevance.Read(filepath.Join(folder, name))
		world.Must(t, err)
		drawn := relevance.Draw(all, *queries)
		byDeja := askDeja(t, program, documents, drawn)
		plain, search, session := scores{}, scores{}, scores{}
		for _, q := range drawn {
			f, ok := found[name+"\x00"+q.ID]
			if !ok {
				t.Fatalf("%s: the eval did not ask %s", name, q.ID)
			}
			plain.add(f.Plain, q.Relevant)
			search.add(f.Search, q.Relevant)
			session.add(byDeja[q.ID], q.Relevant)
		}
		r.Sets = append(r.Sets, setRow{
			Name: name, Documents: len(documents), Queries: len(drawn),
			Dated: slices.ContainsFunc(drawn, func(q relevance.Query) bool { return q.Before != "" }),
			By:    map[string]scores{ours: search.mean(), plainBM25: plain.mean(), dejaVu: session.mean()},
		})
	}
}

func readRankings(t *testing.T, file string) map[string]relevance.Rankings {
	t.Helper()
	f, err := os.Open(file)
	world.Must(t, err)
	defer func() { _ = f.Close() }() // nothing was written
	found := map[string]relevance.Rankings{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var one relevance.Rankings
		world.Must(t, json.Unmarshal(lines.Bytes(), &one))
		found[one.Set+"\x00"+one.Query] = one
	}
	world.Must(t, lines.Err())
	return found
}

// mostHits is how many sessions deja-vu returns at most.
const mostHits = 100

// askDeja writes each document as a transcript of a session, those of a corpus into a HOME of
// their own, and returns what deja-vu finds by query. A text with turns is a message a turn.
func askDeja(t *testing.T, program string, documents []relevance.Document, queries []relevance.Query) map[string][]string {
	t.Helper()
	homes, ids, moments := map[string]*dejaHome{}, map[string]map[string]string{}, map[string]time.Time{}
	for i := range documents {
		d := &documents[i]
		if homes[d.Corpus] == nil {
			homes[d.Corpus], ids[d.Corpus] = newDejaHome(t, program), map[string]string{}
		}
		at, dated := d.Moment()
		if dated {
			moments[d.ID] = at
		} else {
			at = time.Now().AddDate(-1, 0, 0)
		}
		texts := []string{d.Text}
		if d.Meta.Turns > 0 {
			texts = strings.Split(d.Text, "\n")
		}
		ids[d.Corpus][homes[d.Corpus].session(t, at, texts...)] = d.ID
	}
	for _, h := range homes {
		if out, err := h.command("index").CombinedOutput(); err != nil {
			t.Fatalf("deja index: %v: %s", err, out)
		}
	}
	found := make([][]string, len(queries))
	errs := make([]error, len(queries))
	next := make(chan int)
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			for i := range next {
				found[i], errs[i] = askOne(homes[queries[i].Corpus], &queries[i], ids[queries[i].Corpus], moments)
			}
		})
	}
	for i := range queries {
		next <- i
	}
	close(next)
	running.Wait()
	world.Must(t, errors.Join(errs...))
	byQuery := map[string][]string{}
	for i := range queries {
		byQuery[queries[i].ID] = found[i]
	}
	for _, h := range homes {
		endAll(h.dir) // a refresh in the background
	}
	return byQuery
}

// askOne returns the documents that deja-vu finds for a query. It has no option for what was
// before a time, so of a query with a date it is asked for all it returns, and what is not older
// is left out.
func askOne(h *dejaHome, q *relevance.Query, ids map[string]string, moments map[string]time.Time) ([]string, error) {
	limit := depth
	var before time.Time
	if q.Before != "" {
		var err error
		if before, err = time.Parse(time.RFC3339, q.Before); err != nil {
			return nil, err
		}
		limit = mostHits
	}
	sessions, err := h.search(q.Text, limit+min(len(q.Exclude), mostHits-limit))
	var ranked []string
	for _, session := range sessions {
		id := ids[session]
		if slices.Contains(q.Exclude, id) || q.Before != "" && !moments[id].Before(before) {
			continue
		}
		ranked = append(ranked, id)
	}
	return ranked, err
}

// depth is how many results of a query count.
const depth = 10

// scores are sums over queries, or their means.
type scores struct{ n, hit1, hit5, mrr float64 }

// add adds a query whose answers are relevant.
func (s *scores) add(ranked, relevant []string) {
	s.n++
	first := slices.IndexFunc(ranked, func(id string) bool { return slices.Contains(relevant, id) })
	switch {
	case first < 0 || first >= depth:
		return
	case first == 0:
		s.hit1++
		fallthrough
	case first < 5:
		s.hit5++
	}
	s.mrr += 1 / float64(first+1)
}

func (s *scores) mean() scores {
	n := max(1, s.n)
	return scores{s.n, s.hit1 / n, s.hit5 / n, s.mrr / n}
}
