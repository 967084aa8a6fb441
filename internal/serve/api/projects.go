package api

import (
	"context"

	"claudemem/internal/memory"
)

// Aliases are the paths whose sessions belong to another project, by project.
type Aliases struct {
	Count   int                   `json:"count"`
	Results []memory.ProjectAlias `json:"results"`
}

// NewAlias has what is done in Path from now on belong to Project, a root or label.
type NewAlias struct {
	Path    string `json:"path"`
	Project string `json:"project"`
}

// AliasRequest names an alias by its path.
type AliasRequest struct {
	Path string `json:"path"`
}

// Aliases implements Memory.
func (l *Local) Aliases(ctx context.Context) (Aliases, error) {
	found, err := l.Store.Aliases(ctx)
	if err != nil {
		return Aliases{}, err
	}
	return Aliases{len(found), append([]memory.ProjectAlias{}, found...)}, nil // JSON: [] instead of null
}

// AddAlias implements Memory.
func (l *Local) AddAlias(ctx context.Context, n NewAlias) (memory.ProjectAlias, error) {
	return l.Keeper.AddAlias(ctx, n.Path, n.Project)
}

// RemoveAlias implements Memory.
func (l *Local) RemoveAlias(ctx context.Context, r AliasRequest) (memory.ProjectAlias, error) {
	return l.Keeper.RemoveAlias(ctx, r.Path)
}

// MergeProjects implements Memory.
func (l *Local) MergeProjects(ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
	return l.Keeper.MergeProjects(ctx, m)
}

// Aliases implements Memory.
func (f Forward) Aliases(ctx context.Context) (Aliases, error) {
	return forward(ctx, f, AliasesEndpoint, struct{}{})
}

// AddAlias implements Memory.
func (f Forward) AddAlias(ctx context.Context, q NewAlias) (memory.ProjectAlias, error) {
	return forward(ctx, f, AddAliasEndpoint, q)
}

// RemoveAlias implements Memory.
func (f Forward) RemoveAlias(ctx context.Context, q AliasRequest) (memory.ProjectAlias, error) {
	return forward(ctx, f, RemoveAliasEndpoint, q)
}

// MergeProjects implements Memory.
func (f Forward) MergeProjects(ctx context.Context, q memory.ProjectMerge) (memory.ProjectMerged, error) {
	return forward(ctx, f, MergeProjectsEndpoint, q)
}
