package intake

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/rules"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/symbols"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

const (
	// maxText is the length in bytes to which texts are truncated: 64 KB, and room
	// for the mark in texts that the hook has truncated.
	maxText = 64<<10 + 512
	// maxJSON bounds a tool's input or response after its texts were truncated, in bytes.
	maxJSON = 12 * maxText
)

// Policy says what the user wants captured. The zero value captures everything.
type Policy struct {
	// Refuse takes nothing in: the settings are broken, so what the user excluded is
	// unknown.
	Refuse bool
	// SkipTools are names of tools whose calls are counted and not stored.
	SkipTools []string
	// Withheld matches files whose contents are never stored.
	Withheld glob.Set
	// Projects says in which projects events are captured.
	Projects glob.Projects
}

// Options of an Intake. The zero value captures everything.
type Options struct {
	// Policy returns what is captured now, never nil; without the function, everything. It is
	// asked for each call of Ingest.
	Policy func() *Policy
	// DataDir is claude-mem's data directory; events from within it are our own.
	DataDir string

	// OpenSession returns the host of the open session with an id that its host gave
	// it, "" when there is none; nil finds none.
	OpenSession func(ctx context.Context, hostSessionID string) (memory.Host, error)

	Clock  func() time.Time // nil: time.Now
	Random func([]byte)     // nil: crypto/rand; fills delivery ids that a client left out
}

// Queue makes an arrival durable.
type Queue interface {
	Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error)
}

// Intake takes events in.
type Intake struct {
	queue   Queue
	opts    Options
	private *privateTurns
	recent  recent
}

// New returns an Intake that hands arrivals to queue. It runs nothing by itself and needs no closing.
func New(queue Queue, opts Options) *Intake {
	opts.Clock = memory.ClockOr(opts.Clock)
	if opts.Random == nil {
		opts.Random = func(b []byte) { _, _ = rand.Read(b) } // never fails
	}
	if opts.Policy == nil {
		opts.Policy = func() *Policy { return &Policy{} }
	}
	return &Intake{queue: queue, opts: opts, private: newPrivateTurns()}
}

// Ingest takes one event in and returns it as it was taken in. It is durable when
// the error is nil; an error with CodeInvalid says that it can never be taken in.
func (in *Intake) Ingest(ctx context.Context, event memory.Event) (memory.TakenIn, error) {
	taken, err := in.IngestAll(ctx, event)
	if err != nil {
		return memory.TakenIn{}, err
	}
	return taken[0], nil
}

// IngestAll takes events in, in order and in one transaction of the queue, and returns them in
// that order as they were stored, redacted. An invalid one refuses them all with CodeInvalid;
// CodeUnavailable while the settings are broken; other errors are those of ctx, OpenSession
// and the queue. An event that is not captured is no error: its receipt is StatusSkipped.
func (in *Intake) IngestAll(ctx context.Context, events ...memory.Event) ([]memory.TakenIn, error) {
	policy, err := in.policy()
	if err != nil {
		return nil, err
	}
	arrivals := make([]memory.Arrival, len(events))
	for i := range events {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("take in events: %w", err)
		}
		arrival, err := in.arrival(ctx, events[i], policy)
		if err != nil {
			return nil, err
		}
		arrivals[i] = arrival
	}
	receipts, err := in.queue.Enqueue(ctx, arrivals...)
	if err != nil {
		return nil, fmt.Errorf("enqueue %d events: %w", len(arrivals), err)
	}
	if len(receipts) != len(arrivals) {
		return nil, memory.Errorf(memory.CodeInternal, "the queue answered %d arrivals with %d receipts", len(arrivals), len(receipts))
	}
	taken := make([]memory.TakenIn, len(arrivals))
	for i := range arrivals {
		taken[i] = memory.TakenIn{Receipt: receipts[i], Event: arrivals[i].Event}
	}
	return taken, nil
}

// KeyOf returns the key that a tool or a prompt with an id of its host will have once it is taken
// in, "" for any other event. Of the content only the ToolResponse is looked at, which names a
// subagent's run. An import asks with it which events are there already.
func KeyOf(e *memory.Event) string {
	if e.Kind == memory.KindTool && e.ToolUseID != "" || e.Kind == memory.KindPrompt && e.PromptID != "" {
		named := memory.Event{Kind: e.Kind, Host: memory.Host(safeName(string(e.Host.Canonical()))), HostSessionID: safeName(e.HostSessionID),
			ToolName: e.ToolName, ToolResponse: e.ToolResponse, ToolUseID: safeName(e.ToolUseID), PromptID: safeName(e.PromptID)}
		wire.NameAgentRun(&named)
		return eventKey(&named)
	}
	return ""
}

// policy returns what is captured now; CodeUnavailable when that is unknown.
func (in *Intake) policy() (*Policy, error) {
	policy := in.opts.Policy()
	if policy.Refuse {
		return nil, memory.Errorf(memory.CodeUnavailable, "the settings file is broken, so nothing is captured").WithHint("claude-mem doctor")
	}
	return policy, nil
}

// arrival makes an arrival of an event, which it first validates: CodeInvalid. The bytes of the
// event's JSON stay as they are, as the caller may go on using them.
func (in *Intake) arrival(ctx context.Context, e memory.Event, policy *Policy) (memory.Arrival, error) {
	if err := e.Validate(); err != nil {
		return memory.Arrival{}, err
	}
	if len(e.ToolInput) > 0 && !json.Valid(e.ToolInput) {
		return memory.Arrival{}, memory.Errorf(memory.CodeInvalid, "tool_input is not JSON")
	}
	if len(e.ToolResponse) > 0 && !json.Valid(e.ToolResponse) {
		return memory.Arrival{}, memory.Errorf(memory.CodeInvalid, "tool_response is not JSON")
	}
	a := memory.Arrival{ReceivedAt: memory.MillisOf(in.opts.Clock())}
	in.complete(&e, a.ReceivedAt)
	// Masked ids would all be the same, so they are hashed.
	for _, id := range []*string{(*string)(&e.Host), &e.HostSessionID, &e.DeliveryID, &e.ToolUseID, &e.PromptID, &e.AgentID} {
		*id = safeName(*id)
	}
	if err := in.findHost(ctx, &e); err != nil {
		return memory.Arrival{}, err
	}
	if e.Kind == memory.KindStop && e.AgentID != "" {
		wire.SubagentEnd(&e) // of a client without our hook
	}
	wire.NameAgentRun(&e)
	var call toolcall.Call
	if e.Kind == memory.KindTool {
		call = toolcall.ParseInput(&e)
	}
	a.SkipReason = in.skipReason(&e, &call, policy)
	e.Unmarked = false // says nothing any more
	if a.SkipReason != "" {
		strip(&e, a.SkipReason)
	} else {
		a.Files = files(&e, &call, policy.Withheld)
		a.Result = call.Result()
		if len(a.Files) == 1 && a.Files[0].Role == memory.FileModified && !policy.Withheld.File(call.File, e.Cwd) {
			a.Symbols, _ = symbols.AtOnce(&e, a.Files[0]) // nil is compared when the event is distilled
		}
		switch e.Kind { // of a tool, Marks says it
		case memory.KindPrompt:
			a.Provenance = memory.FromUser
		case memory.KindStop:
			a.Provenance = memory.FromAgent
		}
		e.ToolInput, e.ToolResponse = dropFrom(e.ToolInput), dropFrom(e.ToolResponse)
	}
	a.Redacted = rules.Event(&e, policy.Withheld, maxText)
	e.ToolInput, e.ToolResponse = shrink(e.ToolInput), shrink(e.ToolResponse)
	if a.Key = eventKey(&e); a.SkipReason == "" { // what is skipped has no content to compare
		a.Key = in.recent.key(&e)
	}
	a.Event = e
	return a, nil
}

// findHost sets the host of an event that has none: the host of the open session with
// its id, else HostRaw. The id has been made safe, as the store has it. Its errors are those of
// OpenSession.
func (in *Intake) findHost(ctx context.Context, e *memory.Event) error {
	if e.Host == "" && in.opts.OpenSession != nil {
		host, err := in.opts.OpenSession(ctx, e.HostSessionID)
		if err != nil {
			return fmt.Errorf("find the host of a session: %w", err)
		}
		e.Host = host
	}
	e.Host = cmp.Or(e.Host, memory.HostRaw)
	return nil
}

// complete fills in the fields that a client without our hook leaves out: time, delivery id and
// where the event happened. Of a backfilled event it does not look at the directory, which may
// have another branch by now.
func (in *Intake) complete(e *memory.Event, now memory.Millis) {
	if e.OccurredAt <= 0 {
		e.OccurredAt = now
	}
	if e.DeliveryID == "" {
		var random [8]byte
		in.opts.Random(random[:])
		e.DeliveryID = memory.NewDeliveryID(now.Time(), random)
	}
	e.Host = e.Host.Canonical()
	if e.Offline() {
		e.Backfill = memory.BackfillOffline // a client may have sent any text
	}
	if e.WorktreeRoot == "" && e.Backfill == "" && (e.Cwd != "" || repo.IsAbsolute(e.ProjectPath)) {
		project := e.ProjectPath
		if !repo.IsAbsolute(project) {
			project = "" // a label, which stays
		}
		id := repo.Identify(project, e.Cwd)
		e.WorktreeRoot = id.WorktreeRoot
		if e.ProjectPath == "" || project != "" {
			e.ProjectPath = id.Project
		}
		if e.Branch == "" && e.HeadCommit == "" {
			e.Branch, e.HeadCommit = id.Branch, id.HeadCommit
		}
	}
}

// shrink bounds JSON with many texts to maxJSON: it truncates them further, to an eighth each time,
// and if that is not enough, replaces the JSON by its truncated text, as a JSON string. raw is
// valid JSON or empty.
func shrink(raw json.RawMessage) json.RawMessage {
	for limit := maxText / 8; len(raw) > maxJSON && limit >= 128; limit /= 8 {
		raw, _ = redact.Each(raw, func(_, text string) string { return redact.TruncateMiddle(text, limit) })
	}
	if len(raw) <= maxJSON {
		return raw
	}
	cut, _ := json.Marshal(redact.TruncateMiddle(string(raw), maxText)) // a string always encodes
	return cut
}

// Two registrations of the hooks report an event twice. Without an id of its host the two are one if
// they have the same content in the same session within sameEvent; the last maxRecent are compared.
const (
	sameEvent = memory.Millis(2000)
	maxRecent = 256
)

// recent remembers the last events that their hosts gave no id.
type recent struct {
	mu     sync.Mutex
	events [maxRecent]struct {
		content    string
		deliveryID string
		at         memory.Millis
	}
	next int
}

// key returns the key of an event: that of its first delivery.
func (r *recent) key(e *memory.Event) string {
	if e.Backfill != "" || e.Kind == memory.KindFlush || e.Kind == memory.KindTool && e.ToolUseID != "" || e.Kind != memory.KindTool && e.PromptID != "" {
		return eventKey(e)
	}
	content := digest(string(e.Kind) + "\x00" + sessionOf(e) + "\x00" + e.AgentID + "\x00" + e.Prompt + "\x00" + e.ToolName + "\x00" + string(e.ToolInput) + "\x00" +
		string(e.ToolResponse) + "\x00" + e.ToolError + "\x00" + e.LastAssistantMessage + "\x00" + e.Reason)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.events {
		if known.content == content && max(known.at-e.OccurredAt, e.OccurredAt-known.at) <= sameEvent {
			first := *e
			first.DeliveryID, first.OccurredAt = known.deliveryID, known.at
			return eventKey(&first)
		}
	}
	event := &r.events[r.next%maxRecent]
	event.content, event.deliveryID, event.at = content, e.DeliveryID, e.OccurredAt
	r.next++
	return eventKey(e)
}
