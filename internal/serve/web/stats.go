package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
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
	// Year has a square for each day of 53 weeks.
	Year squares
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
	v.checkProject(q.Project, shown.Totals.Sessions)
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
		s.Year = drawYear(now, s.Recorded.Year, s.Chosen)
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
// type among them; place must only be asked for a type of there.
func typeSeries(there []accounts.RecordedAs) (all []series, place func(memory.ObservationType) int) {
	at := map[string]int{}
	for _, t := range slices.Concat(types, []memory.ObservationType{"other"}) {
		if slices.ContainsFunc(there, func(r accounts.RecordedAs) bool { return hue(r.Name) == hue(t) }) {
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
	return collect.Map(c.labels, func(string) []float64 { return make([]float64, n) })
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

// A chart is drawn in an SVG that is stretched to its place, so it has no text: labels are HTML
// around it, and a table holds all its numbers.
type chart struct {
	// ID is unique on the page. Title is the heading; About is a sentence that says what the
	// chart shows.
	ID, Title, About string
	Series           []series
	Columns          []column
	// First and Last are the labels of the ends, Peak is the highest value.
	First, Last, Peak string
	// Width and Height are those of the drawing, in its own units.
	Width, Height int
}

// series is a part of each column: its name and the class of its colour.
type series struct{ Name, Class string }

// column is one bar, of a part for each series from below.
type column struct {
	Label string
	Parts []part
	// Cells are the values of the series for the table and Tip, a line with all of them.
	Cells []string
	Tip   string
}

// part is a rectangle of a chart.
type part struct {
	Class               string
	X, Y, Width, Height int
}

const (
	columnWidth = 10
	columnGap   = 2
	chartHeight = 200
	barHeight   = 10
	barWidth    = 1000
)

// drawColumns draws a column for each of labels, with a part for each of all, the series; values has
// those of a column in a row, and format writes one. A chart of zeros has no columns.
func drawColumns(id, title, about string, all []series, labels []string, values [][]float64, format func(float64) string) chart {
	c := chart{ID: id, Title: title, About: about, Series: all, Width: columnWidth * max(1, len(labels)), Height: chartHeight}
	totals := collect.Map(values, sum)
	peak := slices.Max(append(totals, 0))
	if peak == 0 {
		return c
	}
	c.First, c.Last, c.Peak = labels[0], labels[len(labels)-1], format(peak)
	for i, row := range values {
		bar := column{Label: labels[i], Tip: labels[i] + ": " + format(totals[i])}
		top := chartHeight
		for k, value := range row {
			bar.Cells = append(bar.Cells, format(value))
			if value <= 0 {
				continue
			}
			height := min(max(1, int(value/peak*chartHeight+0.5)), top)
			top -= height
			bar.Parts = append(bar.Parts, part{all[k].Class, i*columnWidth + columnGap/2, top, columnWidth - columnGap, height})
			if len(all) > 1 {
				bar.Tip += fmt.Sprintf(", %s %s", all[k].Name, format(value))
			}
		}
		c.Columns = append(c.Columns, bar)
	}
	return c
}

// drawBars draws a bar that lies for each of the series, whose values are these; none if all are 0.
func drawBars(id, title, about string, all []series, values []float64, format func(float64) string) chart {
	c := chart{ID: id, Title: title, About: about, Width: barWidth, Height: barHeight * max(1, len(all))}
	peak := slices.Max(append(values, 0))
	if peak == 0 {
		return c
	}
	for i, value := range values {
		bar := column{Label: all[i].Name, Cells: []string{format(value)}, Tip: all[i].Name + ": " + format(value)}
		if value > 0 {
			bar.Parts = []part{{all[i].Class, 0, i*barHeight + 2, max(2, int(value/peak*barWidth)), barHeight - 4}}
		}
		c.Columns = append(c.Columns, bar)
	}
	return c
}

func sum(values []float64) float64 {
	return collect.Sum(values, func(v float64) float64 { return v })
}

// Text says the chart in words, for those who do not see it.
func (c chart) Text() string {
	parts := []string{c.About}
	if c.First != "" {
		parts = append(parts, fmt.Sprintf("From %s to %s, at most %s.", c.First, c.Last, c.Peak))
	}
	return strings.Join(append(parts, "The table below has all values."), " ")
}
