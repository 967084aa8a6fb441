package observer

import (
	"bytes"
	"encoding/json"
	"strings"

	"claudemem"
)

// source has the words of the texts of one provenance.
type source struct {
	from  claudemem.Provenance
	words map[string]bool
}

// learned returns the learnings of an answer with the provenance of each. If the model has
// read foreign text, in the turn's events or earlier in its run, it returns only those that
// the words of the user or the project support: the foreign text may have asked for the rest.
func (w *task) learned(t *turn, evidence []claudemem.PendingEvent, learnings []claudemem.Learning) []claudemem.Learning {
	foreign := w.readForeign(evidence)
	if len(learnings) == 0 {
		return nil
	}
	sources := []source{{claudemem.FromUser, subjectWords(t.prompt.Text)}, {claudemem.FromProject, nil}, {claudemem.FromAgent, nil}}
	for i := range sources {
		for j := range evidence {
			if evidence[j].Provenance == sources[i].from {
				sources[i].words = merged(sources[i].words, eventWords(&evidence[j].Event))
			}
		}
	}
	if foreign != nil {
		sources = sources[:2] // the agent repeats what it has read
	}
	var kept []claudemem.Learning
	for _, l := range learnings {
		said := subjectWords(l.Content)
		l.Provenance = claudemem.ProvenanceOf(evidence)
		least := max(1, (len(said)+1)/2, shared(said, foreign))
		supported := false
		for _, s := range sources {
			if shared(said, s.words) >= least {
				l.Provenance, supported = s.from, true
				break
			}
		}
		if supported || foreign == nil {
			kept = append(kept, l)
		}
	}
	return kept
}

// readForeign adds the words of foreign events to the run's, since later answers of the run
// may repeat them, and returns all foreign words of the run; nil for none.
func (w *task) readForeign(events []claudemem.PendingEvent) map[string]bool {
	r := w.thread.run
	for i := range events {
		if events[i].Provenance.Foreign() {
			e := &events[i].Event
			r.foreign = merged(r.foreign, subjectWords(e.ToolError+"\n"+jsonTexts(e.ToolResponse)))
		}
	}
	return r.foreign
}

// eventWords returns the words of a tool's result, or of the agent's message, without those
// of the tool's input, such as the new text of an edit: the agent may have them from elsewhere.
func eventWords(e *claudemem.Event) map[string]bool {
	words := subjectWords(e.LastAssistantMessage + "\n" + e.ToolError + "\n" + jsonTexts(e.ToolResponse))
	for word := range subjectWords(jsonTexts(e.ToolInput)) {
		delete(words, word)
	}
	return words
}

// jsonTexts returns the strings in JSON, one a line.
func jsonTexts(raw json.RawMessage) string {
	var b strings.Builder
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := decoder.Token()
		if err != nil {
			return b.String()
		}
		if s, ok := token.(string); ok {
			b.WriteString(s + "\n")
		}
	}
}

// merged adds the words of more to all, and returns a set even if there are none.
func merged(all, more map[string]bool) map[string]bool {
	if all == nil {
		all = make(map[string]bool, len(more))
	}
	for word := range more {
		all[word] = true
	}
	return all
}

// shared counts the words that both sets have.
func shared(a, b map[string]bool) int {
	n := 0
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}
