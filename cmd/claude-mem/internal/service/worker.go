package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// startLimit is how long `worker start` waits for the worker to be ready; it
// takes in the spool before it listens, which may be long after an outage.
const startLimit = 30 * time.Second

// StopLimit is how long `worker stop` waits for the worker to end.
const StopLimit = 30 * time.Second

// WorkerCommand returns the command `claude-mem worker`: start, stop and inspect the worker.
func (a *Verbs) WorkerCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "worker",
		Short: "Start, stop and inspect the background worker",
		Long: `The worker is the background process of a memory: it stores events, distils them and
builds context blocks. Hooks start it when needed; it exits after
CLAUDE_MEM_IDLE_EXIT_MINUTES without work.`,
		Example: "  claude-mem worker status\n  claude-mem worker restart\n  claude-mem worker logs -n 20",
	}, a.withStatus(&cobra.Command{
		Use:     "start",
		Short:   "Start the worker and wait until it is ready",
		Long:    "Start the worker in the background and wait until it is ready. It is no error when it runs already.",
		Example: "  claude-mem worker start",
	}, Start), a.InDataDir(&cobra.Command{
		Use:     "stop",
		Short:   "Stop the worker; nothing is lost",
		Long:    "Ask the worker to finish its current work and wait until it has ended. It is no error when\nno worker runs.",
		Example: "  claude-mem worker stop",
	}, func(ctx context.Context, dataDir string, _ []string) error {
		stopped, err := control.Stop(ctx, dataDir, StopLimit)
		if err == nil {
			a.Note("%s", print.Or(stopped, "worker stopped", "no worker was running"))
		}
		return err
	}), a.withStatus(&cobra.Command{
		Use:     "restart",
		Short:   "Stop the worker and start this version",
		Long:    "Stop the worker, if one runs, and start this program's.",
		Example: "  claude-mem worker restart",
	}, restart), a.withStatus(&cobra.Command{
		Use:   "status",
		Short: "Show whether the worker runs, and its state",
		Long: `Show whether the worker runs, its version, the state of its stages, its settings, and
current problems, such as a provider that does not answer.
The exit code is 0 when it runs and 5 when it does not.`,
		Example: "  claude-mem worker status --json",
	}, func(context.Context, string) error { return nil }), a.workerLogsCommand(), a.workerRunCommand())
}

func (a *Verbs) workerRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "run",
		Short:   "Run the worker in the foreground",
		Long:    "Run the worker until a signal, a `worker stop` or idleness ends it. Hooks and `worker start`\nrun this in the background, with an environment without settings. In the foreground, your\nenvironment sets what config.json does not; `worker status` shows the origin of each value.",
		Hidden:  true,
		Example: "  claude-mem worker run",
	}
	checkIndex := cmd.Flags().Duration("check-index", 0, "how often the pages of the index are compared with their sums, 0 for every 10 minutes")
	return a.InDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		worker, err := a.openWorker(ctx, dataDir, *checkIndex)
		switch {
		case err == nil:
			return worker.Run(ctx)
		case memory.CodeOf(err) != memory.CodeConflict:
			wire.NoteStart(dataDir, cli.WithHint(err)) // for the hooks, which tell the user
		}
		return err
	})
}

// openWorker opens a worker; CodeStorage if something else stands in the place of one of its
// files: it might wait for the other end of a FIFO for ever. Settings that cannot be read are
// only logged. checkIndex is as the flag --check-index has it.
func (a *Verbs) openWorker(ctx context.Context, dataDir string, checkIndex time.Duration) (*daemon.Worker, error) {
	if wrong := wire.Misplaced(dataDir); wrong != nil {
		return nil, memory.Errorf(memory.CodeStorage, "in %s, %s", dataDir, strings.Join(wrong, "; ")).
			WithHint("move it away, then run `claude-mem worker restart`")
	}
	resolved, unread := settings.LoadForWorker(dataDir, a.Getenv)
	log, _, err := daemon.OpenLog(dataDir, resolved.Text(settings.KeyLogLevel)) // open as long as the process
	if err != nil {
		return nil, err
	}
	if unread != nil {
		log.Warn("settings", "error", unread)
	}
	return daemon.Open(ctx, daemon.Config{DataDir: dataDir, Settings: resolved, Version: wire.Program, Logger: log, CheckIndex: checkIndex, Command: Detached(dataDir)})
}

// withStatus returns a command that calls do and, unless that fails, prints the worker's state. Without a
// worker the exit code is that of CodeUnavailable.
func (a *Verbs) withStatus(cmd *cobra.Command, do func(ctx context.Context, dataDir string) error) *cobra.Command {
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		err := do(ctx, dataDir)
		if err != nil {
			return err
		}
		status, err := control.Look(ctx, dataDir)
		err = a.Done(status, err, func(p *print.Printer) {
			printWorker(p, &status)
			printDevices(ctx, p, dataDir)
			if !status.Running {
				a.Note("hooks start it when needed; `claude-mem worker start` starts it now")
			}
		})
		if err == nil && !status.Running {
			err = cli.Quietly(memory.CodeUnavailable)
		}
		return err
	})
}

// restart stops the worker, if one runs, and starts this program's; CodeUnavailable if the old
// one does not end within StopLimit. A hook of another version may start its worker in between,
// which then stays: the status that is printed has its version.
func restart(ctx context.Context, dataDir string) error {
	if _, err := control.Stop(ctx, dataDir, StopLimit); err != nil {
		return err
	}
	return Start(ctx, dataDir)
}

// printWorker prints the state of the worker, its settings and its problems.
func printWorker(p *print.Printer, status *control.Status) {
	if status.Running {
		p.Printf("%s  pid %d, version %s, up since %s\n", p.Style(print.Green, "running"), status.PID, status.Version, p.Ago(status.StartedAt))
		p.Printf("socket   %s\n", status.Socket)
		if status.Port != 0 {
			p.Printf("address  http://127.0.0.1:%d\n", status.Port)
		}
		for _, name := range slices.Sorted(maps.Keys(status.Stages)) {
			if state := status.Stages[name]; state != "ok" {
				p.Printf("%s  %s: %s\n", p.Style(print.Red, "trouble"), name, state)
			}
		}
		for _, v := range status.Settings {
			p.Printf("setting  %s = %s%s\n", strings.TrimPrefix(v.Key, cli.SettingPrefix), print.Line(v.Value, 80), p.Style(print.Dim, "  ("+v.Origin+")"))
		}
		p.Notices(status.Notices)
	} else {
		p.Printf("not running\n")
	}
	p.Printf("data     %s\n", status.DataDir)
}

// printDevices prints a line about the other devices of the memory, if there are some.
func printDevices(ctx context.Context, p *print.Printer, dataDir string) {
	status, err := daemon.DevicesStatus(ctx, dataDir)
	if err != nil {
		return // it is on one device, or `claude-mem sync status` tells
	}
	p.Printf("devices  %d other, synced %s%s\n", len(status.Devices), p.Ago(status.SyncedAt), print.If(status.Fault != "", ", failed: `claude-mem sync status`"))
}

// Start starts this program as the worker unless one answers already, of whatever version, and
// waits until it is ready, at most startLimit. The worker goes on when this process ends. The
// error of a worker that did not start has its text and the code of its exit; CodeUnavailable for
// one that is not ready in time, which is left running.
func Start(ctx context.Context, dataDir string) error {
	if status, err := control.Look(ctx, dataDir); err == nil && status.Running {
		return nil
	}
	child, err := Detached(dataDir)(context.Background(), "worker", "run") // it outlives us
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return memory.Errorf(memory.CodeStorage, "make data directory: %w", err).
			WithHint("set CLAUDE_MEM_DATA_DIR to a directory that can be written")
	}
	complaints, err := os.CreateTemp("", "claude-mem-start-*.txt")
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	defer func() {
		_ = complaints.Close()
		_ = os.Remove(complaints.Name())
	}()
	child.Stderr = complaints
	if err := child.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	ended := make(chan error, 1) // one value, read or not
	go func() { ended <- child.Wait() }()
	return awaitWorker(ctx, dataDir, child.Process.Pid, ended, complaints.Name())
}

// Detached returns a function that makes a command of this program for a data directory: one
// that gets no settings of this process's environment and goes on when this process ends. It
// runs in the data directory, which must exist when it is started. The end of ctx kills it.
func Detached(dataDir string) func(ctx context.Context, args ...string) (*exec.Cmd, error) {
	return func(ctx context.Context, args ...string) (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find own executable: %w", err)
		}
		child := exec.CommandContext(ctx, self, args...)
		child.Dir = dataDir
		child.Env = hook.WorkerEnviron(os.Environ(), dataDir)
		child.SysProcAttr = hook.Detached()
		return child, nil
	}
}

// conflictLimit bounds the wait for an answer of the worker that holds the lock.
const conflictLimit = 3 * time.Second

// awaitWorker waits up to startLimit until a worker answers. ended gets the result of
// the process that was started (pid), complaints is the file with what it wrote; if
// another process holds the lock, it waits conflictLimit for that one. A worker that has not
// answered goes on.
func awaitWorker(ctx context.Context, dataDir string, pid int, ended <-chan error, complaints string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	conflict := cli.ExitOf(memory.CodeConflict)
	var failed error
	for {
		if status, err := control.Look(ctx, dataDir); err == nil && status.Running {
			return nil
		}
		select {
		case failed = <-ended:
			var exit *exec.ExitError
			if !errors.As(failed, &exit) || exit.ExitCode() != conflict {
				return startError(failed, complaints)
			}
			// Another process is starting a worker, or holds the lock.
			ended = nil
			ctx, cancel = context.WithTimeout(ctx, conflictLimit)
			defer cancel()
		case <-ctx.Done():
			if failed != nil {
				return startError(failed, complaints)
			}
			if errors.Is(ctx.Err(), context.Canceled) {
				return fmt.Errorf("wait for the worker (pid %d), which goes on: %w", pid, ctx.Err())
			}
			return memory.Errorf(memory.CodeUnavailable, "the worker (pid %d) is not ready after %v", pid, startLimit).
				WithHint("`claude-mem worker logs` shows what it is doing")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// startError returns what a worker that ended wrote, with its hint, as an error; without a text,
// err itself, which is the result of the process. The code is the first one of its exit code,
// CodeUnavailable for an exit code that has none.
func startError(err error, complaints string) error {
	said, _ := openfile.Read(complaints)
	message, hint, _ := bytes.Cut(bytes.TrimSpace(said), []byte("\nhint: "))
	text := cmp.Or(string(bytes.TrimPrefix(message, []byte("error: "))), fmt.Sprint(err))
	code := memory.CodeUnavailable
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		for _, row := range cli.ExitCodes {
			if row.Exit == exit.ExitCode() && len(row.Codes) > 0 {
				code = row.Codes[0]
			}
		}
	}
	return memory.Errorf(code, "the worker did not start: %s", text).WithHint(string(hint))
}

func (a *Verbs) workerLogsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logs",
		Short:   "Print the worker's log, or follow it",
		Long:    `Print the end of the worker's log. It has ids, counts and errors, never content.`,
		Example: "  claude-mem worker logs -n 100\n  claude-mem worker logs --follow",
	}
	lines := cmd.Flags().IntP("lines", "n", 50, "how many lines")
	follow := cmd.Flags().BoolP("follow", "f", false, "keep printing new lines")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		show := a.logLine
		if a.JSON {
			show = func(line []byte) { _, _ = fmt.Fprintf(a.Stdout, "%s\n", line) }
		}
		return a.printLog(ctx, control.LogPath(dataDir), *lines, *follow, show)
	})
}

// printLog calls show with the last lines of a log file and, with follow, with each new
// line until ctx ends, which is no error. A missing file is noted and is no error. When the
// worker begins a new file, the old one is still followed, so no more lines come. show must not
// keep the line.
func (a *Verbs) printLog(ctx context.Context, path string, lines int, follow bool, show func([]byte)) error {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		a.Note("no log yet: the worker has never run")
		return nil
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = f.Close() }()
	var rest []byte // the line that is still being written
	for shown := false; ; shown = true {
		more, err := io.ReadAll(f) // rotated at 5 MB
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		all := bytes.Split(append(rest, more...), []byte("\n"))
		rest, all = all[len(all)-1], all[:len(all)-1]
		if !shown {
			all = all[max(0, len(all)-max(0, lines)):]
		}
		for _, line := range all {
			show(line)
		}
		if !follow || !control.Pause(ctx, 200*time.Millisecond) {
			return nil
		}
	}
}

// logLine prints a JSON line of the worker's log for people, and other lines unchanged.
func (a *Verbs) logLine(line []byte) {
	p := a.People()
	l, ok := text.ParseLogLine(line)
	if !ok {
		p.Printf("%s\n", text.Terminal(string(line)))
		return
	}
	at := print.If(!l.At.IsZero(), l.At.Local().Format("2006-01-02 15:04:05"))
	head := fmt.Sprintf("%-5s", l.Level)
	if l.Level == "ERROR" {
		head = p.Style(print.Red, head)
	}
	p.Printf("%s %s %s %s\n", p.Style(print.Dim, at), head, print.Line(l.Message, 0), p.Style(print.Dim, print.Line(l.Fields, 0)))
}
