package embedder

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"claudemem/internal/distil/model"
	"claudemem/internal/memory"
)

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
	var failed *memory.ModelError
	switch isModelError := errors.As(err, &failed); {
	case err == nil:
	case errors.Is(err, context.Canceled):
		return nil, err
	case !isModelError:
		// The caller's deadline. The pause keeps the next caller from waiting for a
		// mute server as well.
		return nil, c.noteFailure("no answer in time")
	case failed.Status == http.StatusBadRequest, failed.Status == http.StatusRequestEntityTooLarge, failed.Status == http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w: %w", errRefused, failed.Err)
	default:
		return nil, c.startPause(failed.Wait, firstPauseOf(failed.Status), failed.Err.Error())
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
		if dims == 0 {
			dims = len(d.Embedding)
		}
		if len(d.Embedding) != dims || dims == 0 {
			return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", len(d.Embedding), dims)
		}
		normalise(d.Embedding)
		out[i] = d.Embedding
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dims == 0 {
		c.dims = dims
	}
	if c.dims != dims { // a concurrent request was answered first
		return nil, fmt.Errorf("the answer has a vector of %d dimensions, want %d", dims, c.dims)
	}
	c.pause = nil
	return out, nil
}
