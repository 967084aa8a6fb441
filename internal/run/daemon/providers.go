package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/distil/observer"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

const (
	// lookAgain is how long the result of a search for the claude CLI is kept.
	lookAgain = time.Minute
	// modesDir and observerDir are directories of the data directory.
	modesDir    = "modes"
	observerDir = "observer"
)

// providers chooses the model provider of a session, and keeps the chosen ones open.
type providers struct {
	dataDir string
	live    *live
	ledger  model.Ledger
	clock   func() time.Time
	log     *slog.Logger
	// find finds the claude CLI, environ is the worker's environment.
	find    func(command string, environ []string) (string, error)
	environ func() []string

	mu      sync.Mutex
	kept    map[string]*keptProvider // by the provider's name
	retired []*keptProvider          // were replaced, and may be in use for a moment

	asked       identity // by the settings of the last call of changed
	login       claude.Login
	loginStamp  string // of the files that login was read from
	loginSeen   claude.Login
	installed   bool // the claude CLI
	installedAt time.Time
}

// newProviders returns the model providers of a data directory; each is made when it is
// first needed.
func newProviders(dataDir string, l *live, books model.Ledger, clock func() time.Time, log *slog.Logger) *providers {
	p := &providers{
		dataDir: dataDir, live: l, ledger: books, clock: clock, log: log,
		find: claude.Find, environ: os.Environ,
		kept: map[string]*keptProvider{},
	}
	p.changed() // from now on
	p.loginChanged()
	return p
}

// choose returns the provider and the prompts for a session by the current settings; the zero
// Choice means the offline distiller. A provider that cannot be set up refuses every call
// (unusable), so that events wait for it. It is observer.ModelOptions.Choose.
func (p *providers) choose(session memory.Session) observer.Choice {
	s := p.live.get()
	name := s.Text(settings.KeyProvider)
	auto := name == settings.ProviderAuto
	auth := claude.Auth(s.Text(settings.KeyClaudeAuth))
	p.mu.Lock()
	defer p.mu.Unlock()
	if auto {
		// The user has allowed neither another host's work to go to Anthropic nor a key
		// to be used: auto uses the login of the CLI that runs the session.
		auth = claude.AuthSubscription
		name = settings.ProviderOffline
		if session.Host == memory.HostClaudeCode && p.hasCLI() {
			name = claude.Name
		}
	}
	if name == settings.ProviderOffline {
		return observer.Choice{}
	}
	m, _ := p.live.mode() // notify reports the error
	provider := p.provider(configOf(s, name, auth))
	if auto && !p.cliLogin().ByItself {
		// Each call would cost a start of the CLI, to be told so.
		provider = unusable{name, loginError(name, errNoLogin)}
	}
	return observer.Choice{
		Provider:  provider,
		Model:     s.Text(settings.KeyModel),
		KeepsRuns: name == claude.Name,
		Auto:      auto,
		Mode:      m,
		Language:  s.Text(settings.KeyLanguage),
	}
}

// chosen returns the name of the provider that the settings choose; sessions may
// still be distilled without it.
func (p *providers) chosen() string {
	if name := p.live.get().Text(settings.KeyProvider); name != settings.ProviderAuto {
		return name
	}
	return claude.Name
}

// identity is what the settings say of the model.
type identity struct {
	providerConfig
	model string
}

// changed reports whether the settings name another provider or model, or reach it in
// another way, than when this method was last called. Limits do not count, nor what auto stands for.
func (p *providers) changed() bool {
	s := p.live.get()
	name := s.Text(settings.KeyProvider)
	now := identity{providerConfig{name: name}, s.Text(settings.KeyModel)}
	if name != settings.ProviderAuto && name != settings.ProviderOffline {
		now.providerConfig = configOf(s, name, claude.Auth(s.Text(settings.KeyClaudeAuth)))
		now.perMinute, now.processes = 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.asked != now
	p.asked = now
	return changed
}

// errNoLogin is the failure of a CLI that has no login without the variables of a shell.
var errNoLogin = errors.New("the claude command has no login of its own")

// cliLogin returns the login of the claude CLI as the worker starts it. The caller holds mu.
func (p *providers) cliLogin() claude.Login {
	if stamp := claude.LoginStamp(p.environ()); stamp != p.loginStamp {
		p.login, p.loginStamp = claude.LoginOf(p.environ()), stamp
	}
	return p.login
}

// loginChanged reports whether the CLI was logged in or out since this method was last called.
func (p *providers) loginChanged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cliLogin()
	changed := now != p.loginSeen
	p.loginSeen = now
	return changed
}

// hasCLI reports whether the claude CLI is installed. The caller holds mu.
func (p *providers) hasCLI() bool {
	now := p.clock()
	if age := now.Sub(p.installedAt); age < 0 || age >= lookAgain {
		_, err := p.find("claude", p.environ())
		p.installed, p.installedAt = err == nil, now
	}
	return p.installed
}

// providerConfig is the configuration of a provider; another one needs a new provider.
type providerConfig struct {
	name, baseURL, key string
	perMinute          int
	auth               claude.Auth // of claude
	processes          int         // of claude
}

// configOf returns what the settings say of the provider called name. claude uses the
// key and address of anthropic if it inherits them, else none.
func configOf(s *settings.Settings, name string, auth claude.Auth) providerConfig {
	c := providerConfig{name: name, perMinute: s.Int(settings.KeyRequestsPerMinute)}
	of := name
	if name == claude.Name {
		c.auth, c.processes = auth, max(s.Int(settings.KeyMaxObservers), 1)
		if auth != claude.AuthInherit {
			return c
		}
		of = "anthropic" // its key and URL are passed on
	}
	key, baseURL := settings.ProviderKeys(of)
	c.key, c.baseURL = s.Text(key), s.Text(baseURL)
	return c
}

// provider returns the provider of a configuration, a new one when that has changed.
// The caller holds mu.
func (p *providers) provider(c providerConfig) model.Provider {
	kept := p.kept[c.name]
	if kept != nil && kept.config == c {
		return kept.top
	}
	if kept != nil {
		kept.retiredAt = p.clock()
		p.retired = append(p.retired, kept)
	}
	made, err := p.make(c)
	if err != nil {
		p.log.Warn("set up provider", "provider", c.name, "error", err)
		made = unusable{c.name, loginError(c.name, err)}
	}
	p.kept[c.name] = &keptProvider{config: c, top: made}
	return made
}

// make returns a new provider with its decorators: each call is booked, and waits for the rate
// limit; those of an API are retried.
func (p *providers) make(c providerConfig) (model.Provider, error) {
	if c.name == claude.Name {
		cli, err := claude.New(claude.Options{
			Dir: filepath.Join(p.dataDir, observerDir), Auth: c.auth, MaxProcesses: c.processes,
			Environ: c.environ(p.environ()), Logger: p.log, Clock: p.clock,
		})
		if err != nil {
			return nil, err
		}
		// The CLI retries by itself.
		return model.NewLimit(model.NewBooked(cli, p.ledger, p.clock, p.log), c.perMinute), nil
	}
	config := model.Config{Provider: c.name, BaseURL: c.baseURL, APIKey: c.key, Now: p.clock}
	p.log.Debug("open provider", "config", config) // without the key
	api, err := model.New(config)
	if err != nil {
		return nil, err
	}
	booked := model.NewBooked(api, p.ledger, p.clock, p.log)
	return model.NewRetry(model.NewLimit(booked, c.perMinute), p.clock), nil
}

// environ returns the worker's own environment with the key and URL of the settings: a
// worker that a hook has started has none in its own.
func (c providerConfig) environ(own []string) []string {
	out := slices.Clone(own)
	for name, value := range map[string]string{"ANTHROPIC_API_KEY": c.key, "ANTHROPIC_BASE_URL": c.baseURL} {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// tidy closes the providers that were replaced age ago or earlier; the caller's age is such that no
// batch uses them any more.
func (p *providers) tidy(age time.Duration) {
	p.mu.Lock()
	expired := func(k *keptProvider) bool { return p.clock().Sub(k.retiredAt) >= age }
	n := 0 // they are in the order of their ends
	for n < len(p.retired) && expired(p.retired[n]) {
		n++
	}
	old := p.retired[:n]
	p.retired = p.retired[n:]
	p.mu.Unlock()
	for _, k := range old {
		if err := k.close(); err != nil {
			p.log.Warn("close provider", "provider", k.config.name, "error", err)
		}
	}
}

// close ends every provider and its processes.
func (p *providers) close() error {
	p.mu.Lock()
	all := slices.AppendSeq(p.retired, maps.Values(p.kept))
	p.retired, p.kept = nil, map[string]*keptProvider{}
	p.mu.Unlock()
	var err error
	for _, k := range all {
		err = errors.Join(err, k.close())
	}
	return err
}

type keptProvider struct {
	config    providerConfig
	top       model.Provider
	retiredAt time.Time
}

// close closes the provider if it holds anything open.
func (k *keptProvider) close() error {
	if c, ok := k.top.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// unusable is a provider with an invalid configuration: events wait for it as for one
// that refuses the login.
type unusable struct {
	name string
	err  error
}

func (u unusable) Name() string { return u.name }

func (u unusable) Complete(context.Context, memory.ModelRequest) (memory.ModelAnswer, error) {
	return memory.ModelAnswer{}, u.err
}

// loginError returns err as a ModelError, of class login if it is none yet.
func loginError(name string, err error) error {
	if errors.As(err, new(*memory.ModelError)) {
		return err
	}
	return &memory.ModelError{Provider: name, Class: memory.ClassLogin, Err: err}
}
