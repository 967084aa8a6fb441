package index

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
)

// checkContents compares all that the index holds with what the feed has.
func checkContents(t errorer, ix *Index, feed *memoryFeed) {
	t.Helper()
	b, done, err := ix.current()
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer done()
	table, err := embed.Builtin()
	if err != nil {
		t.Fatalf("%v", err)
	}
	ctx := context.Background()
	type row struct{ terms, project int64 }
	wantTerms := map[row]int{}
	wantTotals := map[uint32]total{}
	wantText := map[string][]int64{}
	wantFragments := 0
	blocks := map[uint32]blockEntry{}
	if err := eachBlock(ctx, b.reader, func(number uint32, k *block) error {
		for place, e := range k {
			if e.kind != 0 {
				blocks[number*blockDocuments+uint32(place)] = e //nolint:gosec // below blockDocuments
			}
		}
		return nil
	}, "SELECT number, entries FROM blocks"); err != nil {
		t.Fatalf("%v", err)
	}
	a := newAnalyser()
	all := feed.all()
	for i := range all {
		d := &all[i]
		document, ok := b.cat.byRecord.get(keyOf(d.RecordRef))
		if !ok {
			t.Errorf("%v is not in the index", d.RecordRef)
			continue
		}
		want := a.analyse(d, table)
		project := b.cat.projects[d.ProjectPath]
		e := b.cat.entries[document]
		if e.project != project || e.session != int64(d.Session) || e.createdAt != int64(d.CreatedAt) || b.cat.typeList[e.typ] != d.Type {
			t.Errorf("%v: entry %+v of project %d", d.RecordRef, e, project)
		}
		if length, ok := b.cat.lengths.of(document); !ok || int(length) != min(want.length, 1<<16-2) {
			t.Errorf("%v: %d words in memory, want %d", d.RecordRef, length, want.length)
		}
		if of, _ := b.cat.eligible(Filter{Projects: []string{d.ProjectPath}}); !of.Has(document) {
			t.Errorf("%v: its project %s does not have it", d.RecordRef, d.ProjectPath)
		}
		var content, pieces []byte
		if err := b.reader.QueryRowContext(ctx, "SELECT words, pieces FROM contents WHERE document = ?", document).Scan(&content, &pieces); err != nil {
			t.Errorf("%v: %v", d.RecordRef, err)
			continue
		}
		for _, column := range []*[]byte{&content, &pieces} {
			if *column, err = unsealed(document, *column); err != nil {
				t.Errorf("%v: %v", d.RecordRef, err)
			}
		}
		var got rank.Document
		if err := b.cat.vocabulary.decodeWords(content, &got); err != nil {
			t.Errorf("%v: %v", d.RecordRef, err)
		}
		slices.Sort(want.pieces)
		if !equalWords(&got, &want.words) || !slices.Equal(unpackPieces(nil, pieces), want.pieces) {
			t.Errorf("%v: other words or pieces than the record has", d.RecordRef)
		}
		stored := blocks[document]
		if stored.entry.typ = e.typ; stored.entry != e || stored.typ != d.Type || stored.length != want.length {
			t.Errorf("%v: stored %+v, in memory %+v", d.RecordRef, stored, e)
		}
		if n := len(want.fragment); int(e.vectors) != n || b.vectors.Count(document) != n {
			t.Errorf("%v: %d vectors, the file has %d, want %d", d.RecordRef, e.vectors, b.vectors.Count(document), n)
		}
		for _, f := range want.fragment {
			vector := ix.tableOf(b.trained, d.Kind).Vector(table.Pieces(f.text))
			for _, m := range b.vectors.Compare(vectors.Query{Vector: vector}, document) {
				named := slices.ContainsFunc(want.fragment, func(f fragment) bool { return f.name == m.Fragment })
				if ix.local && (m.Cosine < .9 || !named) {
					t.Errorf("%v: the vector of %q is not there: %+v", d.RecordRef, f.text, m)
				}
			}
		}
		wantFragments += len(want.fragment)
		for _, term := range want.terms {
			wantTerms[row{int64(term), int64(project)}]++
		}
		for token := range strings.FieldsSeq(want.text) {
			if l := wantText[token]; !slices.Contains(l, int64(document)) {
				wantText[token] = append(l, int64(document))
			}
		}
		sum := wantTotals[project]
		sum.documents++
		sum.words += want.length
		wantTotals[project] = sum
	}
	gotTerms := map[row]int{}
	err = each(ctx, b.reader, "SELECT term, project, documents FROM terms", func(scan sqlite.Scan) error {
		var r row
		var n int
		err := scan(&r.terms, &r.project, &n)
		gotTerms[r] = n
		return err
	})
	if err != nil || !maps.Equal(gotTerms, wantTerms) {
		t.Errorf("document frequencies differ from those of the records: %d rows, want %d; %v", len(gotTerms), len(wantTerms), err)
	}
	wantWords := map[uint32]bool{}
	for r := range wantTerms {
		wantWords[uint32(r.terms)] = true //nolint:gosec // a hash
	}
	checkVocabulary(t, b, wantWords)
	sum := total{}
	for project, got := range b.cat.totals {
		if got != wantTotals[project] {
			t.Errorf("totals of project %d: %v, want %v", project, got, wantTotals[project])
		}
		sum.documents += got.documents
		sum.words += got.words
	}
	if sum != b.cat.all || sum.documents != len(all) {
		t.Errorf("totals of all: %v, want %v of %d documents", b.cat.all, sum, len(all))
	}
	var counts [4]int
	counts[3] = len(blocks)
	for i, table := range []string{"documents", "contents", "totals WHERE documents <> 0 OR words <> 0"} {
		if err := b.reader.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&counts[i]); err != nil {
			t.Errorf("%v", err)
		}
	}
	if want := [4]int{len(all), len(all), len(wantTotals), len(all)}; counts != want {
		t.Errorf("rows %v, want %v", counts, want)
	}
	if got := b.vectors.Len(); got != wantFragments {
		t.Errorf("%d vectors, want %d", got, wantFragments)
	}
	for word, want := range wantText {
		got, err := column[int64](ctx, b.read, "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", quote(word))
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: full text finds %v, want %v; %v", word, got, want, err)
		}
	}
	if len(wantText) == 0 {
		return
	}
	entries, records := 0, 0
	for _, page := range b.cat.byRecord {
		for _, document := range page {
			if document != 0 {
				records++
			}
		}
	}
	for _, e := range b.cat.entries {
		if e.kind != 0 {
			entries++
		}
	}
	if entries != len(all) || records != len(all) || len(b.cat.waiting) != 0 {
		t.Errorf("%d entries, %d records, %d waiting, want %d", entries, records, len(b.cat.waiting), len(all))
	}
}

func equalWords(x, y *rank.Document) bool {
	for f := range x.Words {
		if !slices.Equal(x.Words[f], y.Words[f]) {
			return false
		}
	}
	return true
}

// errorer is *testing.T or *rapid.T.
type errorer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// crash ends an index as kill -9 would: what it has in memory is lost, and the
// files are as they are. It returns the path of a copy of these.
func crash(t errorer, ix *Index, dir string) string {
	t.Helper()
	ix.follower.stop()
	path := filepath.Join(dir, "index.db")
	for _, suffix := range []string{".db", ".db-wal", ".db-sums", ".vec"} {
		b, err := os.ReadFile(strings.TrimSuffix(ix.path, ".db") + suffix)
		if err != nil {
			continue
		}
		if err := os.WriteFile(strings.TrimSuffix(path, ".db")+suffix, b, 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := ix.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return path
}

func TestFragmentsOf(t *testing.T) {
	d := observation(1, "Title", "Narrative")
	d.Facts = []string{"first", "", "third"}
	var names []string
	for _, f := range fragmentsOf(&d) {
		names = append(names, fragmentName(f.name)+"="+f.text)
	}
	got, want := strings.Join(names, " "), "title=Title narrative=Narrative fact_0=first fact_2=third"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p := prompt(1, 1, "do it")
	if f := fragmentsOf(&p); len(f) != 1 || fragmentName(f[0].name) != "text" {
		t.Errorf("prompt: %v", f)
	}
}

func TestAnalyseKeepsGaps(t *testing.T) {
	d := observation(1, "", "cart queue")
	d.Facts = []string{"red cart"}
	d.Concepts = []string{"a", "b"}
	a := newAnalyser().analyse(&d, nil)
	r := a.words
	got := r.Words[rank.Text]
	want := []uint32{hash("cart"), hash("queue"), 0, 0, 0, 0, hash("red"), hash("cart")}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if c := r.Words[rank.Concepts]; len(c) != 2+maxGap {
		t.Errorf("concepts %v", c)
	}
	if slices.SortFunc(a.terms, cmp.Compare[uint32]); len(slices.Compact(a.terms)) != 5 {
		t.Errorf("terms %v", a.terms)
	}
	if a.text != "cart queue red a b " {
		t.Errorf("text %q", a.text)
	}
	d.Title = "Cart"
	if a := newAnalyser().analyse(&d, nil); a.text != "cart _hcart queue red a b " {
		t.Errorf("text with a title %q", a.text)
	}
}
