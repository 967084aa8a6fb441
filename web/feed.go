package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"claudemem"
	"claudemem/api"
)

var feedPage = page{Path: "/", Name: "feed", Nav: "Feed", Key: "f", Script: "feed.js", load: (*visit).feed}

// feedLimit is the number of records on a page of the feed.
const feedLimit = 50

// feed lists the newest records that pass the filter q. The page before=AT.N continues
// after the Nth record of the millisecond AT, so that records which come in meanwhile
// neither move nor double any.
func (v *visit) feed() (view, error) {
	f := parseFilter(v.URL.Query().Get("q"))
	if f.Words != "" {
		return view{Redirect: f.link("/search", f)}, nil
	}
	sent := f.values()
	if !sent.Has("kind") && !sent.Has("type") && !sent.Has("concepts") && !sent.Has("files") {
		sent.Set("kind", string(claudemem.RecordObservation)+","+string(claudemem.RecordSummary))
	}
	sent.Set("order", string(claudemem.OrderNewest))
	sent.Set("limit", strconv.Itoa(feedLimit))
	q, err := request[api.SearchRequest](v, sent)
	if err != nil {
		return view{}, err
	}
	before := v.URL.Query().Get("before")
	if err := continueAt(&q, before); err != nil {
		return view{}, err
	}
	q.Format = api.FormatFull
	page, err := v.memory.Search(v.ctx(), q)
	if err != nil {
		return view{}, err
	}
	head, err := v.listOf("/", f)
	if err != nil {
		return view{}, err
	}
	rows := make([]row, len(page.Results))
	for i := range page.Results {
		rows[i] = rowOf(&page.Results[i])
	}
	older := ""
	if q.Offset+len(rows) < page.Total && len(rows) > 0 {
		next := url.Values{"before": {nextAfter(rows, &q)}}
		if s := f.String(); s != "" {
			next.Set("q", s)
		}
		older = address("/", next)
	}
	q.Format = ""
	return view{Title: "Feed", JSON: address(api.SearchEndpoint.Path, api.Values(q)), Data: struct {
		list
		Groups     []group
		Older      string
		Live, Rest bool
		Total      int
	}{head, byDay(v.now, rows), older, before == "", before != "", page.Total}}, nil
}

// continueAt makes q the request for the page that begins at a place of nextAfter.
func continueAt(q *api.SearchRequest, before string) error {
	if before == "" {
		return nil
	}
	at, n, _ := strings.Cut(before, ".")
	ms, err1 := strconv.ParseInt(at, 10, 64)
	skip, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || ms <= 0 || skip < 0 {
		return claudemem.Errorf(claudemem.CodeInvalid, "before is %.40q", before).WithHint("open the feed again")
	}
	q.Until, q.Offset = claudemem.Millis(ms), skip
	return nil
}

// nextAfter returns the place after the last of the rows that q found: its time, and how many
// records of that millisecond were shown.
func nextAfter(rows []row, q *api.SearchRequest) string {
	last := rows[len(rows)-1].CreatedAtEpoch
	n := 0
	for i := range rows {
		if rows[i].CreatedAtEpoch == last {
			n++
		}
	}
	if n == len(rows) && q.Until == last {
		n += q.Offset
	}
	return fmt.Sprintf("%d.%d", last, n)
}
