package hook

import (
	"bytes"
	"encoding/json"
)

// registration is an event of Claude Code that the plugin asks for.
type registration struct {
	event string
	verb  Verb
	// timeout is in seconds. The host grants SessionEnd 1.5 s whatever is written here.
	timeout int
}

// registered are exactly the events that every Claude Code from 2.0.60 on knows:
// one name that a host does not know disables all hooks of the plugin.
var registered = [...]registration{
	{"SessionStart", VerbContext, 10},
	{"UserPromptSubmit", VerbNew, 5},
	{"PostToolUse", VerbSave, 5},
	{"PostToolUseFailure", VerbSave, 5},
	{"Stop", VerbSummary, 5},
	{"SubagentStop", VerbSummary, 5},
	{"PreCompact", VerbSummary, 5},
	{"SessionEnd", VerbEnd, 2},
}

// HooksJSON returns the plugin's hooks/hooks.json for an operating system, as
// runtime.GOOS names it. No hook is async: the host kills those when it exits.
//
// Elsewhere than on Windows the command is a line for the shell, which every
// Claude Code understands; the exec form (command and args apart) would save a
// shell of about a millisecond, but a host that does not know args would run
// the hook without its verb. On Windows, where there may be no shell that
// understands the quoting, it is the exec form; a hook without a verb takes it
// from the payload, so that a host that drops args works too.
func HooksJSON(goos string) []byte {
	type command struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Timeout int      `json:"timeout"`
	}
	type group struct {
		Hooks []command `json:"hooks"`
	}
	events := make([]struct {
		name   string
		groups []group
	}, len(registered))
	for i, reg := range registered {
		c := command{Type: "command", Timeout: reg.timeout}
		if goos == "windows" {
			c.Command, c.Args = "${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook.exe", []string{string(reg.verb)}
		} else {
			c.Command = `"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook" ` + string(reg.verb)
		}
		events[i].name, events[i].groups = reg.event, []group{{Hooks: []command{c}}}
	}

	// The events in the order of a session's life, which a map would not keep.
	var b bytes.Buffer
	b.WriteString(`{"description":"claude-mem: remembers what the agent did and gives it back","hooks":{`)
	for i, e := range events {
		if i > 0 {
			b.WriteByte(',')
		}
		groups, err := json.Marshal(e.groups)
		if err != nil {
			panic(err) // strings and numbers always encode
		}
		b.WriteString(`"` + e.name + `":`)
		b.Write(groups)
	}
	b.WriteString("}}")
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		panic(err) // it is our own text
	}
	out.WriteByte('\n')
	return out.Bytes()
}
