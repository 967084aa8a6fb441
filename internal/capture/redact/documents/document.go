// Package documents reads JSON as a list of strings that can be changed, each by itself or
// as one text.
//
// Place in the flow: package redact cleans the strings; what is in them is not known here.
package documents

import (
	"slices"
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/jsonscan"
)

// A Document is JSON and its strings. An edit changes strings; what is between
// them stays byte for byte.
type Document struct {
	raw     []byte
	Strings []String
}

// A String is a string of a document.
type String struct {
	start, end int // in raw, with the quotes
	Text       string
	changed    bool
	IsKey      bool
	// Key is the index of the key whose value this is, or whose array it is an
	// element of; -1 when there is none.
	Key int
	// array is the array that the string is an element of, 0 when it is none. Arrays are numbered
	// from 1 in the order in which they open.
	array int
	// block is the array that the object of the string is an element of, 0 for none;
	// inArray is the innermost array around the string.
	block, inArray int
	// Object is the object that a key belongs to.
	Object int
}

// Parse finds the strings of raw, keys too, in their order; false means that it is not JSON. The
// document keeps raw, which must not change.
func Parse(raw []byte) (Document, bool) {
	d := Document{raw: raw}
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
			top.key = len(d.Strings)
			d.Strings = append(d.Strings, String{start: start, end: end, IsKey: true, Key: -1, Object: top.object, block: top.block, inArray: top.around})
		case jsonscan.String:
			d.Strings = append(d.Strings, String{start: start, end: end, Key: top.key, array: top.array, block: top.block, inArray: top.around})
		}
	})
	if !ok {
		return Document{}, false
	}
	for i := range d.Strings {
		d.Strings[i].Text, _ = jsonscan.Unquote(raw[d.Strings[i].start:d.Strings[i].end])
	}
	return d, true
}

// KeyOf returns the text of the key that a string belongs to, "" for none.
//
//go:noinline
func (d *Document) KeyOf(s *String) string {
	if s.Key < 0 {
		return ""
	}
	return d.Strings[s.Key].Text
}

// Set changes the text of a string.
//
//go:noinline
func (s *String) Set(text string) {
	if text != s.Text {
		s.Text, s.changed = text, true
	}
}

// Encode returns the document with the strings that changed; without any the JSON that was parsed,
// not a copy.
func (d *Document) Encode() []byte {
	var out []byte
	last := 0
	for i := range d.Strings {
		s := &d.Strings[i]
		if !s.changed {
			continue
		}
		out = append(out, d.raw[last:s.start]...)
		out = jsonscan.AppendQuote(out, s.Text)
		last = s.end
	}
	if out == nil {
		return d.raw
	}
	return append(out, d.raw[last:]...)
}

// Join returns the values as one text, a line feed behind each, and the start of each string in it,
// with the length of the text behind the last. Keys are left out: theirs is the start of the next.
func (d *Document) Join() (string, []int) {
	var b strings.Builder
	starts := make([]int, len(d.Strings)+1)
	for i := range d.Strings {
		starts[i] = b.Len()
		if !d.Strings[i].IsKey {
			b.WriteString(d.Strings[i].Text)
			b.WriteByte('\n')
		}
	}
	starts[len(d.Strings)] = b.Len()
	return b.String(), starts
}

// FieldEnd returns the end of the string at a position of the joined text, or the
// end of the array that it, or the content block whose text it is, belongs to. starts is what Join
// has returned.
func (d *Document) FieldEnd(starts []int, at int) int {
	next, _ := slices.BinarySearch(starts[:len(d.Strings)], at+1)
	last := next - 1
	if array := d.Strings[last].array; array != 0 {
		for last+1 < len(d.Strings) && d.Strings[last+1].array == array {
			last++
		}
	} else if block := d.Strings[last].block; block != 0 && d.KeyOf(&d.Strings[last]) == "text" {
		for i := last + 1; i < len(d.Strings) && d.Strings[i].inArray >= block; i++ {
			if d.Strings[i].block == block {
				last = i
			}
		}
	}
	return starts[last+1] - 1
}

// RemoveSpans applies spans of the joined text, which are in order and apart, to the strings. The
// mask of a span over several strings goes into the first. starts is what Join has returned; after
// it, it no longer fits.
func (d *Document) RemoveSpans(starts []int, cuts []shapes.Span) {
	for i := range d.Strings {
		s := &d.Strings[i]
		if s.IsKey {
			continue
		}
		start, end := starts[i], starts[i]+len(s.Text)
		for len(cuts) > 0 && cuts[0].End <= start {
			cuts = cuts[1:]
		}
		var own []shapes.Span
		for _, c := range cuts {
			if c.Start >= end {
				break
			}
			rule := c.Rule
			if c.Start < start {
				rule = ""
			}
			if from, to := max(c.Start, start)-start, min(c.End, end)-start; from < to {
				own = append(own, shapes.NewSpan(from, to, rule))
			}
		}
		if len(own) > 0 {
			s.Set(shapes.Apply(s.Text, own))
		}
	}
}
