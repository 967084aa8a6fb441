package text

import "strings"

// Fill replaces each {{name}} of a text by its value. What stands between {{#name}} and
// {{/name}} is left out when the value is empty; a line end behind either is not kept.
// Values are not read again. A name that values lacks is an error of the text's author and
// panics, also in a section that is left out. Sections of one name do not nest.
func Fill(template string, values map[string]string) string {
	var b strings.Builder
	b.Grow(len(template))
	omit := "" // the section that is being left out
	for {
		before, rest, more := strings.Cut(template, "{{")
		if omit == "" {
			b.WriteString(before)
		}
		if !more {
			return b.String()
		}
		name, rest, _ := strings.Cut(rest, "}}")
		section, opens := strings.CutPrefix(name, "#")
		section, closes := strings.CutPrefix(section, "/")
		value, known := values[section]
		if !known {
			panic("text.Fill: no value for " + name)
		}
		switch {
		case opens && omit == "" && value == "":
			omit = section
		case closes && omit == section:
			omit = ""
		case !opens && !closes && omit == "":
			b.WriteString(value)
		}
		if opens || closes {
			rest = strings.TrimPrefix(rest, "\n")
		}
		template = rest
	}
}
