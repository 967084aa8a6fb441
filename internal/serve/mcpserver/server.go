package mcpserver

import (
	"cmp"
	"context"
	_ "embed" // the instructions
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed instructions.md
var instructions string

const (
	// callLimit bounds a tool call; the slowest searches of large memories take 1% of it.
	callLimit = 20 * time.Second
	// maxCalls bounds the concurrent calls; more wait. An agent rarely makes more than 5.
	maxCalls = 8
)

// Options shape a server.
type Options struct {
	Version string
	// Dir is the client's working directory, "" when it is not known: then a tool
	// that is given no project looks at all of them.
	Dir string
	// AskRoots lets the client's roots say where it works, before Dir.
	AskRoots bool
	// Session names, as HOST:ID, the session that the client belongs to, "" when
	// it is not known; a client on HTTP says it in the header wire.SessionHeader.
	Session string
	// Clock is the time of day, in the user's zone; nil is time.Now.
	Clock func() time.Time
	// Logger gets internal errors, never contents; nil discards them.
	Logger *slog.Logger
}

// Server is the memory's MCP server. It serves any number of clients.
type Server struct {
	memory api.Memory
	opts   Options
	mcp    *mcp.Server
	// turns holds an element for each running call.
	turns chan struct{}
}

// New returns a server of a memory.
func New(mem api.Memory, opts Options) *Server {
	opts.Clock = memory.ClockOr(opts.Clock)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	s := &Server{memory: mem, opts: opts, turns: make(chan struct{}, maxCalls)}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "claude-mem", Title: "claude-mem: memory of earlier sessions", Version: opts.Version},
		&mcp.ServerOptions{
			Instructions: strings.TrimSpace(instructions),
			// The tools never change and nothing is logged to the client.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	for _, t := range tools() {
		s.mcp.AddTool(t.definition(), s.handler(t))
	}
	return s
}

// Handler serves MCP over HTTP: one POST for each message, answered with JSON. It
// keeps no state between requests.
func (s *Server) Handler() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		// Access and size limits are httpapi's.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
}

// call is one call of a tool.
type call struct {
	server  *Server
	request *mcp.CallToolRequest
	session string
	now     time.Time
	args    *arguments
}

var errPanicked = errors.New("tool panicked")

// handler wraps a tool: it waits for its turn, sets the deadline and turns errors and
// panics into answers that the agent can read.
func (s *Server) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				s.opts.Logger.Error("tool panicked", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
				result = failed(errPanicked)
			}
		}()
		ctx, cancel := context.WithTimeoutCause(ctx, callLimit,
			memory.Errorf(memory.CodeUnavailable, "no answer after %v", callLimit).WithHint("try again with a narrower question"))
		defer cancel()
		select {
		case s.turns <- struct{}{}:
			defer func() { <-s.turns }()
		case <-ctx.Done():
			return failed(context.Cause(ctx)), nil
		}
		c := &call{server: s, request: r, session: s.opts.Session, now: s.opts.Clock()}
		if extra := r.GetExtra(); extra != nil {
			c.session = cmp.Or(extra.Header.Get(wire.SessionHeader), c.session)
		}
		var err error
		if c.args, err = parseArguments(t.arguments, r.Params.Arguments); err != nil {
			return failed(err), nil
		}
		a := t.run(ctx, c)
		err = c.args.err
		if t.nothingYet && memory.CodeOf(err) == memory.CodeNoMemory {
			a, err = nothingYet(), nil
		}
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if !errors.As(err, new(*memory.Error)) && !errors.Is(err, context.Canceled) { // a fault of ours
				s.opts.Logger.Error("tool failed", "tool", t.name, "error", err)
			}
			return failed(err), nil
		}
		if len(c.args.unknown) > 0 {
			a.tail("There is no argument %s: it was ignored.", strings.Join(c.args.unknown, ", "))
		}
		return a.result(c.showsStructured()), nil
	}
}

// failed returns an error as the agent reads it. Errors that are no memory.Error may
// hold paths or contents: only the log gets those.
func failed(err error) *mcp.CallToolResult {
	var known *memory.Error
	switch {
	case errors.As(err, &known):
	case errors.Is(err, context.Canceled):
		known = memory.Errorf(memory.CodeUnavailable, "cancelled")
	default:
		known = memory.Errorf(memory.CodeInternal, "internal error").WithHint("`claude-mem worker logs` may tell more")
	}
	text := fmt.Sprintf("error (%s): %s", known.Code, line(known.Message, 400))
	if known.Hint != "" {
		text += "\nhint: " + line(known.Hint, 400)
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// showsStructured reports whether the answer carries structured content. Claude Code
// 2.1.197 shows the model that content as JSON in place of the text, which
// costs twice as much and loses the frame around the records.
func (c *call) showsStructured() bool {
	if info := c.request.ClientInfo(); info != nil && strings.HasPrefix(info.Name, "claude-code") {
		return false
	}
	extra := c.request.GetExtra()
	return extra == nil || !strings.HasPrefix(extra.Header.Get("User-Agent"), "claude-code")
}
