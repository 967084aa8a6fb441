package mode

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/capture/outline"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Limits of an observation prompt, in bytes of the prompt.
const (
	maxParameters = 2 << 10
	maxOutcome    = 4 << 10
	// MaxBatchEvents and MaxBatchBytes bound the events that one prompt shows.
	MaxBatchEvents = 40
	MaxBatchBytes  = 24 << 10
	// maxRestBytes bounds the lines for events that did not fit, restParameters the
	// parameters in each.
	maxRestBytes   = 4 << 10
	restParameters = 120
	// maxRoutine bounds a command shown without its outcome, in bytes.
	maxRoutine = 400
	// maxMatches bounds the outcome of a search, maxRead what is shown of a file without
	// functions or types, maxOutline the names of those that a file declares.
	maxMatches = 1500
	maxRead    = 600
	maxOutline = 300
)

// A View is how a request shows a session.
type View struct {
	// Roots are the directories that paths are relative to; they are cut off.
	Roots []string
	// Mark stands in the delimiters of quoted text. It is random for each request, so
	// that no text of a session can close them.
	Mark string
	// Earlier are stored observations of other turns that the turn may repeat or reverse,
	// the nearest first.
	Earlier []memory.Observation

	// files are those of the turn by path; see WithFiles.
	files map[string]file
}

// file is what a turn tells of a file: its text as it was read or written last, the edits of it,
// and whether it is deleted in the end.
type file struct {
	text  string
	hunks []toolcall.Hunk
	gone  bool
}

// WithFiles returns the view with the files that the events of a turn read or change, so that each
// can be shown by what the others do.
func (v View) WithFiles(events []memory.PendingEvent) View {
	v.files = map[string]file{}
	for i := range events {
		call := toolcall.Parse(&events[i].Event)
		if call.Tool == toolcall.ToolRead {
			v.files[call.Path] = file{call.Content, v.files[call.Path].hunks, false}
		}
		for _, e := range call.Edits {
			f := v.files[e.Path]
			v.files[e.Path] = file{cmp.Or(e.Text, f.text), append(f.hunks, e.Hunks...), e.Deleted}
		}
	}
	return v
}

// Fit returns how many of the events, from the first on, one prompt shows in full;
// at least 1 unless there are none. Only tool events take room.
func (v View) Fit(events []memory.PendingEvent) int {
	shown, size := 0, 0
	for i := range events {
		if events[i].Event.Kind != memory.KindTool {
			continue
		}
		size += len(v.renderEvent(&events[i]))
		shown++
		if shown > 1 && (shown > MaxBatchEvents || size > MaxBatchBytes) {
			return i
		}
	}
	return len(events)
}

// renderEvents renders the tool events: in full as far as they fit, a line for
// others while there is room, and the number of the rest.
func (v View) renderEvents(events []memory.PendingEvent) string {
	var b strings.Builder
	fit, rest, unnamed := v.Fit(events), maxRestBytes, 0
	for i := range events {
		e := &events[i]
		switch {
		case e.Event.Kind != memory.KindTool:
		case i < fit:
			b.WriteString(v.renderEvent(e))
		default:
			line := v.shortEvent(e, " (not shown in full)", restParameters)
			if rest -= len(line); rest < 0 {
				unnamed++
			} else {
				b.WriteString(line)
			}
		}
	}
	if unnamed > 0 {
		fmt.Fprintf(&b, "[%d more tool calls are not shown]\n", unnamed)
	}
	return b.String()
}

// isRoutine reports whether a tool event is a successful call that only looks at
// things. In doubt it is none: an event that is shown in full costs little.
func isRoutine(e *memory.Event, call *toolcall.Call) bool {
	looks := call.Tool == toolcall.ToolSearch || len(call.Line) <= maxRoutine && call.OnlyLooks()
	return looks && !e.Failed() && !e.Interrupted
}

// patternPrograms look for a pattern in files.
var patternPrograms = []string{"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"}

// looksForPattern reports whether a call looks for a pattern in files, so that its
// outcome says something.
func looksForPattern(e *memory.Event, call *toolcall.Call) bool {
	if call.Tool == toolcall.ToolSearch {
		return strings.Contains(strings.ToLower(e.ToolName), "grep") || strings.Contains(strings.ToLower(e.ToolName), "search")
	}
	return slices.ContainsFunc(call.Commands, func(c toolcall.Command) bool {
		return slices.Contains(patternPrograms, c.Program()) || c.Program() == "git" && c.Verb() == "grep"
	})
}

// renderEvent renders one tool call.
func (v View) renderEvent(p *memory.PendingEvent) string {
	e := &p.Event
	call := toolcall.Parse(e)
	if isRoutine(e, &call) && !looksForPattern(e, &call) {
		return v.shortEvent(p, " (routine)", maxDirectory)
	}
	parameters, outcome := v.shownCall(e, &call)
	return "<observed_from_primary_session>\n" + element("what_happened", v.whatHappened(p)) + v.quote("parameters", parameters) +
		element("changed_symbols", changedSymbols(p.Symbols)) + v.quote("outcome", outcome) + "</observed_from_primary_session>\n"
}

// shownCall returns what is shown of a call's parameters and of its outcome: of an edit a
// patch, of a reading the file's path and lines, of others what they were called with and
// what they said.
func (v View) shownCall(e *memory.Event, call *toolcall.Call) (parameters, outcome string) {
	if !e.Failed() && len(call.Edits) > 0 && call.Tool == toolcall.ToolEdit {
		return v.shownEdits(call.Edits), ""
	}
	if !e.Failed() && call.Tool == toolcall.ToolRead && call.Content != "" {
		return v.shownReading(e, call)
	}
	if len(call.Questions) > 0 {
		return v.shownDialog(call.Questions)
	}
	in := flatten(e.ToolInput, nil)
	if call.Tool == toolcall.ToolCommand && call.Line != "" {
		in = []entry{{"command", call.Line}}
	}
	if parameters = structured(e.ToolInput); parameters == "" || len(v.relative(parameters)) > maxParameters {
		parameters = v.show(in, maxParameters)
	} else {
		parameters = raw(v.relative(parameters), maxParameters)
	}
	limit := maxOutcome
	if !e.Failed() && looksForPattern(e, call) {
		limit = maxMatches
	}
	if e.ToolError != "" {
		return parameters, raw(v.relative(strings.TrimSpace(e.ToolError)), limit)
	}
	out := without(flatten(e.ToolResponse, redundant), flatten(e.ToolInput, nil))
	return parameters, cmp.Or(v.show(out, limit), "succeeded, without any output of its own")
}

// shownDialog returns the questions of a dialog with the answers that were offered, and what
// the user answered.
func (v View) shownDialog(questions []toolcall.Question) (asked, answered string) {
	var q, a strings.Builder
	for i := range questions {
		fmt.Fprintf(&q, "question: %s\n", text.Line(questions[i].Text))
		for _, o := range questions[i].Options {
			fmt.Fprintf(&q, "offered: %s\n", text.Line(strings.TrimSuffix(o.Label+": "+o.Description, ": ")))
		}
		if len(questions) > 1 {
			fmt.Fprintf(&a, "%s ", text.Line(questions[i].Text))
		}
		fmt.Fprintf(&a, "%s\n", questions[i].Answer)
	}
	return raw(v.relative(strings.TrimSpace(q.String())), maxParameters), "the user answered: " + raw(v.relative(strings.TrimSpace(a.String())), maxParameters)
}

// shownEdits returns edits, of which there is one at least, as patches, within maxParameters bytes;
// their paths are relative already. What one does not need of its share is left to those behind it,
// and one without room for its body is only named.
func (v View) shownEdits(edits []toolcall.Edit) string {
	var all []string
	left := maxParameters
	for i := range edits {
		e, share := &edits[i], left/(len(edits)-i)-1
		head := "file: " + rawLine(e.Path, maxDirectory)
		body := e.Text
		if !e.Whole {
			body = patch(e)
		} else if from, changed := v.movedFrom(e); from != "" {
			e.Created, e.From, body = false, from, changed
		}
		switch {
		case e.Created:
			head += " (new)"
		case e.Deleted:
			head += " (deleted)"
		case e.From != "":
			head += " (was " + rawLine(e.From, maxDirectory) + ")"
		}
		if room := share - len(head) - 1; body != "" && room > 0 {
			head += "\n" + raw(v.relative(strings.Trim(body, "\n")), room)
		}
		all = append(all, head)
		left -= len(head) + 1
	}
	return raw(strings.Join(all, "\n"), maxParameters)
}

// movedFrom returns the deleted file whose text an edit writes elsewhere, with the lines that differ:
// at most a quarter of the text; "" for none.
func (v View) movedFrom(e *toolcall.Edit) (from, changed string) {
	for _, path := range slices.Sorted(maps.Keys(v.files)) {
		f := v.files[path]
		if !f.gone || f.text == "" || !e.Created {
			continue
		}
		if changed = differing("-", f.text, e.Text) + differing("+", e.Text, f.text); 4*len(changed) <= len(e.Text) {
			return path, changed
		}
	}
	return "", ""
}

// differing returns the lines of a text that another one does not have, each behind a mark.
func differing(mark, s, other string) string {
	var b strings.Builder
	has := collect.Set(strings.Split(other, "\n"))
	for line := range strings.Lines(s) {
		if line = strings.TrimSuffix(line, "\n"); !has[line] {
			b.WriteString(mark + line + "\n")
		}
	}
	return b.String()
}

// shownContext is how many unchanged lines a hunk shows before its first change and after its last.
const shownContext = 1

// patch returns the hunks of an edit, each under the number of its first line if that is
// known.
func patch(e *toolcall.Edit) string {
	var b strings.Builder
	for i, h := range e.Hunks {
		isChange := func(line string) bool { return line != "" && line[0] != ' ' }
		first := max(slices.IndexFunc(h.Lines, isChange)-shownContext, 0)
		last := len(h.Lines) - 1
		for last > first && !isChange(h.Lines[last]) {
			last--
		}
		switch {
		case e.Placed:
			fmt.Fprintf(&b, "@@ line %d @@\n", h.NewStart+first)
		case i > 0:
			b.WriteString("@@\n")
		}
		b.WriteString(strings.Join(h.Lines[first:min(last+1+shownContext, len(h.Lines))], "\n") + "\n")
	}
	return b.String()
}

// shownReading returns the path and the lines of a file that was read, and what it
// declares if all of it was read. Of a file without functions or types the beginning is
// shown.
func (v View) shownReading(e *memory.Event, call *toolcall.Call) (parameters, outcome string) {
	parameters = "file: " + rawLine(v.relative(cmp.Or(call.Path, call.File)), maxDirectory)
	lines := strings.Count(call.Content, "\n") + 1 // as the host counts them
	total := ""
	for _, entry := range flatten(e.ToolResponse, redundant) {
		if entry.key == "totalLines" {
			total = entry.text
		}
	}
	first := max(call.FirstLine, 1)
	whole := first == 1 && (total == "" || total == fmt.Sprint(lines))
	if !whole {
		parameters += fmt.Sprintf(", lines %d to %d", first, first+lines-1)
		if total != "" {
			parameters += " of " + rawLine(total, maxKey)
		}
	}
	near := ""
	if len(call.Content) > maxRead {
		near = raw(v.relative(around(call.Content, v.files[call.Path].hunks)), maxRead)
	}
	if outline.Language(call.File) == "" {
		return parameters, cmp.Or(near, raw(v.relative(strings.TrimSpace(call.Content)), maxRead))
	}
	names := collect.Map(outline.Of(call.File, []byte(call.Content)).Symbols, func(s outline.Symbol) string { return s.Name })
	if whole && len(names) > 0 {
		outcome = "declares " + rawLine(strings.Join(names, ", "), maxOutline) + "\n"
	}
	return parameters, strings.TrimSpace(outcome + near)
}

// aroundEdits is how many lines are shown before and after an edit.
const aroundEdits = 4

// around returns the lines of a text near those that hunks changed, "" if none of them is in it.
func around(content string, hunks []toolcall.Hunk) string {
	lines := strings.Split(content, "\n")
	bare := []byte("\n") // the lines without their space, as patches may show tabs as blanks
	for _, line := range lines {
		bare = append(append(bare, strings.TrimSpace(line)...), '\n')
	}
	near := make([]bool, len(lines)+1)
	for _, h := range hunks {
		before, n := []byte("\n"), 0
		for _, line := range h.Lines {
			if line != "" && (line[0] == ' ' || line[0] == '-') {
				before, n = append(append(before, strings.TrimSpace(line[1:])...), '\n'), n+1
			}
		}
		if above, _, found := bytes.Cut(bare, before); found && n > 0 {
			first := bytes.Count(above, []byte("\n"))
			for i := max(first-aroundEdits, 0); i < min(first+n+aroundEdits, len(lines)); i++ {
				near[i] = true
			}
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if near[i] {
			b.WriteString(line + "\n")
		} else if near[i+1] {
			b.WriteString("[…]\n")
		}
	}
	return b.String()
}

// shortEvent renders a tool call as one line without its outcome.
func (v View) shortEvent(p *memory.PendingEvent, remark string, limit int) string {
	line := strings.TrimSuffix(v.quote("parameters", rawLine(v.relative(Brief(&p.Event)), limit)), "\n")
	return "<observed_from_primary_session><what_happened>" + v.whatHappened(p) + remark + "</what_happened>" + line + "</observed_from_primary_session>\n"
}

// whatHappened returns a tool call's heading: tool, subagent, directory if it is not the
// root, whose text it shows, and whether it failed or was interrupted.
func (v View) whatHappened(p *memory.PendingEvent) string {
	e := &p.Event
	// Intake refuses an empty name, but one may consist of control characters.
	text := cmp.Or(oneLine(e.ToolName, maxLabel), "a tool without a name")
	if e.AgentType != "" {
		text += ", by the subagent " + oneLine(e.AgentType, maxLabel)
	}
	if dir := e.Cwd; dir != "" && toolcall.ParseInput(e).Line != "" && !slices.Contains(v.Roots, strings.TrimRight(dir, "/")) {
		text += ", in " + oneLine(v.relative(dir), maxDirectory)
	}
	if from := p.Provenance.Source(); from != "" {
		text += ", " + from
	}
	switch {
	case e.Interrupted:
		text += ", interrupted by the user"
	case e.Failed():
		text += ", failed"
	}
	return text
}

// relative returns s with the roots cut off the paths in it.
func (v View) relative(s string) string {
	for _, root := range v.Roots {
		if len(root) > 1 {
			s = strings.ReplaceAll(s, root+"/", "")
		}
	}
	return s
}

// quote returns text of the session between delimiters with the view's mark, "" for an empty
// text; one of several lines gets lines of its own.
func (v View) quote(name, quoted string) string {
	if quoted == "" {
		return ""
	}
	if strings.Contains(quoted, "\n") {
		quoted = "\n" + quoted + "\n"
	}
	return "<" + name + " " + v.Mark + ">" + quoted + "</" + name + " " + v.Mark + ">\n"
}

// maxSymbols bounds the symbols named of an edit, maxSymbol each in bytes.
const (
	maxSymbols = 8
	maxSymbol  = 120
)

// changedSymbols returns which functions and types an edit changed: "added Parse, changed
// Lexer.next and 3 more"; "" for none. A command that takes edits back restores them. An unchanged
// symbol followed by one of the same name has moved there.
func changedSymbols(changes []memory.SymbolChange) string {
	renamed := collect.Set(collect.MapPtr(changes, func(s *memory.SymbolChange) string { return s.RenamedFrom }))
	var said []string
	for i := 0; i < len(changes); i++ {
		switch c := &changes[i]; {
		case c.ChangeType == memory.SymbolUnchanged && i+1 < len(changes) && changes[i+1].QualifiedName == c.QualifiedName:
			i++
			said = append(said, "moved "+c.QualifiedName+" to "+changes[i].FilePath)
		case c.ChangeType == memory.SymbolUnchanged:
			said = append(said, "restored "+c.QualifiedName)
		case c.RenamedFrom != "":
			said = append(said, "renamed "+c.RenamedFrom+" to "+c.QualifiedName)
		case c.ChangeType == memory.SymbolNew:
			said = append(said, "added "+c.QualifiedName)
		case c.ChangeType == memory.SymbolModified:
			said = append(said, "changed "+c.QualifiedName)
		case !renamed[c.QualifiedName]:
			said = append(said, "removed "+c.QualifiedName)
		}
	}
	shown := collect.Map(said[:min(len(said), maxSymbols)], func(s string) string { return oneLine(s, maxSymbol) })
	text := strings.Join(shown, ", ")
	if left := len(said) - len(shown); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}
