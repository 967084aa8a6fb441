package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// timelineSide is the number of lines on each side of the timeline's anchor.
const timelineSide = 20

// timeline lists what happened around the record, session, time or text that the parameter
// around names; without one, what happened last.
func (v *visit) timeline() view {
	around := v.URL.Query().Get("around")
	anchor := cmp.Or(around, v.now.Format(time.RFC3339))
	n := strconv.Itoa(timelineSide)
	q := request[api.TimelineRequest](v, url.Values{"anchor": {anchor}, "depth_before": {n}, "depth_after": {n}})
	found, rows := v.linesAround(q)
	shown := timelineView{Around: around, Project: q.Project, Groups: byDay(v.now, rows),
		Records: collect.Count(rows, func(r row) bool { return r.Kind != api.KindAnchor })}
	at := max(slices.IndexFunc(rows, func(r row) bool { return r.IsAnchor }), 0)
	if at >= timelineSide {
		shown.Earlier = timelineHref(&rows[0].Entry, q.Project)
	}
	if len(rows)-1-at >= timelineSide {
		shown.Later = timelineHref(&rows[len(rows)-1].Entry, q.Project)
	}
	return view{Title: "Timeline " + found.Anchor, JSON: inAPI(api.Memory.Timeline, q), Data: shown}
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
// q asks for records.
func (v *visit) linesAround(q api.TimelineRequest) (found api.Timeline, rows []row) {
	found = ask(v, api.Memory.Timeline, q.Widened())
	for _, l := range found.Lines(q.Before, q.After) {
		r := row{Entry: l.Entry, Note: l.Asked}
		r.Href = hrefOf(&r.Entry)
		rows = append(rows, r)
	}
	return found, rows
}

// timelineHref returns the timeline around a record.
func timelineHref(e *api.Entry, project string) string {
	return address("/timeline", params("around", e.Anchor(), "project", project))
}

// around is the number of lines of the timeline on each side of an observation.
const around = 5

// observation shows one observation in full, with what happened around it. That it is shown is not
// noted as read.
func (v *visit) observation() view {
	o := ask(v, api.Memory.Observation, request[api.ObservationRequest](v, nil)).Whole()
	if v.err != nil {
		return view{}
	}
	own := o.Entry()
	near := api.TimelineRequest{Anchor: strconv.FormatInt(int64(o.ID), 10), Before: around, After: around, Project: o.ProjectPath}
	_, rows := v.linesAround(near)
	if memory.CodeOf(v.err) == memory.CodeNotFound {
		v.err = nil // it was hidden in between: the page shows what it was
	}
	for i := range rows {
		rows[i].Dated = true
	}
	choices := slices.Clone(types)
	if !slices.Contains(choices, o.Type) {
		choices = append(choices, o.Type)
	}
	facts, files, concepts := shorten(&o.Facts), shorten(&o.FilesModified)+shorten(&o.FilesRead), shorten(&o.Concepts)
	return view{Title: fmt.Sprintf("#%d %s", o.ID, line(o.Title)), JSON: fmt.Sprintf("/api/observations/%d?lookup=false", o.ID), Data: struct {
		api.Observation
		Session      string
		Types        []memory.ObservationType
		Timeline     []row
		TimelineHref string
		MoreFacts    int
		MoreFiles    int
		MoreConcepts int
	}{o, sessionHref(o.SessionDBID, o.PromptNumber), choices, rows, timelineHref(&own, ""), facts, files, concepts}}
}

// maxItems bounds the items of a list that a page shows.
const maxItems = 50

// shorten cuts a list to maxItems and returns how many were cut off.
func shorten[T any](items *[]T) int {
	all := len(*items)
	*items = (*items)[:min(all, maxItems)]
	return all - len(*items)
}

// sessionHref returns the page of a session, at a turn of it; "" for no session.
func sessionHref(id memory.SessionID, turn int) string {
	if id == 0 {
		return ""
	}
	if turn == 0 {
		return fmt.Sprintf("/session/%d", id)
	}
	return fmt.Sprintf("/session/%d#turn-%d", id, turn)
}
