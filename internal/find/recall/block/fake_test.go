package block

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/memory"
)

const testProject = "/home/ada/work/tally"

// noon is the minute in which the tests' blocks are built.
var noon = time.Date(2026, 3, 4, 12, 0, 20, 0, time.UTC)

func ago(d time.Duration) memory.Millis { return memory.MillisOf(noon.Add(-d)) }

// memory is a Source that lives in slices. It keeps them in the order that the
// interface promises; trouble, when set, runs before each method.
type fakeMemory struct {
	digests    []memory.SessionDigest
	summaries  []memory.Summary
	observed   []memory.Observation
	learned    []memory.Learning
	symbols    []memory.SymbolChange
	waiting    map[memory.SessionID]memory.Batch
	injectedAt memory.Millis
	judged     memory.Judged
	totals     memory.Totals
	trouble    func(ctx context.Context, method string) error
}

func (m *fakeMemory) before(ctx context.Context, method string) error {
	if m.trouble == nil {
		return nil
	}
	return m.trouble(ctx, method)
}

func (m *fakeMemory) SessionByHost(ctx context.Context, host memory.Host, id string) (memory.Session, error) {
	if err := m.before(ctx, "SessionByHost"); err != nil {
		return memory.Session{}, err
	}
	for _, d := range m.digests {
		if d.Session.Host == host && d.Session.HostSessionID == id {
			return d.Session, nil
		}
	}
	return memory.Session{}, memory.Errorf(memory.CodeNotFound, "no session %q", id)
}

func (m *fakeMemory) RecentSessions(ctx context.Context, project string, limit int) ([]memory.SessionDigest, error) {
	if err := m.before(ctx, "RecentSessions"); err != nil {
		return nil, err
	}
	return m.digests[:min(limit, len(m.digests))], nil
}

func (m *fakeMemory) SessionSummaries(ctx context.Context, session memory.SessionID, limit int) ([]memory.Summary, error) {
	if err := m.before(ctx, "SessionSummaries"); err != nil {
		return nil, err
	}
	var found []memory.Summary
	for _, s := range m.summaries {
		if s.Session == session && len(found) < limit {
			found = append(found, s)
		}
	}
	return found, nil
}

func (m *fakeMemory) Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	if err := m.before(ctx, "Observations"); err != nil {
		return nil, err
	}
	var found []memory.Observation
	for _, o := range m.observed {
		if o.CreatedAt >= q.Since {
			found = append(found, o)
		}
	}
	found = found[min(q.Offset, len(found)):]
	return slices.Clone(found[:min(q.Limit, len(found))]), nil
}

func (m *fakeMemory) Undistilled(ctx context.Context, session memory.SessionID) (memory.Batch, error) {
	if err := m.before(ctx, "Undistilled"); err != nil {
		return memory.Batch{}, err
	}
	return m.waiting[session], nil
}

func (m *fakeMemory) LastInjection(ctx context.Context, host memory.Host, id string) (memory.Millis, error) {
	if err := m.before(ctx, "LastInjection"); err != nil {
		return 0, err
	}
	return m.injectedAt, nil
}

func (m *fakeMemory) Judged(ctx context.Context) (memory.Judged, error) {
	return m.judged, m.before(ctx, "Judged")
}

func (m *fakeMemory) Totals(ctx context.Context, project string) (memory.Totals, error) {
	if err := m.before(ctx, "Totals"); err != nil {
		return memory.Totals{}, err
	}
	return m.totals, nil
}

// distilled answers with an outcome per session.
type distilled map[memory.SessionID]memory.Outcome

func (d distilled) Distil(_ context.Context, b memory.Batch) (memory.Outcome, error) {
	return d[b.Session.ID], nil
}

// session makes the digest of a session that was last active d ago.
func session(id memory.SessionID, d time.Duration, summary *memory.Summary) memory.SessionDigest {
	s := memory.Session{ID: id, Host: memory.HostClaudeCode, HostSessionID: hostID(id),
		ProjectPath: testProject, Label: "tally", PromptCount: 1, StartedAt: ago(d + 10*time.Minute), UpdatedAt: ago(d)}
	if summary != nil {
		summary.Session, summary.PromptNumber, summary.CreatedAt = id, 1, ago(d)
	}
	return memory.SessionDigest{Session: s, Summary: summary}
}

// hostID looks like a host's session id, so that one that leaks is seen in the goldens.
func hostID(id memory.SessionID) string {
	return "0b7c1f6e-52d4-4b6f-9c7a-00000000000" + string(rune('0'+id%10))
}

func observation(id memory.ObservationID, in memory.SessionID, d time.Duration, title, subtitle string, facts ...string) memory.Observation {
	return memory.Observation{ID: id, Session: in, ProjectPath: testProject, Type: memory.TypeBugfix,
		Title: title, Subtitle: subtitle, Facts: facts, CreatedAt: ago(d)}
}

func modified(o memory.Observation, files ...string) memory.Observation {
	for _, f := range files {
		o.Files = append(o.Files, memory.FileRef{Path: f, Role: memory.FileModified})
	}
	return o
}

func pinned(o memory.Observation) memory.Observation {
	o.Pinned = true
	return o
}

// events is a batch of n tool calls that ended d ago.
func events(s memory.Session, n int, d time.Duration) memory.Batch {
	b := memory.Batch{Session: s}
	for i := range n {
		b.Events = append(b.Events, memory.PendingEvent{PromptNumber: 1, Event: memory.Event{
			Kind: memory.KindTool, ToolName: "Edit", OccurredAt: ago(d) - memory.Millis(n-1-i)}})
	}
	return b
}

func (m *fakeMemory) RecentSymbols(ctx context.Context, project string, except memory.SessionID, sessions int) ([]memory.SymbolChange, error) {
	if err := m.before(ctx, "RecentSymbols"); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(m.symbols), func(c memory.SymbolChange) bool { return c.Session == except }), nil
}

func (m *fakeMemory) Learnings(ctx context.Context, q memory.LearningQuery) ([]memory.Learning, error) {
	if err := m.before(ctx, "Learnings"); err != nil {
		return nil, err
	}
	return m.learned[:min(q.Limit, len(m.learned))], nil
}

// relatives is a Finder that finds the same whatever it is asked.
type relatives struct {
	found   []memory.Related
	trouble func(ctx context.Context) error

	mu    sync.Mutex
	asked []memory.RelatedRequest
}

func (f *relatives) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
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
func fitting(o memory.Observation, coverage, likeness float64, words ...string) memory.Related {
	return memory.Related{
		Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: int64(o.ID)}, ProjectPath: o.ProjectPath,
			CreatedAt: o.CreatedAt, Observation: &o, Why: &memory.Explanation{Words: words}},
		Evidence: memory.Evidence{Words: len(words), Of: 20, Coverage: coverage, Likeness: likeness},
	}
}

func learning(id int64, category, content string, confidence float64, seen int, d time.Duration) memory.Learning {
	return memory.Learning{ID: id, ProjectPath: testProject, Category: category, Content: content, Confidence: confidence,
		TimesSeen: seen, Active: true, CreatedAt: ago(d), UpdatedAt: ago(d)}
}

// changed makes a change that was made d ago: "new func calc.Add | func Add(a, b int) int".
func changed(file string, in memory.SessionID, d time.Duration, change string) memory.SymbolChange {
	what, signature, _ := strings.Cut(change, " | ")
	words := strings.Fields(what)
	c := memory.SymbolChange{FilePath: file, Session: in, SnapshotAt: ago(d), ChangeType: memory.ChangeType(words[0]),
		Kind: words[1], QualifiedName: words[2], Signature: signature}
	if len(words) > 3 { // was oldName
		c.RenamedFrom = words[4]
	}
	return c
}
