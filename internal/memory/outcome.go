package memory

import (
	"errors"
	"slices"
)

// Status is where an event is in the books.
type Status string

// The statuses of an event. A duplicate has no row of its own, only a count.
const (
	StatusPending    Status = "pending"
	StatusProcessing Status = "processing"
	StatusProcessed  Status = "processed"
	StatusSkipped    Status = "skipped"
	StatusFailed     Status = "failed"
	StatusForgotten  Status = "forgotten"
	StatusDuplicate  Status = "duplicate"
)

// Why intake skips an event instead of queueing it.
const (
	SkipTool     = "tool"     // the tool is on the skip list
	SkipOwn      = "own"      // claude-mem's own tools and commands
	SkipPrivate  = "private"  // belongs to a turn whose prompt was wholly private
	SkipExcluded = "excluded" // the project is excluded
	SkipNotTyped = "not_typed"
	SkipInternal = "internal" // a run that claude-mem started
)

// Arrival is an event as intake hands it to the queue: stripped, redacted, keyed.
type Arrival struct {
	Event Event
	// Key is the event's identity, computed from what the host says of it, so that
	// live capture and a later import of the same session agree.
	Key        string
	ReceivedAt Millis
	// SkipReason, when set, books the event as skipped; its payload is not kept.
	SkipReason string
	// Files are the files that a tool event touched, with their hashes at intake.
	Files []FileRef
	// Symbols are the functions and types that an edit changed; nil: not compared yet.
	Symbols []SymbolChange
	// Provenance says who could have written the event's content.
	Provenance Provenance
	// Redacted counts what the secret rules replaced, by rule.
	Redacted map[string]int
	// Result says how a tool call went.
	Result Result
}

// Result says how a tool call went, "" if that is not known.
type Result string

// The results that are known.
const (
	// ResultFailed: the call failed, or a test, build or linter that it ran did.
	ResultFailed Result = "failed"
	// ResultPassed: a test, build or linter passed, and none is known to have failed.
	ResultPassed Result = "passed"
)

// Receipt is the queue's answer once an arrival is durable.
type Receipt struct {
	Session      SessionID
	PromptNumber int
	// Status is pending, processed (prompts and session ends are done at once),
	// skipped or duplicate.
	Status Status
	Reason string
}

// TakenIn is an event as the books have it (redacted, under its safe names), and
// the receipt for it.
type TakenIn struct {
	Receipt
	Event Event
}

// PendingEvent is a claimed piece of work.
type PendingEvent struct {
	Key          string
	PromptNumber int
	Attempts     int
	Event        Event
	Files        []FileRef
	// Symbols are the functions and types that an edit changed; nil: not known.
	Symbols []SymbolChange
	// Provenance says who could have written the event's content, "" is not known.
	Provenance Provenance
}

// ProvenanceOf returns the least trusted provenance of events, "" for none.
func ProvenanceOf(events []PendingEvent) Provenance {
	all := make([]Provenance, len(events))
	for i := range events {
		all[i] = events[i].Provenance
	}
	return LeastTrusted(all...)
}

// MadeAt returns the branch and commit at the last of events, which are in order, that modified
// one of files and has a commit; at the last of all without such an event, "" without events.
// The commit is the latest that a later event has on that branch, as it may contain the change. A
// session that moves to another branch afterwards did not make it there.
func MadeAt(events []PendingEvent, files []FileRef) (branch, headCommit string) {
	if len(events) == 0 {
		return "", ""
	}
	isModified := func(t FileRef) bool {
		return t.Role == FileModified && slices.ContainsFunc(files, func(f FileRef) bool { return f.Role == FileModified && f.Path == t.Path })
	}
	at := len(events) - 1
	for i := range slices.Backward(events) {
		if events[i].Event.HeadCommit != "" && slices.ContainsFunc(events[i].Files, isModified) {
			at = i
			break
		}
	}
	branch, headCommit = events[at].Event.Branch, events[at].Event.HeadCommit
	for _, e := range events[at:] {
		if e.Event.Branch == branch {
			headCommit = e.Event.HeadCommit
		}
	}
	return branch, headCommit
}

// Claim is a session's events, in order, that one claimer holds.
type Claim struct {
	Claimer string
	Session Session
	Events  []PendingEvent
}

// Backlog describes the waiting events of a session.
type Backlog struct {
	Session Session
	// Pending counts the pending events, due or not.
	Pending int
	// Tools and Stops count the pending events that are due; Bytes is the size of their payloads.
	Tools, Stops int
	Bytes        int
	// OldestPrompt and NewestPrompt are the lowest and highest prompt numbers among them.
	OldestPrompt, NewestPrompt int
	// NewestAt is when the last of them was received.
	NewestAt Millis
	// NextDue is the earliest time at which a waiting retry becomes due, 0 if none waits.
	NextDue Millis
}

// Batch is the input of a distiller: events of one session in order, possibly of several turns.
type Batch struct {
	Session Session
	// Prompts are the prompts of the turns in the batch, ordered by number.
	Prompts []Prompt
	Events  []PendingEvent
	// Earlier are observations of these turns that were stored before.
	Earlier []Observation
	// Nearby are observations of the project that hold, of any session and turn, the newest
	// first: those of the same files, and the newest. The batch may reverse some.
	Nearby []Observation
	// NearbySymbols are the changes of functions and types, in the batch's files, by the
	// sessions of Nearby.
	NearbySymbols []SymbolChange
	// Lines are what earlier batches of the session changed, as far as the worker still knows.
	Lines []TurnLines
}

// TurnLines are the lines that a turn changed. They are hashes of one process, from which no text
// can be read back, and are never stored.
type TurnLines struct {
	Session      SessionID
	PromptNumber int
	// Net says how often the turn added a line, less how often it removed it.
	Net map[FileLine]int
	// Committed: the turn committed what was changed up to then.
	Committed bool
}

// FileLine is a line of a file.
type FileLine struct {
	Path string
	Hash uint64
}

// Files returns the paths of the files that the batch's events touched, each once, in the order
// of the events.
func (b *Batch) Files() []string {
	var paths []string
	seen := map[string]bool{}
	for i := range b.Events {
		for _, f := range b.Events[i].Files {
			if !seen[f.Path] {
				seen[f.Path] = true
				paths = append(paths, f.Path)
			}
		}
	}
	return paths
}

// Outcome holds the records that a distiller made of a batch. They are stored in one
// transaction with the outcomes of the batch's events.
type Outcome struct {
	Observations []Observation
	// Summaries has one entry for each turn that the batch closes.
	Summaries []Summary
	Learnings []Learning
	// Symbols are changes of functions and types, in order.
	Symbols []SymbolChange
	// Lines are the changes of the batch's turns, for the next batches of the session.
	Lines []TurnLines
	// Unread holds, by the keys of their events, why the records of these events were
	// made without the model that was chosen for them.
	Unread map[string]UnreadReason
	// Foreign are the texts of the batch, and of its records, that others have written.
	Foreign []ForeignText
}

// ForeignText is a text that somebody wrote who has nothing to do with the project, as the
// hashes of its runs of words (likeness.ForeignRuns).
type ForeignText struct {
	PromptNumber int
	Provenance   Provenance
	Runs         []uint64
}

// UnreadReason says why no model has read an event whose session has a model: a token
// cap, or the class of the model's failure.
type UnreadReason string

// The reasons besides the classes of failure.
const (
	UnreadCap      UnreadReason = "cap"      // a token cap was reached
	UnreadUnusable UnreadReason = "unusable" // the answers held nothing that was asked for
	UnreadRefused  UnreadReason = "refused"  // the model or its server refused these events
	UnreadError    UnreadReason = "error"    // a failure of another kind
)

// UnreadReasonOf returns the reason for events whose model failed with err, which is not nil.
// ClassGarbage without ErrUnusable (the events were refused, the answer cannot be read) counts
// as refused.
func UnreadReasonOf(err error) UnreadReason {
	switch failed, ok := errors.AsType[*ModelError](err); {
	case errors.As(err, new(*CapError)):
		return UnreadCap
	case errors.Is(err, ErrUnusable):
		return UnreadUnusable
	case !ok:
		return UnreadError
	case failed.Class == ClassGarbage:
		return UnreadRefused
	default:
		return UnreadReason(failed.Class)
	}
}

// Books are the queue's accounts over its whole life.
// Received = Processed + Skipped + Failed + Pending + Processing + Forgotten.
type Books struct {
	Received   int `json:"received"`
	Processed  int `json:"processed"`
	Skipped    int `json:"skipped"`
	Failed     int `json:"failed"`
	Pending    int `json:"pending"`
	Processing int `json:"processing"`
	Forgotten  int `json:"forgotten,omitempty"`
	Duplicates int `json:"duplicates"`
	// Lost counts the events that neither the worker nor a hook could keep; they were not
	// received.
	Lost int `json:"lost"`
}

// Balanced reports whether the accounts add up.
func (b Books) Balanced() bool {
	return b.Received == b.Processed+b.Skipped+b.Failed+b.Pending+b.Processing+b.Forgotten
}

// DeadLetter is an event that failed for good and waits for a person.
type DeadLetter struct {
	Key        string    `json:"key"`
	Session    SessionID `json:"session_id"`
	Kind       EventKind `json:"kind"`
	ToolName   string    `json:"tool_name,omitempty"`
	OccurredAt Millis    `json:"occurred_at"`
	Attempts   int       `json:"attempts"`
	LastError  string    `json:"last_error"`
}
