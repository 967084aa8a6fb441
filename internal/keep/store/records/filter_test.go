package records_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// A few values of each, so that they meet often.
var (
	someProjects = []string{"/home/dev/shop", "/work/shop", "/home/dev/blog"}
	someTypes    = []memory.ObservationType{memory.TypeBugfix, memory.TypeFeature, memory.TypeDecision}
	someConcepts = []string{"gotcha", "pattern", "what's \"new\""}
	somePaths    = []string{"src/auth.go", "src/auth/login.go", "docs/auth.test.md", "lib/src/cart.go", "100%_done.txt", "src/authService.ts", "src/Author.ts"}
	someFiles    = []string{"auth", "src", "src/auth", "CART.go", "uth", "rc/c", "ervice.t", `lib\src\`, "%", "100%_done", "login", "nothing", "src/service", "/home/dev/shop/src/auth", "/work/shop"}
)

// record is what a filter looks at.
type record struct {
	memory.RecordRef
	project  string
	session  memory.SessionID
	at       memory.Millis
	kind     memory.ObservationType
	concepts []string
	files    []string
	pinned   bool
	hidden   bool
}

// passes says plainly what the filter means.
func (r *record) passes(q memory.Query, kinds []memory.RecordKind) bool {
	if len(kinds) > 0 && !slices.Contains(kinds, r.Kind) || r.hidden {
		return false
	}
	if r.Kind != memory.RecordObservation && len(q.Types)+len(q.Concepts)+len(q.Files) > 0 {
		return false
	}
	if q.Project != "" && q.Project != r.project && q.Project != filepath.Base(r.project) {
		return false
	}
	any := func(n int, has func(int) bool) bool {
		return n == 0 || slices.ContainsFunc(slices.Repeat([]int{0}, n), func(int) bool { n--; return has(n) })
	}
	return (q.Session == 0 || q.Session == r.session) &&
		(q.Since == 0 || r.at >= q.Since) && (q.Until == 0 || r.at <= q.Until) &&
		any(len(q.Types), func(i int) bool { return q.Types[i] == r.kind }) &&
		any(len(q.Concepts), func(i int) bool { return slices.Contains(r.concepts, q.Concepts[i]) }) &&
		any(len(q.Files), func(i int) bool {
			return slices.ContainsFunc(r.files, func(p string) bool { return isIn(r.project, p, q.Files[i]) }) ||
				q.Files[i] == r.project // an observation without files too
		})
}

// isIn says whether a path of a project has the part that somebody typed, or, from the root of
// the file system on, begins with it.
func isIn(project, path, typed string) bool {
	form := func(p string) string { return strings.ToLower(strings.ReplaceAll(p, `\`, "/")) }
	return strings.Contains(form(path), form(typed)) || strings.HasPrefix(form(project+"/"+path), form(typed)) && strings.HasPrefix(typed, "/")
}

func compareRecords(a, b record) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// TestFiltersAgreeWithAPlainOne makes memories at random and compares every way
// to list and count them with a filter that looks at each record.
func TestFiltersAgreeWithAPlainOne(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		clock := &clock{base}
		path := filepath.Join(tempDir(t), "memory.db")
		s, err := store.Open(ctx, path, store.Options{Clock: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		records := someRecords(t, s, clock)
		for n := range 12 {
			checkFilter(t, s, records)
			if n%4 == 3 { // what is remembered of a filter follows the changes
				changeRecords(t, path, records)
			}
		}
		checkAround(t, s, records)
	})
}

// changeRecords changes what filters look at of some observations.
func changeRecords(t *rapid.T, path string, records []record) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(2000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for i := range records {
		r := &records[i]
		if r.Kind != memory.RecordObservation || rapid.IntRange(0, 2).Draw(t, "changed") > 0 {
			continue
		}
		r.kind = rapid.SampledFrom(someTypes).Draw(t, "new type")
		r.concepts = rapid.SliceOfNDistinct(rapid.SampledFrom(someConcepts), 0, 3, rapid.ID).Draw(t, "new concepts")
		r.at = base + memory.Millis(rapid.IntRange(0, 12).Draw(t, "new at"))
		r.hidden = rapid.Bool().Draw(t, "now hidden")
		concepts, err := json.Marshal(r.concepts)
		if err != nil {
			t.Fatal(err)
		}
		if r.concepts == nil {
			concepts = []byte("[]")
		}
		if _, err := db.Exec("UPDATE observations SET type = ?, concepts = ?, created_at = ?, deleted_at = iif(?, 5, NULL) WHERE id = ?", string(r.kind), string(concepts), int64(r.at), r.hidden, r.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func someRecords(t *rapid.T, s *store.Store, clock *clock) []record {
	ctx := context.Background()
	var records []record
	prompts, summaries, observations := int64(0), int64(0), int64(0)
	times := rapid.Int64Range(0, 12) // few, so that there are ties
	for session := range rapid.IntRange(1, 5).Draw(t, "sessions") {
		project := rapid.SampledFrom(someProjects).Draw(t, "project")
		in := func(a *memory.Arrival) { a.Event.ProjectPath = project }
		name := fmt.Sprint("s", session)
		var id memory.SessionID
		for i := range rapid.IntRange(1, 3).Draw(t, "prompts") {
			at := memory.Millis(times.Draw(t, "at"))
			r, err := s.Enqueue(ctx, event(memory.KindPrompt, name, fmt.Sprint(name, "p", i), at, in))
			if err != nil {
				t.Fatal(err)
			}
			id = r[0].Session
			prompts++
			records = append(records, record{RecordRef: ref("prompt", prompts), project: project, session: id, at: base + at})
		}
		if _, err := s.Enqueue(ctx, event(memory.KindTool, name, name+"tool", 0, in)); err != nil {
			t.Fatal(err)
		}
		var outcome memory.Outcome
		for i := range rapid.IntRange(0, 6).Draw(t, "observations") {
			r := record{
				project: project, session: id, at: base + memory.Millis(times.Draw(t, "at")),
				kind:     rapid.SampledFrom(someTypes).Draw(t, "type"),
				concepts: rapid.SliceOfNDistinct(rapid.SampledFrom(someConcepts), 0, 3, rapid.ID).Draw(t, "concepts"),
				files:    rapid.SliceOfN(rapid.SampledFrom(somePaths), 0, 3).Draw(t, "files"),
				pinned:   rapid.IntRange(0, 4).Draw(t, "pinned") == 0,
			}
			observations++
			r.RecordRef = ref("observation", observations)
			o := memory.Observation{
				Type: r.kind, Title: fmt.Sprintf("%d %d %s", session, i, strings.Repeat(string(rune('a'+i)), 20+10*session)),
				Concepts: r.concepts, Pinned: r.pinned, CreatedAt: r.at,
			}
			for _, f := range r.files {
				o.Files = append(o.Files, memory.FileRef{Path: f, Role: memory.FileRead})
			}
			outcome.Observations = append(outcome.Observations, o)
			records = append(records, r)
		}
		for range rapid.IntRange(0, 2).Draw(t, "summaries") {
			at := base + memory.Millis(times.Draw(t, "at"))
			summaries++
			outcome.Summaries = append(outcome.Summaries, memory.Summary{Request: "r", CreatedAt: at})
			records = append(records, record{RecordRef: ref("summary", summaries), project: project, session: id, at: at})
		}
		claim, err := s.Claim(ctx, name, id, 0, clock.at)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Confirm(ctx, claim, outcome); err != nil {
			t.Fatal(err)
		}
		for _, o := range outcome.Observations {
			if o.TimesSeen > 1 {
				t.Skip("two titles were taken for one")
			}
		}
	}
	for i := range records {
		if records[i].Kind == memory.RecordObservation && rapid.IntRange(0, 5).Draw(t, "hidden") == 0 {
			records[i].hidden = true
			if err := s.Hide(records[i].ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	return records
}

func checkFilter(t *rapid.T, s *store.Store, records []record) {
	ctx := context.Background()
	maybe := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	var q memory.Query
	var kinds []memory.RecordKind
	if maybe("kinds") {
		kinds = rapid.SliceOfN(rapid.SampledFrom(memory.RecordKinds()), 1, 3).Draw(t, "kinds of")
	}
	if maybe("project") {
		q.Project = rapid.SampledFrom(append([]string{"shop", "blog", "none"}, someProjects...)).Draw(t, "project of")
	}
	if maybe("session") {
		q.Session = memory.SessionID(rapid.IntRange(1, 6).Draw(t, "session of"))
	}
	if maybe("types") {
		q.Types = rapid.SliceOfN(rapid.SampledFrom(someTypes), 1, 3).Draw(t, "types of")
	}
	if maybe("concepts") {
		q.Concepts = rapid.SliceOfN(rapid.SampledFrom(someConcepts), 1, 3).Draw(t, "concepts of")
	}
	if maybe("files") {
		q.Files = rapid.SliceOfN(rapid.SampledFrom(someFiles), 1, 2).Draw(t, "files of")
	}
	if maybe("since") {
		q.Since = base + memory.Millis(rapid.IntRange(0, 12).Draw(t, "since of"))
	}
	if maybe("until") {
		q.Until = base + memory.Millis(rapid.IntRange(0, 12).Draw(t, "until of"))
	}
	var passed []record
	for _, r := range records {
		if r.passes(q, kinds) {
			passed = append(passed, r)
		}
	}
	slices.SortFunc(passed, compareRecords)
	if n, err := s.CountRecords(ctx, q, kinds); err != nil || n != len(passed) {
		t.Fatalf("%+v %v: counted %d %v, want %d", q, kinds, n, err, len(passed))
	}
	check := func(what string, got, want []memory.RecordRef, err error) {
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s of %+v %v: got %v %v, want %v", what, q, kinds, got, err, want)
		}
	}
	page := func(want []memory.RecordRef) []memory.RecordRef {
		want = want[min(q.Offset, len(want)):]
		if q.Limit > 0 {
			want = want[:min(q.Limit, len(want))]
		}
		return want
	}
	for range 3 {
		want := refsOf(passed)
		got, err := s.FilterRecords(ctx, q, kinds, memory.OrderOldest)
		check("oldest", got, page(want), err)
		slices.Reverse(want)
		got, err = s.FilterRecords(ctx, q, kinds, memory.OrderNewest)
		check("newest", got, page(want), err)
		// A broad filter on files goes through all in order: that must give the same.
		got, err = s.FilterWide(ctx, q, kinds)
		check("newest of many files", got, page(want), err)
		q.Limit, q.Offset = rapid.IntRange(1, 5).Draw(t, "limit"), rapid.IntRange(0, 5).Draw(t, "offset")
	}
	if kinds != nil && slices.Equal(kinds, []memory.RecordKind{memory.RecordObservation}) {
		slices.SortStableFunc(passed, func(a, b record) int {
			if a.pinned != b.pinned {
				return cmp.Compare(len(fmt.Sprint(a.pinned)), len(fmt.Sprint(b.pinned))) // true is shorter
			}
			return compareRecords(b, a)
		})
		found, err := s.Observations(ctx, q)
		var got []memory.RecordRef
		for _, o := range found {
			got = append(got, ref("observation", int64(o.ID)))
		}
		check("pinned ahead", got, page(refsOf(passed)), err)
	}
}

// checkAround looks around each record, and around a moment.
func checkAround(t *rapid.T, s *store.Store, records []record) {
	ctx := context.Background()
	project := rapid.SampledFrom([]string{"", "shop", "/home/dev/blog"}).Draw(t, "around project")
	before, after := rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after")
	var all []record
	for _, r := range records {
		if r.passes(memory.Query{Project: project}, nil) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, compareRecords)
	anchors := []record{{at: base - 1}, {at: base + 5}, {at: base + 100}}
	for _, anchor := range append(anchors, all...) {
		var wantEarlier, wantLater []memory.RecordRef
		for _, r := range all {
			place := compareRecords(r, anchor)
			if anchor.ID == 0 {
				place = cmp.Or(cmp.Compare(r.at, anchor.at), 1)
			}
			if place < 0 {
				wantEarlier = append(wantEarlier, r.RecordRef)
			} else if place > 0 {
				wantLater = append(wantLater, r.RecordRef)
			}
		}
		wantEarlier = wantEarlier[max(0, len(wantEarlier)-before):]
		wantLater = wantLater[:min(after, len(wantLater))]
		earlier, later, err := s.Around(ctx, project, anchor.at, anchor.RecordRef, before, after)
		if err != nil || !slices.Equal(itemRefs(earlier), wantEarlier) || !slices.Equal(itemRefs(later), wantLater) {
			t.Fatalf("around %+v: got %v | %v %v, want %v | %v", anchor, itemRefs(earlier), itemRefs(later), err, wantEarlier, wantLater)
		}
		for _, item := range append(earlier, later...) {
			i := slices.IndexFunc(all, func(r record) bool { return r.RecordRef == item.RecordRef })
			if item.Session != all[i].session || item.ProjectPath != all[i].project || item.CreatedAt != all[i].at || item.IsAnchor {
				t.Fatalf("got item %+v, want %+v", item, all[i])
			}
		}
	}
}

func refsOf(records []record) []memory.RecordRef {
	var refs []memory.RecordRef
	for _, r := range records {
		refs = append(refs, r.RecordRef)
	}
	return refs
}

func itemRefs(items []memory.TimelineItem) []memory.RecordRef {
	var refs []memory.RecordRef
	for _, i := range items {
		refs = append(refs, i.RecordRef)
	}
	return refs
}

// The plans that the bars for large memories depend on: pages come from indexes
// in order, and nothing is gone through as a whole.
func TestFilterPlans(t *testing.T) {
	m := projects(t)
	observations := []memory.RecordKind{memory.RecordObservation}
	bugfix := []memory.ObservationType{memory.TypeBugfix}
	tests := []struct {
		name  string
		query memory.Query
		kinds []memory.RecordKind
		wide  bool
		want  []string
	}{
		{"all", memory.Query{}, nil, false, []string{"observations_newest_everywhere", "prompts_newest_everywhere", "session_summaries_everywhere"}},
		{"project", memory.Query{Project: "blog"}, nil, false, []string{
			"observations_newest (project=? AND pinned=? AND deleted_at=?)", "prompts_newest (project=?)", "session_summaries_project (project=?)",
		}},
		{"time", memory.Query{Project: "blog", Since: 1, Until: 2}, nil, false, []string{
			"(project=? AND pinned=? AND deleted_at=? AND created_at>? AND created_at<?)", "prompts_newest (project=? AND created_at>? AND created_at<?)",
		}},
		{"session", memory.Query{Session: 1}, nil, false, []string{"observations_session (session_id=? AND deleted_at=?)", "prompts_time (session_id=?)", "session_summaries_time (session_id=?)"}},
		{"type", memory.Query{Project: "blog", Types: bugfix}, nil, false, []string{"observations_type (project=? AND type=? AND deleted_at=?)"}},
		{"type everywhere", memory.Query{Types: bugfix}, nil, false, []string{"observations_type_everywhere (type=? AND deleted_at=?)"}},
		{"concept", memory.Query{Project: "blog", Concepts: []string{"c"}}, nil, false, []string{"c USING PRIMARY KEY (concept=?)"}},
		{"concept of a label", memory.Query{Project: "shop", Concepts: []string{"c"}}, nil, false, []string{"c USING PRIMARY KEY (concept=?)"}},
		{"concept everywhere", memory.Query{Concepts: []string{"c"}}, nil, false, []string{"c USING PRIMARY KEY (concept=?)"}},
		{"concept and type", memory.Query{Concepts: []string{"c"}, Types: bugfix}, nil, false, []string{"c USING PRIMARY KEY (concept=?)", "r USING INTEGER PRIMARY KEY"}},
		{"files that are everywhere", memory.Query{Project: "blog", Files: []string{"src"}}, observations, true, []string{
			"observations_newest (project=? AND pinned=? AND deleted_at=?)", "f EXISTS USING PRIMARY KEY (observation_id=?)",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, o := range []records.Order{records.Newest, records.Oldest, records.PinnedNewest} {
				kinds := test.kinds
				if o == records.PinnedNewest {
					kinds = observations
				}
				plan, err := m.PagePlan(test.query, kinds, o, !test.wide)
				if err != nil {
					t.Fatal(err)
				}
				// Each part is in order by its index: only the merged page is sorted.
				if strings.Count(plan, "TEMP B-TREE") > 1 {
					t.Errorf("a part is sorted:\n%s", plan)
				}
				checkPlan(t, plan)
				for _, want := range test.want {
					if o == records.Newest && !strings.Contains(plan, want) {
						t.Errorf("want %q in\n%s", want, plan)
					}
				}
			}
			plan, err := m.CountPlan(test.query, test.kinds)
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, plan)
			if !test.wide && !strings.Contains(test.name, " and ") && !strings.Contains(plan, "PRIMARY KEY (concept=?") && strings.Count(plan, "COVERING") == 0 {
				t.Errorf("the count reads rows:\n%s", plan)
			}
		})
	}
	t.Run("timeline", func(t *testing.T) {
		for _, r := range []memory.RecordRef{{}, ref("observation", 1), ref("prompt", 1), ref("summary", 1)} {
			for _, project := range []string{"", "blog", "shop"} {
				plan, err := m.AroundPlan(project, r)
				if err != nil {
					t.Fatal(err)
				}
				checkPlan(t, plan)
				if strings.Count(plan, "TEMP B-TREE") > 2 {
					t.Errorf("a part is sorted:\n%s", plan)
				}
			}
		}
	})
}

// checkPlan fails when a table is gone through that isn't in the order asked for.
func checkPlan(t *testing.T, plan string) {
	t.Helper()
	for line := range strings.Lines(plan) {
		line = strings.TrimSpace(line)
		table, scan := strings.CutPrefix(line, "SCAN ")
		if !scan || strings.HasPrefix(table, "(subquery") || strings.HasPrefix(table, "json_each") || strings.Contains(table, "CONSTANT ROW") ||
			strings.Contains(table, "VIRTUAL TABLE") || strings.Contains(table, "_everywhere") {
			continue
		}
		t.Errorf("%q in\n%s", line, plan)
	}
}
