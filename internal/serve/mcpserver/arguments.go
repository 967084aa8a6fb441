package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// maxArgument bounds an argument in bytes: a list of paths, a page of a log.
	maxArgument = 8 << 10
	// maxIDs is how many records one call may name; an answer holds a handful.
	maxIDs = 100
)

// arguments are the arguments of a call. Models send numbers as strings, lists as
// text and invented names; a value with only one possible meaning is accepted.
//
// Its methods take the name of an argument of the tool. They, and ask, do nothing after the
// first error, which is the answer of the call.
type arguments struct {
	declared []argument
	values   map[string]any // by the name of the argument
	unknown  []string       // the first five that the tool does not have, quoted
	// err is the first error; after it the methods return zero values, and nothing is asked.
	err error
}

// fold returns the same name for dateStart, date_start and Date-Start.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// parseArguments parses the JSON object of a call's arguments; CodeInvalid for other JSON, and no
// arguments for nothing or null. Names are compared without their case, - and _. Values are not
// looked at yet.
func parseArguments(declared []argument, raw json.RawMessage) (*arguments, error) {
	a := &arguments{declared: declared, values: map[string]any{}}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return a, nil
	}
	var sent map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&sent); err != nil {
		return nil, memory.Errorf(memory.CodeInvalid, "the arguments are no JSON object").WithHint(`send an object such as {"query": "rounding error"}`)
	}
	// Of two spellings of a name, the same one wins every time.
	folded := map[string]string{} // folded to sent name
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if sent[name] != nil {
			folded[fold(name)] = name
		}
	}
	for _, d := range declared {
		for _, name := range append([]string{d.Name}, d.Also...) {
			as, ok := folded[fold(name)]
			if ok && a.values[d.Name] == nil {
				a.values[d.Name] = sent[as]
			}
			delete(folded, fold(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(folded)) {
		if len(a.unknown) < 5 {
			a.unknown = append(a.unknown, strconv.Quote(line(folded[name], 30)))
		}
	}
	return a, nil
}

// argument returns the argument of a name; it panics if the tool has none.
func (a *arguments) argument(name string) *argument {
	i := slices.IndexFunc(a.declared, func(d argument) bool { return d.Name == name })
	if i < 0 {
		panic("mcpserver: undeclared argument " + name)
	}
	return &a.declared[i]
}

// value returns an argument as it was sent, nil if it was not.
func (a *arguments) value(name string) any {
	if a.argument(name); a.err != nil {
		return nil
	}
	return a.values[name]
}

// fail records an error unless there already is one.
func (a *arguments) fail(err error) {
	a.err = cmp.Or(a.err, err)
}

// ask returns the answer of a method of the memory. After an error nothing is asked any more and
// the answer is empty; the call then ends with the error, whatever the tool returns.
func ask[Q, A any](ctx context.Context, c *call, method func(api.Memory, context.Context, Q) (A, error), q Q) (answer A) {
	if c.args.err == nil {
		answer, c.args.err = method(c.server.memory, ctx, q)
	}
	return answer
}

// refused returns no answer: the call has an error, err unless there already is one.
func (c *call) refused(err error) *answer {
	c.args.fail(err)
	return nil
}

// bind sets the fields of *request from the tool's arguments for its parameters; fields without an
// argument stay as they are.
func (c *call) bind(request any) {
	for p, field := range api.Fields(request) {
		i := slices.IndexFunc(c.args.declared, func(d argument) bool { return d.Key == p.Key })
		if i < 0 {
			continue
		}
		switch d := c.args.declared[i]; d.Kind {
		case api.ListParam:
			field.Set(reflect.ValueOf(c.args.list(d.Name)))
		case api.NumberParam:
			field.SetInt(int64(c.args.number(d.Name)))
		case api.StartParam, api.EndParam:
			field.SetInt(int64(c.time(d)))
		default:
			field.SetString(c.args.short(d.Name))
		}
	}
}

func wrong(name string, value any, want string) error {
	return memory.Errorf(memory.CodeInvalid, "%s is %s", name, describe(value)).WithHint(name + " is " + want)
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

// scalar returns the text of a string, number or boolean; false for other values.
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
func (a *arguments) text(name string) string {
	value := a.value(name)
	if value == nil {
		return ""
	}
	if items, ok := value.([]any); ok && len(items) == 1 {
		value = items[0]
	}
	text, ok := scalar(value)
	if !ok {
		a.fail(wrong(name, value, "a string"))
	}
	return text
}

// short returns an argument as text of at most maxArgument bytes. A query is truncated:
// it may be a page of a log.
func (a *arguments) short(name string) string {
	text := a.text(name)
	switch {
	case len(text) <= maxArgument:
	case name == "query":
		return strings.ToValidUTF8(text[:maxArgument], "")
	default:
		a.fail(memory.Errorf(memory.CodeTooLarge, "%s is longer than %d bytes", name, maxArgument))
		return ""
	}
	return text
}

// list returns an argument as a list: an array, an array in a string, or with commas.
func (a *arguments) list(name string) []string {
	value := a.value(name)
	if said, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(said), "[") {
		decoder := json.NewDecoder(strings.NewReader(said))
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
		said, ok := scalar(item)
		if !ok {
			a.fail(wrong(name, item, "a list of strings"))
			return nil
		}
		if size += len(said); size > maxArgument {
			a.fail(memory.Errorf(memory.CodeTooLarge, "%s is longer than %d bytes", name, maxArgument).WithHint("name the few that matter"))
			return nil
		}
		for part := range strings.SplitSeq(said, ",") {
			list = text.Add(list, strings.TrimSpace(part))
		}
	}
	return list
}

// number returns a whole number, bounded to the argument's limits, or its default when it
// was not sent. What is no whole number is an error, one outside the limits is not.
func (a *arguments) number(name string) int {
	d, value := a.argument(name), a.value(name)
	if value == nil {
		standard, _ := strconv.Atoi(d.Default)
		return standard
	}
	text, _ := scalar(value)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) {
		a.fail(wrong(name, value, fmt.Sprintf("a whole number from %d to %d", d.Least, d.Most)))
		return 0
	}
	return int(min(max(n, float64(d.Least)), float64(d.Most)))
}

// flag returns true or false, false when it was not sent.
func (a *arguments) flag(name string) bool {
	value := a.value(name)
	if value == nil {
		return false
	}
	text, _ := scalar(value)
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true
	case "false", "0", "no", "":
	default:
		a.fail(wrong(name, value, "true or false"))
	}
	return false
}

// ids returns the numbers of observations: 12, "12", "#12", "#12, #13". There is at
// least one unless err is set.
func (a *arguments) ids(name string) (ids []memory.ObservationID) {
	const want = "a list of observation numbers such as [123, 124]"
	for _, text := range a.list(name) {
		for word := range strings.FieldsSeq(text) {
			digits := strings.TrimSuffix(strings.TrimPrefix(word, "#"), ".0")
			id, err := strconv.ParseInt(digits, 10, 64)
			switch {
			case strings.HasPrefix(strings.ToUpper(word), "S") && err != nil:
				a.fail(memory.Errorf(memory.CodeInvalid, "%.40q is no observation", word).WithHint("S12 is a session: get_session_summary(session_id: \"S12\")"))
				return nil
			case err != nil || id < 1:
				a.fail(wrong(name, word, want))
				return nil
			}
			if id := memory.ObservationID(id); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	switch {
	case len(ids) > maxIDs:
		a.fail(memory.Errorf(memory.CodeTooLarge, "%d %s", len(ids), name).WithHint(fmt.Sprintf("at most %d at once; an answer holds about five in full", maxIDs)))
	case len(ids) == 0:
		a.fail(memory.Errorf(memory.CodeInvalid, "no %s", name).WithHint("send " + want + "; search_memory finds them"))
	}
	return ids
}

// time parses a time in any form that commands take, 0 when it was not sent; as an end
// a day means its last millisecond.
func (c *call) time(d argument) memory.Millis {
	text := c.args.short(d.Name)
	if text == "" {
		return 0
	}
	at, ok := memory.ParseTime(text, c.now, d.Kind == api.EndParam)
	if !ok {
		c.args.fail(wrong(d.Name, text, "2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w"))
	}
	return at
}
