package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequests(t *testing.T) {
	tests := []struct {
		prompt string
		wants  intent
		clause string
	}{
		{"Please fix the off-by-one in Window.Slide.", wantFix, "Fix the off-by-one in Window.Slide"},
		{"Can you add a --json flag to the list command, and run the tests?", wantFeature, "Add a --json flag to the list command"},
		{"the tests fail, please fix", wantFix, ""},
		{"fix it", wantFix, ""},
		{"We need discount codes for the shop.", wantFeature, "Add discount codes for the shop"},
		{"Why is it slow? Don't change anything.", wantFindOut, ""},
		{"Refactor parse into two functions.", wantRefactor, "Refactor parse into two functions"},
		{"Then fix it in Allow.", wantFix, ""},
		{"Move Link and Broken into links.go", wantRefactor, "Move Link and Broken into links.go"},
		{"Should we use a queue or a channel? Decide.", wantDecision, ""},
		{"continue", 0, ""},
		{"", 0, ""},
	}
	all := wantFix | wantFeature | wantRefactor | wantDecision
	for _, tt := range tests {
		r := parseRequest(tt.prompt)
		if got, want := r.wants&all, tt.wants&all; got != want {
			t.Errorf("%q: wants %b, want %b", tt.prompt, got, want)
		}
		if r.clause != tt.clause {
			t.Errorf("%q: clause %q, want %q", tt.prompt, r.clause, tt.clause)
		}
	}
}

func TestSentences(t *testing.T) {
	got := []string{}
	for _, s := range sentences("## Result\n\nIt works, e.g. with `a. B`. Version 1.2. go.mod is new!\n- one **thing**\n- [two](http://x)\n\n| a | b |\n\n```go\nfmt.Println()\n```\nThe end 🎉") {
		got = append(got, s.section+"/"+s.text)
	}
	want := []string{"result/It works, e.g. with `a. B`.", "result/Version 1.2.", "result/go.mod is new!", "result/one thing", "result/two", "result/The end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A row keeps its values below their headings, with an empty first cell and with a mark too many.
func TestTableRows(t *testing.T) {
	var got []string
	for _, s := range sentences("| Area | Cause | Fix |\n|---|---|---|\n| lexer | | rewrite |\n| | wrong check | use it |\n| parser | a | b | c |\n\n| | port |\n|---|---|\n| ring | 9107 |\n") {
		got = append(got, s.text)
	}
	want := []string{"lexer: fix rewrite.", "parser: cause a, fix b, c.", "ring: port 9107."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCutTexts(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"one two three four five", 15, "one two three…"},
		{"the first clause, and then much more of it", 30, "the first clause"},
		{"it stays because it is needed here", 20, "it stays"},
		{"it stays as it was because it is needed", 30, "it stays as it was"},
		{"the tick `is never closed in this text", 20, "the tick `is never`…"},
		{"ääääääääää ääääääääää", 15, "ääääääääää…"},
		{"nowordboundaryatallinthistext", 10, "nowordbou…"},
	}
	for _, tt := range tests {
		if got := cut(tt.text, tt.n); got != tt.want {
			t.Errorf("%q to %d: got %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
