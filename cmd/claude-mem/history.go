package main

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/text"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/move/transcript"
)

// foundHistory is what was remembered or recorded before, can be imported and was not.
type foundHistory struct {
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

// findHistory looks for history that was not imported into a data directory.
func (a *app) findHistory(ctx context.Context, dataDir string) (h foundHistory) {
	if path, n := nodedb.Found(ctx, dataDir); n > 0 {
		h.Node = &nodeHistory{path, n}
	}
	if path, n := a.transcriptsFound(dataDir); n > 0 {
		h.Transcripts = &transcriptHistory{path, n}
	}
	return h
}

const (
	// transcriptDays is how long Claude Code keeps transcripts unless it is told otherwise.
	transcriptDays = 30
	// countedFiles bounds the files that are looked at to count sessions.
	countedFiles = 10_000
)

// transcriptsFound returns the directory of Claude Code's transcripts, and how many sessions
// of the last 30 days are there, 0 if transcripts were imported into a data directory.
func (a *app) transcriptsFound(dataDir string) (dir string, sessions int) {
	config, _ := claudedir.Config(a.getenv, a.home())
	if config == "" || transcript.Imported(dataDir) {
		return "", 0
	}
	dir = filepath.Join(config, "projects")
	return dir, transcript.Count(dir, a.now().AddDate(0, 0, -transcriptDays), countedFiles)
}

// nodeFound says that there is a database of claude-mem for Node, and the command that imports it.
func nodeFound(path string, observations int) string {
	return text.GroupedCount(observations, "observation") + " of claude-mem for Node found; to import them: claude-mem import " + shellWord(runtime.GOOS, path)
}

// transcriptsNote says that there are transcripts, and the command that imports them.
func transcriptsNote(t *transcriptHistory) string {
	return text.GroupedCount(t.Sessions, "Claude Code session") + " of the last 30 days found; to import them, with no model: claude-mem import " + shellWord(runtime.GOOS, t.Path)
}

// noteHistory says what history can be imported.
func (a *app) noteHistory(ctx context.Context) {
	dataDir, err := a.dataDir()
	if err != nil {
		return // the command has reported it
	}
	h := a.findHistory(ctx, dataDir)
	if h.Node != nil {
		a.note("%s", nodeFound(h.Node.Path, h.Node.Observations))
	}
	if h.Transcripts != nil {
		a.note("%s", transcriptsNote(h.Transcripts))
	}
}

// offerHistory says what history can be imported and asks a person at a terminal whether to
// import it now, so that the memory is full on the first day.
func (a *app) offerHistory(ctx context.Context, o *installOptions) error {
	if o.yes || o.dry || !isTerminal(a.stdin) {
		a.noteHistory(ctx)
		return nil
	}
	h := a.findHistory(ctx, o.dataDir)
	if h.Node != nil {
		a.note("\n%s", nodeFound(h.Node.Path, h.Node.Observations))
		if err := a.importIf("Import them now?", func() error { return a.importNode(ctx, o.dataDir, h.Node.Path, false, false) }); err != nil {
			return err
		}
	}
	if h.Transcripts == nil {
		return nil
	}
	a.note("\n%s", transcriptsNote(h.Transcripts))
	return a.importIf("Import them now, all projects, with no model?", func() error {
		return a.importTranscripts(ctx, o.dataDir, h.Transcripts.Path, &transcriptFlags{times: &timeFlags{}})
	})
}

// importIf runs an import if the answer to the question is yes. Rows or files that cannot be
// imported were reported, and are no error of the command that offers the import.
func (a *app) importIf(question string, run func() error) error {
	yes, err := a.confirm(question)
	if err != nil || !yes {
		return err
	}
	if err = run(); errors.As(err, new(*quietExit)) {
		return nil
	}
	return err
}
