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

// timelineSide is the number of turns on each side of the timeline's anchor.
const timelineSide = 20

// timeline lists what happened around the record, session, time or text that the parameter
// around names; without one, what happened last.
func (v *visit) timeline() view {
	around := v.URL.Query().Get("around")
	anchor := cmp.Or(around, v.now.Format(time.RFC3339))
	n := strconv.Itoa(timelineSide)
	q := request[api.TimelineRequest](v, url.Values{"anchor": {anchor}, "depth_before": {n}, "depth_after": {n}})
	found, turns := v.turnsAround(q, false)
	shown := timelineView{Around: around, Project: q.Project, Groups: byDay(v.now, turns),
		Records: collect.Count(turns, func(t turn) bool { return t.Records[0].Kind != api.KindAnchor })}
	at := max(slices.IndexFunc(turns, func(t turn) bool { return t.Open }), 0)
	if at >= timelineSide {
		shown.Earlier = timelineHref(&turns[0].Records[0].Entry, q.Project)
	}
	if last := len(turns) - 1; last-at >= timelineSide {
		records := turns[last].Records
		shown.Later = timelineHref(&records[len(records)-1].Entry, q.Project)
	}
	return view{Title: "Timeline " + found.Anchor, JSON: inAPI(api.Memory.Timeline, q), Data: shown}
}

// timelineView is what the timeline shows.
type timelineView struct {
	// Around is what the reader named, "" for now.
	Around, Project string
	Groups          []group
	Records         int
	// Earlier and Later lead to the windows around the first and the last turn, "" at an end.
	Earlier, Later string
}

// turnsAround returns a timeline and its turns, at most as many on each side of the anchor as
// q asks for records.
func (v *visit) turnsAround(q api.TimelineRequest, dated bool) (api.Timeline, []turn) {
	found := ask(v, api.Memory.Timeline, q.Widened())
	return found, collect.Map(found.Turns(q.Before, q.After), func(t api.Turn) turn { return turnOf(t, dated) })
}

// timelineHref returns the timeline around a record.
func timelineHref(e *api.Entry, project string) string {
	return address("/timeline", params("around", e.Anchor(), "project", project))
}

// around is the number of turns of the timeline on each side of an observation.
const around = 5

// observation shows one observation in full, with what happened around it. That it is shown is not
// noted as read.
func (v *visit) observation() view {
	q := request[api.ObservationRequest](v, nil)
	o, versions := ask(v, api.Memory.Observation, q).Whole(), v.versions(q)
	if v.err != nil {
		return view{}
	}
	own := o.Entry()
	near := api.TimelineRequest{Anchor: strconv.FormatInt(int64(o.ID), 10), Before: around, After: around, Project: o.ProjectPath}
	_, turns := v.turnsAround(near, true)
	if memory.CodeOf(v.err) == memory.CodeNotFound {
		v.err = nil // it was hidden in between: the page shows what it was
	}
	choices := collect.Unique(append(slices.Clone(types), o.Type))
	facts, files, concepts := shorten(&o.Facts), shorten(&o.FilesModified)+shorten(&o.FilesRead), shorten(&o.Concepts)
	return view{Title: fmt.Sprintf("#%d %s", o.ID, line(o.Title)), JSON: fmt.Sprintf("/api/observations/%d?lookup=false", o.ID), Data: struct {
		api.Observation
		Session      string
		Types        []memory.ObservationType
		Timeline     []turn
		TimelineHref string
		MoreFacts    int
		MoreFiles    int
		MoreConcepts int
		Versions     []memory.Version
	}{o, sessionHref(o.SessionDBID, o.PromptNumber), choices, turns, timelineHref(&own, ""), facts, files, concepts, versions}}
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
