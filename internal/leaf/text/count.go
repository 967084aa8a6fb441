package text

import (
	"strconv"
	"strings"
)

// Count returns a number with its noun, which is regular and in the singular: "1 event", "2 summaries",
// "0 days".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "a") {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Grouped returns a number with commas between its thousands: "1,234,567".
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// GroupedCount is Count with commas between the thousands: "1,234 records".
func GroupedCount(n int, noun string) string {
	return Grouped(n) + strings.TrimPrefix(Count(n, noun), strconv.Itoa(n))
}
