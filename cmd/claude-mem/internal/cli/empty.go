package cli

import (
	"context"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// EmptyMemory turns the error that there is no memory yet into the empty answer
// of a list; other errors are returned.
func (a *App) EmptyMemory(err error, empty any) error {
	if memory.CodeOf(err) != memory.CodeNoMemory {
		return err
	}
	if a.JSON {
		return print.JSON(a.Stdout, empty)
	}
	a.Note("Nothing is remembered yet: no session has been captured.\n" +
		"The agent's hooks capture sessions; `claude-mem demo` shows an example.")
	a.NoteHistory(context.Background())
	return nil
}

// NothingRemembered explains an empty list, and names where records are.
func (a *App) NothingRemembered(ctx context.Context, m api.Memory, project string) error {
	stats, err := m.Stats(ctx, api.StatsRequest{Brief: true})
	if err != nil {
		return err
	}
	totals, waits := stats.Totals, stats.Queue.Pending+stats.Queue.Processing
	switch {
	case project != "" && totals.Observations > 0:
		a.Note("No observations of %s yet. `--all` shows %s of other projects.", print.Line(project, 0), text.Count(totals.Observations, "observation"))
	case waits > 0:
		a.Note("Nothing is remembered yet: %s waiting to be distilled.", waiting(waits))
	default:
		a.Note("Nothing is remembered yet. Each turn is distilled; turns of routine reading make no records.")
	}
	a.NoteHistory(ctx)
	return nil
}

// waiting returns "1 event is" or "3 events are".
func waiting(n int) string {
	if n == 1 {
		return "1 event is"
	}
	return text.Count(n, "event") + " are"
}
