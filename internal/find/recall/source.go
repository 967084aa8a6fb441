package recall

import (
	"context"
	"fmt"
	"strings"

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

// whyWords bounds the words that the reason of a line names.
const whyWords = 4

// WhyNear returns the reason for the line of a record near a text, such as "near the prompt: cosine
// 0.61, words index, vector".
func WhyNear(to string, f *memory.Related) string {
	var parts []string
	if f.Evidence.Likeness > 0 { // Without vectors there is none.
		parts = append(parts, fmt.Sprintf("cosine %.2f", f.Evidence.Likeness))
	}
	if f.Why != nil && len(f.Why.Words) > 0 {
		parts = append(parts, "words "+strings.Join(f.Why.Words[:min(len(f.Why.Words), whyWords)], ", "))
	}
	return strings.TrimSuffix(to+": "+strings.Join(parts, ", "), ": ")
}
