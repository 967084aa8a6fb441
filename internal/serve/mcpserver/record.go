package mcpserver

import (
	"fmt"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// indexItem is a record in a list, for programs.
type indexItem struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	At     string `json:"at"`
	Tokens int    `json:"tokens,omitempty"`
	Anchor bool   `json:"anchor,omitempty"`
	// Project is left out where all are of the same.
	Project string `json:"project,omitempty"`
	// Asked is the title of the turn's prompt, where a summary's title does not repeat it.
	Asked string `json:"asked,omitempty"`
	// SupersededBy is the record that holds instead, like "#34".
	SupersededBy string `json:"superseded_by,omitempty"`
}

// maxTitle, maxAsked and maxSubtitle bound titles, those of prompts beside a summary's, and
// subtitles in lists, in code points.
const (
	maxTitle    = 160
	maxAsked    = 80
	maxSubtitle = 120
)

// index formats a line of a list: glyph, id, age, title.
func (c *call) index(e api.Line, withProject bool) (string, indexItem) {
	item := indexItem{Kind: string(e.Kind), ID: e.Name(), Type: line(string(e.Type), 40), Title: line(text.OneLine(e.Reported()), maxTitle), At: at(e.CreatedAtEpoch)}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s: %s", e.Glyph(), e.Name(), text.Ago(c.now, e.CreatedAtEpoch), item.Title)
	if e.Kind == memory.RecordPrompt || e.Kind == memory.RecordSummary {
		about := string(e.Kind)
		if item.Asked = line(e.Asked, maxAsked); item.Asked != "" {
			about += ", asked: " + item.Asked
		}
		b.WriteString(" (" + about + ")")
	}
	if sub := line(text.OneLine(e.Subtitle), maxSubtitle); sub != "" && sub != item.Title {
		b.WriteString(" — " + sub)
	}
	if mark := e.Mark(); mark != "" {
		item.SupersededBy = e.SupersededBy.Name()
		b.WriteString(" (" + mark + ")")
	}
	if withProject && e.Project != "" {
		item.Project = line(e.Project, 60)
		b.WriteString(" · " + item.Project)
	}
	return b.String(), item
}

// at formats a time for programs.
func at(m memory.Millis) string { return m.Time().Format("2006-01-02T15:04Z") }

// whole is an observation in full, for programs.
type whole struct {
	ID            string   `json:"id"`
	Type          string   `json:"type"`
	Title         string   `json:"title"`
	Subtitle      string   `json:"subtitle,omitempty"`
	At            string   `json:"at"`
	Project       string   `json:"project"`
	Session       string   `json:"session,omitempty"`
	Branch        string   `json:"branch,omitempty"`
	Narrative     string   `json:"narrative,omitempty"`
	Facts         []string `json:"facts,omitempty"`
	FilesModified []string `json:"files_modified,omitempty"`
	FilesRead     []string `json:"files_read,omitempty"`
	Concepts      []string `json:"concepts,omitempty"`
	SupersededBy  string   `json:"superseded_by,omitempty"`
	Cut           bool     `json:"cut,omitempty"`
}

// fullRecord returns an observation in full, truncated to about most code points: as text,
// and as the same record for programs, whose Cut says that something was left out.
func (c *call) fullRecord(r *api.Observation, most int) (string, whole) {
	w := whole{
		ID: r.ID.Name(), SupersededBy: r.SupersededBy.Name(), Type: line(string(r.Type), 40), Title: line(text.OneLine(text.Reported(r.Foreign, r.Title)), 300), Subtitle: line(text.OneLine(r.Subtitle), 400), At: at(r.CreatedAtEpoch),
		Project: line(r.Project, 60), Session: r.SessionDBID.Name(), Branch: line(r.Branch, 80),
	}
	narrative := text.PlainLines(r.Narrative)
	w.Narrative = text.TruncateWidth(narrative, most*3/4)
	w.Cut = w.Narrative != narrative
	left := max(most-text.Width(w.Narrative), 200)
	for _, list := range []struct {
		from []string
		to   *[]string
		most int
	}{{r.Facts, &w.Facts, left * 2 / 3}, {r.FilesModified, &w.FilesModified, left / 6}, {r.FilesRead, &w.FilesRead, left / 8}, {r.Concepts, &w.Concepts, left / 8}} {
		var all bool
		if *list.to, all = linesWithin(list.from, list.most); !all {
			w.Cut = true
		}
	}
	return w.text(r, c), w
}

// linesWithin returns the first items of a list, each as one line of at most 1000 code
// points, that fit in most code points with two for each separator, and whether those
// are all. Empty items are left out.
func linesWithin(list []string, most int) (kept []string, all bool) {
	for _, item := range list {
		item = line(item, 1000)
		if item == "" {
			continue
		}
		if most -= text.Width(item) + 2; most < 0 {
			return kept, false
		}
		kept = append(kept, item)
	}
	return kept, true
}

// text returns the record as plain text: a title line, a line of origin, then what it
// has of subtitle, narrative, facts, files and concepts. r is the same record.
func (w *whole) text(r *api.Observation, c *call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", r.Type.Glyph(), w.ID, w.Title)
	about := []string{w.Type, fmt.Sprintf("%s (%s)", text.Ago(c.now, r.CreatedAtEpoch), w.At), w.Project}
	if w.Session != "" {
		session := w.Session
		if r.PromptNumber > 0 {
			session += fmt.Sprintf(" prompt %d", r.PromptNumber)
		}
		about = append(about, session)
	}
	if w.Branch != "" {
		about = append(about, "branch "+w.Branch)
	}
	if from := r.Foreign.Source(); from != "" {
		about = append(about, from)
	}
	b.WriteString(strings.Join(about, " · "))
	if w.SupersededBy != "" {
		b.WriteString("\nSuperseded by " + w.SupersededBy)
	}
	if w.Subtitle != "" {
		b.WriteString("\n" + w.Subtitle)
	}
	if w.Narrative != "" {
		b.WriteString("\n" + w.Narrative)
	}
	for _, fact := range w.Facts {
		b.WriteString("\n- " + fact)
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"Modified", w.FilesModified}, {"Read", w.FilesRead}, {"Concepts", w.Concepts}} {
		if len(list.items) > 0 {
			b.WriteString("\n" + list.name + ": " + strings.Join(list.items, ", "))
		}
	}
	if w.Cut {
		fmt.Fprintf(&b, "\n(cut here; `claude-mem show %d` prints all of it)", r.ID)
	}
	return b.String()
}

// checkpoint is a summary in full, for programs.
type checkpoint struct {
	Prompt       int      `json:"prompt,omitempty"`
	At           string   `json:"at"`
	Request      string   `json:"request,omitempty"`
	Investigated string   `json:"investigated,omitempty"`
	Learned      string   `json:"learned,omitempty"`
	Completed    string   `json:"completed,omitempty"`
	NextSteps    string   `json:"next_steps,omitempty"`
	Notes        string   `json:"notes,omitempty"`
	FilesEdited  []string `json:"files_edited,omitempty"`
	Cut          bool     `json:"cut,omitempty"`
}

// summary returns a turn's summary in full, each field truncated to so many code points.
func (c *call) summary(r *api.Summary, most int) (string, checkpoint) {
	s := checkpoint{Prompt: r.PromptNumber, At: at(r.CreatedAtEpoch)}
	var b strings.Builder
	fmt.Fprintf(&b, "§ prompt %d, %s", r.PromptNumber, text.Ago(c.now, r.CreatedAtEpoch))
	for _, field := range []struct {
		name, from string
		to         *string
	}{
		{"Request", r.Request, &s.Request}, {"Investigated", r.Investigated, &s.Investigated}, {"Learned", r.Learned, &s.Learned},
		{"Completed", r.Completed, &s.Completed}, {"Next", r.NextSteps, &s.NextSteps}, {"Notes", r.Notes, &s.Notes},
	} {
		clean := line(field.from, 0)
		if field.name != "Request" {
			clean = text.Reported(r.Provenance, clean)
		}
		*field.to = text.TruncateWidth(clean, most)
		s.Cut = s.Cut || *field.to != clean
		if *field.to != "" {
			fmt.Fprintf(&b, "\n%s: %s", field.name, *field.to)
		}
	}
	var all bool
	if s.FilesEdited, all = linesWithin(r.FilesEdited, most); !all {
		s.Cut = true
	}
	if len(s.FilesEdited) > 0 {
		b.WriteString("\nEdited: " + strings.Join(s.FilesEdited, ", "))
	}
	if s.Cut {
		b.WriteString("\n(cut here)")
	}
	return b.String(), s
}

// cost returns the estimated tokens of a record in full.
func (c *call) cost(h *api.Hit) int {
	text := ""
	switch {
	case h.Observation != nil:
		text, _ = c.fullRecord(h.Observation, wholeRecord)
	case h.Summary != nil:
		text, _ = c.summary(h.Summary, wholeRecord)
	case h.Prompt != nil:
		text = h.Prompt.Text
	}
	return memory.EstimateTokens(text)
}

// wholeRecord is longer than any record, in code points.
const wholeRecord = 1 << 24

// line returns a record's text as one line that is safe in an answer, of at most
// so many characters (0: any).
func line(s string, most int) string {
	if s = text.Plain(s); most > 0 {
		s = text.TruncateRunes(s, most)
	}
	return s
}
