package setup

import (
	"context"
	"errors"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/transfer"
)

// offerHistory says what history can be imported and asks a person at a terminal whether to
// import it now, so that the memory is full on the first day.
func (a *Verbs) offerHistory(ctx context.Context, o *installOptions) error {
	if o.yes || o.dry || !print.IsTerminal(a.Stdin) {
		a.NoteHistory(ctx)
		return nil
	}
	h := a.FindHistory(ctx, o.dataDir)
	if h.Node != nil {
		a.Note("\n%s", cli.NodeFound(h.Node.Path, h.Node.Observations))
		if err := a.importIf("Import them now?", func() error { return a.transfers().ImportNode(ctx, o.dataDir, h.Node.Path, false) }); err != nil {
			return err
		}
	}
	if h.Transcripts == nil {
		return nil
	}
	a.Note("\n%s", cli.TranscriptsNote(h.Transcripts))
	return a.importIf("Import them now, all projects, with no model?", func() error {
		return a.transfers().ImportTranscripts(ctx, o.dataDir, h.Transcripts.Path, &transfer.TranscriptFlags{Times: &cli.Times{}})
	})
}

// importIf runs an import if the answer to the question is yes. Rows or files that cannot be
// imported were reported, and are no error of the command that offers the import.
func (a *Verbs) importIf(question string, run func() error) error {
	yes, err := a.Confirm(question)
	if err != nil || !yes {
		return err
	}
	if err = run(); errors.As(err, new(*cli.QuietExit)) {
		return nil
	}
	return err
}
