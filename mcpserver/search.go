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

// searchMemory lists what was found, each record as a line.
func searchMemory(ctx context.Context, c *call) (*answer, error) {
	params, project, err := c.searchParams(ctx)
	if err != nil {
		return nil, err
	}
	var page found
	if err := c.get(ctx, "/api/search", params, &page); err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeNoMemory {
			return nothingYet(), nil
		}
		return nil, err
	}
	offset, _ := strconv.Atoi(params.Get("offset"))
	a := newAnswer("results")
	a.set("total", page.Total)
	a.set("project", in(project))
	shown := 0
	var ids []string
	for i := range page.Results {
		r := &page.Results[i]
		text, item := c.index(r, project == "")
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
		return a, c.nothingFound(ctx, a, params, page.Total, offset)
	}
	a.say("%d found in %s, here %d to %d:", page.Total, in(project), offset+1, offset+shown)
	if n := unscored(page.Results[:shown]); n > 0 && n < shown {
		a.tail("The last %d do not match the text: they are the newest that pass the filters.", n)
	}
	next := ""
	if len(ids) > 0 {
		next = fmt.Sprintf("get_observations(ids: [%s]) reads them in full. ", strings.Join(ids, ", "))
	}
	if left := page.Total - offset - shown; left > 0 {
		next += fmt.Sprintf("%d more: offset: %d.", left, offset+shown)
	}
	if next != "" {
		a.tail("Next: %s", strings.TrimSpace(next))
	}
	return a, nil
}

// searchParams are the parameters of the search route that the arguments mean, and
// the project that they name.
func (c *call) searchParams(ctx context.Context) (url.Values, string, error) {
	params := url.Values{"format": {"full"}}
	text, err := c.args.text("query", "q", "text", "search")
	if err != nil {
		return nil, "", err
	}
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	if text != "" {
		params.Set("query", text)
	}
	for _, l := range [][]string{{"type", "types", "obs_type"}, {"concepts", "concept"}, {"files", "file", "file_path", "path"}, {"kind", "kinds"}} {
		list, err := c.args.list(l...)
		if err != nil {
			return nil, "", err
		}
		if len(list) > 0 {
			params.Set(l[0], strings.Join(list, ","))
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
			return nil, "", err
		}
		if at != 0 {
			params.Set(end.param, strconv.FormatInt(int64(at), 10))
		}
	}
	for _, n := range []struct {
		missing, least, most int
		names                []string
	}{{defaultLimit, 1, maxLimit, []string{"limit", "n", "max_results"}}, {0, 0, maxOffset, []string{"offset", "skip"}}} {
		value, err := c.args.number(n.missing, n.least, n.most, n.names...)
		if err != nil {
			return nil, "", err
		}
		params.Set(n.names[0], strconv.Itoa(value))
	}
	order, err := c.args.short("order", "order_by", "sort")
	if err != nil {
		return nil, "", err
	}
	if order != "" {
		params.Set("order", order)
	}
	project, err := c.project(ctx, c.here)
	if err != nil {
		return nil, "", err
	}
	if project != "" {
		params.Set("project", project)
	}
	return params, project, nil
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
func (c *call) nothingFound(ctx context.Context, a *answer, params url.Values, total, offset int) error {
	project := params.Get("project")
	if total > 0 {
		a.say("There are only %d; offset %d is behind them.", total, offset)
		return nil
	}
	a.say("Nothing found in %s.", in(project))
	if project != "" {
		params.Del("project")
		params.Set("limit", "1")
		params.Set("format", "index")
		var elsewhere found
		if err := c.get(ctx, "/api/search", params, &elsewhere); err != nil {
			return err
		}
		if elsewhere.Total > 0 {
			a.tail("Next: project: \"all\" finds %d in other projects.", elsewhere.Total)
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
	var notes []string
	day := func(at claudemem.Millis) string { return at.Time().In(zone).Format(time.DateOnly) }
	switch {
	case u.Since != 0 && u.Until != 0:
		notes = append(notes, fmt.Sprintf("Understood: %s to %s.", day(u.Since), day(u.Until)))
	case u.Since != 0:
		notes = append(notes, fmt.Sprintf("Understood: since %s.", day(u.Since)))
	case u.Until != 0:
		notes = append(notes, fmt.Sprintf("Understood: until %s.", day(u.Until)))
	}
	if len(u.Types) > 0 {
		var types []string
		for _, t := range u.Types {
			types = append(types, line(string(t), 40))
		}
		notes = append(notes, "Understood: only "+strings.Join(types, ", ")+".")
	}
	for _, said := range slices.Sorted(maps.Keys(u.Corrected)) {
		if len(notes) < 6 {
			notes = append(notes, fmt.Sprintf("No record has %q; taken for %q.", line(said, 40), line(u.Corrected[said], 40)))
		}
	}
	for _, note := range u.Notes {
		if len(notes) < 8 {
			notes = append(notes, line(note, 200))
		}
	}
	return notes
}
