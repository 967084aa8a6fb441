package moments_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/find/recall/moments"
	"claudemem/internal/find/trial"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// TestUtility plays 30 sessions on the labelled memory, with lots: in each the failure of a labelled case is seen again, of
// which one record tells the cure and a planted, newer one tells nothing of use; and a file is read that is edited in any
// case. The cure is run more often when its line was given. Then the cure comes before the noise, the noise says that it is
// hardly used, and the line at the file gains nothing.
func TestUtility(t *testing.T) {
	const noise, anyway = "noise", "anyway"
	m := openLabelled(t,
		memory.NewObservation{ProjectPath: harbor, Type: memory.TypeBugfix, Title: "Fix: TestBurstIsTheCeiling was flaky on the runner", Origin: memory.OriginImport, CreatedAt: memory.MillisOf(march.Add(-time.Hour)),
			Facts: []string{"Failed before: TestBurstIsTheCeiling: bucket_test.go:44: allowed 9 after an idle hour, want the burst of 3", "The runner is slow on Mondays"}},
		memory.NewObservation{ProjectPath: harbor, Type: memory.TypeBugfix, Title: "Fix: jobs/settle.go settled paid invoices twice", Origin: memory.OriginImport, CreatedAt: memory.MillisOf(march.Add(-time.Hour)),
			Facts: []string{"jobs/settle.go: changed Settle"}, Files: []memory.FileRef{{Path: "jobs/settle.go", Role: memory.FileModified}}})
	listed, err := m.Observations(t.Context(), memory.Query{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range listed {
		switch o.Title {
		case "Fix: TestBurstIsTheCeiling was flaky on the runner":
			m.keys[o.ID] = noise
		case "Fix: jobs/settle.go settled paid invoices twice":
			m.keys[o.ID] = anyway
		}
	}
	of := map[string]memory.ObservationID{}
	for id, key := range m.keys {
		of[key] = id
	}
	lots := memory.Trial{ID: 1, Moments: 50, Secret: []byte("utility")}
	now := march
	r := moments.New(m.Store, moments.Options{Finder: m.finder, History: m.Store, Relative: repo.Relative, Clock: func() time.Time { return now },
		Trial: func(context.Context, memory.Host, string) (memory.Trial, error) { return lots, nil }})
	tool := func(session, name, tool, input, failure string) memory.Event {
		return memory.Event{Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: session, ToolUseID: session + name, ToolName: tool, ToolInput: json.RawMessage(input), ToolError: failure,
			ProjectPath: harbor, WorktreeRoot: harbor, Cwd: harbor}
	}
	failing := func(session string) memory.Event {
		return tool(session, "fails", "Bash", `{"command":"make test"}`, "Exit code 1\n=== RUN   TestBurstIsTheCeiling\n    bucket_test.go:44: allowed 9 after an idle hour, want the burst of 3\n--- FAIL: TestBurstIsTheCeiling (0.00s)\nFAIL")
	}
	reading := func(session string) memory.Event {
		return tool(session, "reads", "Read", `{"file_path":"`+harbor+`/jobs/settle.go"}`, "")
	}
	// told asks at an event, books the answer, and returns the keys of its records and whether they were given.
	told := func(e memory.Event) (keys []string, given bool) {
		t.Helper()
		c, err := r.Recall(t.Context(), e, 0)
		if err != nil || len(c.Injection.Observations) == 0 {
			t.Fatalf("nothing is recalled: %+v, %v", c, err)
		}
		if err := m.RecordInjection(t.Context(), c.Injection.Complete()); err != nil {
			t.Fatal(err)
		}
		for _, id := range c.Injection.Observations {
			keys = append(keys, m.keys[id])
		}
		return keys, c.Text != ""
	}
	weigh := func() map[memory.ObservationID]memory.Verdict {
		t.Helper()
		list, _, err := m.Given(t.Context(), accounts.GivenQuery{Held: true})
		if err != nil {
			t.Fatal(err)
		}
		worth := trial.Worth{}
		for i := range list {
			worth.Add(&list[i])
		}
		verdicts := worth.Verdicts()
		if err := m.SetWorth(t.Context(), verdicts); err != nil {
			t.Fatal(err)
		}
		return verdicts
	}
	chance := rand.New(rand.NewPCG(5, 6))
	first, _ := told(failing("before"))
	if slices.Index(first, noise) > slices.Index(first, "burst") || !slices.Contains(first, noise) || !slices.Contains(first, "burst") {
		t.Fatalf("before, the failure brings %v, want the newer noise ahead of the cure", first)
	}
	var verdicts map[memory.ObservationID]memory.Verdict
	helped := 0
	for i := range 30 {
		now = march.Add(time.Duration(i+1) * time.Hour)
		session := fmt.Sprint("session ", i)
		receipts, err := m.Enqueue(t.Context(), memory.Arrival{Key: session, ReceivedAt: memory.MillisOf(now), Event: memory.Event{Kind: memory.KindPrompt, Host: memory.HostClaudeCode,
			HostSessionID: session, DeliveryID: session, Prompt: "go on", ProjectPath: harbor, OccurredAt: memory.MillisOf(now)}})
		if err != nil {
			t.Fatal(err)
		}
		keys, given := told(failing(session))
		told(reading(session))
		did := func(n int, call memory.Event, files ...memory.FileRef) {
			t.Helper()
			call.DeliveryID, call.OccurredAt = fmt.Sprint(session, " ", n), memory.MillisOf(now.Add(time.Duration(n)*time.Minute))
			if _, err := m.Enqueue(t.Context(), memory.Arrival{Key: call.DeliveryID, ReceivedAt: call.OccurredAt, Event: call, Files: files}); err != nil {
				t.Fatal(err)
			}
		}
		did(1, tool(session, "edits", "Edit", `{"file_path":"`+harbor+`/jobs/settle.go","old_string":"a","new_string":"b"}`, ""), memory.FileRef{Path: "jobs/settle.go", Role: memory.FileModified})
		cure := .15
		if given && slices.Contains(keys, "burst") {
			cure = .9
		}
		if chance.Float64() < cure {
			check := tool(session, "checks", "Bash", `{"command":"go test ./limiter"}`, "")
			check.ToolResponse = json.RawMessage(`{"stdout":"ok  \texample.com/harbor/limiter\t0.1s"}`)
			did(2, check)
			helped++
		}
		claim, err := m.Claim(t.Context(), session, receipts[0].Session, 10, memory.MillisOf(now.Add(time.Hour)))
		if err == nil {
			err = m.Confirm(t.Context(), claim, memory.Outcome{})
		}
		if err != nil {
			t.Fatal(err)
		}
		verdicts = weigh()
	}
	t.Logf("the cure was run in %d of 30 sessions: it goes %+d places, the noise %+d, the file that is touched anyway %+d", helped, verdicts[of["burst"]], verdicts[of[noise]], verdicts[of[anyway]])
	if verdicts[of["burst"]] < 2 || verdicts[of[noise]] >= 0 || verdicts[of[anyway]] != 0 {
		t.Error("the cure does not rise, the noise does not fall, or a file that is touched anyway gains")
	}
	now = now.Add(time.Hour)
	if after, _ := told(failing("after")); slices.Index(after, noise) < slices.Index(after, "burst") {
		t.Errorf("after, the failure brings %v, want the cure first", after)
	}
	list, _, err := m.Given(t.Context(), accounts.GivenQuery{Held: true, Limit: 1})
	if err != nil || !slices.ContainsFunc(list[0].Lines, func(l accounts.GivenLine) bool {
		return l.ID == int64(of[noise]) && slices.Contains(l.Fate(), "given often and hardly used")
	}) {
		t.Errorf("the list does not say of the noise that it is hardly used: %+v, %v", list, err)
	}
}
