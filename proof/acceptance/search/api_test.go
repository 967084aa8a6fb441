//go:build unix

package search

import (
	"fmt"
	"strconv"
)

// word is the nth of words that no text has, letters only, and no two of which are
// one typing error apart: each syllable stands for a digit, and the last for their sum.
func word(n int) string {
	syllables := []string{"ba", "ke", "di", "fo", "gu", "ly", "me", "na", "ro", "tu"}
	out, sum := "zx", 0
	for _, d := range fmt.Sprintf("%05d", n) {
		sum += int(d-'0') * 3
		out += syllables[d-'0']
	}
	return out + syllables[sum%10] + "q"
}

func number(n int) string { return strconv.Itoa(n) }
