package cli

import (
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
