package block

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// knowledge returns the lines of the layer.
func knowledge(t *testing.T, m *fakeMemory, opts Options, req memory.ContextRequest) []string {
	t.Helper()
	opts.Clock = func() time.Time { return noon }
	req.Host, req.ProjectPath, req.Explain = memory.HostClaudeCode, testProject, true
	b, err := unhurried(t, New(m, opts), req)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b)
	var lines []string
	for _, l := range b.Lines {
		if l.Layer == layerLearnings && l.Learning != 0 {
			lines = append(lines, l.Text+" | "+l.Why)
		}
	}
	return lines
}

func TestLearnings(t *testing.T) {
	day := 24 * time.Hour
	retired := learning(9, "gotcha", "retired", 1, 9, day)
	retired.Active = false
	known := []memory.Learning{
		learning(1, "gotcha", "make test needs Postgres on 5433", 0.9, 2, 9*day),
		learning(2, "convention", "Errors are wrapped once", 0.9, 4, 8*day),
		learning(3, "workflow", "Release with make dist", 0.9, 2, 7*day),
		learning(4, "preference", "short commit messages", 1, 1, 6*day),
		learning(5, "dependency", "pgx v5", 0.5, 1, 5*day),
		learning(6, "architecture", "guessed once", 0.49, 1, 4*day),
		learning(7, "", "no category", 0.9, 2, 9*day),
		learning(8, "gotcha", " \u200b\n", 0.9, 2, 9*day),
		retired,
	}
	all := []string{
		"- Preference: short commit messages | confidence 1, seen 1 time",
		"- Convention: Errors are wrapped once | confidence 0.9, seen 4 times",
		"- Workflow: Release with make dist | confidence 0.9, seen 2 times",
		"- no category | confidence 0.9, seen 2 times",
		"- Gotcha: make test needs Postgres on 5433 | confidence 0.9, seen 2 times",
		"- Dependency: pgx v5 | confidence 0.5, seen 1 time",
	}
	for name, tt := range map[string]struct {
		opts     Options
		source   string
		injected time.Duration
		want     []string
	}{
		"startup":             {source: "startup", want: all},
		"clear":               {source: "clear", want: all},
		"compact":             {source: "compact", want: all},
		"resume: the new":     {source: "resume", injected: 7*day + time.Hour, want: []string{all[0], all[2], all[5]}},
		"resume: none is new": {source: "resume", injected: time.Hour},
		"at most two":         {opts: Options{MaxLearnings: 2}, source: "startup", want: all[:2]},
		"none":                {opts: Options{MaxLearnings: -1}, source: "startup"},
		"no cap":              {opts: Options{Caps: Caps{Sessions: 400, Observations: 600, Reserve: 200}}, source: "startup"},
		"surer ones":          {opts: Options{MinConfidence: 0.95}, source: "startup", want: all[:1]},
		"however unsure":      {opts: Options{MinConfidence: -1}, source: "startup", want: append(all[:6:6], "- Architecture: guessed once | confidence 0.49, seen 1 time")},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMemory{learned: known, injectedAt: ago(tt.injected)}
			got := knowledge(t, m, tt.opts, memory.ContextRequest{Source: tt.source, HostSessionID: "x"})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLearningsOfAWaitingTurn shows a rule of the turn that no observer has seen yet,
// once, and not to the session that was told it.
func TestLearningsOfAWaitingTurn(t *testing.T) {
	m, d := crashed()
	rule := memory.Learning{Category: "convention", Content: "never use pnpm here", Confidence: 0.9}
	out := d[1]
	out.Learnings = []memory.Learning{rule, {Category: "gotcha", Content: "Known already", Confidence: 0.9}, {Category: "gotcha", Content: "a guess", Confidence: 0.1}}
	d[1] = out
	m.learned = []memory.Learning{learning(1, "gotcha", "known already", 1, 1, time.Hour)}
	known := "- Gotcha: known already | confidence 1, seen 1 time"
	waiting := "- Convention: never use pnpm here | confidence 0.9, made on the spot of what waits in the queue"
	lines := func(req memory.ContextRequest) []string {
		req.Host, req.ProjectPath, req.Explain = memory.HostClaudeCode, testProject, true
		b, err := unhurried(t, New(m, Options{Distiller: d, Clock: func() time.Time { return noon }}), req)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range b.Lines {
			if l.Layer == layerLearnings && l.Why != "heading" {
				got = append(got, l.Text+" | "+l.Why)
			}
		}
		return got
	}
	for name, tt := range map[string]struct {
		req  memory.ContextRequest
		want []string
	}{
		"another session":          {memory.ContextRequest{Source: "startup", HostSessionID: "new"}, []string{known, waiting}},
		"the session itself":       {memory.ContextRequest{Source: "startup", HostSessionID: hostID(1)}, []string{known}},
		"itself, after compaction": {memory.ContextRequest{Source: "compact", HostSessionID: hostID(1)}, []string{known, waiting}},
	} {
		if diff := cmp.Diff(tt.want, lines(tt.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A project of nothing but learnings is a memory too.
func TestLearningsAreTheFirstLayerWhereNothingElseIs(t *testing.T) {
	m := &fakeMemory{learned: []memory.Learning{learning(1, "gotcha", strings.Repeat("never run the migration twice, ", 60), 1, 1, time.Hour)}}
	for _, budget := range []int{20, 40, 100, 8000} {
		b := build(t, m, nil, memory.ContextRequest{Source: "startup", Budget: budget})
		wellFormed(t, b)
		if !strings.Contains(b.Text, "- Gotcha: never") {
			t.Errorf("budget %d:\n%s", budget, b.Text)
		}
		if budget == 8000 && text.Width(b.Text) > 3*learningChars {
			t.Errorf("a long learning takes %d characters", text.Width(b.Text))
		}
	}
}

func TestLearningsThatCannotBeReadCostOnlyThemselves(t *testing.T) {
	m, d := weeks()
	m.trouble = func(_ context.Context, method string) error {
		if method == "Learnings" {
			return errors.New("disk I/O error")
		}
		return nil
	}
	b := build(t, m, d, memory.ContextRequest{Source: "startup"})
	if strings.Contains(b.Text, "Project Knowledge") || !strings.Contains(b.Text, "Recent Sessions") || !strings.Contains(b.Text, "#93)") {
		t.Errorf("got:\n%s", b.Text)
	}
	if len(b.Skipped) != 1 || b.Skipped[0].Name != layerLearnings {
		t.Errorf("skipped %v", b.Skipped)
	}
}
