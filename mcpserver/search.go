package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"claudemem"
	"claudemem/api"
)

const (
	defaultLimit = 10
	maxLimit     = 50
	maxOffset    = 1_000_000
)

// ahead is how many hits beyond a page are counted, so that an answer can say how
// many more there are; a search with a text has no total of its own.
const ahead = 40

// searchMemory lists what was found, each record as a line.
func searchMemory(ctx context.Context, c *call) (*answer, error) {
	q, err := c.searchQuery(ctx)
	if err != nil {
		return nil, err
	}
	q.Limit = min(q.limit+ahead, api.MaxLimit)
	page, err := c.server.memory.Search(ctx, q.SearchRequest)
	if err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeNoMemory {
			return nothingYet(), nil
		}
		return nil, err
	}
	hits, total, open := matching(q, &page)
	a := newAnswer("results")
	a.set("project", in(q.Project))
	a.set("total", total)
	shown := 0
	var ids []claudemem.ObservationID
	for i := range hits[:min(q.limit, len(hits))] {
		text, item := c.index(hits[i].Entry(), q.Project == "")
		item.Tokens = c.cost(&hits[i])
		if !a.offer(fmt.Sprintf("%s (%d tokens)", text, item.Tokens), item) {
			break
		}
		shown++
		if o := hits[i].Observation; o != nil && len(ids) < 3 {
			ids = append(ids, o.ID)
		}
	}
	for _, note := range understoodNotes(page.Understood, c.now.Location()) {
		a.tail("%s", note)
	}
	if shown == 0 {
		return a, c.nothingFound(ctx, a, q)
	}
	over := ""
	if open {
		over = "over "
	}
	a.say("%s%d found in %s, here %d to %d:", over, total, in(q.Project), q.Offset+1, q.Offset+shown)
	if n := unscored(hits[:shown]); q.searched(page.Understood) && n == shown {
		a.tail("None of these match the text: they are the newest that pass the filters.")
	} else if q.searched(page.Understood) && n > 0 {
		a.tail("Only the first %d match the text; the others are the newest that pass the filters.", shown-n)
	}
	next := ""
	if len(ids) > 0 {
		next = fmt.Sprintf("get_observations(ids: [%s]) reads in full. ", csv(ids))
	}
	if left := total - q.Offset - shown; left > 0 || open {
		next += fmt.Sprintf("%s%d more: offset: %d.", over, left, q.Offset+shown)
	}
	if next != "" {
		a.tail("Next: %s", strings.TrimSpace(next))
	}
	return a, nil
}

// matching are the hits to show and how many there are in all; open says that there
// are more than that. The API tops up what matches a text with what passes the filter;
// where the only filter is the project, that is just noise.
func matching(q *searchQuery, page *api.SearchPage) (hits []api.Hit, total int, open bool) {
	hits = page.Results
	if !q.searched(page.Understood) {
		return hits, page.Total, false
	}
	scored := len(hits) - unscored(hits)
	if !q.filtered && (scored > 0 || page.Understood == nil || len(page.Understood.Notes) == 0) {
		hits = hits[:scored]
	}
	if scored < len(page.Results) && len(hits) == len(page.Results) {
		return hits, page.Total, false
	}
	return hits, q.Offset + len(hits), len(hits) == q.Limit && page.Total > q.Offset+q.Limit
}

// searchQuery is a search and how much of it is shown.
type searchQuery struct {
	api.SearchRequest
	// limit is how many hits are shown; Limit is how many are fetched.
	limit int
	// filtered: there is a filter beside the project.
	filtered bool
}

// searched reports whether a text was searched for, not only read as a filter.
func (q *searchQuery) searched(u *claudemem.Understood) bool {
	return q.Query != "" && (u == nil || u.Text != "")
}

// searchQuery reads the arguments.
func (c *call) searchQuery(ctx context.Context) (*searchQuery, error) {
	q := &searchQuery{SearchRequest: api.SearchRequest{Format: api.FormatFull}}
	var err error
	if q.Query, err = c.query("query", "q", "text", "search"); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		into  *[]string
		names []string
	}{{&q.Types, []string{"type", "types", "obs_type"}}, {&q.Concepts, []string{"concepts", "concept"}}, {&q.Files, []string{"files", "file", "file_path", "path"}}, {&q.Kinds, []string{"kind", "kinds"}}} {
		if *l.into, err = c.args.list(l.names...); err != nil {
			return nil, err
		}
		q.filtered = q.filtered || len(*l.into) > 0
	}
	for _, end := range []struct {
		into  *claudemem.Millis
		last  bool
		names []string
	}{
		{&q.Since, false, []string{"date_start", "since", "from", "date_from", "start"}},
		{&q.Until, true, []string{"date_end", "until", "to", "date_to", "end"}},
	} {
		if *end.into, err = c.time(end.last, end.names...); err != nil {
			return nil, err
		}
		q.filtered = q.filtered || *end.into != 0
	}
	if q.limit, err = c.args.number(defaultLimit, 1, maxLimit, "limit", "n", "max_results"); err != nil {
		return nil, err
	}
	if q.Offset, err = c.args.number(0, 0, maxOffset, "offset", "skip"); err != nil {
		return nil, err
	}
	if q.Order, err = c.args.short("order", "order_by", "sort"); err != nil {
		return nil, err
	}
	q.Project, err = c.project(ctx, c.here)
	return q, err
}

// query is a text to search for; what exceeds maxQuery is left out.
func (c *call) query(names ...string) (string, error) {
	text, err := c.args.text(names...)
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	return text, err
}

// unscored counts the hits at the end that only the filter found.
func unscored(hits []api.Hit) int {
	n := 0
	for n < len(hits) && hits[len(hits)-1-n].Score == 0 {
		n++
	}
	return n
}

// nothingFound says where else there is something.
func (c *call) nothingFound(ctx context.Context, a *answer, q *searchQuery) error {
	if q.Offset > 0 {
		a.say("Nothing more found in %s from offset %d on.", in(q.Project), q.Offset)
		return nil
	}
	a.say("Nothing found in %s.", in(q.Project))
	if q.Project != "" {
		everywhere := *q
		everywhere.Project, everywhere.Limit, everywhere.Format = "", api.MaxLimit, api.FormatIndex
		elsewhere, err := c.server.memory.Search(ctx, everywhere.SearchRequest)
		if err != nil {
			return err
		}
		if hits, _, _ := matching(&everywhere, &elsewhere); len(hits) > 0 {
			a.tail("Next: project: \"all\" finds %d in other projects.", len(hits))
			return nil
		}
	}
	a.tail("Next: fewer or other words, or fewer filters; timeline(anchor: \"yesterday\") shows what was done when.")
	return nil
}

// nothingYet is the answer of a memory that is empty.
func nothingYet() *answer {
	a := newAnswer("results")
	a.say("Nothing is remembered yet: no session has been recorded on this machine.")
	return a
}

// understoodNotes say how a query was read where it was not taken word for word.
func understoodNotes(u *claudemem.Understood, zone *time.Location) []string {
	if u == nil {
		return nil
	}
	notes := u.Reading(zone, func(said string) string { return line(said, 40) })
	for _, said := range slices.Sorted(maps.Keys(u.Corrected)) {
		if len(notes) < 6 {
			notes = append(notes, fmt.Sprintf("No record has %q; taken for %q.", line(said, 40), line(u.Corrected[said], 40)))
		}
	}
	for _, note := range u.Notes {
		if len(notes) < 8 {
			notes = append(notes, "Note: "+line(note, 200)+".")
		}
	}
	return notes
}
