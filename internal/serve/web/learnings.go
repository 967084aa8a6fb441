package web

import (
	"net/url"
	"strconv"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// learningsLimit is the number of learnings on a page.
const learningsLimit = 50

// learningsView is what the page of the learnings shows.
type learningsView struct {
	menu
	pager
	Categories []choice
	All        choice
	Groups     []learningGroup
	Filtered   bool
}

// learningGroup is the learnings of one project, those that hold apart from the others.
type learningGroup struct {
	Project string
	Active  bool
	Rows    []learningRow
}

// learningRow is a learning with the search for the records that speak of the same.
type learningRow struct {
	api.Learning
	Href string
}

// learnings lists what is known to hold in the projects, with all=true also what no longer holds: the
// active ones first, by project, the surest first.
func (v *visit) learnings() view {
	q := request[api.LearningsRequest](v, url.Values{"limit": {strconv.Itoa(learningsLimit)}})
	found := ask(v, api.Memory.Learnings, q)
	v.checkProject(q.Project, found.Total)
	sent := withoutPage(q)
	shown := learningsView{Groups: byProject(found.Results), Filtered: q.Project != "" || q.Category != "", menu: v.projectMenu("/learnings", sent, q.Project),
		All: choose("/learnings", sent, "all", "true"), pager: pagerOf("/learnings", sent, q.Offset, learningsLimit, found.Count, found.Total),
		Categories: collect.Map(memory.LearningCategories(), func(c string) choice { return choose("/learnings", sent, "category", c) })}
	return view{Title: "Learnings", JSON: inAPI(api.Memory.Learnings, q), Data: shown}
}

// byProject groups learnings, which are in the order of their groups.
func byProject(learnings []api.Learning) (groups []learningGroup) {
	for i := range learnings {
		l := &learnings[i]
		if n := len(groups); n == 0 || groups[n-1].Project != l.Project || groups[n-1].Active != l.Active {
			groups = append(groups, learningGroup{Project: l.Project, Active: l.Active})
		}
		last := &groups[len(groups)-1]
		similar := filter.Filter{Words: line(l.Content)}
		if !long(l.Project) {
			similar.Tokens = []filter.Token{{Name: "project", Value: l.Project}}
		}
		last.Rows = append(last.Rows, learningRow{*l, filtered("/search", similar)})
	}
	return groups
}

// Percent returns the confidence in percent.
func (l *learningRow) Percent() int { return int(l.Confidence*100 + 0.5) }
