package answer

import (
	"strconv"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Render returns an answer as the XML that was asked for. The observer keeps it in
// the history of a run.
func Render(a Answer) string {
	var b strings.Builder
	w := writer{&b}
	for i := range a.Observations {
		o := &a.Observations[i]
		b.WriteString("<observation>\n")
		w.text("type", string(o.Type))
		w.text("title", o.Title)
		w.text("subtitle", o.Subtitle)
		w.list("facts", "fact", o.Facts)
		w.text("narrative", o.Narrative)
		w.list("concepts", "concept", o.Concepts)
		w.text("supersedes", observationNames(o.Supersedes))
		w.list("files_read", "file", o.FilesIn(memory.FileRead))
		w.list("files_modified", "file", o.FilesIn(memory.FileModified))
		b.WriteString("</observation>\n")
	}
	if s := a.Summary; s != nil {
		b.WriteString("<summary>\n")
		w.text("request", s.Request)
		w.text("investigated", s.Investigated)
		w.text("learned", s.Learned)
		w.text("completed", s.Completed)
		w.text("next_steps", s.NextSteps)
		w.list("files_read", "file", s.FilesRead)
		w.list("files_edited", "file", s.FilesEdited)
		w.text("notes", s.Notes)
		b.WriteString("</summary>\n")
	}
	for _, l := range a.Learnings {
		b.WriteString(`<learning category="` + l.Category + `" confidence="` + strconv.FormatFloat(l.Confidence, 'g', -1, 64) + `">`)
		b.WriteString(escape(l.Content))
		b.WriteString("</learning>\n")
	}
	if a.SkipSummary {
		b.WriteString("<skip_summary/>\n")
	}
	return b.String()
}

// observationNames returns "#12, #13".
func observationNames(ids []memory.ObservationID) string {
	return strings.Join(collect.Map(ids, func(id memory.ObservationID) string { return "#" + strconv.FormatInt(int64(id), 10) }), ", ")
}

type writer struct{ *strings.Builder }

// text writes an element with an escaped text; nothing for "".
func (w writer) text(element, s string) {
	if s != "" {
		w.WriteString("  <" + element + ">" + escape(s) + "</" + element + ">\n")
	}
}

// list writes an element with a child for each item; nothing without items.
func (w writer) list(element, child string, items []string) {
	if len(items) == 0 {
		return
	}
	w.WriteString("  <" + element + ">")
	for _, s := range items {
		w.WriteString("<" + child + ">" + escape(s) + "</" + child + ">")
	}
	w.WriteString("</" + element + ">\n")
}

// escape returns s as XML text. An s with entities becomes CDATA, because Parse
// decodes an entity that was escaped twice.
func escape(s string) string {
	if strings.Contains(s, "&") && strings.Contains(s, ";") {
		return cdataBegin + cdata.Replace(s) + cdataEnd
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// cdata divides a CDATA section where its text would end or begin one.
var cdata = strings.NewReplacer(cdataEnd, "]]"+cdataEnd+cdataBegin+">", cdataBegin, "<!["+cdataEnd+cdataBegin+cdataBegin[3:])
