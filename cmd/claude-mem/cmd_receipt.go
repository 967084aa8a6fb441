package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// sessionsShowCommand returns the command `claude-mem sessions show`: show the receipt
// of a session: captured, stored, shown, cost.
func (a *app) sessionsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the receipt of a session: captured, stored, shown, cost",
		Long: `Show the receipt of a session: the captured events and their outcome, the skipped
events and the reasons, the stored records, the records shown to the session, the records
opened later, and the cost. The ID is 12 or S12, the host's id of the session or the
beginning of it, its ULID, or last: the last session of the project that you are in.
` + "`claude-mem show S12`" + ` shows its prompts, summaries and observations.

Opened later are the observations shown to the session or made from it that were read in
full afterwards, by any session.

JSON: as GET /api/sessions/{id}/receipt, {"id", "ulid", "host", "host_session_id", "project",
"project_path", "status", "title", "first_prompt", "started_at_epoch", "updated_at_epoch", "completed_at_epoch"?,
"captured": {"events", "processed", "skipped", "failed", "pending", "processing", "forgotten",
"kinds": [{"kind", "tool"?, "events"}]}, "skipped": [{"reason", "events", "kinds"}], "failed": as
skipped, "redacted": [{"rule", "count"}], "stored": {"prompts", "observations": [{"id", "type",
"title", "prompt_number"}], "summaries": [{"id", "prompt_number"}], "hidden"}, "given": [{"where",
"source", "observations"?, "sessions"?, "layers"?: [{"name", "tokens", "items"?}], "skipped"?: as in
` + "`claude-mem context --preview`" + `, "tokens", "budget", "build_ms", "at"}],
"looked_up": [{"observation", "title", "given", "made", "times", "by_itself", "last_at_epoch"}],
"cost": {"total": SPENT, "providers": [{"name", SPENT}], "models": [{"name", "provider", SPENT}],
"tokens_given", "discovery_tokens"}}; SPENT as in ` + "`claude-mem stats`" + `.`,
		Example: "  claude-mem sessions show S3\n  claude-mem sessions show last --json\n  claude-mem sessions show 0b7c1f6e",
	}
	asJSON := jsonFlag(cmd)
	project := a.projectFlag(cmd, ".", "the project of last: a directory or name")
	cmd.ValidArgsFunction = firstOnly(completion(a.namedSessionChoices()))
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		where, err := a.projectNamed(*project)
		if err != nil {
			return err
		}
		r, err := m.Receipt(cmd.Context(), api.ReceiptRequest{Name: given[0], Project: where})
		if err != nil {
			return err
		}
		return a.show(*asJSON, r, func(p *printer) { p.receipt(&r) })
	})
	return cmd
}

// receipt prints a session's receipt, in the order of events.
func (p *printer) receipt(r *store.SessionReceipt) {
	p.printf("%s  %s\n", p.style(styleBold, fmt.Sprintf("S%d", r.ID)), p.style(styleBold, oneLine(cmp.Or(r.Title, r.FirstPrompt, "(no prompt)"), 100)))
	p.printf("%s\n", p.style(styleDim, strings.Join([]string{
		oneLine(r.Project, 60), oneLine(string(r.Host), 30), string(r.Status), p.ago(r.UpdatedAt), oneLine(r.HostSessionID, 80),
	}, " · ")))
	p.captured(&r.Captured)
	p.reasons("Skipped", r.Skipped, skipMeaning)
	p.reasons("Failed", r.Failed, func(text string) string { return oneLine(text, 100) })
	p.redacted("Redacted in what is stored", r.Redacted)
	p.stored(&r.Stored)
	p.given(r.Given)
	p.lookedUpSection(r)
	p.receiptCost(&r.Cost)
}

// captured prints the part of a receipt about captured events.
func (p *printer) captured(c *store.CapturedEvents) {
	p.heading("Captured")
	if c.Events == 0 {
		p.printf("  nothing\n")
		return
	}
	p.printf("  %s = %d processed + %d skipped + %d failed + %d pending + %d in work", text.Count(c.Events, "event"),
		c.Processed, c.Skipped, c.Failed, c.Pending, c.Processing)
	p.printf("%s\n  %s\n", forgotten(c.Forgotten), kindsText(c.Kinds))
}

// forgotten returns the term of a sum of events for n forgotten ones, "" for none.
func forgotten(n int) string { return textIf(n > 0, fmt.Sprintf(" + %d forgotten", n)) }

// kindsText returns "2 prompts, 16 tools (Bash 9, Edit 7), 2 stops".
func kindsText(kinds []store.EventsOf) string {
	var texts []string
	for i := 0; i < len(kinds); {
		kind, n := kinds[i].Kind, 0
		var tools []string
		for ; i < len(kinds) && kinds[i].Kind == kind; i++ {
			n += kinds[i].Events
			if kinds[i].Tool != "" {
				tools = append(tools, fmt.Sprintf("%s %d", oneLine(kinds[i].Tool, 60), kinds[i].Events))
			}
		}
		shown := text.Count(n, strings.ReplaceAll(oneLine(string(kind), 30), "_", " "))
		if kind == memory.KindTool {
			shown = text.Count(n, "tool call")
		}
		texts = append(texts, shown+textIf(len(tools) > 0, " ("+strings.Join(tools, ", ")+")"))
	}
	return strings.Join(texts, ", ")
}

// reasons prints a table of events by reason; meaning turns a reason into words.
func (p *printer) reasons(title string, reasons []store.EventsFor, meaning func(string) string) {
	p.table(title, mapped(reasons, func(r *store.EventsFor) []string {
		return []string{fmt.Sprint(r.Events), meaning(r.Reason), kindsText(r.Kinds)}
	}))
}

// skipMeanings explain the reasons of intake.
var skipMeanings = map[string]string{
	memory.SkipTool: "tool on the skip list", memory.SkipOwn: "claude-mem's own", memory.SkipPrivate: "private turn",
	memory.SkipExcluded: "excluded project", memory.SkipNotTyped: "prompt not typed by a person", memory.SkipInternal: "run started by claude-mem",
}

// skipMeaning returns the reason of intake in words, or as it is.
func skipMeaning(reason string) string { return cmp.Or(skipMeanings[reason], oneLine(reason, 60)) }

// redacted prints a table of how often each rule redacted something.
func (p *printer) redacted(title string, rules []store.RedactedRule) {
	p.table(title, mapped(rules, func(r *store.RedactedRule) []string { return []string{fmt.Sprint(r.Count), oneLine(r.Rule, 60)} }))
}

// stored prints the part of a receipt about stored records.
func (p *printer) stored(s *store.StoredRecords) {
	p.heading("Stored")
	p.printf("  %s\n", text.Count(s.Prompts, "prompt"))
	ids := mapped(s.Observations, func(o *store.StoredObservation) memory.ObservationID { return o.ID })
	turns := mapped(s.Summaries, func(y *store.StoredSummary) int { return y.PromptNumber })
	p.printf("  %s%s\n", text.Count(len(ids), "observation"), textIf(len(ids) > 0, ": "+runs(ids, "#")))
	p.printf("  %s%s\n", text.Count(len(turns), "summary"), textIf(len(turns) > 0, " of turns "+runs(turns, "")))
	if s.Hidden > 0 {
		p.printf("  %s hidden\n", text.Count(s.Hidden, "observation"))
	}
}

// runs returns numbers with consecutive ones joined: #3-#5, #9.
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
func (p *printer) given(given []memory.Injection) {
	if len(given) == 0 {
		p.table("Shown", [][]string{{"nothing"}})
		return
	}
	p.table("Shown", mapped(given, func(in *memory.Injection) []string {
		where := oneLine(store.PlaceOf(in), 30)
		if where == store.GivenInBlock {
			where += " at " + oneLine(cmp.Or(in.Source, "startup"), 20)
		}
		layers := mapped(in.Layers, func(l *memory.LayerCost) string { return fmt.Sprintf("%s %d", oneLine(l.Name, 40), l.Tokens) })
		shown := joined(", ", runs(in.Observations, "#"), runs(in.Sessions, "S"))
		return []string{p.ago(in.At), where, text.Count(in.Tokens, "token"), shown, strings.Join(layers, ", ")}
	}))
}

// lookedUpSection prints the section "Opened later": which records that were shown to the
// session, or made of it, were opened later; without any, that none of them was.
func (p *printer) lookedUpSection(r *store.SessionReceipt) {
	p.heading("Opened later")
	known := map[memory.ObservationID]bool{}
	for _, in := range r.Given {
		for _, id := range in.Observations {
			known[id] = true
		}
	}
	if len(r.LookedUp) == 0 {
		p.printf("  0 of %d records opened\n", len(known)+len(r.Stored.Observations))
		return
	}
	given, made := 0, 0
	p.columns(mapped(r.LookedUp, func(l *store.LookedUp) []string {
		if l.Given {
			given++
		}
		if l.Made {
			made++
		}
		return []string{fmt.Sprintf("#%d", l.Observation), oneLine(cmp.Or(l.Title, "(gone)"), 60),
			joined(" and ", textIf(l.Given, "shown"), textIf(l.Made, "made")),
			text.Count(l.Times, "time") + textIf(l.ByItself > 0, fmt.Sprintf(", %d by this session", l.ByItself))}
	}))
	p.printf("  %d of %d shown, %d of %d made\n", given, len(known), made, len(r.Stored.Observations))
}

// receiptCost prints the part of a receipt about tokens and model calls.
func (p *printer) receiptCost(c *store.SessionCost) {
	p.heading("Cost")
	p.columns(mapped(c.Models, func(s *store.SpentOn) []string {
		return append([]string{oneLine(modelName(*s), 60)}, spentCells(s.Spent)...)
	}))
	if len(c.Models) == 0 {
		p.printf("  no model calls\n")
	}
	p.printf("  %s shown to the session\n", text.Count(c.TokensGiven, "token"))
	if c.DiscoveryTokens > 0 {
		p.printf("  %s tokens spent on the work behind its observations\n", short(c.DiscoveryTokens))
	}
}

// givenInAll prints the records shown to sessions, and how many were opened later.
func (p *printer) givenInAll(r *store.ReceiptTotals, days int) {
	rows := mapped(r.Given, func(g *store.GivenIn) []string {
		return []string{oneLine(g.Where, 30), text.Count(g.Times, "time"), short(g.Tokens) + " tokens", text.Count(g.Observations, "observation")}
	})
	if r.ObservationsGiven > 0 {
		rows = append(rows, []string{fmt.Sprintf("%d of %s opened later (%d %%)", r.ObservationsLookedUp,
			text.Count(r.ObservationsGiven, "record"), (200*r.ObservationsLookedUp+r.ObservationsGiven)/(2*r.ObservationsGiven))})
	}
	p.table(fmt.Sprintf("Shown to sessions, last %s", text.Count(days, "day")), rows)
}
