package recall

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// observationChars bounds the text of an observation's line without its number: a
// title, a detail and a file name, about 70 tokens.
const observationChars = 240

// observationLine returns the line of an observation without its number: "title: detail
// [file]". The detail is the subtitle, else what the record says of reasons and choices;
// the file is a modified one that neither names. The other sentences that tell something
// are its more; `claude-mem show` prints all.
func observationLine(o *memory.Observation, projectPath string) line {
	plain := func(s string) string { return recordLine(s, projectPath) }
	weak := func(s string) bool { return isRoutine(s) || isProof(s) }
	title, detail := titleAndDetail(o, plain(o.Title), plain, weak)
	if title == "" {
		return line{}
	}
	all := sync.OnceValue(func() []statement { return besideTitle(o, plain) })
	rest := func() []statement { return question{}.rank(all(), title) }
	if detail == "" || weak(detail) {
		if all := rest(); len(all) > 0 {
			detail = all[0].text
		}
	}
	var files []string
	for _, f := range o.FilesIn(memory.FileModified) {
		files = append(files, plain(f))
	}
	whole := title
	title = text.Reported(o.Provenance, title)
	said := compose(title, detail, observationChars)
	note := fileNote(files, said)
	if text.Width(said)+text.Width(note) > observationChars {
		said = compose(title, detail, observationChars-text.Width(note))
	}
	proof := func() string {
		parts := slices.Concat([]string{o.Subtitle}, o.Facts, []string{o.Narrative})
		for i := range parts {
			parts[i] = plain(parts[i])
		}
		return proofIn(parts...)
	}
	return line{text: said + note, title: whole, detail: detail, from: o.Provenance, proof: proof, statements: all, more: func() []statement {
		return slices.DeleteFunc(rest(), func(s statement) bool { return !s.telling() || containsFold(detail, s.text) })
	}}
}

// titleAndDetail returns a record in two parts, both cleaned by plain: its title, and
// the first of subtitle and facts that says more than that; one that isRoutine only
// if there is no other. A record without a title has the first of them, or its
// narrative, for a title.
func titleAndDetail(o *memory.Observation, title string, plain func(string) string, isRoutine func(string) bool) (string, string) {
	spare := ""
	for _, part := range append([]string{o.Subtitle}, o.Facts...) {
		p := strings.TrimRight(plain(part), ". ")
		switch {
		case p == "" || containsFold(title, p):
		case title == "":
			title = p
		case !isRoutine(part):
			return title, p
		case spare == "":
			spare = p
		}
	}
	if title == "" {
		title = plain(o.Narrative)
	}
	return title, spare
}

// compose joins "title: detail" within limit. The title goes first; of the
// detail even a piece is worth having, unless it would be too short to tell anything.
func compose(title, detail string, limit int) string {
	const leastDetail = 30
	title = text.TruncateWidth(title, limit)
	room := limit - text.Width(title) - len(": ")
	switch {
	case detail == "":
	case text.Width(detail) <= room:
		return title + ": " + detail
	case room >= leastDetail:
		return title + ": " + text.TruncateWidth(detail, room)
	}
	return title
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

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}
