package access

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/memory"
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
