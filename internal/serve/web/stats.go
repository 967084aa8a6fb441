package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// periods are the numbers of days that the page offers; the first is the default.
var periods = []int{30, 7, 90, 365}

// mostColumns bounds the columns of a chart; with more days a column is a week, or 30 days.
const mostColumns = 92

// statsView is what the statistics show.
type statsView struct {
	menu
	api.Stats
	Periods []choice
	Days    int
	// Activity and Types draw the observations, Tokens and Cost the model calls, Saved what
	// memory saved.
	Activity, Types, Tokens, Cost, Saved chart
	// Step says what a column is: day, week or 30 days.
	Step string
}

// stats shows the counts of the memory and charts of the last days.
func (v *visit) stats() view {
	more := url.Values{}
	if v.URL.Query().Get("days") == "" {
		more.Set("days", strconv.Itoa(periods[0]))
	}
	q := request[api.StatsRequest](v, more)
	q.Brief = false
	sent := api.Values(q)
	shown := statsView{Days: q.Days, Stats: ask(v, api.Memory.Stats, q), menu: v.projectMenu("/stats", sent, q.Project)}
	for _, days := range slices.Sorted(slices.Values(periods)) {
		c := choose("/stats", sent, "days", strconv.Itoa(days))
		c.Label = text.Count(days, "day")
		shown.Periods = append(shown.Periods, c)
	}
	shown.draw(v.now)
	return view{Title: "Stats", JSON: inAPI(api.Memory.Stats, q), Data: shown}
}

// draw makes the charts of the days up to now.
func (s *statsView) draw(now time.Time) {
	days := columnsUntil(now, s.Days)
	s.Step = days.step
	if s.Recorded != nil {
		s.drawRecorded(&days)
	}
	if s.Ledger == nil {
		return
	}
	spent, cost := days.values(3), days.values(1)
	for _, d := range s.Ledger.Days {
		if i, ok := days.of[d.Name]; ok {
			spent[i][0] += float64(d.TokensIn)
			spent[i][1] += float64(d.TokensCached)
			spent[i][2] += float64(d.TokensOut)
			cost[i][0] += d.USD
		}
	}
	s.Tokens = drawColumns("tokens", "Tokens spent by the observer", "The tokens of model calls by "+s.Step+".",
		[]series{{"read", "series-read"}, {"read from a cache", "series-cached"}, {"written", "series-written"}}, days.labels, spent, whole)
	s.Cost = drawColumns("cost", "Cost", "The estimated price of model calls by "+s.Step+", by a table of list prices.",
		[]series{{"cost", "series-cost"}}, days.labels, cost, dollars)
	saved, total := s.Ledger.Saved, s.Ledger.Total
	s.Saved = drawBars("saved", "Tokens saved", "What the work behind the records that sessions were shown had taken, against what it took to show them.",
		[]series{{"work behind what was shown", "series-cached"}, {"shown to sessions", "series-written"}, {"saved", "type-feature"}, {"spent by the observer", "series-read"}},
		[]float64{float64(saved.TokensOfWork), float64(saved.TokensGiven + saved.TokensRecalled), float64(saved.Tokens), float64(total.TokensIn + total.TokensOut + total.TokensCached + total.Reserved)}, whole)
}

// drawRecorded makes the charts of observations.
func (s *statsView) drawRecorded(days *timeColumns) {
	all, place := typeSeries(s.Recorded.Types)
	made := days.values(len(all))
	for _, d := range s.Recorded.Days {
		if i, ok := days.of[d.Name]; ok {
			for t, n := range d.Types {
				made[i][place(t)] += float64(n)
			}
		}
	}
	s.Activity = drawColumns("activity", "Observations", "The observations made by "+s.Step+", by type.", all, days.labels, made, whole)
	totals := make([]float64, len(all))
	for _, t := range s.Recorded.Types {
		totals[place(t.Name)] += float64(t.Observations)
	}
	s.Types = drawBars("types", "Types", "The observations of each type.", all, totals, whole)
}

// typeSeries returns the types that there are, those of other modes as one, and the place of a
// type among them.
func typeSeries(there []books.RecordedAs) (all []series, place func(memory.ObservationType) int) {
	at := map[string]int{}
	for _, t := range slices.Concat(types, []memory.ObservationType{"other"}) {
		if slices.ContainsFunc(there, func(r books.RecordedAs) bool { return hue(r.Name) == hue(t) }) {
			at[hue(t)] = len(all)
			all = append(all, series{string(t), hue(t)})
		}
	}
	return all, func(t memory.ObservationType) int { return at[hue(t)] }
}

// timeColumns are the columns of a chart over days.
type timeColumns struct {
	labels []string
	// of has the column of a day, 2006-01-02.
	of   map[string]int
	step string
}

// values returns zeros for n series in each column.
func (c *timeColumns) values(n int) [][]float64 {
	all := make([][]float64, len(c.labels))
	for i := range all {
		all[i] = make([]float64, n)
	}
	return all
}

// columnsUntil returns the columns of so many days, of which that of now is the last.
func columnsUntil(now time.Time, days int) timeColumns {
	c := timeColumns{of: map[string]int{}, step: "day"}
	size := 1
	switch {
	case days > 7*mostColumns:
		size, c.step = 30, "30 days"
	case days > mostColumns:
		size, c.step = 7, "week"
	}
	for n := days - 1; n >= 0; n-- {
		day := now.AddDate(0, 0, -n)
		if (days-1-n)%size == 0 {
			format := "Mon 2 Jan"
			if size > 1 || day.Year() != now.Year() {
				format = "2 Jan 2006"
			}
			c.labels = append(c.labels, day.Format(format))
		}
		c.of[day.Format(time.DateOnly)] = len(c.labels) - 1
	}
	return c
}

// whole writes a number with its thousands apart.
func whole(v float64) string { return text.Grouped(int(v)) }

// dollars writes an amount; small ones with their cents' parts.
func dollars(v float64) string {
	if v < 1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}
