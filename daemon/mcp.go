package daemon

import (
	"context"
	"net/http"

	"claudemem"
	"claudemem/httpapi"
	"claudemem/mcpserver"
	"claudemem/repo"
	"claudemem/wire"
)

// mcp makes the MCP server that hosts reach over HTTP. It stands on the worker's own
// API. Where its clients work is not known: they name a project, or search in all.
func (w *Worker) mcp(local *httpapi.Local) http.Handler {
	return mcpserver.New(localAPI{local}, mcpserver.Options{
		Version: w.cfg.Version, Identify: Identify, SessionHeader: wire.SessionHeader, Clock: w.cfg.Clock, Logger: w.log,
	}).Handler()
}

// localAPI is the worker's API as the MCP server asks it.
type localAPI struct{ routes *httpapi.Local }

// Do implements mcpserver.API.
func (l localAPI) Do(ctx context.Context, r mcpserver.Request, out any) error {
	return l.routes.Do(ctx, r.Method, r.Target, r.Session, r.Body, out)
}

// Identify finds where a directory belongs.
func Identify(dir string) mcpserver.Place {
	id := repo.Identify("", dir)
	return mcpserver.Place{Project: id.Project, Checkout: claudemem.Checkout{Root: id.WorktreeRoot, Branch: id.Branch, HeadCommit: id.HeadCommit}}
}
