package redact

import "claudemem/internal/leaf/jsonscan"

// A document is JSON and its strings. An edit changes strings; what is between
// them stays byte for byte.
type document struct {
	raw     []byte
	strings []jsonString
}

// A jsonString is a string of a document.
type jsonString struct {
	start, end int // in raw, with the quotes
	text       string
	changed    bool
	isKey      bool
	// key is the index of the key whose value this is, or whose array it is an
	// element of; -1 when there is none.
	key int
	// array is the array that the string is an element of, 0 when it is none.
	array int
	// block is the array that the object of the string is an element of, 0 for none;
	// inArray is the innermost array around the string.
	block, inArray int
	// object is the object that a key belongs to.
	object int
}

// parseDocument finds the strings of raw; false means that it is not JSON.
func parseDocument(raw []byte) (document, bool) {
	d := document{raw: raw}
	type container struct {
		array  int // 0 for an object
		object int // 0 for an array
		block  int // the array that an object is an element of
		around int // the innermost array
		key    int // of the value being read
	}
	open := make([]container, 1, 8)
	open[0].key = -1
	arrays, objects := 0, 0
	ok := jsonscan.Tokens(raw, func(kind byte, start, end int) {
		top := &open[len(open)-1]
		switch kind {
		case '{':
			objects++
			open = append(open, container{object: objects, block: top.array, around: top.around, key: -1})
		case '[':
			arrays++
			open = append(open, container{array: arrays, around: arrays, key: top.key})
		case '}', ']':
			open = open[:len(open)-1]
		case jsonscan.Key:
			top.key = len(d.strings)
			d.strings = append(d.strings, jsonString{start: start, end: end, isKey: true, key: -1, object: top.object, block: top.block, inArray: top.around})
		case jsonscan.String:
			d.strings = append(d.strings, jsonString{start: start, end: end, key: top.key, array: top.array, block: top.block, inArray: top.around})
		}
	})
	if !ok {
		return document{}, false
	}
	for i := range d.strings {
		d.strings[i].text, _ = jsonscan.Unquote(raw[d.strings[i].start:d.strings[i].end])
	}
	return d, true
}

// keyOf returns the text of the key that a string belongs to, "" for none.
//
//go:noinline
func (d *document) keyOf(s *jsonString) string {
	if s.key < 0 {
		return ""
	}
	return d.strings[s.key].text
}

// set changes the text of a string.
//
//go:noinline
func (s *jsonString) set(text string) {
	if text != s.text {
		s.text, s.changed = text, true
	}
}

// encode returns the document with the strings that changed.
func (d *document) encode() []byte {
	var out []byte
	last := 0
	for i := range d.strings {
		s := &d.strings[i]
		if !s.changed {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(d.raw))
		}
		out = append(out, d.raw[last:s.start]...)
		out = jsonscan.AppendQuote(out, s.text)
		last = s.end
	}
	if out == nil {
		return d.raw
	}
	return append(out, d.raw[last:]...)
}
