package embedder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxBatch is the most texts in a request. OpenAI takes 2048; local servers
	// process the texts one by one, and the time limit is per request.
	maxBatch = 64
	// maxText is the most bytes of a text that are sent: about 1,500 tokens of
	// English and 2,000 of Chinese, which models for documents take.
	maxText = 6000
	// shortText is the second try for a refused text: below 512 tokens, which the
	// smallest models take.
	shortText = 1500
	// probe is a text that every model takes.
	probe = "test"
	// defaultTimeout is far above the time for 64 texts on a slow CPU.
	defaultTimeout = time.Minute
	// maxRequest is room for a batch in which every byte is escaped, maxAnswer for
	// 64 vectors of 8,192 numbers of 20 digits, which are 10 MB.
	maxRequest = 6*maxBatch*maxText + 64<<10
	maxAnswer  = 32 << 20
	// path is appended to the base URL.
	path = "embeddings"
)

// Client asks one model of one server.
type Client struct {
	model    string
	endpoint *model.Endpoint

	mu    sync.Mutex
	dims  int    // of the first vector, 0 before it
	pause *pause // the last failure, nil after a success
}

// New makes a client of config, whose Provider is not used. An error is a
// [memory.CodeInvalid] that names the setting.
func New(config model.Config) (*Client, error) {
	config.Provider = "embedder"
	limits := model.Limits{Request: maxRequest, Answer: maxAnswer, Timeout: defaultTimeout}
	endpoint, err := model.NewEndpoint(config, limits, basePath)
	if err != nil {
		return nil, memory.Errorf(memory.CodeInvalid, "%w", err).
			WithHint("a base URL is for example http://127.0.0.1:11434/v1")
	}
	if config.Model == "" {
		return nil, memory.Errorf(memory.CodeInvalid, "no embedding model is set").
			WithHint("set CLAUDE_MEM_EMBEDDER_MODEL, for example to text-embedding-3-small or nomic-embed-text")
	}
	return &Client{model: config.Model, endpoint: endpoint}, nil
}

// basePath returns the path that "embeddings" is appended to, for the path of a
// base URL as people write it: empty, with /v1, or with /v1/embeddings.
func basePath(set string) string {
	return cmp.Or(strings.TrimRight(strings.TrimSuffix(set, "/"+path), "/"), "/v1")
}

// Model returns the name of the vectors' model; vectors of different models cannot
// be compared.
func (c *Client) Model() string { return ModelName(c.model) }

// ModelName returns the name of the vectors of a server's model.
func ModelName(model string) string { return "openai-compatible:" + model }

// Close ends idle connections.
func (c *Client) Close() { _ = c.endpoint.Close() }

// Embed returns the texts' vectors, of length 1, all or none. A text without a letter or digit, and
// one whose beginning too the server refuses, has a vector of zeros. The error is CodeUnavailable,
// at once during the pause after a failure, or context.Canceled.
func (c *Client) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var send []string
	var at []int // index in out of each text
	for i, text := range texts {
		if text = sendable(text, maxText); text != "" {
			send, at = append(send, text), append(at, i)
		}
	}
	for batch := range slices.Chunk(send, maxBatch) {
		vectors, err := c.embedBatch(ctx, batch)
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			out[at[i]] = v
		}
		at = at[len(batch):]
	}
	if len(texts) > 0 && c.Dimensions() == 0 {
		// No text was sent, but vectors of zeros need a length as well.
		if _, err := c.embedBatch(ctx, []string{probe}); err != nil {
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

// Dimensions returns the number of a vector's dimensions, 0 before the first
// vector.
func (c *Client) Dimensions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dims
}

// sendable returns s as it is sent: valid UTF-8, at most limit bytes. It is "" for
// a text without a letter or digit, which some servers refuse.
func sendable(s string, limit int) string {
	s = strings.ToValidUTF8(text.FirstBytes(s, limit), " ")
	s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", " "))
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return s
}

// embedBatch embeds at most maxBatch texts. When the server refuses them but
// accepts others, it finds the refused texts by halving and tries those in a
// shorter form. The vector of a text that is refused again is nil.
func (c *Client) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := c.ask(ctx, texts)
	if !errors.Is(err, errRefused) {
		return vectors, err
	}
	// A wrong model, or a server with another API, refuses everything: that must not
	// give all texts vectors of zeros.
	if _, err := c.ask(ctx, []string{probe}); err != nil {
		if errors.Is(err, errRefused) {
			return nil, c.noteFailure(err.Error())
		}
		return nil, err
	}
	return c.embedRefused(ctx, texts)
}

// embedRefused returns the vectors of texts that the server refused together: it halves
// them until the ones at fault are alone. Such a one gets a vector of its beginning, or
// nil.
func (c *Client) embedRefused(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 1 {
		short := sendable(texts[0], shortText)
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
			vectors, err = c.embedRefused(ctx, half)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// normalise scales v to length 1, unless it is all zeros. Its numbers are from JSON, which has none
// that are not finite.
func normalise(v []float32) {
	length := 0.0
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if length == 0 {
		return
	}
	f := 1 / math.Sqrt(length)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}

const (
	// firstPause is the pause after a failure; it doubles with each further one up
	// to longestPause. A search without vectors is a good search, so there is no
	// hurry, and a restarted server is found within minutes.
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
	// longestAsked bounds the server's Retry-After.
	longestAsked = time.Hour
)

// pause is the time after a failure in which the server is not asked.
type pause struct {
	reason       string
	began, until time.Time
	length       time.Duration // without what the server asked for
}

func (p *pause) Error() string {
	return fmt.Sprintf("the embedding server failed (%s)", p.reason)
}

// paused returns the error of the current pause, nil when there is none.
func (c *Client) paused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.endpoint.Now()
	// A clock that was set back ends the pause.
	if c.pause == nil || !now.Before(c.pause.until) || now.Before(c.pause.began) {
		return nil
	}
	return c.unavailable(c.pause)
}

// noteFailure begins a pause and returns its error.
func (c *Client) noteFailure(reason string) error { return c.startPause(0, firstPause, reason) }

// lasting are the statuses after which somebody has to change a setting: asking again soon cannot help.
var lasting = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusPaymentRequired}

// startPause begins a pause after a failure and returns its error. asked is the
// server's Retry-After, 0 without one; first is the pause without it, doubled with
// each further failure.
func (c *Client) startPause(asked, first time.Duration, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.endpoint.Now()
	p := &pause{reason: reason, length: first, began: now}
	if last := c.pause; last != nil {
		p.length = max(first, last.length)
		// Concurrent requests that fail together count as one failure.
		if !now.Before(last.until) {
			p.length = max(first, min(2*last.length, longestPause))
		}
	}
	wait := p.length
	if asked > 0 {
		wait = min(asked, longestAsked)
	}
	p.until = now.Add(wait)
	c.pause = p
	return c.unavailable(p)
}

// unavailable returns CodeUnavailable with the failure behind a pause and when the
// server is asked again.
func (c *Client) unavailable(p *pause) error {
	return memory.Errorf(memory.CodeUnavailable, "no vectors: %w", p).
		WithHint("search goes on by words; the server is asked again at " + p.until.Format(time.RFC3339) +
			"; it is set by CLAUDE_MEM_EMBEDDER_BASE_URL, _MODEL and _API_KEY")
}

// errRefused is the answer to texts that the server does not take. It is not the
// server's failure, so there is no pause.
var errRefused = errors.New("the embedding server refuses the text")

type embeddingsRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type embeddingsAnswer struct {
	model.Envelope
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// ask sends one request and returns a vector for each text. Its error is
// errRefused, context.Canceled once the caller has canceled ctx, or an error of pause.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	if err := c.paused(); err != nil {
		return nil, err
	}
	var answer embeddingsAnswer
	err := c.endpoint.Post(ctx, path, embeddingsRequest{c.model, texts}, &answer)
	switch failed, isModelError := errors.AsType[*memory.ModelError](err); {
	case err == nil:
	case errors.Is(err, context.Canceled):
		return nil, err
	case !isModelError:
		// The caller's deadline. The pause keeps the next caller from waiting for a
		// mute server as well.
		return nil, c.noteFailure("no answer in time")
	case failed.Status == http.StatusBadRequest, failed.Status == http.StatusRequestEntityTooLarge, failed.Status == http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w: %w", errRefused, failed.Err)
	case slices.Contains(lasting, failed.Status):
		return nil, c.startPause(failed.Wait, longestPause, failed.Err.Error())
	default:
		return nil, c.startPause(failed.Wait, firstPause, failed.Err.Error())
	}
	vectors, err := c.vectorsOf(answer, len(texts))
	if err != nil {
		return nil, c.noteFailure(err.Error())
	}
	return vectors, nil
}

// vectorsOf returns the n vectors of answer, scaled to length 1, in the order of
// the texts, and ends the pause after failures. All vectors of a client have the same
// number of dimensions.
func (c *Client) vectorsOf(answer embeddingsAnswer, n int) ([][]float32, error) {
	if len(answer.Data) != n {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts", len(answer.Data), n)
	}
	// Some servers leave the index out; they answer in order.
	ordered := true
	for _, d := range answer.Data {
		ordered = ordered && d.Index == 0
	}
	out := make([][]float32, n)
	dims := c.Dimensions()
	for i, d := range answer.Data {
		if !ordered {
			i = d.Index
		}
		if i < 0 || i >= n || out[i] != nil {
			return nil, errors.New("the answer's vectors are not those of the texts")
		}
		dims = cmp.Or(dims, len(d.Embedding))
		if len(d.Embedding) != dims || dims == 0 {
			return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", len(d.Embedding), dims)
		}
		normalise(d.Embedding)
		out[i] = d.Embedding
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dims = cmp.Or(c.dims, dims)
	if c.dims != dims { // a concurrent request was answered first
		return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", dims, c.dims)
	}
	c.pause = nil
	return out, nil
}
