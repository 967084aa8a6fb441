package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"

	"github.com/spf13/cobra"
)

// maxQuery bounds a query, in bytes: a page of a log. The head of a request holds it.
const maxQuery = 8 << 10

// cutQuery returns the part of a query that is used, and says so if that is not all of it.
func (a *app) cutQuery(query string) string {
	if len(query) > maxQuery {
		a.Note("Only the first %d bytes of the query are used.", maxQuery)
	}
	return text.FirstBytes(query, maxQuery)
}

func (a *app) searchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search [QUERY...]",
		Short: "Search the records by words and by meaning",
		Long: `Search observations, summaries and prompts by words and by meaning. Parts of
identifiers, segments of paths and misspelt words match too. Dates and types in the
query become filters ("what bugs did we fix last week"). Full-text syntax works: AND, OR,
NOT, NEAR, prefix*, "a phrase". The prompt and the summary of a turn are one line: the
summary's.

The flags are a strict filter: records that do not pass are never shown. With a filter
and no query the newest come first. No worker is needed.

--team searches all that your team shares, on its server, also what is not kept here.

Times: 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w.

` + print.GlyphLegend,
		Example: `  claude-mem search rate limiter burst
  claude-mem search 'why do tests hang' --type bugfix,discovery --since 2w
  claude-mem search --file src/auth -n 5
  claude-mem search 'parseToken AND NOT test' --all --explain`,
	}
	f := a.searchFlags(cmd)
	team := a.teamFlag(cmd)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, words []string) error {
		if *team {
			return a.searchTeam(ctx, strings.Join(words, " "), f)
		}
		r, err := f.request(strings.Join(words, " "), a.Now())
		if err != nil {
			return err
		}
		r.Query = a.cutQuery(r.Query)
		ctx, asked := ctx, r
		if !a.JSON && mergesTurns(r) {
			asked.Limit = max(r.Limit, min(2*r.Limit, api.MaxLimit))
		}
		found, err := m.Search(ctx, asked)
		empty := api.SearchPage{Query: &r.Query, Limit: r.Limit, Offset: r.Offset, Format: r.Format, Results: []api.Hit{}}
		return cli.Answer(a.App, found, err, empty, func(p *print.Printer) error { return a.printFound(ctx, m.Memory, p, r, &found) })
	})
}

// searchFlags are the flags of search.
type searchFlags struct {
	api.SearchRequest
	scope *cli.Scope
	page  *cli.Page
	times *cli.Times
	full  bool
}

// searchFlags adds the flags of a search to cmd and returns where their values will be.
func (a *app) searchFlags(cmd *cobra.Command) *searchFlags {
	f := &searchFlags{scope: a.ScopeFlags(cmd), page: cli.PageFlags(cmd, 10), times: cli.AddTimes(cmd)}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Kinds, "kind", "k", nil, "observation, summary or prompt")
	flags.StringSliceVarP(&f.Types, "type", "t", nil, "types of observation: bugfix, feature, …")
	flags.StringSliceVarP(&f.Concepts, "concept", "c", nil, "concepts of an observation")
	flags.StringSliceVarP(&f.Files, "file", "f", nil, "paths, folders or parts of file names of an observation")
	flags.StringVar(&f.Order, "order", "", "relevance, newest or oldest")
	flags.BoolVar(&f.full, "full", false, "show the records in full")
	flags.BoolVar(&f.Explain, "explain", false, "show the parts of each score")
	cli.CompleteFlag(cmd, "kind", cli.Fixed("observation", "summary", "prompt"))
	cli.CompleteFlag(cmd, "type", a.TypeChoices())
	cli.CompleteFlag(cmd, "concept", a.ConceptChoices())
	cli.CompleteFlag(cmd, "order", cli.Fixed("relevance", "newest", "oldest"))
	return f
}

// request returns the search request of the flags for a text; CodeInvalid for a time that cannot be
// parsed, a limit out of range, and without both text and filter.
func (f *searchFlags) request(text string, now time.Time) (r api.SearchRequest, err error) {
	r = f.SearchRequest
	r.Query, r.Format = strings.TrimSpace(text), api.FormatIndex
	if r.Paged, err = f.page.Paged(f.scope); err != nil {
		return r, err
	}
	if r.Since, r.Until, err = f.times.Parse(now); err != nil {
		return r, err
	}
	if r.Query == "" && !r.Filtered() {
		return r, memory.Errorf(memory.CodeInvalid, "no query and no filter").
			WithHint("give a query or a filter; `claude-mem recent` lists the newest")
	}
	if f.full {
		r.Format = api.FormatFull
	}
	return r, nil
}

// printFound prints results as people and agents read them: a line or two for each
// record or turn, then how to get more. Offsets are of records.
func (a *app) printFound(ctx context.Context, m api.Memory, p *print.Printer, r api.SearchRequest, found *api.SearchPage) error {
	lines := found.Hits()
	if mergesTurns(r) {
		lines = found.Lines(r.Limit)
	}
	for i, l := range lines {
		h := &found.Results[l.Shown]
		if r.Format == api.FormatFull {
			if i > 0 {
				p.Printf("\n")
			}
			p.Hit(h)
		} else {
			p.Entry(l, r.Project == "")
		}
		if h.Why != nil {
			p.Explanation(h.Why)
		}
	}
	for _, note := range found.Notes(lines, time.Local, func(said string) string { return print.Line(said, 0) }) {
		a.Note("%s", note)
	}
	for _, t := range filter.Parse(r.Query).Tokens {
		name, _, _ := strings.Cut(t.String(), ":")
		a.Note("%s is searched for as words; the filter is --%s %s", print.Line(t.String(), 60), name, cli.ShellWord(print.Line(t.Value, 60)))
	}
	if len(found.Results) == 0 {
		return a.nothingFound(ctx, m, r, found.Total)
	}
	left := found.Total - r.Offset - len(found.Results)
	shown := shownIDs(found.Results, 3)
	more := print.Join("; ", print.If(r.Format != api.FormatFull && len(shown) > 0, fmt.Sprintf("`claude-mem show %s` shows them in full", strings.Join(shown, " "))),
		print.If(left > 0, fmt.Sprintf("%d more: --offset %d", left, r.Offset+len(found.Results))))
	if more != "" {
		a.Note("%s", more)
	}
	return nil
}

// mergesTurns reports whether the prompt and the summary of a turn are one line: not where
// each record is shown in full or its score explained.
func mergesTurns(r api.SearchRequest) bool { return r.Format != api.FormatFull && !r.Explain }

// nothingFound says that nothing was found: that the page is behind the end (total), or whether
// other projects have matches, for which it searches again.
func (a *app) nothingFound(ctx context.Context, m api.Memory, r api.SearchRequest, total int) error {
	if total > 0 {
		a.Note("There are only %s; use a smaller --offset.", text.Count(total, "result"))
		return nil
	}
	if project := r.Project; project != "" {
		r.Project, r.Explain, r.Limit, r.Format = "", false, api.MaxLimit, api.FormatIndex
		elsewhere, err := m.Search(ctx, r)
		if err != nil {
			return err
		}
		if elsewhere.Total > 0 {
			a.Note("No match in %s. `--all` shows %s of other projects.", print.Line(project, 0), text.Count(elsewhere.Total, "result"))
			return nil
		}
	}
	a.Note("No match. Use fewer words or filters; `claude-mem recent` lists the newest.")
	return nil
}

// shownIDs returns the ids of the first hits, at most most, as arguments of show.
func shownIDs(hits []api.Hit, most int) []string {
	ids := text.Add(nil, collect.MapPtr(hits, func(h *api.Hit) string {
		entry := h.Entry()
		return strings.TrimPrefix(entry.Name(), "#")
	})...)
	return ids[:min(len(ids), most)]
}

// timelineCommand returns the command `claude-mem timeline`: show the records before and
// after an anchor.
func (a *app) timelineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timeline [ANCHOR | QUERY...]",
		Short: "Show the records before and after an anchor",
		Long: `Show observations, summaries and prompts around an anchor, the oldest first: around
an observation (12 or '#12'), a session (S12), a time, or the best hit of a query.
The prompt and the summary of a turn are one line: the summary's. Without an anchor it
ends now. It shows the project of the anchor, or else the project that you are in.

Times: 2026-03-01T15:04, 2026-03-01, today, yesterday, or an age: 12h, 3d, 2w.

` + print.GlyphLegend,
		Example: `  claude-mem timeline 12
  claude-mem timeline S3 --before 3 --after 20
  claude-mem timeline the day the migration broke
  claude-mem timeline 2d --all`,
	}
	before := cmd.Flags().IntP("before", "B", 10, "how many before the anchor")
	after := cmd.Flags().IntP("after", "A", 10, "how many after it")
	project := cmd.Flags().StringP("project", "p", "", "a project's directory or name (default: that of the anchor)")
	all := cmd.Flags().BoolP("all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	cli.CompleteFlag(cmd, "project", a.ProjectChoices())
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.RecordChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, words []string) error {
		r := timelineTarget(strings.Join(words, " "), a.Now())
		r.Query = a.cutQuery(r.Query)
		r.Before, r.After = *before, *after
		var home string
		var err error
		if r.Anchor, home, err = resolveAnchor(ctx, m.Memory, r.Anchor); err != nil {
			return err
		}
		if r.Project, err = a.ProjectNamed(*project); err != nil {
			return err
		}
		if r.Project == "" && !*all {
			r.Project = home
		}
		asked := r
		if !a.JSON {
			asked = r.Widened()
		}
		found, err := m.Timeline(ctx, asked)
		empty := api.Timeline{Anchor: r.Anchor, DepthBefore: *before, DepthAfter: *after, Timeline: []api.Entry{}}
		return cli.Answer(a.App, found, err, empty, func(p *print.Printer) error {
			a.printTimeline(p, &found, r)
			return nil
		})
	})
}

// timelineTarget returns the anchor or the query that the words mean: an id or a time is an anchor,
// nothing is now, anything else is searched for.
func timelineTarget(text string, now time.Time) api.TimelineRequest {
	text = strings.TrimSpace(text)
	switch _, err := cli.ParseID(text); {
	case err == nil: // also of a year: alone it is no time here
		return api.TimelineRequest{Anchor: text}
	case text == "":
		return api.TimelineRequest{Anchor: api.ISO(memory.MillisOf(now))}
	}
	at, err := cli.ParseTime(text, now, false)
	if err != nil {
		return api.TimelineRequest{Query: text}
	}
	return api.TimelineRequest{Anchor: api.ISO(at)}
}

// resolveAnchor returns an anchor by its number, with the project of the record that it names; an
// anchor that names no record, or one that cannot be read, has the project of the current directory,
// and the timeline says what is wrong with it. CodeNotFound for a ULID of no record, which the
// timeline would search for as a text.
func resolveAnchor(ctx context.Context, m api.Memory, anchor string) (name, project string, err error) {
	id, err := cli.ParseID(anchor)
	if err != nil {
		return anchor, cli.Here(), nil //nolint:nilerr // what is no id is a time
	}
	o, s, err := id.Read(ctx, m)
	switch {
	case err == nil && o != nil:
		return o.ID.Name(), o.ProjectPath, nil
	case err == nil:
		return s.ID.Name(), s.ProjectPath, nil
	case id.ULID != "" && memory.CodeOf(err) == memory.CodeNotFound:
		return "", "", err
	}
	return id.Name(), cli.Here(), nil
}

// printTimeline prints the lines around the anchor that were asked for, the anchor marked
// with ▶, then a hint, or a note when there are no records. Lines name their project if r
// names none.
func (a *app) printTimeline(p *print.Printer, t *api.Timeline, r api.TimelineRequest) {
	records := 0
	for _, e := range t.Lines(r.Before, r.After) {
		mark := print.Or(e.IsAnchor || e.Kind == api.KindAnchor, p.Style(print.Bold, "▶ "), "  ")
		if e.Kind == api.KindAnchor {
			p.Printf("%s%s  · %s\n", mark, p.When(e.CreatedAtEpoch), print.Line(t.Anchor, 60))
			continue
		}
		records++
		p.EntryLine(mark, e, r.Project == "")
	}
	switch {
	case records > 0:
		a.Note("`claude-mem show ID` shows one in full")
	case r.Project != "":
		a.Note("No records of %s around the anchor. `--all` includes all projects.", r.Project)
	default:
		a.Note("No records around the anchor.")
	}
}
