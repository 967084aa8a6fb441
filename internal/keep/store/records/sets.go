package records

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// The worker keeps, of each part of a filter that was asked for (a type, a concept, a file, a
// project), the observations that pass it, a bit each, and the times of all observations. A
// filter of several parts is then counted and listed in memory: the indexes of the database
// answer one part at a time, and going through what passes a usual concept took 100 ms at
// 100,000 observations. The change feed says which observations to look at again, so that
// the first answer after a change costs as much as the others.

const (
	// setBytes bounds the memory of the sets: of 100,000 observations one has 12 KB.
	setBytes = 4 << 20
	// caughtUp is the number of changed observations up to which a set is brought up to date
	// instead of being read again.
	caughtUp = 500
)

// idSet is a set of observations by number. It does not change once it is in the cache.
type idSet []uint64

func (s idSet) has(id int64) bool {
	return id >= 0 && id>>6 < int64(len(s)) && s[id>>6]>>(id&63)&1 == 1
}

// with returns a copy of the set in which those of ids that are in present are there, and
// the others are not. ids has at least one number, none below 0.
func (s idSet) with(ids, present []int64) idSet {
	grown := make(idSet, max(len(s), int(slices.Max(ids)>>6)+1))
	copy(grown, s)
	for _, id := range ids {
		grown[id>>6] &^= 1 << (id & 63)
	}
	for _, id := range present {
		grown[id>>6] |= 1 << (id & 63)
	}
	return grown
}

// setOf returns the set of some numbers, none below 0. It takes a bit for each up to the
// greatest: see dense.
func setOf(ids []int64) idSet {
	if len(ids) == 0 {
		return nil
	}
	return idSet(nil).with(ids, ids)
}

// union adds the members of another set to s, which may grow and must not be one of the cache.
func (s idSet) union(other idSet) idSet {
	if len(s) < len(other) {
		s = append(s, make(idSet, len(other)-len(s))...)
	}
	for i, word := range other {
		s[i] |= word
	}
	return s
}

// intersect removes from s, which must not be one of the cache, what is not in another set.
func (s idSet) intersect(other idSet) idSet {
	s = s[:min(len(s), len(other))]
	for i := range s {
		s[i] &= other[i]
	}
	return s
}

// timeline has the observations that are not hidden in order of time and number. It does not
// change once it is in the cache.
type timeline struct {
	at    []memory.Millis // by number
	order []int64         // numbers, the oldest first
}

func (t *timeline) compare(x, y int64) int {
	return cmp.Or(cmp.Compare(t.at[x], t.at[y]), cmp.Compare(x, y))
}

// timed is an observation and its time.
type timed struct {
	id int64
	at memory.Millis
}

// newTimeline returns the timeline of observations whose numbers are from 0 to most.
func newTimeline(list []timed, most int64) *timeline {
	t := &timeline{at: make([]memory.Millis, most+1), order: make([]int64, len(list))}
	for i, x := range list {
		t.at[x.id], t.order[i] = x.at, x.id
	}
	slices.SortFunc(t.order, t.compare)
	return t
}

// with returns a copy in which ids, at least one, have the times of list, or are not there.
func (t *timeline) with(ids []int64, list []timed) *timeline {
	next := &timeline{at: make([]memory.Millis, max(len(t.at), int(slices.Max(ids))+1)), order: make([]int64, 0, len(t.order)+len(list))}
	copy(next.at, t.at)
	changed := setOf(ids)
	for _, id := range t.order {
		if !changed.has(id) {
			next.order = append(next.order, id)
		}
	}
	for _, x := range list {
		next.at[x.id] = x.at
		place, _ := slices.BinarySearchFunc(next.order, x.id, next.compare)
		next.order = slices.Insert(next.order, place, x.id) // most are the newest
	}
	return next
}

// maxSparse bounds the memory that one large number can take: numbers are given one after the
// other, but a damaged or imported row may have any.
const maxSparse = 1 << 22

// errSparse says that sets would take too much memory: the database answers.
var errSparse = errors.New("numbers too far apart for sets")

// dense reports whether all numbers are from 0 to most.
func dense(ids []int64, most int64) bool {
	return !slices.ContainsFunc(ids, func(id int64) bool { return id < 0 || id > most })
}

// sets are what is remembered. The zero value remembers nothing yet.
type sets struct {
	mu    sync.Mutex
	known map[string]knownSet
	bytes int
	times *timeline
	// timesSeq is the number of the last change that times knows.
	timesSeq int64
}

// knownSet is a set as of a change of the feed.
type knownSet struct {
	seq int64
	ids idSet
}

// part is a part of a filter that has a set: one value of one field.
type part struct {
	recordFilter
	key   string
	query string // of the numbers that pass, hidden ones maybe too
	args  []any
}

func typePart(t string) part {
	return part{recordFilter: recordFilter{types: []string{t}}, key: "type " + t, args: []any{t},
		query: "SELECT id AS observation_id FROM observations INDEXED BY observations_type_everywhere WHERE type = ? AND deleted_at IS NULL"}
}

func conceptPart(concept string) part {
	return part{recordFilter: recordFilter{concepts: []string{concept}}, key: "concept " + concept, args: []any{concept},
		query: "SELECT observation_id FROM observation_concepts WHERE concept = ?"}
}

// projectPart has "pinned IN (0, 1)", which is always true: only with it the index applies.
func projectPart(project string) part {
	return part{recordFilter: recordFilter{projects: []string{project}}, key: "project " + project, args: []any{project},
		query: "SELECT id AS observation_id FROM observations INDEXED BY observations_newest WHERE project = ? AND pinned IN (0, 1) AND deleted_at IS NULL"}
}

func filePart(f fileFilter) part {
	query, args := f.query()
	return part{recordFilter: recordFilter{files: []fileFilter{f}}, key: "file " + f.project + "\x00" + f.part, query: query, args: args}
}

// inMemory reports whether the observations of the filter are counted and listed by sets.
// Those of a session are few.
func (s *Records) inMemory(f *recordFilter) bool {
	return s.Writable() && f.session == 0 && slices.Equal(f.kinds, observationsOnly)
}

// passing returns the set of observations that pass the filter, but for its times, at a change
// of the feed, and the times of all. q is a snapshot, and seq the last change in it. The set may have
// hidden ones, which have no time. errSparse when sets would be too large.
func (s *Records) passing(ctx context.Context, q db.Querier, f *recordFilter, seq int64) (idSet, *timeline, error) {
	times, err := s.sets.timeline(ctx, q, seq)
	if err != nil {
		return nil, nil, err
	}
	groups := slices.DeleteFunc([][]part{
		collect.Map(f.projects, projectPart), collect.Map(f.types, typePart), collect.Map(f.concepts, conceptPart), collect.Map(f.files, filePart),
	}, func(parts []part) bool { return len(parts) == 0 })
	var passed idSet
	for i, group := range groups {
		var any idSet // that pass one of the group
		for _, p := range group {
			set, err := s.sets.get(ctx, q, p, seq)
			if err != nil {
				return nil, nil, err
			}
			any = any.union(set)
		}
		if i == 0 {
			passed = any
		} else {
			passed = passed.intersect(any)
		}
	}
	if len(groups) == 0 {
		passed = setOf(times.order)
	}
	return passed, times, nil
}

// within reports whether the filter's times let an observation of that time pass.
func (f *recordFilter) within(at memory.Millis) bool {
	return (f.since == 0 || at >= f.since) && (f.until == 0 || at <= f.until)
}

// countPassing counts the observations that pass the filter; errSparse as passing.
func (s *Records) countPassing(ctx context.Context, q db.Querier, f *recordFilter, seq int64) (int, error) {
	passed, times, err := s.passing(ctx, q, f, seq)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, id := range times.order {
		if passed.has(id) && f.within(times.at[id]) {
			n++
		}
	}
	return n, nil
}

// listPassing returns a page of the observations that pass the filter, in order of time (o is newest
// or oldest); all when the limit is 0. q, seq and errSparse as passing.
func (s *Records) listPassing(ctx context.Context, q db.Querier, f *recordFilter, o order, limit, offset int, seq int64) ([]memory.RecordRef, error) {
	passed, times, err := s.passing(ctx, q, f, seq)
	if err != nil {
		return nil, err
	}
	var refs []memory.RecordRef
	for i := range times.order {
		id := times.order[i]
		if o != oldest {
			id = times.order[len(times.order)-1-i]
		}
		if !passed.has(id) || !f.within(times.at[id]) {
			continue
		}
		if offset > 0 {
			offset--
			continue
		}
		refs = append(refs, memory.RecordRef{Kind: memory.RecordObservation, ID: id})
		if len(refs) == limit {
			break
		}
	}
	return refs, nil
}

// get returns the set of a part at a change of the feed, from what is remembered if it can. The
// set is shared: nobody changes it. errSparse when it would be too large.
func (c *sets) get(ctx context.Context, q db.Querier, p part, seq int64) (idSet, error) {
	c.mu.Lock()
	known, ok := c.known[p.key]
	c.mu.Unlock()
	ids, err := renewed(ctx, q, known.ids, ok, known.seq, seq, func() (idSet, error) {
		list, err := joined(ctx, q, "observation_id", parseID, p.query, p.args...)
		if err != nil {
			return nil, err
		}
		if !dense(list, maxSparse) {
			return nil, errSparse
		}
		return setOf(list), nil
	}, func(changed []int64) (idSet, error) {
		if !dense(changed, maxSparse) {
			return nil, errSparse
		}
		s := source{id: "r.id", at: "r.created_at", from: "observations r NOT INDEXED", conditions: conditions{where: []string{"r.deleted_at IS NULL"}}}
		s.and("r.id IN (SELECT value FROM json_each(?))", db.JSONList(changed))
		p.check(&s)
		present, err := joined(ctx, q, "id", parseID, "SELECT "+s.id+" FROM "+s.from+" WHERE "+s.text(), s.args...)
		if err != nil {
			return nil, err
		}
		return known.ids.with(changed, present), nil
	})
	if err == nil {
		c.put(p.key, knownSet{seq, ids})
	}
	return ids, err
}

// renewed returns what is remembered as of a change of the feed, if it is, as of another one: as
// it is when no observation changed in between, changed when few did, and else anew.
func renewed[T any](ctx context.Context, q db.Querier, known T, remembered bool, knownSeq, seq int64, anew func() (T, error), change func(changed []int64) (T, error)) (T, error) {
	if remembered {
		changed, complete, err := changedSince(ctx, q, knownSeq, seq)
		switch {
		case err != nil:
			return *new(T), err
		case complete && len(changed) == 0:
			return known, nil
		case complete:
			return change(changed)
		}
	}
	return anew()
}

// put remembers a set, unless a newer one is known. When there is no room any others make
// way.
func (c *sets) put(key string, s knownSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]knownSet{}
	}
	old, ok := c.known[key]
	if ok && old.seq > s.seq {
		return
	}
	size := func(key string, s knownSet) int { return 8*len(s.ids) + len(key) + 100 }
	if ok {
		c.bytes -= size(key, old)
	}
	c.known[key] = s
	c.bytes += size(key, s)
	for other, set := range c.known { // in no order
		if c.bytes <= setBytes {
			break
		}
		if other != key {
			c.bytes -= size(other, set)
			delete(c.known, other)
		}
	}
}

// timeline returns the times at a change of the feed, shared like a set. errSparse when they
// would be too large.
func (c *sets) timeline(ctx context.Context, q db.Querier, seq int64) (*timeline, error) {
	c.mu.Lock()
	known, knownSeq := c.times, c.timesSeq
	c.mu.Unlock()
	next, err := renewed(ctx, q, known, known != nil, knownSeq, seq, func() (*timeline, error) {
		list, err := joined(ctx, q, timedItem, parseTimed, "SELECT id, created_at FROM observations INDEXED BY observations_newest_everywhere WHERE pinned IN (0, 1) AND deleted_at IS NULL")
		if err != nil {
			return nil, err
		}
		least, most := int64(0), int64(0)
		for _, x := range list {
			least, most = min(least, x.id), max(most, x.id)
		}
		if least < 0 || most > maxSparse+8*int64(len(list)) {
			return nil, errSparse
		}
		return newTimeline(list, most), nil
	}, func(changed []int64) (*timeline, error) {
		list, err := joined(ctx, q, timedItem, parseTimed, "SELECT id, created_at FROM observations WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL", db.JSONList(changed))
		if err != nil {
			return nil, err
		}
		if !dense(changed, maxSparse+8*int64(len(known.order))) {
			return nil, errSparse
		}
		return known.with(changed, list), nil
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil || c.timesSeq <= seq {
		c.times, c.timesSeq = next, seq
	}
	return next, nil
}

// timedItem is the expression, over rows with id and created_at, of what parseTimed parses.
const timedItem = "id || ' ' || created_at"

func parseTimed(item string) (timed, error) {
	left, right, _ := strings.Cut(item, " ")
	id, err := parseID(left)
	at, failed := parseID(right)
	return timed{id, memory.Millis(at)}, cmp.Or(err, failed)
}

// changedSince lists the observations that changed after one change of the feed, up to
// another; complete is false when they are too many or not all known.
func changedSince(ctx context.Context, q db.Querier, after, upTo int64) (ids []int64, complete bool, err error) {
	if after == upTo {
		return nil, true, nil
	}
	if after > upTo {
		return nil, false, nil // a reader that began before
	}
	oldest, err := db.Value[int64](ctx, q, "SELECT coalesce((SELECT min(seq) FROM changes), ? + 1)", upTo)
	if err != nil || after < oldest-1 {
		return nil, false, err
	}
	ids, err = db.Column[int64](ctx, q, "SELECT DISTINCT id FROM changes WHERE seq > ? AND seq <= ? AND kind = 'observation' LIMIT +?", after, upTo, caughtUp+1)
	return ids, len(ids) <= caughtUp, err
}
