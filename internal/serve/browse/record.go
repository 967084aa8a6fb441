package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/text"
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
func textOf(ctx context.Context, m api.Memory, r row, now time.Time) ([]paragraph, error) {
	if r.about != nil {
		return r.about, nil
	}
	h, err := readRecord(ctx, m, r)
	if err != nil {
		return nil, err
	}
	return paragraphsOf(&h, now), nil
}

// paragraph is a part of a record as it is read: lines in a style.
type paragraph struct {
	style style
	text  string
	// hang is the indentation of the lines after the first.
	hang int
}

// paragraphsOf returns a record as it is read. Its texts are clean.
func paragraphsOf(h *api.Hit, now time.Time) (all []paragraph) {
	say := func(st style, hang int, s string) {
		if s != "" {
			all = append(all, paragraph{st, s, hang})
		}
	}
	gap := func() {
		if n := len(all); n > 0 && all[n-1].text != "" {
			all = append(all, paragraph{})
		}
	}
	part := func(name, s string) {
		if s = strings.TrimRight(block(s), " \n"); s != "" {
			gap()
			say(bold, 0, name)
			say(plain, 0, s)
		}
	}
	items := func(name string, list []string) {
		if len(list) == 0 {
			return
		}
		gap()
		say(bold, 0, name)
		for i, item := range list {
			if i == maxItems {
				say(dim, 0, fmt.Sprintf("and %d more", len(list)-maxItems))
				break
			}
			say(plain, 2, "- "+strings.TrimRight(block(item), " \n"))
		}
	}
	facts := func(parts ...string) {
		gap()
		say(dim, 0, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · "))
	}
	at := func(at memory.Millis) string { return text.When(now, at.Time()) }
	turn := func(session memory.SessionID, prompt int) string {
		if session == 0 || prompt == 0 {
			return session.Name()
		}
		return fmt.Sprintf("%s prompt %d", session.Name(), prompt)
	}
	branch := func(name string) string {
		if name == "" {
			return ""
		}
		return "branch " + line(name)
	}
	switch {
	case h.Observation != nil:
		o := h.Observation.Whole()
		say(bold, 2, o.Type.Glyph()+" "+line(o.Title))
		say(plain, 0, line(o.Subtitle))
		facts(o.ID.Name(), line(string(o.Type)), line(o.Project), at(o.CreatedAtEpoch), turn(o.SessionDBID, o.PromptNumber), branch(o.Branch))
		if o.Pinned {
			say(pinned, 0, "★ pinned")
		}
		if e := o.Entry(); e.Mark() != "" {
			say(warning, 0, e.Mark()+", which holds instead")
		}
		if o.Provenance.Foreign() {
			say(warning, 0, "from outside: it was made of text from outside the project")
		}
		if s := strings.TrimRight(block(o.Narrative), " \n"); s != "" {
			gap()
			say(plain, 0, s)
		}
		items("Facts", o.Facts)
		items("Modified", o.FilesModified)
		items("Read", o.FilesRead)
		if len(o.Concepts) > 0 {
			part("Concepts", line(strings.Join(o.Concepts[:min(len(o.Concepts), maxItems)], ", ")))
		}
	case h.Summary != nil:
		s := h.Summary
		say(bold, 2, "§ "+line(s.Title))
		facts("summary", line(s.Project), at(s.CreatedAtEpoch), turn(s.SessionDBID, s.PromptNumber))
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
		say(bold, 2, "› "+line(p.Title))
		facts("prompt", line(p.Project), at(p.CreatedAtEpoch), turn(p.SessionDBID, p.PromptNumber), branch(p.Branch))
		gap()
		say(plain, 0, strings.TrimRight(block(p.Text), " \n"))
	}
	return all
}

// maxItems bounds the items of a list in a record that are shown.
const maxItems = 100

// maxReading is the longest line of a record on a wide screen: longer ones are hard to read.
const maxReading = 100

// linesOf returns a text in lines of at most n columns, painted.
func linesOf(all []paragraph, p painter, n int) (lines []string) {
	n = min(n, maxReading)
	for _, part := range all {
		if part.text == "" {
			lines = append(lines, "")
			continue
		}
		for _, l := range wrap(part.text, n, part.hang) {
			lines = append(lines, p.paint(part.style, l))
		}
	}
	return lines
}
