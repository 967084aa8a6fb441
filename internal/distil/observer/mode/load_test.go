package mode

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBuiltInModes(t *testing.T) {
	for _, name := range []string{"code", "research", "writing"} {
		m := load(t, name)
		if m.Name != name || m.Description == "" {
			t.Errorf("mode %s: name %q, description %q", name, m.Name, m.Description)
		}
		if problems := Check(filepath.Join("modes", name+".json")); len(problems) > 0 {
			t.Errorf("mode %s: %v", name, problems)
		}
		if n := memory.EstimateTokens(System(m, "")); n > maxSystemTokens {
			t.Errorf("mode %s: the first prompt has %d tokens, at most %d", name, n, maxSystemTokens)
		}
	}
	if m := load(t, ""); m.Name != "code" {
		t.Errorf("default mode: got %s", m.Name)
	}
}

// TestCodeModeKnowsTheTypes keeps the mode and the domain's own types in step.
func TestCodeModeKnowsTheTypes(t *testing.T) {
	m := load(t, "code")
	want := []memory.ObservationType{
		memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor,
		memory.TypeChange, memory.TypeDiscovery, memory.TypeDecision,
	}
	if !slices.Equal(m.TypeIDs(), want) {
		t.Errorf("types: got %v, want %v", m.TypeIDs(), want)
	}
	for _, typ := range want {
		if got := m.Glyph(typ); got != typ.Glyph() {
			t.Errorf("sign of %s: got %s, want %s", typ, got, typ.Glyph())
		}
	}
	if got := m.Glyph("finding"); got != memory.ObservationType("finding").Glyph() {
		t.Errorf("sign of an unknown type: got %s", got)
	}
	if got := strings.Join(m.ConceptIDs(), " "); got != "how-it-works why-it-exists what-changed problem-solution gotcha pattern trade-off" {
		t.Errorf("concepts: got %s", got)
	}
}

func TestInheritance(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "security.json", "\ufeff"+`{
		"description": "Code with an eye on security",
		"inherits": "code",
		"types": [{"id": "hole", "glyph": "‼", "definition": "a weakness"}, {"id": "bugfix", "definition": "a bug or a hole that was closed"}],
		"drop_types": ["refactor"],
		"drop_concepts": ["pattern"],
		"wording": {"skip": []}
	}`)
	write(t, dir, "code.json", `{"inherits": "code", "description": "Our code", "fallback_type": "change"}`)
	m, err := Load("security", dir)
	if err != nil {
		t.Fatal(err)
	}
	// security → the user's code → the built-in code.
	if got, want := m.TypeIDs(), []memory.ObservationType{"bugfix", "feature", "change", "discovery", "decision", "hole"}; !slices.Equal(got, want) {
		t.Errorf("types: got %v, want %v", got, want)
	}
	if m.Types[0].Definition != "a bug or a hole that was closed" || m.Types[0].Glyph != "●" {
		t.Errorf("overridden type: got %+v", m.Types[0])
	}
	if m.Fallback != "change" || m.Name != "security" || slices.Contains(m.ConceptIDs(), "pattern") {
		t.Errorf("got %+v", m)
	}
	if len(m.Wording.Skip) != 0 || len(m.Wording.Worth) == 0 || m.Wording.Role == "" {
		t.Errorf("wording: got %+v", m.Wording)
	}
	if own := load(t, "code"); own.Description == "Our code" {
		t.Error("the built-in mode was changed")
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "broken.json", `{"types": [`)
	write(t, dir, "code.json", `{"inherits": "code", "description": "Our code"}`)
	write(t, dir, "notes.txt", "not a mode")
	write(t, dir, "No Mode.json", "{}")
	all, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all {
		line := l.Name + ": " + l.Description
		if l.Err != nil {
			line = l.Name + ": " + string(memory.CodeOf(l.Err))
		}
		if l.File != "" {
			line += " (own)"
		}
		got = append(got, line)
	}
	want := []string{
		"broken: invalid (own)",
		"code: Our code (own)",
		"research: Research: what was found, where it comes from, how sure it is and what is still open",
		"writing: Writing: drafts, revisions, voice and rules of a text, and the research for it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if all, err := List(filepath.Join(dir, "absent")); err != nil || len(all) != 3 {
		t.Errorf("without a directory: %d modes, %v", len(all), err)
	}
}

func TestLoadUnknown(t *testing.T) {
	for _, name := range []string{"cooking", "../code", "Code", "a/b", strings.Repeat("a", 50), "code.json"} {
		_, err := Load(name, t.TempDir())
		if memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("Load(%q): got %v, want not_found", name, err)
		}
	}
	_, err := Load("cooking", "")
	if want := `there is no mode "cooking"; there are code, research, writing`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestCheck(t *testing.T) {
	const rest = `"description": "d", "fallback_type": "a", "wording": {"role": "You watch."}`
	a := `{"id": "a", "glyph": "●", "definition": "x"}`
	cases := []struct{ name, text, want string }{
		{"fine", `{` + rest + `, "types": [` + a + `]}`, ""},
		{"not json", "{\n\"types\": [\n}", "line 3: not JSON: invalid character '}' looking for beginning of value"},
		{"empty", "", "line 1: not JSON: unexpected end of JSON input"},
		{"a list", "[]", "is a JSON array, expected an object (line 1)"},
		{"wrong kind", "{\n\"types\": \"bugfix\"}", "types: is a JSON string, expected a list (line 2)"},
		{"unknown fields", `{` + rest + `, "types": [{"id": "a", "glyph": "●", "definition": "x", "emoji": "y"}], "observation_types": []}`,
			"observation_types: is not known; there are concepts, description, drop_concepts, drop_types, fallback_type, inherits, name, types, wording; " +
				"types[0].emoji: is not known; there are definition, glyph, id"},
		{"nothing in it", `{}`, `description: is missing; types: a mode needs at least one type; wording.role: is missing`},
		{"fall-back", `{"description": "d", "wording": {"role": "r"}, "fallback_type": "b", "types": [` + a + `]}`, `fallback_type: "b" is not among the types`},
		{"twice", `{` + rest + `, "types": [` + a + `, {"id": "a", "glyph": "○", "definition": "y"}]}`, `types[1].id: "a" is there twice`},
		{"glyphs", `{` + rest + `, "types": [` + a + `, {"id": "b", "glyph": "🔴", "definition": "y"}, {"id": "c", "glyph": "●", "definition": "y"}, {"id": "d", "definition": "y"}, {"id": "e", "glyph": " ", "definition": "y"}]}`,
			`types[1].glyph: "🔴" is not one visible character of the Basic Multilingual Plane (no emoji); types[2].glyph: ● is the sign of a already; ` +
				`types[3].glyph: "" is not one visible character of the Basic Multilingual Plane (no emoji); types[4].glyph: " " is not one visible character of the Basic Multilingual Plane (no emoji)`},
		{"names", `{` + rest + `, "types": [` + a + `], "concepts": [{"id": "Trade Off", "definition": "x"}, {"id": "a", "definition": "x"}]}`,
			`concepts[0].id: "Trade Off" is no name; use lower-case words with hyphens, as in trade-off; concepts[1].id: "a" is a type as well; a concept says something else than the type`},
		{"too long", `{` + rest + `, "types": [{"id": "a", "glyph": "●", "definition": "` + strings.Repeat("x", 301) + `"}]}`, `types[0].definition: has 301 bytes; at most 300 are allowed`},
		{"too dear", `{` + rest[:len(rest)-1] + `, "worth": [` + strings.Repeat(`"`+strings.Repeat("y", 290)+`",`, 15) + `"z"], "skip": [` + strings.Repeat(`"`+strings.Repeat("y", 290)+`",`, 5) + `"z"]}, "types": [` + a + `]}`,
			`the first prompt has about N tokens, paid for with every call; at most 1800 are allowed`},
		{"other name", `{"name": "other", ` + rest + `, "types": [` + a + `]}`, `name: is "other", but the file is named mine.json`},
		{"no parent", `{"inherits": "father"}`, `inherits: there is no mode "father"; there are code, mine, research, round, writing`},
		{"no name of a parent", `{"inherits": "../x"}`, `inherits: there is no mode "../x"; there are code, mine, research, round, writing`},
		{"circle", `{"inherits": "round"}`, `inherits: forms a cycle: mine → round → mine`},
		{"own parent", `{"inherits": "mine"}`, `inherits: there is no mode "mine"; there are code, mine, research, round, writing`},
		{"nothing to drop", `{"inherits": "code", "drop_types": ["bugs"], "drop_concepts": ["gotcha", "x"]}`,
			`drop_types[0]: the parent has no type "bugs"; drop_concepts[1]: the parent has no concept "x"`},
		{"fall-back dropped", `{"inherits": "code", "drop_types": ["discovery"]}`, `fallback_type: "discovery" is not among the types`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "round.json", `{"inherits": "mine"}`)
			file := write(t, dir, "mine.json", c.text)
			var texts []string
			for _, p := range Check(file) {
				texts = append(texts, p.String())
			}
			got := regexp.MustCompile(`about \d+ tokens`).ReplaceAllString(strings.Join(texts, "; "), "about N tokens")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			_, err := Load("mine", dir)
			if (err == nil) != (c.want == "") || err != nil && memory.CodeOf(err) != memory.CodeInvalid {
				t.Errorf("Load: got %v", err)
			}
		})
	}
}

func TestCheckFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "broken.json", "{")
	write(t, dir, "child.json", `{"inherits": "broken"}`)
	write(t, dir, "huge.json", strings.Repeat(" ", maxFile+1))
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"absent.json": "cannot be read: ",
		"mode.yaml":   "a mode's file is named NAME.json",
		"child.json":  `inherits: in mode "broken": line 1: not JSON`,
		"huge.json":   "huge.json is not a file of at most 64 KB",
		"folder.json": "folder.json is not a file of at most 64 KB",
	} {
		problems := Check(filepath.Join(dir, name))
		if len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("Check(%s): got %v, want %s", name, problems, want)
		}
	}
}

func TestLongChain(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		write(t, dir, "m"+string(rune('a'+i))+".json", `{"inherits": "m`+string(rune('a'+i+1))+`"}`)
	}
	problems := Check(filepath.Join(dir, "ma.json"))
	if len(problems) != 1 || problems[0].String() != "inherits: has more than 8 ancestors" {
		t.Errorf("got %v", problems)
	}
}

func FuzzDecode(f *testing.F) {
	entries, err := builtin.ReadDir("modes")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		data, err := builtin.ReadFile("modes/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"types":[{"id":1}]}`))
	f.Add([]byte("\ufeff[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, problems := decode(data)
		if len(problems) > 0 {
			return
		}
		var m Mode
		if problems := append(m.inherit(d), m.problems()...); len(problems) == 0 {
			System(m, "")
		}
	})
}
