package recall

import (
	"context"

	"claudemem/internal/memory"
)

// Finder searches for records that are about a text, the best first.
type Finder interface {
	Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error)
}

// WorkTree compares records with the files and the history at hand.
type WorkTree interface {
	// Compare compares each of files below root with what was recorded of it; the
	// states are in the order of files.
	Compare(ctx context.Context, root string, files []memory.FileRef) ([]memory.FileState, error)
	// Unmerged returns the branch of each observation whose work is not in
	// c.HeadCommit. Observations that git cannot decide on, or not in time, are left out.
	Unmerged(ctx context.Context, c memory.Checkout, observations []memory.Observation) (map[memory.ObservationID]string, error)
}
