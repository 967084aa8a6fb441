package mcpserver

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"claudemem"
)

const (
	defaultDepth = 10
	maxDepth     = 50
)

// timeline shows what happened around an anchor, the oldest first.
func timeline(ctx context.Context, c *call) (*answer, error) {
	path, params, project, err := c.timelineParams(ctx)
	if err != nil {
		return nil, err
	}
	var around timelineFound
	if err := c.get(ctx, path, params, &around); err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeNoMemory {
			return nothingYet(), nil
		}
		return nil, err
	}
	a := newAnswer("timeline")
	a.set("project", in(project))
	items := around.Timeline
	anchor := slices.IndexFunc(items, func(r record) bool { return r.IsAnchor || r.Kind == "anchor" })
	type shown struct {
		text string
		item indexItem
	}
	all := make([]shown, len(items))
	for i := range items {
		mark := "  "
		text, item := c.index(&items[i], project == "")
		if i == anchor {
			mark, item.Anchor = "▶ ", true
			if items[i].Kind == "anchor" && items[i].Title == "" {
				text = strings.TrimSpace("· "+items[i].name()) + " " + at(items[i].CreatedAtEpoch)
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
	var ids []string
	records := 0
	for i := from; i < to; i++ {
		a.offer(all[i].text, all[i].item)
		if items[i].Kind == "anchor" {
			continue
		}
		records++
		if items[i].observation() && len(ids) < 3 {
			ids = append(ids, strconv.FormatInt(items[i].ID, 10))
		}
	}
	if records == 0 {
		a.records, a.items = nil, []any{}
		a.say("Nothing is remembered of %s there.", in(project))
		if project != "" {
			a.tail("Next: project: \"all\" looks at all projects.")
		}
		return a, nil
	}
	a.say("%s in %s, oldest first:", count(records, "record"), in(project))
	if left := len(all) - (to - from); left > 0 {
		a.tail("%s did not fit: ask with smaller depths around #ids at the ends.", count(left, "record"))
	}
	if len(ids) > 0 {
		a.tail("Next: get_observations(ids: [%s]) reads in full; a session: get_session_summary.", strings.Join(ids, ", "))
	}
	return a, nil
}

// timelineParams are the route and the parameters that the arguments mean, and the
// project that is looked at.
func (c *call) timelineParams(ctx context.Context) (path string, params url.Values, project string, err error) {
	params = url.Values{}
	anchor, err := c.args.short("anchor", "id", "session_id", "observation_id", "date", "time")
	if err != nil {
		return "", nil, "", err
	}
	query, err := c.args.text("query", "q", "text")
	if err != nil {
		return "", nil, "", err
	}
	for _, name := range [][]string{{"depth_before", "before"}, {"depth_after", "after"}} {
		depth, err := c.args.number(defaultDepth, 0, maxDepth, name...)
		if err != nil {
			return "", nil, "", err
		}
		params.Set(name[0], strconv.Itoa(depth))
	}
	missing := c.here
	switch path = "/api/search/timeline"; {
	case anchor == "" && query == "":
		return "", nil, "", claudemem.Errorf(claudemem.CodeInvalid, "neither anchor nor query").
			WithHint(`send anchor: an observation's number (123), a session (S12) or a time (yesterday); or query`)
	case anchor == "":
		path = "/api/search/timeline-by-query"
		if len(query) > maxQuery {
			query = strings.ToValidUTF8(query[:maxQuery], "")
		}
		params.Set("query", query)
	case isRecord(anchor):
		params.Set("anchor", anchor)
		missing = func(ctx context.Context) Place { return c.placeOf(ctx, anchor) }
	default:
		if at, ok := claudemem.ParseMoment(anchor, c.now, false); ok {
			anchor = at.Time().Format("2006-01-02T15:04:05.000Z")
		}
		params.Set("anchor", anchor) // or whatever else the route knows
	}
	if project, err = c.project(ctx, missing); err != nil {
		return "", nil, "", err
	}
	if project != "" {
		params.Set("project", project)
	}
	return path, params, project, nil
}

// isRecord reports whether an anchor is the number of an observation or a session.
func isRecord(anchor string) bool {
	digits := strings.TrimPrefix(anchor, "#")
	if digits == anchor {
		digits = strings.TrimLeft(anchor, "sS")
	}
	_, err := strconv.ParseInt(digits, 10, 64)
	return err == nil
}

// placeOf is where a record that is an anchor belongs, or else where the client works.
func (c *call) placeOf(ctx context.Context, anchor string) Place {
	if digits := strings.TrimLeft(anchor, "sS"); digits != anchor {
		if s, err := c.sessionNamed(ctx, anchor, ""); err == nil {
			return Place{Project: s.ProjectPath}
		}
		return c.here(ctx)
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(anchor, "#"), 10, 64)
	if err != nil {
		return c.here(ctx)
	}
	if batch, err := c.batch(ctx, []int64{id}); err == nil && len(batch.Results) > 0 {
		return Place{Project: batch.Results[0].ProjectPath}
	}
	return c.here(ctx)
}
