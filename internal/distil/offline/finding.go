package offline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// choice returns the index, in the turn's message, of the sentence that records a decision best,
// -1 for none.
func (e *episode) choice() int {
	asked := e.turn.request.is(wantDecision)
	best, bestScore := -1, points(0)
	for i, s := range e.turn.message {
		if s.is != isSo || isFluff(s.text) || lang.Has(s.text, "committed") || !tellsDecision(s.text, asked) || len(words(s.text)) < 5 {
			continue
		}
		score := points(1)
		score.add(2, lang.Has(s.text, "over"))
		score.add(1, lang.Has(s.text, "because"))
		score.add(1, tellsDecision(s.text, false))
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// minFinding is how many words tell a finding that names something, whether or not they explain it.
const minFinding = 30

// searchers are programs that search files.
var searchers = []string{"grep", "rg", "ag", "egrep"}

// investigates reports whether the turn looked for an answer: it searched, read code,
// ran a check or inline script, or asked the web or a subagent. Reading documents does not count.
// Other commands, such as one that lists files, count only if the user asked a question and the
// message has more than one sentence; commits and pushes never do.
func (t *turn) investigates() bool {
	asked := t.request.is(wantFindOut)
	for _, s := range t.steps {
		switch s.Tool {
		case toolcall.ToolAgent, toolcall.ToolWeb, toolcall.ToolSearch:
			return true
		case toolcall.ToolRead:
			if s.path != "" && toolcall.KindOfFile(s.path) != toolcall.FileDoc {
				return true
			}
		case toolcall.ToolCommand:
			for i := range s.Commands {
				p := &s.Commands[i]
				if p.Kind.IsCheck() || p.Kind == toolcall.KindInline || slices.Contains(searchers, p.Program()) ||
					asked && len(t.message) > 1 && p.Verb() != "commit" && p.Verb() != "push" {
					return true
				}
			}
		}
	}
	return false
}

// finds reports whether an investigation found something out that is worth keeping: what
// was said has 14 words, explains something and names something. An inventory does not, unless the
// user asked and the answer is a table or a list of causes. A turn that did not investigate finds
// something only if the user asked and the message names a cause.
func (e *episode) finds() bool {
	t := e.turn
	caused := t.request.is(wantFindOut) && slices.ContainsFunc(t.message, func(s sentence) bool {
		return lang.Has(s.text, "cause-word") && !isFluff(s.text) && !strings.HasSuffix(s.text, "?")
	})
	if !t.goesOn && !t.investigates() && !caused {
		return false
	}
	if t.request.is(wantFindOut) && t.answersInList() {
		return true
	}
	total, explained, named := 0, false, false
	for _, s := range t.message {
		if isFluff(s.text) || reportsTests(s.text) {
			continue
		}
		if total += len(words(s.text)); !lang.IsASCII(s.text) {
			total += utf8.RuneCountInString(s.text) / 4 // not all scripts part words
		}
		named = named || hasCode(s.text)
		explained = explained || lang.Has(s.text, "explain", "why")
	}
	return total >= 14 && explained && (named || t.request.is(wantFindOut)) || total >= minFinding && (explained || named)
}

// answersInList reports whether the message has a table, of two rows or more, or a list whose heading
// speaks of causes and that names something of the code. An outline is a whole list or table. A
// subagent's tables are not among them.
func (t *turn) answersInList() bool {
	return slices.ContainsFunc(t.outlines, func(s sentence) bool {
		lead, _, _ := strings.Cut(s.text, ": ") // the list's heading
		return s.row || hasCode(s.text) && lang.Has(lead, "cause-word")
	})
}

// found returns what the agent says as a record of type t, with a title if one is given; ok is
// false when nothing usable was said.
func (e *episode) found(t memory.ObservationType, title string) (o memory.Observation, ok bool) {
	say, ok := newChooser(e).choose(title)
	if !ok {
		return o, false
	}
	o = e.observation(t, say.title)
	if o.Subtitle = say.subtitle; o.Subtitle == "" && len(e.read) > 0 {
		o.Subtitle = shown("Read "+list(e.read, 3), maxSubtitle)
	}
	o.Facts = e.facts(o.Title + " " + o.Subtitle)
	return o, true
}

// fromAgents returns what the first two subagents of the episode found, as observations, if their
// answers find something or name two places of the program. observe calls it where the turn itself
// says nothing of it.
func (e *episode) fromAgents() []memory.Observation {
	var out []memory.Observation
	for _, s := range e.answers[:min(len(e.answers), 2)] {
		sub := &turn{
			number:   e.turn.number,
			request:  parseRequest(s.Task),
			steps:    []*step{s},
			choosing: e.turn.choosing, last: s.event,
		}
		sub.message, sub.outlines = read(s.Answer)
		sub.request.wants |= wantFindOut
		x := newEpisode(sub, sub.steps)
		x.only = true
		if !x.finds() && (len(words(s.Answer)) < minAnswer || codeWords(s.Answer, 2) < 2) { // it was sent out for places
			continue
		}
		x.read = e.read
		if o, ok := x.found(memory.TypeDiscovery, ""); ok {
			out = append(out, o)
		}
	}
	return out
}
