package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem"
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

// Param is a parameter: how it is parsed, checked, documented and explained.
type Param struct {
	Name string
	// Also are other names; the first that is not empty counts.
	Also        []string
	Kind        ParamKind
	About       string
	Default     string
	Least, Most int
	// Choices are the values that a ChoiceParam or a ListParam may have; none: any.
	Choices []string
	// Meant maps other spellings to choices; "" drops the whole list.
	Meant    map[string]string
	Required bool
	Example  string
	// InPath: it is part of the route's path and names a record, a Noun.
	InPath bool
	Noun   string
}

// Values returns what a choice may be; nil for other kinds.
func (d Param) Values() []string {
	if d.Kind != ChoiceParam {
		return nil
	}
	return d.Choices
}

const (
	// maxText bounds a parameter, in bytes. The server takes headers of 64 KB.
	maxText = 64 << 10

	timeForms = "is a date such as 2026-03-04, a date-time such as 2026-03-04T12:00:00Z, or a Unix epoch in milliseconds"
)

// parseTime parses a time of a client; with end it is the last millisecond of a
// date without a time. Times without a zone are UTC.
func parseTime(text string, end bool) (claudemem.Millis, bool) {
	return claudemem.ParseTime(text, time.Time{}, end)
}

// Params are the parameters of a request, parsed. A handler gets no parameter that
// its route does not declare.
type Params struct {
	declared []Param
	texts    map[string]string
	lists    map[string][]string
	numbers  map[string]int64 // also flags, sessions, and times as milliseconds
}

// ParseParams parses the declared parameters: those in the path by pathValue, the
// others of a query string.
func ParseParams(declared []Param, query string, pathValue func(name string) string) (Params, error) {
	if len(declared) == 0 {
		return Params{}, nil // deliveries, on every tool call
	}
	p := Params{declared, map[string]string{}, map[string][]string{}, map[string]int64{}}
	sent, err := url.ParseQuery(query)
	if err != nil {
		// Dropping the malformed part would turn a search without its text into a list of everything.
		return p, claudemem.Errorf(claudemem.CodeInvalid, "the query string is not URL-encoded").
			WithHint("send a space as %20 or +, % as %25, & as %26; curl does it with --get --data-urlencode")
	}
	for _, d := range declared {
		from := sent
		if d.InPath {
			from = url.Values{d.Name: {pathValue(d.Name)}}
		}
		if err := p.parse(d, from); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p Params) parse(d Param, sent url.Values) error {
	if d.Kind == RangeParam {
		return p.parseRange(d, sent)
	}
	v := first(sent, append([]string{d.Name}, d.Also...)...)
	if len(v) > maxText {
		return claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", d.Name, maxText).
			WithHint("the words that matter are enough")
	}
	if v == "" {
		v = d.Default
	}
	if d.Kind == ListParam {
		items, err := d.checkList(parseList(d, sent, v))
		if err != nil {
			return err
		}
		p.lists[d.Name] = items
		v = strings.Join(items, ",")
	}
	if v == "" {
		return d.checkPresent(v)
	}
	p.texts[d.Name] = v
	switch d.Kind {
	case NumberParam:
		n, err := strconv.Atoi(v)
		if err != nil {
			return d.wrongNumber(v)
		}
		p.numbers[d.Name] = int64(n)
		return d.checkNumber(n)
	case ChoiceParam:
		chosen, err := d.checkChoice(v)
		p.texts[d.Name] = chosen
		return err
	case FlagParam:
		on, err := strconv.ParseBool(strings.ToLower(v))
		if err != nil || len(v) == 1 && v != "0" && v != "1" {
			return d.wrong(v, "is true or false")
		}
		if p.numbers[d.Name] = 0; on {
			p.numbers[d.Name] = 1
		}
	case SessionParam:
		id, err := SessionNumber(v)
		p.numbers[d.Name] = int64(id)
		return err
	case ObservationParam:
		id, err := ObservationNumber(v)
		p.numbers[d.Name] = int64(id)
		return err
	case LearningParam:
		id, err := LearningNumber(v)
		p.numbers[d.Name] = id
		return err
	case StartParam, EndParam:
		at, ok := parseTime(v, d.Kind == EndParam)
		if !ok {
			return d.wrong(v, timeForms)
		}
		p.numbers[d.Name] = int64(at)
	}
	return nil
}

// parseList splits a list: separated by commas, a JSON array, or sent several
// times under any of its names.
func parseList(d Param, sent url.Values, missing string) []string {
	var values []string
	for _, name := range append([]string{d.Name, d.Name + "[]"}, d.Also...) {
		values = append(values, sent[name]...)
	}
	if len(values) == 0 {
		values = []string{missing}
	}
	var items []string
	for _, v := range values {
		var array []string
		if !strings.HasPrefix(v, "[") || json.Unmarshal([]byte(v), &array) != nil {
			array = strings.Split(v, ",")
		}
		for _, item := range array {
			if item = strings.TrimSpace(item); item != "" && !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
	}
	return items
}

// parseRange parses a range that is sent as JSON or in brackets. The parameters
// since and until are declared after it and win.
func (p Params) parseRange(d Param, sent url.Values) error {
	forms := `is {"start":"2026-03-01","end":"2026-03-31"}, or send ` + d.Name + "[start] and " + d.Name + "[end], or since and until"
	start, end := first(sent, d.Name+"[start]", d.Name+"[since]", d.Name+"[from]"), first(sent, d.Name+"[end]", d.Name+"[until]", d.Name+"[to]")
	if v := first(sent, append([]string{d.Name}, d.Also...)...); v != "" {
		var object map[string]any
		decoder := json.NewDecoder(strings.NewReader(v))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil || object == nil {
			return d.wrong(v, forms)
		}
		for _, bound := range []struct {
			into  *string
			names []string
		}{{&start, []string{"start", "since", "from"}}, {&end, []string{"end", "until", "to"}}} {
			for _, name := range bound.names {
				switch value := object[name].(type) {
				case nil:
				case string:
					*bound.into = value
				case json.Number:
					*bound.into = value.String()
				default:
					return d.wrong(v, forms)
				}
			}
		}
	}
	for _, bound := range []struct {
		name, value string
		end         bool
	}{{"since", start, false}, {"until", end, true}} {
		if bound.value == "" {
			continue
		}
		at, ok := parseTime(bound.value, bound.end)
		if !ok {
			return d.wrong(bound.value, timeForms)
		}
		p.numbers[bound.name] = int64(at)
	}
	return nil
}

func (d Param) wrong(value, is string) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "%s is %.40q", d.Name, value).WithHint(d.Name + " " + is)
}

func (d Param) wrongNumber(value string) error {
	return d.wrong(value, "is a whole number from "+strconv.Itoa(d.Least)+" to "+strconv.Itoa(d.Most))
}

func (d Param) checkPresent(value string) error {
	if d.InPath && (value == "" || value == "." || value == "..") { // would name another route
		return claudemem.Errorf(claudemem.CodeNotFound, "there is no %s %q", d.Noun, value).WithHint("name it by " + d.About)
	}
	if d.Required && value == "" {
		return claudemem.Errorf(claudemem.CodeInvalid, "no %s", d.Name).WithHint("send " + d.Name + " (" + d.About + "), such as " + d.Example)
	}
	return nil
}

func (d Param) checkNumber(n int) error {
	if n < d.Least || n > d.Most {
		return d.wrongNumber(strconv.Itoa(n))
	}
	return nil
}

// checkChoice returns the choice that a text means.
func (d Param) checkChoice(text string) (string, error) {
	chosen := strings.ToLower(text)
	if meant, ok := d.Meant[chosen]; ok {
		chosen = meant
	}
	if !slices.Contains(d.Choices, chosen) {
		return chosen, d.wrong(text, "is "+strings.Join(d.Choices, " or "))
	}
	return chosen, nil
}

// checkList returns the choices that a list means, each once.
func (d Param) checkList(items []string) ([]string, error) {
	if d.Choices == nil {
		return items, nil
	}
	var checked []string
	for _, item := range items {
		chosen := strings.ToLower(item)
		if meant, ok := d.Meant[chosen]; ok {
			chosen = meant
		}
		switch {
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

// declares reports whether the route has a parameter of that name.
func (p Params) declares(name string) bool {
	return slices.ContainsFunc(p.declared, func(d Param) bool { return d.Name == name })
}

// List returns a parameter as a list; it panics when the route does not declare it.
func (p Params) List(name string) []string {
	if !p.declares(name) {
		panic("api: undeclared parameter " + name)
	}
	return p.lists[name]
}

// first returns the first parameter of the names that is not empty.
func first(q url.Values, names ...string) string {
	for _, n := range names {
		if v := q.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// paramTag is the tag of a request's field that names its parameter. Beside it the
// tags default, about and required change what the table says of that parameter.
const paramTag = "param"

// fields yields the parameters of a request type with the fields that hold them.
func fields(t reflect.Type) iter.Seq2[Param, reflect.StructField] {
	return func(yield func(Param, reflect.StructField) bool) {
		for _, field := range reflect.VisibleFields(t) {
			if name := field.Tag.Get(paramTag); name != "" && !yield(paramOf(field, name), field) {
				return
			}
		}
	}
}

// ParamsOf returns the parameters of a request type, in the order of its fields.
func ParamsOf(request any) (all []Param) {
	for d := range fields(reflect.TypeOf(request)) {
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
	d.Name = cmp.Or(d.Name, name)
	return d
}

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

// Fields yields the parameters of *request that have a field, with its value.
func Fields(request any) iter.Seq2[Param, reflect.Value] {
	return values(reflect.ValueOf(request).Elem())
}

func values(request reflect.Value) iter.Seq2[Param, reflect.Value] {
	return func(yield func(Param, reflect.Value) bool) {
		for d, field := range fields(request.Type()) {
			if field.Name != "_" && !yield(d, request.FieldByIndex(field.Index)) {
				return
			}
		}
	}
}

// Bind sets the fields of *request from the parameters of their names, as far as
// those are declared.
func (p Params) Bind(request any) {
	for d, value := range Fields(request) {
		if !p.declares(d.Name) {
			continue
		}
		switch value.Kind() {
		case reflect.String:
			value.SetString(p.texts[d.Name])
		case reflect.Bool:
			value.SetBool(p.numbers[d.Name] != 0)
		case reflect.Slice:
			if items := p.lists[d.Name]; len(items) > 0 {
				value.Set(reflect.ValueOf(items))
			}
		default:
			value.SetInt(p.numbers[d.Name])
		}
	}
}

// Values returns the parameters of a request as Bind would set them: what a client
// sends. Zero values are left out where zero means the default.
func Values(request any) url.Values {
	sent := url.Values{}
	for d, value := range values(reflect.ValueOf(request)) {
		if d.InPath {
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

// check applies the table to a request that no Params was parsed into: defaults
// for zero values where zero means the default, limits, choices, and what is
// required.
func check(request any) error {
	for d, value := range Fields(request) {
		switch d.Kind {
		case NumberParam:
			if value.Int() == 0 && d.Least > 0 {
				n, _ := strconv.Atoi(d.Default)
				value.SetInt(int64(n))
			}
			if err := d.checkNumber(int(value.Int())); err != nil {
				return err
			}
		case ListParam:
			items, err := d.checkList(value.Interface().([]string))
			if err != nil {
				return err
			}
			value.Set(reflect.ValueOf(items))
		case TextParam, ChoiceParam:
			if value.String() == "" {
				value.SetString(d.Default)
			}
			if err := d.checkPresent(value.String()); err != nil {
				return err
			}
			if d.Kind == ChoiceParam && value.String() != "" {
				chosen, err := d.checkChoice(value.String())
				if err != nil {
					return err
				}
				value.SetString(chosen)
			}
		}
	}
	return nil
}
