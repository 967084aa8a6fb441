package mode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// entry is a text out of a tool's parameters or outcome with the name that it
// has there, "" if none.
type entry struct{ key, text string }

// Bounds of what is looked at in a tool's JSON.
const (
	maxEntries   = 100
	maxJSONDepth = 8
)

// redundant are fields that repeat what other fields say: the file before an
// edit, the edit as a patch, the host's own accounts.
var redundant = map[string]bool{
	"originalfile": true, "structuredpatch": true, "usage": true, "toolstats": true, "type": true,
	"interrupted": true, "isimage": true, "usermodified": true, "nooutputexpected": true,
}

// flatten makes named texts of JSON, in its order; values that say nothing (empty,
// false, null) are left out. What is not JSON is one text.
func flatten(raw json.RawMessage) []entry {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	f := flattener{dec: dec}
	if err := f.value("", 0); err != nil {
		return []entry{{"", string(raw)}}
	}
	return f.entries
}

type flattener struct {
	dec     *json.Decoder
	entries []entry
}

func (f *flattener) value(key string, depth int) error {
	t, err := f.dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return f.nested(key, t, depth)
	case string:
		f.add(key, t)
	case json.Number:
		f.add(key, t.String())
	case bool:
		if t {
			f.add(key, "true")
		}
	}
	return nil
}

// nested reads an object or a list behind its opening bracket. A list of texts is
// one text of several lines.
func (f *flattener) nested(key string, open json.Delim, depth int) error {
	from := len(f.entries)
	for f.dec.More() {
		inner := key
		if open == '{' {
			t, err := f.dec.Token()
			if err != nil {
				return err
			}
			inner, _ = t.(string)
		}
		if depth >= maxJSONDepth || len(f.entries) >= maxEntries || open == '{' && redundant[strings.ToLower(inner)] {
			var skipped json.RawMessage
			if err := f.dec.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		if err := f.value(inner, depth+1); err != nil {
			return err
		}
	}
	if _, err := f.dec.Token(); err != nil {
		return err
	}
	if open == '[' {
		f.join(from)
	}
	return nil
}

// join makes one entry of those from index from on, if all have the same key.
func (f *flattener) join(from int) {
	list := f.entries[from:]
	if len(list) < 2 || slices.ContainsFunc(list, func(e entry) bool { return e.key != list[0].key }) {
		return
	}
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = e.text
	}
	f.entries = append(f.entries[:from], entry{list[0].key, strings.Join(texts, "\n")})
}

func (f *flattener) add(key, text string) {
	if strings.TrimSpace(text) != "" {
		f.entries = append(f.entries, entry{key, text})
	}
}

// minRepeated is how long a text must be to be left out because it was shown before.
const minRepeated = 8

// without leaves out of an outcome what the parameters showed.
func without(outcome, parameters []entry) []entry {
	return slices.DeleteFunc(outcome, func(e entry) bool {
		return len(e.text) >= minRepeated && slices.ContainsFunc(parameters, func(p entry) bool { return p.text == e.text })
	})
}

// shortEntry is up to how many bytes an entry is shown in full, on one line, before the long ones.
const shortEntry = 200

func (e entry) short() bool { return len(e.text) <= shortEntry && !strings.Contains(e.text, "\n") }

// show writes entries within limit bytes, escaped. Short ones come first, because
// a path or a description must not get lost in the middle of a long content; the
// long ones share the room that is left, and each is cut for itself.
func show(entries []entry, limit int) string {
	if len(entries) == 1 && (entries[0].key == "" || entries[0].key == "command" || entries[0].key == "stdout" || entries[0].key == "text") {
		return clip(strings.TrimSpace(entries[0].text), limit)
	}
	var b strings.Builder
	line := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	var long []entry
	left := 0
	for _, e := range entries {
		if !e.short() {
			long = append(long, e)
			continue
		}
		s := label(e.key) + clip(strings.TrimSpace(e.text), limit)
		// Long ones keep half of the room.
		if b.Len()+1+len(s) > limit/2 && b.Len() > 0 {
			left++
			continue
		}
		line(s)
	}
	if left > 0 {
		line(fmt.Sprintf("[… %d values left out …]", left))
	}
	// The smallest first: what it does not need the others may have.
	order := make([]int, len(long))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(long[i].text) - len(long[j].text) })
	texts := make([]string, len(long))
	room := limit - b.Len()
	for n, i := range order {
		key := label(long[i].key)
		share := room/(len(order)-n) - len(key) - 2
		if share < minMarked/4 {
			continue
		}
		texts[i] = strings.TrimSuffix(key, " ") + "\n" + clip(strings.Trim(long[i].text, "\n"), share)
		if key == "" {
			texts[i] = texts[i][1:]
		}
		room -= len(texts[i]) + 1
	}
	for _, s := range texts {
		if s != "" {
			line(s)
		}
	}
	return b.String()
}

// brief names a call by its first short parameter.
func brief(entries []entry) string {
	for _, e := range entries {
		if e.short() {
			return e.text
		}
	}
	if len(entries) > 0 {
		return entries[0].text
	}
	return ""
}

// maxKey bounds the name of a parameter, in bytes.
const maxKey = 60

func label(key string) string {
	if key == "" {
		return ""
	}
	return oneLine(key, maxKey) + ": "
}
