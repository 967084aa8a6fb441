package cli

import (
	"context"
	"path/filepath"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/move/transcript"
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
	return text.Count(n, "event") + print.Or(n == 1, " is", " are")
}

// FoundHistory is what was remembered or recorded before, can be imported and was not.
type FoundHistory struct {
	Node        *nodeHistory       `json:"node,omitempty"`
	Transcripts *transcriptHistory `json:"transcripts,omitempty"`
}

// nodeHistory is the database of claude-mem for Node.
type nodeHistory struct {
	Path         string `json:"path"`
	Observations int    `json:"observations"`
}

// transcriptHistory is the directory of Claude Code's transcripts. Sessions are those of the
// last 30 days.
type transcriptHistory struct {
	Path     string `json:"path"`
	Sessions int    `json:"sessions"`
}

const (
	// transcriptDays is how long Claude Code keeps transcripts unless it is told otherwise.
	transcriptDays = 30
	// countedFiles bounds the files that are looked at to count sessions.
	countedFiles = 10_000
)

// FindHistory looks for history that was not imported into a data directory.
func (a *App) FindHistory(ctx context.Context, dataDir string) (h FoundHistory) {
	if path, n := nodedb.Found(ctx, dataDir); n > 0 {
		h.Node = &nodeHistory{path, n}
	}
	config, _ := claudedir.Config(a.Getenv, a.Home())
	if config == "" || transcript.Imported(dataDir) {
		return h
	}
	dir := filepath.Join(config, "projects")
	if n := transcript.Count(dir, a.Now().AddDate(0, 0, -transcriptDays), countedFiles); n > 0 {
		h.Transcripts = &transcriptHistory{dir, n}
	}
	return h
}

// NodeFound says that there is a database of claude-mem for Node, and the command that imports it.
func NodeFound(path string, observations int) string {
	return text.GroupedCount(observations, "observation") + " of claude-mem for Node found; to import them: claude-mem import " + ShellWord(path)
}

// TranscriptsNote says that there are transcripts, and the command that imports them.
func TranscriptsNote(t *transcriptHistory) string {
	return text.GroupedCount(t.Sessions, "Claude Code session") + " of the last 30 days found; to import them, with no model: claude-mem import " + ShellWord(t.Path)
}

// NoteHistory says what history can be imported.
func (a *App) NoteHistory(ctx context.Context) {
	dataDir, err := a.DataDir()
	if err != nil {
		return // the command has reported it
	}
	h := a.FindHistory(ctx, dataDir)
	if h.Node != nil {
		a.Note("%s", NodeFound(h.Node.Path, h.Node.Observations))
	}
	if h.Transcripts != nil {
		a.Note("%s", TranscriptsNote(h.Transcripts))
	}
}
