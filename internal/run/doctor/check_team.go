package doctor

import (
	"context"
	"fmt"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"
)

// checkTeam checks the exchange with the server of the memory's team, as it was noted last. It does not ask the server.
func checkTeam(ctx context.Context, e *exam) ([]Finding, string) {
	if !team.File.In(e.DataDir) {
		return nil, "this memory is in no team"
	}
	s, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	status, err := team.ReadStatus(ctx, s.Care, e.DataDir)
	if memory.CodeOf(err) == memory.CodeStorage {
		return []Finding{e.found("team-config", err.Error())}, ""
	}
	if err != nil {
		return nil, unread(err)
	}
	var list []Finding
	if status.Fault != "" {
		list = append(list, e.found("team-failed", "the exchange with the team failed: "+status.Fault))
	}
	if n := len(status.Refused); n > 0 {
		list = append(list, e.found("team-refused", fmt.Sprintf("%s of the team refused; the first: %s", text.Count(n, "record"), status.Refused[0])))
	}
	return list, text.Count(status.Pulled, "record") + " of others"
}
