package daemon

import (
	"net/http"

	"claudemem"
	"claudemem/api"
	"claudemem/mcpserver"
	"claudemem/repo"
	"claudemem/wire"
)

// mcp makes the MCP server that hosts reach over HTTP. Where its clients work is not
// known: they name a project, or search in all.
func (w *Worker) mcp(memory api.Memory) http.Handler {
	return mcpserver.New(memory, mcpserver.Options{
		Version: w.cfg.Version, Identify: Identify, SessionHeader: wire.SessionHeader, Clock: w.cfg.Clock, Logger: w.log,
	}).Handler()
}

// Identify finds where a directory belongs.
func Identify(dir string) mcpserver.Place {
	id := repo.Identify("", dir)
	return mcpserver.Place{Project: id.Project, Checkout: claudemem.Checkout{Root: id.WorktreeRoot, Branch: id.Branch, HeadCommit: id.HeadCommit}}
}

// vocabulary returns the types and concepts of the mode that the settings name now.
func (w *Worker) vocabulary() (types, concepts []string) {
	m, _ := w.settings.mode()
	return m.Vocabulary()
}
