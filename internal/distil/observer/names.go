package observer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

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
	// nameLength bounds a name, declarationsIn the bytes of an input that are
	// searched.
	nameLength     = 100
	declarationsIn = 64 << 10
	// declarationsOf is the most declarations noted of an event.
	declarationsOf = 4
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

// note adds weight to a name, and adds the name if it is new, in place of another when
// the list is full.
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
	chosen := make([]bool, len(n.list))
	left := limit
	take := func(i int, room *int) {
		if cost := len(n.list[i].text) + 2; !chosen[i] && cost <= *room {
			chosen[i] = true
			*room -= cost
		}
	}
	first := limit / 2
	for i := range n.list {
		take(i, &first)
	}
	left -= limit/2 - first
	order := make([]int, len(n.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := n.list[a], n.list[b]
		// One modification outweighs ten newer notes.
		return (y.weight*10 + y.last) - (x.weight*10 + x.last)
	})
	for _, i := range order {
		take(i, &left)
	}
	var all []string
	for i, ok := range chosen {
		if ok {
			all = append(all, n.list[i].text)
		}
	}
	return strings.Join(all, ", ")
}

// declaration matches a declaration in the input of a tool, in the usual
// languages.
var declaration = regexp.MustCompile(`\b(?:func(?:tion)?|def|class|fn|type|interface|struct|enum|trait|module)\s+(?:\([^()\n]{0,80}\)\s*)?([A-Za-z_][A-Za-z0-9_]{3,60})`)

// noteNames adds the files and declarations of tool events.
func (w *task) noteNames(events []memory.PendingEvent) {
	for i := range events {
		e := &events[i]
		if e.Event.Kind != memory.KindTool {
			continue
		}
		w.thread.names.noteFiles(e.Files)
		input := e.Event.ToolInput
		input = input[:min(len(input), declarationsIn)]
		for _, m := range declaration.FindAllSubmatch(input, declarationsOf) {
			w.thread.names.note(string(m[1]), 1)
		}
	}
}

// briefKeys are the keys of a tool's input that describe the call in few words,
// best first.
var briefKeys = []string{"file_path", "notebook_path", "filePath", "path", "command", "pattern", "query", "url", "description", "prompt"}

// eventLine describes an event in one line: the tool, its object, and whether it
// failed.
func eventLine(e *memory.PendingEvent) string {
	text := oneLine(e.Event.ToolName, 60)
	what := ""
	if len(e.Files) > 0 {
		what = e.Files[0].Path
	} else {
		var input map[string]json.RawMessage
		if json.Unmarshal(e.Event.ToolInput, &input) == nil {
			for _, key := range briefKeys {
				if json.Unmarshal(input[key], &what) == nil && what != "" {
					break
				}
			}
		}
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
