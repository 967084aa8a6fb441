package transcript

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxLine is the length in bytes above which a line is skipped: hooks refuse larger
	// events too. Images make lines of some megabytes.
	maxLine = 16 << 20
	// maxOpenCalls and maxOpenBytes bound the calls that wait for their results. A turn has a
	// few at a time.
	maxOpenCalls = 256
	maxOpenBytes = 8 << 20
)

// Counts says what was in a transcript.
type Counts struct {
	Lines int `json:"lines"`
	// Broken lines are no record of a session in a directory, TooLong ones over 16 MB; Unknown records are of a kind that
	// is not known. All are left out. Of Mended lines, whole records were read, not the rest.
	Broken  int `json:"broken"`
	Mended  int `json:"mended"`
	TooLong int `json:"too_long"`
	Unknown int `json:"unknown"`
	// Copied records are of another session that this one goes on from.
	Copied int `json:"copied"`
	// OfHost are transcripts of agents that the host runs for itself, and answers that it asked for itself.
	OfHost  int `json:"of_host"`
	Prompts int `json:"prompts"`
	Tools   int `json:"tools"`
	Stops   int `json:"stops"`
}

// Parser parses one transcript.
type Parser struct {
	// Counts grow with what is read; several parsers may share them.
	Counts *Counts
	// copied reports whether a record is a copy of another session's; nil: none is.
	copied func(*record) bool
	// AgentType is the type of the subagent whose file it is, "" for a session's own.
	AgentType string

	// Dir is the directory of the session, where its records do not tell it.
	Dir string

	lines *text.Lines
	line  int            // the number of the last one
	ready []memory.Event // the next events, in order
	ended bool
	// host has written the file, Claude Code if it is ""; takeLine takes a line of it in, false if it is no
	// record.
	host     memory.Host
	takeLine func(line []byte) bool
	// from is the session that one of Codex CLI was forked from, "" for none.
	from string
	// forHost: what follows is an answer to the host, which has asked for it.
	forHost bool

	// now is what the last record said of time, place and turn.
	now struct {
		session, agent, promptID, cwd, branch string
		at                                    memory.Millis
	}
	open []call // the oldest first
	// seen are the messages and calls of Gemini CLI that were taken in, by the hash of their ids.
	seen map[uint64]bool
	// closing is the last text of the agent while nothing follows it that belongs to the turn.
	closing struct {
		text, uuid string
		at         memory.Millis
		line       int
		whole      bool
	}
}

// call is a call of a tool whose result was not read yet.
type call struct {
	id, name string
	input    []byte
}

// NewParser returns a parser of a transcript.
func NewParser(r io.Reader) *Parser {
	p := &Parser{Counts: &Counts{}, lines: text.NewLines(r, maxLine)}
	p.takeLine = p.takeClaude
	return p
}

// Bytes returns how many bytes were read.
func (p *Parser) Bytes() int64 { return p.lines.Read }

// Next returns the next event, io.EOF after the last one. An error of the reader is returned
// as it is. The event has no project, as nothing but the file is looked at: see Reader.Read. Counts
// grow with what was read.
func (p *Parser) Next() (memory.Event, error) {
	for len(p.ready) == 0 {
		if p.ended {
			return memory.Event{}, io.EOF
		}
		line, tooLong, err := p.lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			p.ended = true
			p.endTurn()
			p.endAgent()
			continue
		case err != nil:
			return memory.Event{}, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 && !tooLong {
			continue
		}
		p.line++
		p.Counts.Lines++
		if tooLong {
			p.Counts.TooLong++
		} else {
			p.take(line)
		}
	}
	e := p.ready[0]
	p.ready = slices.Delete(p.ready, 0, 1)
	switch e.Kind {
	case memory.KindPrompt:
		p.Counts.Prompts++
	case memory.KindTool:
		p.Counts.Tools++
	case memory.KindStop:
		p.Counts.Stops++
	}
	return e, nil
}

// HookRecord is the kind of a record with the payload that a hook of OpenCode would have been given.
const HookRecord = "hook_payload"

// silent are the kinds of records that say nothing of prompts and tools.
var silent = []string{
	"attachment", "queue-operation", "last-prompt", "mode", "summary", "file-history-snapshot", "progress", "custom-title",
	"ai-title", "agent-name", "agent-color", "agent-setting", "permission-mode", "tag", "pr-link", "worktree-state", "content-replacement",
}

// take takes a line, which is not blank, in, or the whole records of one that is torn. The line is only
// valid during the call: what is kept of it is a copy.
func (p *Parser) take(line []byte) {
	if p.takeLine(line) {
		return
	}
	counted := &p.Counts.Broken
	for _, value := range torn(line) {
		if p.takeLine(value) {
			counted = &p.Counts.Mended
		}
	}
	*counted++
}

// takeClaude takes a record of Claude Code in, or the first one of another agent: it may make events ready,
// or count it as broken, unknown or copied. It returns false for a line that is no record.
func (p *Parser) takeClaude(line []byte) bool {
	r, ok := parseRecord(line)
	switch {
	case !ok:
		return false
	case slices.Contains(silent, r.kind):
		return true
	case r.kind == "system":
		if r.subtype == "stop_hook_summary" || r.subtype == "turn_duration" {
			p.endTurn()
		}
		return true
	case r.kind == codexMeta, r.kind == geminiMeta:
		p.host, p.takeLine = memory.HostCodex, p.takeCodex
		if r.kind == geminiMeta {
			p.host, p.takeLine = memory.HostGemini, p.takeGemini
		}
		p.now.session, p.now.cwd, p.now.at, p.from = r.session, cmp.Or(r.cwd, p.Dir), r.at, r.forkedFrom.session
		if r.hidden {
			p.Counts.OfHost++
			p.takeLine = func([]byte) bool { return true }
		}
		return true
	case r.kind == HookRecord:
		p.host, p.now.session, p.now.cwd, p.now.at = memory.HostOpenCode, r.session, r.cwd, cmp.Or(r.at, p.now.at)
		p.takePayload(bytes.Clone(r.payload)) // parts of it stay in the event
		return true
	case r.kind != "user" && r.kind != "assistant":
		p.Counts.Unknown++
		return true
	case r.session == "" || r.at <= 0 && p.now.at <= 0 || r.cwd == "" && p.now.cwd == "":
		p.Counts.Broken++
		return true
	}
	if p.copied != nil && p.copied(&r) {
		p.Counts.Copied++
		return true
	}
	if r.session != p.now.session {
		p.endTurn()
		p.now.promptID = ""
	}
	p.now.session, p.now.agent = r.session, r.agent
	p.now.at = cmp.Or(max(r.at, 0), p.now.at)
	p.now.cwd, p.now.branch = cmp.Or(r.cwd, p.now.cwd), r.branch
	if r.kind == "assistant" {
		p.takeAnswer(&r)
	} else {
		p.takeUser(&r)
	}
	return true
}

// takeAnswer takes a message of the agent in: its calls wait for their results, its text may
// be the last of the turn.
func (p *Parser) takeAnswer(r *record) {
	if p.forHost {
		p.Counts.OfHost++
		return
	}
	for _, b := range r.blocks() {
		switch b.kind {
		case "text":
			if r.failed || r.sidechain && r.agent == "" {
				continue // of the host, or of a subagent in the file of its session
			}
			p.closing.text, p.closing.uuid, p.closing.at, p.closing.line = b.text, r.uuid, p.now.at, p.line
			p.closing.whole = r.stopReason != "tool_use" // else a call follows, and the turn goes on
		case "tool_use":
			p.closing.text = ""
			if b.id == "" || b.name == "" {
				continue
			}
			p.addCall(call{b.id, b.name, bytes.Clone(b.input)})
		}
	}
}

// addCall has a call wait for its result. Of too many the oldest are forgotten: their results make no
// events then.
func (p *Parser) addCall(c call) {
	p.takeCall(c.id)
	p.open = append(p.open, c)
	for len(p.open) > maxOpenCalls || len(p.open) > 1 && p.openBytes() > maxOpenBytes {
		p.open = p.open[1:]
	}
}

// openBytes returns the size of the inputs of the calls that wait for their results.
func (p *Parser) openBytes() int {
	return collect.Sum(p.open, func(c call) int { return len(c.input) })
}

// takeCall returns the call of an id that waits for its result, which it does no longer.
func (p *Parser) takeCall(id string) (c call, ok bool) {
	i := slices.IndexFunc(p.open, func(c call) bool { return c.id == id })
	if i < 0 {
		return c, false
	}
	c = p.open[i]
	p.open = slices.Delete(p.open, i, i+1)
	return c, true
}

// takeUser takes a record of the user in: the results of tools, or a prompt, which ends the turn before.
// A note that the user has interrupted the agent takes its last text away: it ended no turn.
func (p *Parser) takeUser(r *record) {
	list := r.blocks()
	if results := collect.Keep(list, func(b block) bool { return b.kind == "tool_result" }); len(results) > 0 {
		p.now.promptID = cmp.Or(r.promptID, p.now.promptID)
		p.closing.text = ""
		for _, b := range results {
			p.takeResult(r, b, len(results) == 1)
		}
		return
	}
	if slices.ContainsFunc(list, func(b block) bool { return strings.HasPrefix(b.text, hosttext.Interrupted) }) {
		p.closing.text = ""
	}
	forHost := slices.ContainsFunc(list, func(b block) bool { return hosttext.IsForHost(b.text) })
	if r.sidechain { // the prompt of a subagent
		p.endAgent()
		p.forHost = forHost && r.agent != ""
		p.now.promptID = cmp.Or(r.promptID, p.now.promptID)
		return
	}
	if r.hidden {
		return
	}
	p.endTurn()
	p.now.promptID, p.forHost = r.promptID, forHost
	typed, message := read(list)
	if typed != "" && hosttext.FromOther(r.origin) {
		typed, message = "", hosttext.Message{From: r.origin, Text: typed}
	}
	e := p.event(memory.KindPrompt, r.uuid, p.now.at, p.line)
	switch e.Prompt = typed; {
	case typed != "":
	case message.Text != "":
		wire.Message(&e, message)
	default:
		return
	}
	p.ready = append(p.ready, e)
}

// read returns what the user typed of the parts of a record, one line each, and the message that parts
// are, if some are.
func read(list []block) (typed string, message hosttext.Message) {
	var texts []string
	for _, b := range list {
		if b.kind != "text" {
			continue
		}
		text, m := hosttext.Read(b.text)
		if text != "" {
			texts = append(texts, text)
		}
		if m.Text != "" {
			message.From, message.Text = cmp.Or(message.From, m.From), strings.TrimPrefix(message.Text+"\n\n"+m.Text, "\n\n")
		}
	}
	return strings.Join(texts, "\n"), message
}

// takeResult makes an event of a tool's result, unless its call is unknown or was refused. alone: the
// record has no other, so that its structured result is this tool's.
func (p *Parser) takeResult(r *record, b block, alone bool) {
	c, ok := p.takeCall(b.id)
	if !ok {
		return // its call is not in the file
	}
	e := p.event(memory.KindTool, b.id, p.now.at, p.line)
	e.ToolName, e.ToolUseID, e.ToolInput = c.name, b.id, c.input
	e.AgentID = r.agent
	if r.agent != "" {
		e.AgentType = p.AgentType
	}
	result := r.result
	if !alone {
		result = nil
	}
	if b.isError {
		text := contentText(b.content)
		if refused(text) {
			return
		}
		e.ToolError = cmp.Or(text, "failed without a message")
	} else {
		e.ToolResponse = response(c.name, c.input, result, b.content)
		wire.NameAgentRun(&e)
	}
	p.ready = append(p.ready, e)
}

// endTurn makes a stop of the last text, if the agent has ended its turn with it and it is not that of
// a subagent (endAgent). It may be called when no turn is open.
func (p *Parser) endTurn() {
	if c := p.closing; c.text != "" && c.whole && p.now.agent == "" {
		e := p.event(memory.KindStop, c.uuid, c.at, c.line)
		e.LastAssistantMessage = c.text
		p.ready = append(p.ready, e)
	}
	if p.now.agent == "" {
		p.closing.text = ""
	}
}

// endAgent makes an event of the end of the subagent whose file it is, as the host reports it; none
// without a last text.
func (p *Parser) endAgent() {
	if c := p.closing; c.text != "" && c.whole && p.now.agent != "" {
		e := p.event(memory.KindTool, p.now.agent, c.at, c.line)
		e.LastAssistantMessage = c.text
		e.AgentID, e.AgentType = p.now.agent, p.AgentType
		wire.SubagentEnd(&e)
		p.ready = append(p.ready, e)
	}
	p.closing.text = ""
}

// hooked makes ready the event that the host's hook would make of a payload of these members, unless it is
// of a turn that the session has copied.
func (p *Parser) hooked(name string, members ...any) {
	p.takePayload(jsonscan.Object(append(members, "hook_event_name", name, "session_id", p.now.session, "cwd", p.now.cwd)...))
}

// takePayload is hooked for a whole payload, of which the event may keep parts.
func (p *Parser) takePayload(payload []byte) {
	e, ok := hook.Event(p.host, payload, p.now.at)
	if !ok {
		return // the hook would not report it
	}
	if p.now.at <= 0 || p.now.cwd == "" {
		p.Counts.Broken++
		return
	}
	r := record{session: p.now.session, uuid: e.PromptID}
	if e.PromptID < r.session { // both begin with their times: the turn is older than the fork
		r.forkedFrom.session = p.from
	}
	if p.copied != nil && e.PromptID != "" && p.copied(&r) {
		p.Counts.Copied++
		return
	}
	named := p.event(e.Kind, cmp.Or(e.ToolUseID, e.Prompt), p.now.at, p.line)
	e.DeliveryID, e.Backfill = named.DeliveryID, named.Backfill
	p.ready = append(p.ready, e)
}

// event returns an event of a time and a line, of the present session and place. name tells it from
// others of its time: its delivery id is made of these, so that an event without an id of the host
// is the same when the file is read again. Backfill is set by Reader.Read.
func (p *Parser) event(kind memory.EventKind, name string, at memory.Millis, line int) memory.Event {
	var random [8]byte
	binary.BigEndian.PutUint64(random[:], uint64(line)<<32|hashed(p.now.session+"\x00"+name)>>32) //nolint:gosec // a line's number is not negative
	return memory.Event{
		DeliveryID: memory.NewDeliveryID(at.Time(), random), Kind: kind,
		Host: cmp.Or(p.host, memory.HostClaudeCode), HostSessionID: p.now.session, PromptID: p.now.promptID, OccurredAt: at,
		Cwd: p.now.cwd, Branch: p.now.branch, Backfill: memory.BackfillOffline,
	}
}

// hashed returns a hash of a name.
func hashed(name string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // never fails
	return h.Sum64()
}
