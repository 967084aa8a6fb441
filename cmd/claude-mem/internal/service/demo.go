package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
	"claudemem/internal/run/recorded"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// demoDistilLimit is how long the demo waits for the worker to have distilled everything.
const demoDistilLimit = 20 * time.Second

// DemoCommand returns the command `claude-mem demo`: replay a recorded session; needs no
// agent and no model.
func (a *Verbs) DemoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Replay a recorded session; needs no agent and no model",
		Long: `Replay a real, recorded agent session through the real hooks and a real worker
into a temporary memory. Show the records, the context block of the next session, and
the cost. Needs no agent, no model and no network. Your own memory is not changed.

With --open the viewer shows this memory for 10 minutes, also after the command has ended.`,
		Example: "  claude-mem demo\n  claude-mem demo --open\n  claude-mem demo --keep",
	}
	a.JSONFlag(cmd)
	keep := cmd.Flags().Bool("keep", false, "keep the temporary memory and print its path")
	open := cmd.Flags().Bool("open", false, "show the temporary memory in the viewer for 10 minutes")
	name := cmd.Flags().String("session", demoDefault, "the recorded session to replay")
	cli.CompleteFlag(cmd, "session", cli.ChoicesOf(recorded.Sessions, func(s *recorded.Session) cobra.Completion { return cli.Described(s.Name, s.Note) }))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		session, err := demoSession(*name)
		if err != nil {
			return err
		}
		d, err := newDemo(a, session)
		if err != nil {
			return err
		}
		result, err := d.run(cmd.Context())
		let := ""
		if err == nil && *open {
			let, err = d.open(cmd.Context(), result, *keep)
		}
		if err != nil || !*open {
			// Stop the worker and remove the directory also after an error.
			err = errors.Join(err, d.close(*keep))
		}
		if err != nil {
			return err
		}
		if *keep {
			result.DataDir = d.dataDir
		}
		err = a.Show(result, func(p *print.Printer) {
			result.print(p)
			if *keep {
				a.Note("memory kept in %s:\n  %s", d.dataDir, cli.WithVariable(settings.DataDirKey, d.dataDir, "claude-mem recent --all"))
			}
		})
		if err == nil && *open && !a.JSON {
			_ = openBrowser(let) // its address is printed
		}
		return err
	}
	cmd.AddCommand(a.demoEndCommand())
	return cmd
}

const (
	// demoShown is how long the viewer shows the memory of a demo.
	demoShown = 10 * time.Minute
	// demoPort is the first port that its worker tries: not those of the user's own worker.
	demoPort = 37877
	// demoPrefix begins the name of a demo's directory.
	demoPrefix = "claude-mem-demo-"
	// demoMemory is the data directory in it.
	demoMemory = "memory"
)

// demoEndCommand returns the hidden command by which a demo that the viewer shows is ended.
func (a *Verbs) demoEndCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "end DIR",
		Short:   "Wait until the time of a demo is over, or its worker is stopped, and remove it",
		Long:    "The command `demo --open` starts this one, which goes on when it has ended.",
		Example: "  claude-mem demo end /tmp/claude-mem-demo-1234",
		Hidden:  true,
	}
	keep := cmd.Flags().Bool("keep", false, "keep the memory")
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		d := &demo{app: a, root: given[0], dataDir: filepath.Join(given[0], demoMemory)}
		if filepath.Dir(d.root) != filepath.Clean(os.TempDir()) || !strings.HasPrefix(filepath.Base(d.root), demoPrefix) {
			return memory.Errorf(memory.CodeInvalid, "%q is not the directory of a demo", print.Line(d.root, 200))
		}
		shown, cancel := context.WithTimeout(cmd.Context(), demoShown)
		defer cancel()
		for control.Pause(shown, time.Second) {
			if status, err := control.Look(shown, d.dataDir); err == nil && !status.Running {
				break // somebody stopped it
			}
		}
		return d.close(*keep)
	}
	return cmd
}

// open starts a worker with a TCP port on the memory of the demo, and a process that ends
// both later, and removes the memory unless keep is set. It sets result.Viewer and returns an
// address that lets a browser in once. After an error the caller closes d.
func (d *demo) open(ctx context.Context, result *demoResult, keep bool) (string, error) {
	if err := d.configure(demoPort); err != nil {
		return "", err
	}
	let, err := viewerAddress(ctx, d.dataDir, "")
	if err != nil {
		return "", err
	}
	worker, err := api.FindWorker(d.dataDir)
	if err != nil {
		return "", err
	}
	end, err := Detached(d.root)(context.Background(), "demo", "end", d.root, fmt.Sprintf("--keep=%v", keep)) // it outlives us
	if err != nil {
		return "", err
	}
	end.Dir = filepath.Dir(d.root) // Windows removes no directory in which a process runs
	if err := end.Start(); err != nil {
		return "", fmt.Errorf("start the end of the demo: %w", err)
	}
	result.Viewer = fmt.Sprintf("http://127.0.0.1:%d/", worker.Info.Port)
	return let, end.Process.Release()
}

// demoDefault is the session replayed by default: many kinds of work in few turns.
const demoDefault = "ratelimit-burst"

// demoSession returns the recorded session of that name; CodeNotFound with the names
// there are.
func demoSession(name string) (recorded.Session, error) {
	sessions := recorded.Sessions()
	if at := slices.IndexFunc(sessions, func(s recorded.Session) bool { return s.Name == name }); at >= 0 {
		return sessions[at], nil
	}
	names := collect.MapPtr(sessions, func(s *recorded.Session) string { return s.Name })
	err := memory.Errorf(memory.CodeNotFound, "no recorded session %q", print.Line(name, 40))
	return recorded.Session{}, err.WithHint(cli.DidYouMean(name, names, "`claude-mem demo --session %s`", "there are "+strings.Join(names, ", ")))
}

// demo is one replay, with a home directory of its own.
type demo struct {
	app                       *Verbs
	session                   recorded.Session
	root, home, dataDir, work string
	hookProgram               string
	hookVerbs                 bool // the hook program is this one and needs a verb
	env                       []string
}

// demoResult is the output of the demo.
type demoResult struct {
	Session     string                   `json:"session"`
	Note        string                   `json:"note"`
	HostVersion string                   `json:"host_version"`
	DataDir     string                   `json:"data_dir,omitempty"`
	HookCalls   int                      `json:"hook_calls"`
	HookMS      demoTimes                `json:"hook_ms"`
	Queue       memory.Books             `json:"queue"`
	Records     []print.ShownObservation `json:"observations"`
	Summaries   int                      `json:"summaries"`
	Context     string                   `json:"context"`
	Tokens      int                      `json:"tokens"`
	StoredBytes int64                    `json:"stored_bytes"`
	Viewer      string                   `json:"viewer,omitempty"`
}

type demoTimes struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// newDemo makes a temporary directory with a home, a data directory and the project of a
// recorded session. The caller removes them with close; after an error nothing is left.
func newDemo(a *Verbs, session recorded.Session) (*demo, error) {
	root, err := os.MkdirTemp("", demoPrefix)
	if err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "make temporary directory: %w", err).
			WithHint("set TMPDIR to a directory that can be written")
	}
	d := &demo{
		app: a, session: session, root: root,
		home:    filepath.Join(root, "home"),
		dataDir: filepath.Join(root, demoMemory),
		work:    filepath.Join(root, session.Project),
	}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return d, nil
}

// prepare makes the demo's directories, project files and settings, and chooses the hook
// program and its environment.
func (d *demo) prepare() error {
	for _, dir := range []string{d.home, d.dataDir, d.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make demo directory: %w", err)
		}
	}
	if err := recorded.CopyFiles(d.work, d.session.Project); err != nil {
		return err
	}
	if err := d.configure(0); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	d.hookProgram = HookProgram(self)
	d.hookVerbs = d.hookProgram == self
	d.env = append(hook.WorkerEnviron(os.Environ(), d.dataDir), "HOME="+d.home, "USERPROFILE="+d.home, "CLAUDE_PROJECT_DIR="+d.work)
	return nil
}

// configure writes the settings of the demo: the offline observer, and the worker's TCP port, 0
// for none.
func (d *demo) configure(port int) error {
	chosen := fmt.Appendf(nil, `{"CLAUDE_MEM_WORKER_PORT": "%d", "CLAUDE_MEM_PROVIDER": "offline"}`+"\n", port)
	if err := atomicfile.Write(filepath.Join(d.dataDir, "config.json"), chosen, 0o600); err != nil {
		return fmt.Errorf("write demo settings: %w", err)
	}
	return nil
}

// run starts a worker, replays the session through the hook, asks for the next session's
// context block and stops the worker. It returns what was remembered and what it cost.
func (d *demo) run(ctx context.Context) (*demoResult, error) {
	if err := Start(ctx, d.dataDir); err != nil {
		return nil, err
	}
	result := &demoResult{Session: d.session.Name, Note: d.session.Note, HostVersion: d.session.Version}
	var took []time.Duration
	for _, payload := range d.session.Payloads {
		start := time.Now()
		if _, err := d.hook(ctx, payload.Event, recorded.Render(payload.Body, d.work, d.home)); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	result.HookCalls = len(took)
	result.HookMS = demoTimes{Median: millis(took[len(took)/2]), Max: millis(took[len(took)-1])}
	if err := d.collect(ctx, result); err != nil {
		return nil, err
	}

	next, _ := json.Marshal(map[string]string{ // texts always encode
		"session_id": "the-next-session", "cwd": d.work, "hook_event_name": "SessionStart", "source": "startup",
	})
	answer, err := d.hook(ctx, "SessionStart", next)
	if err != nil {
		return nil, err
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &reply); err != nil {
			return nil, fmt.Errorf("decode the context hook's answer: %w", err)
		}
	}
	result.Context = reply.HookSpecificOutput.AdditionalContext
	result.Tokens = memory.EstimateTokens(result.Context)
	// A worker that stops copies the write-ahead log into the database: then the files
	// have the size of the memory.
	if _, err := control.Stop(ctx, d.dataDir, StopLimit); err != nil {
		return nil, err
	}
	result.StoredBytes = control.SizesOf(d.dataDir).Total
	return result, nil
}

// hook runs the hook as the host does and returns what it printed. An error is one of starting
// it, or an exit code other than 0.
func (d *demo) hook(ctx context.Context, event string, payload []byte) ([]byte, error) {
	var verb []string
	if d.hookVerbs {
		of, _ := hook.EventNamed(event)
		verb = []string{string(of)}
	}
	cmd := exec.CommandContext(ctx, d.hookProgram, verb...)
	cmd.Env, cmd.Dir, cmd.Stdin = d.env, d.work, bytes.NewReader(payload)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run the hook for %s: %w", event, err)
	}
	return out, nil
}

// collect waits until events were received and none is pending, at most demoDistilLimit, and adds
// the records to the result, in the order in which things happened; CodeUnavailable after that
// time.
func (d *demo) collect(ctx context.Context, result *demoResult) error {
	ctx, cancel := context.WithTimeout(ctx, demoDistilLimit)
	defer cancel()
	for {
		worker, err := api.FindWorker(d.dataDir)
		if err != nil {
			return err
		}
		stats, err := worker.Stats(ctx, api.StatsRequest{Brief: true})
		if err != nil {
			return err
		}
		if stats.Queue.Received > 0 && stats.Queue.Pending+stats.Queue.Processing == 0 {
			result.Queue, result.Summaries = stats.Queue, stats.Totals.Summaries
			page, err := worker.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: api.Paged{Limit: api.MaxLimit}})
			slices.Reverse(page.Results) // in the order in which things happened
			result.Records = print.ShownOf(page.Results)
			return err
		}
		if !control.Pause(ctx, 10*time.Millisecond) {
			return memory.Errorf(memory.CodeUnavailable, "the worker has not distilled the session after %v", demoDistilLimit).
				WithHint("`claude-mem demo --keep` keeps the memory and its log")
		}
	}
}

// close stops the worker and, unless keep is set, removes what the demo made. If the worker
// cannot be stopped within StopLimit, it returns that error and removes nothing. It works also
// after the command was interrupted.
func (d *demo) close(keep bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), StopLimit)
	defer cancel()
	if _, err := control.Stop(ctx, d.dataDir, StopLimit); err != nil {
		return err // its files must stay while it runs
	}
	if keep {
		return nil
	}
	if err := os.RemoveAll(d.root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove demo directory: %w", err)
	}
	return nil
}

// millis returns d in milliseconds, with two decimals.
func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// print prints the result for people.
func (r *demoResult) print(p *print.Printer) {
	p.Printf("%s %s: %s\n", p.Style(print.Bold, "Replayed"), r.Session, r.Note)
	p.Printf("%s\n\n", p.Style(print.Dim, fmt.Sprintf("recorded from Claude Code %s; %d calls of the real hook, with a real worker", r.HostVersion, r.HookCalls)))
	p.Heading(fmt.Sprintf("Remembered: %s, %s", text.Count(len(r.Records), "observation"), text.Count(r.Summaries, "turn summary")))
	for _, o := range r.Records {
		p.Printf("  %s %s  %s\n", o.Type.Glyph(), print.Line(o.Title, 100), p.Style(print.Dim, fmt.Sprintf("#%d", o.ID)))
		for _, fact := range o.Facts[:min(3, len(o.Facts))] {
			p.Printf("      %s\n", p.Style(print.Dim, print.Line(fact, 110)))
		}
	}
	p.Printf("\n")
	p.Heading(fmt.Sprintf("Context block of the next session: %d tokens", r.Tokens))
	p.Printf("%s\n\n", text.Terminal(strings.TrimRight(r.Context, "\n")))
	p.Heading("Cost")
	p.Printf("  %d events received, %d processed, %d skipped, %d duplicates\n", r.Queue.Received, r.Queue.Processed, r.Queue.Skipped, r.Queue.Duplicates)
	p.Printf("  %.1f ms per hook call (median, with process start; slowest %.1f ms)\n", r.HookMS.Median, r.HookMS.Max)
	p.Printf("  0 model calls, 0 tokens (offline observer)\n")
	p.Printf("  %s on disk\n", text.Bytes(r.StoredBytes))
	if r.Viewer != "" {
		p.Printf("\n")
		p.Heading("Viewer, for 10 minutes")
		p.Printf("  %s\n", r.Viewer)
	}
}

// HookProgram returns the hook program beside this one; without it this program itself,
// which has the same verbs.
func HookProgram(self string) string {
	twin := filepath.Join(filepath.Dir(self), install.HookProgram+filepath.Ext(self))
	if info, err := os.Stat(twin); err == nil && info.Mode().IsRegular() {
		return twin
	}
	return self
}
