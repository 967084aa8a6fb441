package recall

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"claudemem"
)

// The names of the parts of a block, as the injections table has them.
const (
	layerSessions     = "sessions"
	layerObservations = "observations"
	layerClosing      = "closing"
	// layerUndistilled is no layer of its own: it is what the others lack when
	// the queue's rest could not be distilled on the spot.
	layerUndistilled = "undistilled"
)

const (
	// sessionChars is the longest text of a session's line (SPEC 7).
	sessionChars = 200
	// observationChars is the longest text of an observation's line, its number
	// aside: a title, what it comes to and a file name, about 70 tokens.
	observationChars = 240
	// requestChars is how much of a session's line may go to what was asked for.
	requestChars = 80
	// withRequest is how many of the latest sessions also show what was asked
	// for; of older ones what was completed is enough.
	withRequest = 3
	// ownSummaries is how many of its own turns a session is shown after a compaction.
	ownSummaries = 5
)

// layer is one part of a block. Layers are built at the same time and written
// in their order.
type layer struct {
	name    string
	heading string
	// cap in tokens of a block of DefaultBudget tokens.
	cap int
	// build returns the layer's lines, the most important first. It must not
	// write to what other layers read.
	build func(ctx context.Context) ([]line, error)
}

// line is one list item.
type line struct {
	// lead and tail survive a cut of the text: an age, a record's number.
	lead, text, tail string
	session          claudemem.SessionID
	observation      claudemem.ObservationID
}

// layers lists what this block is built of, the most important first.
func (r *run) layers() []layer {
	caps := r.opts.Caps
	var all []layer
	if caps.Sessions > 0 && r.opts.MaxSessions > 0 {
		all = append(all, layer{layerSessions, "## Recent Sessions", caps.Sessions, r.sessionLines})
	}
	if caps.Observations > 0 && r.opts.MaxObservations > 0 {
		// The layers between have none yet, and an unused cap passes down.
		all = append(all, layer{layerObservations, "## Relevant Past Work",
			caps.Symbols + caps.Learnings + caps.Observations, r.observationLines})
	}
	return all
}

// sessionLines is the session index.
func (r *run) sessionLines(ctx context.Context) ([]line, error) {
	recent, err := r.recent.wait()
	if err != nil {
		return nil, err
	}
	fresh, _ := r.fresh.wait() // Without it, what is stored has to do.
	if overtaken(recent, fresh) {
		if again, err := r.recentSessions(ctx); err == nil { // Else the list as it was has to do.
			recent = again
		}
	}
	var lines []line
	if r.req.Source == sourceCompact {
		if lines, err = r.ownLines(ctx, fresh); err != nil {
			return nil, err
		}
	}
	others := 0 // how many lines there are of other sessions
	for _, d := range recent {
		if r.isSelf(d.Session) || others == r.opts.MaxSessions {
			continue
		}
		waiting := fresh.of(d.Session.ID)
		if r.req.Source == sourceResume && !r.isNews(d, waiting) {
			continue
		}
		text := r.sessionText(d, waiting, others < withRequest)
		if text == "" {
			continue
		}
		others++
		lines = append(lines, line{lead: r.age(d.Session.UpdatedAt), text: text, session: d.Session.ID})
	}
	return lines, nil
}

// ownLines shows what this session did itself, newest turn first: after a
// compaction that is what its model has just lost.
func (r *run) ownLines(ctx context.Context, fresh freshSessions) ([]line, error) {
	if r.self.ID == 0 {
		return nil, nil
	}
	stored, err := r.source.SessionSummaries(ctx, r.self.ID, ownSummaries)
	if err != nil {
		return nil, fmt.Errorf("list own summaries: %w", err)
	}
	summaries := slices.Clone(fresh.of(r.self.ID).summaries)
	slices.Reverse(summaries)
	known := map[int]bool{}
	for _, s := range summaries {
		known[s.PromptNumber] = true
	}
	for _, s := range stored {
		if !known[s.PromptNumber] {
			summaries = append(summaries, s)
		}
	}
	var lines []line
	for _, s := range summaries[:min(len(summaries), ownSummaries)] {
		at := s.CreatedAt
		if at == 0 {
			at = r.self.UpdatedAt
		}
		if text := r.summaryText(s, true); text != "" {
			lines = append(lines, line{lead: r.age(at) + "This session: ", text: text, session: r.self.ID})
		}
	}
	return lines, nil
}

// isNews reports whether a session said anything since the asking one was last given a block.
func (r *run) isNews(d claudemem.SessionDigest, waiting *freshSession) bool {
	switch {
	case waiting.newest > r.since, d.Summary != nil && d.Summary.CreatedAt > r.since:
		return true
	case waiting.newest == 0 && d.Summary == nil: // Nothing better to tell by.
		return d.Session.UpdatedAt > r.since
	default:
		return false
	}
}

func (r *run) sessionText(d claudemem.SessionDigest, waiting *freshSession, request bool) string {
	for _, s := range slices.Backward(waiting.summaries) {
		if text := r.summaryText(s, request); text != "" {
			return text
		}
	}
	// A turn after the last summary that has none itself was broken off; what it
	// was asked to do is the latest that is known.
	if d.Summary != nil && (d.Undistilled == 0 || d.Summary.PromptNumber >= d.Session.PromptCount) {
		if text := r.summaryText(*d.Summary, request); text != "" {
			return text
		}
	}
	if asked := r.plain(d.LastPrompt); asked != "" {
		return cut("Asked: "+asked, sessionChars)
	}
	if d.Summary != nil {
		return r.summaryText(*d.Summary, request)
	}
	return ""
}

// summaryText is a summary on one line: what was completed, with the request
// also what for; else what was asked and what came of it.
func (r *run) summaryText(s claudemem.Summary, request bool) string {
	done, asked := r.plain(s.Completed), r.plain(s.Request)
	switch {
	case request && done != "" && asked != "" && !strings.Contains(strings.ToLower(done), strings.ToLower(asked)):
		goal := " (asked: " + cut(asked, requestChars) + ")"
		return cut(done, sessionChars-units(goal)) + goal
	case done != "":
		return cut(done, sessionChars)
	case asked != "":
		text := "Asked: " + asked
		for _, rest := range []string{s.Learned, s.Investigated} {
			if rest = r.plain(rest); rest != "" {
				text = "Asked: " + cut(asked, requestChars) + "; found: " + rest
				break
			}
		}
		return cut(text, sessionChars)
	}
	for _, rest := range []string{s.Learned, s.Investigated, s.NextSteps} {
		if rest = r.plain(rest); rest != "" {
			return cut(rest, sessionChars)
		}
	}
	return ""
}

// observationLines lists pinned observations, then what still waits in the
// queue, then the newest that are stored.
func (r *run) observationLines(ctx context.Context) ([]line, error) {
	// What waits is read first: what an observer stores meanwhile is then read
	// twice and shown once. The other way round it would be read in neither place.
	fresh, _ := r.fresh.wait() // Without it, what is stored has to do.
	stored, err := r.storedObservations(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // by session and title
	key := func(o claudemem.Observation) string { return fmt.Sprint(o.Session, "\x00", o.Title) }
	for _, o := range stored {
		seen[key(o)] = true
	}
	pinned := 0
	for pinned < len(stored) && stored[pinned].Pinned {
		pinned++
	}
	ordered := slices.Clone(stored[:pinned])
	for _, f := range fresh.sessions {
		if f.self && r.req.Source != sourceCompact || r.req.Source == sourceResume && f.newest <= r.since {
			continue
		}
		for _, o := range slices.Backward(f.observations) {
			o.ID, o.Session = 0, f.session
			if k := key(o); !seen[k] {
				seen[k] = true
				ordered = append(ordered, o)
			}
		}
	}
	ordered = append(ordered, stored[pinned:]...)

	var lines []line
	for _, o := range ordered {
		if len(lines) == r.opts.MaxObservations {
			break
		}
		l := line{text: r.observationText(o), session: o.Session, observation: o.ID}
		if l.text == "" {
			continue
		}
		if o.ID != 0 {
			l.tail = fmt.Sprintf(" (#%d)", o.ID)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// storedObservations reads as many as the layer may show, leaving out the asking
// session's own (except after a compaction) and, for a resume, what is not new.
func (r *run) storedObservations(ctx context.Context) ([]claudemem.Observation, error) {
	// Only a session that has records of its own needs a second page; three are
	// enough for all but one that wrote a hundred since.
	const pages = 3
	q := claudemem.Query{Project: r.req.ProjectPath, Limit: r.opts.MaxObservations}
	if r.self.ID != 0 {
		q.Limit *= 4
	}
	if r.req.Source == sourceResume {
		q.Since = r.since + 1
	}
	var kept []claudemem.Observation
	for range pages {
		page, err := r.source.Observations(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list observations: %w", err)
		}
		for _, o := range page {
			own := r.self.ID != 0 && o.Session == r.self.ID && r.req.Source != sourceCompact
			if !own && (r.req.Source != sourceResume || o.CreatedAt > r.since) {
				kept = append(kept, o)
			}
		}
		if len(kept) >= r.opts.MaxObservations || len(page) < q.Limit {
			break
		}
		q.Offset += len(page)
	}
	return kept[:min(len(kept), r.opts.MaxObservations)], nil
}

// observationText is "title: one line". The line is the subtitle, else the first
// fact that says more than the title; a modified file that neither names follows.
// The other facts are a `claude-mem show` away: ten lines of them cost a fifth
// of the block and are seldom read.
func (r *run) observationText(o claudemem.Observation) string {
	title, detail := r.plain(o.Title), ""
	for _, p := range append([]string{o.Subtitle}, o.Facts...) {
		p = strings.TrimRight(r.plain(p), ". ")
		if p == "" || containsFold(title, p) {
			continue
		}
		if title != "" {
			detail = p
			break
		}
		title = p
	}
	if title == "" {
		title = r.plain(o.Narrative)
	}
	if title == "" {
		return ""
	}

	var files []string
	for _, f := range o.FilesIn(claudemem.FileModified) {
		files = append(files, r.plain(f))
	}
	text := compose(title, detail, observationChars)
	note := fileNote(files, text)
	if units(text)+units(note) > observationChars {
		text = compose(title, detail, observationChars-units(note))
	}
	return text + note
}

// compose joins "title: detail" within limit. The title goes first; of the
// detail even a piece is worth having, unless it would be too short to tell anything.
func compose(title, detail string, limit int) string {
	const leastDetail = 30
	text := cut(title, limit)
	room := limit - units(text) - len(": ")
	switch {
	case detail == "":
	case units(detail) <= room:
		text += ": " + detail
	case room >= leastDetail:
		text += ": " + cut(detail, room)
	}
	return text
}

// fileNote names the first of files whose base name text does not have, and how
// many more there are.
func fileNote(files []string, text string) string {
	files = slices.DeleteFunc(files, func(f string) bool { return f == "" || strings.Contains(text, path.Base(f)) })
	if len(files) == 0 {
		return ""
	}
	note := " [" + cutPath(files[0], 80)
	if more := len(files) - 1; more > 0 {
		note += fmt.Sprintf(" +%d", more)
	}
	return note + "]"
}

// cutPath keeps the end of a long path, where the name is.
func cutPath(p string, limit int) string {
	for units(p) > limit {
		_, rest, ok := strings.Cut(strings.TrimPrefix(p, "…/"), "/")
		if !ok {
			return cut(p, limit)
		}
		p = "…/" + rest
	}
	return p
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

func (r *run) plain(s string) string { return plain(s, r.req.ProjectPath) }

// age is how long ago something was, roughly, as the start of a line.
func (r *run) age(at claudemem.Millis) string {
	// Both are taken by the minute, so that the same minute gives the same bytes.
	d := r.now.Time().Truncate(time.Minute).Sub(at.Time().Truncate(time.Minute))
	const day = 24 * time.Hour
	switch {
	case d <= 0: // Also a time to come, from a clock that was set back.
		return "[just now] "
	case d < time.Hour:
		return fmt.Sprintf("[%dm ago] ", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("[%dh ago] ", d/time.Hour)
	case d < 14*day:
		return fmt.Sprintf("[%dd ago] ", d/day)
	case d < 60*day:
		return fmt.Sprintf("[%dw ago] ", d/(7*day))
	case d < 730*day:
		return fmt.Sprintf("[%dmo ago] ", d/(30*day))
	default:
		return fmt.Sprintf("[%dy ago] ", d/(365*day))
	}
}
