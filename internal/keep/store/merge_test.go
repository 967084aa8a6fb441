package store_test

import (
	"testing"
	"time"

	"claudemem/internal/memory"
)

const (
	oldShop = "/home/ada/old/shop"
	shop    = "/home/ada/shop"
)

// turnIn has a session of a project make an observation, a summary, a learning and a symbol.
func turnIn(t *testing.T, m *testStore, session, project string, at memory.Millis, learning string) {
	t.Helper()
	m.enqueue(t,
		event(memory.KindPrompt, session, session+"p", at, func(a *memory.Arrival) { a.Event.ProjectPath = project }),
		event(memory.KindTool, session, session+"t", at+1, func(a *memory.Arrival) { a.Event.ProjectPath = project }))
	claim := claimOf(t, m, session)
	if err := m.Confirm(t.Context(), claim, memory.Outcome{
		Observations: []memory.Observation{{Type: memory.TypeChange, Title: "Done in " + session, PromptNumber: 1, Concepts: []string{"gotcha"},
			Files: []memory.FileRef{{Path: "cart.go", Role: memory.FileModified}}}},
		Summaries: []memory.Summary{{PromptNumber: 1, Request: "do", Completed: "done"}},
		Learnings: []memory.Learning{{Category: "convention", Content: learning, Confidence: 0.8}},
		Symbols:   []memory.SymbolChange{{FilePath: "cart.go", QualifiedName: "Add" + session, Kind: "function", ChangeType: memory.SymbolNew}},
	}); err != nil {
		t.Fatal(err)
	}
}

// claimOf claims what waits of a session.
func claimOf(t *testing.T, m *testStore, session string) memory.Claim {
	t.Helper()
	s, err := m.SessionByHost(t.Context(), memory.HostClaudeCode, session)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := m.Claim(t.Context(), "test", s.ID, 10, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// totalsOf returns the totals of a project, and those of its learnings and symbols.
func totalsOf(t *testing.T, m *testStore, project string) (totals memory.Totals, learnings, symbols int) {
	t.Helper()
	totals, err := m.Totals(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	known, err := m.Learnings(t.Context(), memory.LearningQuery{Project: project, Retired: true, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := m.RecentSymbols(t.Context(), project, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	return totals, len(known), len(changed)
}

// TestMergeProjects moves what there is of a project into another one.
func TestMergeProjects(t *testing.T) {
	for _, alias := range []bool{false, true} {
		t.Run(map[bool]string{false: "once", true: "for good"}[alias], func(t *testing.T) {
			m := newMemory(t)
			turnIn(t, m, "a", oldShop, 10, "Amounts are whole cents.")
			turnIn(t, m, "b", oldShop, 20, "Run make test before a commit.")
			turnIn(t, m, "c", shop, 30, "Amounts are whole cents.")
			if _, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: oldShop, Title: "By hand"}); err != nil {
				t.Fatal(err)
			}
			if err := m.RecordInjection(t.Context(), memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "a", ProjectPath: oldShop, Where: "SessionStart"}); err != nil {
				t.Fatal(err)
			}
			feed := rawRows(t, m.path, "SELECT max(seq) FROM changes")[0][0].(int64)

			dry, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: oldShop, Into: shop, DryRun: true})
			want := memory.ProjectMerged{From: oldShop, Into: shop, Sessions: 3, Prompts: 2, Summaries: 2, Observations: 3, Learnings: 2, Combined: 1, Symbols: 2}
			if err != nil || dry != want {
				t.Fatalf("%+v, %v, want %+v", dry, err, want)
			}
			if got := rawRows(t, m.path, "SELECT max(seq) FROM changes")[0][0].(int64); got != feed {
				t.Error("a dry run changed something")
			}
			want.Merged, want.Aliased = true, alias
			merged, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: oldShop, Into: shop, Alias: alias})
			if err != nil || merged != want {
				t.Fatalf("%+v, %v, want %+v", merged, err, want)
			}
			if totals, learnings, symbols := totalsOf(t, m, shop); totals.Sessions != 4 || totals.Observations != 4 || totals.Prompts != 3 || totals.Summaries != 3 || learnings != 2 || symbols != 3 {
				t.Errorf("%+v, %d learnings, %d symbols in the project", totals, learnings, symbols)
			}
			for _, table := range []string{"sessions", "prompts", "session_summaries", "observations", "learnings", "function_map", "injections"} {
				if left := rawRows(t, m.path, "SELECT count(*) FROM "+table+" WHERE project <> '"+shop+"'"); left[0][0] != int64(0) {
					t.Errorf("%v rows of %s stayed", left[0][0], table)
				}
			}
			if label := rawRows(t, m.path, "SELECT DISTINCT label FROM sessions"); len(label) != 1 || label[0][0] != "shop" {
				t.Errorf("labels %v", label)
			}
			// The index follows: each observation that moved is in the feed, and its concepts moved.
			if told := rawRows(t, m.path, "SELECT count(DISTINCT id) FROM changes WHERE seq > ? AND kind = 'observation'", feed); told[0][0] != int64(3) {
				t.Errorf("the feed tells of %v observations, want 3", told[0][0])
			}
			if concepts := rawRows(t, m.path, "SELECT count(*) FROM observation_concepts WHERE project = '"+shop+"'"); concepts[0][0] != int64(3) {
				t.Errorf("%v concepts in the project", concepts[0][0])
			}
			if n := rawRows(t, m.path, "SELECT times_seen FROM learnings WHERE content LIKE 'Amounts%'"); len(n) != 1 || n[0][0] != int64(2) {
				t.Errorf("the learning of both was seen %v times", n)
			}
			mismatches(t, m)

			// Later sessions of the old path.
			turnIn(t, m, "d", oldShop, 40, "Never push on Friday.")
			if _, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: oldShop, Title: "By hand again"}); err != nil {
				t.Fatal(err)
			}
			of := map[bool]string{false: oldShop, true: shop}[alias]
			if got := rawRows(t, m.path, "SELECT DISTINCT project FROM observations WHERE title IN ('Done in d', 'By hand again')"); len(got) != 1 || got[0][0] != of {
				t.Errorf("later observations are of %v, want %s", got, of)
			}
			if again := rawRows(t, m.path, "SELECT s.project <> o.project FROM observations o JOIN sessions s ON s.id = o.session_id"); len(again) != 6 || again[5][0] != int64(0) {
				t.Errorf("an observation is of another project than its session: %v", again)
			}
		})
	}
}

// mismatches checks that every record is as the hashes of the database say.
func mismatches(t *testing.T, m *testStore) {
	t.Helper()
	wrong := rawRows(t, m.path, "SELECT h.kind, h.id FROM record_hashes h JOIN record_sums s ON s.kind = h.kind AND s.id = h.id WHERE h.text <> s.text OR h.rest <> s.rest")
	if len(wrong) > 0 {
		t.Errorf("records that differ from their hashes: %v", wrong)
	}
}

// TestMergeRefused: what makes no sense changes nothing.
func TestMergeRefused(t *testing.T) {
	m := newMemory(t)
	turnIn(t, m, "a", oldShop, 10, "Amounts are whole cents.")
	turnIn(t, m, "b", shop, 20, "Run make test before a commit.")
	for _, tt := range []struct {
		from, into string
		want       memory.Code
	}{
		{shop, shop, memory.CodeInvalid},
		{"shop", shop, memory.CodeInvalid},            // two are called that
		{"/home/ada/none", shop, memory.CodeNotFound}, // nothing is recorded there
		{"none", shop, memory.CodeNotFound},
		{shop, "none", memory.CodeNotFound},
		{"", shop, memory.CodeInvalid},
		{shop, "", memory.CodeInvalid},
	} {
		if got, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: tt.from, Into: tt.into}); memory.CodeOf(err) != tt.want {
			t.Errorf("%q into %q: %+v, %v, want %s", tt.from, tt.into, got, err, tt.want)
		}
	}
	if _, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: oldShop, Into: "/home/ada/new/shop"}); err != nil {
		t.Errorf("into a directory without records: %v", err)
	}
}

// TestMergeDuringClaim: records of a batch that was claimed before the merge follow it.
func TestMergeDuringClaim(t *testing.T) {
	m := newMemory(t)
	turnIn(t, m, "b", shop, 5, "Run make test before a commit.")
	m.enqueue(t, event(memory.KindTool, "a", "t1", 10, func(a *memory.Arrival) { a.Event.ProjectPath = oldShop }))
	claim := claimOf(t, m, "a")
	if _, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: oldShop, Into: shop}); err != nil {
		t.Fatal(err)
	}
	if err := m.Confirm(t.Context(), claim, memory.Outcome{
		Observations: []memory.Observation{{Type: memory.TypeChange, Title: "Late", ProjectPath: oldShop}},
		Learnings:    []memory.Learning{{Category: "convention", Content: "Never push on Friday.", Confidence: 0.8, ProjectPath: oldShop}},
	}); err != nil {
		t.Fatal(err)
	}
	if left := rawRows(t, m.path, "SELECT project FROM observations WHERE project <> ?1 UNION SELECT project FROM learnings WHERE project <> ?1", shop); len(left) > 0 {
		t.Errorf("records of %v, want only %s", left, shop)
	}
}

// TestAlias: what is done in a path belongs to another project, wherever the path is named.
func TestAlias(t *testing.T) {
	m := newMemory(t)
	turnIn(t, m, "a", shop, 10, "Amounts are whole cents.")
	if got, err := m.AddAlias(t.Context(), oldShop, "shop"); err != nil || got.Project != shop {
		t.Fatalf("%+v, %v", got, err)
	}
	turnIn(t, m, "b", oldShop, 20, "Run make test before a commit.")
	if got := rawRows(t, m.path, "SELECT DISTINCT project, label FROM sessions"); len(got) != 1 || got[0][0] != shop {
		t.Errorf("sessions of %v", got)
	}
	for _, name := range []string{shop, oldShop, "shop"} {
		if totals, learnings, symbols := totalsOf(t, m, name); totals.Sessions != 2 || totals.Observations != 2 || learnings != 2 || symbols != 2 {
			t.Errorf("%s: %+v, %d learnings, %d symbols", name, totals, learnings, symbols)
		}
	}
	if found, err := m.ObservationsOfFile(t.Context(), oldShop, "cart.go", 10); err != nil || len(found) != 2 {
		t.Errorf("%d observations of a file, %v", len(found), err)
	}
	if l, err := m.AddLearning(t.Context(), memory.Learning{ProjectPath: oldShop, Category: "gotcha", Content: "Cents overflow.", Confidence: 1}); err != nil || l.ProjectPath != shop {
		t.Errorf("learning of %q, %v", l.ProjectPath, err)
	}
	// Imports follow it, too.
	if _, err := m.Import(t.Context(), []memory.Portable{{Session: &memory.PortableSession{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RD", Host: memory.HostClaudeCode, HostSessionID: "old",
		ProjectPath: oldShop, Label: "shop", Status: memory.SessionCompleted, StartedAt: 5, UpdatedAt: 5}}}, func(string) bool { return true }, own); err != nil {
		t.Fatal(err)
	}
	if got := rawRows(t, m.path, "SELECT project FROM sessions WHERE host_session_id = 'old'"); got[0][0] != shop {
		t.Errorf("imported into %v", got)
	}
	// An alias of an alias is one of the project, in either order; merging takes them along.
	if got, err := m.AddAlias(t.Context(), "/tmp/shop", oldShop); err != nil || got.Project != shop {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: shop, Into: "/srv/shop", Alias: true}); err != nil {
		t.Fatal(err)
	}
	aliases, err := m.Aliases(t.Context())
	if err != nil || len(aliases) != 3 {
		t.Fatalf("%+v, %v", aliases, err)
	}
	for _, a := range aliases {
		if a.Project != "/srv/shop" {
			t.Errorf("%+v", a)
		}
	}
	for path, want := range map[string]memory.Code{"/srv/shop": memory.CodeInvalid, "shop": memory.CodeInvalid, "": memory.CodeInvalid} {
		if _, err := m.AddAlias(t.Context(), path, "/srv/shop"); memory.CodeOf(err) != want {
			t.Errorf("alias %q: %v, want %s", path, err, want)
		}
	}
	turnIn(t, m, "c", "/home/ada/tally", 50, "Never push on Friday.")
	if _, err := m.AddAlias(t.Context(), "/home/ada/tally", "/srv/shop"); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("alias of a path with records: %v", err)
	}
	// Without the alias the path is a project of its own again.
	if _, err := m.RemoveAlias(t.Context(), oldShop); err != nil {
		t.Fatal(err)
	}
	if _, err := m.RemoveAlias(t.Context(), oldShop); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("removed twice: %v", err)
	}
	turnIn(t, m, "d", oldShop, 60, "Deploy on Tuesday.")
	if got := rawRows(t, m.path, "SELECT project FROM sessions WHERE host_session_id = 'd'"); got[0][0] != oldShop {
		t.Errorf("without the alias the session is of %v", got)
	}
}

// BenchmarkMerge measures a merge of 50,000 of 100,000 observations into another project: all
// that time no event can be stored, and hooks spool.
func BenchmarkMerge(b *testing.B) {
	s := benchMemory(b, 100_000)
	from, into := "/home/dev/project", "/home/dev/moved"
	for b.Loop() {
		start := time.Now()
		merged, err := s.MergeProjects(b.Context(), memory.ProjectMerge{From: from, Into: into})
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%d observations, %d prompts in %.1f s", merged.Observations, merged.Prompts, time.Since(start).Seconds())
		from, into = into, from
	}
}

// TestMergeOfWaitingEvents: what waits while its project is merged, for the observer or for a model,
// becomes records of the project that has taken it over; a payload that is damaged is left as it is.
func TestMergeOfWaitingEvents(t *testing.T) {
	const into = "/home/dev/blog"
	m := filled(t)
	m.unreadTurn(t, "s1", 2, "login", memory.Outcome{})
	m.enqueue(t, event(memory.KindTool, "s1", "waits", 5000), event(memory.KindTool, "s2", "damaged", 5001))
	if _, err := rawOpen(t, m.path).Exec("UPDATE pending_messages SET payload = '{' WHERE event_id = (SELECT id FROM events WHERE delivery_id = 'damaged')"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: "/home/dev/shop", Into: into}); err != nil {
		t.Fatal(err)
	}
	claim := m.claim(t, 1, 0)
	if len(claim.Events) != 1 || claim.Events[0].Event.ProjectPath != into || claim.Session.ProjectPath != into {
		t.Errorf("%+v", claim)
	}
	unread := m.unreadBatch(t, 1, 2)
	if len(unread.Events) == 0 || unread.Events[0].Event.ProjectPath != into {
		t.Errorf("for a model: %+v", unread.Events)
	}
}
