package block

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// candidatesPerLine is the number of observations read for each line of the
	// layer: some repeat each other or a line above, some are the session's own.
	candidatesPerLine = 4
	// relatedPerLine is the same for observations that a search finds: each is read
	// whole, and few are about the summary.
	relatedPerLine = 2
	// linesPerSession bounds the lines of one session while others have some: else a
	// session with thirty observations would fill the layer.
	linesPerSession = 4
	// summaryChars bounds the part of a summary that is searched with, askedChars the
	// request in it, which may be a page long. Each word costs time at the session's
	// start: 600 characters took 7 ms of CPU more than 300 at 100,000 observations.
	// Summaries of turns seldom have more.
	summaryChars = 300
	askedChars   = 100
	// A record fits a summary from fittingWords of its words on, when these are
	// fittingShare of the weight that the best record has of it, and at least
	// fittingCoverage of the summary's. Judged by reading what the nine projects of
	// proof/eval/testdata/relevance were given: two or three of forty records are about
	// what was done last, and the next best have a word or two with it in common.
	// Likeness does not tell them apart: it is high for what is merely worded alike.
	fittingWords    = 3
	fittingShare    = 0.4
	fittingCoverage = 0.08
)

// candidate is an observation that may get a line.
type candidate struct {
	memory.Observation
	shown line
	words []string
}

// observationLines lists pinned observations, then what still waits in the
// queue, then what fits the latest summary, then the newest that are stored.
func (r *run) observationLines(ctx context.Context) (built, error) {
	// What waits is read first: what an observer stores meanwhile is then read
	// twice and shown once. The other way round it would be read in neither place.
	fresh, _ := r.fresh.Wait() // Without it, what is stored has to do.
	storing := recall.Try(ctx, r.storedObservations)
	var out built
	related, err := r.related(ctx, fresh)
	if err != nil {
		out.lacking = append(out.lacking, r.leaveOut(layerRelated, err))
	}
	stored, err := storing.Wait()
	if err != nil {
		return built{}, err
	}
	waiting := r.waiting(fresh)
	stored, related, out.superseded = r.withoutSuperseded(stored, related, waiting)
	stored = memory.Ranked(r.judged, stored, (*memory.Observation).Ref)
	related = memory.Ranked(r.judged, related, func(f *memory.Related) memory.RecordRef { return f.Observation.Ref() })
	chosen, known := r.choose(stored, waiting, related)
	out.known = known
	chosen = slices.DeleteFunc(chosen, func(c candidate) bool { return text.IsForeignOrder(c.Provenance, c.shown.title+". "+c.shown.detail) })
	observations := make([]memory.Observation, len(chosen))
	byName := make(map[string]candidate, len(chosen))
	for i, c := range chosen {
		observations[i], byName[nameOf(&c.Observation)] = c.Observation, c
	}
	for _, m := range recall.Mark(ctx, r.opts.WorkTree, r.opts.Slack, r.req.Checkout, observations) {
		l := byName[nameOf(&m.Observation)].shown
		if m.Unmerged {
			l.why += ", on another branch"
		}
		l.why += r.judged.Note(m.Ref())
		l.tail, l.session, l.observation, l.note, l.pinned = m.Tail(), m.Session, m.ID, m.Note, m.Pinned
		out.lines = append(out.lines, l)
	}
	return out, nil
}

// nameOf tells observations apart, also those that are not stored yet: one that
// an observer stores meanwhile is the same.
func nameOf(o *memory.Observation) string { return fmt.Sprint(o.Session, "\x00", o.Title) }

// waiting returns the observations that were distilled on the spot from events in the
// queue, the newest first.
func (r *run) waiting(fresh freshSessions) []memory.Observation {
	var waiting []memory.Observation
	for _, f := range fresh.sessions {
		if f.self && r.req.Source != sourceCompact || r.req.Source == sourceResume && f.newest <= r.since {
			continue
		}
		for _, o := range slices.Backward(f.observations) {
			o.ID, o.Session = 0, f.session
			waiting = append(waiting, o)
		}
	}
	return waiting
}

// choose returns the candidates in order, of repeated ones the newest, and the lines of
// those that the host loads by itself. stored has pinned observations first, then the
// newest.
func (r *run) choose(stored, waiting []memory.Observation, related []memory.Related) ([]candidate, []line) {
	var said built
	var chosen []candidate
	at := map[string]int{}
	bySession := map[memory.SessionID]int{}
	var crowd []candidate // of sessions that have their lines
	isStored := collect.Set(collect.MapPtr(stored, nameOf))
	// Some of the lines may turn out to repeat the session index.
	enough := 2 * r.opts.MaxObservations
	add := func(o memory.Observation, why string, spare bool) {
		name := nameOf(&o)
		if _, ok := at[name]; ok || spare && len(chosen) >= enough {
			return
		}
		c := candidate{Observation: o, shown: observationLine(&o, r.req.ProjectPath)}
		if c.shown.text == "" {
			return
		}
		c.shown.why, c.shown.spare = why, spare
		c.shown.claim = recall.ClaimOfObservation(&o, c.shown.title, c.shown.detail)
		if file := r.hostSaysObservation(&o); file != "" {
			at[name] = -1
			said.add(line{text: c.shown.text, tail: recall.Marked{Observation: o}.Tail(), session: o.Session, observation: o.ID}, file)
			return
		}
		c.words = recall.WordsOf(c.shown.text)
		if spare {
			for i, other := range chosen {
				if !recall.Echoes(c.words, other.words) || c.shown.claim.Yields(other.shown.claim) {
					continue
				}
				// What is said twice was said better the second time.
				if other.shown.spare && o.CreatedAt > other.CreatedAt && recall.Echoes(other.words, c.words) {
					c.shown.why = other.shown.why + ", in newer words"
					chosen[i] = c
				}
				at[name] = i
				return
			}
			if bySession[o.Session] == linesPerSession && r.req.Source != sourceResume {
				at[name] = -1
				crowd = append(crowd, c)
				return
			}
			bySession[o.Session]++
		}
		at[name] = len(chosen)
		chosen = append(chosen, c)
	}

	for _, o := range stored {
		if o.Pinned {
			add(o, "pinned", false)
		}
	}
	for _, o := range waiting {
		if !isStored[nameOf(&o)] {
			add(o, "not distilled yet: made on the spot of what waits in the queue", false)
		}
	}
	for _, f := range related {
		add(*f.Observation, recall.WhyNear("fits the latest summary", &f), true)
	}
	newest := 0
	for _, o := range stored {
		switch {
		case o.Pinned:
		case r.req.Source == sourceResume:
			add(o, "new since the last block", true)
		default:
			newest++
			add(o, fmt.Sprintf("number %d of the newest", newest), true)
		}
	}
	return append(chosen, crowd[:min(len(crowd), max(enough-len(chosen), 0))]...), said.known
}

// related asks the Finder for records near the latest summary. An error or a late answer
// costs only this share of the time: the newest are shown then.
func (r *run) related(ctx context.Context, fresh freshSessions) ([]memory.Related, error) {
	if r.opts.Finder == nil || r.req.Source == sourceResume {
		return nil, nil // What is new is shown by its age.
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit/finderShare)
	defer cancel()
	found, err := recall.Try(ctx, func(ctx context.Context) ([]memory.Related, error) {
		summary, err := r.latestSummary(ctx, fresh)
		if err != nil {
			return nil, err
		}
		text := searchText(summary)
		if text == "" {
			return nil, nil
		}
		return r.opts.Finder.Related(ctx, memory.RelatedRequest{Text: text, ProjectPath: r.req.ProjectPath, Limit: relatedPerLine * r.opts.MaxObservations})
	}).Wait()
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f memory.Related) bool { return r.isOwn(f.Observation) })
	best := 0.0
	for _, f := range found {
		best = max(best, f.Evidence.Coverage)
	}
	return slices.DeleteFunc(found, func(f memory.Related) bool { return !fits(f.Evidence, best) }), nil
}

// finderShare is the part of a block's time that the Finder may take: it answers in
// a fiftieth of that at 100,000 observations, or it is not there.
const finderShare = 4

// latestSummary returns the newest summary of another session, or after a
// compaction of this one.
func (r *run) latestSummary(ctx context.Context, fresh freshSessions) (memory.Summary, error) {
	if r.req.Source == sourceCompact && r.self.ID != 0 {
		if s := fresh.of(r.self.ID).summaries; len(s) > 0 {
			return s[len(s)-1], nil
		}
		own, err := r.source.SessionSummaries(ctx, r.self.ID, 1)
		if err != nil {
			return memory.Summary{}, err
		}
		if len(own) > 0 {
			return own[0], nil
		}
	}
	recent, _ := r.recent.Wait() // Of an error the session index tells.
	for _, d := range recent {
		if r.isSelf(d.Session) {
			continue
		}
		if s := fresh.of(d.Session.ID).summaries; len(s) > 0 {
			return s[len(s)-1], nil
		}
		if d.Summary != nil && !d.Summary.Empty() {
			return *d.Summary, nil
		}
	}
	return memory.Summary{}, nil
}

// searchText returns what a search for records that fit a summary looks for.
func searchText(s memory.Summary) string {
	parts := []string{text.TruncateWidth(recall.OneLine(s.Request), askedChars), recall.OneLine(s.Completed), recall.OneLine(s.NextSteps), recall.OneLine(s.Learned)}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return text.TruncateWidth(strings.Join(parts, "\n"), summaryChars)
}

// fits reports whether a record is about the summary, rather than the nearest that
// a memory has to offer; best is the coverage of the best record. What does not fit
// leaves its line to what is new.
func fits(e memory.Evidence, best float64) bool {
	return e.Words >= fittingWords && e.Coverage >= max(fittingShare*best, fittingCoverage)
}

// isOwn reports whether an observation is the asking session's own, which it knows
// itself unless it was compacted.
func (r *run) isOwn(o *memory.Observation) bool {
	return r.self.ID != 0 && o.Session == r.self.ID && r.req.Source != sourceCompact
}

// storedObservations reads what the layer may show, the pinned ones ahead, leaving
// out the asking session's own and, for a resume, what is not new.
func (r *run) storedObservations(ctx context.Context) ([]memory.Observation, error) {
	// Only a session that has records of its own needs a second page; three are 120 records
	// with the usual ten lines.
	const pages = 3
	enough := 2 * r.opts.MaxObservations
	q := memory.Query{Project: r.req.ProjectPath, Limit: candidatesPerLine * r.opts.MaxObservations}
	if r.req.Source == sourceResume {
		q.Since = r.since + 1
	}
	var kept []memory.Observation
	news := 0 // of them, that the host does not load by itself
	for range pages {
		page, err := r.source.Observations(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if !r.isOwn(&o) {
				kept = append(kept, o)
				if o.SupersededBy == 0 && r.hostSaysObservation(&o) == "" {
					news++
				}
			}
		}
		if news >= enough || len(page) < q.Limit {
			break
		}
		q.Offset += len(page)
	}
	return kept, nil
}
