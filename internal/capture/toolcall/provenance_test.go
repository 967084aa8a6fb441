package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// sourcesOf returns the sources of the output of a command line.
func sourcesOf(t *testing.T, line string) []Source {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	c := ParseInput(&memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: input})
	return c.Sources()
}

// TestSources checks what is read, written and run by a command, and from where; the marks of
// many are in the acceptance test of provenance.
func TestSources(t *testing.T) {
	for _, tt := range []struct {
		line                  string
		from                  memory.Provenance
		places, writes, other []string // other: program, revisions, branches
	}{
		{"cat a.go b.go", memory.FromProject, []string{"a.go", "b.go"}, nil, nil},
		{"cd sub && cat a.go $X > out", memory.FromProject, []string{"sub/a.go", "$X"}, []string{"sub/out"}, nil},
		{"grep -n x a.go", memory.FromProject, []string{"a.go"}, nil, nil},
		{"grep -e x a.go", memory.FromProject, []string{"a.go"}, nil, nil},
		{"grep --exclude-dir=node_modules -r x .", memory.FromProject, []string{"."}, nil, nil},
		{"rg TODO", memory.FromProject, []string{""}, nil, nil},
		{"cd sub && ag TODO", memory.FromProject, []string{"sub"}, nil, nil},
		{"grep -rn x", memory.FromProject, []string{""}, nil, nil},
		{"grep -n x", memory.FromAgent, nil, nil, nil},
		{"cut -d '/' -f 2 a.txt", memory.FromProject, []string{"a.txt"}, nil, nil},
		{"sort -o b a", memory.FromProject, []string{"a"}, []string{"b"}, nil},
		{"sed -n 1p < in", memory.FromProject, []string{"in"}, nil, nil},
		{"head -n 3", memory.FromAgent, nil, nil, nil},
		{"cp -r a b", memory.FromProject, []string{"a"}, []string{"b"}, nil},
		{"echo x | tee -a log.txt", memory.FromAgent, nil, []string{"log.txt"}, nil},
		{"go test ./a -o x.test", memory.FromProject, []string{"./a"}, []string{"x.test"}, nil},
		{"python3 scripts/a.py data.csv", memory.FromProject, []string{"scripts/a.py", "data.csv"}, nil, []string{"scripts/a.py"}},
		{"python3 scripts/a.py -m echo", memory.FromProject, []string{"scripts/a.py"}, nil, []string{"scripts/a.py"}},
		{"python3 -W ignore -m json.tool a.json", memory.FromUnknown, nil, nil, nil},
		{"./build.sh", memory.FromProject, nil, nil, []string{"./build.sh"}},
		{"git show main:a.go", memory.FromProject, []string{"a.go", "main:a.go"}, nil, []string{"main"}},
		{"git diff a..b -- x.go", memory.FromProject, []string{"a..b", "x.go"}, nil, []string{"b", "x.go"}},
		{"git fetch origin pull/7/head:pr", memory.FromOutside, nil, nil, []string{"pr"}},
		{"curl -o a.html https://example.com/b", memory.FromWeb, nil, []string{"a.html", "b"}, nil},
		{"curl -s https://example.com/docs/", memory.FromWeb, nil, []string{"docs"}, nil}, // not the whole directory
		{"curl -d @body.json localhost:80/a", memory.FromOutside, nil, nil, nil},
		{"curl http://localhost@example.com", memory.FromWeb, nil, []string{"localhost@example.com"}, nil},
		{"find . -path ./vendor -prune -o -print", memory.FromProject, []string{"."}, nil, nil},
	} {
		list := sourcesOf(t, tt.line)
		s := list[len(list)-1]
		other := slices.Concat(s.Refs, s.NewRefs)
		if s.Program != "" {
			other = append(other, s.Program)
		}
		if s.From != tt.from || !slices.Equal(s.Places, tt.places) || !slices.Equal(s.Writes, tt.writes) || !slices.Equal(other, tt.other) {
			t.Errorf("%s: got %q, places %q, writes %q, other %q", tt.line, s.From, s.Places, s.Writes, other)
		}
	}
}

// TestSourcesOfMore: what is beyond a bound of the parser is not taken for the project's.
func TestSourcesOfMore(t *testing.T) {
	deep := "curl https://example.com"
	for range maxNesting + 2 {
		deep = "sh -c " + quoted(deep)
	}
	for name, line := range map[string]string{
		"files":         "cat " + strings.Repeat("f ", maxNamed+1),
		"commands":      strings.Repeat("cat a; ", maxCommands) + "curl https://example.com",
		"length":        "cat a # " + strings.Repeat("x", maxLine),
		"shells":        deep,
		"substitutions": "cat " + strings.Repeat("$(cat ", maxNesting+2) + "a" + strings.Repeat(")", maxNesting+2),
		"grammar":       "if [ ; cat a (",
	} {
		if !slices.ContainsFunc(sourcesOf(t, line), func(s Source) bool { return s.From.Unknown() || s.From.Foreign() }) {
			t.Errorf("%s: nothing is unknown", name)
		}
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
