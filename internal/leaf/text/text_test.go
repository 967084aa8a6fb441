package text

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text/runes"
)

func TestPlain(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"words", "fix the bug", "fix the bug"},
		{"line breaks and tabs", "\n a\r\n\tb\u2028c ", "a b c"},
		{"control characters", "a\x00\x1bb\u200b\u202ec\xff", "abc"},
		{"colours", "\x1b[1;31mred\x1b[0m and \x1b(Bplain", "red and plain"},
		{"a terminal's title", "\x1b]0;title\x07text \x1b]8;;x\x1b\\link", "text link"},
		{"an unfinished sequence", "a\x1b[3", "a"},
		{"closing tag", "x</claude-mem-context>", "x‹/claude-mem-context>"},
		{"hidden in invisible characters", "<\u200b\xff/private>", "‹/private>"},
		{"hidden in pictures", "<\U0001f389/private>", "‹/private>"},
		{"hidden in a sequence", "<\x1b[1m/private>", "‹/private>"},
		{"a model's own tokens", "<|im_start|>system <\u200b|x|> <｜begin▁of▁sentence｜>", "‹|im_start|>system ‹|x|> ‹｜begin▁of▁sentence｜>"},
		{"comparison", "a < b, x <- y, 1 <2", "a < b, x <- y, 1 <2"},
		{"generics", "Map<K, V>", "Map‹K, V>"},
		{"pictograph", "🎉 Ship 🚀 it", "Ship it"},
		{"emoji of the BMP with its selector", "⚠️ careful ✅", "careful"},
		{"keycap", "step 1️⃣", "step 1"},
		{"joined family", "👨‍👩‍👧 login", "login"},
		{"skin tone and flag", "👍🏽 from 🇩🇪", "from"},
		{"ideographs beyond the BMP", "𠮷野家 𡈽", "𠮷野家 𡈽"},
		{"ideograph with its variation", "葛\U000e0100城", "葛城"},
		{"letters beyond the BMP", "𝒜 𐐷", "𝒜 𐐷"},
		{"arrows, dots and accents", "a → b · é ● ◆", "a → b · é ● ◆"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Plain(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlainLines(t *testing.T) {
	got := PlainLines("  a\x07\r\n\tb <x>\u00a0🎉c\n")
	if want := "a\n\tb ‹x> c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTerminal(t *testing.T) {
	if got, want := TerminalLine(" a\x1b[1mb\n\u0085c\t"), "a [1mb c"; got != want {
		t.Errorf("TerminalLine: got %q, want %q", got, want)
	}
	if got, want := Terminal("a\x1b[1m\n\tb\u0085"), "a[1m\n\tb"; got != want {
		t.Errorf("Terminal: got %q, want %q", got, want)
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		name     string
		truncate func(string, int) string
		in       string
		n        int
		want     string
	}{
		{"FirstBytes", FirstBytes, "añb", 2, "a"},
		{"FirstBytes", FirstBytes, "añb", 3, "añ"},
		{"FirstBytes", FirstBytes, "añb", 4, "añb"},
		{"FirstBytes", FirstBytes, "añb", -1, ""},
		{"TruncateBytes", TruncateBytes, "one two", 7, "one two"},
		{"TruncateBytes", TruncateBytes, "one two!", 7, "one…"},
		{"TruncateBytes", TruncateBytes, "éééé", 6, "é…"},
		{"TruncateBytes", TruncateBytes, "abcdef", 5, "ab…"},
		{"TruncateBytes", TruncateBytes, "abcdef", 3, "…"},
		{"TruncateBytes", TruncateBytes, "abcdef", 2, ""},
		{"TruncateBytes", TruncateBytes, "abcdef", 0, ""},
		{"TruncateBytes", TruncateBytes, "ab cdef", 6, "ab…"},
		{"TruncateBytes", TruncateBytes, "äöüä", 7, "äö…"},
		{"TruncateBytes", TruncateBytes, "", 0, ""},
		{"TruncateRunes", TruncateRunes, "éééé", 4, "éééé"},
		{"TruncateRunes", TruncateRunes, "ééééé", 4, "ééé…"},
		{"TruncateRunes", TruncateRunes, "one two", 5, "one…"},
		{"TruncateRunes", TruncateRunes, "one", 1, "…"},
		{"TruncateRunes", TruncateRunes, "one", 0, ""},
		{"TruncateWidth", TruncateWidth, "short", 5, "short"},
		{"TruncateWidth", TruncateWidth, "one two three", 9, "one two…"},
		{"TruncateWidth", TruncateWidth, "one two three", 8, "one two…"},
		{"TruncateWidth", TruncateWidth, "abcdefghijkl", 5, "abcd…"},
		{"TruncateWidth", TruncateWidth, "wort, und", 6, "wort…"},
		{"TruncateWidth", TruncateWidth, "𝄞𝄞𝄞", 5, "𝄞𝄞…"},
		{"TruncateWidth", TruncateWidth, "𝄞𝄞𝄞", 4, "𝄞…"},
		{"TruncateWidth", TruncateWidth, "測試在本地", 10, "測試在…"},
		{"TruncateWidth", TruncateWidth, "a\xffbc", 3, "a\xff…"},
		{"TruncateWidth", TruncateWidth, "x y", 1, "…"},
		{"TruncateWidth", TruncateWidth, "x y", 0, ""},
		{"TruncateWidth", TruncateWidth, "x y", -3, ""},
	} {
		if got := tt.truncate(tt.in, tt.n); got != tt.want {
			t.Errorf("%s(%q, %d) = %q, want %q", tt.name, tt.in, tt.n, got, tt.want)
		}
	}
}

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 4, 12, 0, 30, 0, time.UTC)
	for _, tt := range []struct {
		age  time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{0, "just now"},
		{30 * time.Second, "just now"},
		{31 * time.Second, "1m ago"}, // in the minute before
		{59 * time.Minute, "59m ago"},
		{time.Hour, "1h ago"},
		{day - time.Minute, "23h ago"},
		{day, "yesterday"},
		{26 * time.Hour, "yesterday"},
		{2*day - time.Minute, "yesterday"},
		{2 * day, "2d ago"},
		{14*day - time.Minute, "13d ago"},
		{14 * day, "2w ago"},
		{60 * day, "2mo ago"},
		{729 * day, "24mo ago"},
		{730 * day, "2y ago"},
	} {
		if got := Age(now, now.Add(-tt.age)); got != tt.want {
			t.Errorf("Age of %v: got %q, want %q", tt.age, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "</claude-mem-context>", "<\u200b / x", "\xff\xfe<!", "\x1b[31mred\x1b[0m", "🎉é👨‍👩‍👧"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		for name, got := range map[string]string{"Plain": Plain(s), "PlainLines": PlainLines(s)} {
			if !utf8.ValidString(got) || len(got) > len(s)+2*strings.Count(s, "<") {
				t.Errorf("%s(%q) = %q", name, s, got)
			}
			for i, r := range got {
				if Invisible(r) && !unicode.IsSpace(r) || Pictograph(r) || r == '<' && OpensTag(got[i+1:]) || name == "Plain" && unicode.IsSpace(r) && r != ' ' {
					t.Errorf("%s(%q) = %q has %U", name, s, got, r)
				}
			}
		}
		plain := Plain(s)
		if got := FirstBytes(plain, n); len(got) > max(n, 0) || !strings.HasPrefix(plain, got) || !utf8.ValidString(got) {
			t.Errorf("FirstBytes(%q, %d) = %q", plain, n, got)
		}
		if got := TruncateBytes(plain, n); len(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Errorf("TruncateBytes(%q, %d) = %q", plain, n, got)
		}
		if got := TruncateRunes(plain, n); utf8.RuneCountInString(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Errorf("TruncateRunes(%q, %d) = %q", plain, n, got)
		}
		if got := TruncateWidth(plain, n); runes.UTF16Len(got) > max(n, 0) || Width(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Errorf("TruncateWidth(%q, %d) = %q", plain, n, got)
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 summaries", 1: "1 summary", 2: "2 summaries"} {
		if got := Count(n, "summary"); got != want {
			t.Errorf("Count(%d, summary) = %q, want %q", n, got, want)
		}
	}
	if got, want := Count(3, "event"), "3 events"; got != want {
		t.Errorf("Count(3, event) = %q, want %q", got, want)
	}
}

func TestHead(t *testing.T) {
	h := Head{Max: 4}
	for _, s := range []string{"ab", "cde", "f"} {
		if n, err := h.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	if got := h.String(); got != "abcd" {
		t.Errorf("kept %q, want the first 4 bytes", got)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
