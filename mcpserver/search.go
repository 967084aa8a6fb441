package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem"
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
	fetched := min(q.limit+ahead, 100)
	q.params.Set("limit", strconv.Itoa(fetched))
	var page found
	if err := c.get(ctx, "/api/search", q.params, &page); err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeNoMemory {
			return nothingYet(), nil
		}
		return nil, err
	}
	hits, total, open := matching(q, &page, fetched)
	a := newAnswer("results")
	a.set("project", in(q.project))
	a.set("total", total)
	shown := 0
	var ids []string
	for i := range hits[:min(q.limit, len(hits))] {
		r := &hits[i]
		text, item := c.index(r, q.project == "")
		item.Tokens = c.cost(r)
		if !a.offer(fmt.Sprintf("%s (%d tokens)", text, item.Tokens), item) {
			break
		}
		shown++
		if r.observation() && len(ids) < 3 {
			ids = append(ids, strconv.FormatInt(r.ID, 10))
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
	a.say("%s%d found in %s, here %d to %d:", over, total, in(q.project), q.offset+1, q.offset+shown)
	if n := unscored(hits[:shown]); q.searched(page.Understood) && n == shown {
		a.tail("None of these match the text: they are the newest that pass the filters.")
	} else if q.searched(page.Understood) && n > 0 {
		a.tail("Only the first %d match the text; the others are the newest that pass the filters.", shown-n)
	}
	next := ""
	if len(ids) > 0 {
		next = fmt.Sprintf("get_observations(ids: [%s]) reads in full. ", strings.Join(ids, ", "))
	}
	if left := total - q.offset - shown; left > 0 || open {
		next += fmt.Sprintf("%s%d more: offset: %d.", over, left, q.offset+shown)
	}
	if next != "" {
		a.tail("Next: %s", strings.TrimSpace(next))
	}
	return a, nil
}

// matching are the hits to show and how many there are in all; open says that there
// are more than that. The API tops up what matches a text with what passes the filter;
// where the only filter is the project, that is just noise.
func matching(q *searchQuery, page *found, fetched int) (hits []record, total int, open bool) {
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
	return hits, q.offset + len(hits), len(hits) == fetched && page.Total > q.offset+fetched
}

// searchQuery is what a search is for.
type searchQuery struct {
	params        url.Values
	project       string
	limit, offset int
	// filtered says that there is a filter beside the project.
	filtered bool
}

// searched reports whether a text was searched for, not only read as a filter.
func (q *searchQuery) searched(u *claudemem.Understood) bool {
	return q.params.Get("query") != "" && (u == nil || u.Text != "")
}

// searchQuery reads the arguments.
func (c *call) searchQuery(ctx context.Context) (*searchQuery, error) {
	q := &searchQuery{params: url.Values{"format": {"full"}}}
	text, err := c.args.text("query", "q", "text", "search")
	if err != nil {
		return nil, err
	}
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	if text != "" {
		q.params.Set("query", text)
	}
	for _, l := range [][]string{{"type", "types", "obs_type"}, {"concepts", "concept"}, {"files", "file", "file_path", "path"}, {"kind", "kinds"}} {
		list, err := c.args.list(l...)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			q.params.Set(l[0], strings.Join(list, ","))
			q.filtered = true
		}
	}
	for _, end := range []struct {
		param string
		last  bool
		names []string
	}{
		{"since", false, []string{"date_start", "since", "from", "date_from", "start"}},
		{"until", true, []string{"date_end", "until", "to", "date_to", "end"}},
	} {
		at, err := c.moment(end.last, end.names...)
		if err != nil {
			return nil, err
		}
		if at != 0 {
			q.params.Set(end.param, strconv.FormatInt(int64(at), 10))
			q.filtered = true
		}
	}
	if q.limit, err = c.args.number(defaultLimit, 1, maxLimit, "limit", "n", "max_results"); err != nil {
		return nil, err
	}
	if q.offset, err = c.args.number(0, 0, maxOffset, "offset", "skip"); err != nil {
		return nil, err
	}
	q.params.Set("offset", strconv.Itoa(q.offset))
	order, err := c.args.short("order", "order_by", "sort")
	if err != nil {
		return nil, err
	}
	if order != "" {
		q.params.Set("order", order)
	}
	if q.project, err = c.project(ctx, c.here); err != nil {
		return nil, err
	}
	if q.project != "" {
		q.params.Set("project", q.project)
	}
	return q, nil
}

// unscored counts the hits at the end that only the filter found.
func unscored(hits []record) int {
	n := 0
	for n < len(hits) && hits[len(hits)-1-n].Score == 0 {
		n++
	}
	return n
}

// nothingFound says where else there is something.
func (c *call) nothingFound(ctx context.Context, a *answer, q *searchQuery) error {
	if q.offset > 0 {
		a.say("Nothing more found in %s from offset %d on.", in(q.project), q.offset)
		return nil
	}
	a.say("Nothing found in %s.", in(q.project))
	if q.project != "" {
		q.params.Del("project")
		q.params.Set("limit", "100")
		q.params.Set("format", "index")
		var elsewhere found
		if err := c.get(ctx, "/api/search", q.params, &elsewhere); err != nil {
			return err
		}
		if hits, _, _ := matching(q, &elsewhere, 100); len(hits) > 0 {
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
