package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// sources are the ways in which a session starts.
var sources = []string{"startup", "clear", "compact", "resume"}

// The ends and the step of the slider, in tokens. A budget in the address may be any.
const (
	leastBudget = 200
	mostBudget  = 3000
	budgetStep  = 50
)

// contextView is what the preview of a context block shows.
type contextView struct {
	api.Preview
	// Projects are the paths of the projects that the form offers, with their labels;
	// Sources the ways to start.
	Projects, Sources []option
	// Session is the one that a session which goes on is, "" for a new one.
	Session           string
	Lines             []contextLine
	Segments          []segment
	Least, Most, Step int
	// Cut says that the text is longer than a page shows; More and MoreLeftOut count the lines that it leaves out.
	Cut               bool
	More, MoreLeftOut int
}

// maxLines bounds the lines of a block on the page: a block of the default budget has thirty.
const maxLines = 200

// option is a choice in a form.
type option struct {
	Value, Label string
	On           bool
}

// segment is a layer of a block as a part of the bar of its budget, which is barWidth wide; Href leads to
// its first line.
type segment struct {
	memory.LayerCost
	Class, Href string
	X, Width    int
}

// contextLine is a line of a block, with the reason for it.
type contextLine struct {
	Number int
	Text   string
	// About is nil for a blank line.
	About *memory.ContextLine
	Links []link
}

// link leads to a record.
type link struct{ Href, Label string }

// context shows the block that a session would get that starts now in a project, by default in
// the one that was worked on last.
func (v *visit) context() view {
	projects := ask(v, api.Memory.Projects, api.ProjectsRequest{Brief: true}).Results
	sent := v.URL.Query()
	asked := cmp.Or(sent.Get("project_path"), sent.Get("project"))
	if asked == "" && len(projects) == 0 {
		return view{Title: "Context", Data: contextView{}}
	}
	shown := contextView{Least: leastBudget, Most: mostBudget, Step: budgetStep}
	path := projectPath(projects, asked)
	shown.Projects = projectOptions(projects, path)
	known := slices.ContainsFunc(projects, func(p api.Project) bool { return p.ProjectPath == path })
	q := v.contextRequest(path, known)
	shown.Session = v.goingOn(&q)
	shown.Sources = collect.Map(sources, func(s string) option { return option{s, s, s == q.Source} })
	shown.Preview = ask(v, api.Memory.Preview, q)
	if !strings.ContainsAny(asked, `/\`) { // a directory need not have records
		v.checkProject(asked, len(shown.Text))
	}
	shown.Lines, shown.Cut = contextLines(&shown.Preview)
	shown.More, shown.MoreLeftOut = strings.Count(shown.Text, "\n")+1-len(shown.Lines), shorten(&shown.LeftOut)
	shown.Segments = segmentsOf(&shown.Preview)
	return view{Title: "Context " + line(path), JSON: inAPI(api.Memory.Preview, q), Data: shown}
}

// projectPath returns the root of the project that a path or label names, by default of the
// first.
func projectPath(projects []api.Project, name string) string {
	for i := range projects {
		if p := &projects[i]; name == "" || p.ProjectPath == name || p.Project == name {
			return p.ProjectPath
		}
	}
	return name
}

// projectOptions returns the choice of a project, of which the one at path is chosen.
func projectOptions(projects []api.Project, path string) []option {
	options := collect.Pick(projects, func(p api.Project) (option, bool) {
		return option{p.ProjectPath, p.Project, p.ProjectPath == path}, !long(p.ProjectPath)
	})
	if !long(path) && !slices.ContainsFunc(options, func(o option) bool { return o.On }) {
		options = append(options, option{path, memory.ProjectLabel(path), true})
	}
	return options
}

// contextRequest returns the request for the preview in the project at path. Of a known project
// it has what is checked out there, unless the address says it; no other directory is looked at.
func (v *visit) contextRequest(path string, known bool) api.ContextRequest {
	more := url.Values{"project_path": {path}}
	if v.URL.Query().Get("host") == "" {
		more.Set("host", string(memory.HostClaudeCode)) // its limit is that of most sessions
	}
	q := request[api.ContextRequest](v, more)
	if v.err == nil && known && q.WorktreeRoot == "" && v.opts.Place != nil {
		v.opts.Place(&q)
	}
	return q
}

// goingOn names in q the project's last session if q is about one that goes on and names none.
// It returns the name of that session, "" for none.
func (v *visit) goingOn(q *api.ContextRequest) string {
	if q.Source != "resume" && q.Source != "compact" || q.HostSessionID != "" {
		return q.HostSessionID
	}
	last := ask(v, api.Memory.Sessions, api.SessionsRequest{Dated: api.Dated{Paged: api.Paged{Project: q.ProjectPath, Limit: 1}}})
	if len(last.Results) == 0 {
		return ""
	}
	s := &last.Results[0]
	q.Host, q.HostSessionID = string(s.Host), s.HostSessionID
	return s.ID.Name()
}

// contextLines returns the lines of a block with the reasons that p has for them, and whether some
// are cut off.
func contextLines(p *api.Preview) (lines []contextLine, cut bool) {
	if p.Text == "" {
		return nil, false
	}
	about := map[int]*memory.ContextLine{}
	for i := range p.Lines {
		about[p.Lines[i].Number] = &p.Lines[i].ContextLine
	}
	for s := range strings.SplitSeq(block(p.Text), "\n") {
		n := len(lines) + 1
		if n > maxLines {
			break
		}
		l := contextLine{Number: n, Text: s, About: about[n]}
		if l.About != nil {
			l.Links = linksOf(l.About)
		}
		lines = append(lines, l)
	}
	return lines, len(lines) <= strings.Count(p.Text, "\n") || isCut(p.Text)
}

// segmentsOf returns the layers of a block as parts of the bar of its budget, in their order; the last is
// what frames them.
func segmentsOf(p *api.Preview) (segments []segment) {
	tokens, scale := 0, float64(barWidth)/float64(max(p.EffectiveBudget, p.Tokens, 1))
	frame := memory.LayerCost{Name: "frame", Tokens: p.Tokens - collect.Sum(p.Layers, func(l memory.LayerCost) int { return l.Tokens })}
	for i, layer := range append(slices.Clone(p.Layers), frame) {
		s := segment{LayerCost: layer, Class: fmt.Sprintf("level-%d", 5-i%5), X: int(float64(tokens) * scale)}
		tokens += layer.Tokens
		s.Width = max(1, int(float64(tokens)*scale)-s.X)
		if at := slices.IndexFunc(p.Lines, func(l api.PreviewLine) bool { return l.Layer == layer.Name }); at >= 0 && p.Lines[at].Number <= maxLines {
			s.Href = fmt.Sprintf("#line-%d", p.Lines[at].Number)
		}
		segments = append(segments, s)
	}
	return segments
}

// linksOf returns the pages of the records that a line shows.
func linksOf(l *memory.ContextLine) (links []link) {
	observations := l.Observations
	if len(observations) == 0 && l.Observation != 0 {
		observations = []memory.ObservationID{l.Observation}
	}
	links = collect.Map(observations[:min(len(observations), maxItems)], func(id memory.ObservationID) link { return link{fmt.Sprintf("/observation/%d", id), id.Name()} })
	if l.Learning != 0 {
		links = append(links, link{"/learnings#learning-" + strconv.FormatInt(l.Learning, 10), "learning " + strconv.FormatInt(l.Learning, 10)})
	}
	if l.Session != 0 {
		links = append(links, link{sessionHref(l.Session, 0), l.Session.Name()})
	}
	return links
}
