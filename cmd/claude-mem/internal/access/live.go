package access

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// Live is the memory of a program that runs for long: the worker's while it answers, else that
// of the files. Unlike Memory it returns to a worker that comes back. Its methods may be
// called at the same time.
type Live struct {
	api.Memory
	Place

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

// Live returns the memory for a program that runs for long. It opens nothing yet.
func (p Place) Live() *Live {
	m := &Live{Place: p}
	m.Memory = p.calls(m.read, new(bool))
	return m
}

// Away reports whether the last answer came from the files.
func (m *Live) Away() bool { return m.away.Load() }

// read asks the worker, or the files if it does not answer.
func (m *Live) read(ctx context.Context, call api.Call) error {
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
func (m *Live) askUnlessMute(ctx context.Context, call api.Call) error {
	if time.Now().UnixMilli() < m.mute.Load() {
		return memory.Errorf(memory.CodeUnavailable, "the worker does not answer")
	}
	began := time.Now()
	err := m.askToRead(ctx, answerLimit, call)
	if memory.CodeOf(err) == memory.CodeUnavailable && ctx.Err() == nil && time.Since(began) >= answerLimit {
		m.mute.Store(time.Now().Add(mutePause).UnixMilli())
	}
	return err
}

// Close ends reading from the files. A call that is running is waited for.
func (m *Live) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeFiles()
}

// closeFiles closes the files if they are open; its error has no effect on results.
func (m *Live) closeFiles() {
	if m.files != nil {
		m.files.close()
		m.files = nil
	}
}

const (
	// workerPatience is how long a worker may take to answer before the database is
	// read instead (it answers within a tenth of a second or is in trouble), and how
	// long a write waits for one that is starting.
	workerPatience = 5 * time.Second
	// wakePoll is the pause between two looks for that worker.
	wakePoll = 10 * time.Millisecond
)

// Client is the memory of an MCP server. It asks the worker. Without one, reads use the files,
// which many processes may open, and writes wait for a worker, the one writer.
type Client struct {
	api.Memory
	Place
	// life ends with the client; waking counts the starts of a worker under way.
	life   context.Context
	waking sync.WaitGroup
	// Patience is how long a worker may take to answer before the files are read instead.
	Patience time.Duration
}

// Client returns the memory for a client that stays: each call asks the worker. life bounds
// the starts of a worker.
func (p Place) Client(life context.Context) *Client {
	m := &Client{Place: p, life: life, Patience: workerPatience}
	m.Memory = func(ctx context.Context, call api.Call) error {
		switch {
		case call.Reads():
			return m.read(ctx, call)
		case call.Path == api.NotePath: // without a worker nobody notes them
			_, err := m.ask(ctx, m.Patience, call)
			return err
		default:
			return m.write(ctx, call)
		}
	}
	return m
}

// Wait waits for the starts of a worker under way.
func (m *Client) Wait() { m.waking.Wait() }

// read asks the worker or, when no worker answers in time, with the files,
// and then starts a worker in the background.
func (m *Client) read(ctx context.Context, call api.Call) error {
	err := m.askToRead(ctx, m.Patience, call)
	if err == nil || ctx.Err() != nil || memory.CodeOf(err) != memory.CodeUnavailable {
		return err
	}
	m.Wake()
	files, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer files.close()
	return files.Memory()(ctx, call)
}

// write waits for a worker that answers, and asks it once, so that nothing is done twice.
func (m *Client) write(ctx context.Context, call api.Call) error {
	if !m.answers(ctx) {
		m.wake(ctx)
		waiting, cancel := context.WithTimeout(ctx, 2*m.Patience) // one that is restarting takes longer
		defer cancel()
		for !m.answers(waiting) {
			select {
			case <-time.After(wakePoll):
				continue
			case <-waiting.Done():
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return memory.Errorf(memory.CodeUnavailable, "nothing was changed: no worker answers").
				WithHint("`claude-mem worker start` says what keeps it from starting; then try again")
		}
	}
	_, err := m.ask(ctx, 2*m.Patience, call)
	return err
}

// answers reports whether a worker answers now.
func (m *Client) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, min(m.Patience, time.Second))
	defer cancel()
	status, err := control.Look(ctx, m.DataDir)
	return err == nil && status.Running
}

// Wake starts a worker in the background unless one answers.
func (m *Client) Wake() { m.waking.Go(func() { m.wake(m.life) }) }

// wake starts a detached worker unless one answers or another process is starting one.
// A caller that needs the worker has to ask it.
func (m *Client) wake(ctx context.Context) {
	if m.answers(ctx) || ctx.Err() != nil {
		return
	}
	if mine, err := wire.ClaimStart(m.DataDir, m.Clock(), false); err == nil && mine {
		_ = hook.StartWorker(m.DataDir)
	}
}
