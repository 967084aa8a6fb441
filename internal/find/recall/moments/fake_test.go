package moments

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/memory"
)

const testProject = "/home/ada/work/tally"

// noon is the time of the tests.
var noon = time.Date(2026, 3, 4, 12, 0, 20, 0, time.UTC)

func ago(d time.Duration) memory.Millis { return memory.MillisOf(noon.Add(-d)) }

// remembered is a memory for moments: a Finder that finds everything, a History
// and a Given. trouble, when set, runs before each call.
type remembered struct {
	mu      sync.Mutex
	records []memory.Observation
	shown   memory.Shown
	calls   map[string]int
	asked   []memory.RelatedRequest
	trouble func(ctx context.Context, method string) error
}

func (m *remembered) before(ctx context.Context, method string) error {
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[method]++
	m.mu.Unlock()
	if m.trouble == nil {
		return nil
	}
	return m.trouble(ctx, method)
}

func (m *remembered) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	if err := m.before(ctx, "Related"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	var found []memory.Related
	for _, o := range m.records {
		if o.ProjectPath == r.ProjectPath {
			found = append(found, memory.Related{Hit: memory.Hit{Observation: &o}})
		}
	}
	return found, nil
}

func (m *remembered) ObservationsOfFile(ctx context.Context, project, path string, limit int) ([]memory.Observation, error) {
	if err := m.before(ctx, "ObservationsOfFile"); err != nil {
		return nil, err
	}
	var found []memory.Observation
	for _, o := range m.records {
		if o.ProjectPath == project && len(found) < limit && slices.ContainsFunc(o.Files, func(f memory.FileRef) bool { return f.Path == path }) {
			found = append(found, o)
		}
	}
	return found, nil
}

func (m *remembered) Shown(ctx context.Context, _ memory.Host, _ string) (memory.Shown, error) {
	if err := m.before(ctx, "Shown"); err != nil {
		return memory.Shown{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return memory.Shown{CompactedAt: m.shown.CompactedAt, Observations: slices.Clone(m.shown.Observations), Said: maps.Clone(m.shown.Said), Judged: m.shown.Judged}, nil
}

// book notes that a recollection was given, as the store does.
func (m *remembered) book(c memory.Recollection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown.Observations = append(m.shown.Observations, c.Injection.Observations...)
	if m.shown.Said == nil {
		m.shown.Said = map[memory.ObservationID][]uint32{}
	}
	for id, keys := range c.Injection.Complete().Said {
		m.shown.Said[id] = append(m.shown.Said[id], keys...)
	}
}

// reminderOf makes a Reminder that takes everything near a prompt to be about it.
func reminderOf(m *remembered) *Reminder {
	r := New(m, Options{Finder: m, History: m, Relative: below, Clock: func() time.Time { return noon }})
	r.passPrompt = untold
	return r
}

// below names what lies below the root.
func below(root, cwd, file string) string {
	rel, _ := toolcall.Relative(file, cwd, root)
	return rel
}

// hubBug is a bug that was fixed in realtime/hub.go.
func hubBug(id memory.ObservationID) memory.Observation {
	o := observation(id, 7, time.Hour, fmt.Sprintf("Fix: Hub %d wrote its clients without a lock", id), "", "Failed before: `go test`: TestHubBroadcasts: fatal error: concurrent map writes in hub.clients")
	return modified(o, "realtime/hub.go")
}

func prompted(text string) memory.Event {
	return memory.Event{Kind: memory.KindPrompt, Host: memory.HostClaudeCode, HostSessionID: hostID(1), ProjectPath: testProject, WorktreeRoot: testProject, Prompt: text}
}

func toolEvent(tool string, input map[string]string) memory.Event {
	e := prompted("")
	e.Kind, e.ToolName = memory.KindTool, tool
	e.ToolInput, _ = json.Marshal(input)
	return e
}

func reads(path string) memory.Event {
	return toolEvent("Read", map[string]string{"file_path": path})
}

func failed(text string) memory.Event {
	e := toolEvent("Bash", map[string]string{"command": "go test"})
	e.ToolError = text
	return e
}

const hubFailure = "Exit code 1\n--- FAIL: TestHubBroadcasts (0.00s)\nfatal error: concurrent map writes\nFAIL"

// moments is one event of each sort that hubBug is the answer to.
func moments() map[memory.Moment]memory.Event {
	return map[memory.Moment]memory.Event{
		memory.MomentPrompt:  prompted("why does the hub lock its clients?"),
		memory.MomentFile:    reads(testProject + "/realtime/hub.go"),
		memory.MomentFailure: failed(hubFailure),
	}
}

func recallOf(t *testing.T, r *Reminder, e memory.Event, session memory.SessionID) memory.Recollection {
	t.Helper()
	c, err := r.Recall(t.Context(), e, session)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wellGiven fails when a recollection is not what any of them has to be.
func wellGiven(t interface {
	Helper()
	Errorf(string, ...any)
}, c memory.Recollection) {
	t.Helper()
	if c.Text == "" {
		if len(c.Injection.Observations) > 0 {
			t.Errorf("silence that books %v", c.Injection.Observations)
		}
		return
	}
	in := c.Injection
	if got := memory.EstimateTokens(c.Text); got > 250 || in.Tokens != got {
		t.Errorf("%d tokens, booked %d", got, in.Tokens)
	}
	lines := strings.Split(c.Text, "\n")
	if lines[0] != "<claude-mem-context>" || lines[len(lines)-1] != "</claude-mem-context>" || strings.Count(c.Text, "<claude-mem-context>") != 1 || strings.Count(c.Text, "</claude-mem-context>") != 1 {
		t.Errorf("the frame is broken:\n%s", c.Text)
	}
	body := lines[2 : len(lines)-1]
	if len(body) == 0 || len(body) > 3 || len(body) != len(in.Observations) {
		t.Errorf("%d lines of %v:\n%s", len(body), in.Observations, c.Text)
		return
	}
	for i, id := range in.Observations {
		if !strings.HasPrefix(body[i], "- ") || !strings.Contains(body[i], fmt.Sprintf("(#%d)", id)) || strings.HasPrefix(body[i], "-  ") {
			t.Errorf("line %q of #%d", body[i], id)
		}
		if slices.Contains(in.Observations[:i], id) {
			t.Errorf("#%d twice", id)
		}
	}
	if in.At == 0 || in.Host == "" || in.HostSessionID == "" || in.Where == "" || in.Budget != 250 {
		t.Errorf("incomplete injection %+v", in)
	}
}

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

// inBubble calls f in a bubble, unless t is bubbled or no *testing.T.
func inBubble(t testing.TB, f func()) {
	t.Helper()
	if outer, ok := t.(*testing.T); ok {
		synctest.Test(outer, func(*testing.T) { f() })
	} else {
		f()
	}
}
