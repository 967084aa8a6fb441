package memory

import (
	"encoding/json"
	"strings"
)

// Host names a coding agent that runs our hooks.
type Host string

// The hosts with an adapter, and raw for all others and for clients of the API that name
// none.
const (
	HostClaudeCode Host = "claude-code"
	HostCodex      Host = "codex"
	HostGemini     Host = "gemini"
	HostOpenCode   Host = "opencode"
	HostCursor     Host = "cursor"
	HostVSCode     Host = "vscode"
	HostCopilot    Host = "copilot"
	HostQwen       Host = "qwen"
	HostCline      Host = "cline"
	HostDroid      Host = "droid"
	HostKiro       Host = "kiro"
	HostGoose      Host = "goose"
	HostWindsurf   Host = "windsurf"
	HostRaw        Host = "raw"
	// HostUnknown is a host that calls the hooks of another one and does not say its name.
	HostUnknown Host = "unknown"
)

// Canonical returns the name under which a host's sessions are kept: clients also
// call Claude Code "claude", and the directory of Droid has its maker's name.
func (h Host) Canonical() Host {
	switch h {
	case "claude":
		return HostClaudeCode
	case "factory":
		return HostDroid
	}
	return h
}

// EventKind says what the host did.
type EventKind string

// The kinds of event. KindFlush is not an event of the host's life and never
// reaches the books: it only asks the observer to look at a session now.
const (
	KindSessionStart EventKind = "session_start"
	KindPrompt       EventKind = "prompt"
	KindTool         EventKind = "tool"
	KindStop         EventKind = "stop"
	KindSessionEnd   EventKind = "session_end"
	KindFlush        EventKind = "flush"
)

// Event is one normalised thing that a host did; raw, no model has read it.
// Its JSON form is what the hook posts, what a spool file holds and what the
// queue keeps as a payload.
type Event struct {
	// DeliveryID is made by the hook: one POST and its spool copy are one
	// delivery. It sorts by the time it was made (see NewDeliveryID).
	DeliveryID    string    `json:"delivery_id"`
	Kind          EventKind `json:"kind"`
	Host          Host      `json:"host"`
	HostSessionID string    `json:"host_session_id"`
	// PromptID is the host's name for the prompt that opened this turn, "" where it has none.
	PromptID string `json:"prompt_id,omitempty"`
	// OccurredAt is the hook's start. Order within a session is OccurredAt, then DeliveryID.
	OccurredAt Millis `json:"occurred_at"`

	// ProjectPath is the project: the main worktree's root, else the directory.
	ProjectPath string `json:"project_path,omitempty"`
	// WorktreeRoot is what file paths of this event are relative to; it differs
	// from ProjectPath in a linked worktree.
	WorktreeRoot string `json:"worktree_root,omitempty"`
	Cwd          string `json:"cwd,omitempty"`
	Branch       string `json:"branch,omitempty"`
	HeadCommit   string `json:"head_commit,omitempty"`

	// Unmarked says that the hook could mark no turn as private, so that it does not
	// know whether this one is: only a worker that was told of the prompt may take it in.
	Unmarked bool `json:"unmarked,omitempty"`

	// Prompt is the text of a KindPrompt.
	Prompt string `json:"prompt,omitempty"`

	// ToolName and what follows describe a KindTool. ToolResponse and ToolError
	// exclude each other.
	ToolName     string          `json:"tool_name,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	ToolInput    json.RawMessage `json:"tool_input,omitempty"`
	ToolResponse json.RawMessage `json:"tool_response,omitempty"`
	ToolError    string          `json:"error,omitempty"`
	Interrupted  bool            `json:"is_interrupt,omitempty"`
	DurationMS   int64           `json:"duration_ms,omitempty"`
	AgentID      string          `json:"agent_id,omitempty"`
	AgentType    string          `json:"agent_type,omitempty"`

	// LastAssistantMessage is the host's closing text of a KindStop.
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`

	// Source is startup, resume, clear or compact of a KindSessionStart.
	Source string `json:"source,omitempty"`
	// Reason is why a session ended.
	Reason string `json:"reason,omitempty"`
	// Transcript is the file of a session that ended, as its host names it. It is not stored.
	Transcript string `json:"transcript,omitempty"`

	// Backfill says that the event was read from a transcript, and who may distil it; "" for
	// one that a hook has reported.
	Backfill Backfill `json:"backfill,omitempty"`
	// Import is the number of the import that the event is of.
	Import int64 `json:"-"`
}

// Backfill marks an event that was read from a transcript later. The working tree is no
// longer that of the event, and the event neither opens nor ends a session that hooks have
// reported.
type Backfill string

// The ways to distil a backfilled event. Any other value is like BackfillOffline.
const (
	// BackfillOffline: no model is shown the event, now or later.
	BackfillOffline Backfill = "offline"
	// BackfillModel: the user has asked for the model of the settings.
	BackfillModel Backfill = "model"
)

// Offline reports whether no model may be shown the event.
func (e *Event) Offline() bool { return e.Backfill != "" && e.Backfill != BackfillModel }

// Failed reports whether a tool event tells of a tool that failed.
func (e *Event) Failed() bool { return e.Kind == KindTool && e.ToolError != "" }

// Bytes returns the size of the event's texts in bytes.
func (e *Event) Bytes() int {
	return len(e.Prompt) + len(e.ToolInput) + len(e.ToolResponse) + len(e.ToolError) + len(e.LastAssistantMessage)
}

// ToolTokens estimates the tokens of a tool event in the host: its input and what came
// of it.
func (e *Event) ToolTokens() int {
	return EstimateTokens(string(e.ToolInput)) + EstimateTokens(string(e.ToolResponse)) + EstimateTokens(e.ToolError)
}

// Moment is an occasion on which a session is reminded of what is known; it is
// the Source of the Injection that books what was given then.
type Moment string

// The moments; an event is at most one of them.
const (
	MomentNone    Moment = ""
	MomentPrompt  Moment = "prompt"
	MomentFile    Moment = "file"    // a file was read, ahead of the edit that may follow
	MomentFailure Moment = "failure" // something failed that may have failed before
)

// readTool is Claude Code's tool that reads a file; the adapters of other hosts use its name.
const readTool = "Read"

// Moment returns the occasion for a reminder that e is. It is MomentNone for what a
// subagent did, which has a context of its own, and when the user stopped the tool: that
// says nothing of a fault.
func (e *Event) Moment() Moment {
	switch {
	case e.AgentID != "":
		return MomentNone
	case e.Kind == KindPrompt:
		return MomentPrompt
	case e.Kind != KindTool || e.Interrupted:
		return MomentNone
	case e.Failed():
		return MomentFailure
	case e.ToolName == readTool:
		return MomentFile
	}
	return MomentNone
}

// Before reports whether e comes before o in the order of a session, of which both are.
func (e *Event) Before(o *Event) bool {
	if e.OccurredAt != o.OccurredAt {
		return e.OccurredAt < o.OccurredAt
	}
	return e.DeliveryID < o.DeliveryID
}

// Validate returns a CodeInvalid error that names what an event lacks to be accepted,
// nil for a valid one. A host, a time and a delivery id may be missing: whoever takes the
// event in fills them in.
func (e *Event) Validate() error {
	switch e.Kind {
	case KindSessionStart, KindPrompt, KindTool, KindStop, KindSessionEnd, KindFlush:
	default:
		return Errorf(CodeInvalid, "unknown event kind %q", string(e.Kind))
	}
	if strings.TrimSpace(e.HostSessionID) == "" {
		return Errorf(CodeInvalid, "event without host_session_id").WithHint("send the host's session id as host_session_id")
	}
	if e.Kind == KindTool && e.ToolName == "" {
		return Errorf(CodeInvalid, "tool event without tool_name")
	}
	return nil
}
