package main

import (
	"net/url"
	"strconv"

	"claudemem"

	"github.com/spf13/cobra"
)

// scope is of which projects a command speaks.
type scope struct {
	named string
	all   bool
}

// scopeFlags adds --project and --all.
func (a *app) scopeFlags(cmd *cobra.Command) *scope {
	s := &scope{}
	cmd.Flags().StringVarP(&s.named, "project", "p", "", "a project's directory or name (default: the one you are in)")
	cmd.Flags().BoolVarP(&s.all, "all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	completeFlag(cmd, "project", a.projectChoices())
	return s
}

// project is the project that is meant, "" for all.
func (s *scope) project() string {
	if s.all {
		return ""
	}
	return projectOr(s.named)
}

// projectFlag adds --project to a command that speaks of one project.
func (a *app) projectFlag(cmd *cobra.Command) *string {
	project := cmd.Flags().StringP("project", "p", "", "a project's directory or name (default: the one you are in)")
	completeFlag(cmd, "project", a.projectChoices())
	return project
}

// projectOr is the project that a person means, by default the one of the current directory.
func projectOr(named string) string {
	if named == "" {
		named = "."
	}
	return projectNamed(named)
}

// page is which part of a long list is shown.
type page struct{ limit, offset int }

// pageFlags adds --limit and --offset.
func pageFlags(cmd *cobra.Command, limit int) *page {
	p := &page{}
	cmd.Flags().IntVarP(&p.limit, "limit", "n", limit, "how many, at most 100")
	cmd.Flags().IntVar(&p.offset, "offset", 0, "how many to leave out first")
	return p
}

// params are those of a route that lists; CodeInvalid for a page that there cannot be.
func (p *page) params() (url.Values, error) {
	if p.limit < 1 || p.offset < 0 {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "--limit %d --offset %d: want at least 1 and 0", p.limit, p.offset)
	}
	return url.Values{"limit": {strconv.Itoa(p.limit)}, "offset": {strconv.Itoa(p.offset)}}, nil
}

// empty is the list of a memory in which nothing is.
func (p *page) empty() map[string]any {
	return map[string]any{"count": 0, "total": 0, "limit": p.limit, "offset": p.offset, "results": []any{}}
}

// left counts what comes after the shown part of a list.
func (p *page) left(shown, total int) int { return total - p.offset - shown }

// limitFlag adds --limit to a command that lists from the beginning.
func limitFlag(cmd *cobra.Command, limit int) *int {
	return cmd.Flags().IntP("limit", "n", limit, "how many")
}

func checkLimit(limit int) error {
	if limit < 1 {
		return claudemem.Errorf(claudemem.CodeInvalid, "--limit %d: want at least 1", limit)
	}
	return nil
}
