package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// A Document is the JSON object in another program's file. An edit changes its
// bytes only where it must, so that order, indentation, line ends, a byte order
// mark and unknown members stay as they are. It is not safe for concurrent use.
type Document struct {
	data    []byte // without the byte order mark
	clean   []byte // data without comments and trailing commas
	bom     bool
	relaxed bool
	root    *Node // nil in an empty file
	newline string
	unit    string // one step of indentation
}

// A Node is a value of a document. An edit makes the nodes found before invalid.
type Node struct {
	Kind       byte // '{', '[', String or Scalar
	Start, End int
	Keys       []string // of an object: the members' keys, decoded
	Kids       []*Node  // of an object or an array
	keyAt      []int    // where the keys stand
}

// Parse reads a file; an empty one is an object that is not there yet. The error
// is an [ErrNotObject], a [*SyntaxError] when the text is not JSON.
func Parse(data []byte) (*Document, error) { return parse(data, false) }

// ParseRelaxed is Parse for a file that may have comments and trailing commas
// (see [Relax]); edits keep them.
func ParseRelaxed(data []byte) (*Document, error) { return parse(data, true) }

// parse parses a JSON object, relaxed with comments and trailing commas, and keeps its
// layout for edits. A file that is empty but for blanks (and comments) has no root, which Set makes.
// ErrNotObject for another value, a SyntaxError for text that is no JSON.
func parse(data []byte, relaxed bool) (*Document, error) {
	d := &Document{relaxed: relaxed, newline: "\n", unit: "  "}
	d.data, d.bom = bytes.CutPrefix(data, byteOrderMark)
	if i := bytes.IndexByte(d.data, '\n'); i > 0 && d.data[i-1] == '\r' {
		d.newline = "\r\n"
	}
	if d.clean = d.strict(); len(bytes.TrimSpace(d.clean)) == 0 {
		return d, nil
	}
	if err := Check(d.clean); err != nil {
		return nil, err
	}
	d.index()
	if d.root.Kind != '{' {
		return nil, ErrNotObject
	}
	if indent, ok := d.indentOf(d.root); ok && indent != "" {
		d.unit = indent
	}
	return d, nil
}

// strict returns the text without comments and trailing commas.
func (d *Document) strict() []byte {
	if d.relaxed {
		return Relax(d.data)
	}
	return d.data
}

// index finds every value again, after each edit. The text is valid JSON, so that every bracket has
// its partner.
func (d *Document) index() {
	d.root, d.clean = nil, d.strict()
	var open []*Node
	Tokens(d.clean, func(kind byte, start, end int) {
		var parent *Node
		if len(open) > 0 {
			parent = open[len(open)-1]
		}
		switch kind {
		case '}', ']':
			parent.End = end
			open = open[:len(open)-1]
			return
		case Key:
			key, _ := Unquote(d.clean[start:end])
			parent.Keys = append(parent.Keys, key)
			parent.keyAt = append(parent.keyAt, start)
			return
		}
		n := &Node{Kind: kind, Start: start, End: end}
		if parent == nil {
			d.root = n
		} else {
			parent.Kids = append(parent.Kids, n)
		}
		if kind == '{' || kind == '[' {
			open = append(open, n)
		}
	})
}

// Bytes returns a copy of the file as it is now.
func (d *Document) Bytes() []byte {
	if d.bom {
		return append(bytes.Clone(byteOrderMark), d.data...)
	}
	return bytes.Clone(d.data)
}

// child returns the last member of a key and its index: of two of the same name
// every reader takes the last. nil and -1 for none.
func (n *Node) child(key string) (*Node, int) {
	for i := len(n.Keys) - 1; i >= 0; i-- {
		if n.Keys[i] == key {
			return n.Kids[i], i
		}
	}
	return nil, -1
}

// IsEmpty reports whether the file has no object yet.
func (d *Document) IsEmpty() bool { return d.root == nil }

// Find returns the value at a path of keys from the root, which is the value of no keys; nil when
// there is none.
func (d *Document) Find(path ...string) *Node {
	n := d.root
	for _, key := range path {
		if n == nil || n.Kind != '{' {
			return nil
		}
		n, _ = n.child(key)
	}
	return n
}

// Get returns the text of a value, nil when there is none.
func (d *Document) Get(path ...string) []byte {
	if n := d.Find(path...); n != nil {
		return d.Text(n)
	}
	return nil
}

// Text returns a value as it stands, without comments.
func (d *Document) Text(n *Node) []byte { return d.clean[n.Start:n.End] }

// Keys returns the keys of the object at path.
func (d *Document) Keys(path ...string) []string {
	if n := d.Find(path...); n != nil && n.Kind == '{' {
		return n.Keys
	}
	return nil
}

// Set gives a member its value, which is valid JSON, and makes the objects on the way to it. A new
// member comes last in its object; of several of one name the last is changed. It fails,
// and changes nothing, when something else than an object is in the way.
func (d *Document) Set(value []byte, path ...string) error {
	if d.root == nil {
		if len(bytes.TrimSpace(d.data)) == 0 {
			d.data = nil
		} else if !bytes.HasSuffix(d.data, []byte("\n")) {
			d.data = append(bytes.Clone(d.data), d.newline...) // ends a comment
		}
		d.data = append(bytes.Clone(d.data), "{}"+d.newline...)
		d.index()
	}
	n := d.root
	for i, key := range path {
		kid, _ := n.child(key)
		if kid == nil {
			for j := len(path) - 1; j > i; j-- {
				value = []byte("{" + quote(path[j]) + ":" + string(value) + "}")
			}
			d.insert(n, quote(key), value)
			return nil
		}
		if i == len(path)-1 {
			indent, _ := d.indentOf(n)
			d.replace(kid.Start, kid.End, d.layOut(value, indent, d.isInline(n)))
			return nil
		}
		if kid.Kind != '{' {
			return errors.New(strings.Join(path[:i+1], ".") + " is not an object")
		}
		n = kid
	}
	return nil
}

// Add appends a value, which is valid JSON, to the array at path and makes it when there is none. It
// fails when something else is there.
func (d *Document) Add(value []byte, path ...string) error {
	n := d.Find(path...)
	if n == nil {
		return d.Set([]byte("["+string(value)+"]"), path...)
	}
	if n.Kind != '[' {
		return errors.New(strings.Join(path, ".") + " is not a list")
	}
	d.insert(n, "", value)
	return nil
}

// Remove takes out every member of that name and reports whether there was one. path has at least one
// key.
func (d *Document) Remove(path ...string) bool {
	removed := false
	for {
		parent := d.Find(path[:len(path)-1]...)
		if parent == nil || parent.Kind != '{' {
			return removed
		}
		_, i := parent.child(path[len(path)-1])
		if i < 0 {
			return removed
		}
		d.removeAt(parent, i)
		removed = true
	}
}

// RemoveFunc takes out the elements of the array at path that match and returns
// how many there were; 0 where there is no array. match gets an element as it stands.
func (d *Document) RemoveFunc(match func([]byte) bool, path ...string) int {
	n := d.Find(path...)
	if n == nil || n.Kind != '[' {
		return 0
	}
	removed := 0
	for i := len(n.Kids) - 1; i >= 0; i-- {
		if match(d.Text(n.Kids[i])) {
			d.removeAt(n, i)
			n = d.Find(path...)
			removed++
		}
	}
	return removed
}

// insert adds a member, or an element when key is "", at the end of a container: on a line of its own
// if the others are, or there are none. key is quoted.
func (d *Document) insert(n *Node, key string, value []byte) {
	label := func(colon string) string {
		if key == "" {
			return ""
		}
		return key + colon
	}
	if len(n.Kids) == 0 {
		outer := d.lineIndent(n.Start)
		inner := outer + d.unit
		d.replace(n.Start+1, n.End-1, d.newline+inner+label(": ")+d.layOut(value, inner, false)+d.newline+outer)
		return
	}
	at := n.Kids[len(n.Kids)-1].End
	if indent, ok := d.indentOf(n); ok {
		d.replace(at, at, ","+d.newline+indent+label(": ")+d.layOut(value, indent, false))
	} else {
		d.replace(at, at, ","+label(":")+d.layOut(value, "", true))
	}
}

// begin returns where a member or an element begins.
func (n *Node) begin(i int) int {
	if n.Kind == '{' {
		return n.keyAt[i]
	}
	return n.Kids[i].Start
}

// removeAt takes out a member or an element with the comma and the white space
// before it, or behind it if it is the first: the inverse of insert. Comments between go too.
func (d *Document) removeAt(n *Node, i int) {
	switch {
	case len(n.Kids) == 1:
		d.replace(n.Start+1, n.End-1, "")
	case i == 0:
		d.replace(n.begin(0), n.begin(1), "")
	default:
		d.replace(n.Kids[i-1].End, n.Kids[i].End, "")
	}
}

// replace exchanges a part of the text.
func (d *Document) replace(from, to int, with string) {
	d.data = slices.Concat(d.data[:from], []byte(with), d.data[to:])
	d.index()
}

// indentOf returns the white space before the first member or element of n that begins
// its own line; false when none does, and for a value that has none.
func (d *Document) indentOf(n *Node) (string, bool) {
	for i := range n.Kids {
		at := n.begin(i)
		line := bytes.LastIndexByte(d.data[:at], '\n') + 1
		if line > n.Start && len(bytes.TrimSpace(d.data[line:at])) == 0 {
			return string(d.data[line:at]), true
		}
	}
	return "", false
}

// isInline reports whether a container with content stands on one line.
func (d *Document) isInline(n *Node) bool {
	_, ok := d.indentOf(n)
	return !ok && len(n.Kids) > 0
}

// lineIndent returns the white space at the beginning of the line of a position.
func (d *Document) lineIndent(at int) string {
	line := d.data[bytes.LastIndexByte(d.data[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// layOut returns a value indented like the file around it: on one line if inline, else its further
// lines begin with indent. A value that is no JSON is returned as it is.
func (d *Document) layOut(value []byte, indent string, inline bool) string {
	var b bytes.Buffer
	var err error
	if inline {
		err = json.Compact(&b, value)
	} else {
		err = json.Indent(&b, value, indent, d.unit)
	}
	if err != nil {
		return string(value)
	}
	return strings.ReplaceAll(b.String(), "\n", d.newline)
}

func quote(s string) string { return string(AppendQuote(nil, s)) }
