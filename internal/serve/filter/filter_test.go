package filter

import "testing"

func TestFilter(t *testing.T) {
	tests := []struct{ text, words, want string }{
		{"type:bugfix project:tally", "", "project=tally&type=bugfix"},
		{`file:"a b.go" why  does it fail`, "why does it fail", "files=a+b.go&query=why+does+it+fail"},
		{"concept:gotcha concepts:pattern session:S12", "", "concepts=gotcha&concepts=pattern&session_id=S12"},
		{"error: open foo:bar type:", "error: open foo:bar type:", "query=error%3A+open+foo%3Abar+type%3A"},
		{"since:2026-03-01 until:2026-03-31", "", "since=2026-03-01&until=2026-03-31"},
		{"dateFrom:2026-03-01 DATEEND:2026-03-31 orderby:oldest", "", "order=oldest&since=2026-03-01&until=2026-03-31"},
		{"date_from:2026-03-01", "", "since=2026-03-01"},
		{"type:bugfix\r\nfoo\u00a0project:tally", "foo", "project=tally&query=foo&type=bugfix"},
		{`project:"" fails`, `project:"" fails`, "query=project%3A%22%22+fails"},
		{"", "", ""},
	}
	for _, tt := range tests {
		f := Parse(tt.text)
		if f.Words != tt.words || f.Values().Encode() != tt.want {
			t.Errorf("%q: %q, %s", tt.text, f.Words, f.Values().Encode())
		}
		if again := Parse(f.String()); again.String() != f.String() {
			t.Errorf("%q becomes %q, then %q", tt.text, f, again)
		}
	}
}

// TestFeed: the feed leaves out prompts unless the filter names kinds, or what only
// observations have.
func TestFeed(t *testing.T) {
	for text, want := range map[string]string{
		"":              "kind=observation%2Csummary&order=newest",
		"kind:prompt":   "kind=prompt&order=newest",
		"type:bugfix":   "order=newest&type=bugfix",
		"project:tally": "kind=observation%2Csummary&order=newest&project=tally",
	} {
		if got := Parse(text).Feed().Encode(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
