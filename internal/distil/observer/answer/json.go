package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/leaf/jsonscan"
)

var (
	// beginsJSON matches the beginning of a text that is JSON or nothing.
	beginsJSON = regexp.MustCompile("^\\s*(?:```.*\n\\s*)?(?:\\{\\s*[\"}]|\\[\\s*[\\]\\[{\"]|\"<)")
	// jsonLine matches the beginning of a line with a JSON value.
	jsonLine = regexp.MustCompile("(?m)^[ \t]*([{\\[\"])")
)

// decodeJSON decodes the first value of s and returns the rest. Commas before closing
// brackets are ignored.
func decodeJSON(s string) (value any, rest string, err error) {
	for range 2 {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if err = d.Decode(&value); err == nil {
			return value, s[d.InputOffset():], nil
		}
		s = string(jsonscan.Relax([]byte(s)))
	}
	return nil, "", err
}

// readJSON returns the records of the JSON in a text, each value of which begins a line.
func readJSON(s string) *reading {
	r := &reading{}
	r.outside.WriteString(s)
	for range maxRecords {
		at := jsonLine.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		value, rest, err := decodeJSON(s[at[2]:])
		if err != nil {
			r.unclear = true
			break
		}
		r.value(kindObservation, value)
		s = rest
	}
	return r
}

// value adds the records of a kind in a value.
func (r *reading) value(kind string, value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			r.value(kind, item)
		}
	case map[string]any:
		rec := &record{kind: kind, fields: map[string][]string{}}
		r.records = append(r.records, rec)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			e, ok := elements[fold(key)], true
			switch {
			case e.in(kind):
				rec.fields[e.field], ok = texts(e, v[key])
			case e.role == skip:
				r.skip = r.skip || v[key] != nil && v[key] != false
			case e.role == wrapper, e.role == recordRole:
				r.value(e.field, v[key])
			default:
				ok = e.of == "" // no field of another kind of record
				r.value(kind, v[key])
			}
			r.doubt(!ok)
		}
	}
}

// texts returns the texts in the value of a field; false for a value that is not
// understood.
func texts(e element, value any) (all []string, ok bool) {
	switch v := value.(type) {
	case nil:
		return nil, true
	case map[string]any:
		return nil, false
	case []any:
		for _, item := range v {
			inner, ok := texts(elements["item"], item)
			if !ok {
				return nil, false
			}
			all = append(all, inner...)
		}
		return all, true
	}
	s := clean(fmt.Sprint(value))
	if e.role == list {
		return splitList(e.name, s)
	}
	return []string{s}, true
}
