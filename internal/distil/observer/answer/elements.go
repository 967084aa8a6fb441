package answer

import "strings"

// role says how an element is read.
type role uint8

const (
	wrapper role = iota + 1 // of records: ignored
	thought
	skip
	recordRole
	line // a field of one line
	paragraphs
	list
	child // an item of a list
)

// The kinds of records.
const (
	kindObservation = "observation"
	kindSummary     = "summary"
	kindLearning    = "learning"
)

// element is an element of the answer format. field is where its text goes in a record;
// of has the kinds of records with this field.
type element struct {
	name, field, of string
	role            role
}

// in reports whether records of a kind have this field.
func (e element) in(kind string) bool { return strings.Contains(e.of, kind) }

// elements maps the name of an element, folded (see fold), to it.
var elements = map[string]element{}

func init() {
	add := func(role role, of, names string) {
		for _, name := range strings.Fields(names) {
			elements[name] = element{name: name, field: name, of: of, role: role}
		}
	}
	add(thought, "", "think thinking reasoning")
	add(skip, "", "skipsummary")
	add(recordRole, "", "observation summary learning")
	add(line, kindObservation, "type title subtitle")
	add(paragraphs, kindObservation, "narrative")
	add(list, kindObservation, "facts concepts supersedes")
	add(list, kindObservation+kindSummary, "filesread filesmodified")
	add(paragraphs, kindSummary, "request investigated learned completed nextsteps notes")
	add(list, kindSummary, "filesedited")
	add(paragraphs, kindLearning, "content")
	add(line, kindLearning, "category confidence")
	add(child, "", "item li")
	elements["kind"] = elements["type"]
	for name, kind := range map[string]string{"observations": kindObservation, "summaries": kindSummary, "learnings": kindLearning} {
		elements[name] = element{name, kind, "", wrapper}
	}
	for name, field := range map[string]string{"fact": "facts", "concept": "concepts", "file": "filesread"} {
		elements[name] = element{name, field, kindObservation, child}
	}
}

var joined = strings.NewReplacer("_", "", "-", "")

// fold returns a name without the differences of spelling: case, '_' and '-'.
func fold(name string) string { return strings.ToLower(joined.Replace(name)) }
