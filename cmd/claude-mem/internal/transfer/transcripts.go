package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/opencode"
	"claudemem/internal/move/transcript"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
)

// TranscriptFlags select what is imported of transcripts, and who distils it.
type TranscriptFlags struct {
	projects   []string
	Times      *cli.Times
	dry, model bool
	// Yes says that nobody is to be asked.
	Yes bool

	since, until memory.Millis // those of Times
}

// given reports whether a flag that is for transcripts only was used.
func (f *TranscriptFlags) given() bool {
	return len(f.projects) > 0 || *f.Times != (cli.Times{}) || f.model
}

// parse puts the project that each name means in its place and sets since and until; CodeInvalid
// for a time, CodeNotFound for a path that does not exist.
func (f *TranscriptFlags) parse(a *Verbs) (err error) {
	for i, name := range f.projects {
		if f.projects[i], err = a.ProjectNamed(name); err != nil {
			return err
		}
	}
	f.since, f.until, err = f.Times.Parse(a.Now())
	return err
}

// takes reports whether an event is selected: by its project, named by path or by label, and by
// the time at which its turn began. parse was called.
func (f *TranscriptFlags) takes(e *memory.Event, began memory.Millis) bool {
	return f.takesProject(e.ProjectPath) && began >= f.since && (f.until == 0 || began <= f.until)
}

func (f *TranscriptFlags) takesProject(path string) bool {
	return len(f.projects) == 0 || slices.Contains(f.projects, path) || slices.Contains(f.projects, memory.ProjectLabel(path))
}

// transcriptsImported is what an import of transcripts did, or would do.
type transcriptsImported struct {
	Files    int `json:"files"`
	Sessions int `json:"sessions"`
	// Added, Present and Skipped are events: taken in, here already, and of tools that are
	// never captured.
	Added   daemon.Backfilled `json:"added"`
	Present daemon.Backfilled `json:"present"`
	Skipped daemon.Backfilled `json:"skipped"`
	// Excluded are events of excluded projects, Private those of private turns, Unselected
	// those of other projects and times than were asked for.
	Excluded   int                 `json:"excluded"`
	Private    int                 `json:"private"`
	Unselected int                 `json:"unselected"`
	Read       transcript.Counts   `json:"read"`
	Others     map[string]int      `json:"others,omitempty"`
	Unreadable []string            `json:"unreadable"`
	From       string              `json:"from,omitempty"`
	Until      string              `json:"until,omitempty"`
	Projects   []transcriptProject `json:"projects"`
	Import     int64               `json:"import,omitempty"`
	DryRun     bool                `json:"dry_run,omitempty"`
	Estimate   *costEstimate       `json:"estimate,omitempty"`
}

// transcriptProject is what was found of a project.
type transcriptProject struct {
	Project     string `json:"project"`
	ProjectPath string `json:"project_path"`
	Sessions    int    `json:"sessions"`
	Prompts     int    `json:"prompts"`
	Tools       int    `json:"tools"`
	Present     int    `json:"present"`

	sessions map[string]bool
}

// ImportTranscripts imports a transcript, or those below a directory, and shows what was done;
// with f.dry only what would be. It asks as confirmPlan says. It returns a cli.QuietExit of CodeStorage
// if files could not be read to their end; a "no" is no error, no transcripts are CodeNotFound. It changes f.
func (a *Verbs) ImportTranscripts(ctx context.Context, dataDir, path string, f *TranscriptFlags) error {
	if err := f.parse(a); err != nil {
		return err
	}
	unpacked, remove, err := opencode.Unpack(ctx, path, dataDir)
	if err != nil {
		return err
	}
	defer remove()
	folders, err := transcript.Find(unpacked, f.since.Time())
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "list the transcripts in %q: %w", print.Line(path, 200), err)
	}
	known, err := orderFolders(ctx, dataDir, folders)
	if err != nil {
		return err
	}
	resolved, err := settings.LoadForWorker(dataDir, a.Getenv)
	if err != nil {
		return err
	}
	// Lines of megabytes leave much garbage behind.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	defer debug.SetGCPercent(debug.SetGCPercent(importGC))
	im := &transcriptImport{app: a, ctx: ctx, folders: folders, known: known, flags: f, source: sourceOf(path), cfg: daemon.Config{
		DataDir: dataDir, Settings: resolved, Version: wire.Program, Command: service.Detached(dataDir), IdleExit: new(time.Duration),
	}}
	if !f.dry { // it may be the worker
		log, logFile, err := daemon.OpenLog(dataDir, resolved.Text(settings.KeyLogLevel))
		if err != nil {
			return err
		}
		defer func() { _ = logFile.Close() }()
		im.cfg.Logger = log
	}
	if observer := a.ObserverChoice(); f.model && observer.none {
		a.Note("No model reads them: the provider in the settings is %s; %s.", observer.Provider, strings.TrimPrefix(observer.Who, noModel))
		f.model = false
	}
	if yes, err := im.planned(path); err != nil || !yes {
		return err
	}
	if f.dry || f.model {
		if err := im.run(true); err != nil {
			return err
		}
		if f.dry {
			return a.showTranscripts(ctx, dataDir, im.done)
		}
		if yes, err := im.confirmed(); err != nil || !yes {
			return err
		}
	}
	if !f.model { // some sessions wait for the disk while others are processed; more than four wait for the writer
		im.cfg.Observers = min(runtime.NumCPU()+1, 4)
	}
	err = im.run(false)
	if err == nil && im.done.Added.Total()+im.done.Present.Total() > 0 {
		err = transcript.NoteImport(dataDir, a.Now())
	}
	if err != nil {
		return a.stopped(ctx, im.done.Added.Total(), eventCounts(im.done.Added), err)
	}
	return a.showTranscripts(ctx, dataDir, im.done)
}

// planned looks at what Find has found, and has confirmPlan ask about it; an import with a model asks
// once it knows the cost.
func (im *transcriptImport) planned(path string) (bool, error) {
	reader := &transcript.Reader{Settings: im.cfg.Settings}
	p, found := importPlan{Layout: true, projects: map[string]int{}}, 0
	for i := range im.folders {
		folder := &im.folders[i]
		found += len(folder.Sessions)
		p.Layout = p.Layout && (folder.Known || len(folder.Sessions) == 0)
		reader.Enter()
		for k := range folder.Sessions {
			if project := reader.Project(&folder.Sessions[k]); project != "" && im.flags.takesProject(project) {
				p.Sessions++
				p.projects[project]++
			}
		}
	}
	left := leftOut(othersOf(im.folders))
	if found == 0 && im.flags.since == 0 {
		return false, memory.Errorf(memory.CodeNotFound, "no transcripts in %q%s", print.Line(path, 200), print.If(left != "", "; files left out: "+left)).
			WithHint("Claude Code's are in ~/.claude/projects; --host names another agent")
	}
	if left != "" {
		im.app.Note("Files left out: %s.", left)
	}
	if im.flags.dry || im.flags.model {
		return true, nil
	}
	return im.app.confirmPlan(&p, im.flags.Yes)
}

// othersOf counts the files in folders that are left out, by why.
func othersOf(folders []transcript.Folder) map[string]int {
	others := map[string]int{}
	for _, folder := range folders {
		for why, n := range folder.Others {
			others[why] += n
		}
	}
	return others
}

// leftOut returns others in words, "" for none.
func leftOut(others map[string]int) string {
	list := collect.Map(slices.Sorted(maps.Keys(others)), func(why string) string { return text.Grouped(others[why]) + " " + why })
	return strings.Join(list, ", ")
}

// orderFolders orders the sessions of folders so that originals come before their copies, and returns
// the ids of those that may be originals: all in folders, and those that the memory has or has forgotten.
func orderFolders(ctx context.Context, dataDir string, folders []transcript.Folder) (map[string]int64, error) {
	var ids, from []string
	for _, folder := range folders {
		for i := range folder.Sessions {
			ids, from = append(ids, folder.Sessions[i].ID), append(from, folder.Sessions[i].From)
		}
	}
	stored, err := daemon.KnownSessions(ctx, dataDir, slices.Concat(ids, from))
	if err != nil {
		return nil, err
	}
	for i := range folders {
		folders[i].Order(stored)
	}
	for _, id := range ids {
		stored[id] = cmp.Or(stored[id], 1)
	}
	return stored, nil
}

// importMemory is the memory in bytes above which the collector works harder. Less than half of
// it is in use at a time.
const importMemory = 120 << 20

// importGC is GOGC of an import: garbage may fill importMemory before it is collected.
const importGC = 400

// transcriptImport is an import of transcripts.
type transcriptImport struct {
	app     *Verbs
	ctx     context.Context //nolint:containedctx // of one command
	folders []transcript.Folder
	// known are the sessions in folders, by their ids at the host.
	known map[string]int64
	flags *TranscriptFlags
	cfg   daemon.Config
	// source is the path that was named.
	source string
	done   transcriptsImported
	cost   estimator
}

// run reads the transcripts, hands their events to the worker, and waits until they are distilled;
// dry: counts them only. It begins im.done and im.cost anew, and fills them in also before an
// error.
func (im *transcriptImport) run(dry bool) (err error) {
	im.done = transcriptsImported{DryRun: dry, Others: othersOf(im.folders), Unreadable: []string{}, Projects: []transcriptProject{}}
	im.cost = estimator{settings: im.cfg.Settings}
	total := int64(0)
	for _, folder := range im.folders {
		for i := range folder.Sessions {
			total += folder.Sessions[i].Size
			im.done.Files += 1 + len(folder.Sessions[i].Agents)
		}
	}
	open := daemon.OpenBackfill
	if dry {
		open = daemon.ForeseeBackfill
	}
	to, err := open(im.ctx, im.cfg)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, to.Close(im.ctx)) }()
	sessions := 0
	report, end := im.app.Progress("Reading transcripts", func() string {
		return text.GroupedCount(sessions, "session") + ", " + text.GroupedCount(to.Added.Total()+to.Present.Total(), "event")
	})
	defer end()
	reader := &transcript.Reader{Settings: im.cfg.Settings, Backfill: memory.BackfillOffline, Known: im.known}
	if im.flags.model {
		reader.Backfill = memory.BackfillModel
	}
	progress := func() { report(int(reader.Bytes>>20), int(total>>20)) }
	to.Busy = func(int) { progress() }
	projects := map[string]*transcriptProject{}
	to.Outcome = func(e *memory.Event, status memory.Status) { im.count(projects, e, status) }
	began := map[string]memory.Millis{}
	to.Source = im.source
	defer func() { im.finish(reader, to, projects) }()
	for _, folder := range im.folders {
		reader.Enter()
		for i := range folder.Sessions {
			sessions++
			clear(began)
			err := reader.Read(im.ctx, &folder.Sessions[i], func(e memory.Event) error {
				if e.Kind == memory.KindPrompt || began[e.HostSessionID] == 0 {
					began[e.HostSessionID] = e.OccurredAt
				}
				if !im.flags.takes(&e, began[e.HostSessionID]) {
					im.done.Unselected++
					return nil
				}
				progress()
				return to.Add(im.ctx, e)
			})
			if err != nil {
				return err
			}
		}
	}
	if err := to.Flush(im.ctx); err != nil {
		return err
	}
	end()
	last, most := 0, 0
	left, ended := im.app.Progress("Making records", func() string { return text.GroupedCount(last, "event") + " left" })
	defer ended()
	to.Busy = func(waiting int) {
		last, most = waiting, max(most, waiting)
		left(most-waiting, most)
	}
	return to.Finish(im.ctx)
}

// count counts an event by what became of it, for its project, the range of times and the
// estimate. projects is by path, and gets the project if it is not there.
func (im *transcriptImport) count(projects map[string]*transcriptProject, e *memory.Event, status memory.Status) {
	p := projects[e.ProjectPath]
	if p == nil {
		p = &transcriptProject{ProjectPath: e.ProjectPath, Project: memory.ProjectLabel(e.ProjectPath), sessions: map[string]bool{}}
		projects[e.ProjectPath] = p
	}
	p.sessions[e.HostSessionID] = true
	switch e.Kind {
	case memory.KindPrompt:
		p.Prompts++
	case memory.KindTool:
		p.Tools++
	}
	if status == memory.StatusDuplicate {
		p.Present++
	} else if status != memory.StatusSkipped {
		im.cost.add(e)
	}
	at := api.ISO(e.OccurredAt)
	if im.done.From == "" || at < im.done.From {
		im.done.From = at
	}
	im.done.Until = max(im.done.Until, at)
}

// finish fills in the result, with the projects of most prompts first, and for a model the
// estimate.
func (im *transcriptImport) finish(reader *transcript.Reader, to *daemon.Backfiller, projects map[string]*transcriptProject) {
	d := &im.done
	d.Added, d.Present, d.Skipped, d.Import = to.Added, to.Present, to.Skipped, to.Import
	d.Excluded, d.Private, d.Read = reader.Excluded, reader.Private, reader.Counts
	d.Unreadable = append(d.Unreadable, reader.Unreadable...)
	for _, p := range slices.SortedFunc(maps.Values(projects), func(a, b *transcriptProject) int {
		return cmp.Or(cmp.Compare(b.Prompts, a.Prompts), strings.Compare(a.ProjectPath, b.ProjectPath))
	}) {
		p.Sessions = len(p.sessions)
		d.Sessions += p.Sessions
		d.Projects = append(d.Projects, *p)
	}
	if im.flags.model {
		d.Estimate = new(im.cost.estimate())
	}
}

// confirmed shows what a model would read and cost, and asks; with --yes, and if nothing is left
// to read, it returns true and asks nothing. A dry run has made the estimate.
func (im *transcriptImport) confirmed() (bool, error) {
	e := im.done.Estimate
	im.app.Note("%s", e.text())
	if im.flags.Yes || e.Calls == 0 {
		return true, nil
	}
	return im.app.Confirm("Have the model read " + text.Count(im.done.Added.Prompts, "turn") + "?")
}

// eventCounts returns the number of events by kind.
func eventCounts(b daemon.Backfilled) string {
	return fmt.Sprintf("%s, %s, %s", text.Count(b.Prompts, "prompt"), text.Count(b.Tools, "tool call"), text.Count(b.Stops, "closing message"))
}

// showTranscripts shows what an import of transcripts did, or would do. It returns a
// cli.QuietExit of CodeStorage if files could not be read to their end.
func (a *Verbs) showTranscripts(ctx context.Context, dataDir string, d transcriptsImported) error {
	err := a.Show(d, func(p *print.Printer) {
		p.Printf("%s in %s", text.Count(d.Sessions, "session"), text.Count(d.Files, "file"))
		if d.From != "" {
			p.Printf(", %s to %s", d.From[:10], d.Until[:10])
		}
		p.Printf("\n")
		for i, project := range d.Projects {
			if i == 20 {
				p.Printf("  and %s\n", text.Count(len(d.Projects)-i, "more project"))
				break
			}
			p.Printf("  %s: %s, %s, %s%s\n", text.Terminal(project.Project), text.Count(project.Sessions, "session"), text.Count(project.Prompts, "prompt"),
				text.Count(project.Tools, "tool call"), print.If(project.Present > 0, fmt.Sprintf("; %s here already", text.Count(project.Present, "event"))))
		}
		if d.DryRun {
			p.Printf("To import: %s. Nothing was imported.\n", eventCounts(d.Added))
			if d.Estimate != nil {
				p.Printf("%s\n", d.Estimate.text())
			}
		}
		if d.Read.Mended > 0 {
			p.Printf("Mended: %s, of which the whole records were read\n", text.Count(d.Read.Mended, "torn line"))
		}
		if rest := print.Join(", ", print.If(d.Present.Total() > 0, fmt.Sprintf("%d here already", d.Present.Total())),
			print.If(d.Skipped.Total() > 0, fmt.Sprintf("%d of tools that are not captured", d.Skipped.Total())),
			print.If(d.Read.Copied > 0, fmt.Sprintf("%d copied from another session", d.Read.Copied)),
			print.If(d.Read.OfHost > 0, fmt.Sprintf("%d of the host's own agents and warm-ups", d.Read.OfHost)),
			print.If(d.Private > 0, fmt.Sprintf("%d private", d.Private)),
			print.If(d.Excluded > 0, fmt.Sprintf("%d of excluded projects", d.Excluded)),
			print.If(d.Unselected > 0, fmt.Sprintf("%d of other projects or times", d.Unselected)),
			print.If(d.Read.Unknown > 0, fmt.Sprintf("%d of an unknown kind", d.Read.Unknown)),
			print.If(d.Read.Broken+d.Read.TooLong > 0, fmt.Sprintf("%d unreadable lines", d.Read.Broken+d.Read.TooLong))); rest != "" {
			p.Printf("Left out: %s\n", rest)
		}
		if left := leftOut(d.Others); left != "" {
			p.Printf("Files left out: %s\n", left)
		}
		if !d.DryRun && d.Import == 0 {
			p.Printf("Nothing new.\n")
		} else if !d.DryRun {
			a.showEnd(ctx, p, dataDir, d.Import, d.Projects[0].ProjectPath)
		}
	})
	for _, file := range d.Unreadable[:min(len(d.Unreadable), 20)] {
		a.Note("not read to its end: %s", print.Line(file, 300))
	}
	if err == nil && len(d.Unreadable) > 0 {
		return cli.Quietly(memory.CodeStorage)
	}
	return err
}

// isTranscripts reports whether a path is a transcript or a directory.
func isTranscripts(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || transcript.Is(path) || opencode.Is(path))
}

// What the observer sends of an event at most, in bytes (package mode), and what its answer to
// a turn takes, in tokens: about the mean of the recorded sessions.
const (
	shownInput    = 2 << 10
	shownResponse = 4 << 10
	shownRequest  = 24 << 10
	shownEvents   = 40
	answerTokens  = 500
	// digestTokens is what a turn adds to the digest of its session, maxDigest about its bound.
	digestTokens = 120
	maxDigest    = 1500
)

// costEstimate is what a model would read and answer.
type costEstimate struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Calls    int    `json:"calls"`
	Input    int    `json:"input_tokens"`
	Output   int    `json:"output_tokens"`
	// USD is the price without caching; absent for a model without a known price.
	USD *float64 `json:"usd,omitempty"`
	// DailyCap is the cap of tokens a day, above which rules take over; 0 for none.
	DailyCap int `json:"daily_cap"`
}

// estimator adds up what the observer would send for events, as it batches them: a call for
// each turn, with a digest of what is recorded of the session so far.
type estimator struct {
	settings *settings.Settings

	calls, input, output int
	session              string
	digest               int
	turnBytes, turnCount int
	system               int
}

// add adds an event that would be distilled. The events of a session follow each other, in their
// order.
func (s *estimator) add(e *memory.Event) {
	if e.HostSessionID != s.session {
		s.call()
		s.session, s.digest = e.HostSessionID, 0
	}
	switch e.Kind {
	case memory.KindPrompt:
		s.call()
		s.turnBytes += min(len(e.Prompt), shownResponse)
	case memory.KindTool:
		s.turnCount++
		s.turnBytes += min(len(e.ToolInput), shownInput) + min(len(e.ToolResponse)+len(e.ToolError), shownResponse)
		if s.turnBytes >= shownRequest || s.turnCount >= shownEvents {
			s.call()
		}
	case memory.KindStop:
		s.turnCount++
		s.turnBytes += min(len(e.LastAssistantMessage), 2*shownResponse)
		s.call()
	}
}

// call adds the call for what was added since the last one; none for nothing and for a prompt
// alone.
func (s *estimator) call() {
	if s.turnCount == 0 {
		s.turnBytes = 0
		return
	}
	if s.system == 0 {
		s.system = memory.EstimateTokens(mode.System(mode.LoadOrDefault("", ""), ""))
	}
	request := int(float64(s.turnBytes) / 3.5)
	s.calls++
	s.input += s.system + s.digest + request
	s.output += answerTokens
	s.digest = min(s.digest+digestTokens, maxDigest)
	s.turnBytes, s.turnCount = 0, 0
}

// estimate adds the last call and returns what was added up.
func (s *estimator) estimate() costEstimate {
	s.call()
	provider := s.settings.Text(settings.KeyProvider)
	named := cmp.Or(s.settings.Text(settings.KeyModel), model.DefaultModel(provider))
	if provider == settings.ProviderAuto || provider == claude.Name {
		named = cmp.Or(s.settings.Text(settings.KeyModel), "haiku")
	}
	e := costEstimate{Provider: provider, Model: named, Calls: s.calls, Input: s.input, Output: s.output, DailyCap: s.settings.Int(settings.KeyDailyTokenCap)}
	priced := print.Or(named == "haiku", model.DefaultModel("anthropic"), named)
	if usd, ok := model.Cost(priced, memory.ModelUsage{Input: s.input, Output: s.output}); ok {
		e.USD = &usd
	}
	return e
}

// text returns the estimate in words.
func (e *costEstimate) text() string {
	s := fmt.Sprintf("Estimate for %s: %s, about %s tokens in and %s out", e.Model, text.Count(e.Calls, "call"), text.Grouped(e.Input), text.Grouped(e.Output))
	if e.USD != nil {
		s += fmt.Sprintf(", about $%.2f at list price without caching", *e.USD)
	}
	if days := (e.Input + e.Output) / max(e.DailyCap, 1); e.DailyCap > 0 && days > 0 {
		s += fmt.Sprintf("; that is more than the %s tokens a day of DAILY_TOKEN_CAP: what is beyond is distilled by rules", text.Grouped(e.DailyCap))
	}
	return s + "."
}
