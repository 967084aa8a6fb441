package moments

import (
	"context"
	"strings"
	"unicode"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// atPrompt finds records that are relevant to the user's prompt.
func (r *reminding) atPrompt(ctx context.Context) (reminder, error) {
	m := reminder{frame: promptFrame}
	if !asksSomething(r.event.Prompt) {
		return m, nil
	}
	found, err := r.related(ctx, r.event.Prompt)
	if err != nil || len(found) == 0 {
		return m, err
	}
	if err := r.readShown(ctx); err != nil {
		return m, err
	}
	asked := recall.AskedBy(r.event.Prompt)
	nothingLeft := func(f memory.Related) bool {
		if silenced := r.shown.Judged.Silenced(f.Observation.Ref()); silenced || r.isNew(f.Observation) {
			return silenced
		}
		title, _ := r.answer(f.Observation, asked)
		return title == ""
	}
	why := map[memory.ObservationID]string{}
	fresh := collect.Map(r.passPrompt(found, nothingLeft), func(f memory.Related) memory.Observation {
		why[f.Observation.ID] = recall.WhyNear("near the prompt", &f)
		return *f.Observation
	})
	fresh = memory.Ranked(r.shown.Judged, fresh, (*memory.Observation).Ref)
	m.lines = r.lines(ctx, fresh, func(o memory.Observation) (string, []recall.Statement) { return r.answer(&o, asked) }, func(o *memory.Observation) string { return why[o.ID] })
	return m, nil
}

// answer returns a record's title and what it says beside that, the sentence first that
// answers the prompt best. A record with nothing to tell beside its title gives its gist.
// One that the session was shown gives the rest of its answer; no title when there is none.
func (r *reminding) answer(o *memory.Observation, asked recall.Question) (title string, details []recall.Statement) {
	again := !r.isNew(o)
	if _, known := r.shown.Said[o.ID]; again && !known {
		return "", nil // it need not be read
	}
	title = recall.Heading(o, r.plain)
	details = recall.Beyond(title, asked.Rank(recall.Statements(o, r.plain), title))
	switch {
	case again:
		if details = r.rest(o, title, details, asked); len(details) == 0 {
			return "", nil
		}
	case title == "" || len(details) == 0:
		return r.gist(*o)
	}
	return title, details
}

// asksSomething reports whether a prompt has words enough to be about something:
// not a slash command, whose words are its own, nor a "yes" or "continue".
func asksSomething(prompt string) bool {
	words := strings.Fields(prompt)
	if len(words) == 0 || isCommand(words[0]) {
		return false
	}
	if len(words) > 1 {
		return true
	}
	// Some scripts put no spaces between words; four characters of them are two.
	n := 0
	for _, c := range words[0] {
		if unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			n++
		}
	}
	return n >= 4
}

// isCommand reports whether a word is a host's command: "/compact", "/plugin:name",
// not a path, which has more slashes or a dot.
func isCommand(word string) bool {
	rest, ok := strings.CutPrefix(word, "/")
	return ok && rest != "" && !strings.ContainsAny(rest, `/\.`)
}
