package offline

import (
	"slices"
	"strings"

	"claudemem"
	"claudemem/text"
	"claudemem/toolcall"
)

// sentenceTitle returns a sentence as a title.
func sentenceTitle(s string) string {
	return shown(imperative(strings.TrimRight(s, ". ")), maxTitle)
}

// choice returns the index of the agent's sentence that records a decision, -1 for none.
func (e *episode) choice() int {
	asked := e.turn.request.is(wantDecision)
	best, bestScore := -1, 0
	for i, s := range e.turn.message {
		if isFluff(s.text) || reportsCommit(s.text) || !tellsDecision(s.text, asked) || len(words(s.text)) < 5 {
			continue
		}
		score := 1
		low := text.LowerASCII(s.text)
		if holds(low, "over", "instead of", "rather than") {
			score += 2
		}
		if holds(low, "because", "since") {
			score++
		}
		if tellsDecision(s.text, false) {
			score++
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// reason returns the part of a decision's sentence, or the sentence after it, that says
// why.
func (e *episode) reason(choice int) string {
	s := e.turn.message[choice].text
	for _, word := range []string{" because ", " since ", ", as ", " so that "} {
		if i := strings.Index(s, word); i > 0 {
			return shown(capital(strings.TrimLeft(s[i:], ", ")), maxSubtitle)
		}
	}
	return e.support(choice)
}

// support returns the sentence that best goes with the one at i: the next with content;
// else the files that were read.
func (e *episode) support(i int) string {
	for j, s := range e.turn.message {
		if j != i && !isFluff(s.text) && !reportsTests(s.text) && !reportsCommit(s.text) && len(words(s.text)) >= 5 && (j > i || hasCode(s.text)) {
			return shown(s.text, maxSubtitle)
		}
	}
	if len(e.read) > 0 {
		return shown("Read "+list(e.read, 3), maxSubtitle)
	}
	return ""
}

// userChoice returns the decision that a user states outright, "" for none.
func userChoice(prompt string) string {
	for _, s := range sentences(prompt) {
		low := text.LowerASCII(s.text)
		if holds(low, "let's go with", "we'll go with", "go with", "let's use", "we use", "we'll use", "use", "stick with", "keep") && holds(low, "instead of", "rather than", "over", "not") &&
			!strings.HasSuffix(s.text, "?") && len(words(s.text)) >= 4 && len(words(s.text)) <= 30 {
			return shown(trimClause(s.text), maxTitle)
		}
	}
	return ""
}

// investigates reports whether the turn looked for an answer: it searched, read code,
// ran a check or inline script, or asked the web or a subagent. Listing files and
// reading documents do not count; cat, sed and git log count if the user asked a
// question.
func (t *turn) investigates() bool {
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
				if p.Kind.IsCheck() || p.Kind == toolcall.KindInline {
					return true
				}
				if p.Kind.IsQuiet() {
					switch p.Program() {
					case "grep", "rg", "ag", "egrep":
						return true
					case "cat", "sed", "head", "tail", "bat", "nl", "awk":
						if t.request.is(wantFindOut) && len(t.message) > 2 {
							return true
						}
					case "git":
						switch p.Verb() {
						case "log", "blame", "show", "bisect":
							if t.request.is(wantFindOut) && len(t.message) > 1 {
								return true
							}
						}
					}
				}
			}
		}
	}
	return false
}

// finding returns the index of the sentence that says what an investigation found out,
// -1 when it found nothing that is worth keeping. A finding explains something and names
// something; an inventory does not.
func (e *episode) finding() int {
	t := e.turn
	if len(t.steps) > 0 && !t.investigates() || len(t.steps) == 0 && !t.request.is(wantFindOut|wantDecision) {
		return -1
	}
	total, explained, named := 0, false, 0
	best, bestScore := -1, 0
	for i, s := range t.message {
		if isFluff(s.text) || reportsTests(s.text) {
			continue
		}
		s.text = afterLeadIn(s.text)
		n := len(words(s.text))
		total += n
		code := codeWords(s.text, 3)
		named += code
		why := explains(s.text)
		explained = explained || why
		if n < 5 {
			continue
		}
		score := 1 + min(code, 2)
		if why {
			score += 2
		}
		if tellsCause(s.text) {
			score++
		}
		if s.first {
			score++
		}
		if looksAhead(s) {
			score -= 3
		}
		if slices.ContainsFunc(e.read, func(p string) bool { return mentions(s.text, nameOf(p)) }) {
			score += 2
		}
		if holds(text.LowerASCII(s.text), "the cause is in", "the problem is in", "the bug is in", "the issue is in") {
			score -= 4 // says where, not what
		}
		switch firstWord(s.text) {
		case "so", "this", "that", "it", "they", "these", "here", "i", "also":
			score--
		}
		if holds(text.LowerASCII(s.text), "the subagent", "i read", "i looked", "i searched", "i found", "i checked", "i changed nothing", "overview") {
			score -= 2
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if total < 14 || !explained || named == 0 || bestScore < 3 {
		return -1
	}
	return best
}

// fromAgents returns what subagents found as observations, if the turn itself says
// nothing of it.
func (e *episode) fromAgents() []claudemem.Observation {
	var out []claudemem.Observation
	for _, s := range e.answers[:min(len(e.answers), 2)] {
		sub := &turn{
			number:  e.turn.number,
			request: parseRequest(s.Task),
			steps:   []*step{s},
			message: sentences(s.Answer), outlines: outlines(s.Answer), choosing: e.turn.choosing,
			last: s.event,
		}
		sub.request.wants |= wantFindOut
		x := newEpisode(sub, sub.steps)
		x.only = true
		i := x.finding()
		if i < 0 {
			continue
		}
		x.read = e.read
		o := x.observation(claudemem.TypeDiscovery, sentenceTitle(afterLeadIn(sub.message[i].text)))
		o.Subtitle = x.support(i)
		o.Facts = x.facts(i)
		out = append(out, o)
	}
	return out
}
