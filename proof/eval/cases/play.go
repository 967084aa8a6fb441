package cases

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/distil/offline"
	"claudemem/internal/memory"
)

// A Turn is a turn with the batches that the observer would make of it.
type Turn struct {
	// Session and Number are from 1; Key is nil for a turn that is not judged.
	Session, Number int
	Key             *Key
	batches         []memory.Batch
}

// Prompt is what the user typed.
func (t *Turn) Prompt() string { return t.batches[0].Prompts[0].Text }

// project is the directory of the sessions; placeholder stands for it in files.
const (
	project     = "/home/dev/project"
	placeholder = "{{project}}"
)

// call is a line of session.jsonl: the hook's command and what it reads.
type call struct {
	Verb    string          `json:"verb"`
	Payload json.RawMessage `json:"payload"`
}

type payload struct {
	Session  string          `json:"session_id"`
	Event    string          `json:"hook_event_name"`
	Prompt   string          `json:"prompt"`
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Error    string          `json:"error"`
	AgentID  string          `json:"agent_id"`
	Agent    string          `json:"agent_type"`
	Message  string          `json:"last_assistant_message"`
}

// play makes the turns of the case's calls, as hook, intake and observer do, and gives them their
// keys.
func (c *Case) play(keys []*Key) error {
	var order []string
	var now *Turn
	var clock memory.Millis = 1_700_000_000_000
	for _, l := range c.calls {
		var p payload
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(l.Payload), placeholder, project)), &p); err != nil {
			return err
		}
		if !slices.Contains(order, p.Session) {
			order, now = append(order, p.Session), nil
		}
		clock += 1000
		e := memory.Event{Host: memory.HostClaudeCode, OccurredAt: clock, ProjectPath: project, WorktreeRoot: project, Cwd: project, AgentID: p.AgentID, AgentType: p.Agent}
		switch p.Event {
		case "UserPromptSubmit":
			number := 1
			if now != nil {
				number = now.Number + 1
			}
			now = &Turn{Session: len(order), Number: number}
			now.begin(p.Prompt)
			c.Turns = append(c.Turns, now)
			continue
		case "PostToolUse", "PostToolUseFailure":
			e.Kind, e.ToolName, e.ToolError, e.ToolInput, e.ToolResponse = memory.KindTool, p.Tool, p.Error, p.Input, p.Response
		case "Stop":
			e.Kind, e.LastAssistantMessage = memory.KindStop, p.Message
		case "SessionEnd":
			e.Kind = memory.KindSessionEnd
		case "PreCompact":
			if now != nil {
				now.begin(now.Prompt())
			}
			continue
		default:
			continue
		}
		if now != nil {
			now.add(e)
		}
	}
	for _, k := range keys {
		k.compile()
		for _, t := range c.Turns {
			if t.Session == k.Session && t.Number == k.Number {
				t.Key = k
			}
		}
	}
	return nil
}

// begin opens a batch of the turn.
func (t *Turn) begin(prompt string) {
	t.batches = append(t.batches, memory.Batch{
		Session: memory.Session{ID: memory.SessionID(t.Session), ProjectPath: project, PromptCount: t.Number},
		Prompts: []memory.Prompt{{Number: t.Number, Text: prompt}},
	})
}

func (t *Turn) add(e memory.Event) {
	b := &t.batches[len(t.batches)-1]
	if e.Kind == memory.KindSessionEnd {
		b.Session.CompletedAt = e.OccurredAt
		if len(b.Events) == 0 || b.Events[len(b.Events)-1].Event.Kind == memory.KindStop {
			return
		}
	}
	pe := memory.PendingEvent{PromptNumber: t.Number, Event: e}
	if e.Kind == memory.KindTool {
		read := toolcall.ParseInput(&e)
		if read.Path != "" && read.Role != "" {
			pe.Files = []memory.FileRef{{Path: read.Path, Role: read.Role, Hash: "h"}}
			pe.Symbols, _ = symbols.AtOnce(&e, pe.Files[0])
		}
	}
	b.Events = append(b.Events, pe)
}

// Distil returns the records of each turn, made by the distiller that by returns for it. A turn is
// compared with the records of those before it that still hold, the newest first, with the symbols
// that their sessions changed and the lines that its own session changed, as store and observer
// would give them.
func (c *Case) Distil(by func(*Turn) *offline.Distiller) [][]memory.Outcome {
	made := make([][]memory.Outcome, len(c.Turns))
	changed := map[memory.SessionID][]memory.SymbolChange{}
	lines := map[memory.SessionID][]memory.TurnLines{}
	var nearby []memory.Observation
	var number memory.ObservationID
	for i, t := range c.Turns {
		var earlier []memory.Observation
		for _, b := range t.batches {
			b.Earlier, b.Nearby = earlier, slices.Clone(nearby)
			b.NearbySymbols, b.Lines = symbolsIn(changed, b.Files()), lines[b.Session.ID]
			out, err := by(t).Distil(context.Background(), b)
			if err != nil {
				panic(err) // only that of the context
			}
			for j := range out.Observations {
				o := &out.Observations[j]
				number++
				o.ID = number
				nearby = slices.DeleteFunc(nearby, func(old memory.Observation) bool { return slices.Contains(o.Supersedes, old.ID) })
			}
			for _, o := range out.Observations {
				nearby = slices.Insert(nearby, 0, o)
			}
			lines[b.Session.ID] = append(lines[b.Session.ID], out.Lines...)
			for _, e := range b.Events {
				changed[b.Session.ID] = memory.FoldSymbols(changed[b.Session.ID], e.Symbols...)
			}
			earlier = append(earlier, out.Observations...)
			made[i] = append(made[i], out)
		}
	}
	return made
}

// symbolsIn returns the changes in files, session by session.
func symbolsIn(changed map[memory.SessionID][]memory.SymbolChange, files []string) (out []memory.SymbolChange) {
	for _, session := range slices.Sorted(maps.Keys(changed)) {
		for _, s := range changed[session] {
			if s.Session = session; s.ChangeType != memory.SymbolUnchanged && slices.Contains(files, s.FilePath) {
				out = append(out, s)
			}
		}
	}
	return out
}
