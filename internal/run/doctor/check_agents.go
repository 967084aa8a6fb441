package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/text"
	"claudemem/internal/run/install"
)

// checkAgents checks the hooks and the MCP server in the files of the agents besides Claude
// Code in which claude-mem is installed.
func checkAgents(ctx context.Context, e *exam) ([]Finding, string) {
	var list []Finding
	var fine []string
	for _, s := range e.agents() {
		found := e.agent(ctx, s)
		list = append(list, found...)
		if len(found) == 0 {
			fine = append(fine, s.Label+": "+text.Count(s.Hooks, "hook")+", MCP server, "+e.lastHeard(s))
		}
	}
	if len(fine) == 0 {
		fine = []string{"claude-mem is installed in no other agent"}
	}
	return list, strings.Join(fine, "; ")
}

// agent returns the findings about one agent.
func (e *exam) agent(ctx context.Context, s install.AgentState) []Finding {
	host := string(s.Host)
	var list []Finding
	for _, path := range s.Unreadable {
		list = append(list, e.found("agent-unreadable", path+" cannot be read", "path", path, "host", host))
	}
	if len(list) > 0 {
		return list
	}
	for _, path := range s.Programs {
		if _, err := os.Stat(path); filepath.IsAbs(path) && err != nil {
			return []Finding{e.found("agent-program-gone", s.Label+" runs "+path+", which does not exist", "host", host)}
		}
	}
	switch {
	case s.Hooks == 0:
		list = append(list, e.found("agent-hooks", s.Label+" has no hooks of claude-mem in "+s.ConfigDir, "host", host))
	case len(s.Missing) > 0:
		list = append(list, e.found("agent-hooks", s.Label+" has no hook of claude-mem for "+strings.Join(s.Missing, ", "), "host", host))
	}
	if !s.Server {
		list = append(list, e.found("agent-mcp", s.Label+" does not know the memory's MCP server", "host", host))
	}
	if len(list) > 0 || len(s.Programs) == 0 || e.RunVersion == nil {
		return list
	}
	said, err := e.RunVersion(ctx, s.Programs[0], "--version")
	if version := versionIn(said); err != nil || version != e.Version {
		list = append(list, e.found("agent-version", fmt.Sprintf("the hooks of %s are version %s, this program is %s", s.Label, orOlder(version), e.Version), "host", host))
	}
	return list
}

// lastHeard returns when the agent's last event came, and what the user may have to do if
// none has come.
func (e *exam) lastHeard(s install.AgentState) string {
	activity, err := e.activity()
	if err == nil {
		if i := slices.IndexFunc(activity.Hosts, func(h books.HostActivity) bool { return h.Host == s.Host }); i >= 0 {
			return "last event " + e.ago(activity.Hosts[i].LastAt.Time())
		}
	}
	if s.Note != "" {
		return "no event yet (" + s.Note + ")"
	}
	return "no event yet"
}
