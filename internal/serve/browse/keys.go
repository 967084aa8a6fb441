package browse

import "slices"

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
	undo
	copyID
	reload
	help
	suspend
	quit
)

// bindings are the keys of each action, as the library names them. The field of the filter has
// others.
var bindings = map[action][]string{
	down:      {"j", "down", "ctrl+n"},
	up:        {"k", "up", "ctrl+p"},
	pageDown:  {"pgdown", "space", "ctrl+f"},
	pageUp:    {"pgup", "ctrl+b"},
	halfDown:  {"ctrl+d"},
	halfUp:    {"ctrl+u"},
	first:     {"g", "home"},
	last:      {"G", "end", "shift+g"},
	open:      {"enter", "l", "right"},
	back:      {"esc", "h", "left", "backspace"},
	following: {"n", "tab"},
	preceding: {"N", "shift+n", "shift+tab"},
	search:    {"/"},
	around:    {"t"},
	pin:       {"p"},
	hide:      {"x"},
	undo:      {"u"},
	copyID:    {"c"},
	reload:    {"r", "ctrl+l"},
	help:      {"?"},
	suspend:   {"ctrl+z"},
	quit:      {"q", "ctrl+c"},
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

// explained are the keys as the help and docs/viewer.md say them.
var explained = []struct{ keys, about string }{
	{"j k ↓ ↑", "move by a line"},
	{"PgDn PgUp", "move by a page; Ctrl-D, Ctrl-U by half a page"},
	{"g G", "to the first, the last line"},
	{"Enter", "read the record; n, N the next, the previous one"},
	{"Esc", "back; in the feed: drop the filter"},
	{"/", "search as you type, or filter the feed"},
	{"t", "timeline around the record"},
	{"p", "pin or unpin the observation"},
	{"x", "hide the observation; it is deleted after 10 minutes"},
	{"u", "undo the last pin or hide"},
	{"c", "copy the record's number"},
	{"r", "read everything again"},
	{"?", "this help"},
	{"q", "quit; Ctrl-C too, Ctrl-Z suspends"},
}

// helpLines are the lines of the help: 20, as many as a screen of 24 lines has room for.
func helpLines() (lines []string) {
	for _, e := range explained {
		lines = append(lines, " "+pad(e.keys, 10)+" "+e.about)
	}
	return append(lines, "",
		" Filter: type:bugfix project:tally concept:gotcha file:src/auth since:2026-03-01",
		" until:2026-03-31 kind:summary session:S3. Words are searched for.", "",
		" ● bugfix  ◆ feature  ↻ refactor  ✓ change  ⚖ decision  ○ discovery and others",
		" § summary of a turn  › prompt  ▶ the anchor of a timeline  ★ pinned")
}

// hints are the keys that the last line of the screen names; they fit in 80 columns.
func hints(reading, inTimeline bool) string {
	switch {
	case reading:
		return "? help  Esc back  n next  t timeline  p pin  x hide  u undo  c copy  q quit"
	case inTimeline:
		return "? help  / search  Enter read  Esc back  p pin  x hide  u undo  c copy  q quit"
	}
	return "? help  / search  Enter read  t timeline  p pin  x hide  u undo  c copy  q quit"
}
