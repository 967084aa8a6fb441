package redact

import (
	"bytes"
	"slices"
	"strings"

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
	d, ok := parseDocument(raw)
	if !ok {
		return jsonscan.AppendQuote(nil, scrub(strings.ToValidUTF8(string(raw), "\ufffd"), false, counts))
	}
	d.scrub(counts)
	return d.encode()
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
			return !dirty(view(raw[i:]), false)
		}
		i += n
		end := jsonscan.StringEnd(raw, i)
		if end-i < 2 || raw[end-1] != '"' {
			return false
		}
		body := raw[i+1 : end-1]
		text := body
		for len(body) > 0 {
			var rest []byte
			body, rest = window(body)
			if text = body; bytes.IndexByte(body, '\\') >= 0 {
				buffer = jsonscan.AppendUnquoted(slices.Grow(buffer[:0], len(body)), body)
				text = buffer
			}
			// The key of a PEM block may be in the strings that follow.
			if dirty(view(text), false) || bytes.Contains(text, []byte(pemBegin)) {
				return false
			}
			body = rest
		}
		i = end
		for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
			i++
		}
		if i < len(raw) && raw[i] == ':' && (namesSecret(view(text)) || isValueName(view(text))) {
			return false
		}
	}
	return true
}

const (
	// windowSize is how much of a string cleanJSON decodes at once: less memory is
	// touched, which takes longer than the scan does.
	windowSize = 128 << 10
	// windowOverlap exceeds how far from each other the parts of a secret or a tag can
	// be for the scanner: maxQuoted, the longest name and the longest attributes.
	windowOverlap = 3 * maxQuoted
)

// window returns the part of a string that is decoded next, and the rest that has to
// be looked at after it: the two overlap. Both are cut at line ends, which nothing
// crosses that the scanner follows without a bound. A string without line ends is one
// window. body is JSON without its quotes.
func window(body []byte) (now, rest []byte) {
	if len(body) <= windowSize {
		return body, nil
	}
	end := afterLine(body, windowSize)
	overlap := windowOverlap
	if bytes.Contains(body[max(end-overlap, 0):end], []byte(`\u`)) {
		overlap *= 3 // six bytes may stand for one
	}
	next := afterLine(body, end-overlap)
	if next <= 0 {
		return body, nil
	}
	return body[:end], body[next:]
}

// afterLine returns the position after the last line feed in body[:limit], 0 for none.
func afterLine(body []byte, limit int) int {
	for limit > 0 {
		n := bytes.LastIndex(body[:limit], []byte(`\n`))
		backslashes := 0
		for k := n - 1; k >= 0 && body[k] == '\\'; k-- {
			backslashes++
		}
		if n >= 0 && backslashes%2 == 0 {
			return n + 2
		}
		limit = n
	}
	return 0
}

// scrub strips tags and masks secrets in all strings of a document.
func (d *document) scrub(counts *map[string]int) {
	if d.spansStrings() {
		d.stripAcross(counts)
	}
	for i := range d.strings {
		s := &d.strings[i]
		s.set(scrub(s.text, false, counts))
		if !s.isKey {
			d.maskByKey(s, counts)
		}
	}
}

// maskByKey masks the value of a key that names a secret.
func (d *document) maskByKey(s *jsonString, counts *map[string]int) {
	key := d.keyOf(s)
	if s.text == "" || strings.Contains(s.text, MaskStart) {
		return
	}
	if isValueName(key) {
		key = d.nameBeside(s)
	}
	if rule := secretNamed(key, s.text); rule != "" {
		s.set(Mask(rule))
		Count(counts, rule)
	}
}

// nameBeside returns the name that another member of its object gives to the value s; ""
// for none.
func (d *document) nameBeside(s *jsonString) string {
	own := d.strings[s.key].object
	for i := max(0, s.key-maxMembers); i < min(len(d.strings), s.key+maxMembers); i++ {
		if other := &d.strings[i]; !other.isKey && other.key >= 0 && d.strings[other.key].object == own && isNameName(d.strings[other.key].text) {
			return other.text
		}
	}
	return ""
}

// maxMembers is how far a value is from its name in another member, in strings.
const maxMembers = 16

// spansStrings reports whether a tag or a PEM block may begin in one string and end
// in another: as the lines of an array do, or several content blocks.
func (d *document) spansStrings() bool {
	for i := range d.strings {
		s := d.strings[i].text
		if d.strings[i].isKey {
			continue
		}
		if strings.Contains(s, pemBegin) && !strings.Contains(s, "-----END") {
			return true
		}
		if cuts := tagSpans(s, false, nil); len(cuts) > 0 && cuts[len(cuts)-1].end == len(s) {
			return true
		}
	}
	return false
}

// stripAcross strips tags and masks PEM blocks in the document's values joined to
// one text, one line each. A tag that is never closed extends to the end of its
// string, or of its array: the lines of a patch are an array, and so are the content
// blocks of a message.
func (d *document) stripAcross(counts *map[string]int) {
	for range maxStripPasses {
		text, starts := d.join()
		cuts := tagSpans(text, false, func(at int) int { return d.fieldEnd(starts, at) })
		cuts = d.addPrivateKeys(text, cuts, counts)
		if len(cuts) == 0 {
			return
		}
		d.removeSpans(starts, cuts)
	}
}

// join returns the values as one text and the start of each string in it. Keys are
// left out.
func (d *document) join() (string, []int) {
	var b strings.Builder
	starts := make([]int, len(d.strings)+1)
	for i := range d.strings {
		starts[i] = b.Len()
		if !d.strings[i].isKey {
			b.WriteString(d.strings[i].text)
			b.WriteByte('\n')
		}
	}
	starts[len(d.strings)] = b.Len()
	return b.String(), starts
}

// fieldEnd returns the end of the string at a position of the joined text, or the
// end of the array that it, or the content block whose text it is, belongs to.
func (d *document) fieldEnd(starts []int, at int) int {
	next, _ := slices.BinarySearch(starts[:len(d.strings)], at+1)
	last := next - 1
	if array := d.strings[last].array; array != 0 {
		for last+1 < len(d.strings) && d.strings[last+1].array == array {
			last++
		}
	} else if block := d.strings[last].block; block != 0 && d.keyOf(&d.strings[last]) == "text" {
		for i := last + 1; i < len(d.strings) && d.strings[i].inArray >= block; i++ {
			if d.strings[i].block == block {
				last = i
			}
		}
	}
	return starts[last+1] - 1
}

// addPrivateKeys merges the PEM blocks of text into cuts.
func (d *document) addPrivateKeys(text string, cuts []span, counts *map[string]int) []span {
	var merged []span
	at, next := 0, 0
	for {
		n := strings.Index(text[at:], pemBegin)
		if n < 0 {
			return append(merged, cuts[next:]...)
		}
		found, ok := privateKey(text, at+n)
		if !ok {
			at += n + 1
			continue
		}
		for next < len(cuts) && cuts[next].end <= found.start {
			merged = append(merged, cuts[next])
			next++
		}
		if next < len(cuts) && cuts[next].start < found.end {
			// They overlap: the tag's text is removed, and the next pass sees the rest.
			at = max(cuts[next].end, at+n+1)
			continue
		}
		merged = append(merged, found)
		Count(counts, found.rule)
		at = found.end
	}
}

// removeSpans applies spans of the joined text to the strings. The mask of a span over
// several strings goes into the first.
func (d *document) removeSpans(starts []int, cuts []span) {
	for i := range d.strings {
		s := &d.strings[i]
		if s.isKey {
			continue
		}
		start, end := starts[i], starts[i]+len(s.text)
		for len(cuts) > 0 && cuts[0].end <= start {
			cuts = cuts[1:]
		}
		var own []span
		for _, c := range cuts {
			if c.start >= end {
				break
			}
			rule := c.rule
			if c.start < start {
				rule = ""
			}
			if from, to := max(c.start, start)-start, min(c.end, end)-start; from < to {
				own = append(own, span{from, to, rule})
			}
		}
		if len(own) > 0 {
			s.set(applySpans(s.text, own))
		}
	}
}

// Each replaces every string of raw, keys too, with what f returns for it. key is
// the key that the string belongs to, "" for keys and for strings outside objects.
// Each returns raw itself when f changes nothing, and false when raw is not JSON.
func Each(raw []byte, f func(key, text string) string) ([]byte, bool) {
	d, ok := parseDocument(raw)
	if !ok {
		return raw, false
	}
	for i := range d.strings {
		s := &d.strings[i]
		s.set(f(d.keyOf(s), s.text))
	}
	return d.encode(), true
}
