package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"claudemem"
	"claudemem/model"
	"claudemem/model/claude"
	"claudemem/observer"
	"claudemem/observer/mode"
	"claudemem/settings"
)

const (
	// lookAgain is how long it is believed that the claude CLI is installed, or not.
	lookAgain = time.Minute
	// modeAge is how long a mode is believed to be as its file was.
	modeAge = 10 * time.Second
	// modesDir and observerDir are directories of the data directory.
	modesDir    = "modes"
	observerDir = "observer"
)

// providers chooses who distils a session, and keeps the providers that were chosen.
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

	installed   bool // the claude CLI
	installedAt time.Time

	mode      mode.Mode
	modeName  string
	modeAt    time.Time
	modeFault error // why modeName is not what mode is
}

// newProviders returns the model providers of a data directory; each is made when it is
// first needed.
func newProviders(dataDir string, l *live, books model.Ledger, clock func() time.Time, log *slog.Logger) *providers {
	return &providers{
		dataDir: dataDir, live: l, ledger: books, clock: clock, log: log,
		find: claude.Find, environ: os.Environ,
		kept: map[string]*keptProvider{},
	}
}

// choose is who distils a session now; observer.ModelOptions.Choose.
func (p *providers) choose(session claudemem.Session) observer.Choice {
	s, version := p.live.get()
	name := s.Text(settings.KeyProvider)
	auth := claude.Auth(s.Text(settings.KeyClaudeAuth))
	p.mu.Lock()
	defer p.mu.Unlock()
	if name == settings.ProviderAuto {
		// Nobody has said that another host's work may go to Anthropic, or that a
		// key may be spent: auto uses the login of the CLI that the session is in.
		auth = claude.AuthSubscription
		name = settings.ProviderOffline
		if session.Host == claudemem.HostClaudeCode && p.hasCLI() {
			name = claude.Name
		}
	}
	if name == settings.ProviderOffline {
		return observer.Choice{}
	}
	return observer.Choice{
		Provider:  p.provider(configOf(s, name, auth)),
		Model:     s.Text(settings.KeyModel),
		KeepsRuns: name == claude.Name,
		Mode:      p.modeOf(s.Text(settings.KeyMode), version),
		Language:  s.Text(settings.KeyLanguage),
	}
}

// chosen returns the name of the provider that the settings choose; sessions may
// still be distilled without it.
func (p *providers) chosen() string {
	s, _ := p.live.get()
	if name := s.Text(settings.KeyProvider); name != settings.ProviderAuto {
		return name
	}
	return claude.Name
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

// providerConfig is all that makes a provider another one.
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
		of = "anthropic" // whose key and address are handed on
	}
	key, baseURL := settings.ProviderKeys(of)
	c.key, c.baseURL = s.Text(key), s.Text(baseURL)
	return c
}

// provider returns the provider of a configuration, made anew when that has
// changed. The caller holds mu.
func (p *providers) provider(c providerConfig) model.Provider {
	kept := p.kept[c.name]
	if kept != nil && kept.config == c {
		return kept.top
	}
	if kept != nil {
		kept.retiredAt = p.clock()
		p.retired = append(p.retired, kept)
	}
	kept = &keptProvider{config: c}
	made, err := p.make(c)
	if err != nil {
		p.log.Warn("set up provider", "provider", c.name, "error", err)
		made = unusable{c.name, loginError(c.name, err)}
	}
	kept.top = made
	p.kept[c.name] = kept
	return kept.top
}

// make puts a provider and its decorators together.
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
	return model.NewRetry(model.NewLimit(booked, c.perMinute), model.RetryOptions{Now: p.clock}), nil
}

// environ is what the CLI's environment is made from. A worker that a hook has
// started has no key in its own, so the key and address of the settings stand in.
func (c providerConfig) environ(own []string) []string {
	out := append([]string(nil), own...)
	for name, value := range map[string]string{"ANTHROPIC_API_KEY": c.key, "ANTHROPIC_BASE_URL": c.baseURL} {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// modeOf returns the mode of that name, or the default one when it cannot be
// used. The caller holds mu.
func (p *providers) modeOf(name string, version int) mode.Mode {
	now := p.clock()
	key := name + "\x00" + strconv.Itoa(version)
	if age := now.Sub(p.modeAt); key == p.modeName && age >= 0 && age < modeAge {
		return p.mode
	}
	p.modeName, p.modeAt = key, now
	m, err := mode.Load(name, filepath.Join(p.dataDir, modesDir))
	if err != nil {
		if p.modeFault == nil || p.modeFault.Error() != err.Error() {
			p.log.Warn("load mode", "mode", name, "error", err)
		}
		// The built-in one, whatever the user's directory holds.
		m, _ = mode.Load(mode.Default, "")
	}
	p.mode, p.modeFault = m, err
	return m
}

// modeTrouble tells why the mode of the settings is not used, nil when it is.
func (p *providers) modeTrouble() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.modeFault
}

// tidy closes what was replaced. A batch that was begun with it is over by then.
func (p *providers) tidy(age time.Duration) {
	p.mu.Lock()
	var old, young []*keptProvider
	for _, k := range p.retired {
		if p.clock().Sub(k.retiredAt) >= age {
			old = append(old, k)
		} else {
			young = append(young, k)
		}
	}
	p.retired = young
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
	all := p.retired
	for _, k := range p.kept {
		all = append(all, k)
	}
	p.retired, p.kept = nil, map[string]*keptProvider{}
	p.mu.Unlock()
	var errs []error
	for _, k := range all {
		errs = append(errs, k.close())
	}
	return errors.Join(errs...)
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

// unusable is a provider that somebody has to set up first: work waits for it as
// for one that refuses the login.
type unusable struct {
	name string
	err  error
}

func (u unusable) Name() string { return u.name }

func (u unusable) Complete(context.Context, claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	return claudemem.ModelAnswer{}, u.err
}

// loginError makes sure that an error is a provider's.
func loginError(name string, err error) error {
	var failed *claudemem.ModelError
	if errors.As(err, &failed) {
		return err
	}
	return &claudemem.ModelError{Provider: name, Class: claudemem.ClassLogin, Err: err}
}
