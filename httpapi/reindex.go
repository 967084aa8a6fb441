package httpapi

import "net/http"

func (a *server) reindex(w http.ResponseWriter, _ *http.Request) error {
	if err := a.Reindexer.StartReindex(); err != nil {
		return err
	}
	return writeJSON(w, http.StatusAccepted, a.Reindexer.Reindexing())
}

func (a *server) reindexing(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, a.Reindexer.Reindexing())
}
