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
func (v *visit) search() (view, error) {
	f := filter.Parse(v.URL.Query().Get("q"))
	head, err := v.listOf("/search", f)
	if err != nil {
		return view{}, err
	}
	data := struct {
		list
		Empty        bool
		Rows         []row
		Reading      []string
		Total, First int
		Newer, Older string
	}{list: head, Empty: f.String() == ""}
	if data.Empty {
		return view{Title: "Search", Data: data}, nil
	}
	sent := f.Values()
	sent.Set("limit", strconv.Itoa(searchLimit))
	q, err := request[api.SearchRequest](v, sent)
	if err != nil {
		return view{}, err
	}
	q.Explain, q.Format = true, api.FormatFull
	found, err := v.memory.Search(v.ctx(), q)
	if err != nil {
		return view{}, err
	}
	for i := range found.Results {
		r := rowOf(&found.Results[i])
		r.Dated = true
		data.Rows = append(data.Rows, r)
	}
	if found.Understood != nil {
		data.Reading = append(found.Understood.Reading(v.opts.Location, line), found.Understood.Notes...)
	}
	data.Total, data.First = found.Total, q.Offset+1
	data.Newer, data.Older = pager("/search", url.Values{"q": {head.Text}}, q.Offset, searchLimit, len(data.Rows), found.Total)
	q.Format = ""
	return view{Title: "Search", JSON: address(api.SearchEndpoint.Path, api.Values(q)), Data: data}, nil
}
