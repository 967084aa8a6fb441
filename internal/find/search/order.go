package search

import (
	"cmp"
	"slices"

	"claudemem/internal/memory"
)

// intersectWithRanking returns the eligible in the order of a ranking, then, while
// there are fewer than limit, the eligible that the ranking does not know, in their
// own order. Nothing is returned twice.
func intersectWithRanking[T comparable](eligible, ranking []T, limit int) []T {
	if limit <= 0 {
		return nil
	}
	// Many may be eligible, and few are ranked.
	ranked := make(map[T]bool, len(ranking)) // true: eligible, and not in the result yet
	for _, e := range ranking {
		ranked[e] = false
	}
	for _, e := range eligible {
		if _, ok := ranked[e]; ok {
			ranked[e] = true
		}
	}
	result := make([]T, 0, min(limit, len(eligible)))
	for _, e := range ranking {
		if len(result) < limit && ranked[e] {
			ranked[e] = false
			result = append(result, e)
		}
	}
	for _, e := range eligible {
		if len(result) == limit {
			break
		}
		if _, ok := ranked[e]; !ok {
			ranked[e] = false
			result = append(result, e)
		}
	}
	return result
}

// cutPage returns the refs from offset, at most limit.
func cutPage(refs []memory.RecordRef, offset, limit int) []memory.RecordRef {
	if offset >= len(refs) {
		return nil
	}
	refs = refs[offset:]
	return refs[:min(limit, len(refs))]
}

// byScore sorts the best first; ties by time, the newest first, then kind and number.
func byScore(ranked []*scored) {
	slices.SortFunc(ranked, func(a, b *scored) int {
		if d := cmp.Compare(b.score, a.score); d != 0 {
			return d
		}
		return newerFirst(a, b)
	})
}

// newerFirst compares by time, the newest first, then by kind, then by number, the highest first.
func newerFirst(a, b *scored) int {
	return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.ID, a.ID))
}

// timelyShare is the share of the best score that a record needs to be shown in an
// order by time. There the tail of a ranking, which has a frequent word or some
// likeness and no more, would stand first. Measured on questions about code and on
// issues: 95 of 100 relevant records among the first hundred have .46 or .62 of the
// best score and more.
const timelyShare = 0.5

// timely returns the records of a ranking, the best first, that are about its text:
// by themselves, not by the company they were recorded in. It overwrites ranked.
func timely(ranked []*scored) []*scored {
	most := 0.0
	for _, r := range ranked {
		most = max(most, r.alone())
	}
	return slices.DeleteFunc(ranked, func(r *scored) bool { return r.alone() < timelyShare*most })
}

// byTime sorts ranked in place, the newest or oldest first, and returns it.
func byTime(ranked []*scored, order memory.Order) []*scored {
	slices.SortFunc(ranked, func(a, b *scored) int {
		if order == memory.OrderOldest {
			return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
		}
		return newerFirst(a, b)
	})
	return ranked
}
