package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

const (
	// longestField is the length to which a text is truncated: half of it from the
	// head, half from the tail.
	longestField = 64 << 10
	// longestWhole is the length up to which what an agent writes into a file stays
	// whole, for the comparison of symbols.
	longestWhole = 1 << 20
	// longestList bounds an array or object, longestInner one within another, both
	// without contents that stay whole. There is room for two texts of longestField.
	longestList  = 8 * longestField
	longestInner = 3 * longestField
	// A text longer than longestWhole loses its middle before redaction and keeps
	// earlyEnd bytes of each end: 96 KB more than truncation leaves, so a secret of
	// less than 96 KB is redacted whole. Lists over earlyList are shortened then too.
	// The content of a file that was cut here is truncated like any other text.
	earlyEnd  = 2 * longestField
	earlyList = 8 << 20
	// deepest is the depth down to which members are truncated one by one; a larger
	// value below it is dropped as one.
	deepest = 8

	cutMark   = "[claude-mem: "
	cutRoom   = 64 // for a whole mark with its number
	imageMark = "[claude-mem: image left out, "
)

// dropMiddles removes the middle of texts over longestWhole, so that redaction,
// which scans every byte several times, stays within the hook's deadline. Tags are
// stripped first: one that opens in the middle would be missed later. It returns the
// names of the members whose texts were cut.
func dropMiddles(e *memory.Event) (cut []string) {
	if len(e.Prompt) > longestWhole {
		e.Prompt = dropMiddle(tags.StripTyped(e.Prompt))
	}
	e.ToolError = dropMiddle(e.ToolError)
	e.LastAssistantMessage = dropMiddle(e.LastAssistantMessage)
	for _, raw := range []*json.RawMessage{&e.ToolInput, &e.ToolResponse} {
		if len(*raw) > longestWhole {
			c := truncator{longest: longestWhole, shorten: dropMiddle, list: earlyList, innerList: earlyList}
			*raw, _ = c.value(*raw, "", 0)
			cut = append(cut, c.shortened...)
		}
	}
	return cut
}

// dropMiddle returns s; one above longestWhole bytes without tags and, if it still is, without its
// middle: earlyEnd bytes of each end stay.
func dropMiddle(s string) string {
	if len(s) <= longestWhole {
		return s
	}
	return redact.TruncateMiddleTo(tags.Strip(s), longestWhole, earlyEnd)
}

// truncateEvent truncates texts and lists over their limits. It runs after
// redaction, which does not recognise half a secret. The members named in cut have
// texts that dropMiddles has cut: half a secret may be at the cut, so that they do not
// stay whole.
func truncateEvent(e *memory.Event, cut []string) {
	for _, text := range []*string{&e.Prompt, &e.ToolError, &e.LastAssistantMessage} {
		*text = truncateText(*text)
	}
	var whole []string
	if slices.Contains([]string{"Write", "Edit", "MultiEdit"}, e.ToolName) {
		whole = slices.DeleteFunc([]string{"content", "old_string", "new_string"}, func(name string) bool { return slices.Contains(cut, name) })
	}
	e.ToolInput = truncateJSON(e.ToolInput, whole)
	e.ToolResponse = truncateJSON(e.ToolResponse, nil)
}

// truncateText returns s; the head and the tail of one above longestField, with the mark no longer
// than that.
func truncateText(s string) string {
	return redact.TruncateMiddleTo(s, longestField, longestField/2-cutRoom/2)
}

// editTools are the tools of Claude Code that edit a file.
var editTools = []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}

// dropFiles leaves the texts of whole files over longestField bytes out of the response of a
// tool that edits one: the file as it was, a notebook as it is, and a written file that
// the input has too. Nobody needs them from the hook: the file on disk is the text after
// the edit, and the input and the patch, which stay, turn it back into the text before.
// To scan one of 500 KB for secrets would take half of the hook's time.
func dropFiles(e *memory.Event) {
	if !slices.Contains(editTools, e.ToolName) || len(e.ToolResponse) <= longestField || e.ToolResponse[0] != '{' {
		return
	}
	var written []byte
	for _, p := range partsOf(e.ToolInput) {
		if p.key == "content" {
			written = p.value
		}
	}
	whole := partsOf(e.ToolResponse)
	kept := slices.DeleteFunc(slices.Clone(whole), func(p part) bool {
		switch p.key {
		case "originalFile", "originalFileContents", "original_file", "updated_file":
			return len(p.value) > longestField
		}
		return p.key == "content" && len(p.value) > longestField && bytes.Equal(p.value, written)
	})
	if len(kept) < len(whole) {
		e.ToolResponse = encodeParts(kept, '{')
	}
}

// wholeFile leaves the text that dropFiles would leave out of Claude Code's payload while that is read,
// so that no memory is touched for it, and nobody checks whether it is valid. Where the payload is
// written in another way, or names the tool later, the text stays for dropFiles.
type wholeFile struct {
	seen int // up to where the member has been looked for, or where it begins
	text int // where its text begins; 0 = not found yet, -1 = done
	cut  int // bytes of it that were left out
}

// wholeFileMember is the beginning of the member as Claude Code writes it. Within the text of valid JSON
// the quotes would be escaped.
var wholeFileMember = []byte(`,"originalFile":"`)

// leaveOut returns what was read of a payload without the text of the file, of which more may come: until
// it has ended the last byte or two stay, then the member goes. A text of up to longestField bytes stays.
func (f *wholeFile) leaveOut(input []byte) []byte {
	if f.text == 0 && len(input) > usualInput {
		if i := bytes.Index(input[f.seen:], wholeFileMember); i < 0 {
			f.seen = len(input) - len(wholeFileMember)
		} else if f.seen, f.text = f.seen+i, -1; isOfEdit(input[:f.seen]) {
			f.text = f.seen + len(wholeFileMember)
		}
	}
	if f.text <= 0 {
		return input
	}
	end := jsonscan.StringEnd(input, f.text-1)
	switch long := f.cut+end-f.text+1 > longestField; {
	case end < len(input) && long:
		input, f.text = slices.Delete(input, f.seen, end), -1
	case end < len(input):
		f.text = -1
	case long: // it goes on, or ends here
		last := len(bytes.TrimSuffix(input, []byte{'"'}))            // which may end it
		last -= (last - len(bytes.TrimRight(input[:last], `\`))) % 2 // half an escape
		f.cut += last - f.text
		input = append(input[:f.text], input[last:]...)
	}
	return input
}

// isOfEdit reports whether a payload of Claude Code that begins with head is of a tool that edits a file,
// and head ends in what the tool answered.
func isOfEdit(head []byte) bool {
	_, rest, _ := bytes.Cut(head, []byte(`,"tool_name":"`))
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return slices.Contains(editTools, string(name)) && bytes.Contains(rest, []byte(`,"tool_response":{`))
}

// truncateJSON truncates the texts and lists in valid JSON and keeps it valid.
// Members named in whole are contents of files: they stay up to longestWhole. Images are left out.
func truncateJSON(raw json.RawMessage, whole []string) json.RawMessage {
	if len(raw) <= longestField && !bytes.Contains(raw, []byte(`"base64"`)) && !bytes.Contains(raw, []byte(`"image`)) {
		return raw
	}
	c := truncator{whole: whole, images: true, longest: longestField, shorten: truncateText, list: longestList, innerList: longestInner}
	out, _ := c.value(raw, "", 0)
	return out
}

// truncator truncates JSON by limits.
type truncator struct {
	// whole names the members that are files' contents.
	whole []string
	// images says that images are left out.
	images bool
	// longest is the length above which the text of a string is passed to shorten.
	longest int
	shorten func(string) string
	// shortened are the names of the members whose texts were shortened.
	shortened []string
	// list and innerList bound arrays and objects.
	list, innerList int
}

// value returns v truncated, and how many bytes of it are contents that stay whole, which do not
// count to the limit of the lists around them. key is the member that v belongs to, "" for none;
// depth is 0 for the outermost value. v itself is not written to.
func (c *truncator) value(v []byte, key string, depth int) (short []byte, exempt int) {
	if len(v) == 0 {
		return v, 0
	}
	switch v[0] {
	case '"':
		if len(v) <= c.longest {
			return v, 0
		}
		if slices.Contains(c.whole, key) && len(v) <= longestWhole {
			return v, len(v)
		}
		c.shortened = append(c.shortened, key)
		text, _ := jsonscan.Unquote(v)
		return jsonscan.AppendQuote(nil, c.shorten(text)), 0
	case '{', '[':
		if depth < deepest {
			return c.members(v, depth)
		}
		if len(v) > c.longest {
			return jsonscan.AppendQuote(nil, cutText(len(v))), 0
		}
	}
	return v, 0
}

// cutText returns what stands in the place of a value of so many bytes.
func cutText(bytes int) string { return cutMark + strconv.Itoa(bytes) + " bytes cut]" }

// part is a member of an object, or an element of an array, whose key is "".
type part struct {
	key   string
	value []byte
}

// partsOf returns the members of an object or the elements of an array.
func partsOf(v []byte) (list []part) {
	jsonscan.Parts(v, func(key string, value []byte) { list = append(list, part{key, value}) })
	return list
}

// label returns what precedes the value of a member: its key and a colon.
func (p part) label() []byte { return append(jsonscan.AppendQuote(nil, p.key), ':') }

// members truncates an object or array: each member, then the list of members. It returns v itself
// if nothing changes.
func (c *truncator) members(v []byte, depth int) (short []byte, exempt int) {
	object, changed, total := v[0] == '{', false, 0
	list := partsOf(v)
	image := c.images && object && isImage(list)
	for i, p := range list {
		out, kept := c.value(p.value, p.key, depth+1)
		if image && (p.key == "base64" || p.key == "data") && p.value[0] == '"' {
			out = jsonscan.AppendQuote(nil, imageMark+strconv.Itoa(len(p.value)-2)+" bytes of base64]")
		}
		changed = changed || !bytes.Equal(out, p.value)
		list[i].value = out
		exempt += kept
		total += list[i].size(object)
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
	return encodeParts(list, v[0]), exempt
}

// encodeParts returns the object or array of the members, by its opening bracket. The values are
// JSON and stand as they are.
func encodeParts(list []part, open byte) []byte {
	object, total := open == '{', 2
	for _, p := range list {
		total += p.size(object)
	}
	out := append(make([]byte, 0, total), open)
	for i, p := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if object {
			out = append(out, p.label()...)
		}
		out = append(out, p.value...)
	}
	return append(out, open+2) // } is { + 2, ] is [ + 2
}

// size returns how many bytes a part takes at most, with its comma. It encodes no key: a
// list has thousands.
func (p part) size(object bool) int {
	if !object {
		return len(p.value) + len(",")
	}
	key := len(p.key) + len(`"":`)
	for i := range len(p.key) {
		switch c := p.key[i]; {
		case c < ' ':
			key += len(`\u0000`) - 1
		case c == '"' || c == '\\':
			key++
		}
	}
	return key + len(p.value) + len(",")
}

// isImage reports whether an object is an image: a file with base64 of Claude Code,
// content of type image of MCP or the API.
func isImage(members []part) bool {
	image, data := false, false
	for _, m := range members {
		switch m.key {
		case "base64":
			image, data = true, true
		case "data":
			data = true
		case "type", "mimeType", "media_type":
			image = image || bytes.HasPrefix(m.value, []byte(`"image`)) || string(m.value) == `"base64"`
		}
	}
	return image && data
}

// truncateList keeps as many members from both ends as fit into limit bytes, about half at each,
// and puts one between them that says how many were removed. That member has the type
// of its neighbour where that is text or an object. A list that fits is returned as it is.
func truncateList(list []part, object bool, limit int) []part {
	head, tail, room := 0, len(list), limit
	// The head takes half of limit at most.
	for ; head < tail && list[head].size(object) <= room-limit/2; head++ {
		room -= list[head].size(object)
	}
	for ; tail > head && list[tail-1].size(object) <= room; tail-- {
		room -= list[tail-1].size(object)
	}
	for ; head < tail && list[head].size(object) <= room; head++ { // the tail left some
		room -= list[head].size(object)
	}
	if head == tail {
		return list
	}
	size := 0
	for _, p := range list[head:tail] {
		size += p.size(object) - 1
	}
	mark := part{"claude_mem_cut", jsonscan.AppendQuote(nil, cutMark+strconv.Itoa(tail-head)+" members, "+strconv.Itoa(size)+" bytes cut]")}
	if !object && list[head].value[0] == '{' {
		mark.value = append(append(append([]byte{'{'}, mark.label()...), mark.value...), '}')
	}
	return slices.Concat(list[:head], []part{mark}, list[tail:])
}
