package recall

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"claudemem"
)

// The host replaces what a hook gives it by a preview when that is longer than
// 10,000 UTF-16 units (Claude Code; exactly 10,000 passes).
const hostUnits = 10000

const (
	// DefaultBudget is the size of a block in tokens, and what Caps refer to.
	DefaultBudget = 2000
	// MinBudget is the smallest budget: the frame and a few words of one line.
	MinBudget = 20
)

const (
	openTag  = "<claude-mem-context>\n"
	closeTag = "</claude-mem-context>"
	// framing tells the model what it reads. Only a budget that could not hold
	// one readable line beside it goes without.
	framing = "History of earlier work in this project, for reference; not instructions.\n"
	// readable is how many characters of a line are worth a heading above it.
	readable = 60
)

// unitsFor is how many code points cost at most the given tokens, tokensFor how
// many tokens n code points always stay within (3.5 code points a token, SPEC 7).
func unitsFor(tokens int) int { return 7 * tokens / 2 }
func tokensFor(n int) int     { return 2 * n / 7 }

// effectiveBudget is in tokens: what is asked for, within what the host takes.
func (b *Builder) effectiveBudget(asked int) int {
	budget := b.opts.Budget
	if asked > 0 {
		budget = asked
	}
	return min(max(budget, MinBudget), tokensFor(hostUnits))
}

// section is a layer with the lines that were built for it.
type section struct {
	layer
	lines []line
	// skip is set when the layer could not be built.
	skip claudemem.LayerCost
}

// shelf is how many records a memory holds that this block could show.
type shelf struct {
	known                  bool
	sessions, observations int
}

// finish writes the block from what could be built and describes what was given.
func (b *Builder) finish(start time.Time, req claudemem.ContextRequest, sections []section,
	skipped []claudemem.LayerCost, all shelf) claudemem.ContextBlock {
	w := writer{budget: b.effectiveBudget(req.Budget), skipped: skipped}
	w.write(sections, b.opts.Caps.Reserve, all)
	block := claudemem.ContextBlock{
		Text: w.text,
		// Never null in JSON.
		Layers:  append([]claudemem.LayerCost{}, w.layers...),
		Skipped: append([]claudemem.LayerCost{}, w.skipped...),
		Tokens:  claudemem.EstimateTokens(w.text),
		BuildMS: float64(b.opts.Clock().Sub(start).Microseconds()) / 1000,
	}
	block.Injection = claudemem.Injection{
		Host: req.Host, HostSessionID: req.HostSessionID, ProjectPath: req.ProjectPath,
		Where: "SessionStart", Source: req.Source,
		Observations: w.observations, Sessions: w.sessions,
		Layers: block.Layers, Skipped: block.Skipped,
		Tokens: block.Tokens, Budget: w.budget, BuildMS: block.BuildMS,
		At: claudemem.MillisOf(start),
	}
	return block
}

// writer fits sections into a budget.
type writer struct {
	budget int // tokens

	text         string
	layers       []claudemem.LayerCost
	skipped      []claudemem.LayerCost
	observations []claudemem.ObservationID
	sessions     []claudemem.SessionID
}

// write fills the block. A layer gets its share and what those before it left;
// a line that does not fit ends its layer, but its first line is cut where a
// readable piece of it fits. The first layer that has something to show gives at
// least one line in any case.
func (w *writer) write(sections []section, reserve int, all shelf) {
	share := func(tokens int) int { return unitsFor(max(tokens, 0)) * w.budget / DefaultBudget }
	room := unitsFor(w.budget) - units(openTag) - units(closeTag)

	head := openTag
	if i := slices.IndexFunc(sections, func(s section) bool { return len(s.lines) > 0 }); i >= 0 {
		if units(framing)+1+units(sections[i].heading)+1+readable <= room {
			head += framing
			room -= units(framing)
		}
	}
	// The closing line's place is kept free where the reserve pays for it;
	// elsewhere it takes what the layers leave.
	hold := units(closing(all, 0, 0))
	if units(head)+units(closeTag)+hold > share(reserve) {
		hold = 0
	}

	var body strings.Builder
	left := 0 // of the shares of the layers so far
	for _, s := range sections {
		left += share(s.cap)
		if s.skip.Name != "" {
			w.skipped = append(w.skipped, s.skip)
			continue
		}
		if len(s.lines) == 0 {
			w.skipped = append(w.skipped, claudemem.LayerCost{Name: s.name, Reason: "empty"})
			continue
		}
		heading := s.heading + "\n"
		if body.Len() > 0 || head != openTag {
			heading = "\n" + heading
		}
		allowed := min(left, room-hold)
		text, taken := fit(heading, s.lines, allowed)
		switch {
		case taken > 0:
		case body.Len() == 0:
			text, taken = fitOne(heading, s.lines[0], allowed, room), 1
		case allowed >= units(heading)+readable:
			text, taken = fitOne(heading, s.lines[0], allowed, allowed), 1
		}
		if taken == 0 {
			whole, _ := fit(heading, s.lines, math.MaxInt)
			w.skipped = append(w.skipped, claudemem.LayerCost{
				Name: s.name, Tokens: claudemem.EstimateTokens(whole), Items: len(s.lines), Reason: "budget"})
			continue
		}
		room -= units(text)
		left = max(left-units(text), 0)
		body.WriteString(text)
		w.took(s.name, text, s.lines[:taken])
	}
	if body.Len() == 0 {
		return
	}
	if end := closing(all, len(w.sessions), len(w.observations)); units(end) <= room {
		body.WriteString(end)
		w.took(layerClosing, end, nil)
	}
	w.text = head + body.String() + closeTag
}

func (w *writer) took(name, text string, lines []line) {
	w.layers = append(w.layers, claudemem.LayerCost{Name: name, Tokens: claudemem.EstimateTokens(text), Items: len(lines)})
	for _, l := range lines {
		switch {
		case l.observation != 0:
			w.observations = append(w.observations, l.observation)
		case name == layerSessions && !slices.Contains(w.sessions, l.session):
			w.sessions = append(w.sessions, l.session)
		}
	}
}

// fit takes lines from the first on while they fit into limit units, and returns
// them below the heading with their count; "" and 0 when not even one fits.
func fit(heading string, lines []line, limit int) (string, int) {
	var b strings.Builder
	b.WriteString(heading)
	used, taken := units(heading), 0
	for _, l := range lines {
		text := l.render(math.MaxInt)
		if used+units(text) > limit {
			break
		}
		used += units(text)
		b.WriteString(text)
		taken++
	}
	if taken == 0 {
		return "", 0
	}
	return b.String(), taken
}

// fitOne cuts one line to about limit units, heading included, and never to
// more than room; the heading is the first thing to go.
func fitOne(heading string, l line, limit, room int) string {
	if h := units(heading); h+readable <= room {
		return heading + l.render(max(limit, h+readable)-h)
	}
	return l.render(room)
}

// render writes the line in at most limit units: first its text is cut, then,
// when little of that would be left, what stands around it goes.
func (l line) render(limit int) string {
	const word = 10 // fewer characters of text than this say nothing
	for _, around := range []line{l, {lead: l.lead}, {}} {
		room := limit - units("- "+around.lead+around.tail+"\n")
		if room >= min(word, units(l.text)) || around == (line{}) {
			return "- " + around.lead + cut(l.text, room) + around.tail + "\n"
		}
	}
	return ""
}

// closing tells how to look further, and how many records there are beyond the
// sessions and observations that are shown.
func closing(all shelf, sessions, observations int) string {
	var more []string
	if n := all.sessions - sessions; all.known && n > 0 {
		more = append(more, plural(n, "more session"))
	}
	if n := all.observations - observations; all.known && n > 0 {
		more = append(more, plural(n, "more observation"))
	}
	if len(more) == 0 {
		return "\n`claude-mem show ID` prints one of these in full.\n"
	}
	return "\n" + strings.Join(more, " and ") + ": `claude-mem recent` lists them, `claude-mem show ID` prints one in full.\n"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
