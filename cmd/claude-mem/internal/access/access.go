// Package access gives a command the memory of a data directory: the worker's while it
// answers, else that of the files. Memory is for a command that ends soon, Live for a program
// in a terminal, Client for an MCP server.
//
// Place in the flow: below all commands; it opens what api.Local needs.
package access

import (
	"context"
	"path/filepath"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
)

// Place is where a memory is, and what its files are read with.
type Place struct {
	DataDir string
	Getenv  func(string) string
	Clock   func() time.Time
}

// Mode returns the mode that the settings name, or the default one.
func (p Place) Mode() mode.Mode {
	resolved, _ := settings.Load(p.DataDir, p.Getenv) // a broken file leaves the defaults
	return mode.LoadOrDefault(resolved.Text(settings.KeyMode), ModesDir(p.DataDir))
}

// ModesDir returns the directory of the user's modes.
func ModesDir(dataDir string) string { return filepath.Join(dataDir, "modes") }

// Memory is the memory of a command: the worker's when it answers, else the files. So a
// command finds the same with and without a worker.
type Memory struct {
	api.Memory
	Place
	// Patience bounds the wait for the worker; 0: as long as the caller waits.
	Patience time.Duration
	// Create makes a memory for a change where there is none.
	Create bool

	files *files // opened when it is needed
}

// ForCommand returns the memory, read and changed through its worker or, without one, in the
// files. It opens nothing yet.
func (p Place) ForCommand() *Memory {
	m := &Memory{Place: p}
	m.Memory = p.calls(m.read, &m.Create)
	return m
}

// calls returns a memory that is read by read. The worker changes it; without one this process
// is the worker for that long, also where there is no memory yet if create says so.
func (p Place) calls(read api.Memory, create *bool) api.Memory {
	return func(ctx context.Context, call api.Call) error {
		if call.Reads() {
			return read(ctx, call)
		}
		return daemon.Change(ctx, p.DataDir, *create, func(m api.Memory) error { return m(ctx, call) })
	}
}

// Close ends reading; its error has no effect on results.
func (m *Memory) Close() {
	if m.files != nil {
		m.files.close()
	}
}

// FromFiles reports whether an answer came from the files.
func (m *Memory) FromFiles() bool { return m.files != nil }

// read asks the worker, or the files once it did not answer. CodeNoMemory when nothing was
// ever captured and no worker runs.
func (m *Memory) read(ctx context.Context, call api.Call) error {
	if m.files == nil {
		if err := m.askToRead(ctx, m.Patience, call); memory.CodeOf(err) != memory.CodeUnavailable {
			return err
		}
		files, err := m.open(ctx)
		if err != nil {
			return err
		}
		m.files = files
	}
	return m.files.Memory()(ctx, call)
}

// ask asks the running worker, for at most limit (0: for as long as ctx lasts), and returns
// which one that was. CodeUnavailable when none answers.
func (p Place) ask(ctx context.Context, limit time.Duration, call api.Call) (*api.Remote, error) {
	worker, err := api.FindWorker(p.DataDir)
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

// askToRead is ask for a call that the files can answer too: it is also CodeUnavailable when a
// worker of another version says CodeNotFound or CodeInvalid, since it may not know the route
// or a parameter.
func (p Place) askToRead(ctx context.Context, limit time.Duration, call api.Call) error {
	worker, err := p.ask(ctx, limit, call)
	if code := memory.CodeOf(err); worker != nil && worker.Info.Version != wire.Program && (code == memory.CodeNotFound || code == memory.CodeInvalid) {
		return memory.Errorf(memory.CodeUnavailable, "%w", err)
	}
	return err
}
