package agentfiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claudemem/internal/find/hostfiles"
)

// The markers are lines of their own. Behind beginMarker may stand attributes.
const (
	beginMarker = hostfiles.BeginMarker
	endMarker   = hostfiles.EndMarker
	closeMarker = "-->"
)

// The attributes of a begin marker.
const (
	// attrCreated says that the file did not exist before the block.
	attrCreated = "created"
	// attrNoEOL says that the line break before the block is ours: the file had none at
	// its end.
	attrNoEOL = "no-eol"
	// attrDirs=N says that the last N directories of the path did not exist before.
	attrDirs = "dirs="
)

// document is a text with at most one block.
type document struct {
	// before and after are the text around the block, all of it in before if there is none.
	before, after []byte
	// block says that there is one.
	block bool
	// attrs are the attributes of the begin marker.
	attrs []string
	// eol is the line break of the begin marker, else the text's first one.
	eol string
	// endEOL is the line break behind the end marker, "" at the end of the text.
	endEOL string
}

// parseDocument finds the block in a text. Markers in code and comments are the user's. It fails
// if the text is not UTF-8 or its markers are not one begin and one end, in this order.
func parseDocument(data []byte) (document, error) {
	d := document{before: data, eol: cmp.Or(eolOf(bytes.SplitAfterN(data, []byte("\n"), 2)[0]), "\n")}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return d, errors.New("is not UTF-8 text")
	}
	literal := hostfiles.LiteralLines(string(data))
	begins, ends, at, number := 0, 0, 0, 0
	for line := range bytes.Lines(data) {
		next := at + len(line)
		number++
		attrs, begin := beginLine(line)
		switch {
		case literal[number-1]:
		case begin && begins > 0:
			return d, fmt.Errorf("line %d: a second block begins; leave one block with one begin and one end marker", number)
		case begin:
			begins = number
			d.block, d.before, d.attrs, d.eol = true, data[:at], attrs, eolOf(line)
		case marker(line) == endMarker && (ends > 0 || begins == 0):
			return d, fmt.Errorf("line %d: a block ends that did not begin; remove the marker", number)
		case marker(line) == endMarker:
			ends = number
			d.after, d.endEOL = data[next:], eolOf(line)
		}
		at = next
	}
	if begins > 0 && ends == 0 {
		return d, fmt.Errorf("line %d: the block that begins here has no end marker", begins)
	}
	return d, nil
}

// beginLine returns the attributes of a begin marker; false if the line is none.
func beginLine(line []byte) ([]string, bool) {
	rest, found := strings.CutPrefix(marker(line), beginMarker)
	attrs, closed := strings.CutSuffix(rest, closeMarker)
	if !found || !closed || attrs == "" || attrs[0] != ' ' {
		return nil, false
	}
	return strings.Fields(attrs), true
}

// marker returns a line without the white space around it; "" for one that is indented like code.
func marker(line []byte) string {
	if indent := len(line) - len(bytes.TrimLeft(line, " ")); indent > 3 || indent < len(line) && line[indent] == '\t' {
		return ""
	}
	return string(bytes.TrimSpace(line))
}

// eolOf returns the line break at the end of a line, "" if it has none.
func eolOf(line []byte) string {
	switch {
	case bytes.HasSuffix(line, []byte("\r\n")):
		return "\r\n"
	case bytes.HasSuffix(line, []byte("\n")):
		return "\n"
	}
	return ""
}

// with returns the text with a block of these lines: in the place of the old block, which keeps its
// attributes, or at the end. attrs are those of a new block.
func (d document) with(lines []string, attrs ...string) []byte {
	if !d.block {
		d.attrs, d.endEOL = attrs, d.eol
		if n := len(d.before); n > 0 && d.before[n-1] != '\n' {
			d.attrs, d.before = append(d.attrs, attrNoEOL), slices.Concat(d.before, []byte(d.eol))
		}
	}
	begin := strings.Join(slices.Concat([]string{beginMarker}, d.attrs, []string{closeMarker}), " ")
	block := strings.Join(slices.Concat([]string{begin}, lines, []string{endMarker + d.endEOL}), d.eol)
	return slices.Concat(d.before, []byte(block), d.after)
}

// without returns the text without its block: what it was before, if only the block was
// added since.
func (d document) without() []byte {
	before := d.before
	if slices.Contains(d.attrs, attrNoEOL) && len(d.after) == 0 {
		before = bytes.TrimSuffix(before, []byte(d.eol))
	}
	return slices.Concat(before, d.after)
}

// created reports whether the file did not exist before the block.
func (d document) created() bool { return slices.Contains(d.attrs, attrCreated) }

// madeDirs returns how many directories of the path did not exist before.
func (d document) madeDirs() int {
	for _, attr := range d.attrs {
		if n, err := strconv.Atoi(strings.TrimPrefix(attr, attrDirs)); err == nil && strings.HasPrefix(attr, attrDirs) {
			return n
		}
	}
	return 0
}
