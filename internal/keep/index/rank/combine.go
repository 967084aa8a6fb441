package rank

// LikenessWeight, PromptLikenessWeight and MaxSimWeight are how much meaning counts
// beside the share of the largest keyword score; a prompt is said in passing, to
// somebody who knows what it is about, and its vector tells less than that of a
// record. MaxSimBest is for how many of the best documents MaxSim is worth its time
// (docs/how-search-ranks.md).
const (
	LikenessWeight       = 1.0
	PromptLikenessWeight = 0.6
	MaxSimWeight         = 0.5
	MaxSimBest           = 60
)

// LikenessWeightOf returns the weight of likeness in the score of a prompt or of another
// record.
func LikenessWeightOf(prompt bool) float64 {
	if prompt {
		return PromptLikenessWeight
	}
	return LikenessWeight
}

// Combine adds up what a document is worth: the share that its keywords and their
// proximity have of the largest of the query, the best cosine of its fragments and
// its MaxSim.
func Combine(keywordShare, likeness, maxSim float64, prompt bool) float64 {
	return keywordShare + LikenessWeightOf(prompt)*max(likeness, 0) + MaxSimWeight*maxSim
}

// CompanyWeight is the weight of the best score of a record of the same day
// (docs/how-search-ranks.md).
const CompanyWeight = 0.1
