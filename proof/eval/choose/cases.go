package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/memory"
)

// A studyCase is a folder with the hook calls of a project's sessions and what a reader would
// want to find of them later.
type studyCase struct {
	name string
	// repository is the part of the name before the first dash: cases of one repository
	// are left out together.
	repository string
	turns      []*studyTurn
}

// A studyTurn is a turn with the batches that the observer would make of it.
type studyTurn struct {
	session, number int
	batches         []memory.Batch
	key             *turnKey
}

// turnKey is what key.json says of a turn.
type turnKey struct {
	Session  int      `json:"session"`
	Number   int      `json:"prompt_number"`
	Remember []matter `json:"remember"`
	Types    []string `json:"types"`
	Headline []string `json:"headline"`
	headline []*regexp.Regexp
}

// matter is something worth remembering, and the expressions that find it.
type matter struct {
	Kind   string   `json:"kind"`
	Any    []string `json:"any"`
	Weight float64  `json:"weight"`
	any    []*regexp.Regexp
}

// in reports whether s says it.
func (m *matter) in(s string) bool {
	return slices.ContainsFunc(m.any, func(r *regexp.Regexp) bool { return r.MatchString(s) })
}

// standing reports whether a learning may say it.
func (m *matter) standing() bool { return m.Kind == "rule" || m.Kind == "constraint" }

const project = "/home/dev/project"

// readCases reads all cases of a folder, in the order of their names.
func readCases(dir string) ([]*studyCase, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*studyCase
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(folder, "key.json")); err != nil {
			continue
		}
		c, err := readCase(folder)
		if err != nil {
			return nil, fmt.Errorf("read case %s: %w", e.Name(), err)
		}
		out = append(out, c)
	}
	return out, nil
}

func readCase(folder string) (*studyCase, error) {
	c := &studyCase{name: filepath.Base(folder)}
	c.repository, _, _ = strings.Cut(c.name, "-")
	f, err := os.Open(filepath.Join(folder, "session.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := c.play(bufio.NewReader(f)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(folder, "key.json"))
	if err != nil {
		return nil, err
	}
	var key struct {
		Turns []turnKey `json:"turns"`
	}
	if err := json.Unmarshal(b, &key); err != nil {
		return nil, err
	}
	for i := range key.Turns {
		k := &key.Turns[i]
		k.compile()
		for _, t := range c.turns {
			if t.session == k.Session && t.number == k.Number {
				t.key = k
			}
		}
	}
	return c, nil
}

// compile compiles the expressions; those that only other engines know are left out.
func (k *turnKey) compile() {
	compiled := func(list []string) (out []*regexp.Regexp) {
		for _, s := range list {
			if r, err := regexp.Compile("(?is)" + s); err == nil {
				out = append(out, r)
			}
		}
		return out
	}
	for i := range k.Remember {
		m := &k.Remember[i]
		if m.any = compiled(m.Any); m.Weight == 0 {
			m.Weight = 1
		}
	}
	k.headline = compiled(k.Headline)
}

// call is a line of session.jsonl.
type call struct {
	Payload payload `json:"payload"`
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

// play turns the lines into turns, as hook, intake and observer do.
func (c *studyCase) play(lines *bufio.Reader) error {
	var order []string
	var now *studyTurn
	var clock memory.Millis = 1_700_000_000_000
	d := json.NewDecoder(lines)
	for d.More() {
		var l call
		if err := d.Decode(&l); err != nil {
			return err
		}
		p := l.Payload
		if !slices.Contains(order, p.Session) {
			order, now = append(order, p.Session), nil
		}
		clock += 1000
		e := memory.Event{Host: memory.HostClaudeCode, OccurredAt: clock, ProjectPath: project, WorktreeRoot: project, Cwd: project, AgentID: p.AgentID, AgentType: p.Agent}
		switch p.Event {
		case "UserPromptSubmit":
			number := 1
			if now != nil {
				number = now.number + 1
			}
			now = &studyTurn{session: len(order), number: number}
			now.begin(p.Prompt)
			c.turns = append(c.turns, now)
			continue
		case "PostToolUse", "PostToolUseFailure":
			e.Kind, e.ToolName, e.ToolError = memory.KindTool, p.Tool, p.Error
			e.ToolInput, e.ToolResponse = here(p.Input), here(p.Response)
		case "Stop":
			e.Kind, e.LastAssistantMessage = memory.KindStop, strings.ReplaceAll(p.Message, "{{project}}", project)
		case "SessionEnd":
			e.Kind = memory.KindSessionEnd
		case "PreCompact":
			if now != nil {
				now.begin(now.batches[0].Prompts[0].Text)
			}
			continue
		default:
			continue
		}
		if now != nil {
			now.add(e)
		}
	}
	return nil
}

// here puts the project's directory into JSON text.
func here(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.ReplaceAll(string(raw), "{{project}}", project))
}

// begin opens a batch of the turn.
func (t *studyTurn) begin(prompt string) {
	t.batches = append(t.batches, memory.Batch{
		Session: memory.Session{ID: 1, ProjectPath: project, PromptCount: t.number},
		Prompts: []memory.Prompt{{Number: t.number, Text: prompt}},
	})
}

func (t *studyTurn) add(e memory.Event) {
	b := &t.batches[len(t.batches)-1]
	if e.Kind == memory.KindSessionEnd {
		b.Session.CompletedAt = e.OccurredAt
		if len(b.Events) == 0 || b.Events[len(b.Events)-1].Event.Kind == memory.KindStop {
			return
		}
	}
	pe := memory.PendingEvent{PromptNumber: t.number, Event: e}
	if e.Kind == memory.KindTool {
		read := toolcall.ParseInput(&e)
		if read.Path != "" && read.Role != "" {
			pe.Files = []memory.FileRef{{Path: read.Path, Role: read.Role, Hash: "h"}}
			pe.Symbols, _ = symbols.AtOnce(&e, pe.Files[0])
		}
	}
	b.Events = append(b.Events, pe)
}
