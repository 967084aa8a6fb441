package mode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// entry is a text from a tool's parameters or outcome, with its name there, "" for
// none.
type entry struct{ key, text string }

// Bounds on the part of a tool's JSON that is examined.
const (
	maxEntries   = 100
	maxJSONDepth = 8
)

// redundant are fields of an outcome that repeat other fields or say nothing: the file before an
// edit, the edit as a patch, the host's own accounts, the type of a content block or of a result.
var redundant = map[string]bool{
	"originalfile": true, "structuredpatch": true, "usage": true, "toolstats": true, "type": true,
	"interrupted": true, "isimage": true, "usermodified": true, "nooutputexpected": true,
}

// flatten returns the values of JSON as named texts, in order, without empty ones
// (false, null) and without fields named in but. Input that is not JSON is one text.
func flatten(raw json.RawMessage, but map[string]bool) []entry {
	switch value := bytes.TrimSpace(raw); {
	case len(value) == 0:
		return nil
	case !json.Valid(value):
		return []entry{{"", string(raw)}}
	default:
		return appendValue(nil, "", value, but, 0)
	}
}

// appendValue appends the texts of a JSON value, which is valid and begins without space, under
// key, but for fields named in but. A list of texts is one text of several lines. A mark stands for
// what is beyond maxEntries or maxJSONDepth.
func appendValue(entries []entry, key string, value []byte, but map[string]bool, depth int) []entry {
	from, left := len(entries), 0
	each := func(name string, part []byte) {
		switch {
		case but[strings.ToLower(name)]:
		case depth >= maxJSONDepth, len(entries) >= maxEntries:
			left++
		default:
			entries = appendValue(entries, cmp.Or(name, key), part, but, depth+1)
		}
	}
	switch value[0] {
	case 'n', 'f': // null, false
	case '"':
		text, _ := jsonscan.Unquote(value)
		entries = appendText(entries, key, text)
	case '{', '[':
		if jsonscan.Parts(value, each); left > 0 {
			entries = append(entries, entry{key, fmt.Sprintf("[… %d values left out …]", left)})
		}
		if value[0] == '[' {
			entries = joinFrom(entries, from)
		}
	default:
		entries = appendText(entries, key, string(value))
	}
	return entries
}

// appendText appends an entry unless its text is blank.
func appendText(entries []entry, key, text string) []entry {
	if strings.TrimSpace(text) == "" {
		return entries
	}
	return append(entries, entry{key, text})
}

// joinFrom merges the entries from an index on into one, if all have the same key.
func joinFrom(entries []entry, from int) []entry {
	list := entries[from:]
	if len(list) < 2 || slices.ContainsFunc(list, func(e entry) bool { return e.key != list[0].key }) {
		return entries
	}
	return append(entries[:from], entry{list[0].key, strings.Join(collect.Map(list, func(e entry) string { return e.text }), "\n")})
}

// structured returns an object of JSON as it is, without blanks between its values, if it
// holds objects or lists of them; "" for a list of plain values, whose names and texts tell
// all of it.
func structured(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.Bytes()[0] != '{' {
		return ""
	}
	nested := false
	jsonscan.Parts(b.Bytes(), func(_ string, value []byte) {
		nested = nested || value[0] == '{'
		jsonscan.Parts(value, func(_ string, item []byte) { nested = nested || item[0] == '{' || item[0] == '[' })
	})
	if !nested {
		return ""
	}
	return b.String()
}

// minRepeated is the length from which a text is left out because it was shown
// before.
const minRepeated = 8

// without returns the entries of an outcome that the parameters did not show.
func without(outcome, parameters []entry) []entry {
	return slices.DeleteFunc(outcome, func(e entry) bool {
		return len(e.text) >= minRepeated && slices.ContainsFunc(parameters, func(p entry) bool { return p.text == e.text })
	})
}

// shortEntry bounds the entries that are shown in full, on one line, before the
// long ones, in bytes.
const shortEntry = 200

func (e entry) short() bool { return len(e.text) <= shortEntry && !strings.Contains(e.text, "\n") }

// show renders entries within limit bytes, as they are, with relative paths. Short ones come first, because
// a path or a description must not get lost within a long content; the long ones
// share the remaining room, and each is shortened by itself.
func (v View) show(entries []entry, limit int) string {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].text = v.relative(entries[i].text)
	}
	if len(entries) == 1 && (entries[0].key == "" || entries[0].key == "command" || entries[0].key == "stdout" || entries[0].key == "text") {
		return raw(strings.TrimSpace(entries[0].text), limit)
	}
	var b strings.Builder
	line := func(s string) {
		if b.Len() > 0 && s != "" {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	var long []*entry
	left := 0
	for i := range entries {
		e := &entries[i]
		if !e.short() {
			long = append(long, e)
			continue
		}
		s := label(e.key) + raw(strings.TrimSpace(e.text), limit)
		// Long entries keep half of the room.
		if b.Len()+1+len(s) > limit/2 && b.Len() > 0 {
			left++
			continue
		}
		line(s)
	}
	if left > 0 {
		line(fmt.Sprintf("[… %d values left out …]", left))
	}
	// The smallest first: the others share the room that it does not need.
	room := limit - b.Len()
	for n, e := range slices.SortedStableFunc(slices.Values(long), func(a, b *entry) int { return len(a.text) - len(b.text) }) {
		key := label(e.key)
		share := room/(len(long)-n) - len(key) - 2
		if share < minMarked/4 {
			e.text = ""
			continue
		}
		e.text = strings.TrimPrefix(strings.TrimSuffix(key, " ")+"\n"+raw(strings.Trim(e.text, "\n"), share), "\n")
		room -= len(e.text) + 1
	}
	for _, e := range long {
		line(e.text)
	}
	return b.String()
}

// Brief returns what a tool was called with, in few words: a command's line, else its first
// short parameter, else its first one; "" without any.
func Brief(e *memory.Event) string {
	if line := toolcall.ParseInput(e).Line; line != "" {
		return line
	}
	entries := flatten(e.ToolInput, nil)
	if len(entries) == 0 {
		return ""
	}
	return entries[max(0, slices.IndexFunc(entries, entry.short))].text
}

// maxKey bounds the name of a parameter, in bytes.
const maxKey = 60

// label returns "key: ", "" for an empty key.
func label(key string) string {
	if key == "" {
		return ""
	}
	return rawLine(key, maxKey) + ": "
}
