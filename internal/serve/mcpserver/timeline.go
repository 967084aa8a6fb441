package mcpserver

import (
	"context"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

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
