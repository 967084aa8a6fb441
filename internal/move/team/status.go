package team

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
)

// Status is what is known here of a memory's team.
type Status struct {
	Member   string        `json:"member"`
	Address  string        `json:"address"`
	Reader   bool          `json:"reader,omitempty"`
	Policies []Shares      `json:"policies,omitempty"`
	Muted    []string      `json:"muted,omitempty"`
	SyncedAt memory.Millis `json:"synced_at_epoch,omitempty"`
	Behind   int64         `json:"behind,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Hint     string        `json:"hint,omitempty"`
	Refused  []string      `json:"refused"`
	care.TeamCounts
}

// Shares is a policy with its project.
type Shares struct {
	Project string `json:"project"`
	Policy
}

// ReadStatus returns what a store knows of the team of its data directory. CodeNotFound if it is in none.
func ReadStatus(ctx context.Context, s *care.Care, dataDir string) (*Status, error) {
	cfg, err := Load(dataDir)
	if err != nil {
		return nil, err
	}
	state := State{Refused: []string{}}
	err = s.SharedState(ctx, care.TeamState, &state)
	counts, err2 := care.CountTeam(ctx, s)
	status := &Status{Member: cfg.Member, Address: cfg.Address, Reader: cfg.Reader, Muted: cfg.Muted, SyncedAt: state.At, Behind: state.Behind,
		Fault: state.Fault, Hint: state.Hint, Refused: state.Refused, TeamCounts: counts}
	for _, project := range slices.Sorted(maps.Keys(cfg.Policies)) {
		status.Policies = append(status.Policies, Shares{project, cfg.Policies[project]})
	}
	return status, cmp.Or(err, err2)
}
