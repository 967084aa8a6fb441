package hook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"claudemem"
	"claudemem/jsonscan"
	"claudemem/redact"
)

const (
	// longestField is the length to which a text is truncated: half of it from the
	// head, half from the tail.
	longestField = 64 << 10
	// longestWhole is the length up to which the content of a file stays whole, for
	// the comparison of its symbols.
	longestWhole = 1 << 20
	// longestList bounds an array or object, longestInner one within another, both
	// without contents that stay whole. There is room for two texts of longestField.
	longestList  = 8 * longestField
	longestInner = 3 * longestField
	// A text longer than longestWhole loses its middle before redaction and keeps
	// earlyEnd bytes of each end: 96 KB more than truncation leaves, so a secret of
	// less than 96 KB is redacted whole. Lists over earlyList are shortened then too.
	earlyEnd  = 2 * longestField
	earlyList = 8 << 20
	// deepest is the depth down to which members are truncated one by one; a larger
	// value below it is dropped as one.
	deepest = 8

	cutMark   = "[claude-mem: "
	imageMark = "[claude-mem: image left out, "
)

// dropMiddles removes the middle of texts over longestWhole, so that redaction,
// which scans every byte several times, stays within the hook's deadline. Tags are
// stripped first: one that opens in the middle would be missed later.
func dropMiddles(e *claudemem.Event) {
	e.Prompt = dropMiddle(e.Prompt)
	e.ToolError = dropMiddle(e.ToolError)
	e.LastAssistantMessage = dropMiddle(e.LastAssistantMessage)
	for _, raw := range []*json.RawMessage{&e.ToolInput, &e.ToolResponse} {
		if len(*raw) > longestWhole {
			c := truncator{longest: longestWhole, shorten: dropMiddleOfString, list: earlyList, innerList: earlyList}
			*raw, _ = c.value(*raw, "", 0)
		}
	}
}

func dropMiddle(s string) string {
	if len(s) <= longestWhole {
		return s
	}
	return redact.TruncateMiddleTo(redact.StripTags(s), longestWhole, earlyEnd)
}

// dropMiddleOfString is dropMiddle for a raw JSON string.
func dropMiddleOfString(v []byte) []byte {
	text, _ := jsonscan.Unquote(v)
	return jsonscan.AppendQuote(nil, dropMiddle(text))
}

// truncateEvent truncates texts and lists over their limits. It runs after
// redaction, which does not recognise half a secret.
func truncateEvent(e *claudemem.Event) {
	for _, text := range []*string{&e.Prompt, &e.ToolError, &e.LastAssistantMessage} {
		*text = redact.TruncateMiddle(*text, longestField)
	}
	var input, response []string
	switch e.ToolName {
	case "Write", "Edit", "MultiEdit":
		input = []string{"content", "old_string", "new_string"}
		response = []string{"originalFile"}
	case "NotebookEdit":
		response = []string{"original_file", "updated_file"}
	}
	e.ToolInput = truncateJSON(e.ToolInput, input)
	e.ToolResponse = truncateJSON(e.ToolResponse, response)
}

// truncateName returns the first n bytes of a name, without splitting a character.
func truncateName(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// truncateJSON truncates the texts and lists in valid JSON and keeps it valid.
// Members named in whole are contents of files. Images are left out.
func truncateJSON(raw json.RawMessage, whole []string) json.RawMessage {
	if len(raw) <= longestField && !bytes.Contains(raw, []byte(`"base64"`)) && !bytes.Contains(raw, []byte(`"image`)) {
		return raw
	}
	c := truncator{whole: whole, images: true, longest: longestField, shorten: truncateString, list: longestList, innerList: longestInner}
	out, _ := c.value(raw, "", 0)
	return out
}

// truncator truncates JSON by limits.
type truncator struct {
	// whole names the members that are files' contents.
	whole []string
	// images says that images are left out.
	images bool
	// longest is the length above which a string is passed to shorten.
	longest int
	shorten func([]byte) []byte
	// list and innerList bound arrays and objects.
	list, innerList int
}

// value returns v truncated, and how many bytes of it are contents that stay whole.
func (c *truncator) value(v []byte, key string, depth int) (short []byte, exempt int) {
	if len(v) == 0 {
		return v, 0
	}
	switch v[0] {
	case '"':
		if len(v) <= c.longest {
			return v, 0
		}
		for _, name := range c.whole {
			if name == key && len(v) <= longestWhole {
				return v, len(v)
			}
		}
		return c.shorten(v), 0
	case '{', '[':
		if depth < deepest {
			return c.members(v, depth)
		}
		if len(v) > c.longest {
			return jsonscan.AppendQuote(nil, cutMark+strconv.Itoa(len(v))+" bytes cut]"), 0
		}
	}
	return v, 0
}

// members truncates an object or array: each member, then the list of members.
func (c *truncator) members(v []byte, depth int) (short []byte, exempt int) {
	object := v[0] == '{'
	var list [][]byte
	changed, total := false, 0
	image := c.images && object && isImage(v)
	add := func(key string, label, value []byte) {
		out, kept := c.value(value, key, depth+1)
		if image && (key == "base64" || key == "data") && value[0] == '"' {
			out = jsonscan.AppendQuote(nil, imageMark+strconv.Itoa(len(value)-2)+" bytes of base64]")
		}
		changed = changed || !bytes.Equal(out, value)
		exempt += kept
		total += len(label) + len(out) + 1
		list = append(list, append(append(make([]byte, 0, len(label)+len(out)), label...), out...))
	}
	if object {
		if jsonscan.Members(v, func(key string, value []byte) {
			add(key, append(jsonscan.AppendQuote(nil, key), ':'), value)
		}) != nil {
			return v, 0 // cannot be: v is part of valid JSON
		}
	} else {
		jsonscan.Elements(v, func(value []byte) { add("", nil, value) })
	}
	limit := c.list
	if depth > 0 {
		limit = c.innerList
	}
	if total-exempt > limit {
		list = truncateList(list, object, limit+exempt)
		changed = true
	}
	if !changed {
		return v, exempt
	}
	short = append(make([]byte, 0, total+len(list)+64), v[0])
	for i, part := range list {
		if i > 0 {
			short = append(short, ',')
		}
		short = append(short, part...)
	}
	return append(short, v[0]+2), exempt // } is { + 2, ] is [ + 2
}

// isImage reports whether an object is an image: a file with base64 of Claude Code,
// content of type image of MCP or the API.
func isImage(v []byte) bool {
	image, data := false, false
	_ = jsonscan.Members(v, func(key string, value []byte) {
		switch key {
		case "base64":
			image, data = true, true
		case "data":
			data = true
		case "type", "mimeType", "media_type":
			image = image || bytes.HasPrefix(value, []byte(`"image`)) || string(value) == `"base64"`
		}
	})
	return image && data
}

// truncateList keeps as many members from both ends as fit into limit bytes, and
// puts one between them that says how many were removed. That member has the type
// of its neighbour where that is text or an object.
func truncateList(list [][]byte, object bool, limit int) [][]byte {
	head, tail, room := 0, len(list), limit
	for ; head < tail && len(list[head])+1 <= room-limit/2; head++ {
		room -= len(list[head]) + 1
	}
	for ; tail > head && len(list[tail-1])+1 <= room; tail-- {
		room -= len(list[tail-1]) + 1
	}
	for ; head < tail && len(list[head])+1 <= room; head++ { // the tail left some
		room -= len(list[head]) + 1
	}
	if head == tail {
		return list
	}
	size := 0
	for _, part := range list[head:tail] {
		size += len(part)
	}
	mark := jsonscan.AppendQuote(nil, cutMark+strconv.Itoa(tail-head)+" members, "+strconv.Itoa(size)+" bytes cut]")
	if object || list[head][0] == '{' {
		mark = append([]byte(`"claude_mem_cut":`), mark...)
		if !object {
			mark = append(append([]byte{'{'}, mark...), '}')
		}
	}
	kept := append(make([][]byte, 0, head+1+len(list)-tail), list[:head]...)
	return append(append(kept, mark), list[tail:]...)
}

// truncateString is redact.TruncateMiddle for a raw JSON string.
func truncateString(v []byte) []byte {
	in := v[1 : len(v)-1]
	head := boundary(in, longestField/2)
	tail := max(boundary(in, len(in)-longestField/2), head)
	// Cut at a space: half a key would escape the worker's rules.
	const reach = 512
	if space := bytes.LastIndexByte(in[head-reach:head], ' '); space >= 0 {
		head += space + 1 - reach
	}
	if space := bytes.IndexByte(in[tail:min(tail+reach, len(in))], ' '); space >= 0 {
		tail += space
	}
	mark := jsonscan.AppendQuote(nil, redact.TruncationMark(tail-head))
	out := make([]byte, 0, longestField+128)
	out = append(out, '"')
	out = append(out, in[:head]...)
	out = append(out, mark[1:len(mark)-1]...)
	out = append(out, in[tail:]...)
	return append(out, '"')
}

// boundary returns the first offset at or after p within a JSON string that splits
// neither an escape nor a character.
func boundary(in []byte, p int) int {
	for p < len(in) && in[p]&0xC0 == 0x80 {
		p++
	}
	// Is p within \uXXXX? Its u would be one to four bytes back.
	for back := 1; back <= 4 && back < p; back++ {
		if in[p-back] == 'u' && escaped(in, p-back) {
			return min(p-back+5, len(in))
		}
	}
	if p < len(in) && escaped(in, p) {
		if in[p] == 'u' {
			return min(p+5, len(in))
		}
		return p + 1
	}
	return p
}

// escaped reports whether the byte at p is escaped: an odd number of backslashes
// precedes it.
func escaped(in []byte, p int) bool {
	n := 0
	for p-1-n >= 0 && in[p-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
