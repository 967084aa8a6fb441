package print

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Receipt prints a session's receipt, in the order of events.
func (p *Printer) Receipt(r *accounts.SessionReceipt) {
	p.sessionHead(r.ID, r.Title, Line(r.Project, 60), Line(string(r.Host), 30), string(r.Status), p.Ago(r.UpdatedAt), Line(r.HostSessionID, 80))
	p.captured(&r.Captured)
	p.Reasons("Skipped", r.Skipped, SkipMeaning)
	p.Reasons("Failed", r.Failed, func(text string) string { return Line(text, 100) })
	p.Redacted("Redacted in what is stored", r.Redacted)
	p.stored(&r.Stored)
	p.given(r.Given)
	p.lookedUpSection(r)
	p.receiptCost(&r.Cost)
}

// captured prints the part of a receipt about captured events.
func (p *Printer) captured(c *accounts.CapturedEvents) {
	p.Heading("Captured")
	if c.Events == 0 {
		p.Printf("  nothing\n")
		return
	}
	p.Printf("  %s = %d processed + %d skipped + %d failed + %d pending + %d in work", text.Count(c.Events, "event"),
		c.Processed, c.Skipped, c.Failed, c.Pending, c.Processing)
	p.Printf("%s\n  %s\n", forgotten(c.Forgotten), KindsText(c.Kinds))
}

// forgotten returns the term of a sum of events for n forgotten ones, "" for none.
func forgotten(n int) string { return If(n > 0, fmt.Sprintf(" + %d forgotten", n)) }

// KindsText returns "2 prompts, 16 tool calls (Bash 9, Edit 7), 2 stops".
func KindsText(kinds []accounts.EventsOf) string {
	var texts []string
	for i := 0; i < len(kinds); {
		kind, n := kinds[i].Kind, 0
		var tools []string
		for ; i < len(kinds) && kinds[i].Kind == kind; i++ {
			n += kinds[i].Events
			if kinds[i].Tool != "" {
				tools = append(tools, fmt.Sprintf("%s %d", Line(kinds[i].Tool, 60), kinds[i].Events))
			}
		}
		shown := text.Count(n, Or(kind == memory.KindTool, "tool call", strings.ReplaceAll(Line(string(kind), 30), "_", " ")))
		texts = append(texts, shown+If(len(tools) > 0, " ("+strings.Join(tools, ", ")+")"))
	}
	return strings.Join(texts, ", ")
}

// Reasons prints a table of events by reason; meaning turns a reason into words.
func (p *Printer) Reasons(title string, reasons []accounts.EventsFor, meaning func(string) string) {
	p.Table(title, collect.MapPtr(reasons, func(r *accounts.EventsFor) []string {
		return []string{fmt.Sprint(r.Events), meaning(r.Reason), KindsText(r.Kinds)}
	}))
}

// skipMeanings explain the reasons of intake.
var skipMeanings = map[string]string{
	memory.SkipTool: "tool on the skip list", memory.SkipOwn: "claude-mem's own", memory.SkipPrivate: "private turn",
	memory.SkipExcluded: "excluded project", memory.SkipNotTyped: "prompt not typed by a person", memory.SkipInternal: "run started by claude-mem",
}

// SkipMeaning returns the reason of intake in words, or as it is.
func SkipMeaning(reason string) string { return cmp.Or(skipMeanings[reason], Line(reason, 60)) }

// Redacted prints a table of how often each rule redacted something.
func (p *Printer) Redacted(title string, rules []accounts.RedactedRule) {
	p.Table(title, collect.MapPtr(rules, func(r *accounts.RedactedRule) []string { return []string{fmt.Sprint(r.Count), Line(r.Rule, 60)} }))
}

// stored prints the part of a receipt about stored records.
func (p *Printer) stored(s *accounts.StoredRecords) {
	p.Heading("Stored")
	p.Printf("  %s\n", text.Count(s.Prompts, "prompt"))
	ids := collect.MapPtr(s.Observations, func(o *accounts.StoredObservation) memory.ObservationID { return o.ID })
	turns := collect.MapPtr(s.Summaries, func(y *accounts.StoredSummary) int { return y.PromptNumber })
	p.Printf("  %s%s\n", text.Count(len(ids), "observation"), If(len(ids) > 0, ": "+runs(ids, "#")))
	p.Printf("  %s%s\n", text.Count(len(turns), "summary"), If(len(turns) > 0, " of turns "+runs(turns, "")))
	if s.Hidden > 0 {
		p.Printf("  %s hidden\n", text.Count(s.Hidden, "observation"))
	}
}

// runs returns numbers in order, each once, with three or more consecutive ones joined:
// "#3-#5, #9". It returns "" for none.
func runs[N ~int | ~int64](numbers []N, sign string) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		parts = append(parts, fmt.Sprintf("%s%d", sign, numbers[i]))
		switch j - i {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("%s%d", sign, numbers[j]))
		default:
			parts[len(parts)-1] += fmt.Sprintf("-%s%d", sign, numbers[j])
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// given prints the part of a receipt about what the session was shown.
func (p *Printer) given(given []memory.Injection) {
	if len(given) == 0 {
		p.Table("Shown", [][]string{{"nothing"}})
		return
	}
	p.Table("Shown", collect.MapPtr(given, func(in *memory.Injection) []string {
		where := Line(accounts.PlaceOf(in), 30)
		where += If(where == accounts.GivenInBlock, " at "+Line(cmp.Or(in.Source, "startup"), 20))
		layers := collect.MapPtr(in.Layers, func(l *memory.LayerCost) string { return fmt.Sprintf("%s %d", Line(l.Name, 40), l.Tokens) })
		shown := Join(", ", runs(in.Observations, "#"), runs(in.Sessions, "S"))
		return []string{p.Ago(in.At), where, text.Count(in.Tokens, "token"), shown, strings.Join(layers, ", ")}
	}))
}

// lookedUpSection prints the section "Opened later": which records that were shown to the
// session, or made of it, were opened later; without any, that none of them was.
func (p *Printer) lookedUpSection(r *accounts.SessionReceipt) {
	p.Heading("Opened later")
	known := collect.Set(collect.Flat(r.Given, func(in memory.Injection) []memory.ObservationID { return in.Observations }))
	if len(r.LookedUp) == 0 {
		p.Printf("  0 of %d records opened\n", len(known)+len(r.Stored.Observations))
		return
	}
	given, made := 0, 0
	p.Columns(collect.MapPtr(r.LookedUp, func(l *accounts.LookedUp) []string {
		if l.Given {
			given++
		}
		if l.Made {
			made++
		}
		return []string{fmt.Sprintf("#%d", l.Observation), Line(cmp.Or(l.Title, "(gone)"), 60),
			Join(" and ", If(l.Given, "shown"), If(l.Made, "made")),
			text.Count(l.Times, "time") + If(l.ByItself > 0, fmt.Sprintf(", %d by this session", l.ByItself))}
	}))
	p.Printf("  %d of %d shown, %d of %d made\n", given, len(known), made, len(r.Stored.Observations))
}

// receiptCost prints the part of a receipt about tokens and model calls.
func (p *Printer) receiptCost(c *accounts.SessionCost) {
	p.Heading("Cost")
	p.Columns(collect.MapPtr(c.Models, func(s *accounts.SpentOn) []string {
		return append([]string{Line(modelName(*s), 60)}, spentCells(s.Spent)...)
	}))
	if len(c.Models) == 0 {
		p.Printf("  no model calls\n")
	}
	p.Printf("  %s shown to the session\n", text.Count(c.TokensGiven, "token"))
	if c.DiscoveryTokens > 0 {
		p.Printf("  %s tokens spent on the work behind its observations\n", short(c.DiscoveryTokens))
	}
}

// GivenInAll prints the records shown to sessions, and how many were opened later.
func (p *Printer) GivenInAll(r *accounts.ReceiptTotals, days int) {
	rows := collect.MapPtr(r.Given, func(g *accounts.GivenIn) []string {
		return []string{Line(g.Where, 30), text.Count(g.Times, "time"), short(g.Tokens) + " tokens", text.Count(g.Observations, "observation")}
	})
	if r.ObservationsGiven > 0 {
		rows = append(rows, []string{fmt.Sprintf("%d of %s opened later (%d %%)", r.ObservationsLookedUp,
			text.Count(r.ObservationsGiven, "record"), (200*r.ObservationsLookedUp+r.ObservationsGiven)/(2*r.ObservationsGiven))})
	}
	p.Table(fmt.Sprintf("Shown to sessions, last %s", text.Count(days, "day")), rows)
}

// Account prints the cost of model calls, and the tokens saved.
func (p *Printer) Account(a *accounts.Account) {
	p.Heading(fmt.Sprintf("Model calls, last %s", text.Count(a.PeriodDays, "day")))
	if a.Total.Calls == 0 {
		p.Printf("  none\n")
	} else {
		table := [][]string{append([]string{"today", ""}, spentCells(a.Today)...)}
		group := func(title string, rows []accounts.SpentOn, name func(accounts.SpentOn) string) {
			for i := range rows {
				table = append(table, append([]string{title, Line(name(rows[i]), 60)}, spentCells(rows[i].Spent)...))
				title = ""
			}
		}
		group("day", a.Days, func(s accounts.SpentOn) string { return s.Name })
		group("model", a.Models, modelName)
		group("project", a.Projects, func(s accounts.SpentOn) string {
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
func modelName(s accounts.SpentOn) string { return Join(" ", s.Provider, s.Name) }

// spentCells returns the cells of a row about model calls: tokens and, where the price
// is known, the cost.
func spentCells(s accounts.Spent) []string {
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
func (p *Printer) Notices(notices []accounts.Notice) {
	for _, n := range notices {
		p.Printf("%s  %s (%s)\n", p.Style(Red, "notice"), Line(n.Text, 0), p.Ago(n.At))
	}
}

// Queue prints notices, counts, waiting sessions and failed events.
func (p *Printer) Queue(q *api.Queue) {
	p.Notices(q.Notices)
	p.Books(q.Queue)
	for _, b := range q.Waiting {
		p.Printf("%s  S%d %s: %s", p.When(b.NewestAt), b.Session, Line(b.Project, 60), text.Count(b.Events, "event"))
		if b.NextDue > memory.MillisOf(p.Now) {
			p.Printf(", tried again in %ds", int(b.NextDue.Sub(memory.MillisOf(p.Now)).Seconds())+1)
		}
		p.Printf("\n")
	}
	for _, u := range q.Unread {
		p.Printf("%s  %s remembered without a model: %s", p.When(u.At), text.Count(u.Events, "event"), Line(u.Meaning(), 60))
		if u.Kept > 0 {
			p.Printf("; %d of them kept for a model", u.Kept)
		}
		p.Printf("\n")
	}
	for _, d := range q.DeadLetters {
		what := string(d.Kind)
		what += If(d.ToolName != "", " "+Line(d.ToolName, 40))
		p.Printf("%s  %s S%d %s after %s: %s\n    %s\n", p.When(d.OccurredAt),
			p.Style(Red, "failed"), d.Session, what, text.Count(d.Attempts, "attempt"), Line(d.LastError, 200), p.Style(Dim, Line(d.Key, 0)))
	}
}

// Books prints the counts of events, and says so if they do not balance.
func (p *Printer) Books(b memory.Books) {
	p.Printf("  %d received = %d processed + %d skipped + %d failed + %d pending + %d in work%s%s\n",
		b.Received, b.Processed, b.Skipped, b.Failed, b.Pending, b.Processing, forgotten(b.Forgotten),
		If(b.Duplicates > 0, fmt.Sprintf("; %s refused", text.Count(b.Duplicates, "duplicate"))))
	if b.Lost > 0 {
		p.Printf("  %s\n", p.Style(Red, text.Count(b.Lost, "event")+" lost: neither the worker nor a hook could keep them"))
	}
	if !b.Balanced() {
		p.Printf("  %s\n", p.Style(Red, "the books do not balance: please report this"))
	}
	if b.Failed > 0 {
		p.Printf("  %s: `claude-mem queue` lists them\n", p.Style(Red, text.Count(b.Failed, "dead letter")))
	}
}
