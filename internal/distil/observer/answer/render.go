package answer

import (
	"strconv"
	"strings"

	"claudemem/internal/memory"
)

// Render returns an answer as the XML that was asked for. The observer keeps it in
// the history of a run.
func Render(a Answer) string {
	var b strings.Builder
	for i := range a.Observations {
		o := &a.Observations[i]
		b.WriteString("<observation>\n")
		write(&b, "type", "", string(o.Type))
		write(&b, "title", "", o.Title)
		write(&b, "subtitle", "", o.Subtitle)
		write(&b, "facts", "fact", o.Facts...)
		write(&b, "narrative", "", o.Narrative)
		write(&b, "concepts", "concept", o.Concepts...)
		write(&b, "supersedes", "", observationNames(o.Supersedes))
		write(&b, "files_read", "file", o.FilesIn(memory.FileRead)...)
		write(&b, "files_modified", "file", o.FilesIn(memory.FileModified)...)
		b.WriteString("</observation>\n")
	}
	if s := a.Summary; s != nil {
		b.WriteString("<summary>\n")
		write(&b, "request", "", s.Request)
		write(&b, "investigated", "", s.Investigated)
		write(&b, "learned", "", s.Learned)
		write(&b, "completed", "", s.Completed)
		write(&b, "next_steps", "", s.NextSteps)
		write(&b, "files_read", "file", s.FilesRead...)
		write(&b, "files_edited", "file", s.FilesEdited...)
		write(&b, "notes", "", s.Notes)
		b.WriteString("</summary>\n")
	}
	for _, l := range a.Learnings {
		confidence := strconv.FormatFloat(l.Confidence, 'g', -1, 64)
		b.WriteString(`<learning category="` + l.Category + `" confidence="` + confidence + `">` + escape(l.Content) + "</learning>\n")
	}
	if a.SkipSummary {
		b.WriteString("<skip_summary/>\n")
	}
	return b.String()
}

// observationNames returns "#12, #13".
func observationNames(ids []memory.ObservationID) string {
	var names []string
	for _, id := range ids {
		names = append(names, "#"+strconv.FormatInt(int64(id), 10))
	}
	return strings.Join(names, ", ")
}

// write writes an element with its texts, each in a child if this has a name; nothing
// without texts.
func write(b *strings.Builder, element, child string, texts ...string) {
	if strings.Join(texts, "") == "" {
		return
	}
	b.WriteString("  <" + element + ">")
	for _, s := range texts {
		if s = escape(s); child != "" {
			s = "<" + child + ">" + s + "</" + child + ">"
		}
		b.WriteString(s)
	}
	b.WriteString("</" + element + ">\n")
}

// escape returns s as XML text. An s with entities becomes CDATA, because Parse
// decodes an entity that was escaped twice.
func escape(s string) string {
	if strings.Contains(s, "&") && strings.Contains(s, ";") {
		return cdataBegin + divided.Replace(s) + cdataEnd
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// divided divides a CDATA section where its text would end or begin one.
var divided = strings.NewReplacer(cdataEnd, "]]"+cdataEnd+cdataBegin+">", cdataBegin, "<!["+cdataEnd+cdataBegin+cdataBegin[3:])
