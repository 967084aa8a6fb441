package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"claudemem/internal/memory"
)

// Endpoint sends JSON requests to one server and decodes its JSON answers. Its
// errors contain neither the key nor a URL. It is safe for concurrent use.
type Endpoint struct {
	provider string      // in errors
	base     string      // the URL that paths are appended to; ends in a slash
	header   http.Header // of every request; contains the key
	key      string      // masked in what the server says
	limits   Limits
	now      func() time.Time
	client   *http.Client
}

// Limits bound one exchange with an [Endpoint].
type Limits struct {
	Request int // bytes of a request's body; a larger one is not sent
	Answer  int // bytes of an answer's body; a larger one is refused
	Timeout time.Duration
}

// Answer is the JSON of an answer, with the error that many servers put into an
// answer with status 200. [Envelope] implements it for an error at the top.
type Answer interface {
	// EmbeddedError returns the error in the answer, empty when there is none.
	EmbeddedError() json.RawMessage
}

// Envelope is embedded in the structs that answers are decoded into.
type Envelope struct {
	Error json.RawMessage `json:"error"`
}

// EmbeddedError implements [Answer].
func (e *Envelope) EmbeddedError() json.RawMessage { return e.Error }

// NewEndpoint returns an Endpoint for config's server, key, transport and clock.
// The key is sent as a bearer token. path converts the path of config.BaseURL to
// the one that the paths of requests are appended to. The error names the
// setting that is wrong and quotes neither the URL nor the key.
func NewEndpoint(config Config, limits Limits, path func(string) string) (*Endpoint, error) {
	setting := "CLAUDE_MEM_" + strings.ToUpper(config.Provider)
	base, err := parseBaseURL(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s_BASE_URL: %w", setting, err)
	}
	if strings.ContainsFunc(config.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s_API_KEY contains characters that no key has", setting)
	}
	base.Path, base.RawPath = path(strings.TrimRight(base.Path, "/"))+"/", ""
	limits.Timeout = cmp.Or(config.Timeout, limits.Timeout)
	e := &Endpoint{
		provider: config.Provider, base: base.String(), key: config.APIKey, limits: limits,
		header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"claude-mem"}},
		now:    config.Now,
	}
	if e.key != "" {
		e.header.Set("Authorization", "Bearer "+e.key)
	}
	e.now = memory.ClockOr(e.now)
	transport := config.Transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.IdleConnTimeout = 30 * time.Second
		transport = own
	}
	e.client = &http.Client{
		Transport: transport,
		// A redirect would take the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e, nil
}

// parseBaseURL returns set as a URL. Its errors do not quote set, which may
// contain a password.
func parseBaseURL(set string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(set))
	switch {
	case strings.TrimSpace(set) == "":
		return nil, errors.New("no address is set")
	case err != nil:
		return nil, errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("want http://host or https://host")
	case u.User != nil:
		return nil, errors.New("no user or password in the URL: the key has a setting of its own")
	case u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("no query in the URL")
	}
	return u, nil
}

// Now returns the time of the clock that waits are measured by.
func (e *Endpoint) Now() time.Time { return e.now() }

// Close ends idle connections; running requests go on.
func (e *Endpoint) Close() error {
	e.client.CloseIdleConnections()
	return nil
}

// Post sends request to path and decodes the answer into answer. The error is
// ctx.Err() once ctx has ended, else a [*memory.ModelError].
func (e *Endpoint) Post(ctx context.Context, path string, request any, answer Answer) error {
	body, _ := JSON(request) // requests are made of strings and numbers, which always encode
	return e.ask(ctx, http.MethodPost, path, body, answer)
}

// JSON returns v as JSON without escapes for HTML: \u003c is six bytes instead of one, and
// prompts are full of them.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// JSONSize returns the bytes of s as a JSON string.
func JSONSize(s string) int {
	text, _ := JSON(s) // a string always encodes
	return len(text)
}

// ask sends one request and decodes its answer, with the errors of Post.
func (e *Endpoint) ask(ctx context.Context, method, path string, body []byte, answer Answer) error {
	call, cancel := context.WithTimeout(ctx, e.limits.Timeout)
	defer cancel()
	f := e.exchange(call, method, path, body, answer)
	switch {
	case f == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case call.Err() != nil:
		f = failed(memory.ClassTransient, "no answer within %v", e.limits.Timeout)
	}
	f.Provider = e.provider
	return f
}

// exchange sends a request and decodes the answer. The error has a class; it is free
// when the model cannot have done any work.
func (e *Endpoint) exchange(ctx context.Context, method, path string, body []byte, answer Answer) *memory.ModelError {
	if len(body) > e.limits.Request {
		f := failed(memory.ClassPromptTooLong, "the request has %d bytes, more than the limit of %d", len(body), e.limits.Request)
		f.Free = true
		return f
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, bytes.NewReader(body))
	if err != nil {
		return failed(memory.ClassLogin, "the base URL cannot be used")
	}
	req.Header = e.header.Clone()
	resp, err := e.client.Do(req)
	if err != nil {
		f := failed(memory.ClassTransient, "no connection: %s", Clean(causeText(err), e.key))
		f.Free = unsent(err)
		return f
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, int64(e.limits.Answer)+1))
	switch {
	case resp.StatusCode >= http.StatusMultipleChoices: // also when its body was cut: the status says enough
		return e.classify(resp.StatusCode, resp.Header, got)
	case err != nil:
		return failed(memory.ClassTransient, "the answer was cut off: %s", Clean(causeText(err), e.key))
	case len(got) > e.limits.Answer:
		return failed(memory.ClassGarbage, "the answer is larger than %d bytes", e.limits.Answer)
	}
	return e.decode(resp.Header, got, answer)
}

// decode decodes the body of an answer with a status of success; nil means that
// answer can be used.
func (e *Endpoint) decode(header http.Header, body []byte, answer Answer) *memory.ModelError {
	err := json.Unmarshal(body, answer)
	if embedded := answer.EmbeddedError(); len(embedded) > 0 && string(embedded) != "null" {
		return e.classify(http.StatusOK, header, fmt.Appendf(nil, `{"error":%s}`, embedded))
	}
	if err == nil {
		return nil
	}
	body = bytes.TrimSpace(body)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset >= int64(len(body)) && bytes.HasPrefix(body, []byte("{")) {
		return failed(memory.ClassTransient, "the answer was cut off")
	}
	if class := ErrorInText(string(body)); class != "" {
		return failed(class, "the answer is an error: %s", Clean(string(body), e.key))
	}
	return failed(memory.ClassGarbage, "the answer is not the JSON of this API")
}

// causeText returns err without the URL that net/http puts before it.
func causeText(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}

// unsent reports whether err means that the request never left.
func unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || errors.As(err, new(*net.DNSError))
}

// anthropicVersion is the header that the Messages API asks for with any request
// (https://platform.claude.com/docs/en/api/versioning).
const anthropicVersion = "2023-06-01"

// Reach sends a request that costs nothing: for the list of models, or, where that
// needs no key, about the key. The error is a [*memory.ModelError] whose class
// tells whether the key was refused.
func Reach(ctx context.Context, config Config) error {
	p, err := newAPI(config)
	if err != nil {
		return err
	}
	defer p.Close()
	path := strings.TrimPrefix(p.vendor.pathPrefix+"/models", "/")
	if p.vendor.name == "openrouter" {
		path = "key" // its list of models needs no key
	}
	return p.ask(ctx, http.MethodGet, path, nil, &Envelope{})
}
