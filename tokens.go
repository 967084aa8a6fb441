package claudemem

import "unicode/utf8"

// EstimateTokens estimates what text costs a model: code points / 3.5 (docs/token-estimate.md)
// rounded up; 0 for no text.
func EstimateTokens(text string) int {
	return (2*utf8.RuneCountInString(text) + 6) / 7
}
