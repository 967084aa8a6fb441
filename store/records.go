package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"claudemem"
)

// ProjectsNamed implements search.Records: the root paths of the projects that a
// root path or a label means. A name that none has is returned as it is: there
// are no records of it.
func (s *Store) ProjectsNamed(ctx context.Context, name string) ([]string, error) {
	projects, err := s.projectsNamed(ctx, name)
	return projects, fault("find project", err)
}

// FilterRecords implements search.Records. Records of the same time are in the
// order of their kinds (observation, prompt, summary) and numbers, the other way
// round when the newest come first.
func (s *Store) FilterRecords(ctx context.Context, q claudemem.Query, kinds []claudemem.RecordKind, by claudemem.Order) ([]claudemem.RecordRef, error) {
	const what = "filter records"
	o := newest
	if by == claudemem.OrderOldest {
		o = oldest
	}
	f, err := resolve(ctx, s.reader, q, kinds)
	if err != nil {
		return nil, fault(what, err)
	}
	refs, err := list(ctx, s.reader, &f, o, q.Limit, q.Offset)
	return refs, fault(what, err)
}

// list reads a page of what passes the filter; all of it when the limit is 0.
func list(ctx context.Context, q querier, f *recordFilter, o order, limit, offset int) ([]claudemem.RecordRef, error) {
	through := filesWhenRare
	if limit <= 0 {
		limit, through = math.MaxInt32, filesAll
	}
	sources, err := f.sources(ctx, q, o, through)
	if err != nil {
		return nil, err
	}
	return page(ctx, q, sources, o, limit, offset)
}

// page merges the sources in the order.
func page(ctx context.Context, q querier, sources []source, o order, limit, offset int) ([]claudemem.RecordRef, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	query, args := pageQuery(sources, o, limit, offset)
	// In one text: a row of its own for each of a hundred thousand numbers takes
	// three times as long.
	packed, err := value[string](ctx, q, "SELECT coalesce(group_concat(kind || id), '') FROM ("+query+")", args...)
	if err != nil {
		return nil, err
	}
	return unpack(packed)
}

// unpack reads "o12,p3,s4".
func unpack(packed string) ([]claudemem.RecordRef, error) {
	if packed == "" {
		return nil, nil
	}
	refs := make([]claudemem.RecordRef, 0, strings.Count(packed, ",")+1)
	for item := range strings.SplitSeq(packed, ",") {
		id, err := strconv.ParseInt(item[1:], 10, 64)
		if err != nil {
			return nil, err
		}
		refs = append(refs, claudemem.RecordRef{Kind: kindOf[item[0]], ID: id})
	}
	return refs, nil
}

// kindOf are the kinds by their first letters, which are in the same order.
var kindOf = map[byte]claudemem.RecordKind{
	'o': claudemem.RecordObservation, 'p': claudemem.RecordPrompt, 's': claudemem.RecordSummary,
}

// pageQuery selects the kinds, by their first letters, and numbers of a page.
func pageQuery(sources []source, o order, limit, offset int) (query string, args []any) {
	// Of each source no more can be on the page, or before it.
	limit, offset = min(limit, math.MaxInt32), min(max(offset, 0), math.MaxInt32)
	most := int64(limit) + int64(offset)
	direction := " DESC"
	if o == oldest {
		direction = ""
	}
	var parts []string
	union := " UNION ALL "
	for _, s := range sources {
		parts = append(parts, fmt.Sprintf(`SELECT * FROM (SELECT '%.1s' AS kind, %s AS id, %s AS at, %t AS pinned FROM %s WHERE %s ORDER BY %s%s, %s%s LIMIT ?)`,
			s.kind, s.id, s.at, s.pinned, s.from, s.condition(), s.at, direction, s.id, direction))
		args = append(append(args, s.args...), most)
		if s.repeated {
			union = " UNION "
		}
	}
	if len(sources) == 1 { // it is in order already
		return "SELECT kind, id FROM (" + parts[0] + ") LIMIT ? OFFSET ?", append(args, limit, offset)
	}
	query = "SELECT kind, id FROM (" + strings.Join(parts, union) + ")" +
		" ORDER BY pinned DESC, at" + direction + ", kind" + direction + ", id" + direction + " LIMIT ? OFFSET ?"
	return query, append(args, limit, offset)
}

// CountRecords implements search.Records; limit and offset don't matter. It is
// exact, and kept until something changes: counting what a broad filter passes
// reads as many entries of an index.
func (s *Store) CountRecords(ctx context.Context, q claudemem.Query, kinds []claudemem.RecordKind) (int, error) {
	const what = "count records"
	q.Limit, q.Offset = 0, 0
	key, err := encode(struct {
		Query claudemem.Query
		Kinds []claudemem.RecordKind
	}{q, kinds})
	if err != nil {
		return 0, fault(what, err)
	}
	n, err := inSnapshot(ctx, s, func(reader querier) (int, error) {
		seq, err := value[int64](ctx, reader, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'")
		if err != nil {
			return 0, err
		}
		if n, known := s.counts.get(seq, key); known {
			return n, nil
		}
		f, err := resolve(ctx, reader, q, kinds)
		if err != nil {
			return 0, err
		}
		n, err := f.count(ctx, reader)
		if err == nil {
			s.counts.put(seq, key, n)
		}
		return n, err
	})
	return n, fault(what, err)
}

// count counts what passes the filter.
func (f *recordFilter) count(ctx context.Context, q querier) (int, error) {
	if f.onlyFiles() {
		return f.countFiles(ctx, q)
	}
	sources, err := f.sources(ctx, q, newest, filesAll)
	if err != nil || len(sources) == 0 {
		return 0, err
	}
	query, args := countQuery(sources)
	return value[int](ctx, q, query, args...)
}

// countQuery returns the SQL that counts the records of all sources. A record that
// several sources have counts once if one of them is marked repeated.
func countQuery(sources []source) (query string, args []any) {
	var parts []string
	repeated := false
	for _, s := range sources {
		repeated = repeated || s.repeated
		args = append(args, s.args...)
	}
	for _, s := range sources {
		if repeated {
			parts = append(parts, "SELECT "+s.id+" FROM "+s.from+" WHERE "+s.condition())
		} else {
			parts = append(parts, "(SELECT count(*) FROM "+s.from+" WHERE "+s.condition()+")")
		}
	}
	if repeated {
		return "SELECT count(*) FROM (" + strings.Join(parts, " UNION ") + ")", args
	}
	return "SELECT " + strings.Join(parts, " + "), args
}

// RecordsByRefs implements search.Records: the records in the order asked for,
// without those that are gone or hidden.
func (s *Store) RecordsByRefs(ctx context.Context, refs ...claudemem.RecordRef) ([]claudemem.Hit, error) {
	hits, err := inSnapshot(ctx, s, func(q querier) ([]claudemem.Hit, error) { return readRecords(ctx, q, refs) })
	return hits, fault("read records", err)
}

// readRecords returns the records of refs in their order, without hidden and missing
// ones.
func readRecords(ctx context.Context, q querier, refs []claudemem.RecordRef) ([]claudemem.Hit, error) {
	found := make(map[claudemem.RecordRef]claudemem.Hit, len(refs))
	add := func(kind claudemem.RecordKind, id int64, h claudemem.Hit) {
		h.RecordRef = claudemem.RecordRef{Kind: kind, ID: id}
		found[h.RecordRef] = h
	}
	for kind, ids := range byKind(refs) {
		const wanted = "IN (SELECT value FROM json_each(?))"
		switch kind {
		case claudemem.RecordObservation:
			observations, err := readObservations(ctx, q, "SELECT "+observationColumns+
				" FROM observations o NOT INDEXED WHERE o.deleted_at IS NULL AND o.id "+wanted, jsonList(ids))
			if err != nil {
				return nil, err
			}
			for i, o := range observations {
				add(kind, int64(o.ID), claudemem.Hit{ProjectPath: o.ProjectPath, CreatedAt: o.CreatedAt, Observation: &observations[i]})
			}
		case claudemem.RecordSummary:
			summaries, projects, err := readSummaries(ctx, q, "id "+wanted, jsonList(ids))
			if err != nil {
				return nil, err
			}
			for i, m := range summaries {
				add(kind, m.ID, claudemem.Hit{ProjectPath: projects[i], CreatedAt: m.CreatedAt, Summary: &summaries[i]})
			}
		case claudemem.RecordPrompt:
			prompts, projects, err := readPrompts(ctx, q, "id "+wanted, jsonList(ids))
			if err != nil {
				return nil, err
			}
			for i, p := range prompts {
				add(kind, p.ID, claudemem.Hit{ProjectPath: projects[i], CreatedAt: p.CreatedAt, Prompt: &prompts[i]})
			}
		default:
			return nil, unknownKind(kind)
		}
	}
	hits := make([]claudemem.Hit, 0, len(found))
	for _, ref := range refs {
		if h, ok := found[ref]; ok {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// Around implements search.Records. The project is a root path or a label, ""
// for all. What is of the moment itself is in later, unless ref stands there:
// then kinds and numbers tell before from after.
func (s *Store) Around(ctx context.Context, project string, at claudemem.Millis, ref claudemem.RecordRef, before, after int) (earlier, later []claudemem.TimelineItem, err error) {
	const what = "read timeline"
	f, err := resolve(ctx, s.reader, claudemem.Query{Project: project}, nil)
	if err != nil {
		return nil, nil, fault(what, err)
	}
	err = s.snapshot(ctx, func(q querier) error {
		sources, err := f.sources(ctx, q, newest, filesWhenRare)
		if err != nil {
			return err
		}
		var sides [2][]claudemem.TimelineItem
		for side, limit := range []int{before, after} {
			if limit <= 0 {
				continue
			}
			o := newest
			if side == 1 {
				o = oldest
			}
			refs, err := page(ctx, q, beyond(sources, o, at, ref), o, limit, 0)
			if err != nil {
				return err
			}
			hits, err := readRecords(ctx, q, refs)
			if err != nil {
				return err
			}
			for _, h := range hits {
				sides[side] = append(sides[side], claudemem.TimelineItem{Hit: h, Session: h.SessionID()})
			}
		}
		earlier, later = sides[0], sides[1]
		slices.Reverse(earlier)
		return nil
	})
	return earlier, later, fault(what, err)
}

// beyond narrows sources to what comes after a place in the order.
func beyond(sources []source, o order, at claudemem.Millis, ref claudemem.RecordRef) []source {
	compare := " < "
	if o == oldest {
		compare = " > "
	}
	narrowed := make([]source, len(sources))
	for i, s := range sources {
		switch {
		case ref.ID == 0 && o == oldest:
			narrowed[i] = s.with(s.at+" >= ?", int64(at))
		case ref.ID == 0:
			narrowed[i] = s.with(s.at+" < ?", int64(at))
		case s.kind == ref.Kind:
			narrowed[i] = s.with("("+s.at+", "+s.id+")"+compare+"(?, ?)", int64(at), ref.ID)
		case (s.kind < ref.Kind) == (o == newest):
			narrowed[i] = s.with(s.at+compare[:2]+"= ?", int64(at))
		default:
			narrowed[i] = s.with(s.at+compare+"?", int64(at))
		}
	}
	return narrowed
}
