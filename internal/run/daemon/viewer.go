package daemon

import (
	"os"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/serve/api"
)

// placeOf sets what is checked out at the project of a request for a context block, and the
// directories from which the host would load its own files. It sets nothing if the project's
// directory is gone.
func placeOf(r *api.ContextRequest) {
	if info, err := os.Stat(r.ProjectPath); err != nil || !info.IsDir() {
		return
	}
	id := repo.Identify("", r.ProjectPath)
	r.WorktreeRoot, r.Branch, r.HeadCommit, r.StartDir = id.WorktreeRoot, id.Branch, id.HeadCommit, r.ProjectPath
	home, _ := os.UserHomeDir() // without it nothing is left out
	r.ConfigDir, _ = claudedir.Config(os.Getenv, home)
}
