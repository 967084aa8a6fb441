package agentfiles

import (
	"cmp"
	"context"
	"slices"

	"claudemem/internal/leaf/text"
	"claudemem/internal/serve/api"
)

// maxRecords bounds the records that are read for the blocks of a project.
const maxRecords = 500

// Records returns the observations of a project for Sync, the newest first, without foreign
// text that asks for something.
func Records(ctx context.Context, m api.Memory, project string) ([]api.Observation, error) {
	var records []api.Observation
	for {
		page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull,
			Paged: api.Paged{Project: project, Limit: api.MaxLimit, Offset: len(records)}})
		if err != nil {
			return nil, err
		}
		records = append(records, page.Results...)
		if len(page.Results) == 0 || len(records) >= min(page.Total, maxRecords) {
			break
		}
	}
	records = slices.DeleteFunc(records, func(o api.Observation) bool { return text.IsForeignOrder(o.Foreign, o.Title) })
	// The list has pinned ones first.
	slices.SortStableFunc(records, func(a, b api.Observation) int {
		return cmp.Or(cmp.Compare(b.CreatedAtEpoch, a.CreatedAtEpoch), cmp.Compare(b.ID, a.ID))
	})
	return records, nil
}
