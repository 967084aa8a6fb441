package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/memory"
)

// Name is the provider's name in settings and in the ledger.
const Name = "claude"

const (
	// ownBytes is the size of the CLI's own part of a request: 1.2 KB were measured.
	ownBytes = 3 << 10
	// defaultModel is the cheapest family, by an alias for its newest version.
	defaultModel = "haiku"
	// defaultProcesses is the default of MAX_OBSERVERS.
	defaultProcesses = 2
	// defaultIdle keeps a process over the pauses between the batches of a turn.
	defaultIdle = 3 * time.Minute
	// defaultTimeout is far above the time for an answer of a few thousand tokens,
	// the CLI's start and its two retries included.
	defaultTimeout = 3 * time.Minute
	// endGrace is the time between the end of a process's stdin and its kill; the
	// CLI needs 30 ms.
	endGrace = 2 * time.Second
)

// Auth selects the account that the CLI uses.
type Auth string

// With AuthSubscription the CLI uses its own login and gets no ANTHROPIC_*
// variable. AuthInherit passes them on: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and
// the selection of Bedrock or Vertex.
const (
	AuthSubscription Auth = "subscription"
	AuthInherit      Auth = "inherit"
)

// Options configure a Provider; a zero value means the default unless stated
// otherwise.
type Options struct {
	// Command is the CLI's path, or its name in PATH; default "claude".
	Command string
	// Model for requests that name none; default "haiku".
	Model string
	// Dir is the processes' working directory, <data>/observer; required, created if
	// missing.
	Dir string
	// Auth, default AuthSubscription.
	Auth Auth
	// MaxProcesses at a time, default 2.
	MaxProcesses int
	// IdleAfter is the time after which an idle process ends, default 3 minutes.
	IdleAfter time.Duration
	// Timeout of one call, default 3 minutes. Waiting for a slot does not count.
	Timeout time.Duration
	// Environ is the source of the CLI's environment; default os.Environ().
	Environ []string
	// Logger receives the events of processes; default none.
	Logger *slog.Logger
	// Clock is the time of day; default time.Now.
	Clock func() time.Time
}

// Provider asks the CLI. It is safe for concurrent use.
type Provider struct {
	opts     Options
	dir      string            // Dir as the CLI sees it: absolute, without symbolic links
	environ  []string          // for every process
	secrets  []string          // values in environ that no error may contain
	projects string            // directory of the transcripts of Dir
	known    chan capabilities // capacity 1: those of the last examined CLI
	starter  starter

	// life ends with Close, and every running call with it.
	life context.Context
	end  context.CancelFunc
	// work counts calls, evictions and watchers; Close waits for all of them.
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	runs    map[string]*conversation
	waiting []*waiter // in order of arrival
	slots   int       // in use, at most opts.MaxProcesses
	uses    uint64    // number of calls; orders last uses
}

// New returns a provider. It starts nothing and does not look for the CLI: a
// missing CLI is an error of the first call. New's error is about Options.
func New(options Options) (*Provider, error) {
	options.Command = cmp.Or(options.Command, "claude")
	options.Model = cmp.Or(options.Model, defaultModel)
	options.Auth = cmp.Or(options.Auth, AuthSubscription)
	options.IdleAfter = cmp.Or(options.IdleAfter, defaultIdle)
	options.Timeout = cmp.Or(options.Timeout, defaultTimeout)
	options.MaxProcesses = cmp.Or(max(options.MaxProcesses, 0), defaultProcesses)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	if options.Auth != AuthSubscription && options.Auth != AuthInherit {
		return nil, fmt.Errorf("claude provider: CLAUDE_AUTH %q: it is %s or %s", options.Auth, AuthSubscription, AuthInherit)
	}
	if options.Dir == "" {
		return nil, errors.New("claude provider: no working directory")
	}
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	options.Clock = memory.ClockOr(options.Clock)
	dir, err := filepath.Abs(options.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("claude provider: working directory: %w", err)
	}
	p := &Provider{
		opts:    options,
		dir:     dir,
		environ: environment(options.Environ, options.Auth, dir),
		runs:    map[string]*conversation{},
	}
	p.secrets = secretsOf(p.environ)
	p.projects = projectDir(p.environ, dir)
	p.known = make(chan capabilities, 1)
	p.known <- capabilities{}
	p.life, p.end = context.WithCancel(context.Background())
	removeSystemFiles(dir)
	return p, nil
}

// Name returns the provider's name.
func (p *Provider) Name() string { return Name }

// Complete continues the run's conversation by one turn. Calls of one run wait for
// each other, and all for one of MaxProcesses slots. The error is ctx's or a *memory.ModelError.
func (p *Provider) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	if err := ctx.Err(); err != nil {
		return memory.ModelAnswer{}, err
	}
	c, err := p.acquire(ctx, request.Run)
	if err != nil {
		return memory.ModelAnswer{}, err
	}
	defer p.release(c)
	call, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()

	answer, err := c.answer(call, request)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return memory.ModelAnswer{}, ctx.Err()
	case p.life.Err() != nil:
		return memory.ModelAnswer{}, errClosed
	case call.Err() != nil:
		return memory.ModelAnswer{}, failed(memory.ClassTransient, false, "no answer within %v", p.opts.Timeout)
	}
	return memory.ModelAnswer{}, err
}

var errClosed = failed(memory.ClassTransient, true, "the provider is closed")

// EndRun ends the run's process and deletes its transcript. It waits for that, but not for a call
// that is running: after that one it happens. The run may begin again, from nothing.
func (p *Provider) EndRun(run string) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	c := p.conversation(run)
	if c.busy {
		c.ended = true // release sees it
		p.mu.Unlock()
		return
	}
	c.busy, c.ended = true, true
	c.stopIdling()
	p.work.Add(1)
	p.mu.Unlock()
	p.release(c)
}

// Close ends all calls and processes and waits until they are gone. Transcripts
// stay, so that the next worker can resume.
func (p *Provider) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.work.Wait()
		return nil
	}
	p.closed = true
	p.end()
	for _, w := range p.waiting {
		w.granted <- nil
	}
	p.waiting = nil
	for _, c := range p.runs {
		if !c.busy {
			p.evict(c)
		}
	}
	p.mu.Unlock()
	p.work.Wait()
	p.starter.close()
	return nil
}
