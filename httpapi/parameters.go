package httpapi

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"claudemem"
)

// paramKind is how a parameter's text is read.
type paramKind int

const (
	textParam   paramKind = iota
	listParam             // separated by commas, or sent several times
	numberParam           // whole, from least to most
	choiceParam           // one of choices
	flagParam             // true or false
	startParam            // a moment; a date is its beginning
	endParam              // a moment; a date is its end
	rangeParam            // {"start":…,"end":…}, or name[start] and name[end]
)

// param is a parameter of a route, as it is read, documented and explained: a
// handler gets no parameter that its route does not declare.
type param struct {
	name string
	// also are other names; the first that is not empty counts.
	also        []string
	kind        paramKind
	about       string
	missing     string // what it is when it is missing
	least, most int
	choices     []string
	// meant maps other spellings to choices.
	meant    map[string]string
	required bool
	example  string
	// inPath: it is part of the route's path.
	inPath bool
}

// params are a request's parameters, read and checked.
type params struct {
	declared []param
	values   map[string]string
	lists    map[string][]string
	numbers  map[string]int64 // numbers, and moments as milliseconds
}

// maxText bounds a parameter, in bytes. The server takes headers of 64 KB.
const maxText = 64 << 10

// readParams reads what a route declares of a query string.
func readParams(declared []param, query string) (params, error) {
	if len(declared) == 0 {
		return params{}, nil // deliveries take this way, on every tool call
	}
	p := params{declared, map[string]string{}, map[string][]string{}, map[string]int64{}}
	sent, err := url.ParseQuery(query)
	if err != nil {
		// Otherwise what is malformed would be dropped, and a search without its text finds everything.
		return p, claudemem.Errorf(claudemem.CodeInvalid, "the query string is not URL-encoded").
			WithHint("send a space as %20 or +, % as %25, & as %26; curl does it with --get --data-urlencode")
	}
	for _, d := range declared {
		if d.inPath {
			continue
		}
		if err := p.read(d, sent); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p params) read(d param, sent url.Values) error {
	if d.kind == rangeParam {
		return p.readRange(d, sent)
	}
	v := first(sent, append([]string{d.name}, d.also...)...)
	if len(v) > maxText {
		return claudemem.Errorf(claudemem.CodeTooLarge, "%s is longer than %d bytes", d.name, maxText).
			WithHint("the words that matter are enough")
	}
	if v == "" {
		v = d.missing
	}
	if d.kind == listParam {
		p.lists[d.name] = readList(d, sent, v)
		v = strings.Join(p.lists[d.name], ",")
	}
	if v == "" {
		if d.required {
			return claudemem.Errorf(claudemem.CodeInvalid, "no %s", d.name).WithHint("send " + d.name + " (" + d.about + "), such as " + d.example)
		}
		return nil
	}
	p.values[d.name] = v
	switch d.kind {
	case numberParam:
		n, err := strconv.Atoi(v)
		if err != nil || n < d.least || n > d.most {
			return d.wrong(v, "is a whole number from "+strconv.Itoa(d.least)+" to "+strconv.Itoa(d.most))
		}
		p.numbers[d.name] = int64(n)
	case choiceParam:
		chosen := strings.ToLower(v)
		if meant, ok := d.meant[chosen]; ok {
			chosen = meant
		}
		if !slices.Contains(d.choices, chosen) {
			return d.wrong(v, "is "+strings.Join(d.choices, " or "))
		}
		p.values[d.name] = chosen
	case flagParam:
		switch strings.ToLower(v) {
		case "true", "1":
			p.numbers[d.name] = 1
		case "false", "0":
			p.numbers[d.name] = 0
		default:
			return d.wrong(v, "is true or false")
		}
	case startParam, endParam:
		at, ok := readMoment(v, d.kind == endParam)
		if !ok {
			return d.wrong(v, momentForms)
		}
		p.moment(d.name, at)
	}
	return nil
}

// readList takes a list apart: separated by commas, as a JSON array, or sent
// several times under any of its names.
func readList(d param, sent url.Values, missing string) []string {
	var values []string
	for _, name := range append([]string{d.name, d.name + "[]"}, d.also...) {
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

// readRange reads a range that is sent as JSON or in brackets.
func (p params) readRange(d param, sent url.Values) error {
	forms := `is {"start":"2026-03-01","end":"2026-03-31"}, or send ` + d.name + "[start] and " + d.name + "[end], or since and until"
	start, end := first(sent, d.name+"[start]", d.name+"[since]", d.name+"[from]"), first(sent, d.name+"[end]", d.name+"[until]", d.name+"[to]")
	if v := first(sent, append([]string{d.name}, d.also...)...); v != "" {
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
		at, ok := readMoment(bound.value, bound.end)
		if !ok {
			return d.wrong(bound.value, momentForms)
		}
		p.moment(bound.name, at)
	}
	return nil
}

// moment keeps a bound; the parameters of one's own name come later and win.
func (p params) moment(name string, at claudemem.Millis) { p.numbers[name] = int64(at) }

func (d param) wrong(value, is string) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "%s is %.40q", d.name, value).WithHint(d.name + " " + is)
}

// must finds a fault of ours: a handler that reads what its route does not declare.
func (p params) must(name string) {
	if !slices.ContainsFunc(p.declared, func(d param) bool { return d.name == name }) {
		panic("httpapi: undeclared parameter " + name)
	}
}

func (p params) text(name string) string {
	p.must(name)
	return p.values[name]
}

func (p params) list(name string) []string {
	p.must(name)
	return p.lists[name]
}

func (p params) number(name string) int {
	p.must(name)
	return int(p.numbers[name])
}

func (p params) flag(name string) bool { return p.number(name) != 0 }

func (p params) has(name string) bool {
	return slices.ContainsFunc(p.declared, func(d param) bool { return d.name == name })
}

// between returns the range of since and until.
func (p params) between() (since, until claudemem.Millis, err error) {
	p.must("since")
	since, until = claudemem.Millis(p.numbers["since"]), claudemem.Millis(p.numbers["until"])
	if since != 0 && until != 0 && since > until {
		return 0, 0, claudemem.Errorf(claudemem.CodeInvalid, "the range ends before it begins").
			WithHint("since is the earlier moment, until the later one")
	}
	return since, until, nil
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

// The parameters that several routes share.
var (
	projectParam = param{name: "project", also: []string{"project_path"}, about: "root path or label", example: "tally"}
	limitParam   = param{name: "limit", kind: numberParam, about: "how many at most", missing: "20", least: 1, most: maxLimit, example: "5"}
	offsetParam  = param{name: "offset", kind: numberParam, about: "how many to pass over", missing: "0", most: maxOffset, example: "20"}
	formatParam  = param{name: "format", kind: choiceParam, about: "index: about 75 tokens a result, full: the whole record", missing: formatIndex,
		choices: []string{formatIndex, formatFull}, example: formatFull}
	queryParam = param{name: "query", also: []string{"q", "text"}, about: "words, a question, an error message, an identifier, a path; dates and types in it are understood; " +
		`AND OR NOT NEAR * "phrase" work`, example: "rounding error"}
	typesParam = param{name: "type", also: []string{"types", "obs_type"}, kind: listParam, about: "observations of these types: bugfix feature refactor change discovery decision", example: "bugfix,decision"}
	conceptsP  = param{name: "concepts", also: []string{"concept"}, kind: listParam, about: "observations with one of these concepts", example: "gotcha"}
	filesParam = param{name: "files", also: []string{"file"}, kind: listParam, about: "observations that touch one of these: paths, folders, names or parts of names", example: "src/auth"}
	rangeP     = param{name: "dateRange", also: []string{"date_range"}, kind: rangeParam, about: `{"start":…,"end":…} or dateRange[start] and dateRange[end]`, example: `{"start":"2026-03-01","end":"2026-03-31"}`}
	sinceParam = param{name: "since", also: []string{"dateFrom", "date_start", "dateStart", "date_from", "from"}, kind: startParam,
		about: "not earlier than: ISO date or date-time (UTC unless it says otherwise), or Unix epoch in milliseconds or seconds", example: "2026-03-01"}
	untilParam = param{name: "until", also: []string{"dateTo", "date_end", "dateEnd", "date_to", "to"}, kind: endParam,
		about: "not later than: as since; a date without a time means the end of that day", example: "2026-03-31"}
	orderParam = param{name: "order", also: []string{"orderBy", "order_by"}, kind: choiceParam, about: "default: relevance with a text, else newest",
		choices: []string{string(claudemem.OrderRelevance), string(claudemem.OrderNewest), string(claudemem.OrderOldest)},
		meant:   map[string]string{"date_desc": string(claudemem.OrderNewest), "date_asc": string(claudemem.OrderOldest)}, example: "newest"}
	sessionParam = param{name: "session_id", also: []string{"session_db_id", "session"}, about: "of one session: its number, as 12 or S12", example: "S12"}
	explainParam = param{name: "explain", kind: flagParam, about: "adds why to each result: how its score came to be", example: "1"}
	kindsParam   = param{name: "kind", also: []string{"kinds"}, kind: listParam, about: "records of these kinds: observation summary prompt", example: "observation,summary"}
)
