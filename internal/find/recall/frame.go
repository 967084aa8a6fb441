package recall

// OpenTag and CloseTag are around all that a session is given.
const (
	OpenTag  = "<claude-mem-context>\n"
	CloseTag = "</claude-mem-context>"
)

// UnitsFor returns the width (text.Width) that costs at most the given tokens
// (docs/token-estimate.md).
func UnitsFor(tokens int) int { return 7 * tokens / 2 }
