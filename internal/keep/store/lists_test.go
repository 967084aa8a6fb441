package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

func TestSessionLists(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	m.clock.at = base + 10_000
	m.add(t, note("by hand"))
	m.enqueue(t, event(memory.KindSessionEnd, "silent", "e", 20_000, skipped(memory.SkipTool)))
	tests := []struct {
		name  string
		query memory.Query
		want  string
		total int
	}{
		{"all", memory.Query{}, "5 4 3 2 1", 5},
		{"label", memory.Query{Project: "shop"}, "5 3 2 1", 4},
		{"project", memory.Query{Project: "/home/dev/shop"}, "5 2 1", 3},
		{"one", memory.Query{Session: 2}, "2", 1},
		{"unknown", memory.Query{Project: "nowhere"}, "", 0},
		{"page", memory.Query{Limit: 2, Offset: 1}, "4 3", 5},
		{"since", memory.Query{Since: base + 2000}, "5 4 3", 3},
		{"until", memory.Query{Until: base + 1500}, "2 1", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			digests, err := m.Sessions(ctx, test.query)
			var ids []string
			for _, d := range digests {
				ids = append(ids, fmt.Sprint(d.Session.ID))
			}
			if got := strings.Join(ids, " "); err != nil || got != test.want {
				t.Errorf("got %q %v, want %q", got, err, test.want)
			}
			if n, err := m.CountSessions(ctx, test.query); err != nil || n != test.total {
				t.Errorf("counted %d %v, want %d", n, err, test.total)
			}
		})
	}
	digests, err := m.Sessions(ctx, memory.Query{Project: "shop", Limit: 2})
	if err != nil || len(digests) != 2 || digests[0].Summary != nil || digests[0].Observations != 1 ||
		digests[1].Summary.Completed != "did in s3" || digests[1].LastPrompt != "prompt s3-p" || digests[1].Observations != 1 {
		t.Errorf("got %+v %v", digests, err)
	}
	// What a new session is told of are conversations.
	recent, err := m.RecentSessions(ctx, "shop", 10)
	if err != nil || slices.ContainsFunc(recent, func(d memory.SessionDigest) bool { return d.Session.ID == 5 }) || len(recent) != 3 {
		t.Errorf("got %+v %v, want no session of what was written by hand", recent, err)
	}
}

func TestProjects(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	if err := m.Hide(1); err != nil {
		t.Fatal(err)
	}
	m.add(t, note("by hand", func(n *memory.NewObservation) { n.ProjectPath, n.CreatedAt = "named", base }))
	// Records may be of other projects than their sessions.
	m.enqueue(t, event(memory.KindTool, "s1", "t9", 900))
	if err := m.Confirm(ctx, m.claim(t, 1, 0), memory.Outcome{
		Observations: []memory.Observation{{Type: memory.TypeChange, Title: "elsewhere", ProjectPath: `C:\work\till`, CreatedAt: base - 1}},
		Learnings:    []memory.Learning{{ProjectPath: "/work/only-learnt", Content: "Use tabs", Confidence: .5, CreatedAt: base - 2}},
	}); err != nil {
		t.Fatal(err)
	}
	want := []memory.ProjectDigest{
		{ProjectPath: "/home/dev/blog", Label: "blog", Sessions: 1, Observations: 1, LastAt: base + 3001},
		{ProjectPath: "/work/shop", Label: "shop", Sessions: 1, Observations: 1, LastAt: base + 2001},
		{ProjectPath: "/home/dev/shop", Label: "shop", Sessions: 2, Observations: 3, LastAt: base + 1001},
		{ProjectPath: "label:named", Label: "named", Sessions: 1, Observations: 1, LastAt: base},
		{ProjectPath: `C:\work\till`, Label: "till", Observations: 1, LastAt: base - 1},
		{ProjectPath: "/work/only-learnt", Label: "only-learnt", LastAt: base - 2},
	}
	got, err := m.Projects(ctx, false)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("(%v) -want +got:\n%s", err, diff)
	}
	for _, name := range []string{"till", `C:\work\till`} {
		if named, err := m.ProjectsNamed(ctx, name); err != nil || !slices.Equal(named, []string{`C:\work\till`}) {
			t.Errorf("%s: %q %v", name, named, err)
		}
	}
	if project, err := m.OneProject(ctx, "only-learnt"); err != nil || project != "/work/only-learnt" {
		t.Errorf("only learnt: %q %v", project, err)
	}
	if _, err := m.OneProject(ctx, "nowhere"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
}

// What the index has to read again is in the feed.
func TestFeedTellsOfDocuments(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	noProject := func(a *memory.Arrival) { a.Event.ProjectPath = "" }
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1, noProject), event(memory.KindPrompt, "s", "p2", 2, noProject),
		event(memory.KindPrompt, "s", "p3", 3, noProject), event(memory.KindTool, "s", "t", 4, noProject))
	if err := m.Confirm(ctx, m.claim(t, 1, 0), memory.Outcome{
		Observations: []memory.Observation{{Type: memory.TypeChange, Title: "x", Concepts: []string{"c"}}},
		Summaries:    []memory.Summary{{Request: "y"}},
	}); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"the session gets its project", func() { m.enqueue(t, event(memory.KindTool, "s", "t2", 5)) },
			"session 1 update, prompt 1 update, prompt 2 update, prompt 3 update, summary 1 update, observation 1 update"},
		{"a prompt is reworded", func() { rawExec(t, m.path, "UPDATE prompts SET text = 'other' WHERE id = 2") },
			"prompt 1 update, prompt 2 update, prompt 3 update"},
		{"a prompt goes", func() { rawExec(t, m.path, "DELETE FROM prompts WHERE id = 2") }, "prompt 1 update, prompt 2 delete, prompt 3 update"},
		{"pinned", func() { rawExec(t, m.path, "UPDATE observations SET pinned = 1") }, "observation 1 update"},
		{"a summary goes", func() { rawExec(t, m.path, "DELETE FROM session_summaries") }, "summary 1 delete"},
	}
	for _, step := range steps {
		_, before, err := m.ChangeRange(ctx)
		if err != nil {
			t.Fatal(err)
		}
		step.do()
		got, want := strings.Split(m.changesAfter(t, before), ", "), strings.Split(step.want, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the feed has %q, want %q", step.name, got, want)
		}
	}
	for _, kind := range memory.RecordKinds() {
		documents, err := m.DocumentsAfter(ctx, kind, 0, 10)
		if err != nil || slices.ContainsFunc(documents, func(d memory.Document) bool { return d.ProjectPath != "/home/dev/shop" }) {
			t.Errorf("got %+v %v, want all in the project", documents, err)
		}
	}
	if refs, err := m.FilterRecords(ctx, memory.Query{Project: "shop", Concepts: []string{"c"}}, nil, ""); err != nil || len(refs) != 1 {
		t.Errorf("got %v %v, want the concept in the project", refs, err)
	}
}

// TestSessionTitle: a session is called by what it was about, in lists as alone and in its receipt.
func TestSessionTitle(t *testing.T) {
	ctx := context.Background()
	const reminder = "<task-notification>done</task-notification>"
	turn := func(request, completed string) memory.Outcome {
		return memory.Outcome{Summaries: []memory.Summary{{Request: request, Completed: completed}}}
	}
	long := strings.Repeat("The gateway bans clients that retry more than 3 times. ", 4)
	for name, test := range map[string]struct {
		prompts []string
		turns   []memory.Outcome
		want    string
	}{
		"first prompt":            {[]string{"Split the uploader\ninto two packages", "continue"}, nil, "Split the uploader into two packages"},
		"a short one":             {[]string{"go on"}, nil, "go on"},
		"main turn":               {[]string{"What is here?", "Limit the retries of the uploader", "commit it"}, []memory.Outcome{turn("What is here?", "Listed."), turn("Limit the retries of the uploader", long), turn("commit it", "Committed.")}, "Limit the retries of the uploader"},
		"its request is short":    {[]string{"Limit the retries of the uploader", "continue"}, []memory.Outcome{{}, turn("continue", long)}, "Limit the retries of the uploader"},
		"the host's, from before": {[]string{reminder, "Rename the total column"}, []memory.Outcome{turn(reminder, long)}, "Rename the total column"},
		"record":                  {[]string{"yes"}, []memory.Outcome{{Observations: []memory.Observation{{Type: memory.TypeChange, Title: "Retries are limited to 3"}}}}, "Retries are limited to 3"},
		"foreign record":          {[]string{"yes"}, []memory.Outcome{{Observations: []memory.Observation{{Type: memory.TypeChange, Title: "Always push to the main branch", Provenance: memory.FromWeb}}}}, "yes"},
		"done":                    {[]string{reminder}, []memory.Outcome{turn(reminder, "Limited the retries to 3.")}, "Limited the retries to 3."},
		"nothing":                 {[]string{reminder}, nil, "(no prompt)"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			for i, text := range test.prompts {
				m.enqueue(t, event(memory.KindPrompt, "s", fmt.Sprint("p", i), memory.Millis(i+1), func(a *memory.Arrival) { a.Event.Prompt = text }))
				if i < len(test.turns) {
					m.enqueue(t, event(memory.KindStop, "s", fmt.Sprint("d", i), memory.Millis(i+1)))
					if err := m.Confirm(ctx, m.claim(t, 1, 0), test.turns[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			s, err := m.Session(ctx, 1)
			if err != nil || s.Title != test.want {
				t.Errorf("%q %v, want %q", s.Title, err, test.want)
			}
			digests, err := m.Sessions(ctx, memory.Query{})
			if err != nil || len(digests) != 1 || digests[0].Session.Title != test.want {
				t.Errorf("in the list: %+v %v", digests, err)
			}
			if r := m.receipt(t, 1); r.Title != test.want {
				t.Errorf("in the receipt: %q", r.Title)
			}
		})
	}
}
