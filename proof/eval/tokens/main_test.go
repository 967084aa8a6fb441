package main

import (
	"math"
	"testing"

	"claudemem/internal/memory"
)

// TestCollect keeps the measurement whole: a folder that was renamed would leave a
// kind of text out of it without a word.
func TestCollect(t *testing.T) {
	t.Chdir("../../..")
	samples, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{}
	for _, s := range samples {
		if s.Text == "" {
			t.Errorf("an empty text of kind %q", s.Kind)
		}
		texts[s.Kind]++
	}
	for kind, least := range map[string]int{
		"CJK: Japanese": 20, "CJK: Chinese": 10, "CJK: Korean": 10, "JSON: payloads of hooks": 100, "code: Go": 500,
		"code: Python, JavaScript, shell": 5, "own block lines, English": 200, "own block lines, Japanese": 20,
		"own context blocks": 5, "own records as text": 50, "prose: English records": 200, "prose: German": 20, "prose: documentation": 50,
	} {
		if texts[kind] < least {
			t.Errorf("%d texts of kind %q, want at least %d", texts[kind], kind, least)
		}
	}
}

// TestScripts: by script the estimate is within a quarter of what the published vocabulary of
// Claude 2 makes of the same texts (count.mjs).
func TestScripts(t *testing.T) {
	t.Chdir("../../..")
	samples, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	estimated := map[string]int{}
	for _, s := range samples {
		estimated[s.Kind] += memory.EstimateTokens(s.Text)
	}
	for kind, tokens := range map[string]int{
		"CJK: Chinese": 248, "CJK: Japanese": 1551, "CJK: Korean": 428, "prose: Arabic": 511,
		"prose: German": 1667, "prose: Greek": 715, "prose: Hindi": 728, "prose: Russian": 407,
	} {
		if off := float64(estimated[kind])/float64(tokens) - 1; math.Abs(off) > 0.25 {
			t.Errorf("%s: estimated %d, counted %d: %+.0f %%", kind, estimated[kind], tokens, 100*off)
		}
	}
}
