package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"claudemem/internal/leaf/text"
)

const (
	// maxLine bounds a message on standard input, in bytes; the largest useful one is a
	// memory to save. A longer one is refused, and the next one is read.
	maxLine = 4 << 20
	// answerLimit bounds the calls that are open at the end of the input.
	answerLimit = callLimit
)

// ServeStdio serves one client, a message a line, until it ends its input or ctx
// ends. Calls made before the end of the input are still answered, within answerLimit; the end of
// ctx is no error.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	client := &stdio{in: text.NewLines(in, maxLine), out: out}
	session, err := s.mcp.Connect(ctx, &mcp.IOTransport{Reader: client, Writer: client, MaxLineLength: -1}, nil)
	if err != nil {
		return fmt.Errorf("serve client: %w", err)
	}
	ended := make(chan error, 1) // buffered: after ctx ends nobody reads it
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = session.Close() // its error changes nothing
		return nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve client: %w", err)
	}
	return nil
}

// stdio is one client on a pair of streams, for the SDK's transport. That one ends at an invalid
// line, which stdio answers with an error instead.
type stdio struct {
	in   *text.Lines
	left []byte // of the line that is being read
	// open counts the calls that are not answered.
	open sync.WaitGroup

	mu  sync.Mutex // guards out
	out io.Writer
}

// Read implements io.Reader: it reads the lines that are messages. At the end of the input it
// waits, at most answerLimit, until all calls are answered.
func (c *stdio) Read(p []byte) (int, error) {
	for len(c.left) == 0 {
		line, tooLong, err := c.in.Next()
		line = bytes.TrimSpace(line)
		message, invalid := jsonrpc.DecodeMessage(line)
		switch {
		case tooLong:
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has at most %d bytes", maxLine))
		case len(line) == 0:
		case invalid != nil || !json.Valid(line):
			c.refuse(idOf(line), jsonrpc.CodeParseError, "a line is one JSON-RPC message")
		default:
			if request, ok := message.(*jsonrpc.Request); ok && request.ID.IsValid() {
				c.open.Add(1)
			}
			c.left = append(line, '\n')
		}
		if err != nil && len(c.left) == 0 {
			c.awaitAnswers()
			return 0, io.EOF
		}
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// awaitAnswers waits, at most answerLimit, until all calls are answered.
func (c *stdio) awaitAnswers() {
	answered := make(chan struct{})
	go func() {
		c.open.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(answerLimit):
	}
}

// Write implements io.Writer: it writes a message.
func (c *stdio) Write(line []byte) (int, error) {
	c.mu.Lock()
	n, err := c.out.Write(line)
	c.mu.Unlock()
	if message, invalid := jsonrpc.DecodeMessage(line); invalid == nil {
		if _, ok := message.(*jsonrpc.Response); ok {
			c.open.Done()
		}
	}
	return n, err
}

// Close implements io.Closer. A read of standard input cannot be interrupted: the goroutine of
// the transport ends with the input or with the process.
func (c *stdio) Close() error { return nil }

// refuse answers an invalid message with an error, under its id if it has one. Write
// reports a broken output, so its error is ignored here.
func (c *stdio) refuse(id json.RawMessage, code int64, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, why)
}

// idOf returns the id of an invalid message, nil for none.
func idOf(line []byte) json.RawMessage {
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &message) != nil || len(message.ID) == 0 || len(message.ID) > 100 || message.ID[0] == '{' || message.ID[0] == '[' {
		return nil
	}
	return message.ID
}
