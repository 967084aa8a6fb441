package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"claudemem"
)

const (
	// maxQuery is how much of a query is searched for, in bytes: a page of a log.
	maxQuery = 8 << 10
	// maxArgument bounds what else is read of a text, in bytes: a list of paths.
	maxArgument = 8 << 10
	// maxIDs is how many records one call may name; an answer holds a handful.
	maxIDs = 100
)

// arguments are what a model sent. Models send numbers as strings, lists as text and
// names of their own making; what can only mean one thing is taken for it.
type arguments struct {
	values map[string]any    // by folded name
	names  map[string]string // folded to sent
	read   map[string]bool
}

// fold makes dateStart, date_start and Date-Start one name.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func readArguments(raw json.RawMessage) (*arguments, error) {
	a := &arguments{map[string]any{}, map[string]string{}, map[string]bool{}}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return a, nil
	}
	var sent map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&sent); err != nil {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "the arguments are no JSON object").WithHint(`send an object such as {"query": "rounding error"}`)
	}
	// Of two spellings of a name, the same one wins every time.
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if value := sent[name]; value != nil {
			a.values[fold(name)], a.names[fold(name)] = value, name
		}
	}
	return a, nil
}

// unread are the arguments that the tool does not have, a few of them.
func (a *arguments) unread() []string {
	var names []string
	for _, folded := range slices.Sorted(maps.Keys(a.values)) {
		if !a.read[folded] && len(names) < 5 {
			names = append(names, strconv.Quote(line(a.names[folded], 30)))
		}
	}
	return names
}

// value returns the first of the names that was sent.
func (a *arguments) value(names ...string) (value any, name string) {
	for _, name := range names {
		folded := fold(name)
		a.read[folded] = true
		if found, ok := a.values[folded]; ok && value == nil {
			value = found
		}
	}
	return value, names[0]
}

func wrong(name string, value any, want string) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "%s is %s", name, describe(value)).WithHint(name + " is " + want)
}

// describe shows a value that was not understood, in a few characters.
func describe(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(line(v, 40))
	case json.Number:
		return line(v.String(), 40)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	default:
		return "an object"
	}
}

// scalar is the text of a string, number or boolean.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v), true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "", false
	}
}

// text is an argument as text, "" when it was not sent.
func (a *arguments) text(names ...string) (string, error) {
	value, name := a.value(names...)
	if value == nil {
		return "", nil
	}
	if items, ok := value.([]any); ok && len(items) == 1 {
		value = items[0]
	}
	text, ok := scalar(value)
	if !ok {
		return "", wrong(name, value, "a string")
	}
	return text, nil
}

// short is a text that nobody writes at length.
func (a *arguments) short(names ...string) (string, error) {
	text, err := a.text(names...)
	if err == nil && len(text) > maxArgument {
		return "", claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", names[0], maxArgument)
	}
	return text, err
}

// list is an argument as a list: an array, an array in a string, or with commas.
func (a *arguments) list(names ...string) ([]string, error) {
	value, name := a.value(names...)
	if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "[") {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var array []any
		if decoder.Decode(&array) == nil {
			value = array
		}
	}
	items, isList := value.([]any)
	switch {
	case value == nil:
		return nil, nil
	case !isList:
		items = []any{value}
	}
	var list []string
	size := 0
	for _, item := range items {
		text, ok := scalar(item)
		if !ok {
			return nil, wrong(name, item, "a list of strings")
		}
		if size += len(text); size > maxArgument {
			return nil, claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", name, maxArgument).WithHint("name the few that matter")
		}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list, nil
}

// number is a whole number from least to most, into which it is bent; missing when
// it was not sent.
func (a *arguments) number(missing, least, most int, names ...string) (int, error) {
	value, name := a.value(names...)
	if value == nil {
		return missing, nil
	}
	text, _ := scalar(value)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) {
		return 0, wrong(name, value, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return int(min(max(n, float64(least)), float64(most))), nil
}

// flag is true or false.
func (a *arguments) flag(names ...string) (bool, error) {
	value, name := a.value(names...)
	if value == nil {
		return false, nil
	}
	text, _ := scalar(value)
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no", "":
		return false, nil
	default:
		return false, wrong(name, value, "true or false")
	}
}

// ids are the numbers of observations: 12, "12", "#12", "#12, #13".
func (a *arguments) ids(names ...string) ([]claudemem.ObservationID, error) {
	const want = "a list of observation numbers such as [123, 124]"
	if value, name := a.value(names...); value != nil {
		if items, ok := value.([]any); ok && len(items) > maxIDs {
			return nil, tooMany(name, len(items))
		}
	}
	list, err := a.list(names...)
	if err != nil {
		return nil, err
	}
	if len(list) > maxIDs {
		return nil, tooMany(names[0], len(list))
	}
	var ids []claudemem.ObservationID
	for _, text := range list {
		for word := range strings.FieldsSeq(text) {
			digits := strings.TrimSuffix(strings.TrimPrefix(word, "#"), ".0")
			id, err := strconv.ParseInt(digits, 10, 64)
			switch {
			case strings.HasPrefix(strings.ToUpper(word), "S") && err != nil:
				return nil, claudemem.Errorf(claudemem.CodeInvalid, "%.40q is no observation", word).WithHint("S12 is a session: get_session_summary(session_id: \"S12\")")
			case err != nil || id < 1:
				return nil, wrong(names[0], word, want)
			}
			if id := claudemem.ObservationID(id); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "no %s", names[0]).WithHint("send " + want + "; search_memory finds them")
	}
	if len(ids) > maxIDs {
		return nil, tooMany(names[0], len(ids))
	}
	return ids, nil
}

func tooMany(name string, n int) error {
	return claudemem.Errorf(claudemem.CodeTooLarge, "%d %s", n, name).WithHint(fmt.Sprintf("at most %d at once; an answer holds about five in full", maxIDs))
}

// time parses a time in any form that commands take, 0 when it was not sent; a day
// means its end when last.
func (c *call) time(last bool, names ...string) (claudemem.Millis, error) {
	text, err := c.args.short(names...)
	if err != nil || text == "" {
		return 0, err
	}
	at, ok := claudemem.ParseTime(text, c.now, last)
	if !ok {
		return 0, wrong(names[0], text, "2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
	}
	return at, nil
}
