package print

import (
	"cmp"
	"fmt"
	"strconv"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Account prints the cost of model calls, and the tokens saved.
func (p *Printer) Account(a *store.Account) {
	p.Heading(fmt.Sprintf("Model calls, last %s", text.Count(a.PeriodDays, "day")))
	if a.Total.Calls == 0 {
		p.Printf("  none\n")
	} else {
		table := [][]string{append([]string{"today", ""}, spentCells(a.Today)...)}
		group := func(title string, rows []store.SpentOn, name func(store.SpentOn) string) {
			for i := range rows {
				table = append(table, append([]string{title, Line(name(rows[i]), 60)}, spentCells(rows[i].Spent)...))
				title = ""
			}
		}
		group("day", a.Days, func(s store.SpentOn) string { return s.Name })
		group("model", a.Models, modelName)
		group("project", a.Projects, func(s store.SpentOn) string {
			return cmp.Or(memory.ProjectLabel(s.Name), "(none)")
		})
		if len(a.Days) > 1 {
			table = append(table, append([]string{"total", ""}, spentCells(a.Total)...))
		}
		p.Columns(table)
	}
	if s := a.Saved; s.Blocks+s.Recollections > 0 {
		p.Heading("Saved")
		p.Printf("  %s%s shown: %s tokens%s\n", text.Count(s.Blocks, "context block"),
			If(s.Recollections > 0, " and "+text.Count(s.Recollections, "recollection")), short(s.TokensGiven+s.TokensRecalled),
			If(s.TokensOfWork > 0, fmt.Sprintf("; the work behind them took %s: about %s saved", short(s.TokensOfWork), short(s.Tokens))))
	}
}

// modelName returns the provider and the model, which may be unknown.
func modelName(s store.SpentOn) string { return Join(" ", s.Provider, s.Name) }

// spentCells returns the cells of a row about model calls: tokens and, where the price
// is known, the cost.
func spentCells(s store.Spent) []string {
	cost := If(s.USD > 0, dollars(s.USD)+If(s.Unpriced > 0, fmt.Sprintf(" + %s of unknown price", text.Count(s.Unpriced, "call"))))
	return []string{text.Count(s.Calls, "call"), short(s.TokensIn) + " in", short(s.TokensOut) + " out", short(s.TokensCached) + " cached",
		Join(", ", cost, If(s.Reserved > 0, short(s.Reserved)+" reserved"), If(s.Failed > 0, fmt.Sprintf("%d failed", s.Failed)))}
}

// dollars formats a price: four decimals below a cent, else two.
func dollars(usd float64) string {
	if usd < 0.01 {
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// short formats a number for people: 950, 1.2k, 3.4M.
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

// Notices prints the current notices.
func (p *Printer) Notices(notices []store.Notice) {
	for _, n := range notices {
		p.Printf("%s  %s (%s)\n", p.Style(Red, "notice"), Line(n.Text, 0), p.Ago(n.At))
	}
}
