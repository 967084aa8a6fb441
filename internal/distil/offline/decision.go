package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// decisions returns what the user decided in the dialogs of the turn, without session and project,
// which the caller sets; nil for none.
func (t *turn) decisions() []memory.Observation {
	var out []memory.Observation
	for _, s := range t.dialogs {
		for i := range s.Questions {
			q := &s.Questions[i]
			title := decisionTitle(q)
			if title == "" {
				continue
			}
			e := &s.event.Event
			out = append(out, memory.Observation{
				PromptNumber: t.number, Type: memory.TypeDecision, Title: title, Subtitle: decisionReason(q, title),
				Narrative: decisionStory(q), Facts: decisionFacts(q), Concepts: []string{"trade-off", "why-it-exists"},
				AgentID: e.AgentID, AgentType: shown(e.AgentType, 60), Branch: e.Branch, HeadCommit: e.HeadCommit,
				CreatedAt: e.OccurredAt, Origin: memory.OriginOffline, Provenance: memory.FromUser, TimesSeen: 1,
			})
		}
	}
	return out
}

// decisionTitle returns what was decided, "" for an answer that decides nothing: an
// errand, a question in return.
func decisionTitle(q *toolcall.Question) string {
	answer := strings.TrimRight(plain(q.Answer), ". ")
	first := strings.TrimRight(text.Before(strings.ToLower(answer), " "), ",.!")
	switch {
	case answer == "" || asks(answer) || lang.Is(first, "yes-no") && lang.Has(q.Text, "errand"):
		return ""
	case lang.Is(first, "yes-no"):
		return shown(plain(q.Text)+" "+capital(answer), maxTitle)
	}
	if rejected := rejectedLabels(q); len(rejected) > 0 {
		if long := answer + " rather than " + strings.Join(rejected, " or "); len(words(answer)) <= 6 && len(long) <= 100 {
			return shown(capital(long), maxTitle)
		}
	}
	if len(words(answer)) <= 2 {
		return shown(capital(answer)+": "+uncapital(strings.TrimRight(plain(q.Text), "?？ ")), maxTitle)
	}
	return shown(capital(answer), maxTitle)
}

// rejectedLabels returns the options that the user did not choose; none when the answer
// is the user's own and names no option, or when several could be chosen.
func rejectedLabels(q *toolcall.Question) []string {
	var out []string
	chosen := false
	for _, o := range q.Options {
		chosen = chosen || o.Chosen
		if label := plain(o.Label); !o.Chosen && label != "" && !lang.Is(label, "yes-no") {
			out = append(out, label)
		}
	}
	if !chosen || q.Several {
		return nil
	}
	return out
}

// decisionReason returns the question, unless the title begins with it, what the answer
// was preferred to, and what spoke for it.
func decisionReason(q *toolcall.Question, title string) string {
	var parts []string
	if !strings.HasPrefix(title, plain(q.Text)) {
		parts = append(parts, plain(q.Text))
	}
	if rejected := rejectedLabels(q); len(rejected) > 0 {
		parts = append(parts, "Not "+strings.Join(rejected, ", not "))
	}
	reasons := collect.Pick(q.Options, func(o toolcall.Option) (string, bool) {
		return capital(plain(o.Description)), o.Chosen && o.Description != ""
	})
	return shown(sentencesOf(append(parts, reasons...)), maxSubtitle)
}

// decisionStory returns the question, the answer and all options in sentences.
func decisionStory(q *toolcall.Question) string {
	parts := []string{askedStory + plain(q.Text), decidedStory + plain(q.Answer)}
	options := collect.Map(q.Options, func(o toolcall.Option) string { return described(&o) })
	if len(options) > 0 {
		parts = append(parts, optionsStory+strings.Join(options, "; "))
	}
	return shown(sentencesOf(parts), maxNarrative)
}

// decisionFacts returns each option, and whether it was chosen where that is clear.
func decisionFacts(q *toolcall.Question) []string {
	rejected := len(rejectedLabels(q)) > 0
	var facts []string
	for _, o := range q.Options {
		says := offeredFact
		switch {
		case o.Chosen:
			says = "Chosen: "
		case rejected:
			says = rejectedFact
		}
		facts = text.Add(facts, shown(says+described(&o), maxFact))
	}
	return facts[:min(len(facts), maxFacts)]
}

// described returns an option's label with its description.
func described(o *toolcall.Option) string {
	if o.Description == "" {
		return plain(o.Label)
	}
	return plain(o.Label) + " (" + strings.TrimRight(plain(o.Description), ". ") + ")"
}

// sentencesOf joins texts as sentences; it adds no full stop to the last.
func sentencesOf(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		b.WriteString(p)
		if i < len(parts)-1 {
			r, _ := utf8.DecodeLastRuneInString(p)
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == '）' || r == '」' {
				b.WriteString("。")
				continue
			}
			if p != "" && !strings.ContainsRune(".!?…:？。！", r) {
				b.WriteByte('.')
			}
			b.WriteByte(' ')
		}
	}
	return b.String()
}
