package main

import (
	"strings"
	"testing"

	"claudemem"
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
			if !ok || g.Project != p.Project || g.Kind != claudemem.RecordObservation {
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
