package mode

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"claudemem"
	"claudemem/toolcall"
)

// Limits of an observation prompt, in bytes of the prompt.
const (
	maxParameters = 2 << 10
	maxOutcome    = 4 << 10
	// MaxBatchEvents and MaxBatchBytes bound the events that one prompt shows.
	MaxBatchEvents = 20
	MaxBatchBytes  = 40 << 10
	// maxRestBytes bounds the lines for events that did not fit, restParameters the
	// parameters in each.
	maxRestBytes   = 4 << 10
	restParameters = 120
	// maxRoutine bounds a command shown without its outcome, in bytes.
	maxRoutine = 400
	// maxSymbols bounds the symbols named of an edit, maxSymbol each in bytes.
	maxSymbols = 8
	maxSymbol  = 120
)

// Fit returns how many of the events, from the first on, one prompt shows in full;
// at least 1 unless there are none. Only tool events take room.
func Fit(events []claudemem.PendingEvent) int {
	shown, size := 0, 0
	for i := range events {
		if events[i].Event.Kind != claudemem.KindTool {
			continue
		}
		size += len(renderEvent(&events[i]))
		shown++
		if shown > 1 && (shown > MaxBatchEvents || size > MaxBatchBytes) {
			return i
		}
	}
	return len(events)
}

// renderEvents renders the tool events: in full as far as they fit, a line for
// others while there is room, and the number of the rest.
func renderEvents(events []claudemem.PendingEvent) string {
	var b strings.Builder
	fit := Fit(events)
	for i := range events[:fit] {
		if events[i].Event.Kind == claudemem.KindTool {
			b.WriteString(renderEvent(&events[i]))
		}
	}
	unnamed, rest := 0, 0
	for i := fit; i < len(events); i++ {
		e := &events[i].Event
		if e.Kind != claudemem.KindTool {
			continue
		}
		if unnamed == 0 {
			line := shortEvent(e, " (not shown in full)", restParameters)
			if rest += len(line); rest <= maxRestBytes {
				b.WriteString(line)
				continue
			}
		}
		unnamed++
	}
	if unnamed > 0 {
		fmt.Fprintf(&b, "[%d more tool calls are not shown]\n", unnamed)
	}
	return b.String()
}

// isRoutine reports whether a tool event is a successful command that only looks at
// things. In doubt it is none: an event that is shown in full costs little.
func isRoutine(e *claudemem.Event) bool {
	if e.Failed() || e.Interrupted {
		return false
	}
	call := toolcall.ParseInput(e)
	return len(call.Line) <= maxRoutine && call.OnlyLooks()
}

// renderEvent renders one tool call.
func renderEvent(p *claudemem.PendingEvent) string {
	e := &p.Event
	if isRoutine(e) {
		return shortEvent(e, " (routine)", maxDirectory)
	}
	var b strings.Builder
	b.WriteString("<observed_from_primary_session>\n")
	element(&b, "what_happened", whatHappened(e))
	element(&b, "occurred_at", occurredAt(e))
	element(&b, "working_directory", oneLine(e.Cwd, maxDirectory))
	parameters := flatten(e.ToolInput)
	block(&b, "parameters", show(parameters, maxParameters))
	element(&b, "changed_symbols", changedSymbols(p.Symbols))
	outcome := clip(strings.TrimSpace(e.ToolError), maxOutcome)
	if e.ToolError == "" {
		outcome = cmp.Or(show(without(flatten(e.ToolResponse), parameters), maxOutcome), "succeeded, without any output of its own")
	}
	block(&b, "outcome", outcome)
	b.WriteString("</observed_from_primary_session>\n")
	return b.String()
}

// changedSymbols returns which functions and types an edit changed: "added Parse, changed
// Lexer.next and 3 more"; "" for none. A command that takes edits back restores them.
func changedSymbols(changes []claudemem.SymbolChange) string {
	renamed := map[string]bool{}
	for i := range changes {
		renamed[changes[i].RenamedFrom] = true
	}
	var said []string
	for i := 0; i < len(changes); i++ {
		switch c := &changes[i]; {
		case c.ChangeType == claudemem.SymbolUnchanged && i+1 < len(changes) && changes[i+1].QualifiedName == c.QualifiedName:
			i++
			said = append(said, "moved "+c.QualifiedName+" to "+changes[i].FilePath)
		case c.ChangeType == claudemem.SymbolUnchanged:
			said = append(said, "restored "+c.QualifiedName)
		case c.RenamedFrom != "":
			said = append(said, "renamed "+c.RenamedFrom+" to "+c.QualifiedName)
		case c.ChangeType == claudemem.SymbolNew:
			said = append(said, "added "+c.QualifiedName)
		case c.ChangeType == claudemem.SymbolModified:
			said = append(said, "changed "+c.QualifiedName)
		case !renamed[c.QualifiedName]:
			said = append(said, "removed "+c.QualifiedName)
		}
	}
	shown := make([]string, min(len(said), maxSymbols))
	for i := range shown {
		shown[i] = oneLine(said[i], maxSymbol)
	}
	text := strings.Join(shown, ", ")
	if left := len(said) - len(shown); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// shortEvent renders a tool call as one line without its outcome.
func shortEvent(e *claudemem.Event, remark string, limit int) string {
	text := toolcall.ParseInput(e).Line
	if text == "" {
		text = brief(flatten(e.ToolInput))
	}
	var b strings.Builder
	b.WriteString("<observed_from_primary_session>")
	b.WriteString("<what_happened>" + whatHappened(e) + remark + "</what_happened>")
	if at := occurredAt(e); at != "" {
		b.WriteString("<occurred_at>" + at + "</occurred_at>")
	}
	if text = oneLine(text, limit); text != "" {
		b.WriteString("<parameters>" + text + "</parameters>")
	}
	b.WriteString("</observed_from_primary_session>\n")
	return b.String()
}

// whatHappened returns a tool call's heading: tool, subagent, and whether it failed or
// was interrupted.
func whatHappened(e *claudemem.Event) string {
	// Intake refuses an empty name, but one may consist of control characters.
	text := cmp.Or(oneLine(e.ToolName, maxLabel), "a tool without a name")
	if e.AgentType != "" {
		text += ", by the subagent " + oneLine(e.AgentType, maxLabel)
	}
	switch {
	case e.Interrupted:
		text += ", interrupted by the user"
	case e.Failed():
		text += ", failed"
	}
	return text
}

// occurredAt returns an event's time in RFC 3339, "" when it is unknown.
func occurredAt(e *claudemem.Event) string {
	if e.OccurredAt <= 0 {
		return ""
	}
	return e.OccurredAt.Time().Format(time.RFC3339)
}

// block renders an element; text of several lines gets lines of its own.
func block(b *strings.Builder, name, escaped string) {
	if strings.Contains(escaped, "\n") {
		escaped = "\n" + escaped + "\n"
	}
	element(b, name, escaped)
}
