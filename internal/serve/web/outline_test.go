package web_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inline are the elements whose text belongs to that of the element around them.
var inline = []string{"b", "bdi", "br", "code", "em", "i", "kbd", "mark", "span", "strong", "time"}

// behaviour are the attributes that an outline has: those on which it depends what the page
// does, not how it looks.
var behaviour = []string{"action", "checked", "disabled", "href", "hidden", "max", "method", "min", "name", "open", "role", "selected", "type", "value"}

// frame are the parts of a page outside its main part in which pages differ: the title, the
// scripts and the page's place in the navigation.
var frame = regexp.MustCompile(`<title>.*</title>|src="\.\./static/[a-z.]+"|href="[^"]*" aria-current="page"`)

// outline returns a page as lines: what differs in its frame, then one for each element of the
// main part that is not inline, indented by depth: its name, its behaviour, its text.
func outline(t *testing.T, page string) string {
	t.Helper()
	lines := frame.FindAllString(page, -1)
	_, page, ok := strings.Cut(page, "<main")
	main, _, closed := strings.Cut("<main"+page, "</main>")
	if !ok || !closed {
		t.Fatalf("no main part in %s", page)
	}
	d := xml.NewDecoder(strings.NewReader(main + "</main>"))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	depth := 0
	flush := func() {
		if words := strings.Fields(text.String()); len(words) > 0 {
			lines[len(lines)-1] += " | " + strings.Join(words, " ")
		}
		text.Reset()
	}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(lines, "\n") + "\n"
		}
		if err != nil {
			t.Fatalf("%v in %s", err, main)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if slices.Contains(inline, x.Name.Local) {
				text.WriteByte(' ')
				continue
			}
			flush()
			line := strings.Repeat("  ", depth) + x.Name.Local
			for _, a := range x.Attr {
				if slices.Contains(behaviour, a.Name.Local) || strings.HasPrefix(a.Name.Local, "aria-") {
					line += " " + a.Name.Local + "=" + a.Value
				}
			}
			lines = append(lines, line)
			depth++
		case xml.EndElement:
			if slices.Contains(inline, x.Name.Local) {
				text.WriteByte(' ')
				continue
			}
			flush()
			depth--
		case xml.CharData:
			text.Write(x)
		}
	}
}
