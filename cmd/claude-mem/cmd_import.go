package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"claudemem"
	"claudemem/daemon"
	"claudemem/text"

	"github.com/spf13/cobra"
)

// importCommand returns the command `claude-mem import`: store the records of an export.
func (a *app) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import FILE|-",
		Short:   "Import the records of an export; what is here stays",
		GroupID: groupRun,
		Long: `Import what ` + "`claude-mem export`" + ` has written, from FILE or standard input, into this memory.
Records that are here already are left as they are, so an import can be repeated, and one
that was interrupted goes on where it was. What you have forgotten does not come back, and
what was forgotten in the other memory stays away, too. Records of projects that the settings
exclude are left out. Nothing is deleted.

Private text and secrets are taken out, as from everything that is captured. Import only
files that you trust all the same: records say themselves where they come from. A line that
cannot be imported is reported with its number, and the others are imported; then the exit
code is 2. A running worker does it and goes on capturing; without one, this command does.

JSON: {"added": {"sessions", "prompts", "observations", "summaries", "learnings", "symbols",
"tombstones"}, "present", "differs", "forgotten", "excluded", "refused", "problems": [{"line",
"message"}], "complete"}: "present" are here already, "differs" too, but were changed in one of
the memories; "excluded" are of projects in which nothing is captured.`,
		Example: "  claude-mem import memory.jsonl\n  gunzip -c memory.jsonl.gz | claude-mem import -",
		Args:    args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = fileNames
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, given []string) error {
		from := a.stdin
		if given[0] != "-" {
			file, err := os.Open(given[0])
			if err != nil {
				return notOpened(given[0], err)
			}
			defer func() { _ = file.Close() }() // it was only read
			from = file
		}
		return a.importFrom(cmd, dataDir, from, *asJSON)
	})
	return cmd
}

// notOpened returns the error of a file that cannot be opened: CodeNotFound or CodeStorage.
func notOpened(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return claudemem.Errorf(claudemem.CodeNotFound, "there is no file %q", oneLine(path, 200)).WithHint("`claude-mem export FILE` writes one")
	}
	return claudemem.Errorf(claudemem.CodeStorage, "open %q: %w", oneLine(path, 200), errors.Unwrap(err))
}

// importFrom imports an export and shows what was done, also before an error.
func (a *app) importFrom(cmd *cobra.Command, dataDir string, from io.Reader, asJSON bool) error {
	report, end := a.progress("Importing")
	done, err := daemon.Import(cmd.Context(), dataDir, from, report)
	end()
	if err != nil {
		if done.Added.Total() > 0 {
			a.note("imported before the error: %s", recordCounts(done.Added))
		}
		return err
	}
	done.Problems = notNil(done.Problems)
	if err := a.show(asJSON, done, func(p *printer) {
		p.printf("Imported: %s\n", recordCounts(done.Added))
		if rest := joined(", ", textIf(done.Present > 0, fmt.Sprintf("%d here already", done.Present)),
			textIf(done.Differs > 0, fmt.Sprintf("%d here and changed since, left as they are", done.Differs)),
			textIf(done.Forgotten > 0, fmt.Sprintf("%d forgotten here", done.Forgotten)),
			textIf(done.Excluded > 0, fmt.Sprintf("%d of excluded projects", done.Excluded))); rest != "" {
			p.printf("Not imported: %s\n", rest)
		}
	}); err != nil {
		return err
	}
	for _, problem := range done.Problems {
		a.note("line %d: %s", problem.Line, oneLine(problem.Message, 300))
	}
	if more := done.Refused - len(done.Problems); more > 0 {
		a.note("%s more cannot be imported", text.Count(more, "line"))
	}
	if !done.Complete {
		a.note("The file is not complete: its end is missing. Copy or export it again, and import it again.")
	}
	if done.Refused > 0 || !done.Complete {
		return quietly(claudemem.CodeInvalid)
	}
	return nil
}
