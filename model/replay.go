package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"claudemem"
)

// cassetteLine is one recorded call, one line of a cassette.
type cassetteLine struct {
	Key string `json:"key"`
	// Kind and Prompt are for the people who read a cassette; only Key counts.
	Kind   string               `json:"kind,omitempty"`
	Prompt string               `json:"prompt,omitempty"`
	Text   string               `json:"text,omitempty"`
	Model  string               `json:"model,omitempty"`
	Usage  claudemem.ModelUsage `json:"usage"`
	Class  claudemem.ErrorClass `json:"class,omitempty"`
	Wait   claudemem.Millis     `json:"wait_ms,omitempty"`
	Error  string               `json:"error,omitempty"`
}

// RequestKey names what a request asks: kind, model, system, history, prompt
// and the limit of the answer. Whose request it is (run, session, host) is left
// out, because it differs from run to run of a test.
func RequestKey(request claudemem.ModelRequest) string {
	// A struct of strings and numbers cannot fail to encode.
	b, _ := json.Marshal([]any{request.Kind, request.Model, request.System, request.History, request.Prompt, request.MaxTokens})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Recorder is a Provider that writes what it was asked and answered to a
// cassette. Calls that ended with their context are not recorded.
type Recorder struct {
	wrapped
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder wraps next. Requests are recorded as they are: record with
// nothing in them that should not be in a repository.
func NewRecorder(next Provider, w io.Writer) *Recorder {
	return &Recorder{wrapped: wrapped{next}, w: w}
}

// Complete asks and records; that a line could not be written is an error,
// because a cassette with a gap is worthless.
func (r *Recorder) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	answer, callErr := r.next.Complete(ctx, request)
	line := cassetteLine{Key: RequestKey(request), Kind: request.Kind, Prompt: request.Prompt, Text: answer.Text, Model: answer.Model, Usage: answer.Usage}
	var failed *claudemem.ModelError
	if errors.As(callErr, &failed) {
		line.Class, line.Wait, line.Usage, line.Error = failed.Class, claudemem.Millis(failed.Wait.Milliseconds()), failed.Usage, failed.Err.Error()
	} else if callErr != nil {
		return answer, callErr
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // read by people
	if err := encoder.Encode(line); err != nil {
		return answer, fmt.Errorf("encode cassette line: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.w.Write(b.Bytes()); err != nil {
		return answer, fmt.Errorf("write cassette line: %w", err)
	}
	return answer, callErr
}

// Replay is a Provider that answers from a cassette and sends nothing. The same
// request asked again gets the recorded answers in their order; what was not
// recorded, or not as often, is a ModelError of ClassGarbage.
type Replay struct {
	name string
	mu   sync.Mutex
	left map[string][]cassetteLine
}

// NewReplay reads a cassette; name is the provider's whose part it plays.
func NewReplay(name string, r io.Reader) (*Replay, error) {
	p := &Replay{name: name, left: map[string][]cassetteLine{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 2*maxAnswerBytes)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var line cassetteLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("read cassette line %d: %w", n, err)
		}
		p.left[line.Key] = append(p.left[line.Key], line)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read cassette: %w", err)
	}
	return p, nil
}

// Name is the name that NewReplay was given.
func (p *Replay) Name() string { return p.name }

// Left is how many recorded calls have not been asked for.
func (p *Replay) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, lines := range p.left {
		n += len(lines)
	}
	return n
}

// Complete answers as recorded.
func (p *Replay) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	if err := ctx.Err(); err != nil {
		return claudemem.ModelAnswer{}, err
	}
	key := RequestKey(request)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left[key]) == 0 {
		f := &failure{class: claudemem.ClassGarbage, text: "no recording of request " + key, free: true}
		return claudemem.ModelAnswer{}, &claudemem.ModelError{Provider: p.name, Class: f.class, Err: f}
	}
	line := p.left[key][0]
	p.left[key] = p.left[key][1:]
	if line.Class != "" {
		f := &failure{class: line.Class, text: line.Error}
		return claudemem.ModelAnswer{}, &claudemem.ModelError{
			Provider: p.name, Class: line.Class, Wait: time.Duration(line.Wait) * time.Millisecond, Usage: line.Usage, Err: f,
		}
	}
	return claudemem.ModelAnswer{Text: line.Text, Model: line.Model, Usage: line.Usage}, nil
}
