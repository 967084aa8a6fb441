package hook

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"claudemem"
	"claudemem/jsonscan"
	"claudemem/settings"
	"claudemem/wire"
)

// Verb is what a hook is asked to do; its name is the command's.
type Verb string

// The verbs.
const (
	VerbContext Verb = "context"
	VerbNew     Verb = "new"
	VerbSave    Verb = "save"
	VerbSummary Verb = "summary"
	VerbEnd     Verb = "end"
	// VerbStatusline prints the host's status line; it takes no event in.
	VerbStatusline Verb = "statusline"
)

// budget is how long a verb may take, counted from the start of the process.
func (v Verb) budget() time.Duration {
	switch v {
	case VerbContext:
		return 2 * time.Second
	case VerbNew:
		return 400 * time.Millisecond
	case VerbEnd:
		return 500 * time.Millisecond
	case VerbStatusline:
		return statuslineTime
	default:
		return 250 * time.Millisecond
	}
}

// path is where the verb's events are posted to, "" when that depends on the payload.
func (v Verb) path() string {
	switch v {
	case VerbNew:
		return wire.PathInit
	case VerbSave:
		return wire.PathObservation
	case VerbEnd:
		return wire.PathComplete
	}
	return ""
}

const (
	// spoolReserve is what of the budget is kept for the spool when the worker is slow.
	spoolReserve = 60 * time.Millisecond
	// leastPost is what the worker gets however late it is.
	leastPost = 20 * time.Millisecond
	// lastResort is when the process ends whatever it is doing (a file system that
	// hangs): the host gives SessionEnd 1.5 s in all, the others 5 s and more.
	lastResort = 1300 * time.Millisecond
	// largestInput is the payload from which on nothing is taken in.
	largestInput = 50 << 20
)

// Options are what a hook runs with; zero fields take what the process has.
type Options struct {
	// Verb is empty when the payload's hook_event_name shall tell.
	Verb Verb
	// Host selects the adapter; Claude Code when empty.
	Host   claudemem.Host
	Stdin  io.Reader
	Stdout io.Writer
	Getenv func(string) string
	// Now is what events are stamped with. Deadlines go by the real clock.
	Now func() time.Time
	// Rand makes the random half of a delivery id.
	Rand func() uint64
	// StartedAt is when the process began: the deadline counts from there.
	StartedAt time.Time
	// DataDir is the data directory, settings.DataDir's when empty.
	DataDir string
	// StartWorker starts a worker for a data directory, detached.
	StartWorker func(dataDir string) error
	// Fallback builds a context block without the worker and returns the hook's
	// reply. The twin leaves it nil: it runs the big binary beside it.
	Fallback func(ctx context.Context, request claudemem.ContextRequest) ([]byte, error)
}

// run is one hook at work.
type run struct {
	Options
	dataDir string
	// stamp is when the hook began by Now, deadline when it must be over by the real clock.
	stamp    time.Time
	deadline time.Time
	settings *settings.Settings
	// worker is told what is coming before the payload is read: waking an idle
	// worker takes as long as making the event, and the two go on side by side.
	worker wire.Client
	reply  reply
}

// Run does what the host asked for. It never fails and never panics; what
// somebody who looks for a fault should know goes into logs/hook.log of the
// data directory.
func Run(o Options) {
	r := newRun(o)
	defer func() {
		if cause := recover(); cause != nil {
			r.log("panic", panicText(cause))
		}
	}()
	r.handle()
	r.reply.print(r.Stdout)
}

func newRun(o Options) *run {
	if o.StartedAt.IsZero() {
		o.StartedAt = time.Now()
	}
	if o.Host == "" {
		o.Host = claudemem.HostClaudeCode
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = stdout
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Uint64 // seeded by the operating system
	}
	if o.StartWorker == nil {
		o.StartWorker = StartWorker
	}
	if o.DataDir == "" {
		o.DataDir = settings.DataDir(o.Getenv)
	}
	return &run{Options: o, dataDir: o.DataDir, stamp: o.Now(), deadline: o.StartedAt.Add(o.Verb.budget())}
}

// panicText tells what went wrong without quoting from the payload: the texts of
// the runtime's own errors hold types and numbers only.
func panicText(cause any) string {
	if err, ok := cause.(runtime.Error); ok {
		return err.Error()
	}
	return "unexpected panic"
}

func (r *run) handle() {
	if internal := r.Getenv("CLAUDE_MEM_INTERNAL"); internal != "" && internal != "0" {
		drain(r.Stdin)
		return
	}
	if r.Verb == VerbStatusline {
		r.statusline()
		return
	}
	if r.dataDir != "" && r.Verb != VerbContext {
		r.worker = wire.Client{Address: wire.Find(r.dataDir, r.Getenv), Deadline: r.postUntil()}
		r.worker.Dial(r.Verb.path())
		defer r.worker.Close()
	}
	input, err := readInput(r.Stdin, largestInput)
	if err != nil {
		r.log("read payload", err.Error())
		return
	}
	if r.dataDir == "" {
		return // no home directory, so no place for a log either
	}
	m, err := r.understand(input)
	if err != nil {
		r.log("payload ignored", err.Error())
		return
	}
	if m.verb == "" || r.Verb != "" && r.Verb != m.verb {
		return
	}
	r.Verb = m.verb
	r.deadline = r.StartedAt.Add(m.verb.budget())

	r.settings, err = settings.LoadWith(r.dataDir, r.Getenv, parseSettings)
	if err != nil && m.verb == VerbContext { // once a session is enough
		r.log("settings", err.Error())
	}
	r.locate(m)
	if e := &m.event; !r.settings.Projects().Captured(e.ProjectPath, e.WorktreeRoot, m.projectDir, e.Cwd) {
		return
	}
	switch m.verb {
	case VerbContext:
		r.context(m)
	default:
		r.capture(m)
	}
}

// parseSettings reads settings.json; an empty file sets nothing.
func parseSettings(data []byte, set func(key, text string)) error {
	if len(bytes.TrimSpace(jsonscan.TrimBOM(data))) == 0 {
		return nil
	}
	return jsonscan.Members(data, func(key string, value []byte) {
		text, ok := jsonscan.Unquote(value)
		if !ok {
			text = string(value)
		}
		set(key, text)
	})
}
