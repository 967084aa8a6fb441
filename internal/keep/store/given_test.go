package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// given lists what a session was given, the newest first; 0 for all.
func (m *testStore) given(t *testing.T, q accounts.GivenQuery) []accounts.Given {
	t.Helper()
	list, total, err := m.Given(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if q.Limit == 0 && total != len(list) {
		t.Errorf("%d of %d", len(list), total)
	}
	return list
}

// wordsOf returns the words of all lines, the newest text first.
func wordsOf(list []accounts.Given) (words []string) {
	for _, g := range list {
		for _, l := range g.Lines {
			words = append(words, l.Words)
		}
	}
	return words
}

// TestGiven: what a session was given at its start, a prompt, a file and a failure, with its lines and
// what became of their records.
func TestGiven(t *testing.T) {
	m := newMemory(t)
	m.remember(t) // #1 #2 of anna (S1), #3 #4 of bert (S2), #5 #6 of carl (S3)
	say := func(id memory.ObservationID, says string) {
		t.Helper()
		if _, err := m.EditObservation(t.Context(), id, memory.ObservationEdit{Narrative: &says}); err != nil {
			t.Fatal(err)
		}
	}
	say(1, "The cents were floats. `go test ./money` passes now.")
	line := func(layer string, id memory.ObservationID, session memory.SessionID) memory.ContextLine {
		return memory.ContextLine{Layer: layer, Text: fmt.Sprintf("- line of #%d", id), Tokens: 7, Observation: id, Session: session, Why: "because"}
	}
	for i, in := range []memory.Injection{
		{Where: "SessionStart", Source: "startup", Observations: []memory.ObservationID{1, 2}, Sessions: []memory.SessionID{1}, Lines: []memory.ContextLine{
			{Layer: memory.LayerSessions, Text: "- done (S1, #2)", Session: 1, Observation: 2}, line("observations", 1, 1),
			{Layer: "learnings", Text: "- Gotcha: Learnt", Learning: 1}, {Layer: "symbols", Text: "a.go: func f", Session: 1}}},
		{Where: "UserPromptSubmit", Source: "prompt", Observations: []memory.ObservationID{1}, Lines: []memory.ContextLine{line("prompt", 1, 1)}},
		{Where: "PostToolUse", Source: "file", Observations: []memory.ObservationID{4}, Lines: []memory.ContextLine{line("file", 4, 2)}},
		{Where: "PostToolUseFailure", Source: "failure", Observations: []memory.ObservationID{1, 2}, Lines: []memory.ContextLine{line("failure", 1, 1), line("failure", 2, 1)}},
	} {
		in.Host, in.HostSessionID, in.ProjectPath, in.At, in.Tokens = memory.HostClaudeCode, "bert", "/home/dev/shop", base+10_500+memory.Millis(i), 20
		m.record(t, in)
	}
	m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "carl", ProjectPath: "/home/dev/other", Where: "SessionStart", At: base + 30_000})
	m.lookUp(t, base+10_600, 2, read{[]memory.ObservationID{1}})
	do := func(n int, at memory.Millis, files []memory.FileRef, command string) {
		t.Helper()
		a := event(memory.KindTool, "bert", fmt.Sprint("later-", n), at)
		a.Files = files
		if command != "" {
			a.Event.ToolName, a.Event.ToolInput, a.Event.ToolResponse = "Bash", json.RawMessage(fmt.Sprintf(`{"command":%q}`, command)), json.RawMessage(`{"stdout":"ok  \tshop/money\t0.1s"}`)
		}
		m.enqueue(t, a)
	}
	paths, err := db.Column[string](t.Context(), m.Reader, "SELECT path FROM observation_files WHERE observation_id = 4")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	says := func(at memory.Millis, said string) {
		t.Helper()
		m.enqueue(t, event(memory.KindStop, "bert", fmt.Sprint("stop-", at), at, func(a *memory.Arrival) { a.Event.LastAssistantMessage = said }))
	}
	says(10_480, "As in #2.")
	// bert read and edited the file of #4 before, and ran the check of #1; it read it again since. That answers nothing.
	do(1, 10_400, []memory.FileRef{{Path: paths[0], Role: memory.FileModified}}, "")
	do(2, 10_450, nil, "go test ./money")
	do(3, 10_700, []memory.FileRef{{Path: paths[0], Role: memory.FileRead}}, "")
	confirm := func() {
		t.Helper()
		if err := m.Confirm(t.Context(), m.claim(t, 2, 10), memory.Outcome{}); err != nil {
			t.Fatal(err)
		}
	}
	confirm()
	for _, g := range m.given(t, accounts.GivenQuery{Session: 2}) {
		for _, l := range g.Lines {
			if l.Touched != nil && *l.Touched || l.Cured != nil || l.Cited != nil {
				t.Errorf("%s %s was answered by what came before it: %+v", g.Place, l.Record, l)
			}
		}
	}
	// It went on: it read #1, edited the file of #4, and the check passed.
	do(4, 10_800, []memory.FileRef{{Path: paths[0], Role: memory.FileModified}}, "")
	do(5, 10_900, nil, "cd shop && go test ./money")
	do(6, 10_950, nil, "git commit -m 'Sum cents (#2)' -m 'see shop#4, &#4; and #4th'")
	says(10_960, "#400 is done, and #S1.")
	confirm()

	var got []string
	for _, g := range m.given(t, accounts.GivenQuery{Session: 2}) {
		for _, l := range g.Lines {
			fate := ""
			for name, is := range map[string]*bool{"opened": l.Opened, "touched": l.Touched, "cured": l.Cured, "cited": l.Cited} {
				if is != nil {
					fate += fmt.Sprintf(" %s=%v", name, *is)
				}
			}
			parts := strings.Fields(fate)
			slices.Sort(parts)
			got = append(got, strings.Join(append([]string{g.Place, l.Record, l.Words}, parts...), " "))
		}
	}
	want := []string{
		"failure #1 line of #1 cured=true opened=true touched=false",
		"failure #2 line of #2 cited=true opened=false touched=false",
		"file #4 line of #4 opened=false touched=true",
		"prompt #1 line of #1 opened=true touched=false",
		"block S1 done (S1, #2)",
		"block #1 line of #1 opened=true touched=false",
		"block L1 Gotcha: Learnt",
		"block  a.go: func f",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]struct {
		q    accounts.GivenQuery
		want int
	}{
		"all": {accounts.GivenQuery{}, 5}, "a project": {accounts.GivenQuery{Project: "other"}, 1}, "since": {accounts.GivenQuery{Since: base + 10_502}, 3},
		"until": {accounts.GivenQuery{Until: base + 10_500}, 1}, "a page": {accounts.GivenQuery{Limit: 2, Offset: 4}, 1}, "another session": {accounts.GivenQuery{Session: 1}, 0},
	} {
		if n := len(m.given(t, tt.q)); n != tt.want {
			t.Errorf("%s: %d, want %d", name, n, tt.want)
		}
	}
}

// TestWordsAreTrimmed: words are kept for 30 days and never more than 5 MB; the ids stay.
func TestWordsAreTrimmed(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 0))
	m.clock.at = base.Add(40 * day)
	m.enqueue(t, event(memory.KindPrompt, "s", "q", memory.Millis(40*day.Milliseconds())))
	give := func(at memory.Millis, words string) {
		m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "s", Where: "SessionStart", At: at,
			Lines: []memory.ContextLine{{Layer: "observations", Text: words, Observation: 9, Why: "pinned"}}})
	}
	give(m.clock.at.Add(-31*day), "old")
	give(m.clock.at.Add(-29*day), "young")
	if _, err := m.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := m.given(t, accounts.GivenQuery{})
	if diff := cmp.Diff([]string{"young", ""}, wordsOf(list)); diff != "" {
		t.Error(diff)
	}
	if l := list[1].Lines[0]; l.Record != "#9" || l.Why != "" {
		t.Errorf("left of an old line: %+v", l)
	}

	long := strings.Repeat("x", 30<<10)
	for i := range 200 {
		give(m.clock.at.Add(time.Duration(i)*time.Millisecond), long)
		if (i+1)*len(long) < 5<<20 {
			continue // so many were not given yet
		}
		size := 0
		for _, words := range wordsOf(m.given(t, accounts.GivenQuery{})) {
			size += len(words)
		}
		if size > 5<<20 {
			t.Fatalf("%d bytes of words after %d", size, i+1)
		}
	}
	words := wordsOf(m.given(t, accounts.GivenQuery{}))
	if words[0] == "" || words[150] == "" || words[199] != "" {
		t.Error("the oldest go first")
	}
}

// TestForgetErasesWords: the words of lines that hold what is forgotten are in no file any more.
func TestForgetErasesWords(t *testing.T) {
	for name, tt := range map[string]struct {
		f          memory.Forgetting
		gone, kept []string
	}{
		"an observation": {memory.Forgetting{Observations: []memory.ObservationID{1}}, []string{"zebra-one", "zebra-session", "zebra-waiting"}, []string{"zebra-learnt", "zebra-bert"}},
		"a session":      {memory.Forgetting{Sessions: []memory.SessionID{1}}, []string{"zebra-one", "zebra-session"}, []string{"zebra-bert"}},
		"a text":         {memory.Forgetting{Text: "ANNA-two"}, []string{"as anna-two did"}, []string{"zebra-learnt"}},
		"a learning":     {memory.Forgetting{Text: "Learnt in anna-one"}, []string{"zebra-learnt"}, []string{"zebra-bert"}},
		"a project":      {memory.Forgetting{ProjectPath: "/home/dev/shop"}, []string{"zebra"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.remember(t)
			m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "carl", Where: "SessionStart", At: base + 1, Lines: []memory.ContextLine{
				{Layer: "observations", Text: "zebra-one", Observation: 1, Session: 1}, {Layer: "sessions", Text: "zebra-session", Session: 1},
				{Layer: "learnings", Text: "zebra-learnt", Learning: 1}, {Layer: "learnings", Text: "zebra-waiting"},
				{Layer: "observations", Text: "zebra-bert", Observation: 3, Session: 2}, {Layer: "observations", Text: "as anna-two did", Observation: 5, Session: 3}}})
			if err := m.Judge(t.Context(), memory.Judgement{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 1}, By: memory.OriginUser, Verdict: memory.Up}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Forget(t.Context(), tt.f, func(*care.Erasure) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if err := m.Scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, text := range tt.gone {
				if m.holds(t, text) {
					t.Errorf("%q is still in the files", text)
				}
			}
			for _, text := range tt.kept {
				if !m.holds(t, text) {
					t.Errorf("%q is gone", text)
				}
			}
			_, there := m.Observation(t.Context(), 1)
			if judged, err := m.Judged(t.Context()); err != nil || (there == nil) != (len(judged) == 1) {
				t.Errorf("judged %v, %v; the record: %v", judged, err, there)
			}
		})
	}
}

// TestJudge: one verdict of a record and judge, taken back by 0; a person's Down retires a learning until it is
// taken back, and a learning that was retired by hand stays so.
func TestJudge(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	judge := func(kind memory.RecordKind, id int64, by memory.Origin, v memory.Verdict) {
		t.Helper()
		if err := m.Judge(t.Context(), memory.Judgement{RecordRef: memory.RecordRef{Kind: kind, ID: id}, By: by, Verdict: v, Session: 2}); err != nil {
			t.Fatal(err)
		}
	}
	active := func(id int64, want bool) {
		t.Helper()
		list, err := m.Learnings(t.Context(), memory.LearningQuery{Retired: true})
		if i := slices.IndexFunc(list, func(l memory.Learning) bool { return l.ID == id }); err != nil || i < 0 || list[i].Active != want {
			t.Errorf("learning %d: %+v, %v", id, list, err)
		}
	}
	judge(memory.RecordObservation, 1, memory.OriginUser, memory.Down)
	judge(memory.RecordObservation, 1, memory.OriginUser, memory.Up)
	judge(memory.RecordObservation, 1, memory.OriginAgent, memory.Down)
	judge(memory.RecordSession, 1, memory.OriginUser, memory.Down)
	judge(memory.RecordSession, 1, memory.OriginUser, 0)
	got, err := m.Judged(t.Context())
	want := memory.Judged{{Kind: memory.RecordObservation, ID: 1}: {memory.OriginUser: memory.Up, memory.OriginAgent: memory.Down}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}

	judge(memory.RecordLearning, 1, memory.OriginAgent, memory.Down)
	active(1, true)
	judge(memory.RecordLearning, 1, memory.OriginUser, memory.Down)
	judge(memory.RecordLearning, 1, memory.OriginUser, memory.Down)
	active(1, false)
	judge(memory.RecordLearning, 1, memory.OriginUser, 0)
	active(1, true)
	if _, err := m.EditLearning(t.Context(), 2, memory.LearningEdit{Active: new(bool)}); err != nil {
		t.Fatal(err)
	}
	judge(memory.RecordLearning, 2, memory.OriginUser, memory.Down)
	judge(memory.RecordLearning, 2, memory.OriginUser, memory.Up)
	active(2, false)

	for _, ref := range []memory.RecordRef{{Kind: memory.RecordObservation, ID: 99}, {Kind: memory.RecordSummary, ID: 1}} {
		err := m.Judge(t.Context(), memory.Judgement{RecordRef: ref, By: memory.OriginUser, Verdict: memory.Up})
		if memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("%v: %v", ref, err)
		}
	}
}
