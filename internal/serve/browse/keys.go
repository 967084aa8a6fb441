package browse

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
)

// action is what a key does.
type action int

const (
	none action = iota
	down
	up
	pageDown
	pageUp
	halfDown
	halfUp
	first
	last
	open
	back
	following
	preceding
	search
	around
	pin
	hide
	edit
	undo
	copyID
	copyText
	openPage
	nextPane
	formerPane
	retry
	reload
	help
	suspend
	quit
)

// bindings are the keys of each action, as the library names them. The field of the filter has
// others.
var bindings = map[action][]string{
	down:       {"j", "down", "ctrl+n"},
	up:         {"k", "up", "ctrl+p"},
	pageDown:   {"pgdown", "space", "ctrl+f"},
	pageUp:     {"pgup", "ctrl+b"},
	halfDown:   {"ctrl+d"},
	halfUp:     {"ctrl+u"},
	first:      {"g", "home"},
	last:       {"G", "end", "shift+g"},
	open:       {"enter", "l", "right"},
	back:       {"esc", "h", "left", "backspace"},
	following:  {"n"},
	preceding:  {"N", "shift+n"},
	search:     {"/"},
	around:     {"t"},
	pin:        {"p"},
	hide:       {"x"},
	edit:       {"e"},
	undo:       {"u"},
	copyID:     {"c"},
	copyText:   {"y"},
	openPage:   {"o"},
	nextPane:   {"tab"},
	formerPane: {"shift+tab"},
	retry:      {"R", "shift+r"},
	reload:     {"r", "ctrl+l"},
	help:       {"?"},
	suspend:    {"ctrl+z"},
	quit:       {"q", "ctrl+c"},
}

// actionOf returns the action of a key.
func actionOf(key string) action {
	for a, keys := range bindings {
		if slices.Contains(keys, key) {
			return a
		}
	}
	return none
}

// keyHelp says what keys do.
type keyHelp struct{ keys, about string }

// explained are the keys as the help and docs/viewer.md say them.
var explained = []keyHelp{
	{"j k ↓ ↑", "move by a line; g, G to the first, the last one"},
	{"PgDn PgUp", "move by a page; Ctrl-D, Ctrl-U by half a page"},
	{"Enter", "read the record, unfold the turn or session; n, N the next, previous one"},
	{"Esc", "back; in the feed: drop the filter"},
	{"Tab", "the next list; Shift-Tab the one before, 1 to 6 each of them"},
	{"/", "search as you type, or filter the feed"},
	{"t", "timeline around the record"},
	{"p", "pin or unpin the observation"},
	{"x", "hide the observation, deleted after 10 minutes; retire the learning"},
	{"e", "edit the observation's text in $VISUAL or $EDITOR"},
	{"u", "undo the last change"},
	{"c y o", "copy the record's number, its text; open its page in a browser"},
	{"r", "read everything again; R has failed events of the queue tried again"},
	{"? q", "this help; quit, as Ctrl-C does; Ctrl-Z suspends"},
}

// helpLines are the lines of the help: 20, as many as a screen of 24 lines has room for.
func helpLines() []string {
	return append(collect.Map(explained, func(e keyHelp) string { return " " + pad(e.keys, 10) + " " + e.about }), "",
		" Filter: type:bugfix project:tally concept:gotcha file:src/auth since:2026-03-01",
		" until:2026-03-31 kind:summary session:S3. Words are searched for.", "",
		" ● bugfix  ◆ feature  ↻ refactor  ✓ change  ⚖ decision  ○ discovery and others",
		" ▸ turn  ▾ open  § its summary  › prompt  ▶ the anchor of a timeline  ★ pinned")
}

// hints are the keys that the last line of the screen names, the most needed first: those that do
// something here and to the current row.
func (m *Model) hints() []string {
	switch {
	case m.editing:
		return []string{"Enter shows what was found", "Esc drops the search", "Ctrl-U clears it"}
	case m.helping:
		return []string{"Esc back", "q quit"}
	}
	keys, r, top := []string{"? help"}, m.current(), m.list()
	switch {
	case m.reading:
		keys = append(keys, "Esc back", "n next")
	case top != m.panes[0]:
		keys = append(keys, "/ search", "Enter read", "Esc back")
	default:
		keys = append(keys, "/ search", "Enter read")
	}
	if _, ok := top.pages.(inTimeline); !ok && r != nil && r.anchor != "" {
		keys = append(keys, "t timeline")
	}
	switch {
	case r == nil:
	case r.Kind == kindTurn && !m.reading:
		keys[slices.Index(keys, "Enter read")] = "Enter " + map[bool]string{false: "unfold", true: "fold"}[r.open]
	case r.Kind == memory.RecordObservation:
		keys = append(keys, "p pin", "x hide", "e edit")
	case r.Kind == kindLearning:
		keys = append(keys, "x retire")
	case r.Kind == kindQueue:
		keys = append(keys, "R retry")
	}
	if len(m.undoables) > 0 {
		keys = append(keys, "u undo")
	}
	return append(keys, "q quit", "y copy", "o open")
}

// maxInput bounds the text of a filter, in characters.
const maxInput = 2000

// input is a field of one line.
type input struct {
	runes []rune
	at    int // of the cursor
}

// set replaces the text and puts the cursor behind it.
func (in *input) set(s string) {
	in.runes = []rune(text.TerminalLine(s))
	in.runes = in.runes[:min(len(in.runes), maxInput)]
	in.at = len(in.runes)
}

func (in *input) text() string { return string(in.runes) }

// insert inserts foreign text at the cursor, on one line.
func (in *input) insert(s string) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case text.Invisible(r):
			return -1
		}
		return r
	}, s)
	added := []rune(s)
	added = added[:min(len(added), max(maxInput-len(in.runes), 0))]
	in.runes = slices.Insert(in.runes, in.at, added...)
	in.at += len(added)
}

// key changes the field by a key, which may have typed a text.
func (in *input) key(key, typed string) {
	switch key {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, len(in.runes))
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.runes)
	case "backspace", "ctrl+h":
		in.remove(in.at-1, in.at)
	case "delete", "ctrl+d":
		in.remove(in.at, in.at+1)
	case "ctrl+u":
		in.remove(0, in.at)
	case "ctrl+k":
		in.remove(in.at, len(in.runes))
	case "ctrl+w", "alt+backspace":
		from := in.at
		for from > 0 && unicode.IsSpace(in.runes[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(in.runes[from-1]) {
			from--
		}
		in.remove(from, in.at)
	default:
		in.insert(typed)
	}
}

// remove removes the characters from and up to to, if there are any.
func (in *input) remove(from, to int) {
	from, to = max(from, 0), min(to, len(in.runes))
	if from >= to {
		return
	}
	in.runes = slices.Delete(in.runes, from, to)
	in.at = from
}

// view returns the part of the field around the cursor in n columns, and the cursor's column.
func (in *input) view(n int) (shown string, at int) {
	before, after := cells.Steady(string(in.runes[:in.at])), cells.Steady(string(in.runes[in.at:]))
	for cells.Width(before) > max(n-1, 0) {
		before = before[len(string([]rune(before)[:1])):]
	}
	end := cells.End(after, n-cells.Width(before))
	return before + after[:end], cells.Width(before)
}
