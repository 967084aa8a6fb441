package cli

import (
	"context"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// Page is the shown part of a list.
type Page struct{ Limit, Offset int }

// PageFlags adds --limit and --offset.
func PageFlags(cmd *cobra.Command, limit int) *Page {
	p := &Page{}
	cmd.Flags().IntVarP(&p.Limit, "limit", "n", limit, "how many, at most 100")
	cmd.Flags().IntVar(&p.Offset, "offset", 0, "how many to skip first")
	return p
}

// Paged returns the page of the list of a scope (nil: of a list without projects);
// CodeInvalid for a limit or offset out of range.
func (p *Page) Paged(of *Scope) (paged api.Paged, err error) {
	if p.Limit < 1 || p.Offset < 0 {
		return paged, memory.Errorf(memory.CodeInvalid, "--limit %d --offset %d: want at least 1 and 0", p.Limit, p.Offset)
	}
	paged.Limit, paged.Offset = p.Limit, p.Offset
	if of != nil {
		paged.Project, err = of.Project()
	}
	return paged, err
}

// EmptyPage returns the page of an empty memory.
func EmptyPage[T any](p *Page) api.Page[T] {
	return api.Page[T]{Limit: p.Limit, Offset: p.Offset, Results: []T{}}
}

// NoteRest says how many of a list come after the page, or that the page is after its end. It
// reports whether the list has anything.
func (p *Page) NoteRest(a *App, shown, total int, noun string) bool {
	if left := total - p.Offset - shown; left > 0 {
		a.Note("%d more: --offset %d", left, p.Offset+shown)
	} else if shown == 0 && total > 0 {
		a.Note("There are only %s; use a smaller --offset.", text.Count(total, noun))
	}
	return total > 0
}

// listing is the JSON of a list that was read from its beginning.
type listing[T any] struct {
	Project string `json:"project,omitempty"`
	Count   int    `json:"count"`
	Total   int    `json:"total"`
	Results []T    `json:"results"`
}

// ReadListing reads the first records of a project ("" for all), at most limit, page by page.
func ReadListing[T any](project string, limit int, page func(api.Paged) ([]T, int, error)) (listing[T], error) {
	out := listing[T]{Project: project, Results: []T{}}
	if limit < 1 {
		return out, memory.Errorf(memory.CodeInvalid, "--limit %d: want at least 1", limit)
	}
	for {
		results, total, err := page(api.Paged{Project: project, Limit: min(limit-out.Count, api.MaxLimit), Offset: out.Count})
		out.Results, out.Total = append(out.Results, results...), total
		if out.Count = len(out.Results); err != nil || len(results) == 0 || out.Count >= min(limit, total) {
			return out, err
		}
	}
}

// NoteMore says how many of a list are not shown.
func (a *App) NoteMore(shown, total int) {
	if shown > 0 && total > shown {
		a.Note("%d more; -n %d shows them all", total-shown, total)
	}
}

// LimitFlag adds --limit to a command that lists from the beginning.
func LimitFlag(cmd *cobra.Command, limit int) *int {
	return cmd.Flags().IntP("limit", "n", limit, "how many")
}

// RangeFlags select records by project and time.
type RangeFlags struct {
	app     *App
	project *string
	times   *Times
}

// RangeFlags adds --project, --since and --until.
func (a *App) RangeFlags(cmd *cobra.Command) RangeFlags {
	return RangeFlags{a, a.ProjectFlag(cmd, "", "only of this project, by its directory or name"), AddTimes(cmd)}
}

// Parse returns the root of the project, "" for all, and the times, 0 for no bound.
func (f *RangeFlags) Parse(ctx context.Context, m *access.Memory) (project string, since, until memory.Millis, err error) {
	if *f.project != "" {
		project, err = f.app.RootOf(ctx, m.Memory, *f.project, "no records of project")
	}
	if err == nil {
		since, until, err = f.times.Parse(f.app.Now())
	}
	return project, since, until, err
}

// Times are the bounds of a time.
type Times struct{ Since, Until string }

// AddTimes adds --since and --until.
func AddTimes(cmd *cobra.Command) *Times {
	return AddTimesFor(cmd, "not earlier than this time", "not later than this time; a date includes its whole day")
}

// AddTimesFor adds --since and --until with these helps.
func AddTimesFor(cmd *cobra.Command, since, until string) *Times {
	f := &Times{}
	cmd.Flags().StringVar(&f.Since, "since", "", since)
	cmd.Flags().StringVar(&f.Until, "until", "", until)
	CompleteFlag(cmd, "since", Fixed("today", "yesterday", "3d", "2w"))
	CompleteFlag(cmd, "until", Fixed("today", "yesterday", "3d", "2w"))
	return f
}

// Parse returns the bounds, 0 for none.
func (f *Times) Parse(now time.Time) (since, until memory.Millis, err error) {
	if f.Since != "" {
		since, err = ParseTime(f.Since, now, false)
	}
	if f.Until != "" && err == nil {
		until, err = ParseTime(f.Until, now, true)
	}
	return since, until, err
}

// ParseTime parses a time as people write it, in the local time zone: an ISO time,
// a day, month or year (its begin, or its last millisecond when last), today,
// yesterday, or an age such as 90m, 12h, 3d or 2w.
func ParseTime(text string, now time.Time, last bool) (memory.Millis, error) {
	if at, ok := memory.ParseTime(text, now, last); ok {
		return at, nil
	}
	return 0, memory.Errorf(memory.CodeInvalid, "%q is not a time", print.Line(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}
