package embedder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds what is read: 64 vectors of 8,192 numbers of 20 digits are 10 MB.
const maxAnswer = 32 << 20

// errRefused is the answer to texts that the server does not take. It is not the
// server's failure, so there is no pause.
var errRefused = errors.New("the embedding server refuses the text")

type question struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"`
}

// ask sends one request. Its error is errRefused, the end of ctx by its owner, or
// what failed returns.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	if err := c.paused(); err != nil {
		return nil, err
	}
	call, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	status, header, body, err := c.post(call, texts)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		if call.Err() != nil {
			// Also when it was the caller's deadline: the next caller need not
			// wait for a mute server as well.
			return nil, c.failed("no answer in time")
		}
		return nil, c.failed("no connection: " + c.clean(causeText(err)))
	}
	switch {
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w: status %d: %s", errRefused, status, c.clean(message(body)))
	case status != http.StatusOK:
		wait := retryAfter(header, c.now())
		return nil, c.failedStatus(status, wait, c.clean(message(body)))
	case len(body) > maxAnswer:
		return nil, c.failed("the answer is too large")
	}
	vectors, err := c.read(body, len(texts))
	if err != nil {
		return nil, c.failed(c.clean(err.Error()))
	}
	c.worked()
	return vectors, nil
}

func (c *Client) post(ctx context.Context, texts []string) (int, http.Header, []byte, error) {
	body, err := json.Marshal(question{c.model, texts})
	if err != nil {
		return 0, nil, nil, fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "claude-mem")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("ask: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil && resp.StatusCode == http.StatusOK { // another status says enough
		return 0, nil, nil, fmt.Errorf("read answer: %w", err)
	}
	return resp.StatusCode, resp.Header, b, nil
}

// read takes n vectors of the known number of dimensions out of an answer.
func (c *Client) read(body []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, errors.New("the answer is not the JSON of this API")
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, errors.New("the answer is an error: " + message(body))
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts", len(a.Data), n)
	}
	// Some servers leave the index out; they answer in order.
	ordered := true
	for _, d := range a.Data {
		ordered = ordered && d.Index == 0
	}
	out := make([][]float32, n)
	dims := c.Dimensions()
	for i, d := range a.Data {
		if !ordered {
			i = d.Index
		}
		if i < 0 || i >= n || out[i] != nil {
			return nil, errors.New("the answer's vectors are not those of the texts")
		}
		if dims == 0 {
			dims = len(d.Embedding)
		}
		if len(d.Embedding) != dims || dims == 0 {
			return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", len(d.Embedding), dims)
		}
		if !normalise(d.Embedding) {
			return nil, errors.New("the answer has a vector that is no vector")
		}
		out[i] = d.Embedding
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dims == 0 {
		c.dims = dims
	}
	if c.dims != dims { // somebody else's first answer came in between
		return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", dims, c.dims)
	}
	return out, nil
}

// message is what an error answer says: OpenAI's {"error":{"message":…}}, and
// what others make of it.
func message(body []byte) string {
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<") {
			return "" // a proxy's page says nothing in its first words
		}
		return string(body[:min(len(body), 16*maxDetail)])
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(envelope.Error, &inner) == nil && inner.Message != "" {
		return inner.Message
	}
	for _, raw := range []json.RawMessage{envelope.Error, envelope.Detail} {
		if len(raw) > 0 && string(raw) != "null" {
			return string(raw)
		}
	}
	return envelope.Message
}

// causeText is err without the URL that net/http puts before it.
func causeText(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}
