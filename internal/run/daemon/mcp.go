package daemon

import (
	"net/http"

	"claudemem/internal/capture/repo"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/mcpserver"
)

// mcp returns the MCP server for hosts that use HTTP. Their working directory is not
// known: they name a project, or search in all.
func (w *Worker) mcp(mem api.Memory) http.Handler {
	return mcpserver.New(mem, mcpserver.Options{
		Version: w.cfg.Version, Identify: Identify, Clock: w.cfg.Clock, Logger: w.log,
	}).Handler()
}

// Identify returns the project and the checkout of a directory.
func Identify(dir string) mcpserver.Place {
	id := repo.Identify("", dir)
	return mcpserver.Place{Project: id.Project, Checkout: memory.Checkout{Root: id.WorktreeRoot, Branch: id.Branch, HeadCommit: id.HeadCommit}}
}

// vocabulary returns the types and concepts of the mode in the settings.
func (w *Worker) vocabulary() (types, concepts []string) {
	m, _ := w.settings.mode()
	return m.Vocabulary()
}
