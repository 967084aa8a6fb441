package index

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/keep/index/vectors"
)

// TestEligibleOfProject: the documents of a project follow the changes.
func TestEligibleOfProject(t *testing.T) {
	c := newCatalogue()
	c.addProject(1, "/cart")
	c.addProject(2, "/queue")
	check := func(path string, want ...uint32) {
		t.Helper()
		set, n := c.eligible(Filter{Projects: []string{path}})
		if got := slices.Collect(set.All()); !slices.Equal(got, want) || n != len(want) {
			t.Errorf("%s: got %v, %d of them, want %v", path, got, n, want)
		}
	}
	check("/cart")
	c.put(1, entry{record: 1, project: 1, kind: kindObservation}, 3)
	c.put(2, entry{record: 2, project: 2, kind: kindObservation}, 3)
	check("/cart", 1)
	check("/queue", 2)
	c.put(1, entry{record: 1, project: 2, kind: kindObservation}, 3)
	check("/cart")
	check("/queue", 1, 2)
	c.drop(2)
	check("/queue", 1)
}

// TestCutNearest: of documents that are equally near, the newest are kept, whatever their numbers.
func TestCutNearest(t *testing.T) {
	c := newCatalogue()
	for document, at := range map[uint32]int64{1: 30, 2: 10, 3: 20, 4: 40} {
		c.put(document, entry{record: int64(document), createdAt: at, kind: kindObservation}, 0)
	}
	near := []vectors.Match{{Document: 2, Cosine: .9}, {Document: 3, Cosine: .5}, {Document: 7, Cosine: .5}, {Document: 1, Cosine: .5}, {Document: 4, Cosine: .5}}
	for most, want := range [][]uint32{1: {2}, 2: {2, 4}, 3: {2, 4, 1}, 4: {2, 3, 1, 4}} {
		if most == 0 {
			continue
		}
		var got []uint32
		for _, m := range c.cutNearest(slices.Clone(near), most) {
			got = append(got, m.Document)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", most, got, want)
		}
	}
}

// TestGatherThroughFilter: where hardly a document with the rarer words of a text passes the
// filter, its frequent words are looked up too, and a word that costs too much does not end that.
func TestGatherThroughFilter(t *testing.T) {
	const here, elsewhere = directDocuments + 500, 5000
	feed := newMemoryFeed()
	for i := range int64(here + elsewhere) {
		d := observation(i+1, fmt.Sprint("A kettle and a zeppelin, ", i), "")
		d.ProjectPath = "/elsewhere"
		switch {
		case i < 3:
			d.Title, d.ProjectPath = fmt.Sprint("A kettle, ", i), "/here"
		case i < 10:
			d.Title, d.ProjectPath = fmt.Sprint("A zeppelin, ", i), "/here"
		case i < here:
			d.Title, d.ProjectPath = fmt.Sprint("The cart is round, ", i), "/here"
		case i%10 > 0:
			d.Title += ": round"
		}
		feed.put(d)
	}
	b := builtBase(t, feed)
	for _, f := range []Filter{{Projects: []string{"/here"}}, {Until: observation(here, "", "").CreatedAt}} {
		r := Request{Text: "kettle zeppelin round", Filter: f, Limit: 10}
		q, err := b.readQuery(t.Context(), r.Text, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		eligible, n := b.cat.eligible(f)
		if n != here {
			t.Fatalf("%+v: %d are eligible, want %d", f, n, here)
		}
		for i := range q.terms {
			if q.terms[i].text == "zeppelin" {
				q.terms[i].everywhere = 100 * gatherMost // it costs too much
			}
		}
		found, err := b.gather(t.Context(), q, eligible, lexicalCandidates)
		if err != nil || len(found) != lexicalCandidates {
			t.Errorf("%+v: %d were gathered, %v, want %d", f, len(found), err, lexicalCandidates)
		}
		for _, x := range found {
			if !eligible.Has(x.document) {
				t.Errorf("%+v: document %d is not eligible", f, x.document)
			}
		}
	}
}

// builtBase returns the files of an index of all records of a feed, open until the test ends.
func builtBase(t *testing.T, feed Feed) *base {
	t.Helper()
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	b, done, err := ix.current()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return b
}

// TestGatherHighest: documents that are passed over while words are counted are not among those
// with the highest scores.
func TestGatherHighest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	feed := newMemoryFeed()
	word := func() string { return fmt.Sprintf("word%c", 'a'+rune(24*r.Float64()*r.Float64())) }
	for i := range int64(directDocuments + 4000) {
		var text strings.Builder
		for range 2 + r.IntN(12) {
			text.WriteString(word() + " ")
		}
		feed.put(observation(i+1, fmt.Sprint(word(), " ", i), text.String()))
	}
	b := builtBase(t, feed)
	passed := 0
	for range 30 {
		var words []string
		for range 2 + r.IntN(8) {
			words = append(words, word())
		}
		q, err := b.readQuery(t.Context(), strings.Join(words, " "), Request{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		const wanted = 20
		got, err := b.gather(t.Context(), q, nil, wanted)
		if err != nil {
			t.Fatal(err)
		}
		// All documents get a score where all are wanted.
		all, err := b.gather(t.Context(), q, nil, len(b.cat.entries))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(x, y candidate) int {
			return cmp.Or(cmp.Compare(y.glance, x.glance), b.cat.compareAge(x.document, y.document))
		})
		for _, x := range all[:wanted] {
			if !slices.ContainsFunc(got, func(y candidate) bool { return x.document == y.document && x.glance == y.glance }) {
				t.Fatalf("%q: document %d with a score of %g is not among the best %d", words, x.document, x.glance, wanted)
			}
		}
		partly := &tally{scores: make([]float32, len(b.cat.entries))}
		if err := b.count(t.Context(), partly, q, q.rarestFirst(), nil, wanted); err != nil {
			t.Fatal(err)
		}
		if len(partly.touched) < len(all) {
			passed++
		}
	}
	if passed == 0 {
		t.Error("no query passed documents over")
	}
}

// TestScope: a part of a filter that passes more than half of the documents does not narrow it.
// TestListsWhileWriting: a list has all documents of its word at every moment, also while others
// are written and segments, with their pages, become one.
func TestListsWhileWriting(t *testing.T) {
	feed := newMemoryFeed()
	const lasting = 3000
	for id := range int64(lasting) {
		feed.put(observation(1+id, fmt.Sprintf("Retry queue of part %d", id%50), fmt.Sprintf("build %d", id)))
	}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				n := [2]int{}
				err := ix.base.documentsWith(ctx, []string{"queue", headingToken("queue")}, func(token int, documents []uint32) { n[token] = len(documents) })
				if err != nil && ctx.Err() == nil || err == nil && (n[0] < lasting || n[1] < lasting) {
					t.Errorf("%d documents, %d with the word in their title: %v", n[0], n[1], err)
					cancel()
				}
			}
		})
	}
	for id := int64(lasting); id < lasting+200 && ctx.Err() == nil; id += 10 {
		for i := range int64(10) {
			feed.put(observation(1+id+i, "Another retry queue", "while it is read"))
		}
		catchUp(t, ix)
		if id%50 == 0 {
			if _, err := ix.base.conn.ExecContext(t.Context(), "INSERT INTO texts(texts) VALUES ('optimize')"); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	readers.Wait()
}

func TestScope(t *testing.T) {
	c := newCatalogue()
	c.all.documents = 1000
	for p, documents := range map[uint32]int{1: 100, 2: 900} {
		c.addProject(p, fmt.Sprint("/", p))
		c.totals[p] = total{documents: documents}
	}
	for _, tt := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, `"a"`},
		{Filter{Projects: []string{"/1"}}, `("a") AND ("_p1")`},
		{Filter{Projects: []string{"/2"}}, `"a"`},
		{Filter{Projects: []string{"/1"}, Session: 7}, `("a") AND ("_p1") AND ("_s7")`},
	} {
		if got := both(`"a"`, c.scope(tt.filter)); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.filter, got, tt.want)
		}
	}
}
