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

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
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
type fakeMemory struct {
	working  map[memory.SessionID][]string
	hits     []memory.Hit
	sessions []memory.Session
	counts   int
	filters  []memory.Query
	err      error
}

// observe adds an observation and returns its ref.
func (m *fakeMemory) observe(id int64, at time.Time, edit ...func(o *memory.Observation)) memory.RecordRef {
	o := memory.Observation{
		ID: memory.ObservationID(id), Session: 1, ProjectPath: "/src/shop", Type: memory.TypeDiscovery,
		Title: fmt.Sprintf("observation %d", id), CreatedAt: memory.MillisOf(at),
	}
	for _, e := range edit {
		e(&o)
	}
	ref := memory.RecordRef{Kind: memory.RecordObservation, ID: id}
	m.hits = append(m.hits, memory.Hit{RecordRef: ref, ProjectPath: o.ProjectPath, CreatedAt: o.CreatedAt, Observation: &o})
	return ref
}

// ObservationsNaming implements Records.
func (m *fakeMemory) ObservationsNaming(_ context.Context, paths []string, limit int) (map[string][]memory.ObservationID, error) {
	of := map[string][]memory.ObservationID{}
	for _, h := range slices.Backward(m.hits) {
		for _, path := range paths {
			if o := h.Observation; o != nil && len(of[path]) < limit &&
				slices.ContainsFunc(o.Files, func(f memory.FileRef) bool { return f.Path == path }) {
				of[path] = append(of[path], o.ID)
			}
		}
	}
	return of, m.err
}

// Documents implements Records.
func (m *fakeMemory) Documents(_ context.Context, refs ...memory.RecordRef) (documents []memory.Document, err error) {
	for _, ref := range refs {
		for _, h := range m.hits {
			if h.RecordRef != ref {
				continue
			}
			d := memory.Document{RecordRef: ref, ProjectPath: h.ProjectPath, CreatedAt: h.CreatedAt}
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

func (m *fakeMemory) prompt(id int64, at time.Time, text string) memory.RecordRef {
	ref := memory.RecordRef{Kind: memory.RecordPrompt, ID: id}
	m.hits = append(m.hits, memory.Hit{
		RecordRef: ref, ProjectPath: "/src/shop", CreatedAt: memory.MillisOf(at),
		Prompt: &memory.Prompt{ID: id, Session: 1, Number: int(id), Text: text, CreatedAt: memory.MillisOf(at)},
	})
	return ref
}

func (m *fakeMemory) summarize(id int64, at time.Time, request string) memory.RecordRef {
	ref := memory.RecordRef{Kind: memory.RecordSummary, ID: id}
	m.hits = append(m.hits, memory.Hit{
		RecordRef: ref, ProjectPath: "/src/shop", CreatedAt: memory.MillisOf(at),
		Summary: &memory.Summary{ID: id, Session: 1, Request: request, CreatedAt: memory.MillisOf(at)},
	})
	return ref
}

func title(text string) func(*memory.Observation) {
	return func(o *memory.Observation) { o.Title = text }
}

func typed(t memory.ObservationType) func(*memory.Observation) {
	return func(o *memory.Observation) { o.Type = t }
}

func project(path string) func(*memory.Observation) {
	return func(o *memory.Observation) { o.ProjectPath = path }
}

func concepts(c ...string) func(*memory.Observation) {
	return func(o *memory.Observation) { o.Concepts = c }
}

func labelOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func (m *fakeMemory) ProjectOf(_ context.Context, path string) (string, error) { return path, nil }

func (m *fakeMemory) ProjectsNamed(_ context.Context, name string) ([]string, error) {
	var found []string
	for _, h := range m.hits {
		if (h.ProjectPath == name || labelOf(h.ProjectPath) == name) && !slices.Contains(found, h.ProjectPath) {
			found = append(found, h.ProjectPath)
		}
	}
	return found, m.err
}

func (m *fakeMemory) RecordsByRefs(_ context.Context, refs ...memory.RecordRef) ([]memory.Hit, error) {
	var found []memory.Hit
	for _, r := range refs {
		for _, h := range m.hits {
			if h.RecordRef == r {
				found = append(found, h)
			}
		}
	}
	return found, m.err
}

func (m *fakeMemory) Superseding(_ context.Context, ids ...memory.ObservationID) (map[memory.ObservationID]memory.ObservationID, error) {
	by := map[memory.ObservationID]memory.ObservationID{}
	for _, h := range m.hits {
		if o := h.Observation; o != nil && o.SupersededBy != 0 {
			by[o.ID] = o.SupersededBy
		}
	}
	return by, m.err
}

func (m *fakeMemory) eligible(q memory.Query, kinds []memory.RecordKind, order memory.Order) []memory.Hit {
	var found []memory.Hit
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
			len(q.Files) > 0 && !slices.ContainsFunc(o.Files, func(f memory.FileRef) bool { return slices.Contains(q.Files, f.Path) }):
			continue
		}
		found = append(found, h)
	}
	slices.SortFunc(found, func(a, b memory.Hit) int {
		c := cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.ID, a.ID))
		if order == memory.OrderOldest {
			return -c
		}
		return c
	})
	return found
}

func (m *fakeMemory) FilterRecords(_ context.Context, q memory.Query, kinds []memory.RecordKind, order memory.Order) ([]memory.RecordRef, error) {
	m.filters = append(m.filters, q)
	found := m.eligible(q, kinds, order)
	found = found[min(q.Offset, len(found)):]
	if q.Limit > 0 {
		found = found[:min(q.Limit, len(found))]
	}
	var refs []memory.RecordRef
	for _, h := range found {
		refs = append(refs, h.RecordRef)
	}
	return refs, m.err
}

func (m *fakeMemory) CountRecords(_ context.Context, q memory.Query, kinds []memory.RecordKind) (int, error) {
	m.counts++
	return len(m.eligible(q, kinds, memory.OrderNewest)), m.err
}

func (m *fakeMemory) Around(_ context.Context, project string, at memory.Millis, ref memory.RecordRef, before, after int) (earlier, later []memory.TimelineItem, err error) {
	for _, h := range m.eligible(memory.Query{Project: project}, nil, memory.OrderOldest) {
		item := memory.TimelineItem{Hit: h, Session: h.SessionID()}
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

func (m *fakeMemory) Session(_ context.Context, id memory.SessionID) (memory.Session, error) {
	for _, s := range m.sessions {
		if s.ID == id {
			return s, m.err
		}
	}
	return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session S%d", id)
}

// ranking is a fake of Index: it ranks the memory's records by the share of the
// text's words that they have, and has a likeness for those that are scripted.
type ranking struct {
	memory   *fakeMemory
	likeness map[memory.RecordRef]float64
	answer   func(index.Request) (index.Answer, error) // instead of all this
	syntax   func(expression string) ([]memory.RecordRef, error)
	requests []index.Request
	behind   int64
	lexical  bool // there are no vectors
}

func textOf(h memory.Hit) string {
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

func match(h memory.Hit) index.Match {
	m := index.Match{RecordRef: h.RecordRef, ProjectPath: h.ProjectPath, Session: h.SessionID(), CreatedAt: h.CreatedAt}
	if h.Observation != nil {
		m.Type = h.Observation.Type
	}
	return m
}

func (r *ranking) choose(f index.Filter) []memory.Hit {
	var found []memory.Hit
	for _, h := range r.memory.eligible(memory.Query{Session: f.Session, Since: f.Since, Until: f.Until, Types: f.Types}, f.Kinds, memory.OrderOldest) {
		if (len(f.Projects) == 0 || slices.Contains(f.Projects, h.ProjectPath)) && (f.Only == nil || slices.Contains(f.Only, h.RecordRef)) {
			found = append(found, h)
		}
	}
	return found
}

func (r *ranking) Syntax(_ context.Context, expression string, f index.Filter, _ int) (index.Answer, error) {
	if r.syntax == nil {
		return index.Answer{}, memory.Errorf(memory.CodeInvalid, "syntax error")
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
				m.Keyword, m.Lexical = 1/float64(i+1), true
				a.Matches = append(a.Matches, m)
			}
		}
	}
	return a, nil
}

// searcher is a Searcher over a memory, at noon.
func searcher(m *fakeMemory, recencyDays int) (*Searcher, *ranking) {
	r := &ranking{memory: m, likeness: map[memory.RecordRef]float64{}}
	return New(m, r, Options{
		Clock: func() time.Time { return noon }, Location: berlin,
		RecencyDays: func() int { return recencyDays },
	}), r
}

func find(t *testing.T, s *Searcher, r memory.SearchRequest) memory.SearchResult {
	t.Helper()
	result, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatalf("Search(%+v): %v", r, err)
	}
	return result
}

// names lists hits as "o12 p3".
func names(hits []memory.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%c%d", h.Kind[0], h.ID))
	}
	return strings.Join(list, " ")
}

// WorkingFiles implements Records.
func (m *fakeMemory) WorkingFiles(_ context.Context, session memory.SessionID, limit int) (files []string, own []memory.ObservationID, err error) {
	for _, h := range m.hits {
		if h.Observation != nil && h.Observation.Session == session {
			own = append(own, h.Observation.ID)
		}
	}
	return m.working[session], own, nil
}
