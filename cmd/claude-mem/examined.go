package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/daemon"
	"claudemem/doctor"
	"claudemem/index"
	"claudemem/install"
	"claudemem/model"
	"claudemem/model/claude"
	"claudemem/settings"
	"claudemem/wire"
)

// doctorConfig is what the doctor examines. Whatever is missing is left empty: it
// must work with everything broken.
func (a *app) doctorConfig() doctor.Config {
	home := a.getenv("HOME")
	if runtime.GOOS == "windows" {
		home = a.getenv("USERPROFILE")
	}
	hostDir, _ := install.ConfigDir(a.getenv, home)
	self, _ := os.Executable() // without it the programs are not looked at
	dataDir := settings.DataDir(a.getenv)
	cfg := doctor.Config{
		DataDir: dataDir, Home: home, HostDir: hostDir, Version: version, Executable: self,
		Getenv: a.getenv, Clock: a.now,
		Worker:     examinedWorker{a, dataDir},
		LookIndex:  lookIndex,
		FindCLI:    func() (string, error) { return claude.Find("claude", os.Environ()) },
		RunVersion: runVersion,
		// For whoever reports the fault; the finding names the check.
		Panicked: func(check string, stack []byte) { a.note("check %s: %s", check, stack) },
	}
	if hostDir != "" {
		cfg.Plugins = doctor.ClaudeCode{Dir: hostDir}
	}
	return cfg
}

// askLimit is how long a provider is waited for that is asked whether it answers.
const askLimit = 8 * time.Second

// askProvider asks as the worker of a data directory would.
func (a *app) askProvider(dataDir string) func(context.Context, string) error {
	return func(ctx context.Context, provider string) error {
		s, _ := settings.Inspect(dataDir, a.getenv) // the check of the settings tells
		of := "CLAUDE_MEM_" + strings.ToUpper(provider)
		return model.Reach(ctx, model.Config{Provider: provider, BaseURL: s.Text(of + "_BASE_URL"), APIKey: s.Text(of + "_API_KEY"), Timeout: askLimit})
	}
}

// versionLimit is for a program that tells its version; the claude CLI takes up to
// a second, more on a busy machine.
const versionLimit = 8 * time.Second

// runVersion runs a program without input and returns the first line that it prints.
func runVersion(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second // what it has started may hold its output
	var out bytes.Buffer
	cmd.Stdout = &limitedWriter{&out, 4096}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("no answer within %v", versionLimit)
		}
		return "", err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return line, nil
}

// limitedWriter drops what comes after its room is used up.
type limitedWriter struct {
	w    io.Writer
	room int
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	kept := b[:min(len(b), l.room)]
	l.room -= len(kept)
	if _, err := l.w.Write(kept); err != nil {
		return 0, err
	}
	return len(b), nil
}

func lookIndex(ctx context.Context, path string) (doctor.IndexState, error) {
	seen, err := index.Look(ctx, path)
	switch claudemem.CodeOf(err) {
	case claudemem.CodeNoMemory:
		return doctor.IndexState{Missing: true}, nil
	case claudemem.CodeUnavailable:
		return doctor.IndexState{Unusable: err.Error()}, nil
	}
	return doctor.IndexState{Documents: seen.Documents, Cursor: seen.Cursor, Building: seen.Building, Model: seen.Model}, err
}

// examinedWorker is the worker of a data directory as the doctor meets it.
type examinedWorker struct {
	app     *app
	dataDir string
}

// Look implements doctor.Worker.
func (w examinedWorker) Look(ctx context.Context) (doctor.WorkerState, error) {
	status, err := daemon.Look(ctx, w.dataDir)
	if err != nil || !status.Running {
		return doctor.WorkerState{}, err
	}
	own := api.Identity{Version: version, Wire: wire.Version}
	state := doctor.WorkerState{
		Running: true, PID: status.PID, Version: status.Version, Wire: status.Wire, Port: status.Port, Socket: status.Socket,
		Newer:  daemon.Outranks(api.Identity{Version: status.Version, Wire: status.Wire}, own),
		Stages: status.Stages,
	}
	// One of another version may not tell.
	if ix, err := daemon.LookAtIndex(ctx, w.dataDir); err == nil {
		state.Index = &doctor.IndexState{
			Unusable: ix.Error, Opening: ix.Opening, Documents: ix.Documents, Behind: ix.Behind,
			Waiting: ix.Waiting, Building: ix.Building, Model: ix.Model, EmbedError: ix.EmbedError,
		}
	}
	return state, nil
}

// LockHeld implements doctor.Worker.
func (w examinedWorker) LockHeld() (bool, error) { return daemon.LockHeld(w.dataDir) }

// Start implements doctor.Worker.
func (w examinedWorker) Start(ctx context.Context) error { return w.app.startWorker(ctx, w.dataDir) }

// Restart implements doctor.Worker.
func (w examinedWorker) Restart(ctx context.Context) error {
	if _, err := daemon.Stop(ctx, w.dataDir, stopLimit); err != nil {
		return err
	}
	return w.app.startWorker(ctx, w.dataDir)
}

// Reindex implements doctor.Worker.
func (w examinedWorker) Reindex(ctx context.Context) error {
	_, err := daemon.Reindex(ctx, w.dataDir, func(int, int) {})
	return err
}
