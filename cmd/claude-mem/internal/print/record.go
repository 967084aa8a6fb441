package print

import (
	"fmt"
	"strconv"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// ShownObservation is an observation in full that says its kind.
type ShownObservation struct {
	Kind memory.RecordKind `json:"kind"`
	api.Observation
}

// Shown returns an observation as it is shown.
func Shown(o *api.Observation) ShownObservation {
	return ShownObservation{memory.RecordObservation, *o}
}

// ShownOf returns observations as they are shown.
func ShownOf(observations []api.Observation) []ShownObservation {
	return collect.MapPtr(observations, Shown)
}

// Observation prints an observation in full.
func (p *Printer) Observation(found *api.Observation) {
	o := found.Whole()
	p.Printf("%s %s  %s\n", o.Type.Glyph(), p.marked(Bold, Line(text.Reported(o.Foreign, o.Title), 0)), p.Style(Dim, fmt.Sprintf("#%d", o.ID)))
	if o.Subtitle != "" {
		p.Printf("%s\n", p.marked("", Line(o.Subtitle, 0)))
	}
	where := []string{Line(string(o.Type), 40), p.Ago(o.CreatedAtEpoch), Line(o.Project, 60), fmt.Sprintf("S%d", o.SessionDBID)}
	if o.PromptNumber > 0 { // none when it was written down by hand
		where[len(where)-1] += fmt.Sprintf(" prompt %d", o.PromptNumber)
	}
	if o.Branch != "" {
		where = append(where, "branch "+Line(o.Branch, 60))
	}
	p.Printf("%s\n", p.Style(Dim, strings.Join(where, " · ")))
	if o.SupersededBy != 0 {
		p.Printf("Superseded by #%d, which holds instead.\n", o.SupersededBy)
	}
	if o.Narrative != "" {
		p.prose(o.Narrative, text.Blocks)
	}
	if len(o.Facts) > 0 {
		p.Printf("\n")
	}
	for _, fact := range o.Facts {
		p.Printf("- %s\n", p.marked("", Line(fact, 0)))
	}
	p.list("Modified", o.FilesModified)
	p.list("Read", o.FilesRead)
	p.list("Concepts", o.Concepts)
}

// prose prints a text behind an empty line: without styles as it was written, else by the blocks that
// parse makes of it.
func (p *Printer) prose(s string, parse func(string) []*text.Block) {
	if s = text.Terminal(s); !p.Color {
		p.Printf("\n%s\n", s)
		return
	}
	p.Printf("\n")
	for _, l := range text.BlockLines(parse(s), 0, cells.Width) {
		p.Printf("%s%s\n", strings.Repeat(" ", l.Indent), p.spans("", l.Spans, ""))
	}
}

// marked returns a line in a style ("" for none), on a terminal its code and bold text in theirs.
func (p *Printer) marked(style, line string) string { return p.spans(style, text.Spans(line), line) }

// spans returns pieces in their styles and the others in style; without styles the line as it was written.
func (p *Printer) spans(style string, pieces []text.Span, line string) string {
	if !p.Color {
		return line
	}
	return strings.Join(collect.Map(pieces, func(s text.Span) string {
		switch {
		case s.Code:
			return p.Style(Cyan, s.Text)
		case s.Bold:
			return p.Style(Bold, s.Text)
		case style == "":
			return s.Text
		}
		return p.Style(style, s.Text)
	}), "")
}

// list prints a line with the label and items; nothing without items.
func (p *Printer) list(label string, items []string) {
	if len(items) > 0 {
		p.Printf("%s %s\n", p.Style(Dim, label+":"), Line(strings.Join(items, ", "), 0))
	}
}

// maxPrompt is how many characters of a prompt a session shows, with its lines.
const maxPrompt = 1000

// Session prints a session turn by turn: what was asked, the observations, and what the summary says
// beside them. Records before the first prompt, or written by hand, come first.
func (p *Printer) Session(s *api.SessionRecords) {
	p.sessionHead(s.ID, s.Title, Line(s.Project, 60), string(s.Host), string(s.Status), p.Ago(s.UpdatedAtEpoch), Line(s.HostSessionID, 80))
	for _, t := range s.Turns() {
		if t.Asked != "" {
			asked := text.TruncateRunes(strings.TrimSpace(text.Terminal(t.Asked)), maxPrompt)
			p.Printf("\n%s %s\n", p.Style(Bold, fmt.Sprintf("%d.", t.Number)), strings.ReplaceAll(asked, "\n", "\n   > "))
		}
		for _, r := range t.Records {
			if r.Kind == memory.RecordObservation {
				p.record("   ", api.Line{Entry: r.Entry}, false)
				p.Printf("%s", If(r.Note != "", "     "+p.marked(Dim, Line(text.Reported(r.Foreign, r.Note), 400))+"\n"))
			}
		}
		p.fields(t.Fields)
	}
}

// Turn prints what was asked in a turn and below it the observations, nothing without any. Where it
// is not known what was asked, they are lines of the list.
func (p *Printer) Turn(t *api.Turn, withProject bool) {
	if t.Asked != "" && t.Best >= 0 {
		p.EntryLine("", api.Line{Entry: api.Entry{Kind: memory.RecordPrompt, Title: t.Heading, SessionDBID: t.Session, CreatedAtEpoch: t.CreatedAt}}, false)
	}
	for _, r := range t.Records {
		if r.Kind == memory.RecordObservation {
			p.record(Or(t.Asked != "", strings.Repeat(" ", 14), p.When(r.CreatedAtEpoch)+"  "), api.Line{Entry: r.Entry}, withProject)
		}
	}
}

// sessionHead prints the name and title of a session, and a line about it.
func (p *Printer) sessionHead(id memory.SessionID, title string, about ...string) {
	p.Printf("%s  %s\n%s\n", p.Style(Bold, id.Name()), p.Style(Bold, Line(title, 100)), p.Style(Dim, strings.Join(about, " · ")))
}

// fields prints the fields of a summary, a line each.
func (p *Printer) fields(fields []api.SummaryField) {
	for _, field := range fields {
		p.Printf("   %s %s\n", p.Style(Dim, field.Name+":"), p.marked("", Line(field.Text, 400)))
	}
}

// GlyphLegend explains the signs of records.
const GlyphLegend = `Signs: ● bugfix, ◆ feature, ↻ refactor, ✓ change, ⚖ decision, ○ discovery and other
types; § summary of a turn, › prompt, ▶ the anchor of a timeline.`

// Entry prints a line of a list, and the subtitle below it.
func (p *Printer) Entry(e api.Line, withProject bool) {
	p.EntryLine("", e, withProject)
	if e.Subtitle != "" {
		p.Printf("%14s%s\n", "", p.Style(Dim, p.Fit(e.Subtitle, 120, 14)))
	}
}

// EntryLine prints a line of a list: mark, age, glyph, title, the prompt that a summary
// answers, and name.
func (p *Printer) EntryLine(mark string, e api.Line, withProject bool) {
	p.record(mark+p.When(e.CreatedAtEpoch)+"  ", e, withProject)
}

// record prints what EntryLine does behind a start of its own.
func (p *Printer) record(start string, e api.Line, withProject bool) {
	title, most := e.Reported(), 100
	if e.Asked != "" {
		title, most = title+" (asked: "+e.Asked+")", 160
	}
	name, where := Join(", ", e.Name(), e.Mark()), If(withProject && e.Project != "", " "+Line(e.Project, 60))
	// Beside the title: two columns of a mark, ten of the age, the glyph and spaces.
	rest := 17 + cells.Width(name+where)
	p.Printf("%s%s %s %s%s\n", start, e.Glyph(), p.Fit(title, most, rest), p.Style(Dim, name), p.Style(Dim, where))
}

// Hit prints a record as show does.
func (p *Printer) Hit(h *api.Hit) {
	if h.Observation != nil {
		p.Observation(h.Observation)
		return
	}
	e := h.Entry()
	p.Printf("%s %s  %s\n%s\n", e.Glyph(), p.marked(Bold, Line(e.Reported(), 0)), p.Style(Dim, e.Name()),
		p.Style(Dim, strings.Join([]string{string(e.Kind), p.Ago(e.CreatedAtEpoch), Line(e.Project, 60)}, " · ")))
	switch {
	case h.Prompt != nil:
		p.prose(h.Prompt.Text, text.Written)
	case h.Summary != nil:
		turns, _ := (&api.SearchPage{Results: []api.Hit{*h}}).Turns(1)
		p.fields(turns[0].Fields)
	}
}

// Explanation prints a score with its terms and factors.
func (p *Printer) Explanation(e *memory.Explanation) {
	value := func(part *memory.ScorePart) string { return Line(part.Name, 40) + " " + scoreText(part.Value) }
	terms := collect.MapPtr(e.Parts, value)
	sum := strings.Join(terms, " + ")
	sum = Or(len(terms) > 1 && len(e.Factors) > 0, "("+sum+")", sum)
	for i := range e.Factors {
		sum += " × " + value(&e.Factors[i])
	}
	about := Join("; ", scoreText(e.Score())+" = "+sum,
		If(len(e.Words) > 0, "words "+Line(strings.Join(e.Words, " "), 80)), If(e.Fragment != "", "nearest "+Line(e.Fragment, 40)))
	p.Printf("%14s%s\n", "", p.Style(Dim, about))
}

// scoreText returns a score with three decimals.
func scoreText(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
