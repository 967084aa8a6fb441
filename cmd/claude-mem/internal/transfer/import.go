package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/run/daemon"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// ImportCommand returns the command `claude-mem import`: store the records of an export.
func (a *Verbs) ImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE|DIR|-",
		Short: "Import an export, Claude Code transcripts or claude-mem for Node",
		Long: `Import what ` + "`claude-mem export`" + ` has written, from FILE or standard input, into this memory.
Records that are here already are left as they are, so an import can be repeated, and one
that was interrupted goes on where it was. What you have forgotten does not come back, and
what was forgotten in the other memory stays away, too. Records of projects that the settings
exclude are left out. Nothing is deleted. Above 50 sessions, and for transcripts that do not
lie where Claude Code keeps them, it shows what it found by project and asks; without a
terminal that takes --yes. Ctrl-C is safe: the exit code is 130. Each import has a number
(--list), by which --undo takes it back, with what was distilled from it; what you have
edited, pinned or confirmed since is kept and named. The same import then works again.

Private text and secrets are taken out, as from everything that is captured. Import only
files that you trust all the same: records say themselves where they come from. A line that
cannot be imported is reported with its number, and the others are imported; then the exit
code is 2. A running worker does it and goes on capturing; without one, this command does.

FILE can also be claude-mem.db, the database of claude-mem for Node, of any version. It is
copied first, and never changed. Observations keep their numbers where these are free.
Projects that it knows by name only become those of the same name, if there is one.

A directory such as ~/.claude/projects, or a file in it, has the transcripts of Claude Code's
sessions: what happened before claude-mem was installed, or while it did not run, is captured
from them. --host reads what Codex CLI, Gemini CLI or OpenCode has stored of its sessions. What
was captured already is left as it is; docs/backfill.md tells what transcripts lack. No model reads it, now or later, unless --with-model is given: then an estimate of the
cost is shown first, and asked about. --project may be given more than once.`,
		Example: "  claude-mem import memory.jsonl\n  claude-mem import ~/.claude/projects --dry-run\n  claude-mem import --host codex\n  claude-mem import ~/.claude/projects --project ../shop --since 2w\n  claude-mem import ~/.claude-mem/claude-mem.db --dry-run\n  gunzip -c memory.jsonl.gz | claude-mem import - --yes\n  claude-mem import --list\n  claude-mem import --undo 3",
		Args:    a.namesImport,
	}
	dryRun := cmd.Flags().Bool("dry-run", false, "show what the file or the transcripts have, and import nothing")
	mine := cmd.Flags().Bool("mine", false, "of an export: the records are your own, so keep rules, pins and origins; asks at a terminal")
	host := cmd.Flags().String("host", "", "what an agent has stored where it keeps its sessions: codex, gemini, opencode")
	list := cmd.Flags().Bool("list", false, "list the imports that can be undone, with their numbers")
	undo := cmd.Flags().Int64("undo", 0, "take back the import of this number")
	var t TranscriptFlags
	cmd.Flags().StringArrayVarP(&t.projects, "project", "p", nil, "of transcripts: only this project, by its directory or name")
	t.Times = cli.AddTimesFor(cmd, "of transcripts: turns that began not earlier than this time", "of transcripts: turns that began not later than this time")
	cmd.Flags().BoolVar(&t.model, "with-model", false, "of transcripts: have the observer's model read them; shows an estimate and asks")
	cmd.Flags().BoolVarP(&t.Yes, "yes", "y", false, "do not ask")
	cli.CompleteFlag(cmd, "project", a.ProjectChoices())
	cmd.ValidArgsFunction = cli.FileNames
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		if *list {
			return a.listImports(ctx, dataDir)
		}
		if cmd.Flags().Changed("undo") {
			return a.undoImport(ctx, dataDir, *undo, *dryRun)
		}
		if agent := install.AgentOf(memory.Host(*host)); len(given) == 0 {
			if agent == nil || agent.History(a.Getenv, a.Home()) == "" {
				return memory.Errorf(memory.CodeInvalid, "no sessions are read of an agent %q", print.Line(*host, 50)).WithHint("--host codex, --host gemini or --host opencode")
			}
			given = []string{agent.History(a.Getenv, a.Home())}
		}
		if given[0] != "-" && isTranscripts(given[0]) {
			t.dry = *dryRun
			return a.ImportTranscripts(ctx, dataDir, given[0], &t)
		}
		if t.given() {
			return memory.Errorf(memory.CodeInvalid, "--project, --since, --until and --with-model are for transcripts").WithHint("`claude-mem import ~/.claude/projects`")
		}
		if given[0] != "-" {
			if h, err := sqlite.ReadHeader(given[0]); err == nil && h != nil {
				return a.ImportNode(ctx, dataDir, given[0], *dryRun, t.Yes)
			}
		}
		from := a.Stdin
		if given[0] != "-" {
			file, err := openfile.Open(given[0], os.O_RDONLY, 0)
			if err != nil {
				return notOpened(given[0], err)
			}
			defer func() { _ = file.Close() }() // it was only read
			from = file
			if yes, err := a.exportPlanned(file, t.Yes || *dryRun); err != nil || !yes {
				return err
			}
		}
		return a.importFrom(ctx, dataDir, given[0], from, *dryRun, *mine, t.Yes || given[0] != "-")
	})
}

// askedAbove is the number of sessions above which an import asks first.
const askedAbove = 50

// importPlan is what an import would read.
type importPlan struct {
	Sessions int
	// projects counts what there is of each, sessions or else noun.
	projects map[string]int
	noun     string
	// Layout says that it lies where its program keeps it.
	Layout bool
}

// confirmPlan shows a plan by project and asks whether to import, if it has more than askedAbove sessions
// or lies in an unknown layout, unless yes. Its error is that of Confirm.
func (a *Verbs) confirmPlan(p *importPlan, yes bool) (bool, error) {
	if yes || p.Layout && p.Sessions <= askedAbove {
		return true, nil
	}
	a.Note("%s of %s:", text.GroupedCount(p.Sessions, "session"), text.GroupedCount(len(p.projects), "project"))
	names := slices.SortedFunc(maps.Keys(p.projects), func(x, y string) int {
		return cmp.Or(p.projects[y]-p.projects[x], strings.Compare(x, y))
	})
	for i, name := range names {
		if i == projectsShown {
			a.Note("  and %s", text.GroupedCount(len(names)-i, "more project"))
			break
		}
		a.Note("  %s: %s", print.Line(name, 200), text.GroupedCount(p.projects[name], cmp.Or(p.noun, "session")))
	}
	if !p.Layout {
		a.Note("This is not where an agent keeps transcripts, such as ~/.claude/projects.")
	}
	done, err := a.Confirm("Import them?")
	if err == nil && !done {
		a.Note("Nothing was imported.")
	}
	return done, err
}

// projectsShown bounds the projects that are listed.
const projectsShown = 20

// exportPlanned counts an export, unless yes, and has confirmPlan ask about it. It leaves the file at its start.
func (a *Verbs) exportPlanned(file *os.File, yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	counted, err := daemon.CountExport(file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return false, err
	}
	return a.confirmPlan(planOf(&counted), false)
}

// planOf returns the plan of records that were counted.
func planOf(counted *daemon.Importing) *importPlan {
	p := &importPlan{Sessions: counted.Added.Sessions, projects: map[string]int{}, noun: "record", Layout: true}
	for _, project := range counted.Projects {
		p.projects[project.Project] = project.Records
	}
	return p
}

// exitStopped is the exit code of a command that Ctrl-C has ended, as of other programs.
const exitStopped = 130

// stopped returns the error of an import that has stored n records, or what counts says, before it. If it
// was Ctrl-C, it says so and returns a cli.QuietExit.
func (a *Verbs) stopped(ctx context.Context, n int, counts string, err error) error {
	if ctx.Err() != nil {
		a.Note("Stopped. %s are stored; run the same command to go on.", text.Grouped(n))
		return &cli.QuietExit{Code: exitStopped}
	}
	if n > 0 {
		a.Note("imported before the error: %s", counts)
	}
	return err
}

// namesImport checks that one file is named. Without one the error names the memory of
// claude-mem for Node, or else the transcripts of Claude Code, where they are.
func (a *Verbs) namesImport(cmd *cobra.Command, given []string) error {
	if host := cmd.Flags().Changed("host"); host || len(given) > 0 {
		return cli.Args(cobra.ExactArgs(map[bool]int{false: 1}[host]))(cmd, given)
	}
	if cmd.Flags().Changed("list") || cmd.Flags().Changed("undo") {
		return nil
	}
	hint := "name a file that `claude-mem export` has written, claude-mem.db of claude-mem for Node, or the directory of Claude Code's transcripts"
	config, _ := claudedir.Config(a.Getenv, a.Home())
	if transcripts := filepath.Join(config, "projects"); config != "" && isTranscripts(transcripts) {
		hint = "transcripts of Claude Code found: claude-mem import " + cli.ShellWord(transcripts)
	}
	if dataDir, err := a.DataDir(); err == nil {
		if path, n := nodedb.Found(cmd.Context(), dataDir); n > 0 {
			hint = cli.NodeFound(path, n)
		}
	}
	return memory.Errorf(memory.CodeInvalid, "no file is named").WithHint(hint)
}

// notOpened returns the error of a file that openfile.Open cannot open: CodeNotFound or
// CodeStorage.
func notOpened(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.CodeNotFound, "there is no file %q", print.Line(path, 200)).WithHint("`claude-mem export FILE` writes one")
	}
	failed := memory.Errorf(memory.CodeStorage, "open %q: %w", print.Line(path, 200), errors.Unwrap(err))
	if errors.Is(err, openfile.ErrNotRegular) {
		return failed.WithHint("standard input can be a pipe: `claude-mem import -`")
	}
	return failed
}

// importFrom imports an export and shows what was done, also before an error. With dryRun it
// only counts what the export has. Only a person at a terminal can say that the records are their
// own (mine): an agent may have been told to. Without a terminal it goes on as without mine; after
// a "no" it imports nothing, which is no error. Unless it is planned, a file with more than askedAbove
// records is CodeForbidden.
func (a *Verbs) importFrom(ctx context.Context, dataDir, path string, from io.Reader, dryRun, mine, planned bool) error {
	if dryRun {
		done, err := daemon.CountExport(from)
		return a.showImported(ctx, dataDir, shownImport{Importing: done, DryRun: true}, err)
	}
	if mine {
		var err error
		if mine, err = a.Confirm("Are all records of this file your own? Then its rules and pins are in use at once."); err != nil {
			a.Note("--mine asks at a terminal, and there is none: rules and pins come in inactive.")
		} else if !mine {
			return nil
		}
	}
	records, header, err := exchange.NewReader(from)
	if err != nil {
		return err
	}
	if header.Records > askedAbove && !planned {
		return cli.NotConfirmed("standard input has " + text.GroupedCount(header.Records, "record") + ", which cannot be shown first")
	}
	report, end := a.Progress("Importing", nil)
	done, err := daemon.ImportRecords(ctx, dataDir, records, daemon.ImportOptions{Mine: mine, Source: sourceOf(path), Ask: func(wide []string) bool {
		end()
		a.Note("The file forgets more than sessions. What it names could not be imported or captured again:\n  %s", strings.Join(wide, "\n  "))
		take, err := a.Confirm("Take that over?")
		return take && err == nil
	}}, func(done int) { report(done, header.Records) })
	end()
	return a.showImported(ctx, dataDir, shownImport{Importing: done}, err)
}

// shownImport is what an import did.
type shownImport struct {
	daemon.Importing
	// Rows are those of a database of claude-mem for Node.
	Rows   *nodedb.Rows `json:"rows,omitempty"`
	DryRun bool         `json:"dry_run,omitempty"`
}

// ImportNode imports a copy of the database of claude-mem for Node at path, which stays
// unchanged, and shows what was done. With dryRun it only counts; it asks as confirmPlan says. After an import of the database
// in the data directory it is not offered again while it has no more observations; a worker is
// started, to index the records. It returns a cli.QuietExit as showImported does.
func (a *Verbs) ImportNode(ctx context.Context, dataDir, path string, dryRun, yes bool) error {
	database, err := nodedb.Open(ctx, path, dataDir)
	if err != nil {
		return err
	}
	defer func() { _ = database.Close() }() // a copy that stays is removed by a later import
	from, err := database.NewReader(ctx)
	if err != nil {
		return err
	}
	var done daemon.Importing
	if dryRun || !yes {
		done, err = daemon.CountRecords(from)
	}
	if !dryRun && !yes && err == nil {
		if yes, err = a.confirmPlan(planOf(&done), false); err != nil || !yes {
			return err
		}
		from, err = database.NewReader(ctx)
	}
	report, end := a.Progress("Importing", nil)
	if !dryRun && err == nil {
		done, err = daemon.ImportRecords(ctx, dataDir, from, daemon.ImportOptions{Source: sourceOf(path)}, func(done int) { report(done, from.Rows.Total()) })
	}
	end()
	if err == nil && !dryRun {
		err = nodedb.Remember(dataDir, path, from.Rows.Observations)
		if done.Added.Total() > 0 { // the worker indexes it; without the index search would ignore the words of a query
			if err := service.Start(ctx, dataDir); err != nil {
				a.Note("No worker could be started (%s): `claude-mem reindex` makes the records searchable.", print.Line(err.Error(), 200))
			}
		}
	}
	if n := len(a.OlderSettings(dataDir)); err == nil && n > 0 && settings.OfNode(dataDir) {
		a.Note("%s of claude-mem for Node found; to see and import them: claude-mem config import", text.Count(n, "setting"))
	}
	return a.showImported(ctx, dataDir, shownImport{done, &from.Rows, dryRun}, err)
}

// showImported shows what an import did. It returns err if that is set, after a note of what was
// imported before it. Rows or lines that were refused, and a file without its end, give a
// cli.QuietExit of CodeInvalid: they are reported, and the others are imported.
func (a *Verbs) showImported(ctx context.Context, dataDir string, done shownImport, err error) error {
	if err != nil {
		return a.stopped(ctx, done.Added.Total(), recordCounts(done.Added), err)
	}
	done.Problems = print.NotNil(done.Problems)
	if err := a.Show(done, func(p *print.Printer) {
		if done.Rows != nil && done.Rows.Stubs > 0 {
			p.Printf("%s of its rows without one: made\n", text.Count(done.Rows.Stubs, "session"))
		}
		if done.DryRun {
			p.Printf("It has: %s. Nothing was imported.\n", recordCounts(done.Added))
			for _, project := range done.Projects {
				p.Printf("  %s: %s\n", print.Line(project.Project, 200), text.Count(project.Records, "record"))
			}
			for _, wide := range done.Wide {
				p.Printf("  It forgets %s.\n", wide)
			}
			if done.Waiting > 0 {
				p.Printf("%d of its rules and pins would be inactive until you approve them, unless you import it with --mine.\n", done.Waiting)
			}
			return
		}
		p.Printf("Imported: %s\n", recordCounts(done.Added))
		if rest := print.Join(", ", print.If(done.Present > 0, fmt.Sprintf("%d here already", done.Present)),
			print.If(done.Merged > 0, fmt.Sprintf("%d merged with the same content", done.Merged)),
			print.If(done.Differs > 0, fmt.Sprintf("%d here and changed since, left as they are", done.Differs)),
			print.If(done.Forgotten > 0, fmt.Sprintf("%d forgotten here", done.Forgotten)),
			print.If(done.Excluded > 0, fmt.Sprintf("%d of excluded projects", done.Excluded)),
			print.If(len(done.Wide) > 0 && !done.WideTaken, fmt.Sprintf("%d that forget more than sessions", len(done.Wide)))); rest != "" {
			p.Printf("Not imported: %s\n", rest)
		}
		if done.Import > 0 {
			a.showEnd(ctx, p, dataDir, done.Import, "")
		}
	}); err != nil {
		return err
	}
	unit := print.Or(done.Rows != nil, "row", "line")
	for _, problem := range done.Problems {
		a.Note("%s %d: %s", unit, problem.Line, print.Line(problem.Message, 300))
	}
	if done.Waiting > 0 && !done.DryRun {
		a.Note("%d of its rules and pins are inactive, as they are of another memory: `claude-mem learn approve --all` approves the rules, `claude-mem pin ID` pins a record.", done.Waiting)
	}
	if more := done.Refused - len(done.Problems); more > 0 {
		a.Note("%s more cannot be imported", text.Count(more, unit))
	}
	if !done.Complete {
		a.Note("The file is not complete: its end is missing. Copy or export it again, and import it again.")
	}
	if !done.DryRun && done.Added.Total() > 0 {
		a.noteHomeless(ctx)
	}
	if done.Refused > 0 || !done.Complete {
		return cli.Quietly(memory.CodeInvalid)
	}
	return nil
}

// sourceOf returns the name of the source at a path, "-" for standard input.
func sourceOf(path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "-" {
		return full
	}
	return path
}

// showEnd shows what came of an import: its records, its number, and the block of a session that would start
// now in a project, "" for the one of the newest session.
func (a *Verbs) showEnd(ctx context.Context, p *print.Printer, dataDir string, number int64, project string) {
	if list, err := daemon.Imports(ctx, dataDir, number); err == nil && len(list) == 1 {
		p.Printf("%s from %s in %s\n", text.GroupedCount(list[0].Observations+list[0].Learnings, "record"), text.GroupedCount(list[0].Sessions, "session"),
			text.GroupedCount(list[0].Projects, "project"))
	}
	p.Printf("This is import %d; to take it back: claude-mem import --undo %d\n", number, number)
	m, err := a.Memory()
	if err != nil {
		return // what was imported is shown all the same
	}
	defer m.Close()
	if page, _ := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: 1}); project == "" && len(page.Results) > 0 { // none if it fails
		project = page.Results[0].ProjectPath
	}
	if block, err := m.Preview(ctx, api.ContextRequest{ProjectPath: project}); err == nil && block.Text != "" {
		p.Printf("\nThe next session in %s starts with:\n\n%s\n", print.Line(project, 200), text.Terminal(block.Text))
	}
}

// importList is what `claude-mem import --list` prints.
type importList struct {
	Imports []memory.ImportEntry `json:"imports"`
}

// listImports lists the imports that can be undone.
func (a *Verbs) listImports(ctx context.Context, dataDir string) error {
	list, err := daemon.Imports(ctx, dataDir, 0)
	return a.Done(importList{print.NotNil(list)}, err, func(p *print.Printer) {
		for _, e := range list {
			p.Printf("%d  %s  %s%s\n   %s\n", e.ID, e.At[:10], print.Line(e.Source, 200), print.If(!e.Ended, ", not complete"), entryCounts(&e))
		}
		if len(list) == 0 {
			p.Printf("No imports.\n")
		}
	})
}

// undoImport takes an import back and shows what went and what was kept.
func (a *Verbs) undoImport(ctx context.Context, dataDir string, number int64, dryRun bool) error {
	if number < 1 {
		return memory.Errorf(memory.CodeInvalid, "there is no import %d", number).WithHint("`claude-mem import --list` shows the numbers")
	}
	undone, err := daemon.UndoImport(ctx, dataDir, number, dryRun)
	return a.Done(undone, err, func(p *print.Printer) {
		p.Printf("%s import %d of %s: %s\n", print.Or(dryRun, "Would take back", "Took back"), undone.ID, print.Line(undone.Source, 200), entryCounts(&undone.ImportEntry))
		for i, title := range undone.Kept {
			p.Printf("%s  %s\n", print.If(i == 0, "Kept, as they were changed or confirmed since:\n"), print.Line(title, 200))
		}
	})
}

// entryCounts returns what an import has added in words.
func entryCounts(e *memory.ImportEntry) string {
	return recordCounts(memory.PortableCounts{Sessions: e.Sessions, Prompts: e.Prompts, Observations: e.Observations, Summaries: e.Summaries, Learnings: e.Learnings})
}

// homelessShown bounds the projects that noteHomeless names.
const homelessShown = 8

// noteHomeless names the projects of which there is no directory on this machine: no session that
// starts here is given their records.
func (a *Verbs) noteHomeless(ctx context.Context) {
	m, err := a.Memory()
	if err != nil {
		return // what was imported is shown all the same
	}
	defer m.Close()
	page, _ := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: api.MaxLimit}) // none if it fails
	names := collect.Pick(page.Results, func(p api.Project) (string, bool) {
		return cli.ShellWord(print.Line(strings.TrimPrefix(p.ProjectPath, records.LabelOnly), 100)), !openfile.IsDir(p.ProjectPath)
	})
	if len(names) > 0 {
		a.Note("%s without a directory on this machine: %s%s. A session that starts in a directory of the same name takes such a name over; `claude-mem projects merge NAME INTO` moves the records of others.",
			text.Count(len(names), "project"), strings.Join(names[:min(len(names), homelessShown)], ", "), print.If(len(names) > homelessShown, " …"))
	}
}

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
` + "`claude-mem backup`" + ` copies everything.`,
		Example: "  claude-mem export memory.jsonl\n  claude-mem export | gzip > memory.jsonl.gz\n  claude-mem export shop.jsonl --project ../shop --since 2026-03-01",
	}
	f := a.RangeFlags(cmd)
	force := cmd.Flags().BoolP("force", "f", false, "replace FILE if it exists")
	canonical := cmd.Flags().Bool("canonical", false, "of several machines with one memory: print the records alone, the same bytes on each")
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
		if *canonical {
			if !toStdout {
				return memory.Errorf(memory.CodeInvalid, "--canonical prints to standard output").WithHint("`claude-mem export --canonical > FILE`")
			}
			return daemon.ExportCanonical(ctx, m.DataDir, a.Stdout, filter)
		}
		report, end := a.Progress("Exporting", nil)
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
	return cmp.Or(print.Join(", ", print.Plural(c.Sessions, "session"), print.Plural(c.Prompts, "prompt"), print.Plural(c.Observations, "observation"),
		print.Plural(c.Summaries, "summary"), print.Plural(c.Learnings, "learning"), print.Plural(c.Symbols, "symbol change"), print.Plural(c.Tombstones, "tombstone")), "no records")
}
