//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }

// TestPrograms measures tiny sets with the real programs. What they remember is a rule of the
// user, which is a learning whatever else becomes of talk, and the prompts, which search finds.
func TestPrograms(t *testing.T) {
	world.NeedBinaries(t)
	rule := talk{name: "bakery", subject: "bakery", at: time.Now().Add(-2 * apart), turns: []turn{
		{"user", "The rye loaves came out black again."},
		{"assistant", "Then the oven ran too hot, or they stayed in for too long."},
		{"user", "Never bake rye above 210 degrees."},
		{"assistant", "Understood."},
	}}
	decoy := talk{name: "decoy-1", at: time.Now().Add(-apart), turns: []turn{{"user", "How do the shelves in the shop look today?"}, {"assistant", "Fine."}}}
	label := "rye never above 210 degrees: black" // black is in the prompt only
	report := probe{name: "bakery", prompt: "Black loaves: the rye was too hot.", label: label, gold: []string{"bakery"}}
	other := probe{name: "kiln", prompt: "Do the shelves look fine?", label: label, gold: []string{"bakery"}}
	decided := set{talks: []talk{rule, decoy}, probes: []probe{report, other}}
	var out strings.Builder
	if err := measure(t.Context(), &out, world.BinDir(), options{show: true}, decided, set{}, set{}); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "\nsde-bench ")
	table, _, _ = strings.Cut(table, "\nDevMemBench ")
	checkFigures(t, figuresIn(table), map[string]string{
		"their words in the talk":                               "1.00 1.00 1.00",
		"their words in all three and prompts":                  "1.00 1.00 1.00",
		"whole (.8 of the words) in observations and learnings": "2 1 1",
		"search hit@1":                  "50.0% 100.0% 0.0%",
		"BM25 over the raw talks hit@1": "50.0% 100.0% 0.0%",
		"amended decisions":             "0 0 0",
		"observations a decoy":          "0.00 0.00 –",
	})
	if t.Failed() {
		t.Log(out.String())
	}
	for _, want := range []string{
		"\n=== bakery\n", "\nwanted: " + label + "\n", "\n  user: Never bake rye above 210 degrees.\n", "\n  learning of bakery: Never bake rye above 210 degrees", "\nDevMemBench ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "=== kiln") {
		t.Errorf("shows an odd one:\n%s", out.String())
	}
}
