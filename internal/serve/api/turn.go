package api

import (
	"cmp"
	"slices"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Turn is the unit of a list for people: the records of one turn, or one record that belongs to
// none. It stands at the place of its first record.
type Turn struct {
	Session memory.SessionID
	// Number counts the turns of the session, 0 for a record that belongs to none.
	Number int
	// Asked is the prompt as far as it is known, else what the summary calls the request, else "".
	Asked string
	// Heading is a line: of Asked, or else the title of the record that Best is.
	Heading string
	// Outcome is a line that says what came of it, "" if the heading says all.
	Outcome string
	// Best is the position in Records of the surest observation, -1 for none.
	Best int
	// Records are those of the list, in its order; CreatedAt is the time of the one at whose place
	// the turn stands.
	Records   []TurnRecord
	CreatedAt memory.Millis
	// Fields are those of the summary that neither the prompt nor a record says, and of these the
	// sentences that are new.
	Fields []SummaryField
}

// TurnRecord is a record of a turn.
type TurnRecord struct {
	Entry
	// Note is what the record says beside its title and the records before it.
	Note string
	// At is its position in the list. Hit is nil for an entry of a timeline.
	At  int
	Hit *Hit
}

// SummaryField is a field of a summary with its name for people.
type SummaryField struct{ Name, Text string }

// Alone reports whether nothing stands below the heading but the record that it is of.
func (t *Turn) Alone() bool { return len(t.Records) == 1 && t.Records[0].Kind != memory.RecordSummary }

// unitsOf returns the positions of the entries of each turn, a unit where its first entry is. With
// pairs only the prompt and the summary of a turn are one unit. An entry that needs more than most
// units (0: any number) is left out; used is the position of the first of these.
func unitsOf(entries []Entry, most int, pairs bool) (units [][]int, used int) {
	type key struct {
		session memory.SessionID
		turn    int
	}
	at := map[key]int{}
	used = len(entries)
	for i, e := range entries {
		k := key{e.SessionDBID, e.PromptNumber}
		ofTurn := k.session != 0 && k.turn != 0 && e.Kind != KindAnchor && (!pairs || e.Kind != memory.RecordObservation)
		u, known := at[k]
		switch full := most > 0 && len(units) == most; {
		case ofTurn && known && (!pairs || len(units[u]) != 2 && entries[units[u][0]].Kind != e.Kind):
			units[u] = append(units[u], i)
		case full:
			used = min(used, i)
		default:
			if ofTurn {
				at[k] = len(units)
			}
			units = append(units, []int{i})
		}
	}
	return units, used
}

// UnitsOf returns the positions of the entries of each turn, in the order of their first entries: for a
// list that grows, which makes a turn by TurnOf when it is shown.
func UnitsOf(entries []Entry) [][]int {
	units, _ := unitsOf(entries, 0, false)
	return units
}

// TurnOf returns the turn of the hits of one unit.
func TurnOf(hits []Hit) Turn {
	turns, _ := turnsOf(hits, 0, nil)
	return turns[0]
}

// Turns returns the hits as at most so many turns (0: any number). used is the position of the first
// hit that needs one more; of the hits behind it only those of the turns are in them.
func (p *SearchPage) Turns(most int) (turns []Turn, used int) { return turnsOf(p.Results, most, nil) }

// Turns returns the records of a session by turn, each sentence at one place: what an earlier turn
// says is in no field and no note.
func (s *SessionRecords) Turns() []Turn {
	hits := slices.Concat(
		collect.MapPtr(s.Prompts, func(p *Prompt) Hit { return Hit{Kind: memory.RecordPrompt, Prompt: p} }),
		collect.MapPtr(s.Observations, func(o *Observation) Hit { return Hit{Kind: memory.RecordObservation, Observation: o} }),
		collect.MapPtr(s.Summaries, func(y *Summary) Hit { return Hit{Kind: memory.RecordSummary, Summary: y} }))
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Entry().PromptNumber, b.Entry().PromptNumber) })
	turns, _ := turnsOf(hits, 0, map[string]bool{})
	return turns
}

// Turns returns the turns of a timeline, at most before and after of them on each side of the
// anchor's. Like its line, a turn stands at whichever of its records is nearest to the anchor.
func (t *Timeline) Turns(before, after int) []Turn {
	return collect.Map(t.units(before, after, false), func(unit []int) Turn {
		at := t.Timeline[unit[0]].CreatedAtEpoch
		turn := turnOf(collect.Map(slices.Sorted(slices.Values(unit)), func(i int) TurnRecord {
			return TurnRecord{Entry: t.Timeline[i], Note: t.Timeline[i].Subtitle, At: i}
		}), telling{})
		turn.CreatedAt = at
		return turn
	})
}

// units returns the units of a timeline in their order, the position that is nearest to the anchor
// first in each.
func (t *Timeline) units(before, after int, pairs bool) (units [][]int) {
	anchor := max(slices.IndexFunc(t.Timeline, func(e Entry) bool { return e.IsAnchor || e.Kind == KindAnchor }), 0)
	order := make([]int, len(t.Timeline))
	for i := range order {
		order[i] = i
	}
	away := func(i int) int { return max(i-anchor, anchor-i) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(away(i), away(j)) })
	all, _ := unitsOf(collect.Map(order, func(i int) Entry { return t.Timeline[i] }), 0, pairs)
	left := map[bool]int{true: before, false: after}
	for _, unit := range all {
		unit = collect.Map(unit, func(i int) int { return order[i] })
		if earlier := unit[0] < anchor; unit[0] != anchor {
			if left[earlier]--; left[earlier] < 0 {
				continue
			}
		}
		units = append(units, unit)
	}
	slices.SortFunc(units, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return units
}

// turnsOf returns the turns of hits. The sentences of earlier turns count as said if earlier is not nil.
func turnsOf(hits []Hit, most int, earlier map[string]bool) (turns []Turn, used int) {
	entries := collect.MapPtr(hits, (*Hit).Entry)
	units, used := unitsOf(entries, most, false)
	return collect.Map(units, func(unit []int) Turn {
		return turnOf(collect.Map(unit, func(i int) TurnRecord {
			return TurnRecord{Entry: entries[i], Note: hits[i].Note(), At: i, Hit: &hits[i]}
		}), telling{earlier: earlier})
	}), used
}

// turnOf makes a turn of its records. said has what is said elsewhere.
func turnOf(records []TurnRecord, said telling) Turn {
	first := &records[0]
	t := Turn{Session: first.SessionDBID, Number: first.PromptNumber, CreatedAt: first.CreatedAtEpoch, Records: records, Best: -1}
	var summary *Summary
	for i := range records {
		switch r := &records[i]; r.Kind {
		case memory.RecordPrompt:
			t.Asked = r.Title
			if r.Hit != nil && r.Hit.Prompt.PromptDetail != nil {
				t.Asked = r.Hit.Prompt.Text
			}
		case memory.RecordSummary:
			request := r.Title
			if r.Hit != nil && r.Hit.Summary.SummaryDetail != nil {
				summary = r.Hit.Summary
				request = summary.Request
			}
			t.Asked = cmp.Or(t.Asked, request)
		case memory.RecordObservation:
			if t.Best < 0 || surer(r, &records[t.Best]) < 0 {
				t.Best = i
			}
		}
	}
	said.show(t.Asked)
	for i := range records {
		if r := &records[i]; r.Kind == memory.RecordObservation {
			said.show(r.Title)
			r.Note = said.beyond(r.Note)
			said.show(r.Note)
			said.add(r.Title + " " + r.Note)
		}
	}
	if summary != nil {
		for i := range records {
			if h := records[i].Hit; h.Observation != nil && h.Observation.ObservationDetail != nil {
				said.add(append(sentences(h.Observation.Narrative), h.Observation.Facts...)...)
			}
		}
		for _, f := range []SummaryField{{"Asked", summary.Request}, {"Looked at", summary.Investigated}, {"Learned", summary.Learned},
			{"Done", summary.Completed}, {"Next", summary.NextSteps}, {"Notes", summary.Notes}} {
			if f.Text = said.beyond(f.Text); f.Text != "" {
				said.show(f.Text)
				f.Text = text.Reported(summary.Provenance, f.Text)
				t.Fields = append(t.Fields, f)
			}
		}
	}
	t.Heading, t.Outcome = t.lines()
	return t
}

// lines returns the heading and the outcome of a turn.
func (t *Turn) lines() (heading, outcome string) {
	heading = headline(t.Asked)
	var results []string
	if t.Best >= 0 {
		results = []string{t.Records[t.Best].Title, t.Records[t.Best].Note}
	}
	for _, name := range []string{"Done", "Learned", "Looked at", "Next", "Notes"} {
		results = append(results, collect.Pick(t.Fields, func(f SummaryField) (string, bool) { return f.Text, f.Name == name })...)
	}
	heading = cmp.Or(heading, headline(text.First(results)), t.Records[0].Title)
	for _, s := range results {
		if s = headline(s); s != "" && !repeats(heading, s) {
			return heading, s
		}
	}
	return heading, ""
}

// surer is negative if a says more surely than b what came of a turn: it was found with the higher
// score, still holds, is of the project's own words, is more than a discovery, is the earlier record.
func surer(a, b *TurnRecord) int {
	score := func(r *TurnRecord) (score float64) {
		if r.Hit != nil {
			score = r.Hit.Score
		}
		return score
	}
	doubt := func(r *TurnRecord) (doubt int) {
		for i, is := range []bool{r.Type == memory.TypeDiscovery, r.Foreign != "", r.SupersededBy != 0} {
			if is {
				doubt = i + 1
			}
		}
		return doubt
	}
	return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(doubt(a), doubt(b)), cmp.Compare(a.ID, b.ID))
}

// telling is what the sentences of a turn are compared with.
type telling struct {
	said []recall.Saying
	// earlier has the sentences of the turns before, by their words; nil if they do not count.
	earlier map[string]bool
}

// add adds what a record says, in lines of their own.
func (t *telling) add(lines ...string) {
	for _, s := range lines[:min(len(lines), maxStatements)] {
		t.said = append(t.said, recall.SayingOf(text.FirstBytes(s, maxCompared)))
	}
}

// show adds the sentences of a text that stands on the page.
func (t *telling) show(s string) {
	for _, sentence := range sentences(s) {
		t.add(sentence)
		if t.earlier != nil {
			t.earlier[wordsOf(sentence)] = true
		}
	}
}

// beyond returns the sentences of a text that are not said, the text itself if none is.
func (t *telling) beyond(s string) string {
	all := sentences(s)
	left := collect.Keep(all, func(sentence string) bool {
		plain := text.Unstopped(sentence)
		return !t.earlier[wordsOf(sentence)] && !recall.SaidIn(t.said, recall.Statement{Text: plain, Words: recall.WordsOf(plain)})
	})
	if len(left) == len(all) {
		return s
	}
	return strings.TrimSpace(strings.Join(left, " ") + s[len(text.FirstBytes(s, maxCompared)):])
}

// maxCompared bounds what of a text is compared, in bytes, maxStatements the statements of a record:
// more is a log.
const (
	maxCompared   = 2 << 10
	maxStatements = 40
)

// sentences returns the sentences of Markdown.
func sentences(s string) []string {
	return collect.Flat(text.Prose(text.FirstBytes(s, maxCompared)), func(paragraph string) []string {
		return text.Sentences(paragraph, nil)
	})
}
