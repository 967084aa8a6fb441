package train_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/embed/train"
	"claudemem/proof/corpus"
)

func builtin(t testing.TB) *embed.Table {
	t.Helper()
	table, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// pairsOf returns the pairs of n invented observations.
func pairsOf(table *embed.Table, n int) (pairs []train.Pair) {
	c := corpus.New(1, n, 1_700_000_000_000)
	for i := range n {
		o := c.Observation(i)
		pairs = append(pairs, train.Pair{Title: table.Pieces(o.Title), Text: table.Pieces(o.Narrative)})
	}
	return pairs
}

func rest() error { return nil }

// The same pairs give the same file; another order or another pair gives another one.
func TestSameTable(t *testing.T) {
	base := builtin(t)
	pairs := pairsOf(base, 300)
	given := slices.Clone(pairs)
	table, file, err := train.Table(base, pairs, 400, rest)
	if err != nil {
		t.Fatal(err)
	}
	training, ok := table.Training()
	if !ok || training.Records != 300 || training.Of != 400 || training.Input != train.Input(base, pairs) {
		t.Errorf("training %+v, %v", training, ok)
	}
	for i := range pairs {
		if !slices.Equal(pairs[i].Title, given[i].Title) {
			t.Fatal("the pairs of the caller are in another order")
		}
	}
	again, other, err := train.Table(base, pairs, 400, rest)
	if err != nil || !bytes.Equal(file, other) || again.Model() != table.Model() {
		t.Errorf("the same pairs gave %s and %s; %v", table.Model(), again.Model(), err)
	}
	pairs[0], pairs[1] = pairs[1], pairs[0]
	if train.Input(base, pairs) == training.Input {
		t.Error("another order is the same input")
	}
	if train.Input(base, pairs[1:]) == training.Input {
		t.Error("a pair less is the same input")
	}
}

// Words that stand together in the memory come nearer to each other.
func TestLearns(t *testing.T) {
	base := builtin(t)
	pairs := pairsOf(base, 1500)
	// In this memory the walrus is the payment service.
	for i := range pairs {
		if i%10 == 0 {
			pairs[i].Title = append(slices.Clone(pairs[i].Title), base.Pieces("walrus")...)
			pairs[i].Text = append(slices.Clone(pairs[i].Text), base.Pieces("payment invoice checkout")...)
		}
	}
	table, _, err := train.Table(base, pairs, len(pairs), rest)
	if err != nil {
		t.Fatal(err)
	}
	likeness := func(table *embed.Table, a, b string) (sum float32) {
		x, y := table.Vector(table.Pieces(a)), table.Vector(table.Pieces(b))
		for i := range x {
			sum += x[i] * y[i]
		}
		return sum
	}
	before, after := likeness(base, "walrus", "payment invoice"), likeness(table, "walrus", "payment invoice")
	if after < before+.15 {
		t.Errorf("the likeness of what stands together was %.3f and is %.3f", before, after)
	}
	if a, b := likeness(table, "walrus", "payment invoice"), likeness(table, "walrus", "kernel driver"); a <= b {
		t.Errorf("likeness %.3f, of what never stands together %.3f", a, b)
	}
}

// Pairs that say nothing, and too few of them, change nothing and do no harm.
func TestLittleToLearn(t *testing.T) {
	base := builtin(t)
	for name, pairs := range map[string][]train.Pair{
		"none": nil, "no pieces": make([]train.Pair, 1000), "few": pairsOf(base, 10),
	} {
		table, _, err := train.Table(base, pairs, len(pairs), rest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pieces := base.Pieces("the login fails")
		for i, x := range table.Vector(pieces) {
			if want := base.Vector(pieces)[i]; x-want > .01 || want-x > .01 {
				t.Errorf("%s: the table has changed", name)
				break
			}
		}
	}
	same := make([]train.Pair, 500) // all alike: there is nothing to tell apart
	for i := range same {
		same[i] = train.Pair{Title: base.Pieces("bump version"), Text: base.Pieces(strings.Repeat("bump version ", 3))}
	}
	table, _, err := train.Table(base, same, len(same), rest)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range table.Vector(base.Pieces("bump version")) {
		if x != x {
			t.Fatal("not a number")
		}
	}
}

func TestEndsWithRest(t *testing.T) {
	base := builtin(t)
	n := 0
	_, _, err := train.Table(base, pairsOf(base, 1000), 1000, func() error {
		if n++; n == 3 {
			return context.Canceled
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("%v after %d calls", err, n)
	}
}

// 1,000 observations of about 100 words: six epochs.
func BenchmarkTable(b *testing.B) {
	base := builtin(b)
	pairs := pairsOf(base, 1000)
	for b.Loop() {
		if _, _, err := train.Table(base, pairs, len(pairs), rest); err != nil {
			b.Fatal(err)
		}
	}
}
