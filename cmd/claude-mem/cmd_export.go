package main

import (
	"path/filepath"

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

// exportCommand returns the command `claude-mem export`: write the records into a file.
func (a *app) exportCommand() *cobra.Command {
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
	asJSON := jsonFlag(cmd)
	f := a.rangeFlags(cmd)
	force := cmd.Flags().BoolP("force", "f", false, "replace FILE if it exists")
	cmd.ValidArgsFunction = fileNames
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) (err error) {
		ctx := cmd.Context()
		toStdout := len(given) == 0 || given[0] == "-"
		if toStdout && isTerminal(a.stdout) {
			return memory.Errorf(memory.CodeInvalid, "an export has texts as they are, control characters too, which a terminal would obey").
				WithHint("`claude-mem export FILE`, or into a pipe: `claude-mem export | less`")
		}
		var filter memory.ExportFilter
		if filter.ProjectPath, filter.Since, filter.Until, err = f.parse(ctx, m); err != nil {
			return err
		}
		m.close()
		report, end := a.progress("Exporting")
		if toStdout {
			if *asJSON {
				return memory.Errorf(memory.CodeInvalid, "--json needs a FILE").WithHint("standard output has the records, which are JSON")
			}
			done, err := daemon.Export(ctx, m.dataDir, a.stdout, filter, a.now(), report)
			end()
			if err == nil {
				a.note("%s exported", text.Count(done.Records.Total(), "record"))
				a.noteWithheld(done.Withheld)
			}
			return err
		}
		path, err := filepath.Abs(given[0])
		if err != nil {
			return err
		}
		done, err := daemon.ExportFile(ctx, m.dataDir, path, *force, filter, a.now(), report)
		end()
		if err != nil {
			return err
		}
		a.noteWithheld(done.Withheld)
		return a.show(*asJSON, exportJSON{path, done}, func(p *printer) {
			p.printf("%s written: %s\n", safe(path), recordCounts(done.Records))
		})
	})
	return cmd
}

// noteWithheld tells of records that an export left out.
func (a *app) noteWithheld(n int) {
	if n > 0 {
		a.note("%s left out: changed on the disk since written. `claude-mem doctor` tells more", text.Count(n, "record"))
	}
}

// recordCounts returns "2 sessions, 12 observations", "no records" for none.
func recordCounts(c memory.PortableCounts) string {
	if c.Total() == 0 {
		return "no records"
	}
	return joined(", ", plural(c.Sessions, "session"), plural(c.Prompts, "prompt"), plural(c.Observations, "observation"),
		plural(c.Summaries, "summary"), plural(c.Learnings, "learning"), plural(c.Symbols, "symbol change"), plural(c.Tombstones, "tombstone"))
}
