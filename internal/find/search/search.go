package search

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Records reads the records. The store implements it, and fakeMemory in the tests, which search
// without a database.
type Records interface {
	// ProjectOf returns the project that what is done in a path belongs to.
	ProjectOf(ctx context.Context, path string) (string, error)
	// ProjectsNamed returns the root paths of the projects that a root path or a label means.
	ProjectsNamed(ctx context.Context, name string) ([]string, error)
	// RecordsByRefs reads records in the order asked for; those that are gone or
	// hidden are left out. Hits have no score.
	RecordsByRefs(ctx context.Context, refs ...memory.RecordRef) ([]memory.Hit, error)
	// Documents reads records as they are searched, in the order asked for; those that are gone or
	// hidden are left out.
	Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error)
	// FilterRecords lists the records that pass the filter, the newest first (or the
	// oldest), from q.Offset, at most q.Limit (0: all).
	FilterRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind, order memory.Order) ([]memory.RecordRef, error)
	// CountRecords counts them.
	CountRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind) (int, error)
	// Around lists records of all kinds before and after a moment, the oldest first;
	// ref, when its ID is not 0, stands between them and is in neither.
	Around(ctx context.Context, project string, at memory.Millis, ref memory.RecordRef, before, after int) (earlier, later []memory.TimelineItem, err error)
	// Superseding returns, for those of the observations that are superseded and for what
	// supersedes them and is superseded in turn, the one that did it.
	Superseding(ctx context.Context, ids ...memory.ObservationID) (map[memory.ObservationID]memory.ObservationID, error)
	// ObservationsNaming lists for each of the paths the newest observations that have it among
	// their files, at most limit, of all projects and with hidden ones. A path that none has is
	// left out.
	ObservationsNaming(ctx context.Context, paths []string, limit int) (map[string][]memory.ObservationID, error)
	// WorkingFiles lists the files that a session has read and edited, the latest first, and the
	// session's own observations.
	WorkingFiles(ctx context.Context, session memory.SessionID, limit int) (files []string, own []memory.ObservationID, err error)
	Session(ctx context.Context, id memory.SessionID) (memory.Session, error)
}

// Index ranks records; package index has it.
type Index interface {
	// Rank returns the records that fit the text best.
	Rank(ctx context.Context, r index.Request) (index.Answer, error)
	// Syntax returns the records that match a full-text expression, the best first;
	// CodeInvalid when it is none.
	Syntax(ctx context.Context, expression string, f index.Filter, limit int) (index.Answer, error)
}

// Bounds of a request.
const (
	// DefaultLimit is the number of hits on a page when the request has no limit.
	DefaultLimit = 20
	// MaxLimit bounds the hits on a page: each is read whole.
	MaxLimit = 1000
	// RankedPool bounds the records of a ranking. Lower ranks are noise to a reader;
	// the bound keeps time and memory of any query the same, and the same number for
	// every page keeps the pages consistent.
	RankedPool = 150
	// duringPool is how many records the index ranks when an agent asks during a session.
	// This package then adds their age and the session's files, which the index does not
	// know, and keeps the best RankedPool. With 150 instead of 400, nDCG@10 of ovs-fixes is
	// .481 instead of .487.
	duringPool = 400
	// MaxText bounds the text that is searched for, in bytes: several times the
	// longest commit message or error that a person pastes.
	MaxText = 4 << 10
)

// Options are the parts of a Searcher that have defaults.
type Options struct {
	// Clock is time.Now when nil.
	Clock func() time.Time
	// RecencyDays returns the greatest age of a hit that is near in meaning only and
	// has no word of the query; 0 = any age. nil = 0.
	RecencyDays func() int
	// Location is the zone in which "yesterday" is meant; time.Local when nil.
	Location *time.Location
	// Logger is slog.Default when nil.
	Logger *slog.Logger
	// NoIndex is why there is no index, if there is none.
	NoIndex error
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher struct {
	records Records
	index   Index
	opts    Options
}

// New returns a Searcher over the records and their index, which may be nil: a text is then
// looked for in the newest records.
func New(records Records, index Index, opts Options) *Searcher {
	opts.Clock = memory.ClockOr(opts.Clock)
	if opts.RecencyDays == nil {
		opts.RecencyDays = func() int { return 0 }
	}
	opts.Location = cmp.Or(opts.Location, time.Local)
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	opts.NoIndex = cmp.Or[error](opts.NoIndex, errNoIndex)
	return &Searcher{records: records, index: index, opts: opts}
}

// Search finds records. It returns CodeInvalid for an unknown kind or order, and the errors of
// Records. An index that fails is no error unless ctx is over: the newest records are scanned
// instead, and a note says so.
func (s *Searcher) Search(ctx context.Context, r memory.SearchRequest) (memory.SearchResult, error) {
	started := s.opts.Clock()
	f, err := s.find(ctx, r)
	if err != nil {
		return memory.SearchResult{}, fmt.Errorf("search records: %w", err)
	}
	result := memory.SearchResult{Total: f.total, Understood: f.understood}
	result.Hits, err = s.readHits(ctx, f, r.Explain)
	if err != nil {
		return memory.SearchResult{}, fmt.Errorf("search records: %w", err)
	}
	if r.During != nil {
		lowerForeign(result.Hits, r.Order)
	}
	// The text is not logged: a query may hold a secret.
	s.opts.Logger.Debug("search", "hits", len(result.Hits), "total", result.Total, "took", s.opts.Clock().Sub(started))
	return result, nil
}

// found is a page before its records are read.
type found struct {
	refs       []memory.RecordRef
	scores     map[memory.RecordRef]*scored // none for refs that only the filter found
	total      int
	understood memory.Understood
	filter     index.Filter // what the hits must still pass when they are read
}

// find carries a search out and returns references to the hits with their scores. It
// goes by what the text is: nothing (filter alone), a record's name, an expression, else
// words.
func (s *Searcher) find(ctx context.Context, r memory.SearchRequest) (found, error) {
	p, err := s.plan(r)
	if err != nil {
		return found{}, err
	}
	q := p.query
	if q.Since != 0 && q.Until != 0 && q.Since > q.Until || p.onlyObservations() && !slices.Contains(p.kinds, memory.RecordObservation) {
		return found{understood: p.understood}, nil // nothing can pass the filter
	}
	if p.text == "" {
		return s.byFilter(ctx, p)
	}
	if f, ok, err := s.byName(ctx, p); ok || err != nil {
		return f, err
	}
	if isExpression(p.text) {
		f, ok, err := s.byExpression(ctx, p)
		if ok || err != nil {
			return f, err
		}
		p.note("nothing matches the text as an expression; its words were searched for")
		return s.byText(ctx, p)
	}
	if p, err = s.understand(ctx, p); err != nil {
		return found{}, err
	}
	if p.text == "" {
		return s.byFilter(ctx, p)
	}
	return s.byText(ctx, p)
}

// plan is a request that has been checked, with its text as it is searched for.
type plan struct {
	query      memory.Query // the strict filter, limit and offset in bounds
	kinds      []memory.RecordKind
	order      memory.Order
	text       string
	prefer     []memory.ObservationType // that the text names without insisting
	understood memory.Understood
	counted    int                          // the eligible records, -1 while they have not been counted
	during     *memory.During               // nil when a person asks
	shared     map[memory.RecordRef]float64 // their share of the session's files, see shareFiles
	filed      map[memory.RecordRef]bool    // those that their files alone make candidates
}

// plan checks a request and fills in its defaults: order, limit, a cleaned text.
// CodeInvalid for an unknown kind or order.
func (s *Searcher) plan(r memory.SearchRequest) (plan, error) {
	p := plan{query: r.Query, order: cmp.Or(r.Order, memory.OrderRelevance), counted: -1, during: r.During}
	for _, k := range r.Kinds {
		if !slices.Contains(memory.RecordKinds(), k) {
			return plan{}, memory.Errorf(memory.CodeInvalid, "there is no kind of record %.40q", k).
				WithHint("the kinds are observation, summary and prompt")
		}
		if !slices.Contains(p.kinds, k) {
			p.kinds = append(p.kinds, k)
		}
	}
	var cut bool
	p.text, cut = cleanText(r.Text)
	p.understood.Text = p.text
	if cut {
		p.note(fmt.Sprintf("only the first %d bytes of the text were searched for", MaxText))
	}
	if !slices.Contains([]memory.Order{memory.OrderRelevance, memory.OrderNewest, memory.OrderOldest}, p.order) {
		return plan{}, memory.Errorf(memory.CodeInvalid, "there is no order %.40q", p.order).
			WithHint("the orders are relevance, newest and oldest")
	}
	if p.query.Limit <= 0 {
		p.query.Limit = DefaultLimit
	}
	p.query.Limit = min(p.query.Limit, MaxLimit)
	p.query.Offset = max(p.query.Offset, 0)
	return p.narrowed(), nil
}

// narrowed returns the plan for observations alone if its filter (types, concepts,
// files) passes no other records.
func (p plan) narrowed() plan {
	if p.onlyObservations() && (len(p.kinds) == 0 || slices.Contains(p.kinds, memory.RecordObservation)) {
		p.kinds = []memory.RecordKind{memory.RecordObservation}
	}
	return p
}

// filtered reports whether there is a strict filter besides the kind, which says
// what is asked for and not which of them.
func (p plan) filtered() bool {
	return p.query.Project != "" || p.query.Session != 0 || p.dated() || p.onlyObservations()
}

// onlyObservations reports whether the filter passes no other records.
func (p plan) onlyObservations() bool {
	return len(p.query.Types)+len(p.query.Concepts)+len(p.query.Files) > 0
}

func (p plan) dated() bool { return p.query.Since != 0 || p.query.Until != 0 }

// note adds a note to the answer. It copies the list, which copies of the plan share.
func (p *plan) note(note string) {
	p.understood.Notes = append(slices.Clone(p.understood.Notes), note)
}

// byFilter returns the records that pass the filter, by date, without asking the index.
func (s *Searcher) byFilter(ctx context.Context, p plan) (found, error) {
	if p.order != memory.OrderOldest {
		p.order = memory.OrderNewest
	}
	f := found{understood: p.understood}
	var err error
	if f.total, err = s.count(ctx, p); err != nil {
		return found{}, err
	}
	if p.query.Offset < f.total {
		f.refs, err = s.records.FilterRecords(ctx, p.query, p.kinds, p.order)
	}
	return f, err
}

// count returns how many records pass the filter, on all pages; it asks the store unless
// the plan knows.
func (s *Searcher) count(ctx context.Context, p plan) (int, error) {
	if p.counted >= 0 {
		return p.counted, nil
	}
	return s.records.CountRecords(ctx, p.query, p.kinds)
}

// byText returns the page of records that the index ranks best for the text, or that a scan
// finds when the index cannot be asked. A text without words, of signs alone, finds nothing.
func (s *Searcher) byText(ctx context.Context, p plan) (found, error) {
	if len(words.Query(p.text)) == 0 {
		p.note("the text has no letters and digits, and nothing else can be searched for")
		return found{understood: p.understood}, nil
	}
	filter, ok, err := s.filter(ctx, &p)
	if err != nil || !ok {
		return found{understood: p.understood}, err
	}
	// The limit does not depend on the page, or pages would be cut from different rankings.
	also, err := s.shareFiles(ctx, &p)
	if err != nil {
		return found{}, err
	}
	pool := RankedPool
	if p.during != nil {
		pool = duringPool
	}
	answer, err := index.Answer{}, s.opts.NoIndex
	if s.index != nil {
		answer, err = s.index.Rank(ctx, index.Request{Text: p.text, Filter: filter, Limit: pool, Also: also, Untrained: p.untrained()})
	}
	if err != nil {
		answer, err = s.scan(ctx, &p, err)
	}
	if err != nil {
		return found{}, err
	}
	return s.page(ctx, p, filter, answer)
}

// errNoIndex is the error of a Searcher that was made without an index.
var errNoIndex = memory.Errorf(memory.CodeUnavailable, "there is no index to search in").
	WithHint("`claude-mem reindex` builds it")

// byExpression lets the index match a full-text expression. It returns ok false, so that the
// words are searched for, when the text is none after all, when nothing matches a text that
// may as well be prose, and when there is no index or it fails.
func (s *Searcher) byExpression(ctx context.Context, p plan) (f found, ok bool, err error) {
	filter, any, err := s.filter(ctx, &p)
	if err != nil {
		return found{}, false, err
	}
	if !any {
		return found{understood: p.understood}, true, nil
	}
	if s.index == nil {
		return found{}, false, nil
	}
	answer, err := s.index.Syntax(ctx, p.text, filter, RankedPool)
	if err != nil { // it is none, or the index has failed: the words are searched for
		return found{}, false, ctx.Err()
	}
	if len(answer.Matches) == 0 && !excludes(p.text) {
		return found{}, false, nil
	}
	p.understood.Syntax = true
	f, err = s.page(ctx, p, filter, answer)
	return f, true, err
}

// filter returns the filter for the index; ok is false when it is known that nothing passes it.
// Concepts and files the index does not know: the store lists the records that pass, in
// f.Only, and p.counted is their number.
func (s *Searcher) filter(ctx context.Context, p *plan) (f index.Filter, ok bool, err error) {
	q := p.query
	f = index.Filter{Kinds: p.kinds, Types: q.Types, Session: q.Session, Since: q.Since, Until: q.Until}
	if q.Project != "" {
		if f.Projects, err = s.records.ProjectsNamed(ctx, q.Project); err != nil {
			return f, false, err
		}
		if len(f.Projects) == 0 {
			p.note("no project is called that")
			return f, false, nil
		}
	}
	if len(q.Concepts)+len(q.Files) > 0 {
		q.Limit, q.Offset = 0, 0
		only, err := s.records.FilterRecords(ctx, q, p.kinds, memory.OrderNewest)
		if err != nil || len(only) == 0 {
			return f, false, err
		}
		f.Only, p.counted = only, len(only)
	}
	return f, true, nil
}

// page scores the index's answer, orders it by relevance or time, appends other records
// that pass the filter where that is wanted, and returns the refs of the page.
func (s *Searcher) page(ctx context.Context, p plan, filter index.Filter, answer index.Answer) (found, error) {
	if !answer.Semantic && !p.understood.Syntax {
		p.note("there are no vectors at the moment: found by words only")
	}
	if answer.Behind > 0 {
		p.note(fmt.Sprintf("the index has %d changes yet to take in", answer.Behind))
	}
	p.understood.Corrected = answer.Corrected
	ranked := s.score(p, answer.Matches)
	if err := s.lowerSuperseded(ctx, ranked); err != nil {
		return found{}, err
	}
	if p.order != memory.OrderRelevance {
		if !p.understood.Syntax {
			ranked = timely(ranked)
		}
		ranked = byTime(ranked, p.order)
	}
	f := found{understood: p.understood, filter: filter, total: len(ranked)}
	refs := make([]memory.RecordRef, len(ranked))
	f.scores = make(map[memory.RecordRef]*scored, len(ranked))
	for i, r := range ranked {
		refs[i], f.scores[r.RecordRef] = r.RecordRef, r
	}
	wanted := p.query.Offset + p.query.Limit
	if wanted < 0 { // the sum ran over
		return f, nil
	}
	// An expression matches or does not, and a request for an order by
	// time wants to see hits of the text in it: neither is topped up.
	if p.filtered() && p.order == memory.OrderRelevance && !p.understood.Syntax {
		var err error
		if refs, f.total, err = s.topUp(ctx, p, filter, refs, wanted); err != nil {
			return found{}, err
		}
	}
	f.refs = cutPage(refs, p.query.Offset, p.query.Limit)
	return f, nil
}

// topUp lets the remaining eligible records follow the ranked ones by date, as far
// as they are wanted, and returns how many there are in all.
func (s *Searcher) topUp(ctx context.Context, p plan, filter index.Filter, ranked []memory.RecordRef, wanted int) ([]memory.RecordRef, int, error) {
	total, err := s.count(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	eligible := filter.Only
	if eligible == nil {
		total = max(total, len(ranked)) // the index may not have heard of a removal yet
		if len(ranked) >= min(wanted, total) || p.query.Offset >= total {
			return ranked, total, nil
		}
		// At most all of the ranked are among the first, so this page has enough.
		q := p.query
		q.Limit, q.Offset = wanted, 0
		if eligible, err = s.records.FilterRecords(ctx, q, p.kinds, memory.OrderNewest); err != nil {
			return nil, 0, err
		}
	}
	return followedBy(ranked, eligible, wanted), total, nil // the ranked passed the same filter in the index
}

// followedBy returns a list and, while it has fewer than limit items, those of others that it does not
// have, in their order.
func followedBy[T comparable](list, others []T, limit int) []T {
	has := collect.Set(list)
	for _, item := range others {
		if len(list) < limit && !has[item] {
			list = append(list, item)
		}
	}
	return list
}

// readHits reads the records of a page. What has been removed or changed since it was indexed and no
// longer passes the filter is left out: the page is then shorter by it.
func (s *Searcher) readHits(ctx context.Context, f found, explain bool) ([]memory.Hit, error) {
	if len(f.refs) == 0 {
		return nil, nil
	}
	hits, err := s.records.RecordsByRefs(ctx, f.refs...)
	if err != nil {
		return nil, err
	}
	kept := hits[:0]
	for _, h := range hits {
		if !passes(h, f.filter) {
			continue
		}
		if m := f.scores[h.RecordRef]; m != nil {
			h.Score = m.score
			if explain {
				h.Why = m.explain()
			}
		}
		kept = append(kept, h)
	}
	return kept, nil
}

// passes checks a record that was read against the filter that the index applied
// to what it knew of it: against what of a record can change, and its time.
func passes(h memory.Hit, f index.Filter) bool {
	if len(f.Types) > 0 && (h.Observation == nil || !slices.Contains(f.Types, h.Observation.Type)) {
		return false
	}
	return (len(f.Projects) == 0 || slices.Contains(f.Projects, h.ProjectPath)) &&
		(f.Since == 0 || h.CreatedAt >= f.Since) && (f.Until == 0 || h.CreatedAt <= f.Until)
}

// cleanText makes a text searchable: valid UTF-8 of at most MaxText bytes, without
// control characters and with single spaces. It reports whether it had to be cut.
func cleanText(typed string) (clean string, cut bool) {
	// A run of what is dropped must not make a long text long to clean.
	const most = 4 * MaxText
	clean = strings.Join(strings.FieldsFunc(typed[:min(len(typed), most)], isDropped), " ")
	if len(clean) > MaxText {
		return strings.TrimRight(text.FirstBytes(clean, MaxText), " "), true
	}
	return clean, len(typed) > most
}
