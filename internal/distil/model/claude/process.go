package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/procgroup"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxStderr bounds the part of the CLI's stderr that is kept for errors.
	maxStderr = 4 << 10
	// drainTime is the wait for output that another process holds open after the CLI
	// has ended.
	drainTime = time.Second
)

// process is a running CLI.
type process struct {
	p          *Provider
	launch     launch
	id         string
	cmd        *exec.Cmd
	group      *procgroup.Group
	stdin      io.WriteCloser
	stderr     text.Head // complete when the process is gone
	systemFile string

	// gone is closed when the process has ended and its stdout has been read.
	gone chan struct{}

	mu     sync.Mutex
	turn   *turn             // the running turn
	totals memory.ModelUsage // of all its turns
}

// startProcess starts the CLI for a session. The process outlives the call.
func (p *Provider) startProcess(can capabilities, l launch, id string, resume bool) (_ *process, err error) {
	c := &process{p: p, launch: l, id: id, stderr: text.Head{Max: maxStderr}, gone: make(chan struct{})}
	if can.systemFile && l.system != "" {
		if c.systemFile, err = writeSystem(p.dir, id, l.system); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			c.removeSystem()
		}
	}()
	cmd := exec.Command(can.path, can.arguments(l, c.systemFile, id, resume)...)
	cmd.Dir, cmd.Env = p.dir, slices.Clip(p.environ)
	if l.maxTokens > 0 {
		cmd.Env = append(cmd.Env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(l.maxTokens))
	}
	cmd.Stderr = &c.stderr
	cmd.WaitDelay = drainTime
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe, which Wait would close while it is read.
	stdout, output := io.Pipe()
	cmd.Stdout = output
	c.cmd = cmd
	if c.group, err = p.starter.start(cmd); err != nil {
		c.stdin.Close()
		return nil, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		readLines(stdout, c.handleLine)
	}()
	go func() {
		err := cmd.Wait()
		c.group.Kill() // kills what it has left behind
		output.Close()
		<-read
		c.group.Release()
		c.removeSystem()
		p.opts.Logger.Debug("claude process ended", "session", id, "state", fmt.Sprint(err))
		close(c.gone)
	}()
	return c, nil
}

// handleLine passes a line of stdout, nil for one that was too long, to the running turn. The
// reader's goroutine calls it.
func (c *process) handleLine(line []byte) {
	var e event
	ok := decodeLine(line, &e) && e.Type != ""
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turn
	if t == nil {
		return // between turns
	}
	over := false
	switch {
	case line == nil:
		over = t.overLimit("a line of the CLI's output", maxLine)
	case ok:
		if e.Subtype == "init" && e.Session != "" && e.Session != c.id {
			c.p.opts.Logger.Warn("claude calls the session by another name", "session", c.id, "name", c.p.clean(e.Session))
		}
		over = t.addEvent(e, &c.totals, c.p.opts.Clock())
	case len(line) > 1:
		// Not the CLI's: a wrapper's greeting or a warning.
		c.p.opts.Logger.Debug("claude output is not JSON", "session", c.id, "bytes", len(line))
	}
	if over {
		c.turn = nil
		close(t.done)
	}
}

// ask writes a prompt and waits for its answer. The turn is never nil. After an
// error the caller has to finish the process.
func (c *process) ask(ctx context.Context, prompt string) (*turn, error) {
	t := newTurn()
	c.mu.Lock()
	c.turn = t
	c.mu.Unlock()
	content, _ := model.JSON(prompt) // a string always encodes
	line := fmt.Appendf(nil, `{"type":"user","message":{"role":"user","content":%s}}`+"\n", content)
	// In a goroutine, because a process that does not read blocks the write. It ends
	// with the process.
	wrote := make(chan int, 1)
	go func() {
		n, _ := c.stdin.Write(line)
		wrote <- n
	}()
	var err error
	select {
	case <-t.done:
	case <-c.gone:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil || isClosed(t.done) && t.broken {
		c.kill()
	}
	select {
	case n := <-wrote:
		t.written = n > 0
	case <-c.gone:
		t.written = <-wrote > 0
	case <-ctx.Done():
		err = ctx.Err()
		c.kill()
		t.written = <-wrote > 0
	}
	c.removeSystem() // the CLI has read it by now
	if !isClosed(t.done) {
		c.mu.Lock()
		c.turn = nil // the reader is done with it
		c.mu.Unlock()
		if err == nil {
			err = c.death(t)
		}
	}
	switch {
	case err != nil:
		return t, err
	case t.failed:
		return t, c.p.fail(t.what, t.usage, t.free)
	}
	return t, nil
}

// death returns the error of a turn whose process ended without a result, and sets t.unknownSession
// and t.sessionInUse by what it said. c.gone must be closed.
func (c *process) death(t *turn) error {
	said := strings.TrimSpace(c.stderr.String())
	t.unknownSession = cannotResume(said)
	t.sessionInUse = strings.Contains(said, "is already in use")
	what := t.what
	what.text = "the CLI ended without an answer (" + c.cmd.ProcessState.String() + ")"
	if said != "" {
		what.text += ": " + said
	}
	return c.p.fail(what, t.usage, t.silent)
}

// isClosed reports whether done is closed, without waiting.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// finish ends the process by closing its stdin, after grace by killing its group.
// It returns when the process is gone, and may be called by several goroutines.
func (c *process) finish(grace time.Duration) {
	c.stdin.Close() // repeated calls are harmless
	select {
	case <-c.gone:
		return
	case <-time.After(grace):
	}
	c.p.opts.Logger.Debug("claude process killed", "session", c.id, "grace", grace)
	c.kill()
}

// kill ends the process's group at once and waits.
func (c *process) kill() {
	c.group.Kill()
	<-c.gone
}

// systemSuffix is the ending of files with system prompts in our directory.
const systemSuffix = ".system"

// writeSystem writes a system prompt to a file that only the user can read.
func writeSystem(dir, id, system string) (string, error) {
	path := filepath.Join(dir, id+systemSuffix)
	_ = os.Remove(path) // a former run's; if it stays, it cannot be opened
	file, err := openfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.WriteString(system)
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("write system prompt: %w", err)
	}
	return path, nil
}

// removeSystem removes the file with the system prompt, if there is one; what cannot be removed is
// left to the next start.
func (c *process) removeSystem() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.systemFile != "" {
		os.Remove(c.systemFile)
		c.systemFile = ""
	}
}

// removeSystemFiles removes the files of a killed worker.
func removeSystemFiles(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "*"+systemSuffix)) // a bad pattern matches nothing
	for _, path := range left {
		if uuidPattern.MatchString(strings.TrimSuffix(filepath.Base(path), systemSuffix)) {
			os.Remove(path)
		}
	}
}

// starter starts processes that die with this one. Linux sends a child's
// parent-death signal when the *thread* that started it ends, and Go's runtime
// ends threads; so one goroutine, locked to its thread for as long as there are
// processes, starts them all.
type starter struct {
	once   sync.Once
	starts chan func()
	done   chan struct{}
}

// start starts cmd as the leader of a group of its own.
func (s *starter) start(cmd *exec.Cmd) (g *procgroup.Group, err error) {
	s.once.Do(func() {
		s.starts, s.done = make(chan func()), make(chan struct{})
		go s.run()
	})
	done := make(chan struct{})
	s.starts <- func() {
		g, err = procgroup.Start(cmd)
		close(done)
	}
	<-done
	return g, err
}

// run starts processes on one system thread that lives until the starter closes: a
// process is killed when the thread that started it ends (Pdeathsig).
func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for start := range s.starts {
		start()
	}
}

// close ends the thread and with it its remaining children. It is called once, and no start
// may be running or follow.
func (s *starter) close() {
	if s.starts != nil {
		close(s.starts)
		<-s.done
	}
}
