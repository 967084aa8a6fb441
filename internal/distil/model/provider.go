package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Provider is a model that can be asked. An error is a [*memory.ModelError]
// or, once ctx has ended, ctx.Err().
type Provider interface {
	// Name is the provider's name in settings and in the ledger.
	Name() string
	Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error)
}

// RunEnder is a Provider that keeps state for a run and is told when the run is
// over: its session was completed, or it was compacted into another run.
type RunEnder interface {
	EndRun(run string)
}

// EndRun tells a provider that a run is over, if it is a RunEnder.
func EndRun(p Provider, run string) {
	if ender, ok := p.(RunEnder); ok {
		ender.EndRun(run)
	}
}

// MaxRequestBytes bounds a request's body, and so what one call can cost. The observer
// keeps its requests below it; this is the last guard.
const MaxRequestBytes = 64 << 10

const (
	// defaultTimeout is far above the time for an answer of a few thousand tokens.
	defaultTimeout = 2 * time.Minute
	// maxAnswerBytes bounds an answer. An observer's answers are a few kilobytes;
	// 4 MB is room for any honest one.
	maxAnswerBytes = 4 << 20
	// defaultMaxTokens bounds an answer when the request does not.
	defaultMaxTokens = 4096
)

// Config names a model and the way to reach it.
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
	// Transport sends the requests; nil for one of the provider's own, whose idle
	// connections Close ends.
	Transport http.RoundTripper
	// Now is the clock that a Retry-After date is compared with; nil for time.Now.
	Now func() time.Time
}

// String describes c without its key.
func (c Config) String() string {
	key, base := "no key", "[unreadable]"
	if c.APIKey != "" {
		key = "key set"
	}
	if u, err := url.Parse(c.BaseURL); err == nil {
		base = u.Redacted() // without a password
	}
	return fmt.Sprintf("{%s %s %s %s}", c.Provider, c.Model, base, key)
}

// GoString keeps %#v from printing the key.
func (c Config) GoString() string { return "model.Config" + c.String() }

// LogValue keeps a structured log from printing the key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Names returns the providers that New knows, in the order of the table.
func Names() []string {
	return collect.Map(vendors, func(v vendor) string { return v.name })
}

// New returns the provider that config names and sends nothing. An invalid config
// is a [*memory.ModelError] of [memory.ClassLogin], because a setting is
// wrong.
func New(config Config) (Provider, error) { return newAPI(config) }

// newAPI returns the provider for a configuration. ClassLogin for an unknown vendor, an
// unusable address or a missing key.
func newAPI(config Config) (*api, error) {
	v, ok := vendorOf(config.Provider)
	if !ok {
		return nil, misconfigured(config.Provider, "unknown provider; it is one of %s", strings.Join(Names(), ", "))
	}
	config.BaseURL = cmp.Or(config.BaseURL, v.baseURL)
	endpoint, err := NewEndpoint(config, Limits{Request: MaxRequestBytes, Answer: maxAnswerBytes, Timeout: defaultTimeout}, v.basePath)
	if err != nil {
		return nil, misconfigured(v.name, "%v", err)
	}
	// Servers that imitate an API often need no key, so only the vendor's own
	// endpoint requires one.
	if v.keyNeeded && config.APIKey == "" && endpoint.base == v.baseURL {
		return nil, misconfigured(v.name, "no API key: set CLAUDE_MEM_%s_API_KEY", strings.ToUpper(v.name))
	}
	if v.messages {
		endpoint.header.Del("Authorization")
		endpoint.header.Set("Anthropic-Version", anthropicVersion)
		if config.APIKey != "" {
			endpoint.header.Set("X-Api-Key", config.APIKey)
		}
	}
	return &api{Endpoint: endpoint, vendor: v, model: cmp.Or(config.Model, v.defaultModel)}, nil
}

// misconfigured returns an error of ClassLogin for a provider whose settings are wrong.
func misconfigured(provider, format string, args ...any) error {
	f := failed(memory.ClassLogin, format, args...)
	f.Provider, f.Free = provider, true
	return f
}

// api is the Provider for a vendor.
type api struct {
	*Endpoint
	vendor vendor
	model  string // asked for when a request names none
	// refused has the models that have answered that they take no temperature.
	refused sync.Map
}

// Name returns the vendor's name.
func (p *api) Name() string { return p.vendor.name }

// Complete asks once; a model that refuses a temperature is asked again without one, and never
// with one later on.
func (p *api) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	ask := p.askChat
	if p.vendor.messages {
		ask = p.askMessages
	}
	request.Model = cmp.Or(request.Model, p.model)
	sent := p.temperature(request.Model) != nil
	answer, err := ask(ctx, request)
	if sent && errors.Is(err, errTemperature) {
		p.refused.Store(request.Model, true)
		return ask(ctx, request)
	}
	return answer, err
}

// errTemperature is the cause of the failure of a model that refuses a temperature.
var errTemperature = errors.New("the model takes no temperature")

// temperature returns what to ask a model for: 0, nil for its own.
func (p *api) temperature(model string) *int {
	if _, refused := p.refused.Load(model); refused || !isOneOf(model, p.vendor.cold) {
		return nil
	}
	return new(0)
}

// answer returns the ModelAnswer for an answer's text. A text that is an error or
// empty, or a refusal, is a ModelError with the usage.
func (p *api) answer(text, model, stop string, usage memory.ModelUsage) (memory.ModelAnswer, error) {
	var f *memory.ModelError
	switch class := ErrorInText(text); {
	case class != "":
		f = failed(class, "the answer is an error: %s", Clean(text, p.key))
	case stop == "refusal" || stop == "content_filter":
		f = failed(memory.ClassGarbage, "the model declined to answer (%s)", stop)
	case strings.TrimSpace(text) == "" && stop == "model_context_window_exceeded":
		f = failed(memory.ClassPromptTooLong, "the context window is full")
	case strings.TrimSpace(text) == "":
		f = failed(memory.ClassGarbage, "empty answer (stop reason %q)", Clean(stop, p.key))
	default:
		cut := stop == "max_tokens" || stop == "length" || stop == "model_context_window_exceeded"
		return memory.ModelAnswer{Text: text, Model: cmp.Or(model, p.model), Usage: usage, Cut: cut}, nil
	}
	f.Provider, f.Usage = p.vendor.name, usage
	return memory.ModelAnswer{}, f
}

// messages returns the history without its empty messages, which the APIs refuse, then
// the prompt. All roles but "assistant" become "user".
func messages(request memory.ModelRequest) []memory.ModelMessage {
	var all []memory.ModelMessage
	for _, m := range request.History {
		if m.Role != "assistant" {
			m.Role = "user"
		}
		if strings.TrimSpace(m.Text) != "" {
			all = append(all, m)
		}
	}
	return append(all, memory.ModelMessage{Role: "user", Text: request.Prompt})
}

// wrapped is embedded in decorators: it forwards the optional methods to the
// provider below.
type wrapped struct{ next Provider }

// Name is that of the provider below.
func (w wrapped) Name() string { return w.next.Name() }

// EndRun ends a run of the provider below.
func (w wrapped) EndRun(run string) { EndRun(w.next, run) }

// Close closes the provider below, if it can be closed.
func (w wrapped) Close() error {
	if closer, ok := w.next.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}
