package main

import (
	"context"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/daemon"

	"github.com/spf13/cobra"
)

// workerOrFiles is the memory of commands: the worker's when it answers, else the files.
// So a command finds the same with and without a worker.
type workerOrFiles struct {
	api.Forward
	app     *app
	dataDir string
	files   *files // opened when it is needed
	// patience bounds the wait for the worker; 0: as long as the caller waits.
	patience time.Duration
}

// memory returns the memory of the data directory, read and changed through its worker
// or, without one, in the files. It opens nothing yet.
func (a *app) memory() (*workerOrFiles, error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	w := &workerOrFiles{app: a, dataDir: dataDir}
	w.Forward = func(ctx context.Context, call api.Call) error {
		if call.Reads() {
			return w.read(ctx, call.On)
		}
		return daemon.Change(ctx, dataDir, true, func(m api.Memory) error { return call.On(ctx, m) })
	}
	return w, nil
}

// runE is what a command of cobra runs.
type runE = func(*cobra.Command, []string) error

// withMemory returns the RunE of a command that reads the memory.
func (a *app) withMemory(run func(*cobra.Command, *workerOrFiles, []string) error) runE {
	return func(cmd *cobra.Command, given []string) error {
		m, err := a.memory()
		if err != nil {
			return err
		}
		defer m.close()
		return run(cmd, m, given)
	}
}

// withDataDir returns the RunE of a command that needs the data directory.
func (a *app) withDataDir(run func(cmd *cobra.Command, dataDir string, given []string) error) runE {
	return func(cmd *cobra.Command, given []string) error {
		dataDir, err := a.dataDir()
		if err != nil {
			return err
		}
		return run(cmd, dataDir, given)
	}
}

// change changes the memory: the worker does, and without one this command is the
// worker for that long. With create, a memory is made where there is none.
func change[A any](ctx context.Context, a *app, create bool, call func(api.Memory) (A, error)) (out A, err error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return out, err
	}
	err = daemon.Change(ctx, dataDir, create, func(m api.Memory) (err error) {
		out, err = call(m)
		return err
	})
	return out, err
}

// close ends reading; its error has no effect on results.
func (w *workerOrFiles) close() {
	if w.files != nil {
		w.files.close()
	}
}

// read asks the worker, or the files once it did not answer. CodeNoMemory when
// nothing was ever captured and no worker runs.
func (w *workerOrFiles) read(ctx context.Context, call func(context.Context, api.Memory) error) error {
	if w.files == nil {
		// No trace of a worker is no error here.
		if worker, err := api.FindWorker(w.dataDir); err == nil {
			if err := w.ask(ctx, worker, call); err == nil || !cannotAnswer(worker, err) && !unknownParameter(worker, err) {
				return err
			}
		}
		files, err := w.app.openFiles(ctx, w.dataDir)
		if err != nil {
			return err
		}
		w.files = files
	}
	return call(ctx, w.files)
}

// ask asks the worker, for as long as patience allows.
func (w *workerOrFiles) ask(ctx context.Context, worker api.Memory, call func(context.Context, api.Memory) error) error {
	if w.patience > 0 {
		limited, cancel := context.WithTimeout(ctx, w.patience)
		defer cancel()
		ctx = limited
	}
	return call(ctx, worker)
}

// cannotAnswer reports whether a worker does not answer, or is of another version that
// does not know the route.
func cannotAnswer(worker *api.Remote, err error) bool {
	switch claudemem.CodeOf(err) {
	case claudemem.CodeUnavailable:
		return true
	case claudemem.CodeNotFound:
		return worker.Info.Version != version
	default:
		return false
	}
}

// unknownParameter reports whether a worker of another version may not know a parameter
// of the request.
func unknownParameter(worker *api.Remote, err error) bool {
	return claudemem.CodeOf(err) == claudemem.CodeInvalid && worker.Info.Version != version
}

// show prints v as JSON, or for people as text prints it.
func (a *app) show(asJSON bool, v any, text func(*printer)) error {
	if asJSON {
		return writeJSON(a.stdout, v)
	}
	text(a.people())
	return nil
}

// printed prints an answer as JSON, or empty when there is no memory yet. done is false
// when the caller has to print the answer for people.
func printed[A any](a *app, asJSON bool, answer A, err error, empty A) (done bool, _ error) {
	switch {
	case err != nil:
		return true, a.emptyMemory(err, asJSON, empty)
	case asJSON:
		return true, writeJSON(a.stdout, answer)
	}
	return false, nil
}
