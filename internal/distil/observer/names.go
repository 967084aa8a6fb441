package observer

import (
	"slices"
	"strings"

	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxNames bounds the names in a digest, in bytes.
	maxNames = 1000
	// keptNames bounds the names kept in memory. The first heldNames are never
	// dropped, because a session comes back to its first files.
	keptNames = 400
	heldNames = 100
	// nameLength bounds a name, symbolsOf the functions and types noted of an event.
	nameLength = 100
	symbolsOf  = 4
)

// names are the files and symbols of a session, in the order of their first
// occurrence.
type names struct {
	list []name
	// tick counts the notes.
	tick int
}

type name struct {
	text   string
	weight int
	last   int // tick
}

// note adds weight to a name, and adds the name if it is new, when the list is full in place of the
// oldest behind the first heldNames.
func (n *names) note(text string, weight int) {
	text = oneLine(text, nameLength)
	if text == "" {
		return
	}
	n.tick++
	i := slices.IndexFunc(n.list, func(known name) bool { return known.text == text })
	if i < 0 {
		if len(n.list) == keptNames {
			n.list = slices.Delete(n.list, heldNames, heldNames+1)
		}
		i = len(n.list)
		n.list = append(n.list, name{text: text})
	}
	n.list[i].weight += weight
	n.list[i].last = n.tick
}

// noteFiles notes the paths of files; one that was modified weighs three times as much.
func (n *names) noteFiles(files []memory.FileRef) {
	for _, f := range files {
		weight := 1
		if f.Role == memory.FileModified {
			weight = 3
		}
		n.note(f.Path, weight)
	}
}

// listed returns names within limit bytes, in the order of their first occurrence:
// half of the room goes to the first names, the rest to the heaviest and newest.
func (n *names) listed(limit int) string {
	chosen := map[string]bool{}
	take := func(text string, room *int) {
		if cost := len(text) + 2; !chosen[text] && cost <= *room {
			chosen[text] = true
			*room -= cost
		}
	}
	first := limit / 2
	for _, known := range n.list {
		take(known.text, &first)
	}
	left := limit - (limit/2 - first)
	for _, known := range slices.SortedStableFunc(slices.Values(n.list), func(a, b name) int {
		// One modification outweighs ten newer notes.
		return (b.weight*10 + b.last) - (a.weight*10 + a.last)
	}) {
		take(known.text, &left)
	}
	listed := collect.Keep(n.list, func(known name) bool { return chosen[known.text] })
	return strings.Join(collect.Map(listed, func(known name) string { return known.text }), ", ")
}

// noteNames adds the files of tool events, and the functions and types that they changed.
func (w *task) noteNames(events []memory.PendingEvent) {
	for i := range events {
		e := &events[i]
		if e.Event.Kind != memory.KindTool {
			continue
		}
		w.thread.names.noteFiles(e.Files)
		for _, symbol := range e.Symbols[:min(len(e.Symbols), symbolsOf)] {
			w.thread.names.note(symbol.QualifiedName, 1)
		}
	}
}

// eventLine describes an event in one line: the tool, its object, and whether it
// failed.
func eventLine(e *memory.PendingEvent) string {
	text := oneLine(e.Event.ToolName, 60)
	what := mode.Brief(&e.Event)
	if len(e.Files) > 0 {
		what = e.Files[0].Path
	}
	if what = oneLine(what, 120); what != "" {
		text += " " + what
	}
	if e.Event.Failed() {
		text += " (failed)"
	}
	return text
}

var angleQuotes = strings.NewReplacer("<", "‹", ">", "›")

// oneLine returns s as one line of at most limit bytes that cannot be taken for an
// element of ours.
func oneLine(s string, limit int) string {
	return text.TruncateBytes(angleQuotes.Replace(text.Plain(text.FirstBytes(s, 8*limit))), limit)
}
