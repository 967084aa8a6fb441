package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// pastTurn returns the events of a turn of a transcript.
func pastTurn(session string, turn int) []memory.Event {
	at := memory.Millis(1_767_600_000_000 + 60_000*turn)
	e := func(kind memory.EventKind, n memory.Millis) memory.Event {
		return memory.Event{
			DeliveryID: fmt.Sprintf("%s-%d-%d", session, turn, n), Kind: kind, Host: memory.HostClaudeCode, HostSessionID: session, PromptID: fmt.Sprint("p", turn),
			OccurredAt: at + n, ProjectPath: "/gone", WorktreeRoot: "/gone", Cwd: "/gone", Backfill: memory.BackfillOffline,
		}
	}
	prompt, tool, stop := e(memory.KindPrompt, 0), e(memory.KindTool, 1), e(memory.KindStop, 2)
	prompt.Prompt = "Fix the cart"
	tool.ToolName, tool.ToolUseID = "Edit", fmt.Sprint("t", turn)
	tool.ToolInput = json.RawMessage(fmt.Sprintf(`{"file_path":"/gone/cart%d.go","old_string":"1","new_string":"0"}`, turn))
	tool.ToolResponse = json.RawMessage(fmt.Sprintf(`{"filePath":"/gone/cart%d.go"}`, turn))
	stop.LastAssistantMessage = fmt.Sprintf("The cart counted row %d twice because its index began at 1.", turn)
	return []memory.Event{prompt, tool, stop}
}

// backfill takes in the turns of a session.
func backfill(t *testing.T, b *Backfiller, session string, from, to int) {
	t.Helper()
	for turn := from; turn < to; turn++ {
		for _, e := range pastTurn(session, turn) {
			if err := b.Add(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestBackfillerChangesWorkers: events of transcripts are taken in once, by whichever worker
// there is: the one that runs, and this process when that has gone.
func TestBackfillerChangesWorkers(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir)
	w, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBackfill(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	backfill(t, b, "s", 0, 3)
	if b.worker != nil {
		t.Error("a second worker runs")
	}
	if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	backfill(t, b, "s", 2, 5)
	if b.worker == nil {
		t.Error("no worker runs")
	} else {
		b.worker.Shutdown() // as for a newer one
	}
	backfill(t, b, "s", 4, 6)
	if err := b.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := (Backfilled{6, 6, 6}); b.Added != want || b.Present != (Backfilled{2, 2, 2}) {
		t.Errorf("%+v added, %+v present", b.Added, b.Present)
	}
	session, err := b.worker.store.SessionByHost(t.Context(), memory.HostClaudeCode, "s")
	if err != nil || session.Status != memory.SessionCompleted || session.PromptCount != 6 || session.ProjectPath != "/gone" {
		t.Errorf("%+v, %v", session, err)
	}
	list, err := b.worker.store.Observations(t.Context(), memory.Query{Session: session.ID})
	if err != nil || len(list) != 6 {
		t.Errorf("%d observations: %v", len(list), err)
	}
	for _, o := range list {
		if o.Origin != memory.OriginOffline || o.CreatedAt > 1_767_700_000_000 || len(o.Files) != 1 || o.Files[0].Hash != "" {
			t.Errorf("%+v", o)
		}
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestForeseeBackfill: what would be taken in is counted, and nothing is, whether there is a
// memory or not.
func TestForeseeBackfill(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir)
	foresee := func(want, present Backfilled) {
		t.Helper()
		b, err := ForeseeBackfill(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		backfill(t, b, "s", 0, 2)
		if err := b.Close(t.Context()); err != nil || b.Added != want || b.Present != present {
			t.Errorf("%+v added, %+v present, %v", b.Added, b.Present, err)
		}
	}
	foresee(Backfilled{2, 2, 2}, Backfilled{})
	b, err := OpenBackfill(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	backfill(t, b, "s", 0, 1)
	foresee(Backfilled{1, 1, 1}, Backfilled{1, 1, 1})
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	foresee(Backfilled{1, 1, 1}, Backfilled{1, 1, 1})
}

// TestBackfillMarks: what is sent as an event of a transcript is one, marked or not.
func TestBackfillMarks(t *testing.T) {
	w, err := Open(t.Context(), config(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	events := pastTurn("s", 0)
	for i := range events {
		events[i].Backfill = ""
	}
	answer, err := w.Backfill(t.Context(), api.BackfillRequest{Events: events})
	if err != nil || len(answer.Statuses) != 3 {
		t.Errorf("%+v, %v", answer, err)
	}
	session, err := w.store.SessionByHost(t.Context(), memory.HostClaudeCode, "s")
	if err != nil || session.Status != memory.SessionCompleted {
		t.Errorf("%+v, %v", session, err)
	}
	if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}
