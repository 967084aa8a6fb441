package answer

import "strings"

// role says how the parser treats an element.
type role uint8

const (
	wrapper role = iota + 1 // of records: ignored
	thought
	skip
	recordRole
	scalar
	list
	child
)

// The kinds of records.
const (
	kindObservation = "observation"
	kindSummary     = "summary"
	kindLearning    = "learning"
)

// element is an element of the answer format. field is where its text goes in a record;
// of are the kinds of records that have this field.
type element struct {
	name  string
	role  role
	field string
	of    string
}

// isField reports whether the element holds text of a record's field.
func (e element) isField() bool { return e.role >= scalar }

// nativeTo reports whether records of a kind have this field.
func (e element) nativeTo(kind string) bool { return kind != "" && strings.Contains(e.of, kind) }

// elements maps the name of an element, folded (see fold), to it.
var elements = map[string]element{}

func init() {
	add := func(role role, of, names string) {
		for _, name := range strings.Fields(names) {
			elements[name] = element{name: name, role: role, field: name, of: of}
		}
	}
	add(wrapper, "", "observations summaries learnings")
	add(thought, "", "think")
	add(skip, "", "skipsummary")
	add(recordRole, "", "observation summary learning")
	add(scalar, kindObservation, "type title subtitle narrative keywords")
	add(list, kindObservation, "facts concepts supersedes filesmodified")
	add(list, kindObservation+kindSummary, "filesread")
	add(scalar, kindSummary, "request investigated learned completed nextsteps notes")
	add(list, kindSummary, "filesedited")
	add(scalar, kindLearning, "content category confidence")
	elements["fact"] = element{"fact", child, "facts", kindObservation}
	elements["concept"] = element{"concept", child, "concepts", kindObservation}
	elements["file"] = element{"file", child, "filesread", ""}
	elements["item"] = element{"item", child, "", ""}
	for spelling, name := range map[string]string{
		"thinking": "think", "reasoning": "think", "sessionsummary": "summary", "supersede": "supersedes", "fileschanged": "filesmodified",
		"nextstep": "nextsteps", "note": "notes", "filepath": "file", "li": "item",
	} {
		elements[spelling] = elements[name]
	}
}

var joined = strings.NewReplacer("_", "", "-", "")

// fold returns a name without the differences of spelling: case, '_' and '-'.
func fold(name string) string { return strings.ToLower(joined.Replace(name)) }

// keys are names of fields in JSON and in attributes only; as elements they would be
// HTML.
var keys = map[string]string{
	"kind": "type", "observationtype": "type", "headline": "title", "description": "narrative", "details": "narrative",
	"text": "content", "tags": "concepts", "files": "filesread", "statement": "content",
}

// elementOf returns the element that a key of JSON or an attribute names; the zero
// element for another key.
func elementOf(key string) element {
	key = fold(strings.TrimSpace(key))
	if name, ok := keys[key]; ok {
		key = name
	}
	return elements[key]
}
