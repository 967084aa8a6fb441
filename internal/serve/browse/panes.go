package browse

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"

	tea "charm.land/bubbletea/v2"
)

// The kinds of rows that are no records.
const (
	kindSession  memory.RecordKind = "session"
	kindLearning memory.RecordKind = "learning"
	kindLine     memory.RecordKind = "line"
	kindGiven    memory.RecordKind = "given"
	kindQueue    memory.RecordKind = "queue"
)

// pane is a list that Tab and its digit lead to.
type pane struct {
	name, noun, empty string
	// dated and live are those of the list.
	dated, live bool
	read        func(scope, context.Context, api.Memory, api.Paged) (page, error)
}

// panes are in the order of their digits; the first is the feed, which has a filter.
var panes = [...]pane{
	{name: "Feed", noun: "record"},
	{"Sessions", "session", "No session was captured yet.", false, true, scope.sessions},
	{"Learnings", "learning", "No learnings yet. The rules of a project appear here: `claude-mem learn add`.", true, true, scope.learnings},
	{"Context", "line", "A session that starts now would get no context block.", true, false, scope.context},
	{"Given", "text", "No session was told anything yet.", false, true, scope.given},
	{"Queue", "entry", "All caught up.", true, true, scope.queue},
}

// goTo shows a pane. It shows records of the project that the filter names, or else of all; the
// context that of the current row's.
func (m *Model) goTo(n int) tea.Cmd {
	s := scope{project: filter.Parse(m.filter).Values().Get("project"), now: m.now()}
	if r := m.current(); r != nil && s.project == "" && !panes[n].live {
		s.project = r.Project
	}
	m.pane, m.over, m.reading = n, nil, false
	if p := &panes[n]; n > 0 && (m.panes[n] == nil || !p.live) {
		title := p.name
		if s.project != "" {
			title += " in " + line(s.project)
		}
		m.panes[n] = &list{title: title, dated: p.dated, live: p.live, total: -1, first: -1, pages: byOffset(func(ctx context.Context, mem api.Memory, at api.Paged) (page, error) {
			at.Project = s.project
			return p.read(s, ctx, mem, at)
		})}
		return tea.Batch(m.ask(m.panes[n], atStart), m.afterMove())
	}
	return m.afterMove()
}

// otherPanes are the digits and names of the panes that are not shown.
func (m *Model) otherPanes() (names []string) {
	for i := range panes {
		if i != m.pane {
			names = append(names, fmt.Sprint(i+1, " ", strings.ToLower(panes[i].name)))
		}
	}
	return names
}

// scope is whose rows a pane shows, and when.
type scope struct {
	project string
	now     time.Time
}

// row returns a row that is no record, of an entry whose title is foreign. It is read as the title, a
// line of facts and parts, each a heading and a text. Without a name it has the session's.
func (s scope) row(e api.Entry, glyph, name string, facts []string, parts ...string) row {
	r := rowOf(e)
	r.glyph, r.name = glyph, cmp.Or(name, r.name)
	if e.CreatedAtEpoch > 0 {
		facts = append(facts, text.When(s.now, e.CreatedAtEpoch.Time()))
	}
	r.about.say(bold, 2, glyph+" "+strings.TrimSpace(block(e.Title)))
	r.about.facts(collect.Map(append([]string{r.name, r.Project}, facts...), line)...)
	for i := 0; i < len(parts); i += 2 {
		r.about.prose(parts[i], text.Written(strings.TrimSpace(block(parts[i+1]))))
	}
	return r
}

// sessions reads the sessions, the one that was used last first.
func (s scope) sessions(ctx context.Context, m api.Memory, at api.Paged) (page, error) {
	found, err := m.Sessions(ctx, api.SessionsRequest{Dated: api.Dated{Paged: at}})
	return page{total: found.Total, rows: collect.MapPtr(found.Results, func(d *api.SessionDigest) row {
		said := cmp.Or(d.Summary, &api.SummaryHeadline{})
		counts := []string{string(d.Status), text.GroupedCount(d.PromptCount, "prompt"), text.GroupedCount(d.Observations, "observation")}
		r := s.row(api.Entry{Kind: kindSession, ID: int64(d.ID), SessionDBID: d.ID, Title: d.Title, Project: d.Project, CreatedAtEpoch: d.UpdatedAtEpoch}, "§", "", counts,
			"Last prompt", d.LastPrompt, "Completed", said.Completion, "Learned", said.Learnings, "Next", said.NextSteps)
		r.anchor = r.name
		if d.Undistilled > 0 {
			r.mark = text.GroupedCount(d.Undistilled, "event") + " waiting"
		}
		return r
	})}, err
}

// learnings reads the learnings that hold, by project, the surest first.
func (s scope) learnings(ctx context.Context, m api.Memory, at api.Paged) (page, error) {
	found, err := m.Learnings(ctx, api.LearningsRequest{Paged: at})
	return page{total: found.Total, rows: collect.MapPtr(found.Results, func(l *api.Learning) row {
		facts := []string{l.Category, fmt.Sprintf("%.0f %% sure", l.Confidence*100), "seen " + text.GroupedCount(l.TimesSeen, "time"), string(l.Provenance)}
		r := s.row(api.Entry{Kind: kindLearning, ID: l.ID, Title: l.Content, Project: l.Project, CreatedAtEpoch: l.UpdatedAt}, "¶", number(l.ID), facts)
		r.own, r.mark, r.page = 0, line(l.Category), "learnings"
		return r
	})}, err
}

// context reads the block that a session would get that starts now in the project, by default the one
// that was worked on last, with the reason for each line.
func (s scope) context(ctx context.Context, m api.Memory, at api.Paged) (page, error) {
	projects, err := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: api.MaxLimit})
	if err != nil || len(projects.Results) == 0 {
		return page{}, err
	}
	i := slices.IndexFunc(projects.Results, func(p api.Project) bool { return p.Project == at.Project || p.ProjectPath == at.Project })
	q := api.ContextRequest{ProjectPath: projects.Results[max(i, 0)].ProjectPath, Host: string(memory.HostClaudeCode)}
	block, err := m.Preview(ctx, q)
	out := page{notes: []string{fmt.Sprintf("A session that starts now in %s gets %s of at most %s tokens.", memory.ProjectLabel(q.ProjectPath), text.Grouped(block.Tokens), text.Grouped(block.EffectiveBudget))}}
	add := func(l memory.ContextLine, glyph string) {
		e := api.Entry{Kind: kindLine, ID: int64(len(out.rows)), Title: strings.TrimPrefix(l.Text, "- "), SessionDBID: l.Session}
		r := s.row(e, glyph, l.Observation.Name(), []string{l.Layer, text.GroupedCount(l.Tokens, "token")}, "Why", l.Why)
		r.mark, r.anchor, r.page = line(l.Why), r.name, "context?"+url.Values{"project_path": {q.ProjectPath}}.Encode()
		out.rows = append(out.rows, r)
	}
	for _, l := range block.Lines {
		add(l.ContextLine, "│")
	}
	for _, l := range block.LeftOut {
		add(l, "×")
	}
	out.total = len(out.rows)
	return out, err
}

// given reads what sessions were told, the newest first, with the reason for each line and its fate.
func (s scope) given(ctx context.Context, m api.Memory, at api.Paged) (page, error) {
	found, err := m.Given(ctx, api.GivenRequest{Dated: api.Dated{Paged: at}})
	return page{total: found.Total, rows: collect.MapPtr(found.Results, func(g *accounts.Given) row {
		var parts []string
		title := g.Where()
		for i := range g.Lines {
			l := &g.Lines[i]
			words := strings.TrimPrefix(cmp.Or(l.Words, "(words erased)"), "- ")
			if parts = append(parts, line(l.Layer+" "+l.Record), words+"\n"+l.About()); i == 0 {
				title += ": " + words
			}
		}
		e := api.Entry{Kind: kindGiven, ID: g.ID, SessionDBID: g.Session, Title: g.Where(), Project: memory.ProjectLabel(g.ProjectPath), CreatedAtEpoch: g.At}
		r := s.row(e, "»", "", []string{text.GroupedCount(g.Tokens, "token")}, parts...)
		r.Title, r.mark, r.page = line(title), text.GroupedCount(len(g.Lines), "line"), "given"
		return r
	})}, err
}

// queue reads what failed for good, what waits, why, and what no model has read.
func (s scope) queue(ctx context.Context, m api.Memory, _ api.Paged) (out page, err error) {
	q, err := m.Queue(ctx, api.QueueRequest{})
	add := func(session memory.SessionID, project string, at memory.Millis, glyph, title, mark string, parts ...string) {
		e := api.Entry{Kind: kindQueue, ID: int64(len(out.rows)), SessionDBID: session, Title: title, Project: project, CreatedAtEpoch: at}
		r := s.row(e, glyph, "", []string{mark}, parts...)
		r.mark, r.own, r.page = line(mark), 0, "queue"
		out.rows = append(out.rows, r)
	}
	for _, n := range q.Notices {
		add(0, "", n.At, "!", n.Text, "")
	}
	for _, d := range q.DeadLetters {
		what := strings.TrimSpace(string(d.Kind) + " " + d.ToolName)
		add(d.Session, "", d.OccurredAt, "✗", what+": "+d.LastError, text.GroupedCount(d.Attempts, "attempt"), "Error", d.LastError, "Key", d.Key)
	}
	for _, w := range q.Waiting {
		mark := ""
		if w.NextDue > memory.MillisOf(s.now) {
			mark = "tried again at " + w.NextDue.Time().In(s.now.Location()).Format("15:04")
		}
		add(w.Session, w.Project, w.NewestAt, "…", text.GroupedCount(w.Events, "event")+" to be distilled", mark)
	}
	for _, u := range q.Unread {
		add(0, "", u.At, "○", text.GroupedCount(u.Events, "event")+" without a model: "+u.Meaning(), fmt.Sprintf("%s kept for one", text.Grouped(u.Kept)))
	}
	out.total = len(out.rows)
	return out, err
}

// retryAll has the events that failed tried again, and shows a model the turns that it has not read.
func (m *Model) retryAll() tea.Cmd {
	ctx, mem := m.ctx, m.opts.Memory
	return func() tea.Msg {
		done, err := mem.RetryQueue(ctx, api.RetryRequest{})
		return doneAnswer{said: text.GroupedCount(done.Revived, "event") + " tried again; " + text.Grouped(done.Unread) + " more are shown to a model.", err: err}
	}
}
