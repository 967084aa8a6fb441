package store_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// filled is a memory with two projects of one label and a third one.
func filled(t *testing.T) *testStore {
	t.Helper()
	m := newMemory(t)
	ctx := context.Background()
	add := func(session, project string, at memory.Millis, observations ...memory.Observation) {
		t.Helper()
		in := func(a *memory.Arrival) { a.Event.ProjectPath = project }
		r := m.enqueue(t, event(memory.KindPrompt, session, session+"-p", at, in), event(memory.KindTool, session, session+"-t", at+1, in))
		m.clock.at = base + at + 2
		outcome := memory.Outcome{
			Observations: observations,
			Summaries:    []memory.Summary{{PromptNumber: 1, Request: "asked in " + session, Completed: "did in " + session}},
		}
		if err := m.Confirm(ctx, m.claim(t, r[0].Session, 0), outcome); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(title string, kind memory.ObservationType, concepts []string, paths ...string) memory.Observation {
		o := memory.Observation{Type: kind, Title: title, Concepts: concepts, PromptNumber: 1}
		for _, p := range paths {
			o.Files = append(o.Files, memory.FileRef{Path: p, Role: memory.FileModified})
		}
		return o
	}
	add("s1", "/home/dev/shop", 0,
		plain("alpha", memory.TypeBugfix, []string{"gotcha"}, "src/auth/login.go", "src/cart.go"),
		plain("bravo", memory.TypeFeature, []string{"pattern", "gotcha"}, "docs/auth.md"))
	add("s2", "/home/dev/shop", 1000,
		func() memory.Observation {
			o := plain("charlie", memory.TypeDecision, nil, "src/100%_done.go")
			o.Pinned = true
			return o
		}(),
		plain("delta", memory.TypeDiscovery, nil))
	add("s3", "/work/shop", 2000, plain("echo", memory.TypeBugfix, []string{"trade-off"}, "src/cart.go"))
	add("s4", "/home/dev/blog", 3000, plain("foxtrot", memory.TypeChange, nil, "src/authentic.go"))
	return m
}

func titles(observations []memory.Observation) string {
	var names []string
	for _, o := range observations {
		names = append(names, o.Title)
	}
	return strings.Join(names, " ")
}

func TestObservationsFilters(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	tests := []struct {
		name  string
		query memory.Query
		want  string
	}{
		{"everything, pinned ahead", memory.Query{}, "charlie foxtrot echo delta bravo alpha"},
		{"project", memory.Query{Project: "/home/dev/shop"}, "charlie delta bravo alpha"},
		{"label of two projects", memory.Query{Project: "shop"}, "charlie echo delta bravo alpha"},
		{"label of one project", memory.Query{Project: "blog"}, "foxtrot"},
		{"unknown project", memory.Query{Project: "sho"}, ""},
		{"session", memory.Query{Session: 1}, "bravo alpha"},
		{"type", memory.Query{Types: []memory.ObservationType{memory.TypeBugfix}}, "echo alpha"},
		{"types", memory.Query{Types: []memory.ObservationType{"bugfix", "decision"}}, "charlie echo alpha"},
		{"concept", memory.Query{Concepts: []string{"gotcha"}}, "bravo alpha"},
		{"any of the concepts", memory.Query{Concepts: []string{"pattern", "trade-off"}}, "echo bravo"},
		{"whole path", memory.Query{Files: []string{"src/cart.go"}}, "echo alpha"},
		{"part of a name or folder", memory.Query{Files: []string{"auth"}}, "foxtrot bravo alpha"},
		{"part of a name", memory.Query{Files: []string{"art.g"}}, "echo alpha"},
		{"path without extension", memory.Query{Files: []string{"docs/auth"}}, "bravo"},
		{"path of another directory", memory.Query{Files: []string{"lib/auth"}}, ""},
		{"no file at all", memory.Query{Files: []string{"/"}}, ""},
		{"file name", memory.Query{Files: []string{"login.go"}}, "alpha"},
		{"segments", memory.Query{Files: []string{"src/auth/"}}, "alpha"},
		{"Windows' separators", memory.Query{Files: []string{`src\auth`}}, "foxtrot alpha"},
		{"no wildcards", memory.Query{Files: []string{"100%_done.go"}}, "charlie"},
		{"percent is itself", memory.Query{Files: []string{"%"}}, "charlie"},
		{"underscore is itself", memory.Query{Files: []string{"src_cart.go"}}, ""},
		{"any of the files", memory.Query{Files: []string{"auth.md", "authentic.go"}}, "foxtrot bravo"},
		{"since", memory.Query{Since: base + 2000}, "foxtrot echo"},
		{"until", memory.Query{Until: base + 2}, "bravo alpha"},
		{"limit", memory.Query{Limit: 2}, "charlie foxtrot"},
		{"offset", memory.Query{Limit: 2, Offset: 4}, "bravo alpha"},
		{"offset alone", memory.Query{Offset: 5}, "alpha"},
		{"negative offset", memory.Query{Offset: -5, Limit: 1}, "charlie"},
		{"all together", memory.Query{
			Project: "shop", Types: []memory.ObservationType{"bugfix"}, Concepts: []string{"gotcha"}, Files: []string{"cart.go"}, Since: base, Session: 1,
		}, "alpha"},
		{"quotes", memory.Query{Project: `'; DROP TABLE observations; --`, Files: []string{`"'`}, Concepts: []string{`'"`}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, err := m.Observations(ctx, test.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := titles(found); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			unlimited := test.query
			unlimited.Limit, unlimited.Offset = 0, 0
			all, err := m.Observations(ctx, unlimited)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := m.CountRecords(ctx, test.query, []memory.RecordKind{memory.RecordObservation}); err != nil || n != len(all) {
				t.Errorf("counted %d %v, want %d", n, err, len(all))
			}
		})
	}
}

// The name that a record has on every machine finds it, in any case; a hidden one is gone.
func TestObservationByULID(t *testing.T) {
	s := filled(t)
	ctx := t.Context()
	made, err := s.Observation(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{string(made.ULID), strings.ToLower(string(made.ULID))} {
		if got, err := s.ObservationByULID(ctx, memory.ULID(name)); err != nil || got.ID != made.ID || got.Title != made.Title {
			t.Errorf("%s: got #%d %q, %v", name, got.ID, got.Title, err)
		}
	}
	if err := s.Hide(int64(made.ID)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []memory.ULID{made.ULID, "01ARZ3NDEKTSV4RRFFQ69G5FAV", ""} {
		if _, err := s.ObservationByULID(ctx, name); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("%q: got %v, want CodeNotFound", name, err)
		}
	}
}

func TestObservationsByIDs(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	found, err := records.ObservationsByIDs(ctx, m.Reader, []memory.ObservationID{5, 1, 99, 3})
	if err != nil || titles(found) != "echo alpha charlie" {
		t.Errorf("got %q %v, want them in the asked order", titles(found), err)
	}
	if found, err = records.ObservationsByIDs(ctx, m.Reader, nil); err != nil || len(found) != 0 {
		t.Errorf("got %v %v for no ids", found, err)
	}
	if err := m.Hide(5); err != nil {
		t.Fatal(err)
	}
	_, err = m.Observation(ctx, 5)
	wantCode(t, err, memory.CodeNotFound)
	if found, err = m.Observations(ctx, memory.Query{Files: []string{"src/cart.go"}}); err != nil || titles(found) != "alpha" {
		t.Errorf("got %q %v, want the hidden one left out", titles(found), err)
	}
}

func TestRecentSessions(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	m.enqueue(t, event(memory.KindSessionEnd, "nothing said", "e", 9000))
	m.enqueue(t, event(memory.KindTool, "only skipped", "k", 9001, skipped(memory.SkipTool)))
	m.enqueue(t, event(memory.KindTool, "s1", "late", 5000), event(memory.KindTool, "s1", "later", 5001))
	digests, err := m.RecentSessions(ctx, "/home/dev/shop", 10)
	if err != nil || len(digests) != 2 {
		t.Fatalf("got %+v %v, want two sessions", digests, err)
	}
	first := digests[0]
	if first.Session.HostSessionID != "s1" || first.LastPrompt != "prompt s1-p" || first.Observations != 2 || first.Undistilled != 2 ||
		first.Summary == nil || first.Summary.Completed != "did in s1" {
		t.Errorf("got %+v", first)
	}
	if digests, err = m.RecentSessions(ctx, "shop", 1); err != nil || len(digests) != 1 || digests[0].Session.HostSessionID != "s1" {
		t.Errorf("got %+v %v, want s1 alone", digests, err)
	}
	if digests, err = m.RecentSessions(ctx, "", 0); err != nil || len(digests) != 4 {
		t.Errorf("got %d sessions %v of all projects, want 4", len(digests), err)
	}
	if digests, err = m.RecentSessions(ctx, "unknown", 5); err != nil || len(digests) != 0 {
		t.Errorf("got %+v %v of an unknown project", digests, err)
	}
}

func TestUndistilledAndTurns(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	m.enqueue(t, event(memory.KindTool, "s1", "more1", 4000), event(memory.KindPrompt, "s1", "p2", 4001), event(memory.KindTool, "s1", "more2", 4002))
	m.claim(t, 1, 1) // what is being worked on is not distilled either
	batch, err := m.Undistilled(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(batch.Events); got != "more1 more2" {
		t.Errorf("got events %q", got)
	}
	if len(batch.Prompts) != 2 || batch.Prompts[1].Text != "prompt p2" || titles(batch.Earlier) != "alpha bravo" || batch.Session.ID != 1 {
		t.Errorf("got %+v", batch)
	}
	if got := m.books(t); got.Processing != 1 || got.Pending != 1 {
		t.Errorf("looking changed the books: %+v", got)
	}
	if batch, err = m.Undistilled(ctx, 2); err != nil || len(batch.Events) != 0 {
		t.Errorf("got %+v %v of a distilled session", batch, err)
	}
	_, err = m.Undistilled(ctx, 99)
	wantCode(t, err, memory.CodeNotFound)

	turn, err := m.Batch(ctx, memory.Session{ID: 1}, []memory.PendingEvent{{PromptNumber: 1}})
	if err != nil || len(turn.Prompts) != 1 || turn.Prompts[0].Number != 1 || titles(turn.Earlier) != "alpha bravo" {
		t.Errorf("got %+v %q %v", turn.Prompts, titles(turn.Earlier), err)
	}
	if prompts, err := promptsOf(ctx, m.Store, 1); err != nil || len(prompts) != 2 {
		t.Errorf("got %d prompts %v, want 2", len(prompts), err)
	}
}

// promptsOf returns all prompts of a session.
func promptsOf(ctx context.Context, m *store.Store, session memory.SessionID) ([]memory.Prompt, error) {
	b, err := m.Batch(ctx, memory.Session{ID: session}, []memory.PendingEvent{{}, {PromptNumber: math.MaxInt}})
	return b.Prompts, err
}

func TestTotals(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	tests := map[string]memory.Totals{
		"":               {Projects: 3, Sessions: 4, Prompts: 4, Observations: 6, Summaries: 4},
		"/home/dev/shop": {Projects: 1, Sessions: 2, Prompts: 2, Observations: 4, Summaries: 2},
		"shop":           {Projects: 2, Sessions: 3, Prompts: 3, Observations: 5, Summaries: 3},
		"unknown":        {},
	}
	for project, want := range tests {
		if got, err := m.Totals(ctx, project); err != nil || got != want {
			t.Errorf("%q: got %+v %v, want %+v", project, got, err, want)
		}
	}
}

func TestChangesAndFollow(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	oldest, newest, err := m.ChangeRange(ctx)
	if err != nil || oldest != 1 || newest != 0 {
		t.Errorf("got range %d..%d %v of an empty feed, want 1..0", oldest, newest, err)
	}
	changed, stop := m.Follow()
	other, stopOther := m.Follow()
	<-changed // at the start
	m.enqueue(t, event(memory.KindTool, "s", "a", 1))
	<-changed
	first, err := m.Changes(ctx, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]memory.Change{{Seq: 1, RecordRef: memory.RecordRef{Kind: "session", ID: 1}, Operation: "insert"}}, first); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	m.enqueue(t, event(memory.KindTool, "s", "b", 2)) // moves only the session's times
	select {
	case <-changed:
		t.Error("told of a commit that changed nothing that is followed")
	default:
	}
	for i := range 5 { // a slow follower is told once
		m.enqueue(t, event(memory.KindPrompt, "s", fmt.Sprint("p", i), memory.Millis(i)))
	}
	<-changed
	rest, err := m.Changes(ctx, 1, 3)
	if err != nil || len(rest) != 3 || rest[0].Seq != 2 {
		t.Errorf("got %+v %v, want the next three", rest, err)
	}
	if oldest, newest, err = m.ChangeRange(ctx); err != nil || oldest != 1 || newest != 11 {
		t.Errorf("got range %d..%d %v, want 1..11", oldest, newest, err)
	}
	// Pruned to nothing, the numbers go on.
	rawExec(t, m.path, "DELETE FROM changes")
	if oldest, newest, err = m.ChangeRange(ctx); err != nil || oldest != 12 || newest != 11 {
		t.Errorf("got range %d..%d %v after pruning, want 12..11", oldest, newest, err)
	}
	stop()
	stop()
	for range changed { // closed
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for range other {
	}
	stopOther()
	late, stopLate := m.Follow()
	for range late {
	}
	stopLate()
}

// The plans that the bars for large memories depend on.
func TestPlansUseIndexes(t *testing.T) {
	m := filled(t)
	tests := []struct {
		name, query string
		args        []any
		want        string
	}{
		{"by path", "SELECT observation_id FROM observation_files WHERE path = ?", []any{"p"}, "COVERING INDEX file_refs_path (path_id=?)"},
		{"near duplicates", `SELECT id, title FROM observations
			WHERE project = ?1 AND type = ?2 AND created_at BETWEEN ?3 AND ?4 AND files_key = ?5 AND deleted_at IS NULL
			ORDER BY created_at DESC, id DESC`, []any{"p", "t", 1, 2, "k"}, "observations_type"},
		{"claim order", "SELECT id FROM events WHERE session_id = ? AND outcome IN ('pending', 'processing') ORDER BY occurred_at, delivery_id, id", []any{1}, "events_queue"},
		{"due", `SELECT id, not_before, bytes FROM events WHERE session_id = ? AND outcome = 'pending'
			AND outcome IN ('pending', 'processing') ORDER BY occurred_at, delivery_id, id`, []any{1}, "COVERING INDEX events_queue"},
		{"oldest pending", "SELECT min(received_at) FROM events WHERE outcome IN ('pending', 'processing') AND outcome = 'pending'", nil, "events_queue"},
		{"books", "SELECT outcome, count(*) FROM events WHERE outcome IN ('processed', 'skipped', 'forgotten') GROUP BY outcome", nil, "COVERING INDEX events_done"},
		{"sessions", "SELECT id FROM sessions WHERE project = ? ORDER BY updated_at DESC, id DESC", []any{"p"}, "sessions_newest"},
		{"newest symbols", "SELECT id FROM function_map m WHERE m.change_type <> 'unchanged' ORDER BY m.snapshot_at DESC, m.file_path, m.line_start, m.id LIMIT 50", nil, "function_map_newest"},
		{"newest symbols of a project", `SELECT id FROM function_map m WHERE m.change_type <> 'unchanged' AND m.project = ?
			ORDER BY m.snapshot_at DESC, m.file_path, m.line_start, m.id LIMIT 50`, []any{"p"}, "function_map_project"},
		{"repeated stop", books.RepeatedStop, []any{"a", "b", 1, 1, 2, 1, "c", ""}, "(event_key>? AND event_key<?)"},
		{"repeated call", books.RepeatedTool, []any{"a", "b", 1, 1, 2, "c"}, "(event_key>? AND event_key<?)"},
		{"idle sessions", "SELECT id FROM sessions WHERE status = 'active' AND updated_at < ?", []any{1}, "sessions_active"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plan, err := m.Plan(test.query, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(plan, test.want) || strings.Contains(plan, "SCAN sessions") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("want %s and no sorting, got\n%s", test.want, plan)
			}
		})
	}
}

// TestNearby checks which observations a batch is compared with.
func TestNearby(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	file := func(name string) func(*memory.Observation) {
		return func(o *memory.Observation) {
			o.Files = []memory.FileRef{{Path: name, Role: memory.FileModified}}
		}
	}
	add := func(session string, o ...memory.Observation) memory.Claim {
		t.Helper()
		m.clock.at++
		claim := claimed(t, m, session)
		out := memory.Outcome{Observations: o, Symbols: []memory.SymbolChange{{FilePath: "old.go", QualifiedName: session, Kind: "func", ChangeType: memory.SymbolNew},
			{FilePath: "else.go", QualifiedName: "F", Kind: "func", ChangeType: memory.SymbolNew}}}
		if err := m.Confirm(ctx, claim, out); err != nil {
			t.Fatal(err)
		}
		return claim
	}
	add("a", observation("the oldest, of the file", file("old.go")), observation("the oldest, of another", file("other.go")), observation("reversed", file("old.go")))
	pinned := m.add(t, note("pinned", func(n *memory.NewObservation) { n.ProjectPath, n.CreatedAt = "/home/dev/shop", base+2 }))
	yes := true
	if _, err := m.EditObservation(ctx, pinned.ID, memory.ObservationEdit{Pinned: &yes}); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		add("b", observation(fmt.Sprint("number ", i), file(fmt.Sprint(i, ".go")), func(o *memory.Observation) {
			if i == 0 {
				o.Supersedes = []memory.ObservationID{3}
			}
		}))
	}
	batch := memory.Batch{Session: memory.Session{ProjectPath: "/home/dev/shop"}, Events: []memory.PendingEvent{{Files: []memory.FileRef{{Path: "old.go"}}}}}
	batch, err := m.Batch(ctx, batch.Session, batch.Events)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(batch.Nearby); n != 61 || batch.Nearby[0].Title != "number 59" || batch.Nearby[60].Title != "the oldest, of the file" {
		t.Errorf("got %d: %+v", n, batch.Nearby)
	}
	var names []string
	for _, c := range batch.NearbySymbols {
		names = append(names, c.FilePath+" "+c.QualifiedName)
	}
	if got := strings.Join(names, ", "); got != "old.go a, old.go b" {
		t.Errorf("got symbols %s", got)
	}
	batch.Session.ProjectPath = "/home/dev/else"
	if batch, err = m.Batch(ctx, batch.Session, batch.Events); err != nil || len(batch.Nearby)+len(batch.NearbySymbols) != 0 {
		t.Errorf("of another project: got %+v, %+v, %v", batch.Nearby, batch.NearbySymbols, err)
	}
}

// TestUndistilledTogether: what several sessions' batches share is what each of them has when it is
// read alone; a record that was hidden in between is in no later one, one that was edited is there as
// it is now, and one that was changed on the disk is withheld in all of them.
func TestUndistilledTogether(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	file := func(name string) func(*memory.Observation) {
		return func(o *memory.Observation) {
			o.Files = []memory.FileRef{{Path: name, Role: memory.FileModified}}
		}
	}
	for i := range 62 {
		m.clock.at++
		o := observation(fmt.Sprint("number ", i), file(fmt.Sprint(i, ".go")))
		if err := m.Confirm(ctx, claimed(t, m, "past"), memory.Outcome{Observations: []memory.Observation{o}}); err != nil {
			t.Fatal(err)
		}
	}
	of := func(name string) func(*memory.Arrival) {
		return func(a *memory.Arrival) { a.Files = []memory.FileRef{{Path: name, Role: memory.FileModified}} }
	}
	m.enqueue(t, event(memory.KindTool, "x", "x1", 9000, of("0.go")), event(memory.KindTool, "y", "y1", 9001, of("1.go")),
		event(memory.KindTool, "z", "z1", 9002, of("5.go")))
	m.overwrite(t, "number 40", "NUMBER 40")
	sessions := []memory.SessionID{2, 3, 4}
	for round, want := range []string{"61 61 60", "61 60 60", "61 60 60"} {
		batches := make([]memory.Batch, len(sessions))
		var group errgroup.Group
		for i, id := range sessions {
			group.Go(func() (err error) {
				batches[i], err = m.Undistilled(ctx, id)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		var sizes []string
		for i, id := range sessions {
			sizes = append(sizes, fmt.Sprint(len(batches[i].Nearby)))
			if !slices.ContainsFunc(batches[i].Nearby, func(o memory.Observation) bool { return o.Damaged && o.ID == 41 }) {
				t.Errorf("round %d: session %d: the changed record is not withheld", round, id)
			}
			reader, err := store.OpenReadOnly(ctx, m.path) // which knows none of them
			if err != nil {
				t.Fatal(err)
			}
			if alone, err := reader.Undistilled(ctx, id); err != nil || !reflect.DeepEqual(batches[i], alone) {
				t.Errorf("round %d: session %d: got %+v together, %+v %v alone", round, id, batches[i], alone, err)
			}
			if err := reader.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(sizes, " "); got != want {
			t.Errorf("round %d: got %s nearby, want %s", round, got, want)
		}
		if _, err := m.HideObservation(ctx, 2, true); err != nil && round == 0 { // the one of 1.go
			t.Fatal(err)
		}
		title := fmt.Sprint("edited in round ", round)
		if _, err := m.EditObservation(ctx, 31, memory.ObservationEdit{Title: &title}); err != nil {
			t.Fatal(err)
		}
	}
}
