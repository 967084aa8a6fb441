package redact

import (
	"bytes"
	"slices"
	"strings"

	"claudemem/internal/capture/redact/assign"
	"claudemem/internal/capture/redact/documents"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/redact/tokens"
	"claudemem/internal/leaf/jsonscan"
)

// scrubJSON strips tags and masks secrets in the strings of raw, and masks the
// values of keys that name a secret. It returns raw itself when nothing changes.
// Valid JSON stays valid; text that is not JSON and not clean becomes a JSON string
// of its scrubbed text.
func scrubJSON(raw []byte, counts *map[string]int) []byte {
	if len(raw) == 0 || cleanJSON(raw) {
		return raw
	}
	d, ok := documents.Parse(raw)
	if !ok {
		return jsonscan.AppendQuote(nil, scrub(strings.ToValidUTF8(string(raw), "\ufffd"), false, counts))
	}
	scrubStrings(&d, counts)
	return d.Encode()
}

// cleanJSON reports whether scrubJSON would certainly not change raw. It is the fast
// path: it builds no document and does not allocate for strings under 4 KB.
func cleanJSON(raw []byte) bool {
	var scratch [4096]byte
	buffer := scratch[:0]
	for i := 0; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			// Only text that is not JSON has more than punctuation here.
			return !dirty(shapes.View(raw[i:]), false)
		}
		i += n
		end := jsonscan.StringEnd(raw, i)
		if end-i < 2 || raw[end-1] != '"' {
			return false
		}
		text := raw[i+1 : end-1]
		if bytes.IndexByte(text, '\\') >= 0 {
			buffer = jsonscan.AppendUnquoted(slices.Grow(buffer[:0], len(text)), text)
			text = buffer
		}
		// The key of a PEM block may be in the strings that follow.
		if dirty(shapes.View(text), false) || bytes.Contains(text, []byte(tokens.PEMBegin)) {
			return false
		}
		i = shapes.SkipTo(shapes.View(raw), end, " \n\t\r")
		if i < len(raw) && raw[i] == ':' && (assign.NamesSecret(shapes.View(text)) || assign.IsValueName(shapes.View(text))) {
			return false
		}
	}
	return true
}

// scrubStrings strips tags and masks secrets in all strings of a document, keys too. Tags and keys
// in PEM that go over several strings come first, while the strings are as they were.
func scrubStrings(d *documents.Document, counts *map[string]int) {
	if spansStrings(d) {
		stripAcross(d, counts)
	}
	for i := range d.Strings {
		s := &d.Strings[i]
		s.Set(scrub(s.Text, false, counts))
		if !s.IsKey {
			maskByKey(d, s, counts)
		}
	}
}

// maskByKey masks the value s of a key that names a secret; of a key such as "value" the name is in
// another member. A value with a mask stays.
func maskByKey(d *documents.Document, s *documents.String, counts *map[string]int) {
	key := d.KeyOf(s)
	if s.Text == "" || strings.Contains(s.Text, shapes.MaskStart) {
		return
	}
	if assign.IsValueName(key) {
		key = nameOf(d, s)
	}
	if rule := assign.Named(key, s.Text); rule != "" {
		s.Set(shapes.Mask(rule))
		shapes.Count(counts, rule)
	}
}

// nameOf returns the name that another member of its object gives to the value s, which has a key;
// "" for none within maxMembers strings.
func nameOf(d *documents.Document, s *documents.String) string {
	own := d.Strings[s.Key].Object
	for i := max(0, s.Key-maxMembers); i < min(len(d.Strings), s.Key+maxMembers); i++ {
		if other := &d.Strings[i]; !other.IsKey && other.Key >= 0 && d.Strings[other.Key].Object == own && assign.IsNameName(d.Strings[other.Key].Text) {
			return other.Text
		}
	}
	return ""
}

// maxMembers is how far a value is from its name in another member, in strings.
const maxMembers = 16

// spansStrings reports whether a tag or a PEM block may begin in one string and end
// in another: as the lines of an array do, or several content blocks.
func spansStrings(d *documents.Document) bool {
	for i := range d.Strings {
		s := d.Strings[i].Text
		if d.Strings[i].IsKey {
			continue
		}
		if strings.Contains(s, tokens.PEMBegin) && !strings.Contains(s, "-----END") {
			return true
		}
		if cuts := tags.Spans(s, false, nil); len(cuts) > 0 && cuts[len(cuts)-1].End == len(s) {
			return true
		}
	}
	return false
}

// stripAcross strips tags and masks PEM blocks in the document's values joined to
// one text, one line each. A tag that is never closed extends to the end of its
// string, or of its array: the lines of a patch are an array, and so are the content
// blocks of a message.
func stripAcross(d *documents.Document, counts *map[string]int) {
	for range tags.MaxPasses + 1 { // one more, for the private keys
		text, starts := d.Join()
		cuts := tags.Spans(text, false, func(at int) int { return d.FieldEnd(starts, at) })
		if len(cuts) == 0 {
			cuts = privateKeys(text, counts)
		}
		if len(cuts) == 0 {
			return
		}
		d.RemoveSpans(starts, cuts)
	}
}

// privateKeys returns the PEM blocks with private keys in text, in order and apart, and counts them.
func privateKeys(text string, counts *map[string]int) (found []shapes.Span) {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], tokens.PEMBegin)
		if n < 0 {
			return found
		}
		at += n
		if key, ok := tokens.PrivateKey(text, at); ok {
			found = append(found, key)
			shapes.Count(counts, key.Rule)
			at = key.End - 1
		}
	}
}

// Each replaces every string of raw, keys too, with what f returns for it. key is
// the key that the string belongs to, "" for keys and for strings outside objects.
// Each returns raw itself when f changes nothing, and false when raw is not JSON.
func Each(raw []byte, f func(key, text string) string) ([]byte, bool) {
	d, ok := documents.Parse(raw)
	if !ok {
		return raw, false
	}
	for i := range d.Strings {
		s := &d.Strings[i]
		s.Set(f(d.KeyOf(s), s.Text))
	}
	return d.Encode(), true
}
