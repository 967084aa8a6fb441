package httpapi

import (
	"context"

	"claudemem/api"
)

func (a *server) reindex(context.Context, struct{}) (api.Reindexing, error) {
	err := a.Reindexer.StartReindex()
	return a.Reindexer.Reindexing(), err
}

func (a *server) reindexing(context.Context, struct{}) (api.Reindexing, error) {
	return a.Reindexer.Reindexing(), nil
}
