package api

import (
	"context"

	"claudemem/internal/memory"
)

// AliasesRequest asks for all aliases.
type AliasesRequest struct{}

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

// aliases answers Memory.Aliases.
func (l *Local) aliases(ctx context.Context, _ AliasesRequest) (Aliases, error) {
	found, err := l.Store.Aliases(ctx)
	if err != nil {
		return Aliases{}, err
	}
	return Aliases{len(found), append([]memory.ProjectAlias{}, found...)}, nil // JSON: [] instead of null
}

// addAlias answers Memory.AddAlias.
func (l *Local) addAlias(ctx context.Context, n NewAlias) (memory.ProjectAlias, error) {
	return l.Keeper.AddAlias(ctx, n.Path, n.Project)
}

// removeAlias answers Memory.RemoveAlias.
func (l *Local) removeAlias(ctx context.Context, r AliasRequest) (memory.ProjectAlias, error) {
	return l.Keeper.RemoveAlias(ctx, r.Path)
}

// mergeProjects answers Memory.MergeProjects.
func (l *Local) mergeProjects(ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
	return l.Keeper.MergeProjects(ctx, m)
}
