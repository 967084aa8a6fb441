package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// importCommand returns the command `claude-mem import`: store the records of an export.
func (a *app) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE|DIR|-",
		Short: "Import an export, Claude Code transcripts or claude-mem for Node",
		Long: `Import what ` + "`claude-mem export`" + ` has written, from FILE or standard input, into this memory.
Records that are here already are left as they are, so an import can be repeated, and one
that was interrupted goes on where it was. What you have forgotten does not come back, and
what was forgotten in the other memory stays away, too. Records of projects that the settings
exclude are left out. Nothing is deleted.

Private text and secrets are taken out, as from everything that is captured. Import only
files that you trust all the same: records say themselves where they come from. A line that
cannot be imported is reported with its number, and the others are imported; then the exit
code is 2. A running worker does it and goes on capturing; without one, this command does.

FILE can also be claude-mem.db, the database of claude-mem for Node, of any version. It is
copied first, and never changed. Observations keep their numbers where these are free.
Projects that it knows by name only become those of the same name, if there is one.

A directory such as ~/.claude/projects, or a file in it, has the transcripts of Claude Code's
sessions: what happened before claude-mem was installed, or while it did not run, is captured
from them. What was captured already is left as it is; docs/backfill.md tells what transcripts
lack. No model reads it, now or later, unless --with-model is given: then an estimate of the
cost is shown first, and --yes answers the question. --project may be given more than once.

JSON: of records {"added": {"sessions", "prompts", "observations", "summaries", "learnings",
"symbols", "tombstones"}, "present", "merged", "differs", "forgotten", "excluded", "refused",
"waiting", "wide"?, "wide_taken"?, "problems": [{"line", "message"}], "complete", "projects"?: [{"project", "records"}], "rows"?, "dry_run"?}: "present" are here already,
"differs" too, but were changed in one of the memories, "merged" under another id; "rows" are
those of claude-mem.db by kind, with "stubs", made for rows without a session; "excluded" are of
projects in which nothing is captured. Of transcripts {"files", "sessions", "added": {"prompts",
"tools", "stops"}, "present", "skipped": likewise, "excluded", "private", "unselected", "read":
{"lines", "broken", "too_long", "unknown", "copied", "prompts", "tools", "stops"}, "unreadable":
[path and reason], "from"?, "until"?, "projects": [{"project", "project_path", "sessions",
"prompts", "tools", "present"}], "dry_run"?, "estimate"?: {"provider", "model", "calls",
"input_tokens", "output_tokens", "usd"?, "daily_cap"}}.`,
		Example: "  claude-mem import memory.jsonl\n  claude-mem import ~/.claude/projects --dry-run\n  claude-mem import ~/.claude/projects --project ../shop --since 2w\n  claude-mem import ~/.claude-mem/claude-mem.db --dry-run\n  gunzip -c memory.jsonl.gz | claude-mem import -",
		Args:    a.namesImport,
	}
	asJSON := jsonFlag(cmd)
	dryRun := cmd.Flags().Bool("dry-run", false, "show what the file or the transcripts have, and import nothing")
	mine := cmd.Flags().Bool("mine", false, "of an export: the records are your own, so keep rules, pins and origins; asks at a terminal")
	var t transcriptFlags
	cmd.Flags().StringArrayVarP(&t.projects, "project", "p", nil, "of transcripts: only this project, by its directory or name")
	t.times = addTimesFor(cmd, "of transcripts: turns that began not earlier than this time", "of transcripts: turns that began not later than this time")
	cmd.Flags().BoolVar(&t.model, "with-model", false, "of transcripts: have the observer's model read them; shows an estimate and asks")
	cmd.Flags().BoolVarP(&t.yes, "yes", "y", false, "do not ask")
	completeFlag(cmd, "project", a.projectChoices())
	cmd.ValidArgsFunction = fileNames
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, given []string) error {
		if given[0] != "-" && isTranscripts(given[0]) {
			t.dry, t.json = *dryRun, *asJSON
			return a.importTranscripts(cmd.Context(), dataDir, given[0], &t)
		}
		if t.given() {
			return memory.Errorf(memory.CodeInvalid, "--project, --since, --until, --with-model and --yes are for transcripts").WithHint("`claude-mem import ~/.claude/projects`")
		}
		if given[0] != "-" {
			if h, err := sqlite.ReadHeader(given[0]); err == nil && h != nil {
				return a.importNode(cmd.Context(), dataDir, given[0], *asJSON, *dryRun)
			}
		}
		from := a.stdin
		if given[0] != "-" {
			file, err := openfile.Open(given[0], os.O_RDONLY, 0)
			if err != nil {
				return notOpened(given[0], err)
			}
			defer func() { _ = file.Close() }() // it was only read
			from = file
		}
		return a.importFrom(cmd, dataDir, from, *asJSON, *dryRun, *mine)
	})
	return cmd
}

// namesImport checks that one file is named. Without one the error names the memory of
// claude-mem for Node, or else the transcripts of Claude Code, where they are.
func (a *app) namesImport(cmd *cobra.Command, given []string) error {
	if len(given) > 0 {
		return args(cobra.ExactArgs(1))(cmd, given)
	}
	hint := "name a file that `claude-mem export` has written, claude-mem.db of claude-mem for Node, or the directory of Claude Code's transcripts"
	config, _ := claudedir.Config(a.getenv, a.home())
	if transcripts := filepath.Join(config, "projects"); config != "" && isTranscripts(transcripts) {
		hint = "transcripts of Claude Code found: claude-mem import " + shellWord(runtime.GOOS, transcripts)
	}
	if dataDir, err := a.dataDir(); err == nil {
		if path, n := nodedb.Found(cmd.Context(), dataDir); n > 0 {
			hint = nodeFound(path, n)
		}
	}
	return memory.Errorf(memory.CodeInvalid, "no file is named").WithHint(hint)
}

// notOpened returns the error of a file that cannot be opened: CodeNotFound or CodeStorage.
func notOpened(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.CodeNotFound, "there is no file %q", oneLine(path, 200)).WithHint("`claude-mem export FILE` writes one")
	}
	failed := memory.Errorf(memory.CodeStorage, "open %q: %w", oneLine(path, 200), errors.Unwrap(err))
	if errors.Is(err, openfile.ErrNotRegular) {
		return failed.WithHint("standard input can be a pipe: `claude-mem import -`")
	}
	return failed
}

// importFrom imports an export and shows what was done, also before an error. Only a person at a
// terminal can say that the records are their own: an agent may have been told to.
func (a *app) importFrom(cmd *cobra.Command, dataDir string, from io.Reader, asJSON, dryRun, mine bool) error {
	if dryRun {
		done, err := daemon.CountExport(from)
		return a.showImported(shownImport{Importing: done, DryRun: true}, asJSON, err)
	}
	if mine {
		var err error
		if mine, err = a.confirm("Are all records of this file your own? Then its rules and pins are in use at once."); err != nil {
			a.note("--mine asks at a terminal, and there is none: rules and pins come in inactive.")
		} else if !mine {
			return nil
		}
	}
	report, end := a.progress("Importing")
	done, err := daemon.Import(cmd.Context(), dataDir, from, daemon.ImportOptions{Mine: mine, Ask: func(wide []string) bool {
		end()
		a.note("The file forgets more than sessions. What it names could not be imported or captured again:\n  %s", strings.Join(wide, "\n  "))
		take, err := a.confirm("Take that over?")
		return take && err == nil
	}}, report)
	end()
	return a.showImported(shownImport{Importing: done}, asJSON, err)
}

// shownImport is what an import did.
type shownImport struct {
	daemon.Importing
	// Rows are those of a database of claude-mem for Node.
	Rows   *nodedb.Rows `json:"rows,omitempty"`
	DryRun bool         `json:"dry_run,omitempty"`
}

// importNode imports a database of claude-mem for Node.
func (a *app) importNode(ctx context.Context, dataDir, path string, asJSON, dryRun bool) error {
	database, err := nodedb.Open(ctx, path, dataDir)
	if err != nil {
		return err
	}
	defer func() { _ = database.Close() }() // a copy that stays is removed by a later import
	from, err := database.NewReader(ctx)
	if err != nil {
		return err
	}
	report, end := a.progress("Importing")
	var done daemon.Importing
	if dryRun {
		done, err = daemon.CountRecords(from)
	} else {
		done, err = daemon.ImportRecords(ctx, dataDir, from, daemon.ImportOptions{}, func(done int) { report(done, from.Rows.Total()) })
	}
	end()
	if err == nil && !dryRun {
		err = nodedb.Remember(dataDir, path, from.Rows.Observations)
		if done.Added.Total() > 0 { // the worker indexes it; without the index search would ignore the words of a query
			if err := a.startWorker(ctx, dataDir); err != nil {
				a.note("No worker could be started (%s): `claude-mem reindex` makes the records searchable.", oneLine(err.Error(), 200))
			}
		}
	}
	if n := len(a.olderSettings(dataDir)); err == nil && n > 0 && settings.OfNode(dataDir) {
		a.note("%s of claude-mem for Node found; to see and import them: claude-mem config import", text.Count(n, "setting"))
	}
	return a.showImported(shownImport{done, &from.Rows, dryRun}, asJSON, err)
}

// showImported shows what an import did, also before its error.
func (a *app) showImported(done shownImport, asJSON bool, err error) error {
	if err != nil {
		if done.Added.Total() > 0 {
			a.note("imported before the error: %s", recordCounts(done.Added))
		}
		return err
	}
	done.Problems = notNil(done.Problems)
	if err := a.show(asJSON, done, func(p *printer) {
		if done.Rows != nil && done.Rows.Stubs > 0 {
			p.printf("%s of its rows without one: made\n", text.Count(done.Rows.Stubs, "session"))
		}
		if done.DryRun {
			p.printf("It has: %s. Nothing was imported.\n", recordCounts(done.Added))
			for _, project := range done.Projects {
				p.printf("  %s: %s\n", oneLine(project.Project, 200), text.Count(project.Records, "record"))
			}
			for _, wide := range done.Wide {
				p.printf("  It forgets %s.\n", wide)
			}
			if done.Waiting > 0 {
				p.printf("%d of its rules and pins would be inactive until you approve them, unless you import it with --mine.\n", done.Waiting)
			}
			return
		}
		p.printf("Imported: %s\n", recordCounts(done.Added))
		if rest := joined(", ", textIf(done.Present > 0, fmt.Sprintf("%d here already", done.Present)),
			textIf(done.Merged > 0, fmt.Sprintf("%d merged with the same content", done.Merged)),
			textIf(done.Differs > 0, fmt.Sprintf("%d here and changed since, left as they are", done.Differs)),
			textIf(done.Forgotten > 0, fmt.Sprintf("%d forgotten here", done.Forgotten)),
			textIf(done.Excluded > 0, fmt.Sprintf("%d of excluded projects", done.Excluded)),
			textIf(len(done.Wide) > 0 && !done.WideTaken, fmt.Sprintf("%d that forget more than sessions", len(done.Wide)))); rest != "" {
			p.printf("Not imported: %s\n", rest)
		}
	}); err != nil {
		return err
	}
	unit := textOr(done.Rows != nil, "row", "line")
	for _, problem := range done.Problems {
		a.note("%s %d: %s", unit, problem.Line, oneLine(problem.Message, 300))
	}
	if done.Waiting > 0 && !done.DryRun {
		a.note("%d of its rules and pins are inactive, as they are of another memory: `claude-mem learn approve --all` approves the rules, `claude-mem pin ID` pins a record.", done.Waiting)
	}
	if more := done.Refused - len(done.Problems); more > 0 {
		a.note("%s more cannot be imported", text.Count(more, unit))
	}
	if !done.Complete {
		a.note("The file is not complete: its end is missing. Copy or export it again, and import it again.")
	}
	if done.Refused > 0 || !done.Complete {
		return quietly(memory.CodeInvalid)
	}
	return nil
}
