package httpapi

import (
	"context"
	"net/http"

	"claudemem/api"
)

func (a *server) reindex(w http.ResponseWriter, _ *http.Request) error {
	err := a.Reindexer.StartReindex()
	return answered(w, http.StatusAccepted)(a.Reindexer.Reindexing(), err)
}

func (a *server) reindexing(context.Context, struct{}) (api.Reindexing, error) {
	return a.Reindexer.Reindexing(), nil
}
