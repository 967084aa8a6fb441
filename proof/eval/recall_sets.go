package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"sync/atomic"
	"time"
)

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
func (s *set) elsewhere(ctx context.Context, others []*set, took *pace) (all []exchange, records int, err error) {
	for _, m := range s.foreign(others) {
		part, err := scene{documents: m.documents, queries: m.queries, project: func(string) string { return "/eval/elsewhere" }, files: s.filesOf()}.run(ctx, took)
		if err != nil {
			return all, records, err
		}
		all = append(all, part...)
		if records == 0 || len(m.documents) < records {
			records = len(m.documents)
		}
	}
	return all, records, nil
}

func (s *set) holds(program string) bool {
	return slices.ContainsFunc(s.documents, func(d document) bool { return software(d.Corpus) == program })
}

// athome posts at most so many of the set's queries in projects whose memory holds their own
// corpora; removed leaves out every record that is relevant to one of them.
func (s *set) athome(ctx context.Context, removed bool, most int, took *pace) ([]exchange, error) {
	p := scene{documents: s.documents, queries: sample(s.queries, most), about: !removed, files: s.filesOf(),
		project: func(corpus string) string { return "/eval/" + label(corpus) }}
	if removed {
		relevant := map[string]bool{}
		for _, q := range p.queries {
			for _, id := range q.Relevant {
				relevant[id] = true
			}
		}
		p.documents = slices.DeleteFunc(slices.Clone(p.documents), func(d document) bool { return relevant[d.ID] })
	}
	p.dated = s.dated()
	return p.run(ctx, took)
}

// scene is documents that a memory holds and queries that are posted as prompts.
type scene struct {
	documents []document
	queries   []query
	project   func(corpus string) string
	// about says that the memory has something on the queries.
	about bool
	// dated says that the queries have a date: they are posted in its order, each at
	// its time, when what is older is in the memory and nothing else.
	dated bool
	// files returns the files of the session that asks; nil for none.
	files func(q *query) []string
}

// run enters the documents into a worker's memory and posts the queries, one after
// the other as a person does: what takes the worker too long is silence.
func (p scene) run(ctx context.Context, took *pace) (all []exchange, err error) {
	var now atomic.Int64 // in milliseconds, of a worker whose queries are dated
	var clock func() time.Time
	if p.dated {
		p.documents, p.queries = slices.Clone(p.documents), slices.Clone(p.queries)
		slices.SortStableFunc(p.documents, func(a, b document) int { return a.When().Compare(b.When()) })
		slices.SortStableFunc(p.queries, func(a, b query) int { return a.When().Compare(b.When()) })
		now.Store(p.queries[0].When().UnixMilli())
		clock = func() time.Time { return time.UnixMilli(now.Load()) }
	}
	w, err := startWorker(ctx, clock)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := asker{worker: w, clock: clock, entered: map[record][]string{}}
	defer func() { err = errors.Join(err, r.close()) }()
	next := 0
	if !p.dated {
		if err := r.enter(ctx, p.documents, p.project, w.enterAll); err != nil {
			return nil, err
		}
	}
	for i := range p.queries {
		q := &p.queries[i]
		var at time.Time
		if p.dated {
			at = q.When()
			now.Store(at.UnixMilli())
			older, _ := slices.BinarySearchFunc(p.documents, at, func(d document, at time.Time) int { return d.When().Compare(at) })
			if err := r.grow(ctx, p.documents[next:older], p.project); err != nil {
				return nil, err
			}
			next = older
		}
		fits := func(id string) bool { return p.about && slices.Contains(q.Relevant, id) }
		x := exchange{text: q.Text, about: p.about, fits: fits}
		if p.files != nil {
			x.files = p.files(q)
		}
		a, err := r.ask(ctx, x, p.project(q.Corpus), at)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", q.ID, err)
		}
		all = append(all, a)
	}
	*took = append(*took, r.took...)
	return all, nil
}
