package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// row is a record in a list.
type row struct {
	api.TurnRecord
	// Words are those of the record that were searched for.
	Words   []string
	Pinned  bool
	Foreign string
	// Dated rows show the day too: they do not stand below its heading. Rows Within a turn leave out
	// what the turn says.
	Dated, Within bool
	Why           *memory.Explanation
	Href          string
}

// turn is a turn in a list, folded: its observations stand below its heading.
type turn struct {
	api.Turn
	Rows []row
	// Lone is the record of a turn that is Alone, nil for others.
	Lone *row
	// Besides are the prompt and the summary.
	Besides []row
	Words   []string
	// Signs are the types of the observations, each once.
	Signs []memory.ObservationType
	// Open turns are not folded. Dated is that of row.
	Open, Dated bool
	Href        string
}

// group is the turns of one day.
type group struct {
	Day   string
	Turns []turn
}

// rowOf returns a record of a turn as a row.
func rowOf(r api.TurnRecord) row {
	out := row{TurnRecord: r}
	if r.Hit != nil {
		if out.Why = r.Hit.Why; out.Why != nil {
			out.Words = out.Why.Words
		}
		if o := r.Hit.Observation; o != nil && o.ObservationDetail != nil {
			out.Pinned, out.Foreign = o.Pinned, o.Provenance.Source()
		}
	}
	if out.Href = sessionHref(r.SessionDBID, r.PromptNumber); r.Kind == memory.RecordObservation {
		out.Href = "/observation/" + strconv.FormatInt(r.ID, 10)
	}
	return out
}

// turnOf returns a turn as a list shows it.
func turnOf(t api.Turn, dated bool) turn {
	out := turn{Turn: t, Dated: dated, Href: sessionHref(t.Session, t.Number)}
	for _, r := range t.Records {
		r := rowOf(r)
		out.Words = append(out.Words, r.Words...)
		out.Open = out.Open || r.IsAnchor
		r.Dated, r.Within = dated && t.Alone(), !t.Alone()
		if t.Alone() {
			out.Lone = &r
		}
		if r.Kind == memory.RecordObservation {
			out.Rows = append(out.Rows, r)
		} else {
			out.Besides = append(out.Besides, r)
		}
	}
	out.Signs = collect.Unique(collect.MapPtr(out.Rows, func(r *row) memory.ObservationType { return r.Type }))
	return out
}

// turnsOf returns a page of records as at most so many turns, how many of the records they use up,
// and the query parameter shown of the next page: the records behind these that its turns leave out,
// as they are in a turn of this page or of one before. The last turn is left to the next page if it
// may go on there. offset is that of the page.
func (v *visit) turnsOf(found *api.SearchPage, offset, most int, dated bool) (turns []turn, used int, shown string) {
	id := func(h *api.Hit) string { e := h.Entry(); return fmt.Sprintf("%s-%d", e.Kind, e.ID) }
	all, before := found.Results, collect.Set(strings.Split(v.URL.Query().Get("shown"), ","))
	var places []int // of what is left of all
	found.Results = nil
	for i := range all {
		if !before[id(&all[i])] {
			found.Results, places = append(found.Results, all[i]), append(places, i)
		}
	}
	made, n := found.Turns(most)
	if last := len(made) - 1; n == len(places) && last > 0 && offset+len(all) < found.Total {
		made, n = made[:last], made[last].Records[0].At
	}
	for _, t := range made {
		turns = append(turns, turnOf(t, dated))
		for _, r := range t.Records {
			before[id(r.Hit)] = true
		}
	}
	if used = len(all); n < len(places) {
		used = places[n]
	}
	return turns, used, strings.Join(collect.Keep(collect.MapPtr(all[used:], id), func(id string) bool { return before[id] }), ",")
}

// byDay groups turns, which are in the order of their time.
func byDay(now time.Time, turns []turn) []group {
	days, of := collect.Group(turns, func(t *turn) string { return text.Day(now, t.CreatedAt.Time()) })
	return collect.Map(days, func(day string) group { return group{day, of[day]} })
}

// types are those of the mode "code", for the filters.
var types = []memory.ObservationType{memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor, memory.TypeChange,
	memory.TypeDiscovery, memory.TypeDecision}

// list is the head of a page with a filter.
type list struct {
	Path    string
	Filter  filter.Filter
	Text    string // of the field
	Wrong   bool   // a part of the text was not understood
	Chips   []choice
	Types   []choice
	Kinds   []choice
	Project []choice
}

// listOf returns the head of the list at path with a filter.
func (v *visit) listOf(path string, f filter.Filter) list {
	value := func(name, value, class string) choice {
		return toggle(f, path, filter.Token{Name: name, Value: value}, value, class)
	}
	return list{Path: path, Filter: f, Text: cmp.Or(v.typed.Get("q"), f.String()), Wrong: v.typed != nil,
		Chips:   collect.Map(f.Tokens, func(t filter.Token) choice { return toggle(f, path, t, t.String(), "") }),
		Types:   collect.Map(types, func(t memory.ObservationType) choice { return value("type", string(t), hue(t)) }),
		Kinds:   collect.Map(memory.RecordKinds(), func(k memory.RecordKind) choice { return value("kind", string(k), "") }),
		Project: collect.Map(v.labels(), func(label string) choice { return value("project", label, "") }),
	}
}

// maxProjects bounds the projects that a menu offers; others are typed.
const maxProjects = 30

// labels returns the labels of the projects that were worked on last, each once.
func (v *visit) labels() []string {
	projects := ask(v, api.Memory.Projects, api.ProjectsRequest{Brief: true, Limit: maxProjects}).Results
	labels := collect.MapPtr(projects, func(p *api.Project) string { return p.Project })
	return collect.Unique(slices.DeleteFunc(labels, long))
}

// menu is the choice of a project on a page whose filters are parameters of its address.
type menu struct {
	// Chosen is the project in force, "" for all.
	Chosen   string
	Projects []choice
}

// projectMenu returns the menu of the page at path, whose other parameters are in sent. A chosen
// project without records is in it too, unless its name is too long to be shown.
func (v *visit) projectMenu(path string, sent url.Values, chosen string) menu {
	labels := v.labels()
	if !long(chosen) {
		labels = text.Add(labels, chosen)
	}
	return menu{chosen, collect.Map(labels, func(label string) choice { return choose(path, sent, "project", label) })}
}

// choose returns the link that sets a parameter of the page at path, or removes it if it has
// this value.
func choose(path string, sent url.Values, name, value string) choice {
	next := maps.Clone(sent)
	c := choice{Label: value, On: sent.Get(name) == value}
	if c.On {
		next.Del(name)
	} else {
		next[name] = []string{value}
	}
	c.Href = address(path, next)
	return c
}

// withoutPage returns the parameters of a request but those of its page.
func withoutPage(q any) url.Values {
	sent := api.Values(q)
	sent.Del("limit")
	sent.Del("offset")
	return sent
}

// pager is where a page is in a list: its first record, of Total, and the addresses of the pages
// before and after it, "" for none.
type pager struct {
	Total, First int
	Newer, Older string
}

// pagerOf returns the pager of a page of count records from offset on, of total. A page has at
// most limit records.
func pagerOf(path string, sent url.Values, offset, limit, count, total int) pager {
	p := pager{Total: total, First: offset + 1}
	turn := func(offset int) string {
		next := maps.Clone(sent)
		next.Set("offset", strconv.Itoa(offset))
		return address(path, next)
	}
	if offset > 0 {
		p.Newer = turn(max(0, offset-limit))
	}
	if count > 0 && offset+count < total {
		p.Older = turn(offset + count)
	}
	return p
}

// HeadOf returns the list, for the template of its filter.
func (l list) HeadOf() list { return l }

// Home returns the address of the list's first page.
func (l list) Home() string { return filtered(l.Path, l.Filter) }

// choice is a link that switches a token on or off.
type choice struct {
	Label, Class, Href string
	On                 bool
}

// toggle returns the link that switches a token of the list at path on or off.
func toggle(f filter.Filter, path string, t filter.Token, label, class string) choice {
	c := choice{Label: label, Class: class, On: f.Has(t)}
	next := f.With(t)
	if c.On {
		next = f.Without(t)
	}
	c.Href = filtered(path, next)
	return c
}

// filtered returns the address of the list at path with a filter.
func filtered(path string, f filter.Filter) string {
	return address(path, params("q", f.String()))
}

// feedTurns is the number of turns on a page of the feed: a screen of them. feedLimit is the number
// of records that are read for it at once, and at most twice.
const (
	feedTurns = 20
	feedLimit = 70
)

// feed lists the newest records that pass the filter q. The page before=AT.N continues
// after the Nth record of the millisecond AT, so that records which come in meanwhile
// neither move nor double any.
func (v *visit) feed() view {
	f := filter.Parse(v.URL.Query().Get("q"))
	if f.Words != "" {
		return view{Redirect: filtered("/search", f)}
	}
	sent := f.Feed()
	q := request[api.SearchRequest](v, sent)
	from := v.URL.Query().Get("before")
	v.fail(continueAt(&q, from))
	q.Format, q.Limit = api.FormatFull, feedLimit
	page := ask(v, api.Memory.Search, q)
	v.checkProject(q.Project, page.Total)
	timesOf := func() []memory.Millis {
		return collect.MapPtr(page.Results, func(h *api.Hit) memory.Millis { return h.Entry().CreatedAtEpoch })
	}
	if _, used := page.Turns(feedTurns); used == len(page.Results) && q.Offset+used < page.Total {
		page.Results = append(page.Results, ask(v, api.Memory.Search, q.After(timesOf())).Results...)
	}
	head, times := v.listOf("/", f), timesOf()
	turns, used, shown := v.turnsOf(&page, q.Offset, feedTurns, false)
	older := ""
	if q.Offset+used < page.Total && used > 0 {
		older = address("/", params("before", placeOf(q.After(times[:used])), "shown", shown, "q", f.String()))
	}
	q.Format = ""
	return view{Title: "Feed", JSON: inAPI(api.Memory.Search, q), Data: struct {
		list
		Groups     []group
		Older      string
		Live, Rest bool
		Total      int
	}{head, byDay(v.now, turns), older, from == "", from != "", page.Total}}
}

// continueAt makes q the request for the page that begins at a place of placeOf, "" for the first
// page. CodeInvalid for another text.
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

// searchLimit is the number of hits that are read for a page of the search, searchTurns that of the
// turns that it shows.
const (
	searchLimit = 40
	searchTurns = 20
)

// search shows what the API's search finds for the filter q, in its order, from offset on.
func (v *visit) search() view {
	f := filter.Parse(v.URL.Query().Get("q"))
	head := v.listOf("/search", f)
	data := struct {
		list
		pager
		Empty   bool
		Turns   []turn
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
	v.checkProject(q.Project, found.Total)
	data.Reading = found.Notes(found.Hits(), v.opts.Location, line)
	turns, used, shown := v.turnsOf(&found, q.Offset, searchTurns, true)
	data.Turns = turns
	data.pager = pagerOf("/search", params("q", head.Text, "shown", shown), q.Offset, searchTurns, used, found.Total)
	q.Format = ""
	return view{Title: "Search", JSON: inAPI(api.Memory.Search, q), Data: data}
}
