package block

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// writer fits sections into a budget.
type writer struct {
	host   memory.Host
	budget int // tokens
	// parts are the pieces of the text, in order.
	parts        []part
	skipped      []memory.LayerCost
	leftOut      []memory.ContextLine
	observations []memory.ObservationID
	sessions     []memory.SessionID
	// said are the lines so far.
	said []recall.Saying
	// statements has what the observations say, where that is known.
	statements map[memory.ObservationID]func() []recall.Statement
}

// part is a line of the text with its end, and the empty line before a heading.
type part struct {
	layer, text string
	why         string
	line        *line // nil for what is none of a layer's
	// whole: the line was not cut to fit.
	whole bool
	// rest are the sentences that may follow in the line, as far as they are known.
	rest []recall.Statement
	read bool
	// proofs are that of the line and those of the observations that follow in it.
	proofs []func() string
	// with are the observations of the session that follow in its line.
	with []memory.ObservationID
}

// write fills the block. A layer gets its share and what the layers before it left. It
// ends at the first line that does not fit; a first line is shortened if a readable
// piece of it fits. The first layer with lines shows at least one of them.
func (w *writer) write(sections []section, reserve int, all shelf) {
	share := func(tokens int) int { return recall.UnitsFor(max(tokens, 0)) * w.budget / DefaultBudget }
	room := recall.UnitsFor(w.budget) - text.Width(recall.OpenTag) - text.Width(recall.CloseTag)

	head := []part{{layer: layerFrame, text: recall.OpenTag, why: "begins the block"}}
	if i := slices.IndexFunc(sections, func(s section) bool { return len(s.lines) > 0 }); i >= 0 {
		if text.Width(framing)+1+text.Width(sections[i].heading)+1+readable <= room {
			head = append(head, part{layer: layerFrame, text: framing, why: "tells the model what it reads"})
			room -= text.Width(framing)
		}
	}
	// The closing line's place is kept free where the reserve pays for it;
	// elsewhere it takes what the layers leave.
	hold := text.Width(closing(w.host, all, 0, 0))
	if unitsIn(head)+text.Width(recall.CloseTag)+hold > share(reserve) {
		hold = 0
	}

	left := 0 // of the shares of the layers so far
	for _, s := range sections {
		left += share(s.cap)
		if s.skip.Name != "" {
			w.skipped = append(w.skipped, s.skip)
			continue
		}
		w.leave(s.name, s.known)
		if len(s.lines) == 0 && len(s.known) > 0 {
			continue
		}
		if len(s.lines) == 0 {
			w.skipped = append(w.skipped, memory.LayerCost{Name: s.name, Reason: "empty"})
			continue
		}
		lines := w.news(s)
		if len(lines) == 0 {
			w.skipped = append(w.skipped, memory.LayerCost{Name: s.name, Items: len(s.lines), Reason: "said above"})
			continue
		}
		if s.most > 0 {
			lines = lines[:min(len(lines), s.most)]
		}
		heading := part{layer: s.name, text: s.heading + "\n", why: "heading"}
		if len(w.parts) > 0 || len(head) > 1 {
			heading.text = "\n" + heading.text
		}
		allowed := min(left, room-hold)
		parts := fit(heading, lines, allowed)
		switch {
		case parts != nil:
		case len(w.parts) == 0:
			parts = fitOne(heading, lines[0], allowed, room)
		case allowed >= text.Width(heading.text)+readable:
			parts = fitOne(heading, lines[0], allowed, allowed)
		default:
			whole := fit(heading, lines, math.MaxInt)
			w.skipped = append(w.skipped, memory.LayerCost{
				Name: s.name, Tokens: memory.TokensOf(collect.Sum(whole, func(p part) int { return memory.TokenCost(p.text) })), Items: len(lines), Reason: "budget"})
			continue
		}
		room -= unitsIn(parts)
		left = max(left-unitsIn(parts), 0)
		w.take(parts)
	}
	if len(w.parts) == 0 {
		return
	}
	if end := closing(w.host, all, len(w.sessions), len(w.observations)); text.Width(end) <= room {
		w.parts = append(w.parts, part{layer: layerClosing, text: end, why: "how to look further"})
		room -= text.Width(end)
	}
	w.extend(room)
	w.parts = append(append(head, w.parts...), part{layer: layerFrame, text: recall.CloseTag, why: "ends the block"})
}

// leave records lines of a layer that the host loads by itself: each, and their cost by
// the file that says them.
func (w *writer) leave(layer string, known []line) {
	at := map[string]int{}
	for _, l := range known {
		rendered := l.render(math.MaxInt)
		cost := memory.EstimateTokens(rendered)
		w.leftOut = append(w.leftOut, memory.ContextLine{Layer: layer, Text: strings.Trim(rendered, "\n"), Tokens: cost, Why: l.why,
			Observation: l.observation, Session: l.session, Learning: l.learning})
		i, ok := at[l.why]
		if !ok {
			i = len(w.skipped)
			at[l.why] = i
			w.skipped = append(w.skipped, memory.LayerCost{Name: layer, Reason: l.why})
		}
		w.skipped[i].Items++
		w.skipped[i].Tokens += cost
	}
}

// news leaves out the spare lines that say nothing that is not said already. A
// session's line is cut ahead of the files that were edited: one that names them is
// kept. Of an observation whose title its session's line says, the rest follows there.
func (w *writer) news(s section) []line {
	return slices.DeleteFunc(slices.Clone(s.lines), func(l line) bool {
		if s.name == layerObservations && w.join(l) {
			return true
		}
		if !l.spare {
			return false
		}
		words := recall.WordsOf(l.text)
		return slices.ContainsFunc(w.said, func(said recall.Saying) bool {
			return recall.Echoes(words, said.Words) && !namesMore(l.text, said.Text)
		})
	})
}

// join adds an observation to the line of its session, if that says the title: what it
// says beside that may follow there. A pinned one keeps its line.
func (w *writer) join(l line) bool {
	if l.pinned {
		return false
	}
	i := slices.IndexFunc(w.parts, func(p part) bool {
		return p.layer == layerSessions && p.line != nil && p.line.session == l.session && (p.line.from == l.from || !l.from.Foreign()) && p.whole && tellsOf(p.line.text, l.title)
	})
	if i < 0 {
		return false
	}
	p := &w.parts[i]
	if l.detail != "" && !recall.IsRoutine(l.detail) && !recall.IsProof(l.detail) {
		p.rest = append(p.rest, recall.Statement{Text: l.detail, Words: recall.WordsOf(l.detail), Place: -1})
	}
	if l.more != nil {
		p.rest = append(p.rest, l.more()...)
	}
	p.read = true
	p.proofs = append(p.proofs, l.proof)
	if l.observation != 0 {
		p.with = append(p.with, l.observation)
		w.show(l)
	}
	return true
}

// show records that the block shows an observation, in a line of its own or of its session.
func (w *writer) show(l line) {
	w.observations = append(w.observations, l.observation)
	if l.statements != nil {
		w.statements[l.observation] = l.statements
	}
}

// saidOf returns the keys of the statements of the shown observations that the block says.
func (w *writer) saidOf() map[memory.ObservationID][]uint32 {
	said := make(map[memory.ObservationID][]uint32, len(w.statements))
	for id, statements := range w.statements {
		said[id] = recall.KeysSaid(statements(), w.said)
	}
	return said
}

// tellsOf reports whether a session's line says what an observation's title says. A line
// that only has the request does not.
func tellsOf(said, title string) bool {
	if strings.HasPrefix(said, askedStart) {
		return false
	}
	said, _, _ = strings.Cut(said, askedMark)
	said, _, _ = strings.Cut(said, nextMark)
	head := recall.SubjectOf(title)
	return len(head) >= readable/2 && recall.ContainsFold(said, head) || recall.Echoes(recall.WordsOf(title), recall.WordsOf(said))
}

const (
	// lineChars is the longest line of a block with all that was added to it.
	lineChars = 520
	// addedSentences is how many sentences may be added to a line.
	addedSentences = 3
)

// extend gives the room that is left to second sentences: one for each line, from the
// first on, then another; then to the proof of the newest work. What is said already in the
// block is not added.
func (w *writer) extend(room int) {
	for i := range w.parts {
		room -= w.parts[i].number(room)
	}
	for range addedSentences {
		for i := range w.parts {
			p := &w.parts[i]
			if p.line == nil || !p.whole {
				continue
			}
			if !p.read && p.line.more != nil {
				p.rest, p.read = p.line.more(), true
			}
			room -= w.add(p, room)
		}
	}
	w.prove(room)
}

// number adds to a session's line the numbers of the observations that it stands for, if
// they fit, and returns the units that they take.
func (p *part) number(room int) int {
	if len(p.with) == 0 {
		return 0
	}
	var numbers strings.Builder
	for _, id := range p.with {
		fmt.Fprintf(&numbers, ", #%d", id)
	}
	l := *p.line
	l.tail = strings.Replace(l.tail, ")", numbers.String()+")", 1)
	if numbers.Len() > room {
		return 0
	}
	p.line, p.text = &l, l.render(math.MaxInt)
	return numbers.Len()
}

// add adds to a line the first of its other sentences that is news and fits, and
// returns the units that it takes.
func (w *writer) add(p *part, room int) int {
	for len(p.rest) > 0 {
		s := p.rest[0]
		p.rest = p.rest[1:]
		if recall.SaidIn(w.said, s) {
			continue
		}
		l := *p.line
		l.text = withSentence(l.text, s.Text)
		rendered := l.render(math.MaxInt)
		taken := text.Width(rendered) - text.Width(p.text)
		if taken > room || text.Width(rendered) > lineChars {
			continue
		}
		p.line, p.text = &l, rendered
		w.said = append(w.said, recall.Saying{Text: strings.ToLower(s.Text), Words: s.Words})
		return taken
	}
	return 0
}

// withSentence adds a sentence to the text of a line, in front of its next step.
func withSentence(said, sentence string) string {
	if before, next, ok := strings.Cut(said, nextMark); ok {
		return text.Unstopped(strings.TrimRight(before, "; ")) + "; " + sentence + "." + nextMark + next
	}
	return insert(said, "; "+sentence)
}

// insert adds to the text of a line in front of what was asked for and of the files in
// brackets.
func insert(said, more string) string {
	end := len(said)
	if i := strings.LastIndex(said, askedMark); i >= 0 {
		end = i
	} else if i := strings.LastIndex(said, " ["); i >= 0 && strings.HasSuffix(said, "]") {
		end = i
	}
	before := said[:end]
	if strings.HasPrefix(more, ";") {
		before = text.Unstopped(strings.TrimRight(before, "; "))
	} else if !strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "…") {
		before += "."
	}
	return before + more + said[end:]
}

// take adds the parts of a layer to the block, and records what they say and of which
// observations and sessions they are.
func (w *writer) take(parts []part) {
	w.parts = append(w.parts, parts...)
	for _, p := range parts {
		if p.line == nil {
			continue
		}
		if p.layer != layerSymbols { // A declaration does not say what was done.
			w.said = append(w.said, recall.SayingOf(p.text))
		}
		switch id := p.line.session; {
		case p.line.observation != 0:
			w.show(*p.line)
		case p.layer == layerSessions && !slices.Contains(w.sessions, id):
			w.sessions = append(w.sessions, id)
		}
	}
}

// account puts the parts together and tells what each line and each layer costs.
// A cost is what a part adds to the estimate of all before it, so that those of
// all lines, the frame's among them, are that of the whole.
func (w *writer) account() (text string, lines []memory.ContextLine, layers []memory.LayerCost) {
	var b strings.Builder
	spent := 0
	for _, p := range w.parts {
		before := memory.TokensOf(spent)
		spent += memory.TokenCost(p.text)
		cost := memory.TokensOf(spent) - before
		b.WriteString(p.text)
		told := memory.ContextLine{Layer: p.layer, Text: strings.Trim(p.text, "\n"), Tokens: cost, Why: p.why}
		if p.line != nil {
			told.Observation, told.Session, told.Learning = p.line.observation, p.line.session, p.line.learning
			if len(p.with) > 0 { // of several the first
				told.Observation = p.with[0]
			}
			if len(p.with) > 1 {
				told.Observations = p.with
			}
		}
		lines = append(lines, told)
		if p.layer == layerFrame {
			continue
		}
		if len(layers) == 0 || layers[len(layers)-1].Name != p.layer {
			layers = append(layers, memory.LayerCost{Name: p.layer})
		}
		l := &layers[len(layers)-1]
		l.Tokens += cost
		if p.line != nil {
			l.Items++
		}
	}
	return b.String(), lines, layers
}

// given returns those of the lines of account that are of records; that of a symbol names its file.
func (w *writer) given(lines []memory.ContextLine) (given []memory.ContextLine) {
	for i, p := range w.parts {
		if p.line == nil {
			continue
		}
		l := lines[i]
		if p.line.group != "" {
			l.Text = p.line.group + ": " + strings.TrimSpace(l.Text)
		}
		given = append(given, l)
	}
	return given
}

// unitsIn returns the length of the parts together in letters (text.Width).
func unitsIn(parts []part) int {
	return collect.Sum(parts, func(p part) int { return text.Width(p.text) })
}

// fit takes lines from the first on while they fit below the heading into limit
// units; nil when not even one does.
func fit(heading part, lines []line, limit int) []part {
	parts := []part{heading}
	used := text.Width(heading.text)
	group := ""
	for _, l := range lines {
		next := []part{{layer: heading.layer, text: l.render(math.MaxInt), why: l.why, line: &l, whole: true, proofs: []func() string{l.proof}}}
		if l.group != group {
			group = l.group
			next = slices.Insert(next, 0, part{layer: heading.layer, text: group + "\n", why: "file of the next lines"})
		}
		if used += unitsIn(next); used > limit {
			break
		}
		parts = append(parts, next...)
	}
	if len(parts) == 1 {
		return nil
	}
	return parts
}

// fitOne cuts one line to about limit units, heading included, and never to
// more than room; the heading is the first thing to go. A line of a group names it.
func fitOne(heading part, l line, limit, room int) []part {
	if l.group != "" {
		l.lead, l.group = l.group+": ", ""
	}
	one := part{layer: heading.layer, why: l.why + ", cut to fit", line: &l}
	if h := text.Width(heading.text); h+readable <= room {
		one.text = l.render(max(limit, h+readable) - h)
		return []part{heading, one}
	}
	one.text = l.render(room)
	return []part{one}
}

// render writes the line in at most limit units: first its text is cut, then,
// when little of that would be left, what stands around it goes.
func (l line) render(limit int) string {
	const word = 10 // fewer characters of text than this say nothing
	bullet := "- "
	if l.group != "" {
		bullet = "  "
	}
	for _, around := range [][2]string{{l.lead, l.tail}, {l.lead, ""}, {"", ""}} {
		room := limit - text.Width(bullet+around[0]+around[1]+"\n")
		if room >= min(word, text.Width(l.text)) || around[0]+around[1] == "" {
			return bullet + around[0] + text.TruncateWidth(l.text, room) + around[1] + "\n"
		}
	}
	return ""
}

// fileName is the name of a file, with its extension.
var fileName = regexp.MustCompile(`[\pL\pN_-]+\.\pL[\pL\pN]{0,4}\b`)

// namesMore reports whether a line names a file that said does not.
func namesMore(text, said string) bool {
	return slices.ContainsFunc(fileName.FindAllString(text, -1), func(name string) bool { return !recall.ContainsFold(said, name) })
}
