package team

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"claudemem/internal/keep/store/care"
)

// ReadStatus returns what a store knows of the team of its data directory. CodeNotFound if it is in none.
func ReadStatus(ctx context.Context, s *care.Care, dataDir string) (*care.TeamStatus, error) {
	cfg, err := Load(dataDir)
	if err != nil {
		return nil, err
	}
	state := State{Refused: []string{}}
	err = s.SharedState(ctx, care.TeamState, &state)
	counts, err2 := care.CountTeam(ctx, s)
	status := &care.TeamStatus{Member: cfg.Member, Address: cfg.Address, Reader: cfg.Reader, Muted: cfg.Muted, SyncedAt: state.At, Behind: state.Behind,
		Fault: state.Fault, Hint: state.Hint, Refused: state.Refused, TeamCounts: counts}
	for _, project := range slices.Sorted(maps.Keys(cfg.Policies)) {
		status.Policies = append(status.Policies, care.TeamPolicy{Project: project, Summaries: cfg.Policies[project].Summaries})
	}
	return status, cmp.Or(err, err2)
}
