package store_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// holds reports whether the files of the database have a text, packed or not.
func (m *testStore) holds(t *testing.T, text string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(m.path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		has := func(part string) bool { return strings.Contains(part, text) }
		if has(string(b)) || slices.ContainsFunc(sqlite.PackedTexts(b), has) {
			return true
		}
	}
	return false
}

// remember makes two sessions of a project and one of another, each with two turns: the
// first distilled by a model, the second without one, so that its payloads are kept. Their
// texts have the session's name and the turn.
func (m *testStore) remember(t *testing.T) {
	t.Helper()
	for i, session := range []string{"anna", "bert", "carl"} {
		at := memory.Millis(i) * 10_000
		change := func(a *memory.Arrival) {
			if session == "carl" {
				a.Event.ProjectPath = "/home/dev/other"
			}
			if a.Event.Kind == memory.KindTool {
				a.Event.ToolResponse = []byte(`{"stdout":"said ` + a.Event.DeliveryID + `\"quoted\""}`)
			}
		}
		for n, turn := range []string{"one", "two"} {
			name := session + "-" + turn
			m.enqueue(t, event(memory.KindPrompt, session, name+"-p", at+1, change), event(memory.KindTool, session, name+"-t", at+2, change),
				event(memory.KindStop, session, name+"-s", at+3, change))
			claim := m.claim(t, memory.SessionID(i+1), 10)
			outcome := memory.Outcome{
				Observations: []memory.Observation{{PromptNumber: n + 1, Type: memory.TypeChange, Title: "Title " + name, Narrative: "Narrative of " + name, Facts: []string{`a "fact" of ` + name},
					Files: []memory.FileRef{{Path: "src/" + name + ".go", Role: memory.FileModified}}, CreatedAt: base + at + 3}},
				Summaries: []memory.Summary{{Request: "Request " + name, FilesEdited: []string{"src/" + name + ".go"}, CreatedAt: base + at + 3}},
				Learnings: []memory.Learning{{Category: "gotcha", Content: "Learnt in " + name + ".", Confidence: .9}},
			}
			if turn == "two" {
				outcome.Unread = map[string]memory.UnreadReason{}
				for _, e := range claim.Events {
					outcome.Unread[e.Key] = "login"
				}
			}
			if err := m.Confirm(context.Background(), claim, outcome); err != nil {
				t.Fatal(err)
			}
			at += 1000
		}
	}
}

func TestForget(t *testing.T) {
	for name, tt := range map[string]struct {
		f    memory.Forgetting
		want memory.Forgotten
		gone []string // texts that are in no file any more
		kept []string
	}{
		"an observation": {memory.Forgetting{Observations: []memory.ObservationID{2}}, memory.Forgotten{Observations: 1},
			[]string{"Narrative of anna-two", "said anna-two-t"}, []string{"prompt anna-two-p", "Narrative of anna-one", "Request anna-two", "said bert-two-t"}},
		"a session": {memory.Forgetting{Sessions: []memory.SessionID{1}}, memory.Forgotten{Sessions: 1, Prompts: 2, Observations: 2, Summaries: 2, Kept: 2},
			[]string{"prompt anna", "Narrative of anna", "Request anna", "said anna", "src/anna"}, []string{"Narrative of bert-one", "said bert-two-t"}},
		"a project": {memory.Forgetting{ProjectPath: "/home/dev/shop"}, memory.Forgotten{Sessions: 2, Prompts: 4, Observations: 4, Summaries: 4, Learnings: 4, Kept: 4},
			[]string{"prompt anna", "Narrative of bert", "said bert", "src/bert", "Learnt in anna", "/home/dev/shop"}, []string{"Narrative of carl-one", "Learnt in carl-one", "said carl-two-t"}},
		"a text": {memory.Forgetting{Text: "ANNA-two"}, memory.Forgotten{Prompts: 1, Observations: 1, Summaries: 1, Learnings: 1, Kept: 2},
			[]string{"Title anna-two", "prompt anna-two", "said anna-two", "Learnt in anna-two", "src/anna-two"}, []string{"Narrative of anna-one", "Learnt in anna-one"}},
		"a text that JSON quotes": {memory.Forgetting{Text: `anna-two-t"quoted"`}, memory.Forgotten{Kept: 1}, []string{"said anna-two-t"}, []string{"Narrative of anna-two"}},
		"a file":                  {memory.Forgetting{File: "src/bert-one.go"}, memory.Forgotten{Observations: 1, Summaries: 1}, []string{"Title bert-one", "src/bert-one.go"}, []string{"Title bert-two"}},
		"a folder of a project": {memory.Forgetting{File: "src", ProjectPath: "/home/dev/other"}, memory.Forgotten{Observations: 2, Summaries: 2},
			[]string{"Title carl-one", "src/carl-two.go"}, []string{"Title bert-two"}},
		"a time": {memory.Forgetting{Since: base + 11_000, Until: base + 20_500}, memory.Forgotten{Prompts: 2, Observations: 2, Summaries: 2, Kept: 2},
			[]string{"prompt bert-two", "Narrative of bert-two", "said bert-two", "Narrative of carl-one"}, []string{"Narrative of bert-one", "Narrative of carl-two", "said carl-two-t"}},
		"nothing": {memory.Forgetting{}, memory.Forgotten{}, nil, []string{"Narrative of anna-one"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.remember(t)
			would, err := m.WouldForget(t.Context(), tt.f)
			if err != nil {
				t.Fatal(err)
			}
			older := filepath.Join(t.TempDir(), "older.db")
			if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
				t.Fatal(err)
			}
			var noted care.Erasure
			did, err := m.Forget(t.Context(), tt.f, func(e *care.Erasure) error { noted = *e; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(would, did); diff != "" {
				t.Error("the look differs:", diff)
			}
			if diff := cmp.Diff(tt.want, did, cmpopts.IgnoreFields(memory.Forgotten{}, "Titles", "Projects", "Names", "Texts")); diff != "" {
				t.Error(diff)
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
			m.audited(t)
			if again, err := m.WouldForget(t.Context(), tt.f); err != nil || !again.Empty() {
				t.Errorf("%+v is left, %v", again, err)
			}
			mem, ids, err := care.Erased(t.Context(), m.path)
			if err != nil || did.Empty() != (len(ids) == 0) {
				t.Errorf("%d erasures, %v", len(ids), err)
			}
			if did.Empty() {
				return
			}
			if mem != noted.Memory || ids[0] != noted.ID {
				t.Errorf("erasure %s of memory %d, noted is %s of %d", ids[0], mem, noted.ID, noted.Memory)
			}
			m.erasesOlder(t, &noted, older, tt.gone, tt.kept)
		})
	}
}

// unnoted keeps no erasure.
func unnoted(*care.Erasure) error { return nil }

// erasesOlder checks that a noted erasure, which has none of the texts, erases from an older copy
// what was erased from the memory.
func (m *testStore) erasesOlder(t *testing.T, noted *care.Erasure, older string, gone, kept []string) {
	t.Helper()
	entry, err := json.Marshal(noted)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range gone {
		if strings.Contains(string(entry), text) {
			t.Errorf("the note has %q: %s", text, entry)
		}
	}
	var read care.Erasure
	if err := json.Unmarshal(entry, &read); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), older, store.Options{Clock: m.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Erase(t.Context(), &read)
	if err == nil {
		err = s.Scrub(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, ids, err := care.Erased(t.Context(), older); err != nil || len(ids) != 1 || ids[0] != read.ID {
		t.Errorf("the copy has the erasures %v, %v", ids, err)
	}
	copied := &testStore{Store: s, path: older, clock: m.clock}
	for text, want := range texts(gone, kept) {
		if copied.holds(t, text) != want {
			t.Errorf("%q in the older copy: %v", text, !want)
		}
	}
	copied.audited(t)
}

// texts has false for each text of gone and true for each of kept.
func texts(gone, kept []string) map[string]bool {
	all := map[string]bool{}
	for _, text := range gone {
		all[text] = false
	}
	for _, text := range kept {
		all[text] = true
	}
	return all
}

// TestForgetQuote: a text that ends in a quotation mark selects only what has that mark.
func TestForgetQuote(t *testing.T) {
	m := newMemory(t)
	for _, fact := range []string{"it ends with an error\there", `it ends with an error" here`} {
		if _, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/home/dev/shop", Title: fact[:12] + fact[len(fact)-6:], Facts: []string{fact}}); err != nil {
			t.Fatal(err)
		}
	}
	would, err := m.WouldForget(t.Context(), memory.Forgetting{Text: `error"`})
	if err != nil || would.Observations != 1 {
		t.Errorf("%+v, %v", would, err)
	}
}

// TestForgetSaid checks that no hash of a forgotten observation's sentences stays, and those
// of others do.
func TestForgetSaid(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	for at, said := range []map[memory.ObservationID][]uint32{{1: {4242424241}, 2: {4242424242, 7}}, {1: {4242424241}}, {3: {4242424243}}, nil} {
		err := m.RecordInjection(t.Context(), memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "reader", Where: "UserPromptSubmit", Said: said, At: base + memory.Millis(at)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Forget(t.Context(), memory.Forgetting{Observations: []memory.ObservationID{1}}, unnoted); err != nil {
		t.Fatal(err)
	}
	if err := m.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown, err := m.Shown(t.Context(), memory.HostClaudeCode, "reader")
	if diff := cmp.Diff(map[memory.ObservationID][]uint32{2: {4242424242, 7}, 3: {4242424243}}, shown.Said); err != nil || diff != "" {
		t.Error(diff, err)
	}
	if m.holds(t, "4242424241") || !m.holds(t, "4242424242") {
		t.Error("the files have the wrong hashes")
	}
}

// TestForgottenStaysAway: events that were forgotten, or that an import brings later of a
// session, project or time that was, are refused; those from after it are taken.
func TestForgottenStaysAway(t *testing.T) {
	for name, tt := range map[string]struct {
		f    memory.Forgetting
		want string // status and reason of events of anna, bert and carl that were never seen
	}{
		"an observation":      {memory.Forgetting{Observations: []memory.ObservationID{2}}, "pending pending pending"},
		"a session":           {memory.Forgetting{Sessions: []memory.SessionID{1}}, "forgotten pending pending"},
		"a project":           {memory.Forgetting{ProjectPath: "/home/dev/shop"}, "forgotten forgotten pending"},
		"a time":              {memory.Forgetting{Since: base + 10_000, Until: base + 30_000}, "pending forgotten forgotten"},
		"a time of a project": {memory.Forgetting{ProjectPath: "/home/dev/shop", Since: base + 10_000}, "pending forgotten pending"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.remember(t)
			m.clock.at = base + 50_000
			if _, err := m.Forget(t.Context(), tt.f, unnoted); err != nil {
				t.Fatal(err)
			}
			other := func(a *memory.Arrival) { a.Event.ProjectPath = "/home/dev/other" }
			got := ""
			for _, r := range m.enqueue(t, event(memory.KindTool, "anna", "new1", 500), event(memory.KindTool, "bert", "new2", 11_500), event(memory.KindTool, "carl", "new3", 21_500, other)) {
				if got += " "; r.Status == memory.StatusSkipped {
					got += r.Reason
				} else {
					got += string(r.Status)
				}
			}
			if got = got[1:]; got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if r := m.enqueue(t, event(memory.KindTool, "anna", "later", 60_000))[0]; r.Status != memory.StatusPending {
				t.Errorf("an event of later is %s", r.Status)
			}
			m.audited(t)
		})
	}
	// The events that were there are known, and do not bring their session back.
	m := newMemory(t)
	m.remember(t)
	if _, err := m.Forget(t.Context(), memory.Forgetting{Sessions: []memory.SessionID{1}}, unnoted); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.enqueue(t, event(memory.KindPrompt, "anna", "anna-one-p", 1), event(memory.KindTool, "anna", "anna-one-t", 2)) {
		if r.Status != memory.StatusSkipped {
			t.Errorf("a forgotten event is %s", r.Status)
		}
	}
	if _, err := m.Session(t.Context(), 1); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the session is back, %v", err)
	}
}

// TestForgottenImports: what was forgotten is not imported again; a person may write it
// down again.
func TestForgottenImports(t *testing.T) {
	m := newMemory(t)
	note := memory.NewObservation{ProjectPath: "/home/dev/shop", Title: "Cents only", Origin: memory.OriginImport}
	o, err := m.AddObservation(t.Context(), note)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Forget(t.Context(), memory.Forgetting{Observations: []memory.ObservationID{o.ID}}, unnoted); err != nil {
		t.Fatal(err)
	}
	_, err = m.AddObservation(t.Context(), note)
	wantCode(t, err, memory.CodeConflict)
	note.Origin = memory.OriginUser
	if _, err := m.AddObservation(t.Context(), note); err != nil {
		t.Error(err)
	}
}
