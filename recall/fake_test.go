package recall

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem"
)

const testProject = "/home/ada/work/tally"

// noon is the minute in which the tests' blocks are built.
var noon = time.Date(2026, 3, 4, 12, 0, 20, 0, time.UTC)

func ago(d time.Duration) claudemem.Millis { return claudemem.MillisOf(noon.Add(-d)) }

// memory is a Source that lives in slices. It keeps them in the order that the
// interface promises; trouble, when set, runs before each method.
type memory struct {
	digests    []claudemem.SessionDigest
	summaries  []claudemem.Summary
	observed   []claudemem.Observation
	learned    []claudemem.Learning
	symbols    []claudemem.SymbolChange
	waiting    map[claudemem.SessionID]claudemem.Batch
	injectedAt claudemem.Millis
	totals     claudemem.Totals
	trouble    func(ctx context.Context, method string) error
}

func (m *memory) before(ctx context.Context, method string) error {
	if m.trouble == nil {
		return nil
	}
	return m.trouble(ctx, method)
}

func (m *memory) SessionByHost(ctx context.Context, host claudemem.Host, id string) (claudemem.Session, error) {
	if err := m.before(ctx, "SessionByHost"); err != nil {
		return claudemem.Session{}, err
	}
	for _, d := range m.digests {
		if d.Session.Host == host && d.Session.HostSessionID == id {
			return d.Session, nil
		}
	}
	return claudemem.Session{}, claudemem.Errorf(claudemem.CodeNotFound, "no session %q", id)
}

func (m *memory) RecentSessions(ctx context.Context, project string, limit int) ([]claudemem.SessionDigest, error) {
	if err := m.before(ctx, "RecentSessions"); err != nil {
		return nil, err
	}
	return m.digests[:min(limit, len(m.digests))], nil
}

func (m *memory) SessionSummaries(ctx context.Context, session claudemem.SessionID, limit int) ([]claudemem.Summary, error) {
	if err := m.before(ctx, "SessionSummaries"); err != nil {
		return nil, err
	}
	var found []claudemem.Summary
	for _, s := range m.summaries {
		if s.Session == session && len(found) < limit {
			found = append(found, s)
		}
	}
	return found, nil
}

func (m *memory) Observations(ctx context.Context, q claudemem.Query) ([]claudemem.Observation, error) {
	if err := m.before(ctx, "Observations"); err != nil {
		return nil, err
	}
	var found []claudemem.Observation
	for _, o := range m.observed {
		if o.CreatedAt >= q.Since {
			found = append(found, o)
		}
	}
	found = found[min(q.Offset, len(found)):]
	return slices.Clone(found[:min(q.Limit, len(found))]), nil
}

func (m *memory) Undistilled(ctx context.Context, session claudemem.SessionID) (claudemem.Batch, error) {
	if err := m.before(ctx, "Undistilled"); err != nil {
		return claudemem.Batch{}, err
	}
	return m.waiting[session], nil
}

func (m *memory) LastInjection(ctx context.Context, host claudemem.Host, id string) (claudemem.Millis, error) {
	if err := m.before(ctx, "LastInjection"); err != nil {
		return 0, err
	}
	return m.injectedAt, nil
}

func (m *memory) Totals(ctx context.Context, project string) (claudemem.Totals, error) {
	if err := m.before(ctx, "Totals"); err != nil {
		return claudemem.Totals{}, err
	}
	return m.totals, nil
}

// distilled answers with an outcome per session.
type distilled map[claudemem.SessionID]claudemem.Outcome

func (d distilled) Distil(_ context.Context, b claudemem.Batch) (claudemem.Outcome, error) {
	return d[b.Session.ID], nil
}

// session makes the digest of a session that was last active d ago.
func session(id claudemem.SessionID, d time.Duration, summary *claudemem.Summary) claudemem.SessionDigest {
	s := claudemem.Session{ID: id, Host: claudemem.HostClaudeCode, HostSessionID: hostID(id),
		ProjectPath: testProject, Label: "tally", PromptCount: 1, StartedAt: ago(d + 10*time.Minute), UpdatedAt: ago(d)}
	if summary != nil {
		summary.Session, summary.PromptNumber, summary.CreatedAt = id, 1, ago(d)
	}
	return claudemem.SessionDigest{Session: s, Summary: summary}
}

// hostID looks like a host's session id, so that one that leaks is seen in the goldens.
func hostID(id claudemem.SessionID) string {
	return "0b7c1f6e-52d4-4b6f-9c7a-00000000000" + string(rune('0'+id%10))
}

func observation(id claudemem.ObservationID, in claudemem.SessionID, d time.Duration, title, subtitle string, facts ...string) claudemem.Observation {
	return claudemem.Observation{ID: id, Session: in, ProjectPath: testProject, Type: claudemem.TypeBugfix,
		Title: title, Subtitle: subtitle, Facts: facts, CreatedAt: ago(d)}
}

func modified(o claudemem.Observation, files ...string) claudemem.Observation {
	for _, f := range files {
		o.Files = append(o.Files, claudemem.FileRef{Path: f, Role: claudemem.FileModified})
	}
	return o
}

func pinned(o claudemem.Observation) claudemem.Observation {
	o.Pinned = true
	return o
}

// events is a batch of n tool calls that ended d ago.
func events(s claudemem.Session, n int, d time.Duration) claudemem.Batch {
	b := claudemem.Batch{Session: s}
	for i := range n {
		b.Events = append(b.Events, claudemem.PendingEvent{PromptNumber: 1, Event: claudemem.Event{
			Kind: claudemem.KindTool, ToolName: "Edit", OccurredAt: ago(d) - claudemem.Millis(n-1-i)}})
	}
	return b
}

func (m *memory) RecentSymbols(ctx context.Context, project string, except claudemem.SessionID, sessions int) ([]claudemem.SymbolChange, error) {
	if err := m.before(ctx, "RecentSymbols"); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(m.symbols), func(c claudemem.SymbolChange) bool { return c.Session == except }), nil
}

func (m *memory) Learnings(ctx context.Context, q claudemem.LearningQuery) ([]claudemem.Learning, error) {
	if err := m.before(ctx, "Learnings"); err != nil {
		return nil, err
	}
	return m.learned[:min(q.Limit, len(m.learned))], nil
}

// relatives is a Finder that finds the same whatever it is asked.
type relatives struct {
	found   []claudemem.Related
	trouble func(ctx context.Context) error

	mu    sync.Mutex
	asked []claudemem.RelatedRequest
}

func (f *relatives) Related(ctx context.Context, r claudemem.RelatedRequest) ([]claudemem.Related, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	if f.trouble != nil {
		if err := f.trouble(ctx); err != nil {
			return nil, err
		}
	}
	return slices.Clone(f.found), nil
}

// fitting is an observation that fits what was asked for, with some of its words.
func fitting(o claudemem.Observation, coverage, likeness float64, words ...string) claudemem.Related {
	return claudemem.Related{
		Hit: claudemem.Hit{RecordRef: claudemem.RecordRef{Kind: claudemem.RecordObservation, ID: int64(o.ID)}, ProjectPath: o.ProjectPath,
			CreatedAt: o.CreatedAt, Observation: &o, Why: &claudemem.Explanation{Words: words}},
		Evidence: claudemem.Evidence{Words: len(words), Of: 20, Coverage: coverage, Likeness: likeness},
	}
}

func learning(id int64, category, content string, confidence float64, seen int, d time.Duration) claudemem.Learning {
	return claudemem.Learning{ID: id, ProjectPath: testProject, Category: category, Content: content, Confidence: confidence,
		TimesSeen: seen, Active: true, CreatedAt: ago(d), UpdatedAt: ago(d)}
}

// changed makes a change that was made d ago: "new func calc.Add | func Add(a, b int) int".
func changed(file string, in claudemem.SessionID, d time.Duration, change string) claudemem.SymbolChange {
	what, signature, _ := strings.Cut(change, " | ")
	words := strings.Fields(what)
	c := claudemem.SymbolChange{FilePath: file, Session: in, SnapshotAt: ago(d), ChangeType: claudemem.ChangeType(words[0]),
		Kind: words[1], QualifiedName: words[2], Signature: signature}
	if len(words) > 3 { // was oldName
		c.RenamedFrom = words[4]
	}
	return c
}
