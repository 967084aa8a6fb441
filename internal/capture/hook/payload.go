package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// payload is a parsed payload.
type payload struct {
	// verb is the verb that handles it, "" for none.
	verb Verb
	// name is Claude Code's name of the event, and hostName the host's, "" if the payload
	// has none; a reply has to repeat it.
	name, hostName string
	event          memory.Event
	// projectDir is the directory in which the host was started, "" when unknown.
	projectDir string
	// prompt is the payload's prompt; promptIsText is false when it has none, or one
	// that is not text.
	prompt       string
	promptIsText bool
	// extra is what an adapter keeps of a payload until all of it is read.
	extra []byte
	// transcript is the host's record of the session, "" when unknown.
	transcript string
	// foreign says that the payload has members that Claude Code's have not.
	foreign bool
}

// Longer identifiers and paths are taken as missing, longer names truncated.
const (
	longestName = 512
	longestPath = 8 << 10
	// deepestPayload is the depth below which a payload that is nested too deep to be parsed
	// is cut. The worker parses events within other objects.
	deepestPayload = jsonscan.MaxMemberDepth / 2
)

var (
	errEmptyInput  = errors.New("empty payload")
	errNoSession   = errors.New("no session id")
	errNoTool      = errors.New("no tool name")
	errWrongPrompt = errors.New("prompt is not text")
)

// understand parses the payload, and notes in the reply how the host calls the event. One of another
// host that reached Claude Code's hooks changes r.Host. A payload with verb "" and no error is to be
// ignored. The errors: errEmptyInput, those of parse and check.
func (r *run) understand(input []byte) (*payload, error) {
	if len(input) == 0 {
		return nil, errEmptyInput
	}
	a := cmp.Or(adapterOf(r.Host), &unknownAdapter)
	p, err := r.parse(input, a)
	if errors.Is(err, jsonscan.ErrNotObject) {
		// Too deep to be parsed: the rest is captured.
		if shallow, cut := jsonscan.Shallow(input, deepestPayload, cutText); cut {
			input = shallow
			p, err = r.parse(input, a)
		}
	}
	foreign := a == &claudeCodeAdapter && p.isForeign() || a == &copilotAdapter && hostOf(input) == memory.HostVSCode
	if foreign && !errors.Is(err, jsonscan.ErrNotObject) {
		if r.Host = hostOf(input); r.Host == memory.HostUnknown && r.Getenv("COPILOT_CLI") != "" {
			r.Host = memory.HostCopilot // none of its payloads names it
		}
		if a = adapterOf(r.Host); a == nil || !a.byShape {
			a = &unknownAdapter
		}
		p, err = r.parse(input, a)
	}
	if err != nil || p.verb == "" {
		return p, err
	}
	if r.reply.host = a; a != &rawAdapter { // raw replies have Claude Code's names
		r.reply.name = p.hostName
	}
	p.event.Host = r.Host
	p.event.OccurredAt = memory.MillisOf(r.stamp)
	return p, p.check()
}

// parse returns the payload in input by the adapter of its host. The errors are those of decode and
// decodeShape.
func (r *run) parse(input []byte, a *adapter) (*payload, error) {
	p := &payload{}
	if a.byShape {
		return p, p.decodeShape(input, r.Verb, r.stamp)
	}
	return p, p.decode(input, a, r.Verb)
}

// Event returns the event that the hook of a host with an adapter would make of a payload at a time,
// without project, branch and commit; false for none. The event may have parts of input, which must not
// be changed then. Histories are read with it.
func Event(host memory.Host, input []byte, at memory.Millis) (memory.Event, bool) {
	p := &payload{}
	if err := p.decode(input, adapterOf(host), ""); err != nil || p.verb == "" || p.check() != nil {
		return memory.Event{}, false
	}
	p.event.Host, p.event.OccurredAt = host, at
	return p.event, true
}

// check refuses a payload without session or tool name, with errNoSession or errNoTool, and bounds
// names, ids and paths: what is too long is dropped, of a name the first longestName bytes stay.
func (p *payload) check() error {
	e := &p.event
	if strings.TrimSpace(e.HostSessionID) == "" || len(e.HostSessionID) > longestName {
		return errNoSession
	}
	if e.Kind == memory.KindTool && e.ToolName == "" {
		return errNoTool
	}
	for _, id := range []*string{&e.PromptID, &e.ToolUseID, &e.AgentID} {
		if len(*id) > longestName {
			*id = "" // half an id would be a wrong one
		}
	}
	for _, name := range []*string{&e.ToolName, &e.AgentType, &e.Source, &e.Reason} {
		*name = runes.FirstBytes(*name, longestName)
	}
	for _, path := range []*string{&e.Cwd, &p.projectDir} {
		if len(*path) > longestPath {
			*path = ""
		}
	}
	return nil
}

// orNil returns nil for null, which means the same as a missing member.
func orNil(value []byte) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// textOrJSON returns the text of a JSON string, and any other value as JSON.
func textOrJSON(value []byte) string {
	if text, ok := jsonscan.Unquote(value); ok {
		return text
	}
	return string(orNil(value))
}

// classify sets kind and verb by Claude Code's name of the event, both "" for an unknown one. The end
// of a subagent becomes a tool event; agents that the host runs for itself are ignored, as one is that
// ends without a type. A tool event is left with either a response or an error.
func (p *payload) classify() {
	e := &p.event
	if p.verb, e.Kind = EventNamed(p.name); hosttext.IsHelper(e.AgentID, e.AgentType) {
		p.verb = ""
	}
	switch p.name {
	case eventSaved:
		e.ToolError = ""
		wire.NameAgentRun(e)
	case eventFailure:
		e.ToolResponse = nil
		e.ToolError = cmp.Or(e.ToolError, "failed without a message")
	case eventSubagent:
		if e.AgentType == "" {
			p.verb = ""
		}
		wire.SubagentEnd(e)
	}
	p.keepOwnFields()
}

// keepOwnFields clears the fields that do not belong to the event's kind: payloads
// repeat the last message or the prompt in other events.
func (p *payload) keepOwnFields() {
	e := &p.event
	if e.Kind != memory.KindTool {
		e.ToolName, e.ToolUseID, e.ToolInput, e.ToolResponse, e.ToolError = "", "", nil, nil, ""
		e.Interrupted, e.DurationMS = false, 0
	}
	if e.Kind != memory.KindPrompt {
		e.Prompt = ""
	}
	if e.Kind != memory.KindStop {
		e.LastAssistantMessage = ""
	}
	if e.Kind != memory.KindSessionStart {
		e.Source = ""
	}
	if e.Kind != memory.KindSessionEnd {
		e.Reason = ""
	}
}

// locate sets project, worktree, branch and commit, and the transcript of a session of Claude Code that ends. The project is where the host
// was started, by the payload or CLAUDE_PROJECT_DIR, wherever a command has changed to since.
func (r *run) locate(p *payload) {
	e := &p.event
	p.projectDir = cmp.Or(p.projectDir, runes.FirstBytes(r.Getenv("CLAUDE_PROJECT_DIR"), longestPath))
	id := repo.Identify(p.projectDir, e.Cwd)
	if e.Kind == memory.KindSessionEnd && r.Host == memory.HostClaudeCode {
		e.Transcript = runes.FirstBytes(p.transcript, longestPath)
	}
	e.ProjectPath, e.WorktreeRoot, e.Branch, e.HeadCommit = id.Project, id.WorktreeRoot, id.Branch, id.HeadCommit
}

var errTooLarge = errors.New("payload of 50 MB or more")

// readInput reads the payload, of less than limit bytes; errTooLarge for another one, of which the
// rest is read and dropped: a host may report a broken pipe as a failed hook. It waits for the end
// of the input; the time is bounded by endBy, which ends the process.
func readInput(r io.Reader, limit int64) ([]byte, error) {
	input, file := make([]byte, 0, usualInput), wholeFile{}
	for int64(len(input)) < limit {
		if len(input) == cap(input) {
			input = append(make([]byte, 0, max(largeInput, 2*len(input))), input...)
		}
		n, err := r.Read(input[len(input):cap(input)])
		input = file.leaveOut(input[:len(input)+n])
		if err == io.EOF && int64(len(input)) < limit {
			return input, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	drain(r)
	return nil, errTooLarge
}

// The sizes of the buffer for a payload. Memory costs only where it is written to, so
// that a payload with a file in it, over usualInput, gets room for largeInput at once.
const (
	usualInput = 16 << 10
	largeInput = 1 << 20
)

// drain reads to the end of the input, or until the process ends itself (endBy).
func drain(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
