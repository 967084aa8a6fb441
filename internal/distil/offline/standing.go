package offline

import (
	"strings"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// standing says whether what a sentence tells is so. What is not so keeps the label that
// says it, wherever it is shown, and is no title.
type standing int

const (
	isSo       standing = iota
	isRejected          // weighed or tried, and not taken
	isOpen              // still to be done, or left
	isAssumed           // not known
)

// standingCues are the cues of the labels that suspend what they stand with.
var standingCues = [...]string{isRejected: "rejected-label", isOpen: "open-label", isAssumed: "assumed-label"}

// openBox labels an item of a check list that is not ticked.
const openBox = "Open: "

// maxLabel is how long a label is, in bytes.
const maxLabel = 60

// labelOf returns how many bytes of a statement its label takes ("Not done: ", "(todo) "), 0
// for none, and what the label, or one at the statement's end ("…: todo"), tells of it.
func labelOf(s string) (n int, is standing) {
	if end := strings.IndexAny(s[:min(len(s), maxLabel)], ")]"); end > 0 && (s[0] == '(' || s[0] == '[') {
		if is = standingOf(s[1:end]); is != isSo {
			return end + 1, is
		}
	}
	for _, mark := range []string{": ", ":* ", ":_ ", "：", " – ", " — ", " - "} {
		if head, _, ok := strings.Cut(s[:min(len(s), maxLabel)], mark); ok && len(words(head)) <= 6 {
			if is = standingOf(head); is != isSo {
				return len(head) + len(mark), is
			}
		}
		if i := strings.LastIndex(s, mark); i > 0 && len(words(s[i:])) <= 4 {
			tail := strings.Trim(s[i+len(mark):], ".!。 ")
			if is = standingOf(tail); is != isSo && lang.Begins(tail, standingCues[is], "open-alone") {
				return 0, is
			}
		}
	}
	return 0, isSo
}

// standingOf returns what a label or heading tells of all that it stands with. Of a label
// with brackets ("Option B (not taken)") either part may tell it. What was considered and not
// done is rejected, so that is looked for first.
func standingOf(label string) standing {
	head, bracket, _ := strings.Cut(text.LowerASCII(label), "(")
	for _, part := range []string{head, bracket} {
		part = strings.Trim(part, " *_#:：()[].0123456789")
		if lang.Is(part, "open-alone") {
			return isOpen
		}
		for is := isRejected; is <= isAssumed; is++ {
			if lang.Has(part, standingCues[is]) {
				return is
			}
		}
	}
	return isSo
}
