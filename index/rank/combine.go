package rank

// LikenessWeight and MaxSimWeight are how much meaning counts beside the share of
// the largest keyword score, MaxSimBest for how many of the best documents MaxSim
// is worth its time (docs/how-search-ranks.md).
const (
	LikenessWeight = 1.0
	MaxSimWeight   = 0.5
	MaxSimBest     = 60
)

// Combine adds up what a document is worth: the share that its keywords and their
// proximity have of the largest of the query, the best cosine of its fragments and
// its MaxSim.
func Combine(keywordShare, likeness, maxSim float64) float64 {
	return keywordShare + LikenessWeight*max(likeness, 0) + MaxSimWeight*maxSim
}

// CompanyWeight is what the best score of a record of the same day counts
// (docs/how-search-ranks.md).
const CompanyWeight = 0.1
