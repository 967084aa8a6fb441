package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"claudemem"
)

// Provider is a model that can be asked. An error is a [*claudemem.ModelError]
// or, once ctx has ended, ctx.Err().
type Provider interface {
	// Name is the provider's name in settings and in the ledger.
	Name() string
	Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error)
}

// MaxRequestBytes is the largest request body that is sent. The observer keeps
// its requests below it; this is the last guard (SPEC 5).
const MaxRequestBytes = 64 << 10

const (
	// defaultTimeout is far above what an answer of a few thousand tokens takes,
	// local models on a slow machine aside: those have a setting of their own.
	defaultTimeout = 2 * time.Minute
	// defaultMaxTokens bounds an answer when the request does not.
	defaultMaxTokens = 4096
)

// Config says which model is asked and how it is reached.
type Config struct {
	// Provider is anthropic, openai, openrouter, gemini or ollama.
	Provider string
	// Model, empty for the vendor's default.
	Model string
	// BaseURL, empty for the vendor's own endpoint.
	BaseURL string
	APIKey  string
	// Timeout of one call, 0 for two minutes.
	Timeout time.Duration
	// Transport carries the requests; nil for one of the provider's own, whose
	// idle connections Close ends.
	Transport http.RoundTripper
	// Now is the clock that a Retry-After date is compared with; nil for time.Now.
	Now func() time.Time
}

// String describes c without its key.
func (c Config) String() string {
	key := "no key"
	if c.APIKey != "" {
		key = "key set"
	}
	return fmt.Sprintf("{%s %s %s %s}", c.Provider, c.Model, withoutUser(c.BaseURL), key)
}

// GoString keeps %#v from printing the key.
func (c Config) GoString() string { return "model.Config" + c.String() }

// LogValue keeps a structured log from printing the key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func withoutUser(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "[unreadable]"
	}
	return u.Redacted()
}

// Names returns the providers that New knows, in the order of the table.
func Names() []string {
	names := make([]string, len(vendors))
	for i, v := range vendors {
		names[i] = v.name
	}
	return names
}

// DefaultModel returns the model that provider is asked for when none is set.
func DefaultModel(provider string) (string, bool) {
	v, ok := vendorOf(provider)
	return v.defaultModel, ok
}

// New makes the provider that config names. What is wrong with config is a
// [*claudemem.ModelError] of [claudemem.ClassLogin]: somebody has to set something.
// It sends nothing.
func New(config Config) (Provider, error) {
	v, ok := vendorOf(config.Provider)
	if !ok {
		return nil, misconfigured(config.Provider, "unknown provider; it is one of %s", strings.Join(Names(), ", "))
	}
	base, err := baseURL(v, config.BaseURL)
	if err != nil {
		return nil, misconfigured(v.name, "%s_BASE_URL: %v", strings.ToUpper(v.name), err)
	}
	// Many servers that speak a vendor's API need no key, so only the vendor's
	// own endpoint insists on one.
	if v.keyNeeded && config.APIKey == "" && base == v.baseURL {
		return nil, misconfigured(v.name, "no API key: set CLAUDE_MEM_%s_API_KEY", strings.ToUpper(v.name))
	}
	if strings.ContainsFunc(config.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, misconfigured(v.name, "CLAUDE_MEM_%s_API_KEY has characters that no key has", strings.ToUpper(v.name))
	}
	c := caller{
		vendor:  v,
		model:   cmp.Or(config.Model, v.defaultModel),
		base:    base,
		key:     config.APIKey,
		timeout: cmp.Or(config.Timeout, defaultTimeout),
	}
	if config.Transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.IdleConnTimeout = 30 * time.Second
		config.Transport, c.closeIdle = own, own.CloseIdleConnections
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	c.client = &http.Client{
		Transport: &guard{next: config.Transport, now: config.Now, key: config.APIKey},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return v.open(c), nil
}

func misconfigured(provider, format string, args ...any) error {
	return &claudemem.ModelError{
		Provider: provider, Class: claudemem.ClassLogin,
		Err: &failure{class: claudemem.ClassLogin, text: fmt.Sprintf(format, args...), free: true},
	}
}

// baseURL checks what a person wrote and returns it with a slash at its end,
// as both SDKs want it.
func baseURL(v vendor, set string) (string, error) {
	if set == "" {
		return v.baseURL, nil
	}
	u, err := url.Parse(strings.TrimSpace(set))
	switch {
	case err != nil: // its text would quote the URL, password and all
		return "", errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("want http://host or https://host")
	case u.User != nil:
		return "", errors.New("no user or password in the URL: the key has a setting of its own")
	case u.RawQuery != "", u.Fragment != "":
		return "", errors.New("no query in the URL")
	}
	path := strings.TrimRight(u.Path, "/")
	// The Messages API's own path begins with v1, and people paste either form.
	path = strings.TrimSuffix(path, v.pathPrefix)
	u.Path = path + "/"
	return u.String(), nil
}

// caller is what the vendors' clients share.
type caller struct {
	vendor    vendor
	model     string
	base      string
	key       string
	timeout   time.Duration
	client    *http.Client
	closeIdle func()
}

// Name is the vendor's.
func (c *caller) Name() string { return c.vendor.name }

// Close ends idle connections; running calls go on.
func (c *caller) Close() error {
	if c.closeIdle != nil {
		c.closeIdle()
	}
	return nil
}

// fail turns what an SDK returned into the error of the call. parent is the
// caller's context, call the one with our own time limit.
func (c *caller) fail(parent, call context.Context, err error) error {
	if ctxErr := parent.Err(); ctxErr != nil {
		return ctxErr
	}
	var f *failure
	switch {
	case call.Err() != nil:
		f = &failure{class: claudemem.ClassTransient, text: fmt.Sprintf("no answer within %v", c.timeout)}
	case errors.As(err, &f):
	default:
		// The SDK could not read what the guard let through.
		f = &failure{class: claudemem.ClassGarbage, text: "unreadable answer: " + clean(err.Error(), c.key)}
	}
	return &claudemem.ModelError{Provider: c.vendor.name, Class: f.class, Wait: f.wait, Err: f}
}

// answer checks what a call brought: text that is no text or no answer is an
// error, and what it cost goes along.
func (c *caller) answer(text, model, stop string, usage claudemem.ModelUsage) (claudemem.ModelAnswer, error) {
	f := &failure{class: claudemem.ClassGarbage}
	switch class, isError := ErrorInText(text); {
	case isError:
		f.class, f.text = class, "the answer is an error: "+clean(text, c.key)
	case stop == "refusal" || stop == "content_filter":
		f.text = "the model declined to answer (" + stop + ")"
	case strings.TrimSpace(text) == "" && stop == "model_context_window_exceeded":
		f.class, f.text = claudemem.ClassPromptTooLong, "the context window is full"
	case strings.TrimSpace(text) == "":
		f.text = fmt.Sprintf("empty answer (stop reason %q)", clean(stop, c.key))
	default:
		return claudemem.ModelAnswer{Text: text, Model: cmp.Or(model, c.model), Usage: usage}, nil
	}
	return claudemem.ModelAnswer{}, &claudemem.ModelError{Provider: c.vendor.name, Class: f.class, Usage: usage, Err: f}
}

// begin is a context with the call's time limit.
func (c *caller) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// messages is the conversation with the prompt at its end; what has no text is
// left out, because the APIs refuse it.
func messages(request claudemem.ModelRequest) []claudemem.ModelMessage {
	var all []claudemem.ModelMessage
	for _, m := range request.History {
		if strings.TrimSpace(m.Text) != "" {
			all = append(all, m)
		}
	}
	return append(all, claudemem.ModelMessage{Role: "user", Text: request.Prompt})
}

// unsent reports whether err means that the request never left.
func unsent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// wrapped is what every decorator has: the provider below, whose optional
// powers stay reachable.
type wrapped struct{ next Provider }

// Name is that of the provider below.
func (w wrapped) Name() string { return w.next.Name() }

// EndRun tells the provider below, if it cares, that a run is over.
func (w wrapped) EndRun(run string) {
	if ender, ok := w.next.(interface{ EndRun(string) }); ok {
		ender.EndRun(run)
	}
}

// Close closes the provider below, if it can be closed.
func (w wrapped) Close() error {
	if closer, ok := w.next.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}
