package browse

import (
	"context"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// pageLimit is the number of records that are read at once.
const pageLimit = 50

// place is where a page of a list is.
type place int

const (
	atStart place = iota
	atEnd
	before // the rows that are there
	after
)

// page is a part of a list.
type page struct {
	rows []row
	// total is the number of records of the whole list, -1 if it is not known.
	total int
	// first is the number of records before the page, -1 if it is not known.
	first int
	// more says that records follow on the page's far side: after it, but before it for the
	// places atEnd and before.
	more bool
	// notes are what the reader should know about the search.
	notes []string
}

// edge is the end of the rows that are there, to which a page is added.
type edge struct {
	// count is the number of rows, first that of the records before them.
	count, first int
	// times are those of the last rows, as long as they are the same; anchor is that of the
	// last row. "Last" is the first row for a page before the rows.
	times  []memory.Millis
	anchor string
}

// edgeOf returns the edge of rows at which a page lies.
func edgeOf(rows []row, at place, first int) edge {
	e := edge{count: len(rows), first: first}
	for i := range rows {
		r := &rows[i]
		if at == after {
			r = &rows[len(rows)-1-i]
		}
		if i == 0 {
			e.anchor = r.Anchor()
		} else if r.own != e.times[0] {
			break
		}
		e.times = append(e.times, r.own)
	}
	return e
}

// pages reads the pages of a list, beside the program: it sees no row. load returns the page at a
// place; e is the edge of the rows that it is added to. It runs in a goroutine of its own.
type pages interface {
	load(ctx context.Context, m api.Memory, at place, e edge) (page, error)
}

// byTime reads the newest records that pass a filter, the newest first.
type byTime struct{ newest api.SearchRequest }

// pagesOf returns the pages of a filter: those of a search if it has words, else of the feed.
func pagesOf(f filter.Filter, zone *time.Location) (pages, error) {
	var q api.SearchRequest
	values := f.Values()
	if f.Words == "" {
		values = f.Feed()
	}
	if err := api.Parse(&q, api.ParamsOf(q), values.Encode(), nil); err != nil {
		return nil, err
	}
	q.Format, q.Limit = api.FormatFull, pageLimit
	if f.Words == "" {
		return byTime{q}, nil
	}
	return byRelevance(q, zone), nil
}

// load implements pages.
func (p byTime) load(ctx context.Context, m api.Memory, at place, e edge) (page, error) {
	q, backward := p.newest, at == atEnd || at == before
	if backward {
		q.Order = string(memory.OrderOldest)
	}
	if at == before || at == after {
		q = q.After(e.times)
	}
	found, err := m.Search(ctx, q)
	if err != nil {
		return page{}, err
	}
	out := page{rows: hitRows(found.Results), total: -1, first: -1, more: q.Offset+len(found.Results) < found.Total && len(found.Results) > 0}
	if backward {
		slices.Reverse(out.rows)
	}
	switch at {
	case atStart:
		out.total, out.first = found.Total, 0
	case atEnd:
		out.total, out.first = found.Total, found.Total-len(found.Results)
	}
	return out, nil
}

// byOffset reads a list that the API pages by offset: the rows of a page, how many there are in all
// and what is to be said of them.
type byOffset func(context.Context, api.Memory, api.Paged) (page, error)

// load implements pages.
func (read byOffset) load(ctx context.Context, m api.Memory, at place, e edge) (page, error) {
	p := api.Paged{Limit: pageLimit}
	switch at {
	case after:
		p.Offset = e.first + e.count
	case before:
		p.Offset = max(e.first-pageLimit, 0)
		p.Limit = max(e.first-p.Offset, 1)
	case atEnd:
		found, err := read(ctx, m, api.Paged{Limit: 1})
		if err != nil {
			return page{}, err
		}
		p.Offset = max(found.total-pageLimit, 0)
	}
	out, err := read(ctx, m, p)
	out.first, out.more = p.Offset, p.Offset+len(out.rows) < out.total && len(out.rows) > 0
	if at == atEnd || at == before {
		out.more = p.Offset > 0
	}
	return out, err
}

// byRelevance reads what the API's search finds, in its order. Notes name days of the zone.
func byRelevance(q api.SearchRequest, zone *time.Location) byOffset {
	q.Explain = true
	return func(ctx context.Context, m api.Memory, p api.Paged) (page, error) {
		q := q
		q.Limit, q.Offset = p.Limit, p.Offset
		found, err := m.Search(ctx, q)
		return page{rows: hitRows(found.Results), total: found.Total, notes: found.Notes(found.Hits(), zone, line)}, err
	}
}

func hitRows(hits []api.Hit) []row {
	return collect.MapPtr(hits, hitRow)
}

// inTimeline reads what happened around an anchor, the oldest first.
type inTimeline struct{ anchor, project string }

// timelineSide is the number of lines that are read on each side of the anchor.
const timelineSide = 25

// load implements pages. A timeline has no start and no end that could be read at once: both
// are the part around the anchor.
func (p inTimeline) load(ctx context.Context, m api.Memory, at place, e edge) (page, error) {
	q := api.TimelineRequest{Anchor: p.anchor, Project: p.project, Before: timelineSide, After: timelineSide}
	switch {
	case at == before && e.count > 0:
		q.Anchor, q.After = e.anchor, 0
	case at == after && e.count > 0:
		q.Anchor, q.Before = e.anchor, 0
	}
	found, err := m.Timeline(ctx, q.Widened())
	if err != nil {
		return page{}, err
	}
	out := page{total: -1, first: -1}
	for _, l := range found.Lines(q.Before, q.After) {
		r := rowOf(l.Entry)
		r.own = found.Timeline[l.Shown].CreatedAtEpoch
		if asked := line(l.Asked); asked != "" {
			r.mark = "asked: " + asked
		}
		if at == before || at == after {
			if !r.isRecord() {
				continue // a time that only names the place
			}
			r.IsAnchor = false
		}
		out.rows = append(out.rows, r)
	}
	out.more = len(out.rows) > 1
	return out, nil
}

// number returns a number as an argument of the API.
func number(id int64) string { return strconv.FormatInt(id, 10) }
