package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem"
	"claudemem/daemon"
	"claudemem/hook"
	"claudemem/mcpserver"
	"claudemem/wire"

	"github.com/spf13/cobra"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the memory to an agent over MCP",
		GroupID: groupRun,
		Long: `Serve the memory as tools of the Model Context Protocol, on standard input and
output: a host starts this for each of its windows and ends it by closing the input.

It asks the worker, starts one when there is none, and reads the database itself until
that one answers. "This project" is the one of the client's first root, or of the
directory that it was started in. A worker serves the same tools at /mcp of its address
(` + "`claude-mem worker status`" + `). The tools are described in docs/mcp.md.`,
		Example: `  claude mcp add claude-mem -- claude-mem mcp
  npx @modelcontextprotocol/inspector --cli claude-mem mcp --method tools/list`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dataDir, err := a.dataDir()
			if err != nil {
				return err
			}
			return a.serveMCP(cmd.Context(), dataDir)
		},
	}
}

func (a *app) serveMCP(ctx context.Context, dataDir string) error {
	if f, ok := a.stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			a.note("This is for hosts, which write MCP messages to its standard input; see `claude-mem mcp --help`. Ctrl-D ends it.")
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := &workerOrFiles{app: a, dataDir: dataDir, life: ctx, patience: workerPatience}
	options := mcpserver.Options{Version: version, Identify: daemon.Identify, Clock: a.now}
	if session := a.getenv(sessionKey); session != "" {
		options.Session = string(claudemem.HostClaudeCode) + ":" + session
	}
	if options.Dir = a.getenv("CLAUDE_PROJECT_DIR"); options.Dir == "" {
		options.AskRoots, options.Dir = true, a.workingDirectory()
	}
	server := mcpserver.New(api, options)
	// The client is answered meanwhile: its own start waits for us.
	api.wakeSoon()
	err := server.ServeStdio(ctx, a.stdin, a.stdout)
	cancel()
	api.waking.Wait() // a start that was claimed is made: nobody else may try for a while
	return err
}

// workingDirectory is where a host started us, "" where that says nothing: some start
// their servers at the root of the file system or in the user's home.
func (a *app) workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil || dir == filepath.Dir(dir) {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) == dir {
		return ""
	}
	return dir
}

const (
	// workerPatience is how long a worker may take to answer before the database is
	// read instead (it answers within a tenth of a second or is in trouble), and how
	// long a write waits for one that is starting.
	workerPatience = 5 * time.Second
	// wakePoll is how often a write looks for one.
	wakePoll = 10 * time.Millisecond
)

// workerOrFiles answers routes for the MCP server: the worker's when one answers. What
// only reads is else answered over the files, which many clients may have open; what
// writes waits for a worker, for there is one writer.
type workerOrFiles struct {
	app     *app
	dataDir string
	// life ends with the client, waking are the starts of a worker under way.
	life   context.Context
	waking sync.WaitGroup
	// patience is workerPatience.
	patience time.Duration
}

// Do implements mcpserver.API.
func (w *workerOrFiles) Do(ctx context.Context, r mcpserver.Request, out any) error {
	if r.Target == "/api/lookups" {
		return w.ask(ctx, w.patience, r, out) // without a worker there is nobody to tell
	}
	if r.Method != http.MethodGet && r.Target != "/api/observations/batch" {
		return w.write(ctx, r, out)
	}
	err := w.ask(ctx, w.patience, r, out)
	if err == nil || ctx.Err() != nil || !unanswered(err) {
		return err
	}
	w.wakeSoon()
	files, err := w.app.openFiles(ctx, w.dataDir)
	if err != nil {
		return err
	}
	defer files.close()
	return files.routes.Do(ctx, r.Method, r.Target, r.Session, r.Body, out)
}

// unanswered reports whether a worker is not there, not now, or of another version
// that does not know what it was asked.
func unanswered(err error) bool {
	return claudemem.CodeOf(err) == claudemem.CodeUnavailable
}

// ask asks a running worker. CodeUnavailable when there is none that answers.
func (w *workerOrFiles) ask(ctx context.Context, limit time.Duration, r mcpserver.Request, out any) error {
	peer, err := daemon.FindPeer(w.dataDir)
	if err != nil {
		return err
	}
	peer.Session = r.Session
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = peer.Do(ctx, r.Method, r.Target, r.Body, out)
	if claudemem.CodeOf(err) == claudemem.CodeNotFound && cannotAnswer(peer, err) && peer.Info.Version != version {
		return claudemem.Errorf(claudemem.CodeUnavailable, "%w", err)
	}
	return err
}

// write waits for a worker that answers, and asks it once: what it may have done is
// not done twice.
func (w *workerOrFiles) write(ctx context.Context, r mcpserver.Request, out any) error {
	if !w.answers(ctx) {
		w.wake(ctx)
		waiting, cancel := context.WithTimeout(ctx, w.patience)
		defer cancel()
		ticker := time.NewTicker(wakePoll)
		defer ticker.Stop()
		for !w.answers(waiting) {
			select {
			case <-ticker.C:
				continue
			case <-waiting.Done():
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return claudemem.Errorf(claudemem.CodeUnavailable, "nothing was changed: no worker answers").
				WithHint("`claude-mem worker start` says what keeps it from starting; then try again")
		}
	}
	return w.ask(ctx, 2*w.patience, r, out)
}

// answers reports whether a worker answers now.
func (w *workerOrFiles) answers(ctx context.Context) bool {
	peer, err := daemon.FindPeer(w.dataDir)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, min(w.patience, time.Second))
	defer cancel()
	_, err = peer.Identity(ctx)
	return err == nil
}

// wakeSoon wakes in the background.
func (w *workerOrFiles) wakeSoon() { w.waking.Go(func() { w.wake(w.life) }) }

// wake starts a worker, detached, unless one answers or somebody else is at it. Whoever
// needs one finds out whether that worked.
func (w *workerOrFiles) wake(ctx context.Context) {
	if w.answers(ctx) || ctx.Err() != nil {
		return
	}
	if mine, err := wire.ClaimStart(w.dataDir, w.app.now(), false); err == nil && mine {
		_ = hook.StartWorker(w.dataDir)
	}
}
