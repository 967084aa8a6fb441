package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// lookupLimit bounds the wait for noting a lookup, which only a statistic needs.
const lookupLimit = 300 * time.Millisecond

// getObservations shows observations in full, as many as fit.
func getObservations(ctx context.Context, c *call) *answer {
	ids := c.args.ids("ids")
	// Lookup is false: noteShown reports those that are shown.
	page := ask(ctx, c, api.Memory.Batch, api.BatchRequest{IDs: ids, Format: api.FormatFull, Lookup: new(bool)})
	if memory.CodeOf(c.args.err) == memory.CodeNoMemory {
		c.args.err = memory.Errorf(memory.CodeNotFound, "there is no observation %s: nothing is remembered yet", numbers(ids))
	}
	a := newAnswer("observations")
	var shown, left []memory.ObservationID
	for i := range page.Results {
		r := &page.Results[i]
		if len(left) == 0 && a.offerTruncated(8000, 250, func(most int) (string, any) {
			text, item := c.fullRecord(r, most)
			return text + "\n", item
		}) {
			shown = append(shown, r.ID)
		} else {
			left = append(left, r.ID)
		}
	}
	if len(shown) == 0 {
		return c.refused(memory.Errorf(memory.CodeNotFound, "there is no observation %s", numbers(page.Missing)).
			WithHint("search_memory finds those that there are"))
	}
	a.say("%s:", text.Count(len(shown), "observation"))
	if len(page.Missing) > 0 {
		a.tail("Not there, or hidden: %s.", numbers(page.Missing))
	}
	if len(left) > 0 {
		a.tail("Next: %s did not fit: get_observations(ids: [%s]).", text.Count(len(left), "observation"), csv(left))
	}
	note := api.LookupNote{Observations: shown}
	if host, session, named := strings.Cut(c.session, ":"); named && host != "" {
		note.Host, note.HostSessionID = memory.Host(host), session
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	_, _ = c.server.memory.NoteLookups(ctx, note) // it is not worth an error
	return a
}

// csv joins numbers with commas.
func csv(ids []memory.ObservationID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(int64(id), 10)
	}
	return strings.Join(texts, ", ")
}

// numbers lists observations as #12, #13, at most 20 of them.
func numbers(ids []memory.ObservationID) string {
	const few = 20
	text := "#" + strings.ReplaceAll(csv(ids[:min(len(ids), few)]), ", ", ", #")
	if len(ids) > few {
		text += fmt.Sprintf(" and %d more", len(ids)-few)
	}
	return text
}
