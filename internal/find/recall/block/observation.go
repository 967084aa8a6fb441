package block

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// observationChars bounds the text of an observation's line without its number: a
// title, a detail and a file name, about 70 tokens.
const observationChars = 240

// observationLine returns the line of an observation without its number: "title: detail
// [file]". The detail is the subtitle, else what the record says of reasons and choices;
// the file is a modified one that neither names. The other sentences that tell something
// are its more; `claude-mem show` prints all. The line is empty for a record without any text.
func observationLine(o *memory.Observation, projectPath string) line {
	plain := func(s string) string { return recall.RecordLine(s, projectPath) }
	weak := func(s string) bool { return recall.IsRoutine(s) || recall.IsProof(s) }
	title, detail := recall.TitleAndDetail(o, recall.Heading(o, plain), plain, weak)
	if title == "" {
		return line{}
	}
	all := sync.OnceValue(func() []recall.Statement { return recall.BesideTitle(o, plain) })
	rest := func() []recall.Statement { return recall.Question{}.Rank(all(), title) }
	if detail == "" || weak(detail) {
		if all := rest(); len(all) > 0 {
			detail = all[0].Text
		}
	}
	files := collect.Map(o.FilesIn(memory.FileModified), plain)
	whole := title
	title = text.Reported(o.Provenance, title)
	said := recall.Compose(title, detail, observationChars)
	note := fileNote(files, said)
	if text.Width(said)+text.Width(note) > observationChars {
		said = recall.Compose(title, detail, observationChars-text.Width(note))
	}
	proof := func() string {
		return proofIn(collect.Map(slices.Concat([]string{o.Subtitle}, o.Facts, []string{o.Narrative}), plain)...)
	}
	return line{text: said + note, title: whole, detail: detail, from: o.Provenance, proof: proof, statements: all, more: func() []recall.Statement {
		return slices.DeleteFunc(rest(), func(s recall.Statement) bool { return !s.Telling() || recall.ContainsFold(detail, s.Text) })
	}}
}

// fileNote returns the name of the first of files whose base name text does not have,
// with the number of the others; "" when there is none.
func fileNote(files []string, text string) string {
	files = slices.DeleteFunc(files, func(f string) bool { return f == "" || strings.Contains(text, path.Base(f)) })
	if len(files) == 0 {
		return ""
	}
	note := " [" + cutPath(files[0], 80)
	if more := len(files) - 1; more > 0 {
		note += fmt.Sprintf(" +%d", more)
	}
	return note + "]"
}

// cutPath keeps the end of a long path, where the name is.
func cutPath(p string, limit int) string {
	for text.Width(p) > limit {
		_, rest, ok := strings.Cut(strings.TrimPrefix(p, "…/"), "/")
		if !ok {
			return text.TruncateWidth(p, limit)
		}
		p = "…/" + rest
	}
	return p
}
