package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// What is asked in the course of a session, by an agent or by claude-mem itself, is about the
// work at hand more often than what a person types. Measured on commits that follow up on
// earlier ones (docs/how-search-ranks.md).
const (
	// sessionDays is the age in days at which the extra weight of a record of this moment, 1 in
	// place of recencyWeight, is divided by the cube root of 2: work at hand goes back to what
	// was done a few days ago as well as to what was done years ago, as what people remember
	// fades by a power of time and not by halves. Two halvings, of which one is fast, do less
	// for both (docs/how-search-ranks.md).
	sessionDays = 7.0
	// sessionCompany is the weight of company in place of rank.CompanyWeight, and
	// sessionStretch the distance in milliseconds in place of companyTime: where what is new
	// counts more, the neighbours in time rise by themselves.
	sessionCompany = 0.06
	sessionStretch = 4 * 60 * 60 * 1000

	// filesWeight is the weight of the session's files: what a record is worth that names all
	// of them.
	filesWeight = 0.33
	// maxWorkingFiles bounds the files of a session that count, the latest first; maxOfFile is
	// how many records of a file are looked at, the newest: what more have tells nothing.
	maxWorkingFiles = 50
	maxOfFile       = 400
	// sharedCandidates is how many records are scored for their files alone, beside those
	// that the text finds; a file of more records adds none.
	sharedCandidates = 100
)

// recency returns the factor of a record of so many days.
func (p *plan) recency(days float64) float64 {
	if p.during != nil {
		return 1 + 1/math.Cbrt(1+days/sessionDays)
	}
	return 1 + recencyWeight*math.Exp2(-days/recencyHalfLife)
}

// company returns the weight of the best record near in time, and how near in milliseconds.
func (p *plan) company() (weight, distance float64) {
	if p.during != nil {
		return sessionCompany, sessionStretch
	}
	return rank.CompanyWeight, companyTime
}

// How far the vector of a question is moved from the trained table to the built-in one. A
// trained table finds what says the same in other words; the answers of a session are often
// old records of the same part of the program about something else, and it finds fewer of
// those (docs/how-search-ranks.md).
const (
	personUntrained  = 0.3
	sessionUntrained = 1
)

// untrained returns index.Request.Untrained: how far the vector of the text is moved from the
// trained table (0) to the built-in one (1).
func (p *plan) untrained() float32 {
	if p.during != nil {
		return sessionUntrained
	}
	return personUntrained
}

// shareFiles fills in p.shared and p.filed, and returns the records of rare files with the largest shares, at most
// sharedCandidates: they are looked at whatever their text says, if they pass the filter. The
// files are those that the store knows of the session, or those of the request if it names no
// session. Without files, or when a person asks, it does nothing.
func (s *Searcher) shareFiles(ctx context.Context, p *plan) ([]memory.RecordRef, error) {
	if p.during == nil {
		return nil, nil
	}
	files := p.during.Files
	var own []memory.ObservationID // they make no file commoner
	if p.during.Session != 0 {
		var err error
		if files, own, err = s.records.WorkingFiles(ctx, p.during.Session, maxWorkingFiles); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	files = files[:min(len(files), maxWorkingFiles)]
	of, err := s.records.ObservationsNaming(ctx, files, maxOfFile)
	if err != nil {
		return nil, err
	}
	mine := collect.Set(own)
	for path, ids := range of {
		if of[path] = slices.DeleteFunc(ids, func(id memory.ObservationID) bool { return mine[id] }); len(of[path]) == 0 {
			delete(of, path) // as one that none has
		}
	}
	p.shared = shares(of)
	// A file that more records have than are looked at chooses none of them.
	var rare []memory.RecordRef
	for _, ids := range of {
		if len(ids) <= sharedCandidates {
			rare = append(rare, collect.Map(ids, func(id memory.ObservationID) memory.RecordRef {
				return memory.RecordRef{Kind: memory.RecordObservation, ID: int64(id)}
			})...)
		}
	}
	slices.SortFunc(rare, func(a, b memory.RecordRef) int {
		return cmp.Or(cmp.Compare(p.shared[b], p.shared[a]), cmp.Compare(b.ID, a.ID)) // of equal ones the newest
	})
	rare = slices.Compact(rare)
	rare = rare[:min(len(rare), sharedCandidates)]
	p.filed = collect.Set(rare)
	return rare, nil
}

// shareBeside looks the session's files up while the caller searches, for an answer that a
// person waits for. The returned function waits until that is done and fills in p.shared; it
// must be called. Records are not added by their files: that would have to come before the
// search.
func (s *Searcher) shareBeside(ctx context.Context, p *plan) (wait func() error) {
	done := make(chan error, 1)
	shared := plan{during: p.during}
	go func() {
		_, err := s.shareFiles(ctx, &shared)
		done <- err
	}()
	return func() error {
		err := <-done
		p.shared = shared.shared
		return err
	}
}

// shares returns for each record the share that its files have of the weight of all, 0 to 1.
// A file weighs the less the more records have it: everything touches the list of
// dependencies, and few records a certain test.
func shares(of map[string][]memory.ObservationID) map[memory.RecordRef]float64 {
	all := 0.0
	shared := map[memory.RecordRef]float64{}
	// In the order of their names, so that sums come out the same each time.
	for _, path := range slices.Sorted(maps.Keys(of)) {
		weight := 1 / math.Log2(float64(2+len(of[path])))
		all += weight
		for _, id := range of[path] {
			shared[memory.RecordRef{Kind: memory.RecordObservation, ID: int64(id)}] += weight
		}
	}
	for ref := range shared {
		shared[ref] = min(shared[ref]/all, 1)
	}
	return shared
}
