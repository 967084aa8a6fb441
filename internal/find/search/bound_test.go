package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBoundText(t *testing.T) {
	const most = relatedHead + relatedTail
	for _, tt := range []struct {
		name, text  string
		first, last string // what the result begins and ends with
	}{
		{"short", "why is the cart empty", "why is", "empty"},
		{"as long as can be", strings.Repeat("x", most), "xxx", "xxx"},
		{"the question first", "why is the cart empty\n" + strings.Repeat("line of a log\n", 2000), "why is the cart empty\n", "line of a log\n"},
		{"the question last", strings.Repeat("line of a log\n", 2000) + "why is the cart empty", "line of a log\n", "why is the cart empty"},
		{"no spaces", strings.Repeat("ab", most), "ab", "ab"},
		{"characters of three bytes", strings.Repeat("設定", most), "設定", "設定"},
		{"no text", strings.Repeat("\xff\xfe ", most), " ", " "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := boundText(tt.text)
			if len(got) > most+1 || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
			}
			if !strings.HasPrefix(got, tt.first) || !strings.HasSuffix(got, tt.last) {
				t.Errorf("got %.20q … %q", got, got[max(0, len(got)-20):])
			}
		})
	}
	if got := boundText(strings.Repeat("word ", most)); strings.Contains(got, "wordword") || strings.Contains(strings.ReplaceAll(got, "word", ""), "w") {
		t.Error("a word is cut where a space is near")
	}
}

func FuzzBoundText(f *testing.F) {
	f.Add("why is the cart empty", 1)
	f.Add("設定\xff \n", 5000)
	f.Fuzz(func(t *testing.T, part string, times int) {
		text := strings.Repeat(part, min(max(times, 0), 20_000/(len(part)+1)))
		got := boundText(text)
		if !utf8.ValidString(got) || len(got) > 3*len(text)+1 {
			t.Fatalf("%d bytes of %d", len(got), len(text))
		}
		if len(text) <= relatedHead+relatedTail && utf8.ValidString(text) && got != text {
			t.Fatal("a short text is changed")
		}
	})
}
