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

// arguments are the arguments of a call. Models send numbers as strings, lists as
// text and invented names; a value with only one possible meaning is accepted.
//
// Its methods take the names of an argument, the documented one first. A tool gets
// all of its arguments and then checks err.
type arguments struct {
	values map[string]any    // by folded name
	names  map[string]string // folded to sent
	asked  map[string]bool   // by folded name
	// err is the first error; after it the methods return zero values.
	err error
}

// fold returns the same name for dateStart, date_start and Date-Start.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// parseArguments parses the JSON object of a call's arguments.
func parseArguments(raw json.RawMessage) (*arguments, error) {
	a := &arguments{values: map[string]any{}, names: map[string]string{}, asked: map[string]bool{}}
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

// unknown returns the first five arguments that the tool does not have.
func (a *arguments) unknown() []string {
	var names []string
	for _, folded := range slices.Sorted(maps.Keys(a.values)) {
		if !a.asked[folded] && len(names) < 5 {
			names = append(names, strconv.Quote(line(a.names[folded], 30)))
		}
	}
	return names
}

// value returns the argument under the first of the names that was sent, nil for none.
func (a *arguments) value(names []string) (value any) {
	for _, name := range names {
		folded := fold(name)
		a.asked[folded] = true
		if found, ok := a.values[folded]; ok && value == nil {
			value = found
		}
	}
	if a.err != nil {
		return nil
	}
	return value
}

// fail records an error unless there already is one.
func (a *arguments) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func wrong(name string, value any, want string) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "%s is %s", name, describe(value)).WithHint(name + " is " + want)
}

// describe returns a rejected value in a few characters.
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

// scalar returns the text of a string, number or boolean.
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

// text returns an argument as text, "" when it was not sent.
func (a *arguments) text(names ...string) string {
	value := a.value(names)
	if value == nil {
		return ""
	}
	if items, ok := value.([]any); ok && len(items) == 1 {
		value = items[0]
	}
	text, ok := scalar(value)
	if !ok {
		a.fail(wrong(names[0], value, "a string"))
	}
	return text
}

// short is text for arguments that are at most maxArgument bytes long.
func (a *arguments) short(names ...string) string {
	text := a.text(names...)
	if len(text) > maxArgument {
		a.fail(claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", names[0], maxArgument))
		return ""
	}
	return text
}

// query returns a text to search for, truncated to maxQuery.
func (a *arguments) query(names ...string) string {
	text := a.text(names...)
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	return text
}

// list returns an argument as a list: an array, an array in a string, or with commas.
func (a *arguments) list(names ...string) []string {
	value := a.value(names)
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
		return nil
	case !isList:
		items = []any{value}
	}
	var list []string
	size := 0
	for _, item := range items {
		text, ok := scalar(item)
		if !ok {
			a.fail(wrong(names[0], item, "a list of strings"))
			return nil
		}
		if size += len(text); size > maxArgument {
			a.fail(claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", names[0], maxArgument).WithHint("name the few that matter"))
			return nil
		}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list
}

// number returns a whole number clamped to least and most, or missing when it was
// not sent.
func (a *arguments) number(missing, least, most int, names ...string) int {
	value := a.value(names)
	if value == nil {
		return missing
	}
	text, _ := scalar(value)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) {
		a.fail(wrong(names[0], value, fmt.Sprintf("a whole number from %d to %d", least, most)))
		return 0
	}
	return int(min(max(n, float64(least)), float64(most)))
}

// flag returns true or false, false when it was not sent.
func (a *arguments) flag(names ...string) bool {
	value := a.value(names)
	if value == nil {
		return false
	}
	text, _ := scalar(value)
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true
	case "false", "0", "no", "":
	default:
		a.fail(wrong(names[0], value, "true or false"))
	}
	return false
}

// ids returns the numbers of observations: 12, "12", "#12", "#12, #13". There is at
// least one unless err is set.
func (a *arguments) ids(names ...string) (ids []claudemem.ObservationID) {
	const want = "a list of observation numbers such as [123, 124]"
	name := names[0]
	tooMany := func(n int) []claudemem.ObservationID {
		a.fail(claudemem.Errorf(claudemem.CodeTooLarge, "%d %s", n, name).WithHint(fmt.Sprintf("at most %d at once; an answer holds about five in full", maxIDs)))
		return nil
	}
	if items, ok := a.value(names).([]any); ok && len(items) > maxIDs {
		return tooMany(len(items))
	}
	list := a.list(names...)
	if len(list) > maxIDs {
		return tooMany(len(list))
	}
	for _, text := range list {
		for word := range strings.FieldsSeq(text) {
			digits := strings.TrimSuffix(strings.TrimPrefix(word, "#"), ".0")
			id, err := strconv.ParseInt(digits, 10, 64)
			switch {
			case strings.HasPrefix(strings.ToUpper(word), "S") && err != nil:
				a.fail(claudemem.Errorf(claudemem.CodeInvalid, "%.40q is no observation", word).WithHint("S12 is a session: get_session_summary(session_id: \"S12\")"))
				return nil
			case err != nil || id < 1:
				a.fail(wrong(name, word, want))
				return nil
			}
			if id := claudemem.ObservationID(id); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) > maxIDs {
		return tooMany(len(ids))
	}
	if len(ids) == 0 {
		a.fail(claudemem.Errorf(claudemem.CodeInvalid, "no %s", name).WithHint("send " + want + "; search_memory finds them"))
	}
	return ids
}

// time parses a time in any form that commands take, 0 when it was not sent; with
// last a day means its end.
func (c *call) time(last bool, names ...string) claudemem.Millis {
	text := c.args.short(names...)
	if text == "" {
		return 0
	}
	at, ok := claudemem.ParseTime(text, c.now, last)
	if !ok {
		c.args.fail(wrong(names[0], text, "2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w"))
	}
	return at
}
