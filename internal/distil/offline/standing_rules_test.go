package offline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRulesOfStrangers counts the standing rules that are found in prompts whose writers did not know the
// distiller, in eleven to thirteen languages: as many as when it met them, and no more that are none. Develop
// on even.jsonl only: odd.jsonl says what a change is worth elsewhere. So with probes.jsonl and
// probes-held.jsonl, whose writer had seen the tables: bans, orders, habits, rules in lists, narrowed and
// lifted ones in informal spelling, and errands, questions, reports and quotations.
func TestRulesOfStrangers(t *testing.T) {
	for name, bar := range map[string]struct{ found, wrong int }{"even": {102, 1}, "odd": {44, 3}, "probes": {58, 2}, "probes-held": {41, 3}} {
		lines, err := os.ReadFile(filepath.Join("testdata", "rules", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		rules, found, others, wrong := 0, 0, 0, 0
		for line := range strings.Lines(string(lines)) {
			var p struct {
				Prompt string
				Rule   []string
			}
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			got := rulesOf(p.Prompt)
			if len(p.Rule) == 0 {
				others++
				if len(got) > 0 {
					wrong++
				}
			}
			for _, want := range p.Rule {
				rules++
				for _, r := range got {
					if coverage(want, r.content) >= 0.7 {
						found++
						break
					}
				}
			}
		}
		t.Logf("%s: %d of %d rules found, a rule in %d of %d other prompts", name, found, rules, wrong, others)
		if found < bar.found || wrong > bar.wrong || others == 0 {
			t.Errorf("%s: %d rules found, want at least %d; a rule in %d other prompts, want at most %d", name, found, bar.found, wrong, bar.wrong)
		}
	}
}

// coverage returns which share of the words of a text another one has; of its characters where words
// have no blanks between them.
func coverage(want, text string) float64 {
	pieces := strings.FieldsFunc(strings.ToLower(want), func(r rune) bool { return strings.ContainsRune(" ,.;:!?()`'\"", r) })
	if len(pieces)*8 < utf8.RuneCountInString(want) && len(pieces) < 4 {
		pieces = strings.Split(want, "")
	}
	text = strings.ToLower(text)
	n := 0
	for _, p := range pieces {
		if strings.Contains(text, strings.ToLower(p)) {
			n++
		}
	}
	return float64(n) / float64(max(len(pieces), 1))
}
