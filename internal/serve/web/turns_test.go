package web_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineTags = regexp.MustCompile(`</?(b|bdi|code|em|i|kbd|mark|span|strong|time)\b[^>]*>`)
	tags       = regexp.MustCompile(`<[^>]*>`)
	sentence   = regexp.MustCompile(`[.!?;:]+(?:["”)]*\s|$)|\n`)
	noWords    = regexp.MustCompile(`[^\pL\pN]+`)
)

// saidTwice returns the sentences of five words or more that the main part of a page shows more than
// once. What elements show is not one sentence with what others show.
func saidTwice(page string) (twice []string) {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "<dialog")
	text := html.UnescapeString(tags.ReplaceAllString(inlineTags.ReplaceAllString(strings.ReplaceAll(page, "\n", " "), ""), "\n"))
	seen := map[string]int{}
	for _, s := range sentence.Split(text, -1) {
		s = strings.TrimSpace(noWords.ReplaceAllString(strings.ToLower(s), " "))
		if len(strings.Fields(s)) < 5 {
			continue
		}
		if seen[s]++; seen[s] == 2 {
			twice = append(twice, s)
		}
	}
	return twice
}

// TestNoSentenceTwice: no sentence stands twice on the pages of the recorded sessions.
func TestNoSentenceTwice(t *testing.T) {
	v := fixture(t, "testdata/memory.jsonl")
	for id := 1; id <= 9; id++ {
		path := fmt.Sprintf("/session/%d", id)
		shown := page(v, path)
		if !strings.Contains(shown, `class="turn"`) {
			t.Fatalf("%s has no turn", path)
		}
		for _, s := range saidTwice(shown) {
			t.Errorf("%s says twice: %s", path, s)
		}
	}
	if twice := saidTwice("<main><p>The bound is read too early.</p><li>It fails: the <code>bound</code> is read too early"); len(twice) != 1 {
		t.Errorf("the test finds %q", twice)
	}
}
