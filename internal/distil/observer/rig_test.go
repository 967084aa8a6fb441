package observer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/capture/queue"
	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/distil/offline"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// scripted is a Provider that answers from the prompt, or by do.
type scripted struct {
	name string
	do   func(call int, r memory.ModelRequest) (memory.ModelAnswer, error)

	mu       sync.Mutex
	requests []memory.ModelRequest
	sizes    []int // bytes of each request on the wire
	input    int   // tokens of all requests
	kept     map[string][]memory.ModelMessage
	ended    []string
}

// keepingProvider makes a provider that holds the conversations itself.
func keepingProvider(name string) *scripted {
	return &scripted{name: name, kept: map[string][]memory.ModelMessage{}}
}

func (p *scripted) Name() string { return p.name }

func (p *scripted) EndRun(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, run)
	delete(p.kept, run)
}

func (p *scripted) Complete(ctx context.Context, r memory.ModelRequest) (memory.ModelAnswer, error) {
	p.mu.Lock()
	n := len(p.requests)
	history := r.History
	if p.kept != nil {
		history = p.kept[r.Run]
	}
	r.History = slices.Clone(history)
	p.requests = append(p.requests, r)
	body, err := json.Marshal(map[string]any{
		"model": "m", "max_tokens": r.MaxTokens, "system": r.System,
		"messages": append(slices.Clone(history), memory.ModelMessage{Role: "user", Text: r.Prompt}),
	})
	if err != nil {
		panic(err)
	}
	// As it is sent: an encoder of ours would escape these, no vendor's does.
	size := len(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(body)))
	p.sizes = append(p.sizes, size)
	input := model.InputTokens(r)
	p.input += input
	do := p.do
	p.mu.Unlock()
	a := memory.ModelAnswer{Text: usualAnswer(r), Model: "m"}
	if do != nil {
		if a, err = do(n, r); err != nil {
			return a, err
		}
	}
	a.Usage = memory.ModelUsage{Input: input, Output: memory.EstimateTokens(a.Text)}
	if p.kept != nil {
		p.mu.Lock()
		p.kept[r.Run] = append(p.kept[r.Run], memory.ModelMessage{Role: "user", Text: r.Prompt}, memory.ModelMessage{Role: "assistant", Text: a.Text})
		p.mu.Unlock()
	}
	return a, nil
}

func (p *scripted) kinds() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []string
	for _, r := range p.requests {
		kinds = append(kinds, r.Kind)
	}
	return strings.Join(kinds, " ")
}

func (p *scripted) all() []memory.ModelRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

var filePath = regexp.MustCompile(`(?m)^file(?:_path)?: (\S+)`)

// usualAnswer returns a decent model's answer: an observation of the files in the
// prompt, and a checkpoint when it is asked for one.
func usualAnswer(r memory.ModelRequest) string {
	var b strings.Builder
	{
		var files []string
		for _, m := range filePath.FindAllStringSubmatch(r.Prompt, -1) {
			files = append(files, m[1])
		}
		title := fmt.Sprintf("Looked around %d", len(r.Prompt))
		if len(files) > 0 {
			title = "Reworked " + files[0]
		}
		fmt.Fprintf(&b, "<observation><type>change</type><title>%s</title><narrative>The work went on there, and the tests were kept green while %s changed its shape.</narrative><facts><fact>%s was looked at</fact></facts><files_modified>", title, strings.Join(files, ", "), strings.Join(files, " and "))
		for _, f := range files {
			fmt.Fprintf(&b, "<file>%s</file>", f)
		}
		b.WriteString("</files_modified></observation>")
	}
	if r.Kind != "observation" {
		b.WriteString("<summary><request>work on it</request><completed>a step of the work</completed><next_steps>the next step</next_steps></summary>")
	}
	return b.String()
}

// rig is an observer on a real queue and store.
type rig struct {
	t        *testing.T
	dir      string
	store    *store.Store
	queue    *queue.Queue
	model    *observer.Model
	observer *observer.Observer
	choice   func(memory.Session) observer.Choice
	options  func(*observer.ModelOptions)
	schedule observer.Options
	offline  *counting
	events   int
	// held are arrivals that go into one commit; see together.
	holding bool
	held    []memory.Arrival
}

// counting is the offline distiller with a list of the events that it got.
type counting struct {
	observer.Distiller
	mu   sync.Mutex
	keys []string
}

func (c *counting) Distil(ctx context.Context, b memory.Batch) (memory.Outcome, error) {
	c.mu.Lock()
	for _, e := range b.Events {
		c.keys = append(c.keys, e.Key)
	}
	c.mu.Unlock()
	return c.Distiller.Distil(ctx, b)
}

func (c *counting) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.keys)
}

func codeMode(t *testing.T) mode.Mode {
	t.Helper()
	m, err := mode.Load("code", "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// chooseAlways makes a choice of one provider for all sessions.
func chooseAlways(t *testing.T, p model.Provider, keeps bool) func(memory.Session) observer.Choice {
	m := codeMode(t)
	return func(memory.Session) observer.Choice {
		return observer.Choice{Provider: p, Mode: m, KeepsRuns: keeps}
	}
}

// startRig opens the rig; within a synctest bubble, since waiting is part of it.
func startRig(t *testing.T, choice func(memory.Session) observer.Choice, options func(*observer.ModelOptions), schedule observer.Options) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), choice: choice, options: options, schedule: schedule}
	r.open()
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.store, err = store.Open(context.Background(), filepath.Join(r.dir, "memory.db"), store.Options{}); err != nil {
		r.t.Fatal(err)
	}
	r.queue = queue.New(r.store, queue.Options{Rand: func() float64 { return 0 }})
	if err := r.queue.Open(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.offline = &counting{Distiller: offline.New()}
	o := observer.ModelOptions{
		Choose: r.choice, Fallback: r.offline, Store: r.store,
		BatchMaxSize: r.schedule.BatchMaxSize, WaitFor: time.Hour,
	}
	if r.options != nil {
		r.options(&o)
	}
	r.model = observer.NewModel(o)
	s := r.schedule
	s.Fallback = r.offline
	r.observer = observer.New(r.queue, r.store, r.model, observer.AllCaptured(s))
	if err := r.observer.Open(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) close() {
	if r.store == nil {
		return
	}
	for _, c := range []interface{ Close() error }{r.observer, r.queue, r.store} {
		if err := c.Close(); err != nil {
			r.t.Error(err)
		}
	}
	r.store = nil
}

// restart closes the rig and opens another worker on the same database.
func (r *rig) restart() {
	r.close()
	r.open()
}

func (r *rig) enqueue(a memory.Arrival) memory.Receipt {
	r.t.Helper()
	r.events++
	a.Event.DeliveryID = fmt.Sprintf("%08d", r.events)
	a.Event.Host = memory.HostClaudeCode
	a.Event.ProjectPath, a.Event.WorktreeRoot, a.Event.Cwd = "/home/dev/shop", "/home/dev/shop", "/home/dev/shop"
	a.Event.OccurredAt = memory.MillisOf(time.Now()) + memory.Millis(r.events)
	a.ReceivedAt = memory.MillisOf(time.Now())
	if a.Key == "" {
		a.Key = fmt.Sprintf("%s:%d", a.Event.Kind, r.events)
	}
	a.Provenance = cmp.Or(a.Provenance, memory.FromProject)
	if r.holding {
		r.held = append(r.held, a)
		return memory.Receipt{}
	}
	got, err := r.queue.Enqueue(context.Background(), a)
	if err != nil {
		r.t.Fatal(err)
	}
	return got[0]
}

// together commits all events that do enqueues at once, as a busy worker does.
func (r *rig) together(do func()) {
	r.t.Helper()
	r.holding = true
	do()
	r.holding = false
	_, err := r.queue.Enqueue(context.Background(), r.held...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.held = nil
}

func (r *rig) prompt(session string) memory.SessionID {
	r.t.Helper()
	return r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: session, Prompt: fmt.Sprintf("work on part %d", r.events)}}).Session
}

// edit enqueues an edit of a file. One with 1000 bytes of output or more is of a tool
// whose output is shown, up to 4 KB; of others a prompt shows the patch alone.
func (r *rig) edit(session, file string, size int) memory.Receipt {
	r.t.Helper()
	in, err := json.Marshal(map[string]string{"file_path": "/home/dev/shop/" + file, "old_string": "a", "new_string": "b"})
	if err != nil {
		r.t.Fatal(err)
	}
	line := "line of \"output\" that says something about <things> & others\n"
	out, err := json.Marshal(map[string]string{"stdout": strings.Repeat(line, size/len(line))})
	if err != nil {
		r.t.Fatal(err)
	}
	tool := "Edit"
	if size >= 1000 {
		tool = "mcp__files__edit"
	}
	return r.enqueue(memory.Arrival{
		Event: memory.Event{Kind: memory.KindTool, HostSessionID: session, ToolName: tool, ToolInput: in, ToolResponse: out},
		Files: []memory.FileRef{{Path: file, Role: memory.FileModified, Hash: "h"}},
	})
}

func (r *rig) tools(session string, n int) {
	r.t.Helper()
	for i := range n {
		r.edit(session, fmt.Sprintf("src/file%d_%d.go", r.events, i), 500)
	}
}

func (r *rig) stop(session string) {
	r.t.Helper()
	r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindStop, HostSessionID: session, LastAssistantMessage: "Done with this part."}})
}

func (r *rig) end(session string) {
	r.t.Helper()
	r.enqueue(memory.Arrival{Event: memory.Event{Kind: memory.KindSessionEnd, HostSessionID: session, Reason: "exit"}})
}

// idle waits until all goroutines of the bubble wait.
func (r *rig) idle() { synctest.Wait() }

// waitIdle waits until nothing is due and the scheduler waits.
func (r *rig) waitIdle() {
	r.t.Helper()
	if err := r.observer.WaitIdle(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.idle()
}

func (r *rig) observations() []memory.Observation {
	r.t.Helper()
	all, err := r.store.Observations(context.Background(), memory.Query{})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b memory.Observation) int { return int(a.ID - b.ID) })
	return all
}

func (r *rig) books() memory.Books {
	r.t.Helper()
	b, err := r.store.Books(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	if !b.Balanced() {
		r.t.Errorf("books do not balance: %+v", b)
	}
	return b
}

func (r *rig) notices() (texts []string) {
	r.t.Helper()
	notices, err := r.store.Standing(context.Background(), time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, n := range notices {
		texts = append(texts, n.Text)
	}
	return texts
}
