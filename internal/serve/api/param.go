package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// ParamKind is how the text of a parameter is parsed.
type ParamKind int

// The kinds of parameters.
const (
	TextParam        ParamKind = iota
	ListParam                  // separated by commas, or sent several times
	NumberParam                // whole, from Least to Most
	ChoiceParam                // one of Choices
	FlagParam                  // true or false
	StartParam                 // a time; a date means its first millisecond
	EndParam                   // a time; a date means its last millisecond
	RangeParam                 // {"start":…,"end":…}, or name[start] and name[end]
	SessionParam               // a session's number, as 12 or S12
	ObservationParam           // an observation's number, as 123 or #123
	LearningParam              // a learning's number
)

// Param is a parameter: how it is parsed, checked, documented and explained. Its JSON is
// that of GET /api/search/help.
type Param struct {
	// Key is its name in the table; routes and tools may give it another Name.
	Key  string `json:"-"`
	Name string `json:"name"`
	// Also are other names; the first that is not empty counts.
	Also  []string  `json:"aliases,omitempty"`
	Kind  ParamKind `json:"-"`
	About string    `json:"description"`
	// Choices are the values that a ChoiceParam or a ListParam may have; none: any.
	Choices []string `json:"values,omitempty"`
	Default string   `json:"default,omitempty"`
	// Least and Most bound a NumberParam.
	Least int `json:"-"`
	Most  int `json:"-"`
	// Meant maps other spellings to choices; "" drops the whole list.
	Meant    map[string]string `json:"-"`
	Required bool              `json:"required,omitempty"`
	Example  string            `json:"-"`
	// InPath: it is part of the route's path and names a record, a Noun.
	InPath bool   `json:"-"`
	Noun   string `json:"-"`
}

const (
	// maxText bounds a parameter, in bytes. The server accepts headers of 64 KB.
	maxText = 64 << 10

	timeForms = "is a date such as 2026-03-04, a date-time such as 2026-03-04T12:00:00Z, or a Unix epoch in milliseconds"
)

// parseTime parses a time of a client; with end it is the last millisecond of a
// date without a time. Times without a zone are UTC.
func parseTime(text string, end bool) (memory.Millis, bool) {
	return memory.ParseTime(text, time.Time{}, end)
}

// Parse sets the fields of *request from the declared parameters: those in the path by
// pathValue, the others of a query string. A parameter that is not sent has its default, and an
// unknown one is ignored. CodeInvalid, CodeTooLarge or CodeNotFound (a name in the path) for the
// first wrong one; request is half set then.
func Parse(request any, declared []Param, query string, pathValue func(name string) string) error {
	if len(declared) == 0 {
		return nil
	}
	sent, err := url.ParseQuery(query)
	if err != nil {
		// Without the malformed part, a search could lose its text and list everything.
		return memory.Errorf(memory.CodeInvalid, "the query string is not URL-encoded").
			WithHint("send a space as %20 or +, % as %25, & as %26; curl does it with --get --data-urlencode")
	}
	targets := map[string]reflect.Value{}
	for d, field := range Fields(request) {
		targets[d.Key] = field
	}
	bounds := map[string]string{} // of a RangeParam
	for _, d := range declared {
		from := sent
		if d.InPath {
			from = url.Values{d.Name: {pathValue(d.Name)}}
		}
		if d.Kind == RangeParam {
			bounds["since"], bounds["until"], err = d.parseRange(sent)
		} else {
			err = d.parse(targets[d.Key], from, bounds[d.Key])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parse sets a field to what was sent, or else to missing, what is meant when nothing is, or else
// to the default, and checks it. CodeInvalid for a wrong value, CodeTooLarge above maxText.
func (d Param) parse(field reflect.Value, sent url.Values, missing string) error {
	v := cmp.Or(first(sent, append([]string{d.Name}, d.Also...)...), missing, d.Default)
	if len(v) > maxText {
		return memory.Errorf(memory.CodeTooLarge, "%s is longer than %d bytes", d.Name, maxText).
			WithHint("the words that matter are enough")
	}
	switch {
	case d.Kind == ListParam:
		field.Set(reflect.ValueOf(parseList(d, sent, v)))
	case d.Kind == TextParam, d.Kind == ChoiceParam:
		field.SetString(v)
	case v == "":
	case d.Kind == FlagParam:
		on, err := strconv.ParseBool(strings.ToLower(v))
		if err != nil || len(v) == 1 && v != "0" && v != "1" {
			return d.wrong(v, "is true or false")
		}
		field.SetBool(on)
	default:
		n, err := d.parseNumber(v)
		if named, ok := errors.AsType[*memory.Error](err); ok && named.Err == nil && !d.InPath {
			named.Err = &Misread{d.Name, v, nil}
		}
		if err != nil {
			return err
		}
		field.SetInt(n)
	}
	return d.check(field)
}

// parseNumber returns a number, the number of a record, or a time in milliseconds; CodeInvalid for
// another text.
func (d Param) parseNumber(text string) (int64, error) {
	switch d.Kind {
	case SessionParam:
		id, err := SessionNumber(text)
		return int64(id), err
	case ObservationParam:
		id, err := ObservationNumber(text)
		return int64(id), err
	case LearningParam:
		return LearningNumber(text)
	case StartParam, EndParam:
		at, ok := parseTime(text, d.Kind == EndParam)
		if !ok {
			return 0, d.wrong(text, timeForms)
		}
		return int64(at), nil
	default:
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, d.wrongNumber(text)
		}
		return int64(n), d.checkNumber(n)
	}
}

// parseList splits a list: separated by commas, a JSON array, or sent several
// times under any of its names.
func parseList(d Param, sent url.Values, missing string) []string {
	values := collect.Flat(append([]string{d.Name, d.Name + "[]"}, d.Also...), func(name string) []string { return sent[name] })
	if len(values) == 0 {
		values = []string{missing}
	}
	var items []string
	for _, v := range values {
		var array []string
		if !strings.HasPrefix(v, "[") || json.Unmarshal([]byte(v), &array) != nil {
			array = strings.Split(v, ",")
		}
		items = text.Add(items, collect.Map(array, strings.TrimSpace)...)
	}
	return items
}

// parseRange returns the texts of the bounds of a range that is sent as JSON or in brackets, "" for
// none. The parameters since and until, which are declared after it, parse them; they win if they
// are sent too.
func (d Param) parseRange(sent url.Values) (start, end string, err error) {
	start, end = first(sent, d.Name+"[start]", d.Name+"[since]", d.Name+"[from]"), first(sent, d.Name+"[end]", d.Name+"[until]", d.Name+"[to]")
	v := first(sent, append([]string{d.Name}, d.Also...)...)
	if v == "" {
		return start, end, nil
	}
	wrong := d.wrong(v, `is {"start":"2026-03-01","end":"2026-03-31"}, or send `+d.Name+"[start] and "+d.Name+"[end], or since and until")
	var object map[string]json.RawMessage
	if err := json.NewDecoder(strings.NewReader(v)).Decode(&object); err != nil || object == nil {
		return "", "", wrong
	}
	for _, bound := range []struct {
		into  *string
		names []string
	}{{&start, []string{"start", "since", "from"}}, {&end, []string{"end", "until", "to"}}} {
		for _, name := range bound.names {
			text, err := scalar(object[name])
			if err != nil {
				return "", "", wrong
			}
			*bound.into = cmp.Or(text, *bound.into)
		}
	}
	return start, end, nil
}

func (d Param) wrong(value, is string) error {
	return memory.Errorf(memory.CodeInvalid, "%w", &Misread{d.Name, value, nil}).WithHint(d.Name + " " + is)
}

// Misread is the cause of an error about the value of a parameter. It names both, so that a form
// can mark the word and go on without it.
type Misread struct {
	Name, Value string
	// Meant is what was probably meant: the nearest known value, else all of them; nil for a value
	// that may be anything of a form.
	Meant []string
}

// misread returns the cause of an error about a value that is not among those that are known.
func misread(name, value string, known []string) *Misread {
	if near := Nearest(value, known); near != "" {
		known = []string{near}
	}
	return &Misread{name, value, known}
}

// Error implements error.
func (m *Misread) Error() string {
	if m.Meant == nil {
		return fmt.Sprintf("%s cannot be %.40q", m.Name, m.Value)
	}
	return fmt.Sprintf("unknown %s %.40q", m.Name, m.Value)
}

func (d Param) wrongNumber(value string) error {
	return d.wrong(value, "is a whole number from "+strconv.Itoa(d.Least)+" to "+strconv.Itoa(d.Most))
}

// checkPresent returns CodeInvalid if a required parameter is missing, and CodeNotFound
// for a part of the path that names nothing.
func (d Param) checkPresent(value string) error {
	if d.InPath && (value == "" || value == "." || value == "..") { // would name another route
		return memory.Errorf(memory.CodeNotFound, "there is no %s %q", d.Noun, value).WithHint("name it by " + d.About)
	}
	if d.Required && value == "" {
		return memory.Errorf(memory.CodeInvalid, "no %s", d.Name).WithHint("send " + d.Name + " (" + d.About + "), such as " + d.Example)
	}
	return nil
}

// checkNumber returns CodeInvalid for a number outside Least to Most.
func (d Param) checkNumber(n int) error {
	if n < d.Least || n > d.Most {
		return d.wrongNumber(strconv.Itoa(n))
	}
	return nil
}

// meant returns the choice that a text names, in lower case.
func (d Param) meant(text string) string {
	lower := strings.ToLower(text)
	if meant, ok := d.Meant[lower]; ok {
		return meant
	}
	return lower
}

// checkChoice returns the choice that a text means.
func (d Param) checkChoice(text string) (string, error) {
	chosen := d.meant(text)
	if !slices.Contains(d.Choices, chosen) {
		return chosen, memory.Errorf(memory.CodeInvalid, "%w", misread(d.Name, text, d.Choices)).WithHint(d.Name + " is " + oneOf(d.Choices))
	}
	return chosen, nil
}

// checkList returns the choices that a list means, each once; nil if one of them means all of them.
// CodeInvalid for an unknown one. A list without choices is returned as it is.
func (d Param) checkList(items []string) ([]string, error) {
	if d.Choices == nil {
		return items, nil
	}
	var checked []string
	for _, item := range items {
		switch chosen := d.meant(item); {
		case chosen == "":
			return nil, nil
		case !slices.Contains(d.Choices, chosen):
			return nil, Unknown(d.Name, item, d.Choices)
		case !slices.Contains(checked, chosen):
			checked = append(checked, chosen)
		}
	}
	return checked, nil
}

// first returns the first of the named parameters that is not empty.
func first(q url.Values, names ...string) string { return cmp.Or(collect.Map(names, q.Get)...) }

// paramTag is the tag of a request's field that names its parameter. Beside it the
// tags default, about and required change what the table says of that parameter.
const paramTag = "param"

// ParamsOf returns the parameters of a request type, in the order of its fields.
func ParamsOf(request any) (all []Param) {
	for d := range values(reflect.ValueOf(request)) {
		all = append(all, d)
	}
	return all
}

// ParamNamed returns the parameter of a name in the table; it panics if there is none.
func ParamNamed(name string) Param {
	d, ok := params[name]
	if !ok {
		panic("api: no parameter " + name)
	}
	d.Key, d.Name = name, cmp.Or(d.Name, name)
	return d
}

// paramOf returns the parameter of that name from the table params, with the default,
// text and required of the field's tags. It panics for a name that the table lacks.
func paramOf(field reflect.StructField, name string) Param {
	d := ParamNamed(name)
	if as, ok := field.Tag.Lookup("default"); ok {
		d.Default = as
	}
	d.About = cmp.Or(field.Tag.Get("about"), d.About)
	d.Required = d.Required || field.Tag.Get("required") != ""
	return d
}

// HasBody reports whether a request has fields that are no parameters: those are sent
// as the body.
func HasBody(request any) bool {
	return slices.ContainsFunc(reflect.VisibleFields(reflect.TypeOf(request)), func(field reflect.StructField) bool {
		return !field.Anonymous && field.Tag.Get(paramTag) == ""
	})
}

// Fields yields the parameters of *request with the fields that hold them. That of a RangeParam
// holds nothing.
func Fields(request any) iter.Seq2[Param, reflect.Value] {
	return values(reflect.ValueOf(request).Elem())
}

func values(request reflect.Value) iter.Seq2[Param, reflect.Value] {
	return func(yield func(Param, reflect.Value) bool) {
		for _, field := range reflect.VisibleFields(request.Type()) {
			if name := field.Tag.Get(paramTag); name != "" && !yield(paramOf(field, name), request.FieldByIndex(field.Index)) {
				return
			}
		}
	}
}

// Values returns the query parameters of a request, as a client sends them; Parse is its
// inverse. Zero values are left out where zero means the default.
func Values(request any) url.Values {
	sent := url.Values{}
	for d, value := range values(reflect.ValueOf(request)) {
		if d.InPath || d.Kind == RangeParam {
			continue
		}
		text := ""
		switch value.Kind() {
		case reflect.String:
			text = value.String()
		case reflect.Bool:
			if on := strconv.FormatBool(value.Bool()); on != d.Default && (value.Bool() || d.Default != "") {
				text = on
			}
		case reflect.Slice:
			for i := range value.Len() {
				sent.Add(d.Name, value.Index(i).String())
			}
		default:
			if n := value.Int(); n != 0 || d.Kind == NumberParam && d.Least == 0 {
				text = strconv.FormatInt(n, 10)
			}
		}
		if text != "" {
			sent.Set(d.Name, text)
		}
	}
	return sent
}

// pathOf fills the parts in braces of a route's path, such as {id}.
func pathOf(path string, request any) (string, error) {
	for d, value := range values(reflect.ValueOf(request)) {
		if !d.InPath {
			continue
		}
		text := fmt.Sprint(value)
		if err := d.checkPresent(text); err != nil {
			return "", err
		}
		path = strings.Replace(path, "{"+d.Name+"}", url.PathEscape(text), 1)
	}
	return path, nil
}

// check checks the limits, choices and required fields of a request that Parse did not
// make, and sets zero values to their defaults where zero means the default.
func check(request any) error {
	for d, value := range Fields(request) {
		if err := d.check(value); err != nil {
			return err
		}
	}
	return nil
}

// check is check for the field that holds a parameter. Kinds that Parse cannot leave wrong are not
// looked at.
func (d Param) check(value reflect.Value) error {
	switch d.Kind {
	case NumberParam:
		if value.Int() == 0 && d.Least > 0 {
			n, _ := strconv.Atoi(d.Default)
			value.SetInt(int64(n))
		}
		return d.checkNumber(int(value.Int()))
	case ListParam:
		items, err := d.checkList(value.Interface().([]string))
		if err != nil {
			return err
		}
		value.Set(reflect.ValueOf(items))
		return d.checkPresent(strings.Join(items, ","))
	case TextParam, ChoiceParam:
		chosen := cmp.Or(value.String(), d.Default)
		err := d.checkPresent(chosen)
		if d.Kind == ChoiceParam && chosen != "" {
			chosen, err = d.checkChoice(chosen)
		}
		value.SetString(chosen)
		return err
	}
	return nil
}

// Nearest returns the candidate that is most similar to a word: the first that begins with
// it, else the one with the smallest edit distance; "" if none is near.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	// One edit in a short word, three in a long one: with more it is another word.
	best, fewest := "", 1+min(3, 1+max(0, len(word)-2)/3)
	for _, candidate := range candidates {
		name := strings.ToLower(candidate)
		if len(word) > 1 && strings.HasPrefix(name, word) {
			return candidate
		}
		if d := distance(word, name); d < fewest && d < len(word) {
			best, fewest = candidate, d
		}
	}
	return best
}

// distance returns the edit distance of a and b: the number of letters to insert, delete,
// change or swap with their neighbour (optimal string alignment).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			change := rows[i-1][j-1]
			if from[i-1] != to[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

// oneOf returns words as a choice: "relevance, newest or oldest".
func oneOf(known []string) string {
	last := max(len(known)-1, 0)
	return strings.Join(known[:last], ", ") + " or " + strings.Join(known[last:], "")
}

// Unknown returns a CodeInvalid error that refuses a value outside known, with the one
// that was probably meant.
func Unknown(name, value string, known []string) error {
	hint := name + " is " + oneOf(known) + ", or several with commas between"
	wrong := misread(name, value, known)
	if len(wrong.Meant) == 1 {
		hint = "did you mean " + wrong.Meant[0] + "? " + hint
	}
	return memory.Errorf(memory.CodeInvalid, "%w", wrong).WithHint(hint)
}
