package access

import (
	"context"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// wakePoll is the pause between two looks for a worker that is starting.
const wakePoll = 10 * time.Millisecond

// Client returns the memory for an MCP server: each call asks the worker. Without one, reads start
// one and use the files, which many processes may open, and writes wait for it, the one writer. life
// bounds the starts of a worker.
func (p Place) Client(life context.Context) *Memory {
	m := p.Live()
	m.life = life
	m.Memory = func(ctx context.Context, call api.Call) error {
		switch {
		case call.Path == api.NotePath: // without a worker nobody notes them
			_, err := m.ask(ctx, m.Patience, call)
			return err
		case !call.Reads():
			return m.write(ctx, call)
		}
		defer m.Close() // a worker that starts may have to rewrite the files
		err := m.read(ctx, call)
		if err != nil || m.Away() {
			m.Wake()
		}
		return err
	}
	return m
}

// Wait waits for the starts of a worker under way.
func (m *Memory) Wait() { m.waking.Wait() }

// write waits for a worker that answers, and asks it once, so that nothing is done twice. It starts
// one and waits up to twice m.Patience for it; CodeUnavailable then.
func (m *Memory) write(ctx context.Context, call api.Call) error {
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
func (m *Memory) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, min(m.Patience, time.Second))
	defer cancel()
	status, err := control.Look(ctx, m.DataDir)
	return err == nil && status.Running
}

// Wake starts a worker in the background unless one answers.
func (m *Memory) Wake() { m.waking.Go(func() { m.wake(m.life) }) }

// wake starts a detached worker unless one answers or another process is starting one.
// A caller that needs the worker has to ask it.
func (m *Memory) wake(ctx context.Context) {
	if m.answers(ctx) || ctx.Err() != nil {
		return
	}
	if mine, err := wire.ClaimStart(m.DataDir, m.Clock(), false); err == nil && mine {
		_ = hook.StartWorker(m.DataDir)
	}
}
