package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// randomMemory makes a memory with a random life: turns, records written by hand, learnings
// that contradict each other, what is hidden, pinned, superseded and forgotten. Texts and
// sessions of different names are different.
func randomMemory(t *testing.T, name string, seed byte) *testStore {
	t.Helper()
	m := newMemoryOf(t, seed)
	m.live(t, name, rand.New(rand.NewPCG(uint64(seed), 1)), 12, true)
	return m
}

// pieces are parts of random texts.
var pieces = []string{"cache", "größer", "日本語", "a\nb", "<b> & c", "\x1b[31m", `"quoted"`, "\u2028", "\x00", "a\tb", `C:\x`, "💥", "don't"}

// live adds turns and, with edits, changes records that are there.
func (m *testStore) live(t *testing.T, name string, random *rand.Rand, turns int, edits bool) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if code := memory.CodeOf(err); err != nil && code != memory.CodeNotFound && code != memory.CodeConflict {
			t.Fatal(err)
		}
	}
	n := 0
	text := func() string {
		n++
		return fmt.Sprintf("%s %d %s %s", name, n, pieces[random.IntN(len(pieces))], pieces[random.IntN(len(pieces))])
	}
	some := func() (list []string) {
		for range random.IntN(3) {
			list = append(list, text())
		}
		return list
	}
	provenances := []memory.Provenance{"", memory.FromUser, memory.FromProject, memory.FromWeb}
	changes := []memory.ChangeType{memory.SymbolNew, memory.SymbolModified, memory.SymbolDeleted}
	anObservation := func() memory.ObservationID { return memory.ObservationID(1 + random.IntN(2*turns)) }
	for turn := range turns {
		session := fmt.Sprintf("%s-%d", name, random.IntN(4))
		at := m.clock.at - base + memory.Millis(random.IntN(100_000))
		change := func(a *memory.Arrival) {
			if random.IntN(3) == 0 {
				a.Event.ProjectPath = "/home/dev/" + name
			}
			if a.Event.Import = m.importing; m.importing != 0 {
				past(a)
			}
			if a.Event.Kind == memory.KindPrompt {
				a.Event.Prompt, a.Event.Branch = text(), "main"
			}
		}
		id := fmt.Sprint(name, turn)
		key := fmt.Sprint(m.importing, id)
		r := m.enqueue(t, event(memory.KindPrompt, session, key+"p", at, change), event(memory.KindTool, session, key+"t", at+1, change), event(memory.KindStop, session, key+"s", at+2, change))
		outcome := memory.Outcome{Learnings: []memory.Learning{{Category: "gotcha", Content: "Use " + id + " there.", Confidence: random.Float64(), Provenance: memory.FromProject}}}
		if random.IntN(2) == 0 {
			outcome.Learnings = append(outcome.Learnings, memory.Learning{Category: "gotcha", Content: "Don't use " + id + " there.", Confidence: .9})
		}
		for range 1 + random.IntN(2) {
			outcome.Observations = append(outcome.Observations, memory.Observation{
				PromptNumber: r[0].PromptNumber, Type: memory.TypeBugfix, Title: text(), Subtitle: text(), Narrative: text(), Facts: some(), Concepts: some(),
				Files:           []memory.FileRef{{Path: "src/" + id + ".go", Role: memory.FileModified, Hash: "abc123", Symbols: []memory.SymbolHash{{Name: "F", Hash: "1f"}}}, {Path: "doc/" + text(), Role: memory.FileRead}},
				DiscoveryTokens: random.IntN(100), Provenance: provenances[random.IntN(len(provenances))], AgentID: "a1", HeadCommit: "5d41402a",
				CreatedAt: base + at + memory.Millis(random.IntN(5)),
			})
		}
		if edits {
			outcome.Observations[0].Supersedes = []memory.ObservationID{anObservation()}
		}
		outcome.Summaries = []memory.Summary{{PromptNumber: r[0].PromptNumber, Request: text(), Completed: text(), FilesRead: some(), CreatedAt: base + at}}
		outcome.Symbols = []memory.SymbolChange{{FilePath: "src/" + id + ".go", QualifiedName: text(), Kind: "func", Signature: text(), LineStart: 1, LineEnd: 9, BodyHash: "1f", ChangeType: changes[random.IntN(3)], SnapshotAt: base + at}}
		if err := m.Confirm(ctx, m.claim(t, r[0].Session, 100), outcome); err != nil {
			t.Fatal(err)
		}
		m.clock.at += 1000
		if !edits {
			continue
		}
		switch random.IntN(5) {
		case 0:
			_, err := m.HideObservation(ctx, anObservation(), true)
			check(err)
		case 1:
			_, err := m.HideObservation(ctx, anObservation(), false)
			check(err)
		case 2:
			pinned := true
			_, err := m.EditObservation(ctx, anObservation(), memory.ObservationEdit{Pinned: &pinned})
			check(err)
		case 3:
			_, err := m.AddObservation(ctx, memory.NewObservation{ProjectPath: "/home/dev/shop", Title: text(), Narrative: text()})
			check(err)
			_, err = m.AddLearning(ctx, memory.Learning{ProjectPath: "/home/dev/shop", Category: "workflow", Content: "Run " + id + ".", Confidence: 1})
			check(err)
		case 4:
			_, err := m.Forget(ctx, memory.Forgetting{Observations: []memory.ObservationID{anObservation()}}, unnoted)
			check(err)
		}
	}
}

// everything is the rule by which all projects are captured.
func everything(string) bool { return true }

// own are the options of an import whose records are the own ones.
var own = memory.ImportOptions{Mine: true, Wide: true}

// imported imports records and returns the numbers of the outcomes.
func (m *testStore) imported(t *testing.T, records []memory.Portable) map[memory.ImportStatus]int {
	t.Helper()
	outcomes, err := m.Import(t.Context(), records, everything, own)
	if err != nil || len(outcomes) != len(records) {
		t.Fatal(len(outcomes), err)
	}
	counts := map[memory.ImportStatus]int{}
	for i, o := range outcomes {
		counts[o.Status]++
		if o.Status == memory.ImportRefused {
			t.Errorf("record %d, a %s: %s", i, records[i].Kind(), o.Reason)
		}
	}
	return counts
}

// lines returns records as the lines of a file.
func lines(t *testing.T, records []memory.Portable) []string {
	t.Helper()
	all := make([]string, len(records))
	for i := range records {
		line, err := json.Marshal(records[i])
		if err != nil {
			t.Fatal(err)
		}
		all[i] = string(line)
	}
	return all
}

// all returns the lines of an export of everything.
func (m *testStore) all(t *testing.T) []string {
	return lines(t, exported(t, m, memory.ExportFilter{}))
}

// TestImportRoundTrip: a memory that was exported and imported is exported again as it was;
// importing it twice, or into itself, changes nothing.
func TestImportRoundTrip(t *testing.T) {
	for seed := byte(1); seed <= 6; seed++ {
		from, to := randomMemory(t, "one", seed), newMemoryOf(t, 100+seed)
		to.clock.at = from.clock.at
		records := exported(t, from, memory.ExportFilter{})
		want := lines(t, records)
		if got := to.imported(t, records); got[memory.ImportAdded] != len(records) {
			t.Errorf("seed %d: %v of %d records", seed, got, len(records))
		}
		if diff := cmp.Diff(want, to.all(t)); diff != "" {
			t.Errorf("seed %d: exported again (-want +got):\n%s", seed, diff)
		}
		for _, m := range []*testStore{to, from} {
			if got := m.imported(t, records); got[memory.ImportPresent] != len(records) {
				t.Errorf("seed %d: imported again: %v of %d records", seed, got, len(records))
			}
			if diff := cmp.Diff(want, m.all(t)); diff != "" {
				t.Errorf("seed %d: imported again (-want +got):\n%s", seed, diff)
			}
			m.audited(t)
		}
		to.live(t, "next", rand.New(rand.NewPCG(9, 9)), 3, true) // an imported memory goes on
		to.audited(t)
	}
}

// TestImportMerges: two memories that grew apart have the same records after each has imported
// the other.
func TestImportMerges(t *testing.T) {
	a, b := randomMemory(t, "common", 1), newMemoryOf(t, 2)
	b.clock.at = a.clock.at
	b.imported(t, exported(t, a, memory.ExportFilter{}))
	a.clock.at += 1000
	b.clock.at += 1000
	a.live(t, "a", rand.New(rand.NewPCG(3, 3)), 4, false)
	b.live(t, "b", rand.New(rand.NewPCG(4, 4)), 4, false)
	had := b.all(t)
	b.imported(t, exported(t, a, memory.ExportFilter{}))
	a.imported(t, exported(t, b, memory.ExportFilter{}))
	merged := a.all(t)
	if diff := cmp.Diff(merged, b.all(t)); diff != "" {
		t.Errorf("(-a +b):\n%s", diff)
	}
	for _, line := range had {
		if !slices.Contains(merged, line) {
			t.Errorf("b had, and a has not: %s", line)
		}
	}
}

// TestImportKeepsWhatIsHere: records that were changed here stay as they are, and so do those
// that are here under another name.
func TestImportKeepsWhatIsHere(t *testing.T) {
	m, same := newMemoryOf(t, 1), newMemoryOf(t, 2)
	m.remember(t)
	same.remember(t) // the same sessions, with other ULIDs
	records := exported(t, m, memory.ExportFilter{})
	want := same.all(t)
	outcomes, err := same.Import(t.Context(), records[:3], everything, own)
	if err != nil {
		t.Fatal(err)
	}
	names := map[memory.ULID]memory.ULID{}
	for i, o := range outcomes {
		if o.Status != memory.ImportPresent || o.ULID == "" || o.ULID == records[i].Session.ULID {
			t.Errorf("session %s is %+v", records[i].Session.HostSessionID, o)
		}
		names[records[i].Session.ULID] = o.ULID
	}
	var rest []memory.Portable
	for _, p := range exported(t, m, memory.ExportFilter{})[3:] {
		if ref := p.SessionRef(); ref != nil {
			*ref = names[*ref]
		}
		rest = append(rest, p)
	}
	if got := same.imported(t, rest); got[memory.ImportPresent] != len(rest) {
		t.Errorf("%v of %d records under other names", got, len(rest))
	}
	if diff := cmp.Diff(want, same.all(t)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}

	title := "Edited here"
	if _, err := m.EditObservation(t.Context(), 1, memory.ObservationEdit{Title: &title}); err != nil {
		t.Fatal(err)
	}
	want = m.all(t)
	if got := m.imported(t, records); got[memory.ImportDiffers] != 1 || got[memory.ImportPresent] != len(records)-1 {
		t.Errorf("%v: want one that was changed", got)
	}
	if diff := cmp.Diff(want, m.all(t)); diff != "" {
		t.Errorf("an older export changed it (-before +after):\n%s", diff)
	}
}

// TestImportForgotten: what was forgotten does not come back by an import of an export from
// before, and an export takes the tombstones along.
func TestImportForgotten(t *testing.T) {
	for name, tt := range map[string]struct {
		f    memory.Forgetting
		gone string // no line of an export has it afterwards
	}{
		"an observation": {memory.Forgetting{Observations: []memory.ObservationID{2}}, "Narrative of anna-two"},
		"a session":      {memory.Forgetting{Sessions: []memory.SessionID{1}}, "of anna"},
		"a text":         {memory.Forgetting{Text: "bert-one"}, "bert-one"},
		"a file":         {memory.Forgetting{File: "src/bert-two.go"}, "Narrative of bert-two"},
		"a project":      {memory.Forgetting{ProjectPath: "/home/dev/other"}, "carl"},
		"a time":         {memory.Forgetting{Since: base + 10_000, Until: base + 10_500}, "Narrative of bert-one"},
	} {
		m, other := newMemoryOf(t, 1), newMemoryOf(t, 2)
		m.remember(t)
		m.clock.at = base + 100_000
		before := exported(t, m, memory.ExportFilter{})
		if _, err := m.Forget(t.Context(), tt.f, unnoted); err != nil {
			t.Fatal(err)
		}
		check := func(who string, m *testStore, want []string) {
			t.Helper()
			got := m.all(t)
			if strings.Contains(strings.Join(got, "\n"), tt.gone) {
				t.Errorf("%s: %q came back to %s", name, tt.gone, who)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, who, diff)
			}
		}
		want := m.all(t)
		outcomes, err := m.Import(t.Context(), before, everything, own)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range outcomes {
			// Records of a session that is gone have no home.
			if o.Status != memory.ImportForgotten && o.Status != memory.ImportPresent && o.Status != memory.ImportDiffers && o.Reason != "its session is not here" {
				t.Errorf("%s: a %s is %+v", name, before[i].Kind(), o)
			}
		}
		check("the memory", m, want)

		// The other one gets the tombstones, and refuses the export from before, too.
		other.clock.at = m.clock.at
		other.imported(t, exported(t, m, memory.ExportFilter{}))
		check("another memory", other, want)
		if _, err := other.Import(t.Context(), before, everything, own); err != nil {
			t.Fatal(err)
		}
		check("another memory, after the older export", other, want)
	}
}

// TestImportedTombstones: tombstones of a file delete nothing that is here, refuse nothing
// that comes to be later, and are no reason to delete backups.
func TestImportedTombstones(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	records := exported(t, m, memory.ExportFilter{})
	m.clock.at = base + 1_000_000
	tomb := func(kind, key string) memory.Portable {
		return memory.Portable{Tombstone: &memory.Tombstone{Kind: kind, Key: key, CreatedAt: memory.LatestTime}}
	}
	tombs := []memory.Portable{
		tomb("record", string(records[3].ULID())), tomb("session", "00ff"), tomb("range", fmt.Sprintf("0:%d:", memory.LatestTime)),
		tomb("content", "00ff"), tomb("content", strings.Repeat("0f", 32)), tomb("event", "tool:x"),
	}
	if got := m.imported(t, tombs); got[memory.ImportAdded] != len(tombs) {
		t.Errorf("%v", got)
	}
	for _, wrong := range []memory.Portable{tomb("erasure", "x"), tomb("range", "x"), tomb("range", "0:1:x"), tomb("project", "/home/dev/shop"), tomb("", "x"), tomb("record", "x")} {
		wantRefused(t, m, wrong.Tombstone.Kind, wrong)
	}
	if n := countsOf(exported(t, m, memory.ExportFilter{})); n.Total() != len(records)+len(tombs) {
		t.Errorf("%+v are left of %d records", n, len(records))
	}
	if _, ids, err := care.Erased(t.Context(), m.path); len(ids) != 0 || err != nil {
		t.Errorf("something was forgotten: %v, %v", ids, err)
	}
	if keys := rawRows(t, m.path, "SELECT key FROM tombstones WHERE kind = 'content' AND length(key) > 4"); fmt.Sprint(keys) != "[["+strings.Repeat("0f", 16)+"]]" {
		t.Errorf("a hash of an older export is kept as %v", keys)
	}
	r := m.enqueue(t, event(memory.KindPrompt, "later", "p", 1_000_001), event(memory.KindPrompt, "earlier", "p", 5))
	if r[0].Status != memory.StatusProcessed || r[1].Status != memory.StatusSkipped {
		t.Errorf("later and earlier events are %s and %s", r[0].Status, r[1].Status)
	}
}

// TestImportRefuses: each record that cannot be one of a memory is refused with a reason and
// leaves nothing.
func TestImportRefuses(t *testing.T) {
	from := newMemoryOf(t, 1)
	from.remember(t)
	records := exported(t, from, memory.ExportFilter{})
	find := func(kind string) memory.Portable {
		return records[slices.IndexFunc(records, func(p memory.Portable) bool { return p.Kind() == kind })]
	}
	m := newMemoryOf(t, 2)
	m.imported(t, records[:3])
	want := m.all(t)
	for name, line := range map[string]string{
		"ulid": `{"ulid":"x"}`, "lower case": `{"ulid":"01arz3ndektsv4rrffq69g5fav"}`, "session": `{"session":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`,
		"title": `{"title":" "}`, "type": `{"type":"a b"}`, "escape": `{"type":"\u001b[2J"}`, "origin": `{"origin":"me"}`, "provenance": `{"provenance":"trust me"}`,
		"role": `{"files":[{"path":"a","role":"owned"}]}`, "path": `{"files":[{"path":"","role":"read"}]}`, "hash": `{"files":[{"path":"a","role":"read","hash":"/etc"}]}`,
		"number": `{"times_seen":-1}`, "time": `{"created_at":253402300800000}`, "hidden": `{"hidden_at":-5}`, "superseded": `{"superseded_by":"#12"}`,
	} {
		o := *find("observation").Observation
		o.Files = nil
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, m, name, memory.Portable{Observation: &o})
	}
	learning := *find("learning").Learning
	learning.Provenance = memory.FromWeb
	wantRefused(t, m, "a foreign learning", memory.Portable{Learning: &learning})
	prompt := *find("prompt").Prompt
	prompt.Number = 0
	wantRefused(t, m, "prompt 0", memory.Portable{Prompt: &prompt})
	wantRefused(t, m, "nothing", memory.Portable{})
	prompt.Number = 1
	wantRefused(t, m, "two", memory.Portable{Prompt: &prompt, Learning: find("learning").Learning})
	if diff := cmp.Diff(want, m.all(t)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	m.imported(t, []memory.Portable{{Prompt: &prompt}})
	other := prompt
	other.ULID, other.Text = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "another one"
	wantRefused(t, m, "another prompt of that number", memory.Portable{Prompt: &other})
}

// wantRefused imports a record, which has to be refused.
func wantRefused(t *testing.T, m *testStore, name string, p memory.Portable) {
	t.Helper()
	outcomes, err := m.Import(t.Context(), []memory.Portable{p}, everything, own)
	if err != nil || outcomes[0].Status != memory.ImportRefused || outcomes[0].Reason == "" {
		t.Errorf("%s: %+v, %v", name, outcomes, err)
	}
}

// TestImportStoresTheOthers: a record that the database refuses is refused alone and leaves
// nothing; those before and after it in the batch are stored.
func TestImportStoresTheOthers(t *testing.T) {
	from, m := newMemoryOf(t, 1), newMemoryOf(t, 2)
	from.remember(t)
	records := exported(t, from, memory.ExportFilter{})
	title := ""
	for _, p := range records {
		if p.Observation != nil && len(p.Observation.Files) > 0 && p.Observation.SupersededBy == "" {
			title = p.Observation.Title
		}
	}
	rawExec(t, m.Path(), "CREATE TRIGGER broken BEFORE INSERT ON file_refs WHEN (SELECT title FROM observations WHERE id = NEW.observation_id) = '"+title+"' BEGIN SELECT RAISE(ABORT, 'broken'); END")
	want := lines(t, slices.DeleteFunc(slices.Clone(records), func(p memory.Portable) bool { return p.Observation != nil && p.Observation.Title == title }))
	outcomes, err := m.Import(t.Context(), records, everything, own)
	if err != nil || title == "" {
		t.Fatalf("%v, without %q", err, title)
	}
	for i, o := range outcomes {
		if refused := records[i].Observation != nil && records[i].Observation.Title == title; (o.Status == memory.ImportRefused) != refused {
			t.Errorf("a %s is %+v", records[i].Kind(), o)
		}
	}
	if diff := cmp.Diff(want, m.all(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rawExec(t, m.Path(), "DROP TRIGGER broken")
	if got := m.imported(t, records); got[memory.ImportAdded] != 1 || got[memory.ImportPresent] != len(records)-1 {
		t.Errorf("imported again: %v", got)
	}
}

// TestImportExcluded: a record of a project that is not captured is left out, and so is one of
// a session there, also when the session is here; what is here stays.
func TestImportExcluded(t *testing.T) {
	const other = "/home/dev/other"
	from, m := newMemoryOf(t, 1), newMemoryOf(t, 2)
	from.remember(t)
	records := exported(t, from, memory.ExportFilter{})
	sessions := map[memory.ULID]bool{}
	var want []memory.Portable
	for _, p := range records {
		ref := p.SessionRef()
		inside := p.Session != nil && p.Session.ProjectPath == other || ref != nil && sessions[*ref] ||
			p.Observation != nil && p.Observation.ProjectPath == other || p.Learning != nil && p.Learning.ProjectPath == other
		if p.Session != nil {
			sessions[p.Session.ULID] = inside
		}
		if !inside {
			want = append(want, p)
		}
	}
	if n := len(records) - len(want); n < 3 || len(want) < 3 {
		t.Fatalf("%d of %d records are of the project", n, len(records))
	}
	wanted := lines(t, want)
	captured := func(project string) bool { return project != other }
	outcomes, err := m.Import(t.Context(), records, captured, own)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.Status != memory.ImportAdded && o.Status != memory.ImportExcluded && o.Reason != "its session is not here" {
			t.Errorf("a %s is %+v", records[i].Kind(), o)
		}
	}
	if diff := cmp.Diff(wanted, m.all(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before := from.all(t)
	outcomes, err = from.Import(t.Context(), records, captured, own)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, o := range outcomes {
		if o.Status == memory.ImportExcluded {
			left++
		}
	}
	if n := len(records) - len(want); left != n {
		t.Errorf("%d records are left out where their session is, want %d", left, n)
	}
	if diff := cmp.Diff(before, from.all(t)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
