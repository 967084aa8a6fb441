package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// readRecord reads the record of a row in full; CodeNotFound if it is not there any more. That a
// person reads it is no lookup of a session.
func readRecord(ctx context.Context, m api.Memory, r row) (api.Hit, error) {
	if r.Kind == memory.RecordObservation {
		o, err := m.Observation(ctx, api.ObservationRequest{Name: number(r.ID)})
		return api.Hit{Observation: &o}, err
	}
	q := api.SearchRequest{Kinds: []string{string(r.Kind)}, Session: r.SessionDBID, Format: api.FormatFull}
	q.Since, q.Until, q.Limit = r.own, r.own, pageLimit
	found, err := m.Search(ctx, q)
	i := slices.IndexFunc(found.Results, func(h api.Hit) bool { return h.Entry().ID == r.ID })
	if err != nil || i < 0 {
		return api.Hit{}, cmp.Or[error](err, memory.Errorf(memory.CodeNotFound, "the record is not there any more"))
	}
	return found.Results[i], nil
}

// textOf returns a row as it is read: what its list knows of it, or its record in full.
func textOf(ctx context.Context, m api.Memory, r row, now time.Time) (sheet, error) {
	switch {
	case r.about != nil:
		return r.about, nil
	case r.Kind == kindTurn:
		t := r.turn()
		return turnText(&t, now), nil
	}
	h, err := readRecord(ctx, m, r)
	if err != nil {
		return nil, err
	}
	return paragraphsOf(&h, now), nil
}

// paragraph is a part of a record as it is read: pieces on a line, those that are not code or bold in a style.
type paragraph struct {
	style  style
	pieces []text.Span
	indent int
	// hang is how far the lines after the first are indented more.
	hang int
}

// said returns text as a paragraph.
func said(st style, hang int, s string) paragraph {
	return paragraph{style: st, hang: hang, pieces: text.Spans(s)}
}

// text returns the text of a paragraph. Without colours code is in backquotes.
func (p *paragraph) text(colours bool) string {
	p.pieces = slices.Clone(p.pieces)
	said := strings.Repeat(" ", p.indent)
	for i := range p.pieces {
		if s := &p.pieces[i]; s.Code && !colours {
			s.Text = "`" + s.Text + "`"
		}
		said += p.pieces[i].Text
	}
	return said
}

// sheet is a text as it is read, which grows by its parts. They are clean.
type sheet []paragraph

// say adds a text, unless it is empty.
func (all *sheet) say(st style, hang int, s string) {
	if s != "" {
		*all = append(*all, said(st, hang, s))
	}
}

// gap adds an empty line below a text.
func (all *sheet) gap() {
	if n := len(*all); n > 0 && (*all)[n-1].pieces != nil {
		*all = append(*all, paragraph{})
	}
}

// prose adds blocks of text under a heading, "" for none.
func (all *sheet) prose(name string, blocks []*text.Block) {
	if len(blocks) == 0 {
		return
	}
	all.gap()
	all.say(bold, 0, name)
	for _, l := range text.BlockLines(blocks, 0, cells.Width) {
		*all = append(*all, paragraph{indent: l.Indent, hang: l.Hang, pieces: l.Spans})
	}
}

// facts adds a line of those that are not empty.
func (all *sheet) facts(facts ...string) {
	all.gap()
	all.say(dim, 0, strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), " · "))
}

// paragraphsOf returns a record as it is read.
func paragraphsOf(h *api.Hit, now time.Time) (all sheet) {
	part := func(name, s string) { all.prose(name, text.Blocks(block(s))) }
	items := func(name string, list []string) {
		if len(list) == 0 {
			return
		}
		all.gap()
		all.say(bold, 0, name)
		for i, item := range list {
			if i == maxItems {
				all.say(dim, 0, fmt.Sprintf("and %d more", len(list)-maxItems))
				break
			}
			all.say(plain, 2, "- "+strings.TrimRight(block(item), " \n"))
		}
	}
	at := func(at memory.Millis) string { return text.When(now, at.Time()) }
	branch := func(name string) string {
		if name == "" {
			return ""
		}
		return "branch " + line(name)
	}
	switch {
	case h.Observation != nil:
		o := h.Observation.Whole()
		if e := o.Entry(); e.Mark() != "" { // the warnings first: no text of a record may push them off the screen
			all.say(warning, 0, e.Mark()+", which holds instead")
		}
		if o.Provenance.Foreign() {
			all.say(warning, 0, o.Provenance.Source()+": its text is not yours, nor of the project")
		}
		all.say(bold, 2, o.Type.Glyph()+" "+line(o.Title))
		all.say(plain, 0, line(o.Subtitle))
		all.facts(o.ID.Name(), line(string(o.Type)), line(o.Project), at(o.CreatedAtEpoch), turnName(o.SessionDBID, o.PromptNumber), branch(o.Branch))
		if o.Pinned {
			all.say(pinned, 0, "★ pinned")
		}
		part("", o.Narrative)
		items("Facts", o.Facts)
		items("Modified", o.FilesModified)
		items("Read", o.FilesRead)
		if len(o.Concepts) > 0 {
			part("Concepts", line(strings.Join(o.Concepts[:min(len(o.Concepts), maxItems)], ", ")))
		}
	case h.Summary != nil:
		s := h.Summary
		all.say(bold, 2, "§ "+line(s.Title))
		all.facts("summary", line(s.Project), at(s.CreatedAtEpoch), turnName(s.SessionDBID, s.PromptNumber))
		if line(s.Request) != line(s.Title) {
			part("Request", s.Request)
		}
		part("Investigated", s.Investigated)
		part("Learned", s.Learned)
		part("Completed", s.Completed)
		part("Next", s.NextSteps)
		part("Notes", s.Notes)
		items("Modified", s.FilesEdited)
		items("Read", s.FilesRead)
	case h.Prompt != nil:
		p := h.Prompt
		all.say(bold, 2, "› "+line(p.Title))
		all.facts("prompt", line(p.Project), at(p.CreatedAtEpoch), turnName(p.SessionDBID, p.PromptNumber), branch(p.Branch))
		all.prose("", text.Written(block(p.Text)))
	}
	return all
}

// turnText returns a turn as it is read: what was asked, its observations, and what only its summary says.
func turnText(t *api.Turn, now time.Time) (all sheet) {
	all.prose("", text.Written(block(cmp.Or(t.Asked, t.Heading))))
	first := &t.Records[0]
	all.facts(turnName(t.Session, t.Number), line(first.Project), text.When(now, t.CreatedAt.Time()))
	for i := range t.Records {
		if r := &t.Records[i]; r.Kind == memory.RecordObservation {
			all.gap()
			all.say(bold, 2, r.Glyph()+" "+line(r.Title)+" "+r.Name())
			all.say(plain, 2, line(r.Note))
		}
	}
	for _, f := range t.Fields {
		all.prose(f.Name, text.Blocks(block(f.Text)))
	}
	return all
}

// turnName names a turn, or only its session.
func turnName(session memory.SessionID, prompt int) string {
	if session == 0 || prompt == 0 {
		return session.Name()
	}
	return fmt.Sprintf("%s prompt %d", session.Name(), prompt)
}

// maxItems bounds the items of a list in a record that are shown.
const maxItems = 100

// maxReading is the longest line of a record on a wide screen: longer ones are hard to read.
const maxReading = 100

// linesOf returns a text in lines of at most n columns, painted.
func linesOf(all []paragraph, p painter, n int) (lines []string) {
	n = min(n, maxReading)
	for _, part := range all {
		said := part.text(p.colours)
		lines = append(lines, p.paintPieces(wrap(said, n, part.hang), part)...)
	}
	return lines
}

// paintPieces paints the lines that the pieces of a paragraph were wrapped into, and returns them.
func (p painter) paintPieces(lines []string, part paragraph) []string {
	var piece text.Span // what is left of it
	for i, l := range lines {
		said := strings.TrimLeft(l, " ")
		lines[i] = l[:len(l)-len(said)]
		for begins := true; said != ""; {
			if begins { // behind the blanks at which the line was broken
				piece.Text = strings.TrimLeft(piece.Text, " \n")
			}
			if piece.Text == "" {
				piece, part.pieces = part.pieces[0], part.pieces[1:]
				continue
			}
			begins = false
			st, n := part.style, min(len(said), len(piece.Text))
			if piece.Code {
				st = code
			} else if piece.Bold {
				st = bold
			}
			lines[i] += p.paint(st, said[:n])
			said, piece.Text = said[n:], piece.Text[n:]
		}
	}
	return lines
}
