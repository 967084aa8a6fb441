package observer

import (
	"maps"
	"slices"

	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// maxAnswerLearnings bounds the learnings of an answer.
const maxAnswerLearnings = 2

// learned returns the learnings of an answer with their provenance, of several that say the same
// the first. A learning is the user's or the project's if their words have half of its subject
// words, and no fewer than foreign or unknown text has; else it is the agent's, and is dropped if
// the turn showed such text, which may have asked for it, or if it orders to run or fetch
// something.
func learned(t *turn, evidence []memory.PendingEvent, learnings []memory.Learning) []memory.Learning {
	user, project, others := text.SubjectWords(t.prompt.Text), map[string]bool{}, map[string]bool{}
	doubtful := false
	for i := range evidence {
		e := &evidence[i]
		switch {
		case e.Event.Kind != memory.KindTool:
		case e.Provenance.Foreign() || e.Provenance.Unknown():
			doubtful = true
			maps.Copy(others, text.SubjectWords(shownText(&e.Event)))
		case e.Provenance == memory.FromUser:
			maps.Copy(user, eventWords(&e.Event))
		case e.Provenance == memory.FromProject:
			maps.Copy(project, eventWords(&e.Event))
		}
	}
	var kept []memory.Learning
	for _, l := range learnings {
		statement := likeness.ParseStatement(l.Content)
		if slices.ContainsFunc(kept, func(k memory.Learning) bool { return statement.Same(likeness.ParseStatement(k.Content)) }) {
			continue
		}
		said := text.SubjectWords(l.Content)
		least := max(1, (len(said)+1)/2, text.SharedWords(said, others))
		switch {
		case text.SharedWords(said, user) >= least:
			l.Provenance = memory.FromUser
		case text.SharedWords(said, project) >= least:
			l.Provenance = memory.FromProject
		case doubtful || text.IsOrder(l.Content):
			continue
		default:
			l.Provenance, l.Confidence = memory.FromAgent, min(l.Confidence, memory.AgentConfidence)
		}
		kept = append(kept, l)
	}
	return kept
}
