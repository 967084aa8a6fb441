package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// tally counts what came of posting prompts.
type tally struct {
	prompts int
	given   int // prompts that got anything
	right   int // prompts that got a relevant record
	lines   int // records given in all
	fitting int // relevant ones of those
}

func (t *tally) add(o tally) {
	t.prompts += o.prompts
	t.given += o.given
	t.right += o.right
	t.lines += o.lines
	t.fitting += o.fitting
}

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// anything is the share of prompts that got something, precision that of what was
// given that holds a relevant record, reach the share of prompts that got one.
func (t tally) anything() float64  { return share(t.given, t.prompts) }
func (t tally) precision() float64 { return share(t.right, t.given) }
func (t tally) reach() float64     { return share(t.right, t.prompts) }

// count is the tally of one prompt: the documents behind each line that it got.
func count(lines [][]string, relevant func(id string) bool) tally {
	t := tally{prompts: 1, lines: len(lines)}
	for _, ids := range lines {
		if slices.ContainsFunc(ids, relevant) {
			t.fitting++
		}
	}
	t.given, t.right = min(1, t.lines), min(1, t.fitting)
	return t
}

// reminder posts prompts and keeps how long the answers took.
type reminder struct {
	worker  *worker
	entered map[record][]string
	posted  int
	took    pace
}

// lineNumber is the record's number in a line of a recollection. Titles may hold
// something like it, so it is the last of its line that counts.
var lineNumber = regexp.MustCompile(`\(#(\d+)\)`)

// numbersIn reads which records a recollection shows.
func numbersIn(text string) (numbers []int64, err error) {
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "- ") {
			continue
		}
		found := lineNumber.FindAllStringSubmatch(l, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("a line of a recollection has no number: %.200q", l)
		}
		n, err := strconv.ParseInt(found[len(found)-1][1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number in %.200q: %w", l, err)
		}
		numbers = append(numbers, n)
	}
	if text != "" && len(numbers) == 0 {
		return nil, fmt.Errorf("a recollection without a line: %.200q", text)
	}
	return numbers, nil
}

// post posts a prompt as the hook does, in a session of its own, so that what was
// given before does not count. It returns the documents behind each line that came.
func (r *reminder) post(ctx context.Context, project, text string, at time.Time) ([][]string, error) {
	r.posted++
	name := "asks-" + strconv.Itoa(r.posted)
	body := map[string]any{
		"host": "claude-code", "kind": "prompt", "host_session_id": name, "prompt_id": name,
		"project_path": project, "cwd": project, "prompt": text,
	}
	if !at.IsZero() {
		body["occurred_at"] = at.UnixMilli()
	}
	var got struct {
		Status  string `json:"status"`
		Context string `json:"additional_context"`
	}
	start := time.Now()
	if err := r.worker.post(ctx, "/api/sessions/init", body, &got); err != nil {
		return nil, err
	}
	r.took = append(r.took, time.Since(start))
	if got.Status != "queued" {
		return nil, fmt.Errorf("the prompt was not taken in: %s", got.Status)
	}
	numbers, err := numbersIn(got.Context)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for _, n := range numbers {
		ids, ok := r.entered[record{"observation", n, 0}]
		if !ok {
			return nil, fmt.Errorf("record %d was shown and not entered: %.300q", n, got.Context)
		}
		lines = append(lines, ids)
	}
	return lines, nil
}

// pace is how long answers took.
type pace []time.Duration

// of returns the median and the longest of them.
func (p pace) of() (median, longest time.Duration) {
	if len(p) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(p))
	return sorted[len(p)/2], sorted[len(p)-1]
}

// maxAsked is how many queries of a set are posted: enough for shares of a percent,
// few enough that all sets take minutes.
const maxAsked = 400

// sample takes at most n queries, always the same: those with the smallest hash.
func sample(queries []query, n int) []query {
	if len(queries) <= n {
		return queries
	}
	rank := func(q query) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(q.ID)) // never fails
		return h.Sum64()
	}
	sorted := slices.Clone(queries)
	slices.SortStableFunc(sorted, func(a, b query) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted[:n]
}

// software is what a corpus is of: two sets may have records of the same program,
// one of them under its owner's name.
func software(corpus string) string { return path.Base(corpus) }

// foreign is a memory of other sets with the queries that it has nothing on.
type foreign struct {
	documents []document
	queries   []query
}

// foreign divides the set's queries by the memory that they are posted to: what the
// other sets have, and nothing of the program that a query is about.
func (s *set) foreign(others []*set) []foreign {
	bySoftware := map[string][]query{}
	for _, q := range sample(s.queries, maxAsked) {
		// Programs that no other set has share one memory.
		name := ""
		if slices.ContainsFunc(others, func(o *set) bool { return o.holds(software(q.Corpus)) }) {
			name = software(q.Corpus)
		}
		bySoftware[name] = append(bySoftware[name], q)
	}
	var memories []foreign
	for _, name := range slices.Sorted(maps.Keys(bySoftware)) {
		m := foreign{queries: bySoftware[name]}
		for _, o := range others {
			for _, d := range o.documents {
				if name == "" || software(d.Corpus) != name {
					m.documents = append(m.documents, d)
				}
			}
		}
		memories = append(memories, m)
	}
	return memories
}

// elsewhere posts the set's queries in projects whose memory holds what the other
// sets have. Records are those of the smallest such memory.
func (s *set) elsewhere(ctx context.Context, others []*set, took *pace) (sum tally, records int, err error) {
	for _, m := range s.foreign(others) {
		t, err := posted(ctx, m.documents, m.queries, func(string) string { return "/eval/elsewhere" }, nil, took)
		if err != nil {
			return sum, records, err
		}
		sum.add(t)
		if records == 0 || len(m.documents) < records {
			records = len(m.documents)
		}
	}
	return sum, records, nil
}

func (s *set) holds(program string) bool {
	return slices.ContainsFunc(s.documents, func(d document) bool { return software(d.Corpus) == program })
}

// athome posts the set's queries in projects whose memory holds their own corpora;
// removed leaves out every record that is relevant to one of them.
func (s *set) athome(ctx context.Context, removed bool, took *pace) (tally, error) {
	queries := sample(s.queries, maxAsked)
	documents := s.documents
	if removed {
		relevant := map[string]bool{}
		for _, q := range queries {
			for _, id := range q.Relevant {
				relevant[id] = true
			}
		}
		documents = slices.DeleteFunc(slices.Clone(documents), func(d document) bool { return relevant[d.ID] })
	}
	project := func(corpus string) string { return "/eval/" + label(corpus) }
	return posted(ctx, documents, queries, project, func(q *query) func(string) bool {
		return func(id string) bool { return slices.Contains(q.Relevant, id) }
	}, took)
}

// posted enters documents into a worker's memory and posts queries as prompts, one
// after the other as a person does: what takes the worker too long is silence.
// Queries with a date are posted in its order, each at its time, when what is older
// is in the memory and nothing else.
func posted(ctx context.Context, documents []document, queries []query, project func(corpus string) string,
	relevant func(*query) func(id string) bool, took *pace,
) (sum tally, err error) {
	dated := relevant != nil && slices.ContainsFunc(queries, func(q query) bool { return q.Before != "" })
	var clock func() time.Time
	var now atomic.Int64
	if dated {
		documents, queries = slices.Clone(documents), slices.Clone(queries)
		slices.SortStableFunc(documents, func(a, b document) int { return a.when().Compare(b.when()) })
		slices.SortStableFunc(queries, func(a, b query) int { return a.asked().Compare(b.asked()) })
		now.Store(queries[0].asked().UnixMilli())
		clock = func() time.Time { return time.UnixMilli(now.Load()) }
	}
	w, err := startWorker(ctx, clock)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := reminder{worker: w, entered: map[record][]string{}}
	next := 0
	enter := func(until int) error {
		part, err := w.enterAll(ctx, documents[next:until], project)
		if err != nil {
			return err
		}
		for at, ids := range part {
			r.entered[at] = append(r.entered[at], ids...)
		}
		next = until
		return w.indexed(ctx)
	}
	if !dated {
		if err := enter(len(documents)); err != nil {
			return sum, err
		}
	}
	for i := range queries {
		q := &queries[i]
		var at time.Time
		if dated {
			at = q.asked()
			now.Store(at.UnixMilli())
			until, _ := slices.BinarySearchFunc(documents, at, func(d document, at time.Time) int { return d.when().Compare(at) })
			if until > next {
				if err := enter(until); err != nil {
					return sum, err
				}
			}
		}
		lines, err := r.post(ctx, project(q.Corpus), q.Text, at)
		if err != nil {
			return sum, fmt.Errorf("query %s: %w", q.ID, err)
		}
		fits := func(string) bool { return false }
		if relevant != nil {
			fits = relevant(q)
		}
		sum.add(count(lines, fits))
	}
	*took = append(*took, r.took...)
	return sum, nil
}

// when is a document's time; those without one come first.
func (d *document) when() time.Time {
	at, _ := d.moment()
	return at
}

func (q *query) asked() time.Time {
	at, _ := time.Parse(time.RFC3339, q.Before)
	return at
}
