package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// feedLimit is the number of records on a page of the feed.
const feedLimit = 50

// feed lists the newest records that pass the filter q. The page before=AT.N continues
// after the Nth record of the millisecond AT, so that records which come in meanwhile
// neither move nor double any.
func (v *visit) feed() view {
	f := filter.Parse(v.URL.Query().Get("q"))
	if f.Words != "" {
		return view{Redirect: filtered("/search", f)}
	}
	sent := f.Feed()
	sent.Set("limit", strconv.Itoa(feedLimit))
	q := request[api.SearchRequest](v, sent)
	from := v.URL.Query().Get("before")
	v.fail(continueAt(&q, from))
	q.Format = api.FormatFull
	page := ask(v, api.Memory.Search, q)
	head := v.listOf("/", f)
	rows, times := make([]row, len(page.Results)), make([]memory.Millis, len(page.Results))
	for i := range page.Results {
		rows[i] = rowOf(&page.Results[i])
		times[i] = rows[i].CreatedAtEpoch
	}
	older := ""
	if q.Offset+len(rows) < page.Total && len(rows) > 0 {
		next := url.Values{"before": {placeOf(q.After(times))}}
		if s := f.String(); s != "" {
			next.Set("q", s)
		}
		older = address("/", next)
	}
	q.Format = ""
	return view{Title: "Feed", JSON: inAPI(api.Memory.Search, q), Data: struct {
		list
		Groups     []group
		Older      string
		Live, Rest bool
		Total      int
	}{head, byDay(v.now, rows), older, from == "", from != "", page.Total}}
}

// continueAt makes q the request for the page that begins at a place of placeOf.
func continueAt(q *api.SearchRequest, before string) error {
	if before == "" {
		return nil
	}
	at, n, _ := strings.Cut(before, ".")
	ms, err1 := strconv.ParseInt(at, 10, 64)
	skip, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || ms <= 0 || skip < 0 {
		return memory.Errorf(memory.CodeInvalid, "before is %.40q", before).WithHint("open the feed again")
	}
	q.Until, q.Offset = memory.Millis(ms), skip
	return nil
}

// placeOf returns the place at which the page of a request begins: its time, and how many
// records of that millisecond are on pages before it.
func placeOf(q api.SearchRequest) string { return fmt.Sprintf("%d.%d", q.Until, q.Offset) }
