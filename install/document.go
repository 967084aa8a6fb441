package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// document is a JSON object in a file of somebody else's: what is changed in it
// is changed in its bytes, so that order, indentation, line ends, a byte order
// mark and everything that we do not know stay as they are.
type document struct {
	data []byte // without the byte order mark
	bom  bool
	// root is nil in an empty file.
	root    *node
	newline string
	unit    string // one step of indentation
}

// node is a value and where it stands in data.
type node struct {
	kind       byte // { [ " or 0 for all else
	start, end int
	keys       []string // of an object: the members' keys, unquoted,
	keyAt      []int    // and where each of them stands
	kids       []*node
}

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

var errNotObject = errors.New("it is not one JSON object")

// parseDocument reads a file; an empty one is an object that is not there yet.
func parseDocument(data []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  "}
	d.data, d.bom = bytes.CutPrefix(data, byteOrderMark)
	if i := bytes.IndexByte(d.data, '\n'); i > 0 && d.data[i-1] == '\r' {
		d.newline = "\r\n"
	}
	if len(bytes.TrimSpace(d.data)) == 0 {
		return d, nil
	}
	if err := checkJSON(d.data); err != nil {
		return nil, err
	}
	d.parse()
	if d.root.kind != '{' {
		return nil, errNotObject
	}
	if indent, ok := d.indentOf(d.root); ok && indent != "" {
		d.unit = indent
	}
	return d, nil
}

// checkJSON says in which line the text is broken.
func checkJSON(data []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := data[:min(int(syntax.Offset), len(data))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	return err
}

// parse finds every value again; data is known to be JSON.
func (d *document) parse() {
	p := scanner{data: d.data}
	p.space()
	d.root = p.value()
}

type scanner struct {
	data []byte
	at   int
}

func (p *scanner) space() {
	for p.at < len(p.data) && strings.IndexByte(" \t\r\n", p.data[p.at]) >= 0 {
		p.at++
	}
}

func (p *scanner) value() *node {
	n := &node{start: p.at}
	switch c := p.data[p.at]; c {
	case '{', '[':
		n.kind = c
		p.at++
		for {
			p.space()
			switch p.data[p.at] {
			case '}', ']':
				p.at++
				n.end = p.at
				return n
			case ',':
				p.at++
				continue
			}
			if c == '{' {
				n.keyAt = append(n.keyAt, p.at)
				n.keys = append(n.keys, p.str())
				p.space()
				p.at++ // the colon
				p.space()
			}
			n.kids = append(n.kids, p.value())
		}
	case '"':
		n.kind = c
		p.str()
	default:
		for p.at < len(p.data) && strings.IndexByte(",]} \t\r\n", p.data[p.at]) < 0 {
			p.at++
		}
	}
	n.end = p.at
	return n
}

func (p *scanner) str() string {
	start := p.at
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	var s string
	_ = json.Unmarshal(p.data[start:p.at], &s) // it was checked
	return s
}

// bytes is the file as it is now.
func (d *document) bytes() []byte {
	if d.bom {
		return append(bytes.Clone(byteOrderMark), d.data...)
	}
	return bytes.Clone(d.data)
}

// child is the last member of a key: of two of the same name every reader takes that one.
func (n *node) child(key string) (*node, int) {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == key {
			return n.kids[i], i
		}
	}
	return nil, -1
}

// find follows keys from the root; nil when there is no such value.
func (d *document) find(path ...string) *node {
	n := d.root
	for _, key := range path {
		if n == nil || n.kind != '{' {
			return nil
		}
		n, _ = n.child(key)
	}
	return n
}

// get is the text of a value, nil when there is none.
func (d *document) get(path ...string) json.RawMessage {
	if n := d.find(path...); n != nil {
		return json.RawMessage(d.data[n.start:n.end])
	}
	return nil
}

// keys lists the members of an object.
func (d *document) keys(path ...string) []string {
	if n := d.find(path...); n != nil && n.kind == '{' {
		return n.keys
	}
	return nil
}

// set gives a member its value, making the objects on the way to it.
func (d *document) set(value json.RawMessage, path ...string) error {
	if d.root == nil {
		d.data, d.root = []byte("{}"+d.newline), nil
		d.parse()
	}
	n := d.root
	for i, key := range path {
		kid, _ := n.child(key)
		if kid == nil {
			for j := len(path) - 1; j > i; j-- {
				value = json.RawMessage("{" + quote(path[j]) + ":" + string(value) + "}")
			}
			d.insert(n, quote(key), value)
			return nil
		}
		if i == len(path)-1 {
			indent, _ := d.indentOf(n)
			d.replace(kid.start, kid.end, d.layOut(value, indent, d.isInline(n)))
			return nil
		}
		if kid.kind != '{' {
			return fmt.Errorf("%s is not an object", strings.Join(path[:i+1], "."))
		}
		n = kid
	}
	return nil
}

// add appends to the list at path, making it when there is none.
func (d *document) add(value json.RawMessage, path ...string) error {
	n := d.find(path...)
	if n == nil {
		return d.set(json.RawMessage("["+string(value)+"]"), path...)
	}
	if n.kind != '[' {
		return fmt.Errorf("%s is not a list", strings.Join(path, "."))
	}
	d.insert(n, "", value)
	return nil
}

// remove takes a member out, every one of that name; it says whether there was one.
func (d *document) remove(path ...string) bool {
	removed := false
	for {
		parent := d.find(path[:len(path)-1]...)
		if parent == nil || parent.kind != '{' {
			return removed
		}
		_, i := parent.child(path[len(path)-1])
		if i < 0 {
			return removed
		}
		d.cut(parent, i)
		removed = true
	}
}

// drop takes out the elements of a list that match; it says how many.
func (d *document) drop(match func(json.RawMessage) bool, path ...string) int {
	n := d.find(path...)
	if n == nil || n.kind != '[' {
		return 0
	}
	dropped := 0
	for i := len(n.kids) - 1; i >= 0; i-- {
		if match(json.RawMessage(d.data[n.kids[i].start:n.kids[i].end])) {
			d.cut(n, i)
			n = d.find(path...)
			dropped++
		}
	}
	return dropped
}

// insert puts a member or an element at the end of a container.
func (d *document) insert(n *node, key string, value json.RawMessage) {
	var b bytes.Buffer
	head := func(inline bool) {
		b.WriteString(key)
		if key != "" {
			b.WriteByte(':')
			if !inline {
				b.WriteByte(' ')
			}
		}
	}
	if len(n.kids) == 0 {
		outer := d.lineIndent(n.start)
		inner := outer + d.unit
		b.WriteString(d.newline + inner)
		head(false)
		b.Write(d.layOut(value, inner, false))
		b.WriteString(d.newline + outer)
		d.replace(n.start+1, n.end-1, b.Bytes())
		return
	}
	at := n.kids[len(n.kids)-1].end
	b.WriteByte(',')
	if indent, ok := d.indentOf(n); ok {
		b.WriteString(d.newline + indent)
		head(false)
		b.Write(d.layOut(value, indent, false))
	} else {
		head(true)
		b.Write(d.layOut(value, "", true))
	}
	d.replace(at, at, b.Bytes())
}

// cut takes out what insert would have put there: the comma and the space before it.
func (d *document) cut(n *node, i int) {
	begin := func(i int) int {
		if n.kind == '{' {
			return n.keyAt[i]
		}
		return n.kids[i].start
	}
	switch {
	case len(n.kids) == 1:
		d.replace(n.start+1, n.end-1, nil)
	case i == 0:
		d.replace(begin(0), begin(1), nil)
	default:
		d.replace(n.kids[i-1].end, n.kids[i].end, nil)
	}
}

func (d *document) replace(from, to int, with []byte) {
	out := make([]byte, 0, len(d.data)-(to-from)+len(with))
	out = append(out, d.data[:from]...)
	out = append(out, with...)
	d.data = append(out, d.data[to:]...)
	d.parse()
}

// indentOf is the white space before the first thing in a container that begins
// its own line; false when none does.
func (d *document) indentOf(n *node) (string, bool) {
	for i, kid := range n.kids {
		at := kid.start
		if n.kind == '{' {
			at = n.keyAt[i]
		}
		line := bytes.LastIndexByte(d.data[:at], '\n') + 1
		if line > n.start && len(bytes.TrimSpace(d.data[line:at])) == 0 {
			return string(d.data[line:at]), true
		}
	}
	return "", false
}

func (d *document) isInline(n *node) bool {
	_, ok := d.indentOf(n)
	return !ok && len(n.kids) > 0
}

// lineIndent is the white space at the beginning of the line of a position.
func (d *document) lineIndent(at int) string {
	line := d.data[bytes.LastIndexByte(d.data[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// layOut writes a value as the file around it is written.
func (d *document) layOut(value json.RawMessage, indent string, inline bool) []byte {
	var b bytes.Buffer
	if inline {
		if json.Compact(&b, value) != nil {
			return value
		}
		return b.Bytes()
	}
	if json.Indent(&b, value, indent, d.unit) != nil {
		return value
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline))
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read these files
	_ = enc.Encode(s)        // a string always encodes
	return strings.TrimSpace(b.String())
}

// sameJSON says whether two files mean the same, with the empty objects named
// left aside: the host leaves some behind. No file and an empty one are alike, and
// so are 1.50 and 1.5: the host's numbers are floating point too.
func sameJSON(a, b []byte, empties ...string) bool {
	x, okX := meaning(a, empties)
	y, okY := meaning(b, empties)
	return okX && okY && reflect.DeepEqual(x, y)
}

func meaning(data []byte, empties []string) (map[string]any, bool) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	m := map[string]any{}
	if len(data) == 0 {
		return m, true
	}
	if json.Unmarshal(data, &m) != nil || m == nil {
		return nil, false
	}
	for _, key := range empties {
		if o, ok := m[key].(map[string]any); ok && len(o) == 0 {
			delete(m, key)
		}
	}
	return m, true
}
