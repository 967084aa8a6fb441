package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// The categories of prompts, as their README has them.
var (
	relatedCategories   = "task short error question paraphrase path followup long german japanese crosslingual"
	unrelatedCategories = "generic followup smalltalk neighbour topic error elsewhere"
)

// TestPromptLabels: the labels of the prompts fit the corpus that they label.
func TestPromptLabels(t *testing.T) {
	records, prompts, err := readOwn()
	if err != nil {
		t.Fatal(err)
	}
	byID, projects := map[string]golden{}, map[string]bool{}
	for _, g := range records {
		byID[g.ID] = g
		projects[g.Project] = true
	}
	ids, texts := map[string]bool{}, map[string]string{}
	related, unrelated := 0, 0
	for _, p := range prompts {
		switch {
		case ids[p.ID]:
			t.Errorf("%s: two prompts of that id", p.ID)
		case strings.TrimSpace(p.Text) == "" || texts[p.Text] != "":
			t.Errorf("%s: empty, or the text of %s", p.ID, texts[p.Text])
		case !projects[p.Project]:
			t.Errorf("%s: no project %q", p.ID, p.Project)
		case strings.HasPrefix(p.ID, "r") != p.related():
			t.Errorf("%s: the id says something else than the labels %v", p.ID, p.Relevant)
		}
		ids[p.ID], texts[p.Text] = true, p.ID
		categories := unrelatedCategories
		if p.related() {
			categories = relatedCategories
			related++
		} else {
			unrelated++
		}
		if !strings.Contains(" "+categories+" ", " "+p.Category+" ") {
			t.Errorf("%s: no category %q", p.ID, p.Category)
		}
		best := 0
		for id, grade := range p.Relevant {
			g, ok := byID[id]
			if !ok || g.Project != p.Project || g.Kind != memory.RecordObservation {
				t.Errorf("%s: %s is no observation of %s", p.ID, id, p.Project)
			}
			if grade < 1 || grade > 3 {
				t.Errorf("%s: grade %d of %s", p.ID, grade, id)
			}
			best = max(best, grade)
		}
		if p.related() && best < 3 {
			t.Errorf("%s: nothing is what was needed", p.ID)
		}
	}
	if related != 150 || unrelated != 300 {
		t.Errorf("%d related and %d unrelated prompts, want 150 and 300", related, unrelated)
	}
}

// The slacks of TestPrompts: who of two records is the surer may turn on the last digit.
const (
	reachSlack     = 0.05
	precisionSlack = 0.03
	anythingSlack  = 0.01 // three prompts
)

// TestPrompts posts our own prompts to a worker that remembers our own corpus: what
// recall gives reaches the bars and is not worse than it was. With -update the
// figures are recorded anew.
func TestPrompts(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a worker's memory")
	}
	if underRace {
		t.Skip("under the race detector answers take longer than a hook waits, and are silence then")
	}
	t.Setenv("CLAUDE_MEM_SLACK", "1m") // a worker that takes too long is silent
	records, prompts, err := readOwn()
	if err != nil {
		t.Fatal(err)
	}
	var took pace
	answers, err := ownAnswers(t.Context(), records, prompts, fill, true, &took)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if a := &answers[i]; len(a.lines) > 0 && count(a.lines, a.fits).right == 0 || a.related() && len(a.lines) == 0 {
			t.Logf("%s %-10s %-70.70q wanted %v, got %v", a.ID, a.Category, a.Text, a.Relevant, a.lines)
		}
	}
	var table, bars bytes.Buffer
	printRecallHead(&table)
	printOwn(&table, answers)
	median, longest := took.of()
	t.Logf("\n%sanswers took %v in the median, %v at most", table.String(), median, longest)
	if !printRecallBars(&bars, nil, answers) {
		t.Errorf("\n%s", bars.String())
	}
	path := filepath.Join("testdata", "prompts", "figures.txt")
	if *update {
		if err := os.WriteFile(path, table.Bytes(), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	byCategory, others := ownTallies(answers)
	related, unrelated := byCategory[overall], others[overall]
	for l := range strings.Lines(string(raw)) {
		columns := strings.Fields(l)
		if len(columns) < 2 || columns[1] != overall {
			continue
		}
		number := func(column int) float64 {
			v, err := strconv.ParseFloat(columns[column], 64)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			return v
		}
		switch columns[0] {
		case "related":
			if got, want := related.precision(), number(6); got < want-precisionSlack {
				t.Errorf("precision %.4f, was %.4f", got, want)
			}
			if got, want := related.reach(), number(7); got < want-reachSlack {
				t.Errorf("reach %.4f, was %.4f", got, want)
			}
			related.prompts = 0
		case "unrelated":
			if got, want := unrelated.anything(), number(4); got > want+anythingSlack {
				t.Errorf("%.4f of the unrelated prompts get anything, was %.4f", got, want)
			}
			unrelated.prompts = 0
		}
	}
	if related.prompts+unrelated.prompts > 0 {
		t.Errorf("%s has no figures of all", path)
	}
}
