package memory

// EstimateTokens estimates what text costs a model, rounded up; 0 for no text. A character
// costs 1/3.5 of a token, one of another script than Latin more (docs/token-estimate.md).
func EstimateTokens(text string) int { return TokensOf(TokenCost(text)) }

// TokenCost returns the estimate before it is rounded, in 1/70 of a token (see TokensOf): the
// costs of two texts add up to that of both.
func TokenCost(text string) int {
	cost := 0
	for _, r := range text {
		cost += CharacterCost(r)
	}
	return cost
}

// TokensOf returns the tokens of a TokenCost, rounded up.
func TokensOf(cost int) int { return (cost + tokenUnit - 1) / tokenUnit }

// tokenUnit is a token in the unit of TokenCost.
const tokenUnit = 70

// LatinCost is the CharacterCost of a letter of the Latin script.
const LatinCost = tokenUnit * 2 / 7

// CharacterCost returns what a character costs in 1/70 of a token, by its script. The rates are
// those of the one vocabulary that the maker of Claude has published, within a quarter
// (docs/token-estimate.md).
func CharacterCost(r rune) int {
	const (
		latin     = LatinCost // 3.5 characters a token
		cyrillic  = 32        // 2.2
		ideograph = 60        // 1.2: Chinese, Japanese, Hebrew, Arabic
		syllable  = 70        // 1: Greek, the scripts of India, Thai, Korean and the like
	)
	switch {
	case r < 0x370: // with digits, marks and combining accents
		return latin
	case r < 0x400: // Greek
		return syllable
	case r < 0x530:
		return cyrillic
	case r < 0x780: // Armenian, Hebrew, Arabic, Syriac
		return ideograph
	case r < 0x1200: // the scripts of India, Thai, Georgian, the letters of Korean
		return syllable
	case r >= 0xAC00 && r < 0xD800: // Korean
		return syllable
	case r >= 0x2E80 && r < 0xA4D0, r >= 0xF900 && r < 0xFB00, r >= 0xFF00 && r < 0xFFF0, r >= 0x20000 && r < 0x32000:
		return ideograph
	default: // punctuation, symbols, emoji and rare scripts
		return latin
	}
}
