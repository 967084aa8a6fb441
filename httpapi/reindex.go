package httpapi

import "net/http"

// Reindexer builds the search index anew, in the background.
type Reindexer interface {
	// StartReindex begins; CodeConflict when it is under way already.
	StartReindex() error
	// Reindexing tells of what is under way, or else of the last one.
	Reindexing() Reindexing
}

// Reindexing is how far it is.
type Reindexing struct {
	Running bool `json:"running"`
	// Done and Total count records; Total is 0 while it is not known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Error is why the last one failed.
	Error string `json:"error,omitempty"`
}

func (a *api) reindex(w http.ResponseWriter, _ *http.Request) error {
	if err := a.Reindexer.StartReindex(); err != nil {
		return err
	}
	return writeJSON(w, http.StatusAccepted, a.Reindexer.Reindexing())
}

func (a *api) reindexing(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, a.Reindexer.Reindexing())
}
