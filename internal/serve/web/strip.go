package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// strip draws a session along its time, as one path for each of the lanes and a mark for each of what leads
// to a page. The table behind it has a row for each turn and one for all.
type strip struct {
	Lanes []lane
	Marks []stripMark
	// Shortened is the path of the Pauses that are drawn short.
	Shortened string
	Pauses    int
	Rows      []stripRow
	// Cut is the number of events that are not drawn.
	Cut int
}

// lane is a row of the picture and a column of the table; the height tells those apart that overlap.
type lane struct {
	Name, Class string
	y, height   int
	// Path has each at its time, Total is their number.
	Path  string
	Total int
}

// The lanes. A call that failed or passed is among the calls too.
const (
	lanePrompts = iota
	laneCalls
	lanePassed
	laneFailed
	laneMade
	laneTold
)

var lanes = [...]lane{
	{Name: "prompts", Class: "kind-prompt", y: 16, height: 8},
	{Name: "calls", Class: "series-cached", y: 36, height: 8},
	{Name: "passed (tall)", Class: "type-feature", y: 28, height: 16},
	{Name: "failed (hanging)", Class: "type-bugfix", y: 36, height: 16},
	{Name: "observations", y: 0, height: 12},
	{Name: "records told", Class: "level-5", y: 56, height: 12},
}

// stripMark is an observation, or a text that the session was told.
type stripMark struct {
	Class, Href, Tip string
	X, Y, Height     int
}

// stripRow has the number of each lane in a turn.
type stripRow struct {
	Turn   int
	Href   string
	Counts [len(lanes)]int
}

// stripEvent is n of a lane at a time; of a lane of marks with its mark.
type stripEvent struct {
	at            memory.Millis
	lane, turn, n int
	mark          stripMark
}

// A pause that is longer than longPause is drawn as shortPause. tickWidth and markWidth are in parts of
// barWidth; marks stand beside each other.
const (
	longPause  = memory.Millis(10 * 60 * 1000)
	shortPause = longPause / 5
	tickWidth  = 2
	markWidth  = 5
)

// drawStrip returns the strip of a session's records, its events and what it was told.
func drawStrip(records *api.SessionRecords, events api.Page[accounts.SessionEvent], given []memory.Injection) strip {
	s := strip{Lanes: slices.Clone(lanes[:]), Cut: events.Total - events.Count}
	all := stripEvents(records, events.Results, given)
	var length, before memory.Millis
	var pauses []memory.Millis
	for i := range all {
		step := all[i].at - before
		if before = all[i].at; i == 0 {
			step = 0
		} else if step > longPause {
			step = shortPause
			pauses = append(pauses, length+step/2)
		}
		length += step
		all[i].at = length
	}
	place := func(at memory.Millis) int { return int(at * (barWidth - markWidth) / max(length, 1)) }
	s.Pauses, s.Shortened = len(pauses), ticks(collect.Map(pauses, place), 0, 68)

	turns, at, turn := map[int]*stripRow{}, [len(lanes)][]int{}, 0
	marks := [len(lanes)][]stripMark{}
	for _, e := range all {
		switch e.lane {
		case lanePrompts:
			turn = e.turn
		case laneTold:
			e.turn = turn
		}
		if turns[e.turn] == nil {
			turns[e.turn] = &stripRow{Turn: e.turn, Href: sessionHref(records.ID, e.turn)}
		}
		turns[e.turn].Counts[e.lane] += e.n
		s.Lanes[e.lane].Total += e.n
		if e.mark.Href == "" {
			at[e.lane] = append(at[e.lane], place(e.at))
			continue
		}
		e.mark.Tip = text.TruncateRunes(line(e.mark.Tip), 60)
		e.mark.X, e.mark.Y, e.mark.Height = place(e.at), lanes[e.lane].y, lanes[e.lane].height
		marks[e.lane] = append(marks[e.lane], e.mark)
	}
	for i := range s.Lanes {
		s.Lanes[i].Path = ticks(at[i], lanes[i].y, lanes[i].height)
		spread(marks[i])
		s.Marks = append(s.Marks, marks[i]...)
	}
	s.Rows = collect.Map(slices.Sorted(maps.Keys(turns)), func(n int) stripRow { return *turns[n] })
	return s
}

// stripEvents returns what a strip shows, by time.
func stripEvents(records *api.SessionRecords, events []accounts.SessionEvent, given []memory.Injection) (all []stripEvent) {
	for i := range records.Prompts {
		p := &records.Prompts[i]
		all = append(all, stripEvent{at: p.CreatedAtEpoch, lane: lanePrompts, turn: p.PromptNumber, n: 1})
	}
	for _, e := range events {
		if e.Kind != memory.KindTool {
			continue
		}
		all = append(all, stripEvent{at: e.At, lane: laneCalls, turn: e.Turn, n: 1})
		if lane, known := map[memory.Result]int{memory.ResultPassed: lanePassed, memory.ResultFailed: laneFailed}[e.Result]; known {
			all = append(all, stripEvent{at: e.At, lane: lane, turn: e.Turn, n: 1})
		}
	}
	for i := range records.Observations {
		o := records.Observations[i].Whole()
		all = append(all, stripEvent{at: o.CreatedAtEpoch, lane: laneMade, turn: o.PromptNumber, n: 1, mark: stripMark{Class: hue(o.Type),
			Href: fmt.Sprintf("/observation/%d", o.ID), Tip: o.ID.Name() + " " + o.Title}})
	}
	for i := range given {
		in, n := &given[i], len(given[i].Observations)
		if len(in.Layers) > 0 {
			n = collect.Sum(in.Layers, func(l memory.LayerCost) int { return l.Items })
		}
		all = append(all, stripEvent{at: in.At, lane: laneTold, n: n, mark: stripMark{Class: lanes[laneTold].Class,
			Href: "/given?session_id=" + records.ID.Name(), Tip: accounts.PlaceOf(in) + ": " + text.Count(n, "record")}})
	}
	slices.SortStableFunc(all, func(a, b stripEvent) int { return cmp.Compare(a.at, b.at) })
	return all
}

// ticks returns the path of ticks at places in their order; those that touch are one.
func ticks(places []int, y, height int) string {
	var path strings.Builder
	for i := 0; i < len(places); {
		from, end := places[i], places[i]+tickWidth
		for ; i < len(places) && places[i] <= end; i++ {
			end = places[i] + tickWidth
		}
		fmt.Fprintf(&path, "M%d %dh%dv%dh-%[3]dz", from, y, end-from, height)
	}
	return path.String()
}

// spread moves marks, which are in order, to where they do not hide each other, if there is room.
func spread(marks []stripMark) {
	step := min(markWidth, barWidth/max(1, len(marks)))
	for i := 1; i < len(marks); i++ {
		marks[i].X = max(marks[i].X, marks[i-1].X+step)
	}
	for i := range marks {
		marks[i].X = min(marks[i].X, barWidth-step*(len(marks)-i))
	}
}

// Text says the picture in words, for those who do not see it.
func (s strip) Text() string {
	said := collect.Map(s.Lanes, func(l lane) string { return l.Name + " " + whole(float64(l.Total)) })
	return fmt.Sprintf("%s, along the time of the session; %s of more than 10 minutes drawn short. The table below has them by turn.", strings.Join(said, ", "), text.Count(s.Pauses, "pause"))
}
