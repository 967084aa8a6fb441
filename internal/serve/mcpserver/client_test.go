package mcpserver_test

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"claudemem/internal/serve/mcpserver"
)

// client is an MCP client on a pair of pipes.
type client struct {
	t     *testing.T
	to    *io.PipeWriter
	lines chan string // unbuffered: each is heard before the next
	ended chan error  // capacity 1
}

// patience bounds the wait for an answer.
const patience = 2 * time.Minute

func connect(t *testing.T, s *mcpserver.Server) *client {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, to: to, lines: make(chan string), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := s.ServeStdio(ctx, in, out)
		_ = out.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.lines)
		reader := bufio.NewReader(from)
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			select {
			case c.lines <- line[:len(line)-1]:
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = to.Close()
		_ = from.Close()
	})
	return c
}

func (c *client) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.to, line+"\n"); err != nil {
		c.t.Fatalf("say: %v", err)
	}
}

func (c *client) hear() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server has ended")
		}
		return line
	case <-time.After(patience):
		c.t.Fatal("no answer")
	}
	return ""
}

// end ends the input and waits for the server.
func (c *client) end() error {
	c.t.Helper()
	_ = c.to.Close()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(patience):
		c.t.Fatal("the server does not end")
	}
	return nil
}
