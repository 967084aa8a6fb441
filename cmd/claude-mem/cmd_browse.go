package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/browse"
	"claudemem/internal/serve/filter"

	"github.com/spf13/cobra"
)

// browseCommand returns the command `claude-mem browse`: the memory in a full-screen terminal
// program.
func (a *app) browseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browse [FILTER...]",
		Short: "Browse the memory in the terminal",
		Long: `Browse the memory in the terminal, full screen: the newest records, a search as you type,
a record in full, the timeline around it. An observation can be pinned and hidden, with
undo. Keys do everything; ? lists them, q quits.

FILTER is words, which are searched for, and tokens: type:bugfix project:tally
concept:gotcha file:src/auth since:2026-03-01 until:2026-03-31 kind:summary session:S3.

Records are read through the worker, or without one from the database. NO_COLOR turns
colours off.

` + glyphLegend,
		Example: "  claude-mem browse\n  claude-mem browse --project .\n  claude-mem browse type:bugfix rate limiter",
	}
	project := a.projectFlag(cmd, "", "a project's directory or name (default: all projects)")
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, words []string) error {
		f := filter.Parse(strings.Join(words, " "))
		if *project != "" {
			named, err := a.projectNamed(*project)
			if err != nil {
				return err
			}
			f = f.With(filter.Token{Name: "project", Value: named})
		}
		in, _ := fileOf(a.stdin)
		out, _ := fileOf(a.stdout)
		if a.getenv("TERM") == "dumb" {
			out = nil // it has no screen
		}
		m := newLiveMemory(a, dataDir)
		defer m.close()
		return browse.Run(cmd.Context(), browse.Options{Memory: m.Memory, Away: m.away.Load, Name: homeShort(dataDir, a.getenv("HOME")), Filter: f.String(),
			Colours: wantsColor(a.stdout, a.getenv), Clock: a.now, Location: time.Local, In: in, Out: out, Env: os.Environ()})
	})
	return cmd
}

// homeShort returns a path with "~" for the home directory.
func homeShort(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// liveMemory is the memory of a program that runs for long: the worker's while it answers, else
// that of the files. Unlike workerOrFiles it returns to a worker that comes back. Its methods
// may be called at the same time.
type liveMemory struct {
	api.Memory
	app     *app
	dataDir string

	mu    sync.Mutex
	files *files // opened while the worker is away; one call at a time
	// away: the last answer came from the files.
	away atomic.Bool
	// mute is until when a worker that took too long is not asked, in Unix milliseconds.
	mute atomic.Int64
}

// The worker answers in milliseconds. One that takes longer than answerLimit is not asked for
// mutePause, so that a worker that hangs does not make every key wait.
const (
	answerLimit = 5 * time.Second
	mutePause   = 10 * time.Second
)

// newLiveMemory returns the memory of a data directory. It opens nothing yet.
func newLiveMemory(a *app, dataDir string) *liveMemory {
	m := &liveMemory{app: a, dataDir: dataDir}
	m.Memory = func(ctx context.Context, call api.Call) error {
		if call.Reads() {
			return m.read(ctx, call)
		}
		// The worker changes the memory; without one this program is the worker for that long.
		return daemon.Change(ctx, dataDir, false, func(to api.Memory) error { return to(ctx, call) })
	}
	return m
}

// read asks the worker, or the files if it does not answer.
func (m *liveMemory) read(ctx context.Context, call api.Call) error {
	err := m.ask(ctx, call)
	if memory.CodeOf(err) != memory.CodeUnavailable {
		m.away.Store(false)
		if m.mu.TryLock() {
			m.closeFiles()
			m.mu.Unlock()
		}
		return err
	}
	if ctx.Err() != nil {
		return err // nobody waits for the answer
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		files, err := m.app.openFiles(ctx, m.dataDir)
		if err != nil {
			return err
		}
		m.files = files
	}
	m.away.Store(true)
	return m.files.Memory()(ctx, call)
}

// ask asks the worker. CodeUnavailable if it does not answer, or has just been too slow.
func (m *liveMemory) ask(ctx context.Context, call api.Call) error {
	if time.Now().UnixMilli() < m.mute.Load() {
		return memory.Errorf(memory.CodeUnavailable, "the worker does not answer")
	}
	began := time.Now()
	err := askWorkerToRead(ctx, m.dataDir, answerLimit, call)
	if memory.CodeOf(err) == memory.CodeUnavailable && ctx.Err() == nil && time.Since(began) >= answerLimit {
		m.mute.Store(time.Now().Add(mutePause).UnixMilli())
	}
	return err
}

// close ends reading from the files. A call that is running is waited for.
func (m *liveMemory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeFiles()
}

// closeFiles closes the files if they are open; its error has no effect on results.
func (m *liveMemory) closeFiles() {
	if m.files != nil {
		m.files.close()
		m.files = nil
	}
}
