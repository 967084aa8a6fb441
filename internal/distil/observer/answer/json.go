package answer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxJSONDepth bounds the nesting of values.
const maxJSONDepth = 16

// errSkipped stops the reading of nested values after a fault.
var errSkipped = errors.New("a fault in JSON")

var (
	// jsonFault matches a comma before a closing bracket; also strings, so that it
	// matches nothing within them.
	jsonFault  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|,\s*[\]}]`)
	jsonEscape = regexp.MustCompile(`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})?`)
	jsonBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)
)

// mendJSON returns JSON without commas before closing brackets, and with the line breaks
// and backslashes in strings escaped. Valid JSON stays as it is.
func mendJSON(s string) string {
	return jsonFault.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == ',' {
			return m[1:]
		}
		return jsonEscape.ReplaceAllStringFunc(jsonBreaks.Replace(m), func(escape string) string {
			if escape == `\` {
				return `\\`
			}
			return escape
		})
	})
}

// jsonReader writes JSON as the XML that was asked for. quoted is XML in strings of the
// JSON, which stands by itself.
type jsonReader struct {
	*json.Decoder
	xml, quoted []byte
}

// newJSONReader returns a reader of the values in s, which keeps numbers as they are written.
func newJSONReader(s string) *jsonReader {
	r := &jsonReader{Decoder: json.NewDecoder(strings.NewReader(s))}
	r.UseNumber()
	return r
}

// xmlOf returns the values of JSON in s as XML. What breaks off, its XML does as well;
// an object with a fault is left out.
func xmlOf(s string) string {
	var xml []byte
	for s = mendJSON(s); ; {
		at := strings.IndexAny(s, `{["`)
		if at < 0 {
			return string(xml)
		}
		s = s[at:]
		if s[0] == '"' && !strings.Contains(s[:min(len(s), 64)], "<") {
			s = s[1:]
			continue
		}
		r := newJSONReader(s)
		// What comes before a fault was written; what breaks off ends within a field.
		if err := r.value(element{}, 0); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			r.write("<narrative>")
		}
		xml = append(append(xml, r.xml...), r.quoted...)
		s = s[max(1, r.InputOffset()):]
	}
}

// xmlOfList returns a JSON list, which may break off, as the XML of field e; false for
// other text.
func xmlOfList(e element, s string) (string, bool) {
	for _, end := range []string{"", "]", `"]`} {
		r := newJSONReader(mendJSON(s + end))
		if strings.HasPrefix(s, "[") && r.value(e, 0) == nil {
			return string(r.xml), true
		}
	}
	return "", false
}

// value writes the next value, of the field or list e: an object as an observation,
// because add looks at its fields.
func (r *jsonReader) value(e element, depth int) error {
	token, err := r.Token()
	if err != nil || depth > maxJSONDepth {
		return cmp.Or(err, errSkipped)
	}
	text, isText := token.(string)
	if isText && !strings.Contains(text, "<") && e.name == kindSummary {
		e = elements["narrative"]
	}
	switch {
	case token == json.Delim('['):
		return r.list(e, depth)
	case token == json.Delim('{'):
		return r.object(e, depth)
	case e.role == skip:
		if token != nil && token != false {
			r.write("<skipsummary/>")
		}
	case e.isField() && token != nil:
		r.write("<" + e.name + ">" + asText.Replace(clean(fmt.Sprint(token))) + "</" + e.name + ">")
	case isText && strings.Contains(text, "<"):
		r.quoted = append(r.quoted, clean(text)...)
	}
	return nil
}

func (r *jsonReader) write(s string) { r.xml = append(r.xml, s...) }

// list writes the rest of a list. In a field, each value is an item.
func (r *jsonReader) list(e element, depth int) error {
	inner := e
	if e.isField() {
		r.write("<" + e.name + ">")
		inner = elements["item"]
	}
	for r.More() {
		if err := r.value(inner, depth+1); err != nil {
			return err
		}
	}
	if e.isField() {
		r.write("</" + e.name + ">")
	}
	_, err := r.Token()
	return err
}

// object writes the rest of an object; of one in a list of texts, the first text.
func (r *jsonReader) object(e element, depth int) error {
	start, inList := len(r.xml), e.name == "item"
	if !inList {
		r.write("<observation>")
	}
	for r.More() {
		key, err := r.Token()
		if err == nil {
			member := e
			if !inList {
				member = elementOf(fmt.Sprint(key))
			} else if len(r.xml) > start {
				member = element{}
			}
			err = r.value(member, depth+1)
		}
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			r.xml = r.xml[:start]
			return errSkipped
		}
		if err != nil {
			return err
		}
	}
	if !inList {
		r.write("</observation>")
	}
	_, err := r.Token()
	return err
}
