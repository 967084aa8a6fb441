package mcpserver

import (
	"bufio"
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
)

const (
	// maxLine bounds a message on standard input, in bytes; the largest useful one is a
	// memory to save. A longer one is refused, and the next one is read.
	maxLine = 4 << 20
	// answerLimit bounds the calls that are open at the end of the input.
	answerLimit = callLimit
)

// ServeStdio serves one client, a message a line, until it ends its input or ctx
// ends. Calls made before that are still answered.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	session, err := s.mcp.Connect(ctx, &stdio{in: in, out: out}, nil)
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

// stdio is one client on a pair of streams. Unlike the SDK's own transport it
// survives an invalid line: it answers with an error and reads the next line.
type stdio struct {
	in  io.Reader
	out io.Writer

	incoming  chan []byte // unbuffered: a line is read when the previous one was taken
	closed    chan struct{}
	closeOnce sync.Once

	mu sync.Mutex // guards out and what follows
	// open counts the calls that are not answered.
	open  int
	ended bool // the input has
	// answered is closed when the input has ended and open is 0.
	answered     chan struct{}
	answeredOnce sync.Once
}

// Connect implements mcp.Transport.
func (c *stdio) Connect(context.Context) (mcp.Connection, error) {
	c.incoming, c.closed, c.answered = make(chan []byte), make(chan struct{}), make(chan struct{})
	// A read of standard input cannot be interrupted: this goroutine ends with the
	// input or with the process.
	go c.readLines()
	return c, nil
}

// SessionID implements mcp.Connection; a stream has none.
func (c *stdio) SessionID() string { return "" }

// readLines sends each line of the input that is not blank to c.incoming until the input
// ends or c is closed, and then closes c.incoming. It refuses a line longer than
// maxLine.
func (c *stdio) readLines() {
	defer close(c.incoming)
	reader := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, whole, err := readLine(reader)
		switch line = bytes.TrimSpace(line); {
		case !whole:
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has at most %d bytes", maxLine))
		case len(line) > 0:
			select {
			case c.incoming <- line:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line; whole is false for one that is too long, which is skipped.
func readLine(reader *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := reader.ReadSlice('\n')
		if whole && len(line)+len(part) > maxLine {
			line, whole = nil, false
		}
		if whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// Read implements mcp.Connection.
func (c *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case line, more := <-c.incoming:
			if !more {
				return nil, c.awaitAnswers(ctx)
			}
			message, err := jsonrpc.DecodeMessage(line)
			if err != nil {
				c.refuse(idOf(line), jsonrpc.CodeParseError, "a line is one JSON-RPC message")
				continue
			}
			if request, ok := message.(*jsonrpc.Request); ok && request.ID.IsValid() {
				c.mu.Lock()
				c.open++
				c.mu.Unlock()
			}
			return message, nil
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// awaitAnswers waits, at most answerLimit, until all calls are answered; it returns io.EOF.
func (c *stdio) awaitAnswers(ctx context.Context) error {
	c.mu.Lock()
	c.ended = true
	c.closeAnswered()
	c.mu.Unlock()
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	select {
	case <-c.answered:
	case <-limit.C:
	case <-c.closed:
	case <-ctx.Done():
	}
	return io.EOF
}

// closeAnswered closes answered, once, when the input has ended and no call is open;
// c.mu is held.
func (c *stdio) closeAnswered() {
	if c.ended && c.open <= 0 {
		c.answeredOnce.Do(func() { close(c.answered) })
	}
}

// Write implements mcp.Connection.
func (c *stdio) Write(_ context.Context, message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(line, '\n'))
	if _, ok := message.(*jsonrpc.Response); ok {
		c.open--
		c.closeAnswered()
	}
	return err
}

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

// Close implements mcp.Connection.
func (c *stdio) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}
