package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/distil/offline"
)

// invented is a case with one of each directive, but for those that need a repository ("== load" and
// "== commit"), and another case in the same file.
const invented = `# a guard is added, then taken back
language go
style terse

== file cache.go
package cache

func Get(key string) string {
	return store[key]
}

== session

== prompt
Get panics with "assignment to entry in nil map" on an empty key. Always indent with tabs in this project.

== read cache.go 3 3
== run! 1 go test ./...
--- FAIL: TestEmptyKey (0.00s)
panic: assignment to entry in nil map
FAIL	cache	0.1s

== edit cache.go
	return store[key]
==>>
	if key == "" {
		return ""
	}
	return store[key]

== run go test ./...
ok  	cache	0.1s

== write NOTES.md
# Notes

== run
cat <<'END' |
x
END
  cat
--
x

== ask Keep the notes?
- Yes: they help
- No
> Yes

== agent Explore
Nobody else calls Get with an empty key.

== stop
` + "`Get` returned the entry of an empty key; it gives \"\" now, because the map has none." + `

== types bugfix
== headline
empty
== remember cause 3 the map has no entry of an empty key
(map|entry)[^\n]{0,40}empty
empty key
== remember rule 1 tabs
tabs
== never it still panics
still (panics|fails)

== prompt
no, put it back

== interrupt
== types none
== supersedes Get panics with
== follow what of empty keys?
empty
== unrelated write the changelog

== case
# a question
== session
== prompt
thanks
== stop
You are welcome.
== types none
`

func writeScript(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cache-guard.case")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, text string) ([]*Case, error) {
	t.Helper()
	list, _, err := Read(t.Context(), t.TempDir(), writeScript(t, text))
	return list, err
}

// TestScript reads a script, plays it, and reads what it is written as.
func TestScript(t *testing.T) {
	list, err := read(t, invented)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Name != "cache-guard" || list[1].Name != "cache-guard-2" || list[1].Language != "go" || list[1].About != "a question" {
		t.Fatalf("got %+v", list)
	}
	c := list[0]
	if len(c.Turns) != 2 || c.Source != "invented" || c.Repository != "cache" || len(c.Turns[0].batches[0].Events) != 9 {
		t.Fatalf("got %+v", c)
	}
	dir := t.TempDir()
	if err := c.WriteFolder(dir); err != nil {
		t.Fatal(err)
	}
	again, _, err := Read(t.Context(), "", dir)
	if err != nil || len(again) != 1 {
		t.Fatalf("%d folders, %v", len(again), err)
	}
	d := offline.New()
	for _, c := range []*Case{c, again[0]} {
		made := c.Distil(func(*Turn) *offline.Distiller { return d })
		v := c.Judge(made)
		if v.Headline != (Share{1, 1}) || v.Type != (Share{1, 1}) || v.Front.Got != 4 || v.Rules != (Share{1, 1}) || v.False != (Share{0, 1}) || v.Superseded.Of != 1 || v.FalseRules != 0 {
			t.Errorf("got %+v\n%+v\n%+v", v.Figures, v.Turns[0].Wrong, made[0])
		}
	}
}

// TestFaults changes one thing of the script and reads what is said of it.
func TestFaults(t *testing.T) {
	for _, tt := range []struct{ old, text, want string }{
		{"== read cache.go 3 3", "== read cash.go", `cache-guard.case:17: the file cash.go is not there`},
		{"== read cache.go 3 3", "== read cache.go 3 x", `17: == read wants PATH OFFSET LIMIT: "x" is no number`},
		{"== read cache.go 3 3", "== look cache.go", "17: unknown directive == look"},
		{"	return store[key]\n==>>", "}\n}\n==>>", "the old text occurs 0 times in cache.go"},
		{"	return store[key]\n==>>", "e\n==>>", "the old text occurs"},
		{"\n==>>\n", "\n", "== edit wants the old text"},
		{"== run! 1", "== run! one", "== run! wants an exit code"},
		{"\n--\n", "\n", "== run wants a command"},
		{"> Yes\n", "", "== ask wants a question, options and an answer"},
		{"== types bugfix", "== types bug", `unknown type "bug"`},
		{"== types bugfix", "", "has no == types"},
		{"== remember cause", "== remember reason", `unknown kind "reason"`},
		{"cause 3", "cause 4", `the weight "4"`},
		{"(map|entry)", "(map|entry", "the expression does not compile"},
		{"empty key\n== rem", "(empty key)?\n== rem", "matches anything"},
		{"== supersedes Get panics with", "== supersedes 2", "== supersedes wants an earlier prompt"},
		{"== supersedes Get panics with", "== supersedes no, put it back", "== supersedes wants an earlier prompt"},
		{"== interrupt", "", "stands behind no closed turn"},
		{"== session\n", "", "== prompt stands in no session"},
		{"language go\n", "", "no language"},
		{"style terse", "manner terse", "unknown line"},
		{"style terse", "style terse\nrepository a/b@1234", "40 hex digits"},
		{"== file cache.go", "== load cache.go", "load cache.go: the case has no repository"},
		{"== write NOTES.md", "== commit NOTES.md", "== commit: the case has no repository"},
	} {
		changed := strings.Replace(invented, tt.old, tt.text, 1)
		if changed == invented {
			t.Errorf("the script has no %q", tt.old)
		}
		if _, err := read(t, changed); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q in the place of %q: got %v, want %q", tt.text, tt.old, err, tt.want)
		}
	}
}

// TestMissingClone leaves out the cases of a repository that is not there.
func TestMissingClone(t *testing.T) {
	text := strings.Replace(invented, "style terse", "style terse\nrepository a/b@"+strings.Repeat("0", 40), 1)
	list, missing, err := Read(t.Context(), t.TempDir(), writeScript(t, text)+","+writeScript(t, invented))
	if err != nil || len(list) != 2 || len(missing) != 1 {
		t.Errorf("got %v, %v, %v", list, missing, err)
	}
}
