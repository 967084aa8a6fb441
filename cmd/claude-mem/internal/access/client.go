package access

import (
	"context"
	"sync"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

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

// read asks the worker or, when no worker answers in time, the files,
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

// write waits for a worker that answers, and asks it once, so that nothing is done twice. It starts
// one and waits up to twice m.Patience for it; CodeUnavailable then.
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
