// Package access gives a command the memory of a data directory: the worker's while it
// answers, else that of the files.
//
// Place in the flow: below all commands; it opens what api.Local needs.
package access

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// Memory is the memory of a program: the worker's while it answers, else that of the files. So a
// command finds the same with and without a worker. Its calls may be made at the same time.
type Memory struct {
	api.Memory
	Place
	// Patience bounds the wait for the worker; 0: as long as the caller waits.
	Patience time.Duration
	// Create makes a memory for a change where there is none.
	Create bool
	// stays: a command that has read the files reads them to its end, so that all that it shows is
	// of one moment.
	stays bool

	mu    sync.Mutex
	files *files // opened while the worker is away; one call at a time
	// away: the last answer came from the files.
	away atomic.Bool
	// life bounds the starts of a worker, and waking counts those under way.
	life   context.Context //nolint:containedctx // of the process
	waking sync.WaitGroup
	// mute is until when a worker that took too long is not asked, in Unix milliseconds.
	mute atomic.Int64
}

// The worker answers in milliseconds. One that takes longer than answerLimit is not asked for
// mutePause, so that a worker that hangs does not make every key wait.
const (
	answerLimit = 5 * time.Second
	mutePause   = 10 * time.Second
)

// ForCommand returns the memory for a command that ends soon. It opens nothing yet.
func (p Place) ForCommand() *Memory { return p.memory(&Memory{Place: p, stays: true}) }

// Live returns the memory for a program that runs for long, and returns to a worker that comes
// back. It opens nothing yet.
func (p Place) Live() *Memory { return p.memory(&Memory{Place: p, Patience: answerLimit}) }

// memory completes m: it sets m.Memory. Reading calls ask as read says. Changes are the worker's;
// without one this process is the worker for that long, also where there is no memory yet if
// m.Create says so.
func (p Place) memory(m *Memory) *Memory {
	m.life = context.Background()
	m.Memory = func(ctx context.Context, call api.Call) error {
		if call.Reads() {
			return m.read(ctx, call)
		}
		return daemon.Change(ctx, p.DataDir, m.Create, func(mem api.Memory) error { return mem(ctx, call) })
	}
	return m
}

// Away reports whether the last answer came from the files.
func (m *Memory) Away() bool { return m.away.Load() }

// read asks the worker, or the files if it does not answer. A command (stays) that has read the
// files once asks no worker any more. CodeNoMemory when nothing was ever captured and no worker runs.
func (m *Memory) read(ctx context.Context, call api.Call) error {
	if !m.stays || !m.Away() {
		err := m.askUnlessMute(ctx, call)
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
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		files, err := m.open(ctx)
		if err != nil {
			return err
		}
		m.files = files
	}
	m.away.Store(true)
	return m.files.Memory()(ctx, call)
}

// askUnlessMute asks the worker. CodeUnavailable if it does not answer, or has just been too slow.
func (m *Memory) askUnlessMute(ctx context.Context, call api.Call) error {
	if time.Now().UnixMilli() < m.mute.Load() {
		return memory.Errorf(memory.CodeUnavailable, "the worker does not answer")
	}
	began := time.Now()
	err := m.askToRead(ctx, m.Patience, call)
	if memory.CodeOf(err) == memory.CodeUnavailable && ctx.Err() == nil && time.Since(began) >= answerLimit {
		m.mute.Store(time.Now().Add(mutePause).UnixMilli())
	}
	return err
}

// Close ends reading from the files. A call that is running is waited for.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeFiles()
}

// closeFiles closes the files if they are open; its error has no effect on results.
func (m *Memory) closeFiles() {
	if m.files != nil {
		m.files.close()
		m.files = nil
	}
}

// ask asks the running worker, for at most limit (0: for as long as ctx lasts), and returns
// which one that was, nil if none was found. CodeUnavailable when none answers.
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
