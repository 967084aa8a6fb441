package search

import (
	"cmp"
	"context"
	"slices"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// supersededWeight is the factor for a record that a later one reverses. By judgement:
	// such a record is found, but what holds stands before it.
	supersededWeight = 0.5
	// belowSuperseding is the most of the superseding record's score that it keeps when
	// both are found.
	belowSuperseding = 0.999
)

// superseding returns, for the observations of a ranking that are superseded, and for what
// supersedes them and is superseded in turn, which ones do it.
func (s *Searcher) superseding(ctx context.Context, ranked []*scored) (map[memory.ObservationID]memory.ObservationID, error) {
	observations := collect.Keep(ranked, func(r *scored) bool { return r.Kind == memory.RecordObservation })
	if len(observations) == 0 {
		return nil, nil
	}
	return s.records.Superseding(ctx, collect.Map(observations, func(r *scored) memory.ObservationID { return memory.ObservationID(r.ID) })...)
}

// lowerSuperseded lowers the scores of superseded observations, each below the score of
// the one that supersedes it, and sorts ranked again.
func (s *Searcher) lowerSuperseded(ctx context.Context, ranked []*scored) error {
	by, err := s.superseding(ctx, ranked)
	if err != nil || len(by) == 0 {
		return err
	}
	found := make(map[memory.ObservationID]*scored, len(ranked))
	for _, r := range ranked {
		if r.Kind == memory.RecordObservation {
			found[memory.ObservationID(r.ID)] = r
		}
	}
	var lower func(id memory.ObservationID)
	lower = func(id memory.ObservationID) {
		r := found[id]
		if r.supersededBy != 0 || by[id] == 0 {
			return
		}
		r.supersededBy = by[id]
		r.superseded = supersededWeight
		// The nearest in the chain that was found, too.
		next := by[id]
		for range by {
			if next == 0 || found[next] != nil {
				break
			}
			next = by[next]
		}
		if newer := found[next]; newer != nil {
			lower(next)
			if r.score > 0 {
				r.superseded = min(r.superseded, belowSuperseding*newer.score/r.score)
			}
		}
		r.addUp()
	}
	for id := range found {
		lower(id)
	}
	byScore(ranked)
	return nil
}

// replaceSuperseded returns ranked with the observation that holds now in place of each
// that is superseded, none twice. It has the score and the evidence of the first record of
// ranked that it stands for, and only its number is its own: the caller reads the record.
func (s *Searcher) replaceSuperseded(ctx context.Context, ranked []*scored) ([]*scored, error) {
	by, err := s.superseding(ctx, ranked)
	if err != nil || len(by) == 0 {
		return ranked, err
	}
	seen := make(map[memory.RecordRef]bool, len(ranked))
	var kept []*scored
	for _, r := range ranked {
		if r.Kind == memory.RecordObservation {
			r.ID = int64(memory.Current(by, memory.ObservationID(r.ID)))
		}
		if !seen[r.RecordRef] {
			seen[r.RecordRef] = true
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// foreignWeight is the factor for a record of foreign words on the page that an agent is
// shown. By judgement: it stands behind what fits about as well.
const foreignWeight = 0.9

// lowerForeign lowers the scores of foreign records on a page, and sorts it again if it is
// sorted by score.
func lowerForeign(hits []memory.Hit, order memory.Order) {
	for i := range hits {
		h := &hits[i]
		if o := h.Observation; o == nil || !o.Provenance.Foreign() {
			continue
		}
		h.Score *= foreignWeight
		if h.Why != nil {
			h.Why.Factors = append(h.Why.Factors, memory.ScorePart{Name: "foreign", Value: foreignWeight, Note: h.Observation.Provenance.Source()})
		}
	}
	if cmp.Or(order, memory.OrderRelevance) == memory.OrderRelevance {
		slices.SortStableFunc(hits, func(a, b memory.Hit) int { return cmp.Compare(b.Score, a.Score) })
	}
}
