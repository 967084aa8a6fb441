package mcpserver

import (
	"context"
	"fmt"
	"unicode/utf8"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// summariesAtOnce bounds the summaries that are read; an answer holds about five.
const summariesAtOnce = 20

// getSessionSummary shows a session's summaries, the newest first, below the latest one
// the code that it changed, and then the index lines of its observations.
func getSessionSummary(ctx context.Context, c *call) *answer {
	name, offset, project := c.args.short("session_id"), c.args.number("offset"), c.project(ctx)
	if name == "" {
		c.args.fail(memory.Errorf(memory.CodeInvalid, "no session_id").WithHint(`send S12 as in index lines, a ULID, the host's id, or "last"`))
	}
	s := ask(ctx, c, api.Memory.Receipt, api.ReceiptRequest{Name: name, Project: project})
	if memory.CodeOf(c.args.err) == memory.CodeNoMemory {
		c.args.err = memory.Errorf(memory.CodeNotFound, "there is no session %q: nothing is remembered yet", line(name, 60))
	}
	id := s.ID.Name()
	summaries := ask(ctx, c, api.Memory.Summaries, api.RecordsRequest{Session: s.ID, Dated: api.Dated{Paged: api.Paged{Limit: summariesAtOnce, Offset: offset}}})
	a := newAnswer("summaries")
	a.set("session", map[string]any{"id": id, "host": line(string(s.Host), 40), "host_session_id": line(s.HostSessionID, 80),
		"project": labelOf(s.ProjectPath), "status": line(string(s.Status), 40), "at": at(s.UpdatedAt)})
	a.say("%s in %s, %s, last active %s: %s, %s, %s.", id, labelOf(s.ProjectPath), line(string(s.Status), 40), text.Ago(c.now, s.UpdatedAt),
		text.Count(s.Stored.Prompts, "prompt"), text.Count(summaries.Total, "summarised turn"), text.Count(len(s.Stored.Observations), "observation"))
	changed := ""
	if offset == 0 {
		changed = c.changedCode(ctx, s.ID)
	}
	if offset == 0 && summaries.Total == 0 {
		a.heading("It was about: " + line(s.Title, 300))
	}
	shown := c.offerSummaries(a, summaries.Results, changed)
	if left := summaries.Total - offset - shown; left > 0 {
		a.tail("Next: %s earlier: offset: %d.", text.Count(left, "turn"), offset+shown)
	} else {
		c.offerIndexOf(ctx, a, s, id)
	}
	if waiting := s.Captured.Pending + s.Captured.Processing; waiting > 0 {
		a.tail("%s of it are not distilled yet.", text.Count(waiting, "event"))
	}
	return a
}

// offerSummaries adds summaries, the code that changed below the first of them ("" for none), and
// returns how many summaries fit.
func (c *call) offerSummaries(a *answer, summaries []api.Summary, changed string) (shown int) {
	for i := range summaries {
		if !a.offerTruncated(2000, 100, func(most int) (string, any) { return c.summary(&summaries[i], most) }) {
			break
		}
		if shown++; shown == 1 && changed != "" {
			a.heading(changed)
		}
	}
	if len(summaries) == 0 && changed != "" {
		a.heading(changed)
	}
	return shown
}

const (
	// changesAtOnce bounds the changes that are read, changesShown and changesRunes those
	// that a line shows: about 150 tokens.
	changesAtOnce = 100
	changesShown  = 12
	changesRunes  = 500
)

// changedCode returns a line with the functions and types that a session changed, file by
// file, "" for none.
func (c *call) changedCode(ctx context.Context, session memory.SessionID) string {
	page := ask(ctx, c, api.Memory.Symbols, api.SymbolsRequest{Session: session, Dated: api.Dated{Paged: api.Paged{Limit: changesAtOnce}}})
	if len(page.Results) == 0 {
		return ""
	}
	changes := memory.WithoutOldNames(collect.MapPtr(page.Results, (*api.Symbol).Change))
	said, shown := "Changed code of the session:", 0
	for ; shown < min(changesShown, len(changes)); shown++ {
		change := &changes[shown]
		next := line(change.QualifiedName, 60) + " [" + line(change.Mark(), 80) + "]"
		switch {
		case shown == 0:
			next = " " + line(change.FilePath, 80) + ": " + next
		case change.FilePath == changes[shown-1].FilePath:
			next = ", " + next
		default:
			next = "; " + line(change.FilePath, 80) + ": " + next
		}
		if utf8.RuneCountInString(said+next) > changesRunes {
			break
		}
		said += next
	}
	if more := len(changes) - shown + page.Total - len(page.Results); more > 0 {
		said += fmt.Sprintf("; %d more", more)
	}
	return said + "."
}

// offerIndexOf adds the lines of a session's observations, as many as fit.
func (c *call) offerIndexOf(ctx context.Context, a *answer, s accounts.SessionReceipt, id string) {
	if len(s.Stored.Observations) == 0 {
		return
	}
	page := ask(ctx, c, api.Memory.Search, api.SearchRequest{Session: s.ID, Kinds: []string{string(memory.RecordObservation)},
		Order: string(memory.OrderOldest), Dated: api.Dated{Paged: api.Paged{Limit: maxLimit}}})
	shown := 0
	var ids []memory.ObservationID
	for i := range page.Results {
		text, _ := c.index(api.Line{Entry: page.Results[i].Entry()}, false)
		if !a.heading(text) {
			break
		}
		shown++
		if len(ids) < 3 {
			ids = append(ids, page.Results[i].Observation.ID)
		}
	}
	if left := page.Total - shown; left > 0 {
		a.tail("%s more: timeline(anchor: %q).", text.Count(left, "observation"), id)
	}
	if len(ids) > 0 {
		a.tail("Next: get_observations(ids: [%s]) reads them in full.", csv(ids))
	}
}
