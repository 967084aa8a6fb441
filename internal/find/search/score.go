package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// The weights of likeness and MaxSim are package rank's, where they were measured.
const (
	// recencyWeight is the extra weight of a record of this moment over an old one,
	// recencyHalfLife the number of days after which half of it is left. Measured on follow-up
	// work, and that questions which are not about what is new lose nothing by it
	// (docs/how-search-ranks.md); a larger weight would help the one still, and harm
	// requests for something old.
	recencyWeight   = 0.3
	recencyHalfLife = 60.0 // days

	// typeWeight is the factor for a record whose type the text names, as
	// "decisions about caching" does. By judgement, and by the ten such questions of our own
	// corpus: it lifts such a record over others that fit about as well and leaves those in
	// the result.
	typeWeight = 1.5

	// faintLikeness is the least likeness of a hit that has no word of the query: in a small memory the nearest may be far. Measured with the built-in
	// table on dialogues, where half of all records reach 0.23 with a question: below
	// 0.2 stood nothing relevant that was among the first ten.
	faintLikeness = 0.2
)

// scored is a match with its score and the terms of the score.
type scored struct {
	index.Match
	terms   [numTerms]float64
	recency float64
	typed   float64 // 1 when the text names no type, or another
	// superseded is a factor, 1 for a record that holds; see lowerSuperseded.
	superseded    float64
	supersededBy  memory.ObservationID
	score         float64
	days          float64          // old
	company       memory.RecordRef // whose score is in companyTerm, times companyWeight
	companyWeight float64
}

// The terms of a score.
const (
	keywordTerm = iota
	proximityTerm
	likenessTerm
	maxSimTerm
	filesTerm
	companyTerm
	numTerms
)

// score puts an answer's matches in order, the best first, at most RankedPool. It leaves out
// those without a word of the text that are fainter than faintLikeness or, unless the request has
// dates, older than Options.RecencyDays; records of the session's files stay.
func (s *Searcher) score(p plan, matches []index.Match) []*scored {
	now := memory.MillisOf(s.opts.Clock())
	// A request for last March wants the records that were new then. A range that ends in the future
	// ends now, or with the newest record: this machine's clock may be behind theirs.
	end := now
	if until := p.query.Until; until != 0 {
		for i := range matches {
			end = max(end, matches[i].CreatedAt)
		}
		end = min(end, until)
	}
	var oldest memory.Millis
	if days := s.opts.RecencyDays(); days > 0 && !p.dated() {
		oldest = now.Add(-time.Duration(min(days, 36500)) * 24 * time.Hour)
	}
	ranked := make([]*scored, 0, len(matches))
	for _, m := range matches {
		if !m.Lexical && (m.CreatedAt < oldest || share(m.Likeness) < faintLikeness) && !p.filed[m.RecordRef] {
			continue
		}
		ranked = append(ranked, scoreMatch(m, daysBetween(m.CreatedAt, end), &p))
	}
	byScore(ranked)
	weight, distance := p.company()
	addCompany(ranked, weight, distance)
	byScore(ranked)
	return ranked[:min(len(ranked), RankedPool)]
}

// addCompany lets records of the same project that are near in time (distance is in
// milliseconds) support each other by weight: work comes in stretches, and the fix, its test
// and its reason are seldom in one record. ranked has the best first; the caller sorts it again.
func addCompany(ranked []*scored, weight, distance float64) {
	// Among those with MaxSim, so that their scores compare.
	best := ranked[:min(len(ranked), rank.MaxSimBest)]
	shares := make([]float64, len(ranked))
	for i, r := range ranked {
		for j, b := range best {
			if i != j && b.ProjectPath == r.ProjectPath && math.Abs(float64(b.CreatedAt)-float64(r.CreatedAt)) <= distance {
				shares[i], r.company, r.companyWeight = weight*b.own(), b.RecordRef, weight
				break
			}
		}
	}
	for i, s := range shares { // only now, so that none supports itself by another
		ranked[i].terms[companyTerm] = s
		ranked[i].addUp()
	}
}

// companyTime is the distance in milliseconds within which records support each other: a
// stretch of work is over in a day. Measured with half an hour, four hours and a day
// (docs/how-search-ranks.md).
const companyTime = 24 * 60 * 60 * 1000

// own returns the score of a match without its company and without factors.
func (r *scored) own() float64 {
	return collect.Sum(r.terms[:companyTerm], func(term float64) float64 { return term })
}

// alone is the score without company; what is superseded is about the text all the same.
func (r *scored) alone() float64 { return r.own() * r.recency * r.typed }

// addUp sets the score, as an explanation does.
func (r *scored) addUp() {
	r.score = (r.own() + r.terms[companyTerm]) * r.recency * r.typed * r.superseded
}

// daysBetween is never negative: a clock may have been set back since.
func daysBetween(from, to memory.Millis) float64 {
	return max((float64(to)-float64(from))/float64((24*time.Hour).Milliseconds()), 0)
}

// scoreMatch returns a match with its score: words, proximity and likeness, raised for a
// young record (days is its age), for one of the files of the session that asks, and for an
// observation of a type that the text names.
func scoreMatch(m index.Match, days float64, p *plan) *scored {
	m.Keyword = share(m.Keyword)
	proximity := min(share(m.Proximity), m.Keyword)
	r := &scored{Match: m, days: days, typed: 1, superseded: 1}
	r.terms = [numTerms]float64{
		keywordTerm:   m.Keyword - proximity,
		proximityTerm: proximity,
		likenessTerm:  rank.LikenessWeightOf(m.Kind == memory.RecordPrompt) * share(m.Likeness),
		maxSimTerm:    rank.MaxSimWeight * share(m.MaxSim),
		filesTerm:     filesWeight * p.shared[m.RecordRef],
	}
	r.recency = p.recency(days)
	if m.Kind == memory.RecordObservation && slices.Contains(p.prefer, m.Type) {
		r.typed = typeWeight
	}
	r.addUp()
	return r
}

// share returns v, at most 1, and 0 for a negative, infinite or undefined number: the
// index gives shares, and no score may become infinite or undefined by one that is not.
func share(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return min(v, 1)
}

// explain returns the parts of the score and its factors. The sum of the parts times the factors,
// in their order, is exactly the score: addUp does the same; parts of 0 and factors of 1 may be
// left out.
func (r *scored) explain() *memory.Explanation {
	likeness := "nothing alike"
	if r.Likeness > 0 {
		likeness = fmt.Sprintf("cosine %.3f × %g", r.Likeness, rank.LikenessWeightOf(r.Kind == memory.RecordPrompt))
	}
	e := &memory.Explanation{
		Parts: []memory.ScorePart{
			{Name: "keyword", Value: r.terms[keywordTerm], Note: "share of the best of this query"},
			{Name: "proximity", Value: r.terms[proximityTerm], Note: "words that stand together"},
			{Name: "likeness", Value: r.terms[likenessTerm], Note: likeness},
			{Name: "maxsim", Value: r.terms[maxSimTerm], Note: fmt.Sprintf("word by word %.3f × %g", share(r.MaxSim), rank.MaxSimWeight)},
		},
		Factors: []memory.ScorePart{{
			Name: "recency", Value: r.recency, Note: fmt.Sprintf("%.0f days old", r.days),
		}},
		Words:    r.Words,
		Fragment: r.Fragment,
	}
	if s := r.terms[filesTerm]; s > 0 {
		e.Parts = append(e.Parts, memory.ScorePart{Name: "files", Value: s, Note: fmt.Sprintf("%.2f of the session's files × %g", s/filesWeight, filesWeight)})
	}
	if s := r.terms[companyTerm]; s > 0 {
		e.Parts = append(e.Parts, memory.ScorePart{
			Name: "company", Value: s, Note: fmt.Sprintf("%s %d of the same time fits too × %g", r.company.Kind, r.company.ID, r.companyWeight),
		})
	}
	if r.typed != 1 {
		e.Factors = append(e.Factors, memory.ScorePart{Name: "type", Value: r.typed, Note: "the text names the type " + string(r.Type)})
	}
	if r.supersededBy != 0 {
		e.Factors = append(e.Factors, memory.ScorePart{Name: "superseded", Value: r.superseded, Note: fmt.Sprintf("by #%d", r.supersededBy)})
	}
	return e
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
