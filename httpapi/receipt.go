package httpapi

import (
	"context"
	"net/http"

	"claudemem"
)

// Receipts account for sessions.
type Receipts interface {
	// SessionNamed finds a session by what people call it, "last" in a project;
	// CodeNotFound when there is none, CodeInvalid when there are several.
	SessionNamed(ctx context.Context, name, project string) (claudemem.Session, error)
	SessionReceipt(ctx context.Context, id claudemem.SessionID) (claudemem.SessionReceipt, error)
}

// sessionReceipt accounts for a session. It is not called by its number alone: agents
// and logs know the host's name for it.
func (a *api) sessionReceipt(w http.ResponseWriter, r *http.Request, p params) error {
	session, err := a.Receipts.SessionNamed(r.Context(), r.PathValue("id"), p.text("project"))
	if err != nil {
		return err
	}
	account, err := a.Receipts.SessionReceipt(r.Context(), session.ID)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, account)
}
