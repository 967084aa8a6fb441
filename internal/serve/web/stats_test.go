package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// stats returns counts of the last three days, with a type of another mode and more days of
// model calls than were asked for.
func (f *fake) stats(q api.StatsRequest) api.Stats {
	day := func(ago int) string { return noon.AddDate(0, 0, -ago).Format(time.DateOnly) }
	other := memory.ObservationType(f.text)
	recorded := accounts.Recorded{
		Days: []accounts.RecordedOn{{Name: day(2), Observations: 3, Types: map[memory.ObservationType]int{"bugfix": 2, other: 1}}, {Name: day(0), Observations: 12,
			Types: map[memory.ObservationType]int{"decision": 12}}},
		Types: []accounts.RecordedAs{{Name: "decision", Observations: 12}, {Name: "bugfix", Observations: 2}, {Name: other, Observations: 1}},
		Year:  map[string]int{day(366): 1, day(2): 3, day(0): 12, day(400): 9}}
	ledger := accounts.EmptyAccount(noon, q.Days)
	for ago := q.Days; ago >= 0; ago-- {
		s := accounts.Spent{Calls: 1, TokensIn: 3000, TokensCached: 1000, TokensOut: 500, USD: 0.5}
		ledger.Total.Add(s)
		ledger.Days = append(ledger.Days, accounts.SpentOn{Name: day(ago), Spent: s})
	}
	ledger.Saved = accounts.Saved{Blocks: 2, TokensGiven: 3000, TokensOfWork: 90_000, Tokens: 87_000}
	receipts := accounts.EmptyReceiptTotals(ledger.Since)
	return api.Stats{Totals: memory.Totals{Projects: 1, Sessions: 2, Observations: 15}, Recorded: &recorded, Ledger: &ledger, Receipts: &receipts}
}

// TestCharts: each chart has a name, a description, its marks and the table behind them.
func TestCharts(t *testing.T) {
	body := (&fake{text: "x"}).get(t, "/stats?days=7").Body.String()
	charts := strings.Split(body, `<figure class="chart">`)[1:]
	for i, want := range [][]string{
		{"<h2>Observations</h2>", `<desc id="activity-about">The observations made by day, by type. From Thu 26 Feb to Wed 4 Mar, at most 12.`, `viewBox="0 0 70 200"`,
			`<title>Mon 2 Mar: 3, bugfix 2, other 1</title><path class="type-bugfix" d="M41 167h8v33h-8z"/><path class="type-other" d="M41 150h8v17h-8z"/>`,
			`<title>Wed 4 Mar: 12, decision 12</title><path class="type-decision" d="M61 0h8v200h-8z"/>`,
			`<th scope="row">Mon 2 Mar</th><td>2</td><td>0</td><td>1</td>`, `<th scope="row">Tue 3 Mar</th><td>0</td><td>0</td><td>0</td>`},
		{"<h2>Types</h2>", `<path class="type-decision" d="M0 12h1000v6h-1000z"/>`, `<th scope="row">decision</th><td>12</td>`},
		{"<h2>Tokens spent by the observer</h2>", "at most 4,500.", `<th scope="row">Wed 4 Mar</th><td>3,000</td><td>1,000</td><td>500</td>`},
		{"<h2>Tokens saved</h2>", `<th scope="row">saved</th><td>87,000</td>`, `<th scope="row">spent by the observer</th><td>36,000</td>`},
		{"<h2>Cost</h2>", `<th scope="row">Wed 4 Mar</th><td>$0.5000</td>`},
	} {
		for _, part := range append(want, `<svg role="img"`, "<details><summary>Table</summary>") {
			if !strings.Contains(charts[i], part) {
				t.Errorf("chart %d has no %s: %s", i, part, charts[i])
			}
		}
	}
	if n := strings.Count(charts[2], "<g>"); n != 7 {
		t.Errorf("%d columns of tokens, want one for each day of the period", n)
	}
}

// TestYear: each day of 53 weeks is one square of its week, with the figure that the table has, and
// both lead to that day; what is older and what is to come is not there.
func TestYear(t *testing.T) {
	s := drawYear(noon, (&fake{text: "x"}).stats(api.StatsRequest{}).Recorded.Year, `a "b`)
	days := 0
	for i, week := range s.Rows {
		if first, err := time.Parse("2 Jan 2006", week.Label); err != nil || first.Weekday() != time.Monday || i < 52 && len(week.Squares) != 7 {
			t.Errorf("week %s has %d days", week.Label, len(week.Squares))
		}
		days += len(week.Squares)
	}
	if days != 52*7+3 || len(s.Rows) != 53 || s.Peak != 12 {
		t.Errorf("%d days of %d weeks, at most %d", days, len(s.Rows), s.Peak)
	}
	href := "/?q=since:2026-03-02%20until:2026-03-02%20project:%22a%20b%22"
	if got, want := s.Rows[52].Squares[0], (square{Count: 3, Level: 3, Href: href, Tip: "2 Mar 2026: 3", Path: "M625 1h10v10h-10z"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	body := (&fake{text: "x"}).get(t, "/stats?project=tally").Body.String()
	_, body, _ = strings.Cut(body, `<figure class="chart year">`)
	picture, table, _ := strings.Cut(body, "</svg>")
	table, _, _ = strings.Cut(table, "</figure>")
	link := `<a href="/?q=since:2026-03-04%20until:2026-03-04%20project:tally"`
	for _, want := range []string{link + ` tabindex="-1"><path class="level-5" d="M625 25h10v10h-10z"><title>4 Mar 2026: 12</title>`,
		`<desc id="year-about">The observations of each day of the last 53 weeks. At most 12.`, `<title>4 Mar 2025`, `<span>Mar</span>`} {
		if strings.Contains(picture, want) == strings.Contains(want, "2025") { // 365 days ago there were none
			t.Errorf("the picture has, or has no, %s", want)
		}
	}
	week := `<th scope="row"><a href="/?q=since:2026-03-02%20until:2026-03-08%20project:tally">2 Mar 2026</a></th><td>3</td>`
	if squares, weeks := strings.Count(picture, "<a "), strings.Count(table, "<a "); squares != 3 || weeks == 0 || weeks > squares || !strings.Contains(table, week) {
		t.Errorf("%d squares lead to a day, %d rows of the table to a week: %s", squares, weeks, table)
	}
}

// TestLongPeriods: a column is a day, a week or 30 days, and each day is in one.
func TestLongPeriods(t *testing.T) {
	for _, tt := range []struct {
		days, columns int
		step          string
	}{{7, 7, "day"}, {92, 92, "day"}, {93, 14, "week"}, {365, 53, "week"}, {api.MaxDays, 122, "30 days"}} {
		c := columnsUntil(noon, tt.days)
		if len(c.labels) != tt.columns || len(c.of) != tt.days || c.step != tt.step {
			t.Errorf("%d days: %d columns of a %s, of %d days; want %d of a %s", tt.days, len(c.labels), c.step, len(c.of), tt.columns, tt.step)
		}
		if last := c.of[noon.Format(time.DateOnly)]; last != tt.columns-1 {
			t.Errorf("%d days: today is in column %d", tt.days, last)
		}
	}
	f := &fake{text: "x"}
	if f.get(t, "/stats"); !strings.Contains(fmt.Sprint(f.asked), "/api/stats?days=30") {
		t.Errorf("asked for %q", f.asked)
	}
}
