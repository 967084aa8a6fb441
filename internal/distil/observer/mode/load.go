package mode

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Default is the mode when the settings do not name one.
const Default = "code"

const (
	// maxFile bounds a mode's file in bytes.
	maxFile = 64 << 10
	// maxParents bounds a chain of inheritance.
	maxParents = 8
)

//go:embed modes/*.json
var builtin embed.FS

// definition is the content of a mode's file. Absent fields are inherited; types
// and concepts are merged with the parent's by id, new ones after them.
type definition struct {
	Mode         `json:"-"`
	Inherits     string   `json:"inherits"`
	DropTypes    []string `json:"drop_types"`
	DropConcepts []string `json:"drop_concepts"`
}

// Load returns the mode of that name: the user's own in dir (NAME.json), else the
// built-in one. "" is the mode code; dir may be "" or absent. A user's mode may
// inherit from the built-in mode of the same name. An error has the code not_found
// or invalid and lists every problem.
func Load(name, dir string) (Mode, error) {
	name = cmp.Or(name, Default)
	m, err := source{dir: dir}.load(name)
	if found, ok := errors.AsType[mistakes](err); ok {
		return Mode{}, memory.Errorf(memory.CodeInvalid, "load mode %q: %w", name, found).WithHint("claude-mem mode check " + name)
	}
	return m, err
}

// mistakes are the problems in a mode's files, as an error.
type mistakes []Problem

func (m mistakes) Error() string {
	return strings.Join(collect.Map(m, Problem.String), "; ")
}

// LoadOrDefault returns a mode by name, or the built-in default one when it cannot
// be loaded; "" is the default one too.
func LoadOrDefault(name, dir string) Mode {
	if name != "" {
		if m, err := Load(name, dir); err == nil {
			return m
		}
	}
	m, _ := Load(Default, "") // the built-in one
	return m
}

// Listed is an entry of List.
type Listed struct {
	Name        string
	Description string
	// File is the path of a user's mode, "" for a built-in one.
	File string
	// Err is the reason why the mode cannot be loaded.
	Err error
}

// List returns all modes by name: the built-in ones and the user's in dir. A mode
// that cannot be loaded has its error.
func List(dir string) ([]Listed, error) {
	files, err := source{dir: dir}.files()
	if err != nil {
		return nil, fmt.Errorf("list modes: %w", err)
	}
	var all []Listed
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m, err := Load(name, dir)
		all = append(all, Listed{Name: name, Description: m.Description, File: files[name], Err: err})
	}
	return all, nil
}

// Check returns the problems of a mode's file anywhere on disk, nil if it is
// valid. Parents are looked for beside it.
func Check(file string) []Problem {
	name, ok := strings.CutSuffix(filepath.Base(file), ".json")
	if !ok {
		return []Problem{{"", "a mode's file is named NAME.json"}}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return []Problem{{"", "cannot be read: there is no file " + file}}
	}
	_, err := source{dir: filepath.Dir(file)}.load(name)
	found, ok := errors.AsType[mistakes](err)
	if err != nil && !ok {
		found = mistakes{{"", err.Error()}}
	}
	return found
}

// source finds modes by name, in dir and among the built-in ones.
type source struct{ dir string }

// load returns a mode with everything inherited. Problems in the files are mistakes.
func (s source) load(name string) (Mode, error) {
	d, place, err := s.readDefinition(name, false)
	if err != nil {
		return Mode{}, err
	}
	inherits := func(format string, args ...any) error { return mistakes{{"inherits", fmt.Sprintf(format, args...)}} }
	chain := []definition{d}
	visited := []string{place}
	for d.Inherits != "" {
		parent := d.Inherits
		d, place, err = s.readDefinition(parent, place == parent)
		found, broken := errors.AsType[mistakes](err)
		switch {
		case memory.CodeOf(err) == memory.CodeNotFound:
			return Mode{}, inherits("there is no mode %q; there are %s", parent, s.names())
		case broken:
			return Mode{}, inherits("in mode %q: %v", parent, found)
		case err != nil:
			return Mode{}, err
		case slices.Contains(visited, place):
			return Mode{}, inherits("forms a cycle: %s", strings.Join(append(visited, parent), " → "))
		case len(chain) == maxParents:
			return Mode{}, inherits("has more than %d ancestors", maxParents)
		}
		chain = append(chain, d)
		visited = append(visited, place)
	}
	var m Mode
	var found mistakes
	for _, d := range slices.Backward(chain) {
		found = append(found, m.inherit(d)...)
	}
	if found = append(found, m.problems()...); len(found) > 0 {
		return Mode{}, found
	}
	return m, nil
}

// inherit overrides m with the fields of d.
func (m *Mode) inherit(d definition) []Problem {
	m.Name = d.Name
	m.Description = cmp.Or(d.Description, m.Description)
	types, problems := inherited("type", m.Types, d.Types, d.DropTypes)
	concepts, more := inherited("concept", m.Concepts, d.Concepts, d.DropConcepts)
	m.Types, m.Concepts = types, concepts
	m.Fallback = cmp.Or(d.Fallback, m.Fallback)
	m.Wording.Role = cmp.Or(d.Wording.Role, m.Wording.Role)
	m.Wording.Good = cmp.Or(d.Wording.Good, m.Wording.Good)
	m.Wording.Nothing = cmp.Or(d.Wording.Nothing, m.Wording.Nothing)
	for _, l := range []struct{ to, from *[]string }{
		{&m.Wording.Worth, &d.Wording.Worth}, {&m.Wording.Skip, &d.Wording.Skip}, {&m.Wording.Bad, &d.Wording.Bad},
	} {
		if *l.from != nil {
			*l.to = *l.from
		}
	}
	return append(problems, more...)
}

// inherited returns the parent's types or concepts without those that are dropped, with
// what own says of the others, and then the new ones, in the memory of parent.
func inherited(kind string, parent, own []Term, drop []string) (all []Term, problems []Problem) {
	all = parent
	for i, id := range drop {
		before := len(all)
		if all = slices.DeleteFunc(all, func(t Term) bool { return t.ID == id }); len(all) == before {
			problems = append(problems, Problem{fmt.Sprintf("drop_%ss[%d]", kind, i), fmt.Sprintf("the parent has no %s %q", kind, id)})
		}
	}
	// An id that occurs twice within a file is a mistake, not an override.
	known := all
	for _, t := range own {
		at := slices.IndexFunc(known, func(k Term) bool { return k.ID == t.ID })
		if at < 0 {
			all = append(all, t)
			continue
		}
		all[at].Glyph = cmp.Or(t.Glyph, all[at].Glyph)
		all[at].Definition = cmp.Or(t.Definition, all[at].Definition)
	}
	return all, problems
}

// readDefinition reads and decodes a mode's file. place is the name, of a built-in mode with a remark
// that no name has, so that it differs from the user's own. builtinOnly is for a mode
// that inherits from the built-in one of its own name. CodeNotFound if there is no such mode;
// problems in the file are mistakes.
func (s source) readDefinition(name string, builtinOnly bool) (d definition, place string, err error) {
	if !idPattern.MatchString(name) || len(name) > 40 {
		return d, "", memory.Errorf(memory.CodeNotFound, "%q is not a valid name of a mode", name).WithHint("claude-mem mode list")
	}
	data, place, err := []byte(nil), name, fs.ErrNotExist
	if s.dir != "" && !builtinOnly {
		data, err = readFile(filepath.Join(s.dir, name+".json"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		place = name + " (built in)"
		if data, err = builtin.ReadFile("modes/" + name + ".json"); err != nil {
			return d, "", memory.Errorf(memory.CodeNotFound, "there is no mode %q; there are %s", name, s.names()).
				WithHint("claude-mem mode list")
		}
	}
	if err != nil {
		return d, "", fmt.Errorf("read mode %q: %w", name, err)
	}
	d, problems := decode(data)
	d.Name = cmp.Or(d.Name, name)
	if d.Name != name && len(problems) == 0 {
		problems = []Problem{{"name", fmt.Sprintf("is %q, but the file is named %s.json", d.Name, name)}}
	}
	if len(problems) > 0 {
		return d, place, mistakes(problems)
	}
	return d, place, nil
}

// readFile reads a regular file of at most maxFile bytes; CodeInvalid for others.
func readFile(path string) ([]byte, error) {
	content, info, err := openfile.Beginning(path, maxFile)
	if errors.Is(err, openfile.ErrNotRegular) || err == nil && info.Size() > maxFile {
		return nil, memory.Errorf(memory.CodeInvalid, "%s is not a file of at most %d KB", filepath.Base(path), maxFile>>10)
	}
	return content, err
}

// names returns the names of all modes, sorted and in one line.
func (s source) names() string {
	files, _ := s.files() // without those in an unreadable dir: the names are only a hint
	return strings.Join(slices.Sorted(maps.Keys(files)), ", ")
}

// files returns the path of each mode by name, "" for a built-in one.
func (s source) files() (map[string]string, error) {
	files := map[string]string{}
	entries, err := builtin.ReadDir("modes")
	for _, e := range entries {
		files[strings.TrimSuffix(e.Name(), ".json")] = ""
	}
	if err != nil || s.dir == "" {
		return files, err
	}
	entries, err = os.ReadDir(s.dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !e.IsDir() && idPattern.MatchString(name) {
			files[name] = filepath.Join(s.dir, e.Name())
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// decode decodes a mode's file and reports every unknown field.
func decode(data []byte) (definition, []Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var d definition
	if err := cmp.Or(json.Unmarshal(data, &d.Mode), json.Unmarshal(data, &d)); err != nil {
		return d, []Problem{jsonProblem(data, err)}
	}
	var raw any
	_ = json.Unmarshal(data, &raw) // valid JSON, as decoding d has shown
	return d, unknownFields("", raw, fieldsOfMode)
}

// fields are the allowed names in an object, with those of nested objects.
type fields map[string]fields

var fieldsOfMode = fields{
	"name": nil, "description": nil, "inherits": nil, "fallback_type": nil,
	"types": {"id": nil, "glyph": nil, "definition": nil}, "drop_types": nil,
	"concepts": {"id": nil, "definition": nil}, "drop_concepts": nil,
	"wording": {"role": nil, "worth": nil, "skip": nil, "good": nil, "nothing": nil, "bad": nil},
}

// unknownFields returns a problem for each field of the decoded JSON v that known does
// not have. at is the path of v in the file.
func unknownFields(at string, v any, known fields) []Problem {
	var problems []Problem
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			problems = append(problems, unknownFields(fmt.Sprintf("%s[%d]", at, i), item, known)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			field := strings.TrimPrefix(at+"."+key, ".")
			below, ok := known[key]
			if !ok {
				names := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
				problems = append(problems, Problem{field, "is not known; there are " + names})
				continue
			}
			problems = append(problems, unknownFields(field, v[key], below)...)
		}
	}
	return problems
}

// jsonProblem describes a JSON error with its line.
func jsonProblem(data []byte, err error) Problem {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return Problem{kind.Field, fmt.Sprintf("is a JSON %s, expected %s (line %d)", kind.Value, expected(kind.Type.String()), lineOf(data, kind.Offset))}
	case errors.As(err, &syntax):
		return Problem{"", fmt.Sprintf("line %d: not JSON: %s", lineOf(data, syntax.Offset), syntax)}
	}
	return Problem{"", "not JSON: " + err.Error()}
}

// expected names a Go type as people who write JSON know it.
func expected(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasSuffix(goType, "string") || strings.HasSuffix(goType, "ObservationType"):
		return "text"
	}
	return "an object"
}

// lineOf returns the number of the line, from 1, in which the byte at offset is.
func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:max(0, min(offset, int64(len(data))))], []byte("\n"))
}
