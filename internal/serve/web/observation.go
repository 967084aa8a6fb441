package web

import (
	"fmt"
	"slices"
	"strconv"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// around is the number of lines of the timeline on each side of an observation.
const around = 5

// observation shows one observation in full, with what happened around it.
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
	facts, files, concepts := bound(&o.Facts), bound(&o.FilesModified)+bound(&o.FilesRead), bound(&o.Concepts)
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

// maxItems bounds the items of a list in a record that a page shows.
const maxItems = 50

// bound cuts a list to maxItems and returns how many were cut off.
func bound(items *[]string) int {
	cut := len(*items) - maxItems
	if cut <= 0 {
		return 0
	}
	*items = (*items)[:maxItems]
	return cut
}

// sessionName returns the name of a session, as S12.
func sessionName(id memory.SessionID) string { return fmt.Sprintf("S%d", id) }

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
