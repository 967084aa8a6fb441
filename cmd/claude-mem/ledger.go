package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"claudemem/store"
)

// account shows what model calls cost and what memory saved.
func (p *printer) account(a *store.Account) {
	p.printf("%s\n", p.style(styleBold, fmt.Sprintf("Model calls, last %s", count(a.PeriodDays, "day"))))
	if a.Total.Calls == 0 {
		p.printf("  none\n")
	} else {
		table := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
		group := func(title string, rows []store.SpentOn, name func(store.SpentOn) string) {
			for i := range rows {
				_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", title, oneLine(name(rows[i]), 60), spentText(rows[i].Spent))
				title = ""
			}
		}
		_, _ = fmt.Fprintf(table, "  today\t\t%s\n", spentText(a.Today))
		group("day", a.Days, func(s store.SpentOn) string { return s.Name })
		group("model", a.Models, func(s store.SpentOn) string {
			if s.Name == "" {
				return s.Provider
			}
			return s.Provider + " " + s.Name
		})
		group("project", a.Projects, func(s store.SpentOn) string {
			if s.Name == "" {
				return "(none)"
			}
			return labelOf(s.Name)
		})
		if len(a.Days) > 1 {
			_, _ = fmt.Fprintf(table, "  total\t\t%s\n", spentText(a.Total))
		}
		_ = table.Flush() // as with every line of p
	}
	if s := a.Saved; s.Blocks+s.Recollections > 0 {
		given := count(s.Blocks, "context block")
		if s.Recollections > 0 {
			given += " and " + count(s.Recollections, "recollection")
		}
		p.printf("%s\n  %s gave %s tokens of what had taken %s to find out: about %s saved\n", p.style(styleBold, "Saved"),
			given, short(s.TokensGiven+s.TokensRecalled), short(s.TokensOfWork), short(s.Tokens))
	}
}

// spentText is a row of the account. What has no known price has tokens only.
func spentText(s store.Spent) string {
	text := fmt.Sprintf("%s\t%s in\t%s out\t%s cached", count(s.Calls, "call"), short(s.TokensIn), short(s.TokensOut), short(s.TokensCached))
	var about []string
	if s.USD > 0 {
		cost := dollars(s.USD)
		if s.Unpriced > 0 {
			cost += fmt.Sprintf(" + %s of unknown price", count(s.Unpriced, "call"))
		}
		about = append(about, cost)
	}
	if s.Reserved > 0 {
		about = append(about, short(s.Reserved)+" reserved")
	}
	if s.Failed > 0 {
		about = append(about, fmt.Sprintf("%d failed", s.Failed))
	}
	if len(about) == 0 {
		return text
	}
	return text + "\t" + strings.Join(about, ", ")
}

// dollars writes a price with as many digits as say something.
func dollars(usd float64) string {
	if usd < 0.01 {
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// short writes a number as people read it: 950, 1.2k, 3.4M.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 100_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
}

// notices shows what the user is told while it holds.
func (p *printer) notices(notices []store.Notice) {
	for _, n := range notices {
		p.printf("%s  %s (%s)\n", p.style(styleRed, "notice"), oneLine(n.Text, 0), p.ago(n.At))
	}
}
