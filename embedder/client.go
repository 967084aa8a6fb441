package embedder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"claudemem"
)

const (
	// maxBatch is how many texts go into one request. OpenAI takes 2048; local
	// servers work through a batch one by one, and the time limit is per request.
	maxBatch = 64
	// maxText is how much of a text is sent, in bytes: about 1,500 tokens of
	// English and 2,000 of Chinese, which models made for documents take.
	maxText = 6000
	// shortText is what is tried when the server refuses a text of maxText: below
	// 512 tokens, which the smallest models take.
	shortText = 1500
	// probe is a text that every model takes.
	probe = "test"
	// defaultTimeout is far above what 64 texts take on a slow machine's CPU.
	defaultTimeout = 60 * time.Second
)

// Config says which model is asked and how it is reached.
type Config struct {
	// BaseURL is the server's, with or without /v1.
	BaseURL string
	Model   string
	// APIKey may be empty: local servers want none.
	APIKey string
	// Timeout of one request, 0 for a minute.
	Timeout time.Duration
	// Transport carries the requests; nil for one of the client's own.
	Transport http.RoundTripper
	// Now is the clock, nil for time.Now.
	Now func() time.Time
}

// String describes c without its key.
func (c Config) String() string {
	key := "no key"
	if c.APIKey != "" {
		key = "key set"
	}
	address := "[unreadable]"
	if u, err := url.Parse(c.BaseURL); err == nil {
		address = u.Redacted()
	}
	return fmt.Sprintf("{%s %s %s}", c.Model, address, key)
}

// GoString keeps %#v from printing the key.
func (c Config) GoString() string { return "embed.Config" + c.String() }

// LogValue keeps a structured log from printing the key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Client asks one model of one server.
type Client struct {
	model     string
	endpoint  string
	key       string
	timeout   time.Duration
	now       func() time.Time
	http      *http.Client
	closeIdle func()

	mu    sync.Mutex
	dims  int    // of the first vector that came, 0 before
	pause *Pause // the last failure, nil after a success
}

// New makes a client. An error is a [claudemem.CodeInvalid] that names the setting.
func New(c Config) (*Client, error) {
	endpoint, err := endpointOf(c.BaseURL)
	if err != nil {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "CLAUDE_MEM_EMBEDDER_BASE_URL: %w", err).
			WithHint("for example http://127.0.0.1:11434/v1")
	}
	if c.Model == "" {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "no embedding model is set").
			WithHint("set CLAUDE_MEM_EMBEDDER_MODEL, for example to text-embedding-3-small or nomic-embed-text")
	}
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "CLAUDE_MEM_EMBEDDER_API_KEY has characters that no key has")
	}
	client := &Client{
		model: c.Model, endpoint: endpoint, key: c.APIKey,
		timeout: cmp.Or(c.Timeout, defaultTimeout), now: c.Now, closeIdle: func() {},
	}
	if client.now == nil {
		client.now = time.Now
	}
	transport := c.Transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.IdleConnTimeout = 30 * time.Second
		transport, client.closeIdle = own, own.CloseIdleConnections
	}
	client.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, nil
}

// endpointOf returns the address that is asked for a base URL as people write
// it: the server alone, with /v1, or with the whole path. Its errors do not quote
// the URL, which may hold a password.
func endpointOf(base string) (string, error) {
	base = strings.TrimSpace(base)
	if base == "" {
		return "", errors.New("no address is set")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("want http://host/v1 or https://host/v1")
	case u.User != nil:
		return "", errors.New("no user or password in the URL: the key has a setting of its own")
	case u.RawQuery != "", u.Fragment != "":
		return "", errors.New("no query in the URL")
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/embeddings"), "/")
	u.Path, u.RawPath = cmp.Or(path, "/v1")+"/embeddings", ""
	return u.String(), nil
}

// Model names the vectors: those of another model cannot be compared with them.
func (c *Client) Model() string { return "openai-compatible:" + c.model }

// Close ends idle connections.
func (c *Client) Close() { c.closeIdle() }

// Embed returns the texts' vectors, all or none.
func (c *Client) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var send []string
	var at []int // where in out each of them belongs
	for i, text := range texts {
		if text = trim(text, maxText); text != "" {
			send, at = append(send, text), append(at, i)
		}
	}
	for from := 0; from < len(send); from += maxBatch {
		to := min(from+maxBatch, len(send))
		vectors, err := c.batch(ctx, send[from:to])
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			out[at[from+i]] = v
		}
	}
	if len(texts) > 0 && c.Dimensions() == 0 {
		// No text was sent, and vectors of zeros need a length too.
		if _, err := c.batch(ctx, []string{probe}); err != nil {
			return nil, err
		}
	}
	dims := c.Dimensions()
	for i := range out {
		if out[i] == nil {
			out[i] = make([]float32, dims)
		}
	}
	return out, nil
}

// Dimensions is the number of a vector's dimensions, 0 until the first has come.
func (c *Client) Dimensions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dims
}

// trim returns text as it is sent: valid, and at most limit bytes of it. It is
// empty when there is not one letter or digit, which some servers refuse.
func trim(text string, limit int) string {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	text = strings.ToValidUTF8(text, " ")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", " "))
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return text
}

// batch embeds at most maxBatch texts. When the server refuses them though it
// takes others, it looks for those that are at fault: halves, then shorter. A
// vector is nil for a text that is refused even so.
func (c *Client) batch(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := c.ask(ctx, texts)
	if !errors.Is(err, errRefused) {
		return vectors, err
	}
	// A wrong model or a server that speaks something else refuses everything:
	// that must not give all texts vectors of zeros.
	if _, err := c.ask(ctx, []string{probe}); err != nil {
		if errors.Is(err, errRefused) {
			return nil, c.failed(err.Error())
		}
		return nil, err
	}
	return c.search(ctx, texts)
}

func (c *Client) search(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 1 {
		short := trim(texts[0], shortText)
		vectors, err := c.ask(ctx, []string{short})
		if errors.Is(err, errRefused) {
			return [][]float32{nil}, nil
		}
		return vectors, err
	}
	var out [][]float32
	for _, half := range [][]string{texts[:len(texts)/2], texts[len(texts)/2:]} {
		vectors, err := c.ask(ctx, half)
		if errors.Is(err, errRefused) {
			vectors, err = c.search(ctx, half)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// normalise scales v to length 1 and reports whether all its numbers are finite.
func normalise(v []float32) bool {
	length := 0.0
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if math.IsNaN(length) || math.IsInf(length, 0) {
		return false
	}
	if length == 0 {
		return true
	}
	f := 1 / math.Sqrt(length)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
	return true
}
