package claude

import (
	"context"
	"slices"
	"time"
)

// waiter is a call that waits for a slot. granted (capacity 1) receives the
// conversation, already busy, or nil when the provider was closed.
type waiter struct {
	run     string
	granted chan *conversation
}

// acquire waits until no other call of the run is busy and there is a process or a
// slot. The caller owns the conversation until release.
func (p *Provider) acquire(ctx context.Context, run string) (*conversation, error) {
	w := &waiter{run: run, granted: make(chan *conversation, 1)}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	p.waiting = append(p.waiting, w)
	p.admit()
	p.mu.Unlock()
	select {
	case c := <-w.granted:
		if c == nil {
			return nil, errClosed
		}
		return c, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.admit()
		p.mu.Unlock()
		return nil, ctx.Err()
	}
	p.mu.Unlock()
	// It was granted at the same moment.
	if c := <-w.granted; c != nil {
		p.release(c)
	}
	return nil, ctx.Err()
}

// admit gives slots to waiters in order of arrival. Only a waiter whose run is
// busy is overtaken: it waits for that run, not for a slot. The caller holds mu.
func (p *Provider) admit() {
	for i := 0; i < len(p.waiting); {
		w := p.waiting[i]
		c := p.conversation(w.run)
		if c.busy {
			i++
			continue
		}
		if !c.slot {
			if p.slots >= p.opts.MaxProcesses {
				victim := p.idlest()
				if victim == nil {
					return
				}
				// The slot is passed on with the process that must end first.
				c.before = victim.process
				p.detach(victim)
				p.slots--
			}
			c.slot = true
			p.slots++
		}
		c.busy = true
		c.stopIdling()
		p.work.Add(1)
		p.waiting = slices.Delete(p.waiting, i, i+1)
		w.granted <- c // capacity 1, one send
	}
}

// conversation returns the run's conversation, creating it if needed. The caller
// holds mu.
func (p *Provider) conversation(run string) *conversation {
	c := p.runs[run]
	if c == nil {
		c = &conversation{p: p, run: run, id: sessionID(run)}
		p.runs[run] = c
	}
	return c
}

// idlest returns the conversation whose process has been idle for longest, nil if none is idle. The
// caller holds mu.
func (p *Provider) idlest() *conversation {
	var oldest *conversation
	for _, c := range p.runs {
		if c.slot && !c.busy && (oldest == nil || c.used < oldest.used) {
			oldest = c
		}
	}
	return oldest
}

// detach takes the process and the slot from an idle conversation. Its run waits
// for leaving before it starts another process. The caller holds mu and counts
// slots.
func (p *Provider) detach(c *conversation) {
	c.stopIdling()
	c.leaving, c.process, c.slot = c.process, nil, false
}

// evict ends an idle conversation's process in the background and frees its slot
// afterwards. The caller holds mu.
func (p *Provider) evict(c *conversation) {
	if !c.slot {
		return
	}
	old := c.process
	p.detach(c)
	p.work.Add(1)
	go func() {
		defer p.work.Done()
		old.finish(endGrace)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.slots--
		if !p.closed {
			p.admit()
		}
	}()
}

// release gives a conversation back: its process, if alive, keeps the slot and
// idles. A run that was ended meanwhile is forgotten first.
func (p *Provider) release(c *conversation) {
	defer p.work.Done()
	finish(&c.before)
	p.mu.Lock()
	defer p.mu.Unlock()
	for c.ended {
		c.ended = false
		p.mu.Unlock()
		c.forget()
		p.mu.Lock()
		if !c.ended {
			delete(p.runs, c.run)
		}
	}
	p.uses++
	c.used = p.uses
	c.busy = false
	switch {
	case !c.slot:
	case c.process == nil:
		c.slot = false
		p.slots--
	case p.closed:
		p.evict(c)
		return
	default:
		p.idle(c, c.process)
	}
	if !p.closed {
		p.admit()
	}
}

// idle frees the slot of a process that dies while idle, or was idle for IdleAfter. The
// caller holds mu.
func (p *Provider) idle(c *conversation, process *process) {
	used := make(chan struct{})
	c.idle = used
	p.work.Go(func() {
		select {
		case <-used:
			return
		case <-process.gone:
			p.opts.Logger.Info("claude process died while idle", "run", c.run)
		case <-time.After(p.opts.IdleAfter):
			p.opts.Logger.Debug("claude process idle", "run", c.run)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.idle == used {
			p.evict(c)
		}
	})
}

// stopIdling ends the waiting for an idle process. The caller holds mu.
func (c *conversation) stopIdling() {
	if c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}
