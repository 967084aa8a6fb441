package print

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/charmbracelet/x/ansi"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	p := &Printer{Now: now}
	for at, want := range map[memory.Millis]string{
		0: "never", memory.MillisOf(now): "just now", memory.MillisOf(now.Add(-26 * time.Hour)): "yesterday",
	} {
		if got := p.Ago(at); got != want {
			t.Errorf("ago of %d: got %q, want %q", at, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct {
		text string
		max  int
		want string
	}{
		{"a  b\n\tc", 0, "a b c"},
		{"\x1b[31mred\x07", 0, "[31mred"}, // a recorded text must not steer the terminal
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcde…"},
		{"abcd efg", 6, "abcd…"},
		{"äöüäöü", 4, "äöü…"},
		{"", 5, ""},
	}
	for _, tt := range tests {
		if got := Line(tt.text, tt.max); got != tt.want {
			t.Errorf("oneLine(%q, %d) = %q, want %q", tt.text, tt.max, got, tt.want)
		}
	}
}

func TestSpentCells(t *testing.T) {
	tests := []struct {
		spent accounts.Spent
		want  string
	}{
		{accounts.Spent{}, "0 calls|0 in|0 out|0 cached"},
		{accounts.Spent{Calls: 1, TokensIn: 999, TokensOut: 1000, TokensCached: 123_456}, "1 call|999 in|1.0k out|123k cached"},
		{accounts.Spent{Calls: 2, TokensIn: 1_234_567, USD: 0.00123}, "2 calls|1.2M in|0 out|0 cached|$0.0012"},
		{accounts.Spent{Calls: 2, USD: 12.345, Unpriced: 1, Failed: 3, Reserved: 5000}, "2 calls|0 in|0 out|0 cached|$12.35 + 1 call of unknown price, 5.0k reserved, 3 failed"},
		{accounts.Spent{Calls: 4, Unpriced: 4}, "4 calls|0 in|0 out|0 cached"},
	}
	for _, tt := range tests {
		if got := strings.TrimSuffix(strings.Join(spentCells(tt.spent), "|"), "|"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestRowsFitTheTerminal: a title is truncated so that its id stays on the line, also where a character
// takes two columns, or none.
func TestRowsFitTheTerminal(t *testing.T) {
	for name, word := range map[string]string{"latin": "a long title ", "chinese": "令牌桶限流器 ", "emoji": "🎉 done 👩‍👩‍👧‍👦 ", "flags": "🇩🇪 and 🇫🇷 ", "marks": "ṣ̌é lé "} {
		for _, width := range []int{40, 60, 80} {
			var out strings.Builder
			p := &Printer{W: &out, Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Width: width}
			long := strings.Repeat(word, 20)
			p.Entry(api.Line{Entry: api.Entry{Kind: memory.RecordObservation, ID: 12, Title: long, Subtitle: long, Project: "tally"}}, true)
			lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			for _, line := range lines {
				if n := ansi.StringWidthWc(line); n > width || n < width-12 {
					t.Errorf("%s: %d of %d columns: %s", name, n, width, line)
				}
			}
			if len(lines) != 2 || !strings.HasSuffix(lines[0], "… #12 tally") {
				t.Errorf("%s in %d columns: got %q", name, width, lines)
			}
		}
	}
}
