package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem"
	"claudemem/index"
)

// berlin has another date than UTC for an hour or two of each day.
var berlin = func() *time.Location {
	l, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		l = time.FixedZone("CET", 3600)
	}
	return l
}()

// noon is a Friday.
var noon = time.Date(2026, 3, 20, 12, 0, 0, 0, berlin)

const day = 24 * time.Hour

// memory is a fake of Records.
type memory struct {
	working  map[claudemem.SessionID][]string
	hits     []claudemem.Hit
	sessions []claudemem.Session
	counts   int
	filters  []claudemem.Query
	err      error
}

// observe adds an observation and returns its ref.
func (m *memory) observe(id int64, at time.Time, edit ...func(o *claudemem.Observation)) claudemem.RecordRef {
	o := claudemem.Observation{
		ID: claudemem.ObservationID(id), Session: 1, ProjectPath: "/src/shop", Type: claudemem.TypeDiscovery,
		Title: fmt.Sprintf("observation %d", id), CreatedAt: claudemem.MillisOf(at),
	}
	for _, e := range edit {
		e(&o)
	}
	ref := claudemem.RecordRef{Kind: claudemem.RecordObservation, ID: id}
	m.hits = append(m.hits, claudemem.Hit{RecordRef: ref, ProjectPath: o.ProjectPath, CreatedAt: o.CreatedAt, Observation: &o})
	return ref
}

// ObservationsNaming implements Records.
func (m *memory) ObservationsNaming(_ context.Context, paths []string, limit int) (map[string][]claudemem.ObservationID, error) {
	of := map[string][]claudemem.ObservationID{}
	for _, h := range slices.Backward(m.hits) {
		for _, path := range paths {
			if o := h.Observation; o != nil && len(of[path]) < limit &&
				slices.ContainsFunc(o.Files, func(f claudemem.FileRef) bool { return f.Path == path }) {
				of[path] = append(of[path], o.ID)
			}
		}
	}
	return of, m.err
}

// Documents implements Records.
func (m *memory) Documents(_ context.Context, refs ...claudemem.RecordRef) (documents []claudemem.Document, err error) {
	for _, ref := range refs {
		for _, h := range m.hits {
			if h.RecordRef != ref {
				continue
			}
			d := claudemem.Document{RecordRef: ref, ProjectPath: h.ProjectPath, CreatedAt: h.CreatedAt}
			switch {
			case h.Observation != nil:
				d.Type, d.Title, d.Text = h.Observation.Type, h.Observation.Title, h.Observation.Narrative
			case h.Summary != nil:
				d.Title = h.Summary.Request
			default:
				d.Text = h.Prompt.Text
			}
			documents = append(documents, d)
		}
	}
	return documents, m.err
}

func (m *memory) prompt(id int64, at time.Time, text string) claudemem.RecordRef {
	ref := claudemem.RecordRef{Kind: claudemem.RecordPrompt, ID: id}
	m.hits = append(m.hits, claudemem.Hit{
		RecordRef: ref, ProjectPath: "/src/shop", CreatedAt: claudemem.MillisOf(at),
		Prompt: &claudemem.Prompt{ID: id, Session: 1, Number: int(id), Text: text, CreatedAt: claudemem.MillisOf(at)},
	})
	return ref
}

func (m *memory) summarize(id int64, at time.Time, request string) claudemem.RecordRef {
	ref := claudemem.RecordRef{Kind: claudemem.RecordSummary, ID: id}
	m.hits = append(m.hits, claudemem.Hit{
		RecordRef: ref, ProjectPath: "/src/shop", CreatedAt: claudemem.MillisOf(at),
		Summary: &claudemem.Summary{ID: id, Session: 1, Request: request, CreatedAt: claudemem.MillisOf(at)},
	})
	return ref
}

func title(text string) func(*claudemem.Observation) {
	return func(o *claudemem.Observation) { o.Title = text }
}

func typed(t claudemem.ObservationType) func(*claudemem.Observation) {
	return func(o *claudemem.Observation) { o.Type = t }
}

func project(path string) func(*claudemem.Observation) {
	return func(o *claudemem.Observation) { o.ProjectPath = path }
}

func concepts(c ...string) func(*claudemem.Observation) {
	return func(o *claudemem.Observation) { o.Concepts = c }
}

func labelOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func (m *memory) ProjectOf(_ context.Context, path string) (string, error) { return path, nil }

func (m *memory) ProjectsNamed(_ context.Context, name string) ([]string, error) {
	var found []string
	for _, h := range m.hits {
		if (h.ProjectPath == name || labelOf(h.ProjectPath) == name) && !slices.Contains(found, h.ProjectPath) {
			found = append(found, h.ProjectPath)
		}
	}
	return found, m.err
}

func (m *memory) RecordsByRefs(_ context.Context, refs ...claudemem.RecordRef) ([]claudemem.Hit, error) {
	var found []claudemem.Hit
	for _, r := range refs {
		for _, h := range m.hits {
			if h.RecordRef == r {
				found = append(found, h)
			}
		}
	}
	return found, m.err
}

func (m *memory) Superseding(_ context.Context, ids ...claudemem.ObservationID) (map[claudemem.ObservationID]claudemem.ObservationID, error) {
	by := map[claudemem.ObservationID]claudemem.ObservationID{}
	for _, h := range m.hits {
		if o := h.Observation; o != nil && o.SupersededBy != 0 {
			by[o.ID] = o.SupersededBy
		}
	}
	return by, m.err
}

func (m *memory) eligible(q claudemem.Query, kinds []claudemem.RecordKind, order claudemem.Order) []claudemem.Hit {
	var found []claudemem.Hit
	for _, h := range m.hits {
		o := h.Observation
		only := len(q.Types)+len(q.Concepts)+len(q.Files) > 0
		switch {
		case len(kinds) > 0 && !slices.Contains(kinds, h.Kind),
			q.Project != "" && q.Project != h.ProjectPath && q.Project != labelOf(h.ProjectPath),
			q.Session != 0 && q.Session != h.SessionID(),
			q.Since != 0 && h.CreatedAt < q.Since, q.Until != 0 && h.CreatedAt > q.Until,
			only && o == nil,
			len(q.Types) > 0 && !slices.Contains(q.Types, o.Type),
			len(q.Concepts) > 0 && !slices.ContainsFunc(q.Concepts, func(c string) bool { return slices.Contains(o.Concepts, c) }),
			len(q.Files) > 0 && !slices.ContainsFunc(o.Files, func(f claudemem.FileRef) bool { return slices.Contains(q.Files, f.Path) }):
			continue
		}
		found = append(found, h)
	}
	slices.SortFunc(found, func(a, b claudemem.Hit) int {
		c := cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.ID, a.ID))
		if order == claudemem.OrderOldest {
			return -c
		}
		return c
	})
	return found
}

func (m *memory) FilterRecords(_ context.Context, q claudemem.Query, kinds []claudemem.RecordKind, order claudemem.Order) ([]claudemem.RecordRef, error) {
	m.filters = append(m.filters, q)
	found := m.eligible(q, kinds, order)
	found = found[min(q.Offset, len(found)):]
	if q.Limit > 0 {
		found = found[:min(q.Limit, len(found))]
	}
	var refs []claudemem.RecordRef
	for _, h := range found {
		refs = append(refs, h.RecordRef)
	}
	return refs, m.err
}

func (m *memory) CountRecords(_ context.Context, q claudemem.Query, kinds []claudemem.RecordKind) (int, error) {
	m.counts++
	return len(m.eligible(q, kinds, claudemem.OrderNewest)), m.err
}

func (m *memory) Around(_ context.Context, project string, at claudemem.Millis, ref claudemem.RecordRef, before, after int) (earlier, later []claudemem.TimelineItem, err error) {
	for _, h := range m.eligible(claudemem.Query{Project: project}, nil, claudemem.OrderOldest) {
		item := claudemem.TimelineItem{Hit: h, Session: h.SessionID()}
		switch {
		case h.RecordRef == ref:
		case h.CreatedAt < at:
			earlier = append(earlier, item)
		default:
			later = append(later, item)
		}
	}
	return earlier[max(len(earlier)-before, 0):], later[:min(after, len(later))], m.err
}

func (m *memory) Session(_ context.Context, id claudemem.SessionID) (claudemem.Session, error) {
	for _, s := range m.sessions {
		if s.ID == id {
			return s, m.err
		}
	}
	return claudemem.Session{}, claudemem.Errorf(claudemem.CodeNotFound, "there is no session S%d", id)
}

// ranking is a fake of Index: it ranks the memory's records by the share of the
// text's words that they have, and has a likeness for those that are scripted.
type ranking struct {
	memory   *memory
	likeness map[claudemem.RecordRef]float64
	answer   func(index.Request) (index.Answer, error) // instead of all this
	syntax   func(expression string) ([]claudemem.RecordRef, error)
	requests []index.Request
	behind   int64
	lexical  bool // there are no vectors
}

func textOf(h claudemem.Hit) string {
	switch {
	case h.Observation != nil:
		return h.Observation.Title + " " + h.Observation.Narrative
	case h.Summary != nil:
		return h.Summary.Request
	default:
		return h.Prompt.Text
	}
}

func (r *ranking) Rank(_ context.Context, req index.Request) (index.Answer, error) {
	r.requests = append(r.requests, req)
	if r.answer != nil {
		return r.answer(req)
	}
	a := index.Answer{Semantic: !r.lexical, Behind: r.behind}
	asked := strings.Fields(strings.ToLower(req.Text))
	for _, h := range r.choose(req.Filter) {
		var has []string
		for _, w := range strings.Fields(strings.ToLower(textOf(h))) {
			if slices.Contains(asked, w) && !slices.Contains(has, w) {
				has = append(has, w)
			}
		}
		like := r.likeness[h.RecordRef]
		if len(has) == 0 && like == 0 {
			continue
		}
		m := match(h)
		m.Keyword, m.Likeness = float64(len(has))/math.Max(float64(len(asked)), 1), like
		m.Words, m.Lexical = has, len(has) > 0
		a.Matches = append(a.Matches, m)
	}
	return a, nil
}

func match(h claudemem.Hit) index.Match {
	m := index.Match{RecordRef: h.RecordRef, ProjectPath: h.ProjectPath, Session: h.SessionID(), CreatedAt: h.CreatedAt}
	if h.Observation != nil {
		m.Type = h.Observation.Type
	}
	return m
}

func (r *ranking) choose(f index.Filter) []claudemem.Hit {
	var found []claudemem.Hit
	for _, h := range r.memory.eligible(claudemem.Query{Session: f.Session, Since: f.Since, Until: f.Until, Types: f.Types}, f.Kinds, claudemem.OrderOldest) {
		if (len(f.Projects) == 0 || slices.Contains(f.Projects, h.ProjectPath)) && (f.Only == nil || slices.Contains(f.Only, h.RecordRef)) {
			found = append(found, h)
		}
	}
	return found
}

func (r *ranking) Syntax(_ context.Context, expression string, f index.Filter, _ int) (index.Answer, error) {
	if r.syntax == nil {
		return index.Answer{}, claudemem.Errorf(claudemem.CodeInvalid, "syntax error")
	}
	refs, err := r.syntax(expression)
	if err != nil {
		return index.Answer{}, err
	}
	var a index.Answer
	for i, ref := range refs {
		for _, h := range r.choose(f) {
			if h.RecordRef == ref {
				m := match(h)
				m.Keyword = 1 / float64(i+1)
				a.Matches = append(a.Matches, m)
			}
		}
	}
	return a, nil
}

// searcher is a Searcher over a memory, at noon.
func searcher(m *memory, recencyDays int) (*Searcher, *ranking) {
	r := &ranking{memory: m, likeness: map[claudemem.RecordRef]float64{}}
	return New(m, r, Options{
		Clock: func() time.Time { return noon }, Location: berlin,
		RecencyDays: func() int { return recencyDays },
	}), r
}

func find(t *testing.T, s *Searcher, r claudemem.SearchRequest) claudemem.SearchResult {
	t.Helper()
	result, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatalf("Search(%+v): %v", r, err)
	}
	return result
}

// names lists hits as "o12 p3".
func names(hits []claudemem.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%c%d", h.Kind[0], h.ID))
	}
	return strings.Join(list, " ")
}

// WorkingFiles implements Records.
func (m *memory) WorkingFiles(_ context.Context, session claudemem.SessionID, limit int) ([]string, error) {
	return m.working[session], nil
}
