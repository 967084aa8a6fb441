package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// FilterRecords implements search.Records: the records that pass, the newest first unless by
// says otherwise; all when the limit is 0. Records of the same time are in the
// order of their kinds (observation, prompt, summary) and numbers, the other way
// round when the newest come first. CodeInvalid for an unknown kind.
func (s *Records) FilterRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind, by memory.Order) (refs []memory.RecordRef, err error) {
	o := newest
	if by == memory.OrderOldest {
		o = oldest
	}
	return db.InSnapshot(ctx, s.DB, "filter records", func(reader db.Querier) ([]memory.RecordRef, error) {
		f, err := s.resolveFilter(ctx, reader, q, kinds)
		if err != nil {
			return nil, err
		}
		if s.inMemory(&f) {
			seq, err := feedPosition(ctx, reader)
			if err != nil {
				return nil, err
			}
			if refs, err := s.listPassing(ctx, reader, &f, o, q.Limit, max(q.Offset, 0), seq); !errors.Is(err, errSparse) {
				return refs, err
			}
		}
		return list(ctx, reader, &f, o, q.Limit, q.Offset)
	})
}

// feedPosition returns the number of the last change of the feed.
func feedPosition(ctx context.Context, q db.Querier) (int64, error) {
	return db.Value[int64](ctx, q, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'")
}

// list returns a page of the records that pass the filter, in order o, also pinnedNewest; all of
// them when the limit is 0. How files are found only makes a difference to the time that it takes.
func list(ctx context.Context, q db.Querier, f *recordFilter, o order, limit, offset int) ([]memory.RecordRef, error) {
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

// page returns a page of the records of all sources together, in order o.
func page(ctx context.Context, q db.Querier, sources []source, o order, limit, offset int) ([]memory.RecordRef, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	query, args := pageQuery(sources, o, limit, offset)
	return joined(ctx, q, "kind || id", func(item string) (memory.RecordRef, error) {
		id, err := parseID(item[1:])
		return memory.RecordRef{Kind: kindOf[item[0]], ID: id}, err
	}, query, args...)
}

// joined returns what parse makes of the values of an expression over the rows that a query
// selects. They come in one text: a row of its own for each of a hundred thousand numbers takes
// three times as long.
func joined[T any](ctx context.Context, q db.Querier, expression string, parse func(string) (T, error), query string, args ...any) ([]T, error) {
	packed, err := db.Value[string](ctx, q, "SELECT coalesce(group_concat("+expression+"), '') FROM ("+query+")", args...)
	if err != nil || packed == "" {
		return nil, err
	}
	list := make([]T, 0, strings.Count(packed, ",")+1)
	for item := range strings.SplitSeq(packed, ",") {
		value, err := parse(item)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func parseID(number string) (int64, error) { return strconv.ParseInt(number, 10, 64) }

// kindOf are the kinds by their first letters, which are in the same order.
var kindOf = map[byte]memory.RecordKind{
	'o': memory.RecordObservation, 'p': memory.RecordPrompt, 's': memory.RecordSummary,
}

// pageQuery returns the SQL, with its arguments, that selects the kind, by its first letter, and
// the id of the records of a page of the sources.
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
		parts = append(parts, fmt.Sprintf(`SELECT * FROM (SELECT '%.1s' AS kind, %s AS id, %s AS at, %t AS pinned FROM %s WHERE %s ORDER BY %s%s, %s%s LIMIT +?)`,
			s.kind, s.id, s.at, s.pinned, s.from, s.text(), s.at, direction, s.id, direction))
		args = append(append(args, s.args...), most)
		if s.repeated {
			union = " UNION "
		}
	}
	if len(sources) == 1 { // it is in order already
		return "SELECT kind, id FROM (" + parts[0] + ") LIMIT +? OFFSET ?", append(args, limit, offset)
	}
	query = "SELECT kind, id FROM (" + strings.Join(parts, union) + ")" +
		" ORDER BY pinned DESC, at" + direction + ", kind" + direction + ", id" + direction + " LIMIT +? OFFSET ?"
	return query, append(args, limit, offset)
}

// CountRecords implements search.Records; limit and offset don't matter. It is
// exact, and kept until something changes: counting what a broad filter passes
// reads as many entries of an index.
func (s *Records) CountRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind) (int, error) {
	const what = "count records"
	q.Limit, q.Offset = 0, 0
	key, err := db.Encode(struct {
		Query memory.Query
		Kinds []memory.RecordKind
	}{q, kinds})
	if err != nil {
		return 0, db.Fault(what, err)
	}
	return CountOnce(ctx, s.DB, &s.counts, what, key, func(reader db.Querier, seq int64) (int, error) {
		f, err := s.resolveFilter(ctx, reader, q, kinds)
		if err != nil {
			return 0, err
		}
		if s.inMemory(&f) {
			if n, err := s.countPassing(ctx, reader, &f, seq); !errors.Is(err, errSparse) {
				return n, err
			}
		}
		return f.count(ctx, reader)
	})
}

// CountOnce returns what count counts at a change of the feed; it is kept under key in memory
// until something changes.
func CountOnce[T any](ctx context.Context, d *db.DB, mem *CountMemory[T], what, key string, count func(reader db.Querier, seq int64) (T, error)) (T, error) {
	return db.InSnapshot(ctx, d, what, func(reader db.Querier) (T, error) {
		seq, err := feedPosition(ctx, reader)
		if err != nil {
			return *new(T), err
		}
		if n, known := mem.get(seq, key); known {
			return n, nil
		}
		n, err := count(reader, seq)
		if err == nil {
			mem.put(seq, key, n)
		}
		return n, err
	})
}

// count returns how many records pass the filter, by the database alone.
func (f *recordFilter) count(ctx context.Context, q db.Querier) (int, error) {
	sources, err := f.sources(ctx, q, newest, filesAll)
	if err != nil || len(sources) == 0 {
		return 0, err
	}
	query, args := countQuery(sources)
	return db.Value[int](ctx, q, query, args...)
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
			parts = append(parts, "SELECT "+s.id+" FROM "+s.from+" WHERE "+s.text())
		} else {
			parts = append(parts, "(SELECT count(*) FROM "+s.from+" WHERE "+s.text()+")")
		}
	}
	if repeated {
		return "SELECT count(*) FROM (" + strings.Join(parts, " UNION ") + ")", args
	}
	return "SELECT " + strings.Join(parts, " + "), args
}

// RecordsByRefs implements search.Records: the records in the order asked for,
// without those that are gone or hidden. A text that was changed on the disk is withheld.
func (s *Records) RecordsByRefs(ctx context.Context, refs ...memory.RecordRef) ([]memory.Hit, error) {
	ctx = sqlite.Brief(ctx)
	read := func(refs []memory.RecordRef) ([]memory.Hit, error) {
		return db.InSnapshot(ctx, s.DB, "read records", func(q db.Querier) ([]memory.Hit, error) { return recordsByRefs(ctx, q, refs) })
	}
	if len(refs) < readTogether {
		return read(refs)
	}
	// Each record is of one moment; they need not all be of the same.
	var halves [2][]memory.Hit
	var failed [2]error
	collect.InHalves(len(refs), func(from, to int) {
		half := min(from, 1)
		halves[half], failed[half] = read(refs[from:to])
	})
	return append(halves[0], halves[1]...), cmp.Or(failed[0], failed[1])
}

// readTogether is the least number of records for which two connections share the reading.
const readTogether = 10

// recordsByRefs returns the records of refs in their order, without hidden and missing
// ones.
func recordsByRefs(ctx context.Context, q db.Querier, refs []memory.RecordRef) ([]memory.Hit, error) {
	byKind := map[memory.RecordKind][]int64{}
	for _, ref := range refs {
		byKind[ref.Kind] = append(byKind[ref.Kind], ref.ID)
	}
	found := make(map[memory.RecordRef]memory.Hit, len(refs))
	for kind, ids := range byKind {
		hits, err := readRecords(ctx, q, kind, "r.id IN (SELECT value FROM json_each(?))", db.JSONList(ids))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			found[h.RecordRef] = h
		}
	}
	hits := make([]memory.Hit, 0, len(found))
	for _, ref := range refs {
		if h, ok := found[ref]; ok {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// readRecords reads the records of a kind. The condition, which may have an order
// and a limit, is over their rows r.
func readRecords(ctx context.Context, q db.Querier, kind memory.RecordKind, condition string, args ...any) (hits []memory.Hit, err error) {
	add := func(id int64, project string, at memory.Millis) *memory.Hit {
		hits = append(hits, memory.Hit{RecordRef: memory.RecordRef{Kind: kind, ID: id}, ProjectPath: project, CreatedAt: at})
		return &hits[len(hits)-1]
	}
	switch kind {
	case memory.RecordObservation:
		list, err := readObservations(ctx, q, "observations r NOT INDEXED", "r.deleted_at IS NULL AND "+condition, args...)
		for _, o := range collect.Pointers(list) {
			add(int64(o.ID), o.ProjectPath, o.CreatedAt).Observation = o
		}
		return hits, err
	case memory.RecordSummary:
		list, projects, err := read(ctx, q, SummaryRecord, "session_summaries r", condition, args...)
		for i, m := range collect.Pointers(list) {
			add(m.ID, projects[i], m.CreatedAt).Summary = m
		}
		return hits, err
	case memory.RecordPrompt:
		list, projects, err := read(ctx, q, PromptRecord, "prompts r", condition, args...)
		for i, p := range collect.Pointers(list) {
			add(p.ID, projects[i], p.CreatedAt).Prompt = p
		}
		return hits, err
	default:
		return nil, unknownKind(kind)
	}
}

func unknownKind(kind memory.RecordKind) error {
	return memory.Errorf(memory.CodeInvalid, "there is no kind of record %.40q", kind).
		WithHint("the kinds are observation, summary and prompt")
}

// Around implements search.Records. The project is a root path or a label, "" for all.
// It returns the nearest records, at most before and after of them, each list in order of time.
// Records with exactly this time go to later. If ref has this time, their kinds and
// numbers decide, and ref itself is in neither.
func (s *Records) Around(ctx context.Context, project string, at memory.Millis, ref memory.RecordRef, before, after int) (earlier, later []memory.TimelineItem, err error) {
	sides, err := db.InSnapshot(ctx, s.DB, "read timeline", func(q db.Querier) (sides [2][]memory.TimelineItem, err error) {
		f, err := s.resolveFilter(ctx, q, memory.Query{Project: project}, nil)
		if err != nil {
			return sides, err
		}
		sources, err := f.sources(ctx, q, newest, filesWhenRare)
		if err != nil {
			return sides, err
		}
		for side, o := range []order{newest, oldest} {
			limit := []int{before, after}[side]
			if limit <= 0 {
				continue
			}
			refs, err := page(ctx, q, beyond(sources, o, at, ref), o, limit, 0)
			if err != nil {
				return sides, err
			}
			hits, err := recordsByRefs(ctx, q, refs)
			if err != nil {
				return sides, err
			}
			for _, h := range hits {
				sides[side] = append(sides[side], memory.TimelineItem{Hit: h, Session: h.SessionID()})
			}
		}
		slices.Reverse(sides[0])
		return sides, nil
	})
	return sides[0], sides[1], err
}

// beyond returns copies of sources with only what comes after a place, time and record,
// in order o. A ref without a number is no record: the time alone decides.
func beyond(sources []source, o order, at memory.Millis, ref memory.RecordRef) []source {
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
		case (s.kind < ref.Kind) == (o == newest): // of the same time they come after ref
			narrowed[i] = s.with(s.at+compare[:2]+"= ?", int64(at))
		default:
			narrowed[i] = s.with(s.at+compare+"?", int64(at))
		}
	}
	return narrowed
}

// rememberedCounts bounds the filters whose counts are cached: those that are being
// paged through.
const rememberedCounts = 256

// CountMemory keeps counts, a T each, for as long as nothing changes.
type CountMemory[T any] struct {
	mu    sync.Mutex
	seq   int64 // of the change feed
	known map[string]T
}

// get returns the count that was put under key at the change seq; false if none was or
// the store has changed since.
func (c *CountMemory[T]) get(seq int64, key string) (n T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq == c.seq {
		n, ok = c.known[key]
	}
	return n, ok
}

// put remembers a count as of the change seq. A newer seq, or a full memory, makes it forget all
// others; an older seq is ignored.
func (c *CountMemory[T]) put(seq int64, key string, n T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || seq > c.seq || len(c.known) >= rememberedCounts {
		c.seq, c.known = max(seq, c.seq), map[string]T{}
	}
	if seq == c.seq { // an older moment's is of no use to anybody
		c.known[key] = n
	}
}
