package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/serve/api"
)

// timelineSide is the number of lines on each side of the timeline's anchor.
const timelineSide = 20

// timeline lists what happened around the record, session, time or text that the parameter
// around names; without one, what happened last.
func (v *visit) timeline() (view, error) {
	around := v.URL.Query().Get("around")
	anchor := cmp.Or(around, v.now.Format(time.RFC3339))
	n := strconv.Itoa(timelineSide)
	ask, err := request[api.TimelineRequest](v, url.Values{"anchor": {anchor}, "depth_before": {n}, "depth_after": {n}})
	if err != nil {
		return view{}, err
	}
	found, rows, err := v.linesAround(ask)
	if err != nil {
		return view{}, err
	}
	shown := timelineView{Around: around, Project: ask.Project, Groups: byDay(v.now, rows), Records: records(rows)}
	at := max(slices.IndexFunc(rows, func(r row) bool { return r.IsAnchor }), 0)
	if at >= timelineSide {
		shown.Earlier = timelineHref(&rows[0].Entry, ask.Project)
	}
	if len(rows)-1-at >= timelineSide {
		shown.Later = timelineHref(&rows[len(rows)-1].Entry, ask.Project)
	}
	return view{Title: "Timeline " + found.Anchor, JSON: address(api.TimelineEndpoint.Path, api.Values(ask)), Data: shown}, nil
}

// timelineView is what the timeline shows.
type timelineView struct {
	// Around is what the reader named, "" for now.
	Around, Project string
	Groups          []group
	Records         int
	// Earlier and Later lead to the windows around the first and the last line, "" at an end.
	Earlier, Later string
}

// linesAround returns a timeline and its lines, at most as many on each side of the anchor as
// ask asks for records.
func (v *visit) linesAround(ask api.TimelineRequest) (api.Timeline, []row, error) {
	found, err := v.memory.Timeline(v.ctx(), ask.Widened())
	if err != nil {
		return found, nil, err
	}
	var rows []row
	for _, l := range found.Lines(ask.Before, ask.After) {
		r := row{Entry: l.Entry, Note: l.Asked}
		r.Href = hrefOf(&r.Entry)
		rows = append(rows, r)
	}
	return found, rows, nil
}

// records counts the rows that are records.
func records(rows []row) (n int) {
	for i := range rows {
		if rows[i].Kind != api.KindAnchor {
			n++
		}
	}
	return n
}

// timelineHref returns the timeline around a record.
func timelineHref(e *api.Entry, project string) string {
	q := url.Values{"around": {e.Anchor()}}
	if project != "" {
		q.Set("project", project)
	}
	return address("/timeline", q)
}
