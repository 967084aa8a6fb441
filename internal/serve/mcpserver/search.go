package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// maxLimit bounds the hits of an answer.
const maxLimit = 50

// ahead is how many hits beyond a page are fetched to count them: a search for a text
// has no exact total.
const ahead = 40

// searchMemory lists the hits of a search, one line for each record or turn. Counts and
// offsets are of records.
func searchMemory(ctx context.Context, c *call) *answer {
	q := api.SearchRequest{Format: api.FormatFull, Agent: true}
	c.bind(&q)
	q.Project = c.project(ctx)
	limit := q.Limit
	q.Limit = min(limit+ahead, api.MaxLimit)
	page := ask(ctx, c, api.Memory.Search, q)
	total, open := totalOf(&page, q)
	a := newAnswer("results")
	a.set("project", in(q.Project))
	a.set("total", total)
	lines := page.Lines(limit)
	listed := 0
	var ids []memory.ObservationID
	for _, l := range lines {
		hit := &page.Results[l.Shown]
		text, item := c.index(l, q.Project == "")
		item.Tokens = c.cost(hit)
		if !a.offer(fmt.Sprintf("%s (%d tokens)", text, item.Tokens), item) {
			break
		}
		listed++
		if o := hit.Observation; o != nil && len(ids) < 3 {
			ids = append(ids, o.ID)
		}
	}
	if listed < len(lines) { // the rest did not fit
		lines = page.Lines(listed)
	}
	notes := page.Notes(lines, c.now.Location(), func(said string) string { return line(said, 200) })
	for _, note := range notes[max(0, len(notes)-maxNotes):] {
		a.tail("%s", note)
	}
	if listed == 0 {
		if len(ask(ctx, c, api.Memory.Projects, api.ProjectsRequest{Brief: true, Limit: 1}).Results) == 0 {
			return nothingYet() // its worker has just made it
		}
		c.nothingFound(ctx, a, q)
		return a
	}
	shown, over := len(page.Results), ""
	if open {
		over = "over "
	}
	a.say("%s%d found in %s, here %d to %d:", over, total, in(q.Project), q.Offset+1, q.Offset+shown)
	next := ""
	if len(ids) > 0 {
		next = fmt.Sprintf("get_observations(ids: [%s]) reads in full. ", csv(ids))
	}
	if left := total - q.Offset - shown; left > 0 || open {
		next += fmt.Sprintf("%s%d more: offset: %d.", over, left, q.Offset+shown)
	}
	if next != "" {
		a.tail("Next: %s", strings.TrimSpace(next))
	}
	return a
}

// totalOf returns how many hits there are in all; open says that there are more. The
// total of a page is exact unless a text matches all of its hits.
func totalOf(page *api.SearchPage, q api.SearchRequest) (total int, open bool) {
	if n := len(page.Results); !page.Searched() || n > 0 && page.Results[n-1].Score == 0 {
		return page.Total, false
	}
	return q.Offset + len(page.Results), len(page.Results) == q.Limit && page.Total > q.Offset+q.Limit
}

// nothingFound says in a that there are no hits, and whether other projects have some, for which it
// searches again.
func (c *call) nothingFound(ctx context.Context, a *answer, q api.SearchRequest) {
	if q.Offset > 0 {
		a.say("Nothing more found in %s from offset %d on.", in(q.Project), q.Offset)
		return
	}
	a.say("Nothing found in %s.", in(q.Project))
	if q.Project != "" {
		q.Project, q.Limit, q.Format = "", api.MaxLimit, api.FormatIndex
		if n := len(ask(ctx, c, api.Memory.Search, q).Results); n > 0 {
			a.tail("Next: project: \"all\" finds %d in other projects.", n)
			return
		}
	}
	a.tail("Next: fewer or other words, or fewer filters; timeline(anchor: \"yesterday\") shows what was done when.")
}

// nothingYet returns the answer of an empty memory.
func nothingYet() *answer {
	a := newAnswer("results")
	a.say("Nothing is remembered yet: no session has been recorded on this machine.")
	return a
}

// maxNotes bounds what an answer says of its search: of many, the last.
const maxNotes = 8

// maxDepth bounds the records on each side of an anchor.
const maxDepth = 50

// timeline shows what happened around an anchor, the oldest first.
func timeline(ctx context.Context, c *call) *answer {
	request := c.timelineRequest(ctx)
	project := request.Project
	around := ask(ctx, c, api.Memory.Timeline, request.Widened())
	a := newAnswer("timeline")
	a.set("project", in(project))
	items := around.Lines(request.Before, request.After)
	anchor := slices.IndexFunc(items, func(e api.Line) bool { return e.IsAnchor || e.Kind == api.KindAnchor })
	type shown struct {
		text string
		item indexItem
	}
	all := make([]shown, len(items))
	for i := range items {
		mark := "  "
		text, item := c.index(items[i], project == "")
		if i == anchor {
			mark, item.Anchor = "▶ ", true
			if items[i].Kind == api.KindAnchor && items[i].Title == "" {
				text = strings.TrimSpace("· "+items[i].Name()) + " " + at(items[i].CreatedAtEpoch)
			}
		}
		all[i] = shown{mark + text, item}
	}
	// From the anchor outwards, so that what does not fit is what is farthest away.
	trial := newAnswer("timeline")
	from, to := max(anchor, 0), max(anchor, 0)
	for grew := true; grew; {
		grew = false
		if to < len(all) && trial.offer(all[to].text, all[to].item) {
			to++
			grew = true
		}
		if from > 0 && trial.offer(all[from-1].text, all[from-1].item) {
			from--
			grew = true
		}
	}
	var ids []memory.ObservationID
	records := 0
	for i := from; i < to; i++ {
		a.offer(all[i].text, all[i].item)
		if items[i].Kind == api.KindAnchor {
			continue
		}
		records++
		if items[i].Kind == memory.RecordObservation && len(ids) < 3 {
			ids = append(ids, memory.ObservationID(items[i].ID))
		}
	}
	if records == 0 {
		a.records, a.items = nil, []any{}
		a.say("Nothing is remembered of %s there.", in(project))
		if project != "" {
			a.tail("Next: project: \"all\" looks at all projects.")
		}
		return a
	}
	a.say("%s in %s, oldest first:", text.Count(records, "record"), in(project))
	if left := len(all) - (to - from); left > 0 {
		a.tail("%s did not fit: ask with smaller depths around #ids at the ends.", text.Count(left, "record"))
	}
	if len(ids) > 0 {
		a.tail("Next: get_observations(ids: [%s]) reads in full; a session: get_session_summary.", csv(ids))
	}
	return a
}

// timelineRequest makes the request from the arguments. CodeInvalid without anchor and query. Around
// the number of a record its own project counts, unless the call names one.
func (c *call) timelineRequest(ctx context.Context) (r api.TimelineRequest) {
	c.bind(&r)
	if r.Anchor == "" && r.Query == "" {
		c.args.fail(memory.Errorf(memory.CodeInvalid, "neither anchor nor query").
			WithHint(`send anchor: an observation's number (123), a session (S12) or a time (yesterday); or query`))
	}
	if isRecord(r.Anchor) && r.Project == "" && c.args.err == nil {
		r.Project = c.projectOf(ctx, r.Anchor)
		return r
	}
	if at, ok := memory.ParseTime(r.Anchor, c.now, false); ok && !isRecord(r.Anchor) {
		r.Anchor = api.ISO(at)
	}
	r.Project = c.project(ctx)
	return r
}

// isRecord reports whether an anchor is the number of an observation or a session.
func isRecord(anchor string) bool {
	_, err := api.ObservationNumber(anchor)
	if err != nil && anchor != "" {
		_, err = api.SessionNumber(anchor)
	}
	return err == nil
}

// projectOf returns the project of the record that is the anchor, else the one in which
// the client works.
func (c *call) projectOf(ctx context.Context, anchor string) string {
	if strings.HasPrefix(strings.ToUpper(anchor), "S") {
		if s, err := c.server.memory.Receipt(ctx, api.ReceiptRequest{Name: anchor}); err == nil {
			return s.ProjectPath
		}
	} else if o, err := c.server.memory.Observation(ctx, api.ObservationRequest{Name: anchor}); err == nil {
		return o.ProjectPath
	}
	return c.here(ctx).Project
}
