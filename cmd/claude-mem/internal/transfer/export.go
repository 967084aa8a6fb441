package transfer

import (
	"context"
	"path/filepath"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// exportJSON is what `claude-mem export --json` prints.
type exportJSON struct {
	Path string `json:"path"`
	daemon.Exported
}

// ExportCommand returns the command `claude-mem export`: write the records into a file.
func (a *Verbs) ExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [FILE|-]",
		Short: "Write the records into a file that another memory can import",
		Long: `Write sessions, prompts, observations, summaries, learnings and symbol changes as JSON
Lines, into FILE or to standard output, as they are at one moment. The worker goes on.
docs/export.md describes the format; ` + "`claude-mem import`" + ` reads it.

Without filters the file also has what was forgotten, as hashes, so that it stays away from
the memory that imports it. Events, the cost ledger and what sessions were shown stay here;
` + "`claude-mem backup`" + ` copies everything.

JSON: with a FILE, {"path", "records": {"sessions", "prompts", "observations", "summaries",
"learnings", "symbols", "tombstones"}, "withheld"}: records that are left out because the
disk has damaged them.`,
		Example: "  claude-mem export memory.jsonl\n  claude-mem export | gzip > memory.jsonl.gz\n  claude-mem export shop.jsonl --project ../shop --since 2026-03-01",
	}
	f := a.RangeFlags(cmd)
	force := cmd.Flags().BoolP("force", "f", false, "replace FILE if it exists")
	cmd.ValidArgsFunction = cli.FileNames
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) (err error) {
		toStdout := len(given) == 0 || given[0] == "-"
		if toStdout && print.IsTerminal(a.Stdout) {
			return memory.Errorf(memory.CodeInvalid, "an export has texts as they are, control characters too, which a terminal would obey").
				WithHint("`claude-mem export FILE`, or into a pipe: `claude-mem export | less`")
		}
		var filter memory.ExportFilter
		if filter.ProjectPath, filter.Since, filter.Until, err = f.Parse(ctx, m); err != nil {
			return err
		}
		m.Close()
		report, end := a.Progress("Exporting")
		if toStdout {
			if a.JSON {
				return memory.Errorf(memory.CodeInvalid, "--json needs a FILE").WithHint("standard output has the records, which are JSON")
			}
			done, err := daemon.Export(ctx, m.DataDir, a.Stdout, filter, a.Now(), report)
			end()
			if err == nil {
				a.Note("%s exported", text.Count(done.Records.Total(), "record"))
				a.noteWithheld(done.Withheld)
			}
			return err
		}
		path, err := filepath.Abs(given[0])
		if err != nil {
			return err
		}
		done, err := daemon.ExportFile(ctx, m.DataDir, path, *force, filter, a.Now(), report)
		end()
		if err != nil {
			return err
		}
		a.noteWithheld(done.Withheld)
		return a.Show(exportJSON{path, done}, func(p *print.Printer) {
			p.Printf("%s written: %s\n", text.Terminal(path), recordCounts(done.Records))
		})
	})
}

// noteWithheld tells of records that an export left out.
func (a *Verbs) noteWithheld(n int) {
	if n > 0 {
		a.Note("%s left out: changed on the disk since written. `claude-mem doctor` tells more", text.Count(n, "record"))
	}
}

// recordCounts returns "2 sessions, 12 observations", "no records" for none.
func recordCounts(c memory.PortableCounts) string {
	if c.Total() == 0 {
		return "no records"
	}
	return print.Join(", ", print.Plural(c.Sessions, "session"), print.Plural(c.Prompts, "prompt"), print.Plural(c.Observations, "observation"),
		print.Plural(c.Summaries, "summary"), print.Plural(c.Learnings, "learning"), print.Plural(c.Symbols, "symbol change"), print.Plural(c.Tombstones, "tombstone"))
}
