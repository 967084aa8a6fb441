package observer

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Marking is a Distiller that marks the records of another one by whose words they have.
type Marking struct {
	Distiller
	Foreign *store.Store
}

// Distil implements Distiller. It drops learnings that repeat a foreign text, and adds foreign texts
// to the outcome. A failure of the store is Transient.
func (m Marking) Distil(ctx context.Context, b memory.Batch) (memory.Outcome, error) {
	out, err := m.Distiller.Distil(ctx, b)
	if err != nil {
		return out, err
	}
	runs, err := m.Foreign.ForeignRuns(ctx, b.Session.ProjectPath)
	if err != nil {
		return out, transientError{err}
	}
	newWording(&b, runs, &out).mark(&out)
	return out, nil
}

// wording has the words of a batch by who wrote them.
type wording struct {
	// typed are the prompts, user the subject words of these and of the user's answers.
	typed string
	user  map[string]bool
	// project are the words of the project's events and of the edits, unknown those of
	// events of which nobody knows who wrote them.
	project, unknown map[string]bool
	// foreign has the words of foreign events with their provenance, the least trusted if
	// several have one.
	foreign map[string]memory.Provenance
	// runs are those of foreign texts, of this batch and before.
	runs *likeness.ForeignRuns
}

// newWording reads the words of a batch. The texts of its foreign events go to out.
func newWording(b *memory.Batch, runs *likeness.ForeignRuns, out *memory.Outcome) *wording {
	w := &wording{user: map[string]bool{}, project: map[string]bool{}, unknown: map[string]bool{}, foreign: map[string]memory.Provenance{}, runs: runs}
	for _, p := range b.Prompts {
		w.typed += p.Text + "\n"
		maps.Copy(w.user, text.SubjectWords(p.Text))
	}
	for i := range b.Events {
		e := &b.Events[i]
		switch {
		case e.Event.Kind != memory.KindTool:
		case e.Provenance.Foreign():
			said := shownText(&e.Event)
			for word := range text.SubjectWords(said) {
				w.foreign[word] = memory.LeastTrusted(e.Provenance, w.foreign[word])
			}
			out.Foreign = append(out.Foreign, runs.Add(e.PromptNumber, e.Provenance, said))
		case e.Provenance == memory.FromUser:
			maps.Copy(w.user, eventWords(&e.Event))
		case e.Provenance == memory.FromProject:
			maps.Copy(w.project, eventWords(&e.Event))
			runs.Own(shownText(&e.Event))
		case e.Provenance.Unknown():
			maps.Copy(w.unknown, eventWords(&e.Event))
		}
		if slices.ContainsFunc(e.Files, func(f memory.FileRef) bool { return f.Role == memory.FileModified }) {
			maps.Copy(w.project, text.SubjectWords(jsonTexts(e.Event.ToolInput)))
		}
	}
	return w
}

// mark sets the provenance of an outcome's records, adds those that are foreign to its
// foreign texts, and drops the learnings that repeat a foreign text.
func (w *wording) mark(out *memory.Outcome) {
	keep := func(p memory.Provenance, turn int, texts []string) {
		if p.Foreign() {
			out.Foreign = append(out.Foreign, w.runs.Add(turn, p, strings.Join(texts, "\n")))
		}
	}
	for i := range out.Observations {
		o := &out.Observations[i]
		said := append([]string{o.Title, o.Subtitle}, o.Facts...)
		p := w.of(said, o.Narrative)
		if p.Foreign() || o.Provenance == "" {
			o.Provenance = p
		}
		keep(p, o.PromptNumber, append(said, o.Narrative))
	}
	for i := range out.Summaries {
		s := &out.Summaries[i]
		said := collect.Flat([]string{s.Completed, s.Learned, s.Investigated, s.NextSteps, s.Notes}, func(field string) []string {
			return text.Sentences(field, nil)
		})
		s.Provenance = w.of(said, "")
		keep(s.Provenance, s.PromptNumber, said)
	}
	out.Learnings = slices.DeleteFunc(out.Learnings, func(l memory.Learning) bool { return w.runs.Repeated(l.Content, w.typed) != "" })
}

// leastForeign is the least number of foreign subject words that make a statement foreign: a
// page and a record may share a word or two.
const leastForeign = 3

// of returns the provenance of a record with these statements and story. It is foreign if
// one of them repeats a run of a foreign text that the user has not typed, or if half of the
// subject words of a statement stand in a foreign event and not in the user's words, the
// edits or an event of the project: that such an event stood in its turn is not enough.
func (w *wording) of(statements []string, story string) memory.Provenance {
	from := w.runs.Repeated(story, w.typed)
	all := map[string]bool{}
	for _, s := range statements {
		from = memory.LeastTrusted(from, w.runs.Repeated(s, w.typed))
		said := text.SubjectWords(s)
		maps.Copy(all, said)
		var words memory.Provenance
		n := 0
		for word := range said {
			if p := w.foreign[word]; p != "" && !w.user[word] && !w.project[word] {
				n++
				words = memory.LeastTrusted(words, p)
			}
		}
		if n >= leastForeign && 2*n >= len(said) {
			from = memory.LeastTrusted(from, words)
		}
	}
	half := (len(all) + 1) / 2
	switch {
	case from != "":
		return from
	case half == 0:
		return memory.FromAgent
	case text.SharedWords(all, w.user) >= half:
		return memory.FromUser
	case text.SharedWords(all, w.project) >= half:
		return memory.FromProject
	case text.SharedWords(all, w.unknown) >= half:
		return memory.FromUnknown
	}
	return memory.FromAgent
}

// eventWords returns the words of a tool's result, or of the agent's message, without those
// of the tool's input, such as the new text of an edit: the agent may have them from elsewhere.
func eventWords(e *memory.Event) map[string]bool {
	words := text.SubjectWords(e.LastAssistantMessage + "\n" + shownText(e))
	for word := range text.SubjectWords(jsonTexts(e.ToolInput)) {
		delete(words, word)
	}
	return words
}

// shownText returns what a tool call showed.
func shownText(e *memory.Event) string { return e.ToolError + "\n" + jsonTexts(e.ToolResponse) }

// jsonTexts returns the strings in JSON, one a line.
func jsonTexts(raw json.RawMessage) string {
	var b strings.Builder
	jsonscan.Tokens(raw, func(kind byte, start, end int) {
		if kind == jsonscan.Key || kind == jsonscan.String {
			s, _ := jsonscan.Unquote(raw[start:end])
			b.WriteString(s + "\n")
		}
	})
	return b.String()
}

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
