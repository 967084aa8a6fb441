package index

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// reference returns the expression as FTS5 understands it when it knows where words stand.
func (c *clause) reference() string {
	list := func(parts []*clause, operator string) string {
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.reference())
		}
		return "(" + strings.Join(texts, operator) + ")"
	}
	switch c.op {
	case clauseOr:
		return list(c.parts, " OR ")
	case clauseIn:
		column := map[fieldSet]string{inTitle.fields: "title", inText.fields: "text", inFiles.fields: "{files parts}", inConcepts.fields: "concepts"}
		return column[c.fields] + " : " + list(c.parts, " AND ")
	case clauseAnd:
		if len(c.without) > 0 {
			return "(" + list(c.parts, " AND ") + " NOT " + list(c.without, " OR ") + ")"
		}
		return list(c.parts, " AND ")
	}
	var texts []string
	for _, p := range c.phrases {
		text := quote(strings.Join(p.words, " "))
		if p.begins {
			text += " *"
		}
		texts = append(texts, text)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return fmt.Sprintf("NEAR(%s, %d)", strings.Join(texts, " "), c.distance)
}

// columnsOf returns the words of each field of an observation.
func columnsOf(d memory.Document) (columns [rank.NumFields]string) {
	add := func(field rank.Field, list []words.Word) {
		for _, w := range list {
			in := field
			if w.Part {
				in = rank.Parts
			}
			columns[in] += w.Text + " "
		}
	}
	add(rank.Title, words.Text(d.Title))
	for _, text := range append([]string{d.Text}, d.Facts...) {
		add(rank.Text, words.Text(text))
	}
	add(rank.Files, words.Paths(d.Files))
	for _, concept := range d.Concepts {
		add(rank.Concepts, words.Text(concept))
	}
	return columns
}

// few words, so that phrases meet by chance.
var fewWords = []string{"cart", "carton", "total", "queue", "the", "go"}

func someClause(t *rapid.T, depth int) *clause {
	word := rapid.SampledFrom(fewWords)
	some := func(least int) (parts []*clause) {
		for range rapid.IntRange(least, 3).Draw(t, "parts") {
			parts = append(parts, someClause(t, depth-1))
		}
		return parts
	}
	op := clauseNear
	if depth > 0 {
		op = rapid.SampledFrom([]clauseOp{clauseOr, clauseAnd, clauseIn, clauseNear}).Draw(t, "op")
	}
	switch op {
	case clauseOr:
		return &clause{op: op, parts: some(1)}
	case clauseAnd:
		return &clause{op: op, parts: some(1), without: some(0)}
	case clauseIn:
		in := rapid.SampledFrom([]clause{inTitle, inText, inFiles, inConcepts}).Draw(t, "column")
		in.parts = []*clause{someClause(t, depth-1)}
		return &in
	}
	c := &clause{op: op, distance: rapid.IntRange(0, 4).Draw(t, "distance")}
	for range rapid.IntRange(1, 3).Draw(t, "phrases") {
		c.phrases = append(c.phrases, newPhrase(rapid.SliceOfN(word, 1, 3).Draw(t, "phrase"), false))
	}
	if len(c.phrases) == 1 && rapid.Bool().Draw(t, "begins") {
		c.phrases[0] = newPhrase(c.phrases[0].words, true)
	}
	return c
}

// TestClausesMatchAsFTS5Does compares clauses with a full-text index that knows where words
// stand.
func TestClausesMatchAsFTS5Does(t *testing.T) {
	feed := newMemoryFeed()
	ix, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	full, err := sql.Open(sqlite.Driver, filepath.Join(t.TempDir(), "full.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	full.SetMaxOpenConns(1)
	if _, err := full.Exec("CREATE VIRTUAL TABLE texts USING fts5(title, text, files, concepts, parts, neighbours, content='', tokenize='ascii tokenchars _')"); err != nil {
		t.Fatal(err)
	}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(fewWords, "cartTotal", "queue_total.go")), 0, 8).Draw(t, "words"), " ")
	})
	list := rapid.SliceOfN(text, 0, 3)
	for id := range int64(120) {
		d := observation(id+1, text.Example(int(id)), text.Example(int(1000+id)))
		d.Facts, d.Files, d.Concepts = list.Example(int(2000+id)), list.Example(int(3000+id)), list.Example(int(4000+id))
		feed.put(d)
		c := columnsOf(d)
		if _, err := full.Exec("INSERT INTO texts(rowid, title, text, files, concepts, parts, neighbours) VALUES (?, ?, ?, ?, ?, ?, ?)", id+1, c[0], c[1], c[2], c[3], c[4], c[5]); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		c := someClause(t, 3)
		var want []int64
		rows := func(fn func(sqlite.Scan) error) error {
			return sqlite.Rows(full.Query("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", c.reference())).Each(fn) //nolint:rowserrcheck // Each checks it
		}
		if err := rows(func(scan sqlite.Scan) error {
			want = append(want, 0)
			return scan(&want[len(want)-1])
		}); err != nil {
			t.Fatal(c.reference(), err)
		}
		b, done, err := ix.current()
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		answer, err := b.matchExpression(context.Background(), &expression{clause: c}, Filter{}, 0)
		if err != nil {
			t.Fatal(c.match(allFields), err)
		}
		var got []int64
		for _, m := range answer.Matches {
			got = append(got, m.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s, for FTS5 %s: got %v, want %v", c.reference(), c.match(allFields), got, want)
		}
		matched += len(want)
	})
	if matched == 0 {
		t.Error("nothing ever matched")
	}
}
