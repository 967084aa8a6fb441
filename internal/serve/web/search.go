package web

import (
	"net/url"
	"strconv"

	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// searchLimit is the number of hits on a page of the search.
const searchLimit = 20

// search shows what the API's search finds for the filter q, in its order, from offset on.
func (v *visit) search() view {
	f := filter.Parse(v.URL.Query().Get("q"))
	head := v.listOf("/search", f)
	data := struct {
		list
		pager
		Empty   bool
		Rows    []row
		Reading []string
	}{list: head, Empty: f.String() == ""}
	if data.Empty {
		return view{Title: "Search", Data: data}
	}
	sent := f.Values()
	sent.Set("limit", strconv.Itoa(searchLimit))
	q := request[api.SearchRequest](v, sent)
	q.Explain, q.Format = true, api.FormatFull
	found := ask(v, api.Memory.Search, q)
	for i := range found.Results {
		r := rowOf(&found.Results[i])
		r.Dated = true
		data.Rows = append(data.Rows, r)
	}
	if found.Understood != nil {
		data.Reading = append(found.Understood.Reading(v.opts.Location, line), found.Understood.Notes...)
	}
	data.pager = pagerOf("/search", url.Values{"q": {head.Text}}, q.Offset, searchLimit, len(data.Rows), found.Total)
	q.Format = ""
	return view{Title: "Search", JSON: inAPI(api.Memory.Search, q), Data: data}
}
