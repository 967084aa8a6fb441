package hook

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// longestContext is the longest text that the hosts pass on whole: in UTF-16 units to
// Claude Code, which gives the model a preview of 2 KB of a longer one, and in bytes to
// Codex CLI, which cuts out the middle (2,500 tokens of four bytes).
const longestContext = 10_000

// reply is the hook's answer to its host.
type reply struct {
	// host is the adapter of the host, nil for Claude Code's, and name the host's own name
	// of the event, "" if that is the same as event.
	host *adapter
	name string
	// event is Claude Code's name of the event that context belongs to.
	event   string
	context string
	system  []string
}

// addContext sets the text for the model, without unsafe characters, if the event (Claude Code's
// name) is one whose reply may have it, and the text is not blank.
func (r *reply) addContext(event, block string) {
	block = runes.Safe(block)
	if strings.TrimSpace(block) != "" && slices.Contains(strings.Fields(everyReply), event) {
		r.event, r.context = event, block
	}
}

// tell adds a line that the host shows to the user and not to the model.
func (r *reply) tell(message string) {
	if message = strings.TrimSpace(runes.Safe(message)); message != "" {
		r.system = append(r.system, message)
	}
}

// PrintBlock writes a context block as the reply to a SessionStart hook, or nothing when
// the block has neither a text nor a message.
func PrintBlock(w io.Writer, block *memory.ContextBlock) {
	var r reply
	r.addContext("SessionStart", block.Text)
	r.tell(block.SystemMessage)
	r.print(w)
}

// print writes the reply in one piece and in the form of the host, or nothing when there
// is none.
func (r *reply) print(w io.Writer) {
	host, length := cmp.Or(r.host, &claudeCodeAdapter), runes.UTF16Len
	if slices.Contains(strings.Fields(host.silent), r.event) {
		r.context = ""
	}
	if r.context == "" && len(r.system) == 0 {
		return
	}
	if host.contextInBytes {
		length = func(s string) int { return len(s) }
	}
	context := truncateContext(r.context, length)
	if host.print != nil {
		if b := host.print(context); b != nil {
			_, _ = w.Write(append(b, '\n')) // the host has stopped reading
		}
		return
	}
	var members []any
	if context != "" {
		members = append(members, "hookSpecificOutput", jsonscan.Object("hookEventName", cmp.Or(r.name, r.event), "additionalContext", context))
	}
	if len(r.system) > 0 {
		members = append(members, "systemMessage", strings.Join(r.system, "\n"))
	}
	_, _ = w.Write(append(jsonscan.Object(members...), '\n')) // the host has stopped reading
}

// contextAt returns the function that makes a reply of the context alone, as a member of that name.
func contextAt(member string) func(string) []byte {
	return func(context string) []byte {
		if context == "" {
			return nil
		}
		return jsonscan.Object(member, context)
	}
}

const contextEnd = "</claude-mem-context>"

// truncateContext shortens a text of more than longestContext units, which length counts, at the
// end of a line and closes the frame of a context block again. Builders stay below the limit.
func truncateContext(text string, length func(string) int) string {
	if len(text) <= longestContext || length(text) <= longestContext { // a unit has a byte at least
		return text
	}
	end := ""
	if strings.HasSuffix(strings.TrimRight(text, "\n"), contextEnd) {
		end = "\n" + contextEnd
	}
	room := longestContext - len(end)
	at := 0
	for i, c := range text {
		if room -= length(string(c)); room < 0 {
			at = i
			break
		}
	}
	if line := strings.LastIndexByte(text[:at], '\n'); line > at/2 {
		at = line
	}
	return text[:at] + end
}

// parseReply parses the reply that claude-mem printed in the hook's place, into the text for the
// model and the message to the user; an error if it is no JSON object.
func parseReply(data []byte) (context, system string, err error) {
	var output []byte
	err = jsonscan.Decode(data, map[string]any{"systemMessage": &system, "hookSpecificOutput": &output})
	_ = jsonscan.Decode(output, map[string]any{"additionalContext": &context}) // not an object: no context in it
	return context, system, err
}
