package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/setup"
	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// fromDatabaseLimit bounds the fallback: the hook has already waited for the
// worker, and the host waits for the hook.
const fromDatabaseLimit = 600 * time.Millisecond

// hookVerbs are the commands that the host runs.
var hookVerbs = []struct {
	verb  hook.Verb
	short string
	event string
}{
	{hook.VerbContext, "At session start: print the project's context block", "SessionStart"},
	{hook.VerbNew, "Remember a prompt", "UserPromptSubmit"},
	{hook.VerbSave, "Remember a tool call, or its failure", "PostToolUse"},
	{hook.VerbSummary, "Remember the end of a turn", "Stop"},
	{hook.VerbEnd, "Remember the end of a session", "SessionEnd"},
	{hook.VerbStatusline, "Print one line for the host's status line", "Status"},
}

// runHook runs a hook verb and reports whether the arguments were one. Hook verbs bypass
// cobra: they exit 0, print only their reply, and the host waits for them.
func runHook(args []string) (done bool) {
	started := time.Now()
	if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return false
	}
	for _, v := range hookVerbs {
		if args[0] != string(v.verb) {
			continue
		}
		if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
			return false // no host names an argument: a person takes it for another command
		}
		if v.verb == hook.VerbContext && previewing(args) {
			return false
		}
		if v.verb == hook.VerbContext && slices.Contains(args, "--from-database") {
			contextFromDatabase(args[1:], os.Stdout)
			return true
		}
		hook.Main(args, hook.Options{StartedAt: started, Fallback: fallback})
		return true
	}
	return false
}

// hookCommands returns the hook verbs for the help; runHook handles their calls.
func (a *app) hookCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, v := range hookVerbs {
		prints := print.Or(v.verb == hook.VerbStatusline, "the line (docs/statusline.md)", "one JSON object for the host")
		cmd := &cobra.Command{
			Use:   string(v.verb),
			Short: v.short,
			Long: v.short + `. The host runs this.
It reads one JSON payload from standard input, always exits 0, and prints nothing or ` + prints + `.`,
			Example: `  echo '{"hook_event_name":"` + v.event + `","session_id":"s1","cwd":"'"$PWD"'"}' | claude-mem ` + string(v.verb),
			Run:     func(*cobra.Command, []string) {},
			Args: func(cmd *cobra.Command, given []string) error {
				if len(given) == 0 {
					return nil
				}
				err := memory.Errorf(memory.CodeInvalid, "`%s` is run by an agent's hooks: it takes no argument and saves no text", cmd.CommandPath())
				return err.WithHint(print.Or(v.verb == hook.VerbContext, "did you mean `claude-mem context --preview`?",
					"did you mean `"+cli.CommandLine("claude-mem remember", given)+"`?"))
			},
		}
		cmd.Flags().String("host", string(memory.HostClaudeCode), "the host of the payload: "+setup.AgentNames()+" or raw")
		if v.verb == hook.VerbContext {
			a.addPreview(cmd)
		}
		commands = append(commands, cmd)
	}
	return commands
}

// contextFromDatabase runs `context --from-database`, which claude-mem-hook calls when no
// worker answers. After an error it prints nothing, and the session gets no block.
func contextFromDatabase(args []string, stdout io.Writer) {
	flags := flag.NewFlagSet("context", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var request memory.ContextRequest
	flags.Bool("from-database", true, "")
	host := flags.String("host", string(memory.HostClaudeCode), "")
	flags.StringVar(&request.HostSessionID, "session-id", "", "")
	flags.StringVar(&request.ProjectPath, "project", "", "")
	flags.StringVar(&request.Source, "source", "", "")
	flags.StringVar(&request.Checkout.Root, "worktree", "", "")
	flags.StringVar(&request.Checkout.Branch, "branch", "", "")
	flags.StringVar(&request.Checkout.HeadCommit, "head", "", "")
	flags.StringVar(&request.StartDir, "start-dir", "", "")
	flags.StringVar(&request.ConfigDir, "config-dir", "", "")
	if flags.Parse(args) != nil {
		return
	}
	request.Host = memory.Host(*host)
	debug.SetGCPercent(-1) // the process ends sooner than its garbage counts
	ctx, cancel := context.WithTimeout(context.Background(), fromDatabaseLimit+settings.Slack(os.Getenv))
	defer cancel()
	reply, err := fallback(ctx, request)
	if err == nil {
		_, _ = stdout.Write(reply) // a hook that has given up misses nothing
	}
}

// errNoBlock means that there is nothing to show, which is no fault.
var errNoBlock = errors.New("no context block")

// fallback builds the context block from the database, without a worker, and returns the
// hook's reply. It notes in the spool which records the session was shown. A database that cannot be
// used is a message in the reply; errNoBlock if there is nothing to say.
func fallback(ctx context.Context, request memory.ContextRequest) ([]byte, error) {
	dataDir := settings.DataDir(os.Getenv)
	if dataDir == "" {
		return nil, errNoBlock
	}
	block, err := access.Place{DataDir: dataDir, Getenv: os.Getenv, Clock: time.Now}.Context(ctx, request)
	if err != nil {
		block.SystemMessage = troubleText(err)
	}
	if block.Text != "" || block.Injection.Arm != "" { // of a trial what is withheld is booked too
		_ = spoolInjection(dataDir, &block) // if this fails, a resumed session may be shown some of it again
	}
	if block.Text == "" && block.SystemMessage == "" {
		return nil, errNoBlock
	}
	var reply bytes.Buffer
	hook.PrintBlock(&reply, &block)
	return reply.Bytes(), nil
}

// spoolInjection leaves what was given for the worker to book.
func spoolInjection(dataDir string, block *memory.ContextBlock) error {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return wire.SpoolOf(dataDir).WriteInjection(memory.NewDeliveryID(time.Now(), random), new(block.Injection.Complete()))
}

// troubleText returns the message for the user about a database that cannot be used: the
// worker cannot start for the same reason. "" when the error is temporary or no fault.
func troubleText(err error) string {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeNewerSchema && e.Code != memory.CodeStorage {
		return ""
	}
	return "claude-mem: " + cli.WithHint(err)
}

// previewing reports whether the arguments of `context` have --preview, --why or --now: these
// are for a person and go through cobra.
func previewing(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--preview" || name == "--why" || name == "--now"
	})
}

// contextPreview is a preview with its builder and its session.
type contextPreview struct {
	api.Preview
	BuiltBy string `json:"built_by"`
	Session string `json:"session,omitempty"`
}

// The values of contextPreview.BuiltBy.
const (
	builtByWorker   = "worker"
	builtByDatabase = "database" // read by the command itself
)

// contextSources are the ways in which a session can start.
var contextSources = []string{"startup", "clear", "compact", "resume"}

// addPreview adds --preview and --why to the hook verb.
func (a *app) addPreview(cmd *cobra.Command) {
	cmd.Long += `

--preview is for people: it prints exactly the block that a session started now in this
directory would get, and below it the cost of each layer and the layers left out. Nothing
is recorded or changed. --why explains a line: by the number of an observation ('#12'),
of a session (S3), or of the line (7).

--now gives the block to a session that an experiment keeps from it: type
"! claude-mem context --now" in it. It is told lines from then on, and counts as before in
the arm to which it was assigned.

What the host loads by itself is left out: lines that a CLAUDE.md of this directory or
above, one of the user, or Claude Code's own memory of the project says in nearly the
same words. The list of what is left out names the file.

A running worker builds the block; without a worker it is built from the database, as a
hook does: records that fit the latest summary are then found by words alone. Events in
the spool are not included: the worker stores them before a session starts.`
	cmd.Example += `
  claude-mem context --preview
  claude-mem context --preview --budget 500 --source resume --session last
  claude-mem context --preview --why '#12'`
	cmd.Flags().Bool("preview", false, "show the context block of a session started now, and its cost")
	now := cmd.Flags().Bool("now", false, "print the block of the running session, even if an experiment withholds it")
	budget := cmd.Flags().Int("budget", 0, "with --preview: tokens (default: the setting's)")
	source := cmd.Flags().String("source", contextSources[0], "with --preview: the start of the session: "+strings.Join(contextSources, ", "))
	session := cmd.Flags().String("session", "", "with --preview: a session, named as for sessions show\n(default: a new one; for resume and compact the last)")
	project := a.ProjectFlag(cmd, "", "with --preview: "+cli.OfCurrent)
	cli.CompleteFlag(cmd, "source", cli.Fixed(contextSources...))
	cli.CompleteFlag(cmd, "session", a.NamedSessionChoices())
	why := cmd.Flags().String("why", "", "explain lines: '#12', S3 or a line's number")
	host := cmd.Flags().Lookup("host")
	cmd.Run = nil
	a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		if !slices.Contains(contextSources, *source) {
			return memory.Errorf(memory.CodeInvalid, "--source %.40q: want %s", *source, strings.Join(contextSources, ", "))
		}
		named, err := lineNamed(*why)
		if err != nil {
			return err
		}
		asked := api.ContextRequest{Host: host.Value.String(), HostSessionID: *session, ProjectPath: *project, Source: *source, Budget: *budget}
		if *now {
			return a.contextNow(ctx, m, asked)
		}
		preview, err := a.previewContext(ctx, m, asked)
		if err != nil {
			return a.EmptyMemory(err, contextPreview{BuiltBy: builtByDatabase, Preview: api.Preview{
				Layers: []memory.LayerCost{}, Skipped: []memory.LayerCost{}, Source: *source,
				Lines: []api.PreviewLine{}, LeftOut: []memory.ContextLine{}}})
		}
		if named != nil {
			return a.printWhy(preview, *why, named)
		}
		return a.Show(preview, func(p *print.Printer) {
			printPreview(p, preview)
			if names, err := wire.SpoolOf(m.DataDir).List(a.Now()); err == nil && len(names) > 0 {
				a.Note("Not included: %s in the spool; the worker stores them before a session starts.", text.Count(len(names), "delivery"))
			}
			a.Note(print.Or(preview.Text == "", "A session started now would get no context block.",
				"`--why 5` explains the fifth line, `--why '#12'` the line of observation 12."))
		})
	})
}

// contextNow prints the block of the session that runs the command, else of the one that r names, whatever an
// experiment gives it, and has it booked as given.
func (a *app) contextNow(ctx context.Context, m *access.Memory, r api.ContextRequest) error {
	asking := a.Getenv(sessionKey)
	if r.Source = memory.SourceNow; asking == "" {
		r.HostSessionID = cmp.Or(r.HostSessionID, "last")
	}
	r, _, err := a.contextOf(ctx, m, r)
	if err != nil {
		return err
	}
	r.HostSessionID = cmp.Or(asking, r.HostSessionID)
	block, err := access.Place{DataDir: m.DataDir, Getenv: a.Getenv, Clock: a.Now}.Context(ctx, r.Block())
	if err == nil && block.Text != "" {
		err = spoolInjection(m.DataDir, &block)
	}
	return a.Done(map[string]string{"context": block.Text}, err, func(p *print.Printer) {
		p.Printf("%s", block.Text)
		if block.Text == "" {
			a.Note("There is nothing to give; `claude-mem context --preview` shows what was left out.")
		}
	})
}

// previewContext returns a block; session and project of the request are names as the
// user types them. CodeNotFound and CodeInvalid for names of none or of several.
func (a *app) previewContext(ctx context.Context, m *access.Memory, r api.ContextRequest) (*contextPreview, error) {
	r, session, err := a.contextOf(ctx, m, r)
	if err != nil {
		return nil, err
	}
	preview := &contextPreview{BuiltBy: builtByWorker, Session: session}
	if preview.Preview, err = m.Preview(ctx, r); err != nil {
		return nil, err
	}
	if m.Away() {
		preview.BuiltBy = builtByDatabase
	}
	if preview.Budget == 0 {
		if resolved, err := settings.Load(m.DataDir, a.Getenv); err == nil {
			preview.Budget = resolved.Int(settings.KeyContextBudget)
		}
	}
	return preview, nil
}

// contextOf returns a request whose session and project are names as the user types them with what they name, and
// the session as "S12".
func (a *app) contextOf(ctx context.Context, m *access.Memory, r api.ContextRequest) (_ api.ContextRequest, session string, err error) {
	where, err := a.previewProject(ctx, m.Memory, r.ProjectPath)
	if err != nil {
		return r, "", err
	}
	if r.HostSessionID == "" && (r.Source == "resume" || r.Source == "compact") {
		r.HostSessionID = "last" // these are of a session that there is already
	}
	r.StartDir = where.WorktreeRoot
	if r.ProjectPath == "" || cli.IsPath(r.ProjectPath) {
		r.StartDir, _ = filepath.Abs(cmp.Or(r.ProjectPath, ".")) // without it nothing is left out
	}
	r.ConfigDir, _ = claudedir.Config(a.Getenv, a.Home())
	r.ProjectPath, r.WorktreeRoot, r.Branch, r.HeadCommit = where.Project, where.WorktreeRoot, where.Branch, where.HeadCommit
	if r.HostSessionID == "" {
		return r, "", nil
	}
	of, err := m.Receipt(ctx, api.ReceiptRequest{Name: r.HostSessionID, Project: where.Project})
	r.Host, r.HostSessionID = string(of.Host), of.HostSessionID
	return r, fmt.Sprintf("S%d", of.ID), err
}

// previewProject returns the checkout of a path, "" for the current directory, or of a project by its
// name: of one whose directory is gone, only the project.
func (a *app) previewProject(ctx context.Context, m api.Memory, name string) (repo.Identity, error) {
	if name = cmp.Or(name, "."); cli.IsPath(name) {
		return a.CheckoutAt(name)
	}
	root, err := a.RootOf(ctx, m, name, "there is no project")
	if err != nil {
		return repo.Identity{}, err
	}
	where := repo.Identity{Project: root}
	if openfile.IsDir(root) { // else nothing is checked out there
		where = repo.Identify("", root)
		where.Project = root
	}
	return where, nil
}

// lineNamed returns whether a line is the one that the value of --why names: "#12" that of an
// observation, S3 of a session, 7 the seventh of the block. The line of a session may stand for
// several of its observations. It is nil for "".
func lineNamed(text string) (func(*api.PreviewLine) bool, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	id, err := cli.ParseID(text)
	switch {
	case err != nil || id.ULID != "":
		return nil, memory.Errorf(memory.CodeInvalid, "--why %.40q names no line", text).
			WithHint("'#12' is the line of an observation, S3 of a session, 7 the seventh line of the block")
	case id.Session:
		return func(l *api.PreviewLine) bool {
			return l.Session == memory.SessionID(id.Number) && (l.Observation == 0 || l.Layer == "sessions")
		}, nil
	case strings.HasPrefix(text, "#"):
		o := memory.ObservationID(id.Number)
		return func(l *api.PreviewLine) bool { return l.Observation == o || slices.Contains(l.Observations, o) }, nil
	}
	return func(l *api.PreviewLine) bool { return l.Number == int(id.Number) }, nil
}

// printWhy explains the lines that ref names, which named finds, those that were left out too.
// CodeNotFound if there are none.
func (a *app) printWhy(preview *contextPreview, ref string, named func(*api.PreviewLine) bool) error {
	lines := slices.DeleteFunc(preview.Lines, func(l api.PreviewLine) bool { return !named(&l) })
	leftOut := slices.DeleteFunc(preview.LeftOut, func(l memory.ContextLine) bool { return !named(&api.PreviewLine{ContextLine: l}) })
	if len(lines)+len(leftOut) == 0 {
		_, notNumber := strconv.Atoi(ref)
		return memory.Errorf(memory.CodeNotFound, print.Or(notNumber == nil, "the block has no line %.40s", "%.40s is not in the block"), ref).
			WithHint("`claude-mem context --preview` shows the block and the layers left out")
	}
	return a.Show(map[string]any{"lines": lines, "left_out": leftOut}, func(p *print.Printer) {
		lines = append(lines, collect.Map(leftOut, func(l memory.ContextLine) api.PreviewLine { return api.PreviewLine{ContextLine: l} })...)
		printLines(p, lines)
	})
}

// printLines prints lines of a block and why each is in it, or left out of it: those have no
// number.
func printLines(p *print.Printer, lines []api.PreviewLine) {
	for _, l := range lines {
		about := print.Join(" · ", cmp.Or(print.If(l.Number != 0, fmt.Sprintf("line %d", l.Number)), "left out"), l.Layer, text.Count(l.Tokens, "token"),
			print.If(l.Observation != 0, observationNumbers(&l)), print.If(l.Session != 0, fmt.Sprintf("S%d", l.Session)),
			print.If(l.Learning != 0, fmt.Sprintf("learning %d", l.Learning)))
		p.Printf("%s\n  %s %s\n  %s\n", text.Terminal(l.Text), p.Style(print.Bold, "why:"), print.Line(l.Why, 0), p.Style(print.Dim, about))
	}
}

// observationNumbers returns the numbers of the observations of a line: "#1, #2".
func observationNumbers(l *api.PreviewLine) string {
	if len(l.Observations) == 0 {
		return fmt.Sprintf("#%d", l.Observation)
	}
	return strings.Join(collect.MapPtr(l.Observations, func(id *memory.ObservationID) string { return fmt.Sprintf("#%d", *id) }), ", ")
}

// printPreview prints a block, and below it its cost.
func printPreview(p *print.Printer, v *contextPreview) {
	if v.Text != "" {
		p.Printf("%s\n\n", v.Text)
	}
	p.Printf("%s\n", p.Style(print.Dim, strings.Repeat("─", 72)))
	p.Heading(fmt.Sprintf("Context block of %s in %s at %s", cmp.Or(v.Session, "a new session"), print.Line(memory.ProjectLabel(v.ProjectPath), 60), v.Source))
	by := print.Or(v.BuiltBy == builtByDatabase, "from the database", "by the worker")
	p.Printf("  %d of %s, built %s in %.1f ms\n", v.Tokens, text.Count(v.EffectiveBudget, "token"), by, v.BuildMS)
	switch {
	case v.Budget > v.EffectiveBudget:
		p.Printf("  the budget is %d; the host accepts %d\n", v.Budget, v.EffectiveBudget)
	case v.Budget < v.EffectiveBudget:
		p.Printf("  the budget is %d; a block needs %d\n", v.Budget, v.EffectiveBudget)
	}
	frame := v.Tokens
	layers := collect.MapPtr(v.Layers, func(l *memory.LayerCost) []string {
		frame -= l.Tokens
		return []string{print.Line(l.Name, 40), text.Count(l.Tokens, "token"), linesText(l)}
	})
	if v.Text != "" {
		layers = append(layers, []string{"frame", text.Count(frame, "token")})
	}
	p.Columns(layers)
	p.Table("Left out", collect.MapPtr(v.Skipped, func(l *memory.LayerCost) []string { return []string{print.Line(l.Name, 40), skippedText(l)} }))
}

// linesText returns the number of lines of a layer, "" for none.
func linesText(l *memory.LayerCost) string {
	return print.If(l.Items > 0, text.Count(l.Items, "line"))
}

// skippedText returns the reason why a layer was left out, and its cost.
func skippedText(l *memory.LayerCost) string {
	cost := print.Join(", ", linesText(l), print.If(l.Tokens > 0, text.Count(l.Tokens, "token")))
	return print.Line(l.Reason, 100) + print.If(cost != "", " ("+cost+")")
}
