package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem"
)

// foundJSON is what commands read of the answer of a search route.
type foundJSON struct {
	Total   int       `json:"total"`
	Results []hitJSON `json:"results"`
	// Understood is nil where a text was taken word for word.
	Understood *claudemem.Understood `json:"understood"`
}

// hitJSON is a record of any kind as the search routes and the timeline have it.
type hitJSON struct {
	recordJSON
	Score float64                `json:"score"`
	Why   *claudemem.Explanation `json:"why"`
	// Text is a prompt's; the rest of a summary's fields.
	Text         string `json:"text"`
	Investigated string `json:"investigated"`
	Learned      string `json:"learned"`
	Completed    string `json:"completed"`
	NextSteps    string `json:"next_steps"`
	Notes        string `json:"notes"`
}

// shown are the ids of the first max hits, as show takes them.
func (f *foundJSON) shown(most int) []string {
	var ids []string
	for i := range f.Results {
		if id := strings.TrimPrefix(f.Results[i].name(), "#"); len(ids) < most && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// unscored counts the hits at the end that only the filter found.
func (f *foundJSON) unscored() int {
	n := 0
	for n < len(f.Results) && f.Results[len(f.Results)-1-n].Score == 0 {
		n++
	}
	return n
}

// name is what people call the record: #12 an observation; a prompt and a summary
// are shown with their session.
func (h *hitJSON) name() string {
	if h.Kind == string(claudemem.RecordObservation) || h.Kind == "" {
		return fmt.Sprintf("#%d", h.ID)
	}
	return fmt.Sprintf("S%d", h.SessionDBID)
}

// glyph is the sign of a record in a list.
func (h *hitJSON) glyph() string {
	switch h.Kind {
	case string(claudemem.RecordPrompt):
		return "›"
	case string(claudemem.RecordSummary):
		return "§"
	case "anchor":
		return "·"
	default:
		return h.Type.Glyph()
	}
}

// hit is a record in a list: when, glyph, title, id, and its second line.
func (p *printer) hit(h *hitJSON, withProject bool) {
	p.hitLine("", h, withProject)
	if h.Subtitle != "" {
		p.printf("%14s%s\n", "", p.style(styleDim, oneLine(h.Subtitle, 120)))
	}
}

func (p *printer) hitLine(mark string, h *hitJSON, withProject bool) {
	project := ""
	if withProject {
		project = h.Project
	}
	p.printf("%s", mark)
	p.row(h.CreatedAtEpoch, h.glyph(), h.Title, h.name(), project)
}

// hitInFull is a record as show has it.
func (p *printer) hitInFull(h *hitJSON) {
	if h.Kind != string(claudemem.RecordObservation) {
		p.printf("%s %s  %s\n%s\n", h.glyph(), p.style(styleBold, oneLine(h.Title, 0)), p.style(styleDim, h.name()),
			p.style(styleDim, strings.Join([]string{h.Kind, p.ago(h.CreatedAtEpoch), oneLine(h.Project, 60)}, " · ")))
		if h.Text != "" {
			p.printf("\n%s\n", safe(h.Text))
		}
		p.summary(&claudemem.Summary{Investigated: h.Investigated, Learned: h.Learned, Completed: h.Completed, NextSteps: h.NextSteps, Notes: h.Notes})
		return
	}
	o := claudemem.Observation{
		ID: h.ID, Session: h.SessionDBID, ProjectPath: cmp.Or(h.ProjectPath, h.Project), PromptNumber: h.PromptNumber, Type: h.Type,
		Title: h.Title, Subtitle: h.Subtitle, Narrative: h.Narrative, Facts: h.Facts, Concepts: h.Concepts,
		Branch: h.Branch, CreatedAt: h.CreatedAtEpoch,
	}
	for role, paths := range map[claudemem.FileRole][]string{claudemem.FileModified: h.FilesModified, claudemem.FileRead: h.FilesRead} {
		for _, path := range paths {
			o.Files = append(o.Files, claudemem.FileRef{Path: path, Role: role})
		}
	}
	p.observation(&o)
}

// explanation is a score and the sum and product that it is.
func (p *printer) explanation(e *claudemem.Explanation) {
	value := func(part claudemem.ScorePart) string { return oneLine(part.Name, 40) + " " + scoreText(part.Value) }
	terms := make([]string, len(e.Parts))
	for i, part := range e.Parts {
		terms[i] = value(part)
	}
	sum := strings.Join(terms, " + ")
	if len(terms) > 1 && len(e.Factors) > 0 {
		sum = "(" + sum + ")"
	}
	for _, factor := range e.Factors {
		sum += " × " + value(factor)
	}
	about := []string{scoreText(e.Score()) + " = " + sum}
	if len(e.Words) > 0 {
		about = append(about, "words "+oneLine(strings.Join(e.Words, " "), 80))
	}
	if e.Fragment != "" {
		about = append(about, "nearest "+oneLine(e.Fragment, 40))
	}
	p.printf("%14s%s\n", "", p.style(styleDim, strings.Join(about, "; ")))
}

func scoreText(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// understoodNotes say how a text was read where it was not taken word for word.
func understoodNotes(u *claudemem.Understood) []string {
	if u == nil {
		return nil
	}
	notes := u.Reading(time.Local, func(said string) string { return oneLine(said, 40) })
	for _, wrong := range slices.Sorted(maps.Keys(u.Corrected)) {
		notes = append(notes, fmt.Sprintf("No record has %q; taken for %q.", oneLine(wrong, 40), oneLine(u.Corrected[wrong], 40)))
	}
	for _, note := range u.Notes {
		notes = append(notes, oneLine(note, 0))
	}
	return notes
}
