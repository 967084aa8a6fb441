package store_test

import (
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// TestHeldBack: what was held back is in no list of what was given, unless it is asked for, with what became of it; it
// counts as shown.
func TestHeldBack(t *testing.T) {
	m := newMemory(t)
	m.remember(t) // #1 #2 of anna (S1), #3 #4 of bert (S2), #5 #6 of carl (S3)
	give := func(at memory.Millis, where, source string, arm memory.Arm, held int, ids ...memory.ObservationID) {
		t.Helper()
		in := memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "bert", ProjectPath: "/home/dev/shop", Where: where, Source: source,
			Arm: arm, Held: held, Observations: ids, Tokens: 20, At: base + at}
		for _, id := range ids {
			in.Lines = append(in.Lines, memory.ContextLine{Layer: source, Text: "- line", Observation: id, Session: 1, Tokens: 7})
		}
		if arm == memory.ArmHeld {
			in.Tokens = 0
		}
		m.record(t, in)
		m.record(t, in) // told twice
	}
	give(10_500, "SessionStart", "startup", "", 0, 1)
	give(10_501, "UserPromptSubmit", "prompt", memory.ArmMemory, 30, 1)
	give(10_502, "PostToolUse", "file", memory.ArmHeld, 30, 4, 2)
	m.lookUp(t, base+10_600, 2, read{[]memory.ObservationID{1}})
	m.lookUp(t, base+10_600+memory.Millis(2*day.Milliseconds()), 2, read{[]memory.ObservationID{2}}) // too late for a use
	paths, err := db.Column[string](t.Context(), m.Reader, "SELECT path FROM observation_files WHERE observation_id = 4")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for i := range 5 {
		m.enqueue(t, event(memory.KindTool, "bert", "later"+string(rune('a'+i)), 10_503+memory.Millis(i), func(e *memory.Arrival) {
			e.Files = []memory.FileRef{{Path: paths[0], Role: memory.FileModified}}
		}))
	}
	if err := m.Confirm(t.Context(), m.claim(t, 2, 10), memory.Outcome{}); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindPrompt, "bert", "next", 10_506)) // the turn ends
	if list := m.given(t, accounts.GivenQuery{}); len(list) != 2 {
		t.Errorf("%d texts are listed as given, want 2", len(list))
	}
	if r := m.receipt(t, 2); len(r.Given) != 2 || r.Cost.TokensGiven != 40 {
		t.Errorf("the receipt has %d texts of %d tokens, want 2 of 40", len(r.Given), r.Cost.TokensGiven)
	}
	if sum, err := m.ReceiptTotals(t.Context(), 0); err != nil || len(sum.Given) != 2 || sum.ObservationsGiven != 1 {
		t.Errorf("the receipts have %+v, %v", sum.Given, err)
	}
	if shown, err := m.Shown(t.Context(), memory.HostClaudeCode, "bert"); err != nil || len(shown.Observations) != 4 {
		t.Errorf("shown are %v, %v: what is held back counts", shown.Observations, err)
	}
	if list := m.given(t, accounts.GivenQuery{Held: true}); len(list) != 3 {
		t.Errorf("%d texts with those held back, want 3", len(list))
	}
	drawn := m.given(t, accounts.GivenQuery{Held: true, Drawn: true})
	if len(drawn) != 2 || drawn[0].Arm != memory.ArmHeld || drawn[0].Held != 30 || drawn[0].Calls != 3 || drawn[1].Arm != memory.ArmMemory || drawn[1].Calls != 3 {
		t.Fatalf("drawn are %+v", drawn)
	}
	if l := drawn[0].Lines; !*l[0].Touched || *l[0].Opened || *l[1].Opened || !*drawn[1].Lines[0].Opened {
		t.Errorf("the fates are %+v, %+v", l, drawn[1].Lines)
	}
}

// TestWorthOfRecords: the verdicts of use are stored whole, and a person's thumb outranks them.
func TestWorthOfRecords(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	ref := func(id int64) memory.RecordRef { return memory.RecordRef{Kind: memory.RecordObservation, ID: id} }
	set := func(verdicts map[memory.ObservationID]memory.Verdict) memory.Judged {
		t.Helper()
		if err := m.SetWorth(t.Context(), verdicts); err != nil {
			t.Fatal(err)
		}
		judged, err := m.Judged(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return judged
	}
	if _, err := m.EditObservation(t.Context(), 5, memory.ObservationEdit{Pinned: new(true)}); err != nil {
		t.Fatal(err)
	}
	m.lookUp(t, base+10_600, 2, read{[]memory.ObservationID{3}})
	all := map[memory.ObservationID]memory.Verdict{1: 2, 3: memory.Retired, 4: memory.Retired, 5: memory.Retired, 99: 1}
	judged := set(all)
	if len(judged) != 3 || judged[ref(1)][memory.JudgeUse] != 2 || judged[ref(3)][memory.JudgeUse] != -1 || !judged.Silenced(ref(4)) || judged.Silenced(ref(3)) {
		t.Errorf("judged: %+v", judged)
	}
	if err := m.Judge(t.Context(), memory.Judgement{RecordRef: ref(4), By: memory.OriginUser, Verdict: memory.Up}); err != nil {
		t.Fatal(err)
	}
	if judged = set(all); judged.Silenced(ref(4)) {
		t.Errorf("a person's thumb does not bring it back: %+v", judged)
	}
	if _, err := m.HideObservation(t.Context(), 1, true); err != nil {
		t.Fatal(err)
	}
	if judged = set(nil); len(judged) != 1 {
		t.Errorf("judged: %+v", judged)
	}
}

// TestPlaceStates: a place has one state, of which a new trial knows nothing.
func TestPlaceStates(t *testing.T) {
	m := newMemory(t)
	begin := func() {
		t.Helper()
		if _, err := m.BeginTrial(t.Context(), memory.Trial{Moments: 30}); err != nil {
			t.Fatal(err)
		}
	}
	states := func() map[string]memory.Millis {
		t.Helper()
		trial, err := m.TrialOf(t.Context(), memory.HostClaudeCode, "s")
		if err != nil || trial.Moments != 30 {
			t.Fatalf("%+v, %v", trial, err)
		}
		return trial.Places
	}
	begin()
	for _, state := range []string{memory.PlaceOff, memory.PlaceOn, memory.PlaceKept, memory.PlaceOff} {
		for _, project := range []string{"", "/p"} {
			if err := m.SetPlace(t.Context(), state, "file", project); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := states(); len(got) != 2 || got["off:file:"] != base || got["off:file:/p"] != base {
		t.Errorf("got %v", got)
	}
	if err := m.EndTrial(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := states(); len(got) != 2 {
		t.Errorf("an ended trial has %v", got)
	}
	begin()
	if got := states(); len(got) != 0 {
		t.Errorf("a new trial has %v", got)
	}
}
