package redact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncateMiddle(t *testing.T) {
	const limit = 4096
	if s := strings.Repeat("x", limit); TruncateMiddle(s, limit) != s {
		t.Error("exactly the limit was cut")
	}
	for name, unit := range map[string]string{"characters": "é€𝄞", "words": "alpha beta\n", "no end": "x"} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat(unit, 3*limit/len(unit))
			got := TruncateMiddle(long, limit)
			if !utf8.ValidString(got) || len(got) > limit+64 {
				t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			head, rest, ok := strings.Cut(got, "\n[claude-mem: ")
			gone, tail, ok2 := strings.Cut(rest, " bytes cut]\n")
			if !ok || !ok2 || !strings.HasPrefix(long, head) || !strings.HasSuffix(long, tail) ||
				gone != fmt.Sprint(len(long)-len(head)-len(tail)) {
				t.Errorf("head %d, gone %s, tail %d of %d", len(head), gone, len(tail), len(long))
			}
		})
	}
}

// A key that only the full rules know must not leave its half behind.
func TestTruncateMiddleSplitsNoWord(t *testing.T) {
	const limit, key = 4096, "dapi0123456789abcdef0123456789abcdef"
	for shift := range 2 * len(key) {
		s := strings.Repeat("y", limit/2-len(key)-shift) + " " + strings.Repeat(key+" ", 400)
		for word := range strings.FieldsSeq(TruncateMiddle(s, limit)) {
			if word != key && strings.Contains(word, key[4:12]) {
				t.Fatalf("shift %d: half a word is left: %q", shift, word)
			}
		}
	}
}

func TestIsTruncated(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for s, want := range map[string]bool{
		"": false, long: false, TruncateMiddle(long, 100): true, "x" + TruncationMark(12) + "y": true,
		"\n[claude-mem: many bytes cut]\n": false, "\n[claude-mem:  bytes cut]\n": false, "[claude-mem: 3 bytes cut]": false,
		"\n[claude-mem: \n[claude-mem: 7 bytes cut]\n": true,
	} {
		if got := IsTruncated(s); got != want {
			t.Errorf("IsTruncated(%.60q) = %t", s, got)
		}
	}
}
