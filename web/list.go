package web

import (
	"strconv"
	"time"

	"claudemem"
	"claudemem/api"
)

// row is a record in a list.
type row struct {
	api.Entry
	// Note is a second line: a subtitle, or how far a turn came.
	Note string
	// Words are those of the record that were searched for.
	Words   []string
	Pinned  bool
	Foreign bool
	// Dated rows show the day too: they do not stand below its heading.
	Dated bool
	Why   *claudemem.Explanation
	Href  string
}

// group is the rows of one day.
type group struct {
	Day  string
	Rows []row
}

// rowOf returns a hit as a row.
func rowOf(h *api.Hit) row {
	r := row{Entry: h.Entry(), Why: h.Why}
	r.Kind = h.Kind
	if h.Why != nil {
		r.Words = h.Why.Words
	}
	r.Note = r.Subtitle
	switch {
	case h.Observation != nil && h.Observation.ObservationDetail != nil:
		r.Pinned, r.Foreign = h.Observation.Pinned, h.Observation.Provenance.Foreign()
		r.SessionDBID, r.PromptNumber = h.Observation.SessionDBID, h.Observation.PromptNumber
		if r.Note == "" {
			r.Note = h.Observation.Narrative
		}
	case h.Summary != nil && h.Summary.SummaryDetail != nil:
		if r.Note = h.Summary.Completed; r.Note == "" {
			r.Note = h.Summary.Learned
		}
	}
	r.Href = hrefOf(&r.Entry)
	return r
}

// hrefOf returns the page of a record: its own, or its place on that of its session.
func hrefOf(e *api.Entry) string {
	switch e.Kind {
	case claudemem.RecordObservation:
		return "/observation/" + strconv.FormatInt(e.ID, 10)
	default:
		return sessionHref(e.SessionDBID, e.PromptNumber)
	}
}

// byDay groups rows, which are in the order of their time.
func byDay(now time.Time, rows []row) (groups []group) {
	for _, r := range rows {
		d := day(now, r.CreatedAtEpoch)
		if n := len(groups); n == 0 || groups[n-1].Day != d {
			groups = append(groups, group{Day: d})
		}
		groups[len(groups)-1].Rows = append(groups[len(groups)-1].Rows, r)
	}
	return groups
}

// types are those of the mode "code", for the filters.
var types = []claudemem.ObservationType{claudemem.TypeBugfix, claudemem.TypeFeature, claudemem.TypeRefactor, claudemem.TypeChange,
	claudemem.TypeDiscovery, claudemem.TypeDecision}

// list is the head of a page with a filter.
type list struct {
	Path    string
	Filter  filter
	Text    string // of the field
	Chips   []choice
	Types   []choice
	Kinds   []choice
	Project []choice
}

// listOf returns the head of the list at path with a filter.
func (v *visit) listOf(path string, f filter) (list, error) {
	l := list{Path: path, Filter: f, Text: f.String()}
	for _, t := range f.Tokens {
		l.Chips = append(l.Chips, f.toggle(path, t, t.String(), ""))
	}
	for _, t := range types {
		l.Types = append(l.Types, f.toggle(path, token{"type", string(t)}, string(t), hue(t)))
	}
	for _, k := range claudemem.RecordKinds() {
		l.Kinds = append(l.Kinds, f.toggle(path, token{"kind", string(k)}, string(k), ""))
	}
	projects, err := v.memory.Projects(v.ctx(), api.ProjectsRequest{Limit: maxProjects})
	for _, p := range projects.Results {
		if long(p.Project) {
			continue
		}
		l.Project = append(l.Project, f.toggle(path, token{"project", p.Project}, p.Project, ""))
	}
	return l, err
}

// maxProjects bounds the projects that the filter's menu offers; others are typed.
const maxProjects = 30

// HeadOf returns the list, for the template of its filter.
func (l list) HeadOf() list { return l }

// Home returns the address of the list's first page.
func (l list) Home() string { return l.Filter.link(l.Path, l.Filter) }
