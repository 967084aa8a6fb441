package words

import (
	"slices"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	any := func(string) bool { return true }
	if list := Forms("handlers", nil); len(list) > 0 {
		t.Errorf("without known words: %+v", list)
	}
	if list := Forms("handlers", func(w string) bool { return w == "handler" || w == "handle" }); len(list) != 1 || list[0].Raw != "handle" || list[0].Of != "handler" {
		t.Errorf("with two known words: %+v", list)
	}
	for _, tt := range []struct {
		raw    string
		listed string // the abbreviations, and what it abbreviates
		formed string // some of those by a rule
		never  string
	}{
		{"config", "configuration", "", "config"},
		{"configuration", "config conf cfg", "", "configuration"},
		{"deduplication", "dedup", "", ""},
		{"deduplicate", "dedup", "duplicate", ""},
		{"dedupe", "deduplicate", "", "dedup"}, // of one stem with dedup
		{"handlers", "", "handle", "handlers handled"},
		{"handle", "", "handler", "handling"},
		{"running", "", "runner rerun", "run"}, // of one stem with run
		{"runner", "", "run", ""},
		{"failures", "", "fail", ""},
		{"failing", "", "failure", ""},
		{"correctly", "", "correct", ""},
		{"used", "", "unused", ""},
		{"unused", "", "used", ""},
		{"safety", "", "safe", ""},
		{"delivery", "", "deliver", ""},
		{"parser", "", "parse", ""},
		{"x86", "", "", ""},
		{"größe", "", "", ""},
		{"", "", "", ""},
	} {
		var listed, formed []string
		for _, f := range Forms(tt.raw, any) {
			if f.Text != stemmed(f.Raw) || f.Text == stemmed(tt.raw) {
				t.Errorf("%s: form %+v", tt.raw, f)
			}
			if f.Listed {
				listed = append(listed, f.Raw)
			} else {
				formed = append(formed, f.Raw)
			}
		}
		if tt.listed == "" && len(listed) > 0 {
			t.Errorf("%s: listed %v", tt.raw, listed)
		}
		for _, want := range strings.Fields(tt.listed) {
			if !slices.Contains(listed, want) {
				t.Errorf("%s: %s is not listed in %v", tt.raw, want, listed)
			}
		}
		for _, want := range strings.Fields(tt.formed) {
			if !slices.Contains(formed, want) {
				t.Errorf("%s: %s is not formed in %v", tt.raw, want, formed)
			}
		}
		for _, not := range strings.Fields(tt.never) {
			if slices.Contains(formed, not) || slices.Contains(listed, not) {
				t.Errorf("%s: has the form %s, which has its stem", tt.raw, not)
			}
		}
	}
}

// Forms of any word are words of letters, and not many.
func FuzzForms(f *testing.F) {
	f.Add("handlers")
	f.Add("ying")
	f.Add("eeeeee")
	f.Fuzz(func(t *testing.T, raw string) {
		list := Forms(raw, func(string) bool { return true })
		if len(list) > 400 {
			t.Errorf("%q has %d forms", raw, len(list))
		}
		for _, x := range list {
			if !letters(x.Raw) && !x.Listed || x.Text == "" {
				t.Errorf("%q has the form %+v", raw, x)
			}
		}
	})
}
