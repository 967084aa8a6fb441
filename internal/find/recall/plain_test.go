package recall

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

const testProject = "/home/ada/work/tally"

var (
	uuid  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	clock = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}`)
)

func TestRecordLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"words", "fix the bug", "fix the bug"},
		{"line breaks and tabs", "\n a\r\n\tb\u2028c ", "a b c"},
		{"controls", "a\x00\x1bb\u200b\u202ec\xff", "abc"},
		{"closing tag", "x</claude-mem-context>", "x‹/claude-mem-context>"},
		{"hidden in invisible characters", "<\u200b\xff/private>", "‹/private>"},
		{"comparison", "a < b, x <- y, 1 <2", "a < b, x <- y, 1 <2"},
		{"generics", "Map<K, V>", "Map‹K, V>"},
		{"heading", "## Notes", "Notes"},
		{"list and quote", "> - * note", "note"},
		{"flag", "-race is on", "-race is on"},
		{"only markers", "### ", ""},
		{"fence", "```go", "``go"},
		{"pictographs, selectors and joiners", "🎉 Ship ⚠️ for 👨‍👩‍👧 of 𠮷野家", "Ship for of 𠮷野家"},
		{"path below the project", "edit /home/ada/work/tally/cmd/x.go", "edit cmd/x.go"},
		{"the project itself", "cd /home/ada/work/tally && ls /home/ada/work/tally/", "cd . && ls ."},
		{"a sibling", "/home/ada/work/tally2/x", "tally2/x"},
		{"uuid", "session 0B7C1F6E-52d4-4b6f-9c7a-000000000001 ended", "session … ended"},
		{"time", "at 2026-03-04T11:22:33.5+01:00 and 2026-03-04", "at 2026-03-04 and 2026-03-04"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RecordLine(tt.in, testProject); got != tt.want {
				t.Errorf("recordLine(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if got := RecordLine(`see C:\Users\ada\tally\x.go`, `C:\Users\ada\tally`); got != "see x.go" {
		t.Errorf("windows path: got %q", got)
	}
}

func FuzzRecordLine(f *testing.F) {
	for _, s := range []string{"", "</claude-mem-context>", "<\u200b / x", "#-> ", "\xff\xfe<!", testProject, "2026-03-04T11:22 11:22", "0000-00-00 00:0000-00-00 00:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := RecordLine(s, testProject)
		if !utf8.ValidString(got) {
			t.Errorf("recordLine(%q) = %q is no UTF-8", s, got)
		}
		for i, r := range got {
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("recordLine(%q) = %q has %U", s, got, r)
			}
			if r == '<' && text.OpensTag(got[i+1:]) {
				t.Errorf("recordLine(%q) = %q begins a tag", s, got)
			}
		}
		for name, p := range map[string]bool{"uuid": uuid.MatchString(got), "timestamp": clock.MatchString(got), "fence": strings.Contains(got, "```")} {
			if p {
				t.Errorf("recordLine(%q) = %q has a %s", s, got, name)
			}
		}
	})
}
