package main

import (
	"context"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// workerOrFiles is the memory of commands: the worker's when it answers, else the files.
// So a command finds the same with and without a worker.
type workerOrFiles struct {
	api.Memory
	app     *app
	dataDir string
	files   *files // opened when it is needed
	// patience bounds the wait for the worker; 0: as long as the caller waits.
	patience time.Duration
	// create makes a memory for a change where there is none.
	create bool
}

// memory returns the memory of the data directory, read and changed through its worker
// or, without one, in the files. It opens nothing yet.
func (a *app) memory() (*workerOrFiles, error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	w := &workerOrFiles{app: a, dataDir: dataDir}
	w.Memory = func(ctx context.Context, call api.Call) error {
		if call.Reads() {
			return w.read(ctx, call)
		}
		// The worker changes the memory; without one this command is the worker for that long.
		return daemon.Change(ctx, dataDir, w.create, func(m api.Memory) error { return m(ctx, call) })
	}
	return w, nil
}

// runE is the function that cobra calls for a command.
type runE = func(*cobra.Command, []string) error

// withMemory returns the RunE of a command that reads or changes the memory.
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

// close ends reading; its error has no effect on results.
func (w *workerOrFiles) close() {
	if w.files != nil {
		w.files.close()
	}
}

// read asks the worker, or the files once it did not answer. CodeNoMemory when
// nothing was ever captured and no worker runs.
func (w *workerOrFiles) read(ctx context.Context, call api.Call) error {
	if w.files == nil {
		if err := askWorkerToRead(ctx, w.dataDir, w.patience, call); memory.CodeOf(err) != memory.CodeUnavailable {
			return err
		}
		files, err := w.app.openFiles(ctx, w.dataDir)
		if err != nil {
			return err
		}
		w.files = files
	}
	return w.files.Memory()(ctx, call)
}

// askWorker asks the running worker, for at most limit (0: for as long as ctx lasts), and
// returns which one that was. CodeUnavailable when none answers.
func askWorker(ctx context.Context, dataDir string, limit time.Duration, call api.Call) (*api.Remote, error) {
	worker, err := api.FindWorker(dataDir)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return worker, worker.Memory(ctx, call)
}

// askWorkerToRead is askWorker for a call that the files can answer too: it is also
// CodeUnavailable when a worker of another version says CodeNotFound or CodeInvalid, since
// it may not know the route or a parameter.
func askWorkerToRead(ctx context.Context, dataDir string, limit time.Duration, call api.Call) error {
	worker, err := askWorker(ctx, dataDir, limit, call)
	if code := memory.CodeOf(err); worker != nil && worker.Info.Version != version && (code == memory.CodeNotFound || code == memory.CodeInvalid) {
		return memory.Errorf(memory.CodeUnavailable, "%w", err)
	}
	return err
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

// dataDir returns the absolute path of the data directory; it may not exist yet.
func (a *app) dataDir() (string, error) {
	dir := settings.DataDir(a.getenv)
	if dir == "" {
		return "", memory.Errorf(memory.CodeInvalid, "there is no home directory").
			WithHint("set " + settings.DataDirKey + " to the directory of the memory")
	}
	return dir, nil
}
