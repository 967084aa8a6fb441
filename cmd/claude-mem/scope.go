package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// scope is the projects that a command lists.
type scope struct {
	app   *app
	named *string
	all   bool
}

// scopeFlags adds --project and --all.
func (a *app) scopeFlags(cmd *cobra.Command) *scope {
	s := &scope{app: a, named: a.projectFlag(cmd, "", ofCurrent)}
	cmd.Flags().BoolVarP(&s.all, "all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	return s
}

// project returns the root or name of the project, "" for all.
func (s *scope) project() (string, error) {
	if s.all {
		return "", nil
	}
	return s.app.projectOr(*s.named)
}

// ofCurrent is the usage of --project where "" is the project of the current directory.
const ofCurrent = "a project's directory or name (default: the one you are in)"

// projectFlag adds --project, with its completion.
func (a *app) projectFlag(cmd *cobra.Command, value, usage string) *string {
	project := cmd.Flags().StringP("project", "p", value, usage)
	completeFlag(cmd, "project", a.projectChoices())
	return project
}

// projectOr returns the project that --project names, by its name or by a directory in
// it; "" means the current directory. CodeNotFound for a path that does not exist.
func (a *app) projectOr(named string) (string, error) {
	return a.projectNamed(cmp.Or(named, "."))
}

// projectNamed returns a project by a directory in it, or by its name. A deleted directory
// still names the project that had it as its root.
func (a *app) projectNamed(name string) (string, error) {
	if !isPath(name) {
		return name, nil
	}
	where, err := a.checkoutAt(name)
	return where.Project, err
}

// checkoutAt returns the checkout at a directory, which exists or is a project's root.
func (a *app) checkoutAt(name string) (repo.Identity, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return repo.Identity{Project: name}, nil //nolint:nilerr // the working directory is gone: it may be a project's name
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !a.remembersProject(dir) {
		return repo.Identity{}, memory.Errorf(memory.CodeNotFound, "no such directory: %q", oneLine(name, 200)).
			WithHint("`claude-mem projects` lists the projects; --project takes their names too")
	}
	return repo.Identify("", dir), nil
}

// rememberLimit bounds reading the projects for a directory that does not exist.
const rememberLimit = 5 * time.Second

// remembersProject reports whether the memory has a project with this root. A worker that
// does not answer costs as much time as in a completion; then the files are read.
func (a *app) remembersProject(root string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), rememberLimit)
	defer cancel()
	m, err := a.memory()
	if err != nil {
		return false
	}
	defer m.close()
	m.patience = completeLimit / 2
	projects, err := allProjects(ctx, m.Memory)
	return err == nil && slices.ContainsFunc(projects, func(p api.Project) bool { return p.ProjectPath == root })
}

// allProjects returns every project of a memory, without its number of observations.
func allProjects(ctx context.Context, m api.Memory) ([]api.Project, error) {
	all, err := readListing("", math.MaxInt, func(p api.Paged) ([]api.Project, int, error) {
		page, err := m.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: p.Limit, Offset: p.Offset})
		return page.Results, page.Total, err
	})
	return all.Results, err
}

// here returns the project of the current directory.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return repo.Identify("", dir).Project
}

// isPath reports whether a project is named by a directory.
func isPath(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}

// page is the shown part of a list.
type page struct{ limit, offset int }

// pageFlags adds --limit and --offset.
func pageFlags(cmd *cobra.Command, limit int) *page {
	p := &page{}
	cmd.Flags().IntVarP(&p.limit, "limit", "n", limit, "how many, at most 100")
	cmd.Flags().IntVar(&p.offset, "offset", 0, "how many to skip first")
	return p
}

// paged returns the page of the list of a scope (nil: of a list without projects);
// CodeInvalid for a limit or offset out of range.
func (p *page) paged(of *scope) (paged api.Paged, err error) {
	if p.limit < 1 || p.offset < 0 {
		return paged, memory.Errorf(memory.CodeInvalid, "--limit %d --offset %d: want at least 1 and 0", p.limit, p.offset)
	}
	paged.Limit, paged.Offset = p.limit, p.offset
	if of != nil {
		paged.Project, err = of.project()
	}
	return paged, err
}

// emptyPage returns the page of an empty memory.
func emptyPage[T any](p *page) api.Page[T] {
	return api.Page[T]{Limit: p.limit, Offset: p.offset, Results: []T{}}
}

// noteMore says how many of the list come after the page.
func (p *page) noteMore(a *app, shown, total int) {
	if left := total - p.offset - shown; left > 0 {
		a.note("%d more: --offset %d", left, p.offset+shown)
	}
}

// listing is the JSON of a list that was read from its beginning.
type listing[T any] struct {
	Project string `json:"project,omitempty"`
	Count   int    `json:"count"`
	Total   int    `json:"total"`
	Results []T    `json:"results"`
}

// readListing reads the first records of a project ("" for all), at most limit, page by page.
func readListing[T any](project string, limit int, page func(api.Paged) ([]T, int, error)) (listing[T], error) {
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

// noteMore says how many of a list are not shown.
func (a *app) noteMore(shown, total int) {
	if shown > 0 && total > shown {
		a.note("%d more; -n %d shows them all", total-shown, total)
	}
}

// limitFlag adds --limit to a command that lists from the beginning.
func limitFlag(cmd *cobra.Command, limit int) *int {
	return cmd.Flags().IntP("limit", "n", limit, "how many")
}
