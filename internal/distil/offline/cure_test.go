package offline

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// told returns all that is stored of a story as one text, a statement a line.
func told(t *testing.T, s *story) string {
	t.Helper()
	out := s.distil(t)
	var b strings.Builder
	for i := range out.Observations {
		o := &out.Observations[i]
		b.WriteString(string(o.Type) + ": " + o.Title + "\n" + o.Subtitle + "\n" + o.Narrative + "\n" + strings.Join(o.Facts, "\n") + "\n")
	}
	for i := range out.Summaries {
		b.WriteString(out.Summaries[i].Completed + "\nnext: " + out.Summaries[i].NextSteps + "\n")
	}
	return b.String()
}

// statement is what a story must tell, and must not.
type statement struct {
	name   string
	story  *story
	want   []string
	refuse []string
}

func checkStatements(t *testing.T, tests []statement) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := told(t, tt.story)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("does not tell %q:\n%s", want, got)
				}
			}
			for _, refuse := range tt.refuse {
				if strings.Contains(got, refuse) {
					t.Errorf("tells %q:\n%s", refuse, got)
				}
			}
		})
	}
}

const noDatabase = "--- FAIL: TestStore (0.00s)\n    store_test.go:9: dial tcp 127.0.0.1:5432: connection refused\nFAIL"

// TestCures names what made a failure go away: what lies between its last occurrence and
// the pass, or what the command itself has more.
func TestCures(t *testing.T) {
	ok := "ok  \texample.com/store\t0.4s"
	checkStatements(t, []statement{
		{"environment variable after an install that did not help",
			tell().ask("run the tests").fail("go test ./...", 1, noDatabase).run("apt-get install -y postgresql", "Setting up postgresql").fail("go test ./...", 1, noDatabase).
				run("STORE_DSN=memory: go test ./...", ok).stop("The suite wants a database unless `STORE_DSN` says otherwise."),
			[]string{"`go test ./...` needs `STORE_DSN=memory:`"}, []string{"needed: installed", "passes after"}},
		{"build tag", tell().ask("build it").fail("cargo build", 101, "error: could not find native library `x`").run("cargo build --features vendored", "   Finished dev").stop("Builds now."),
			[]string{"`cargo build` needs `--features vendored`"}, nil},
		{"directory", tell().ask("run the tests").fail("npm test", 1, "npm ERR! Missing script: \"test\"").run("cd web && npm test", "# pass 3\n# fail 0").stop("The tests are in web."),
			[]string{"`npm test` has to be run in web"}, nil},
		{"the install between the last failure and the pass", tell().ask("run the tests").fail("npm test", 1, "Error: Cannot find module 'vite'").run("npm ci", "added 400 packages").run("npm test", "# pass 3\n# fail 0").stop("Green."),
			[]string{"`npm test` passes after `npm ci`"}, nil},
		{"another command that the agent gives the user", tell().ask("build it").fail("make build", 2, "fatal error: zlib.h: No such file or directory").run("brew install zlib", "").
			fail("make build", 2, "fatal error: zlib.h: No such file or directory").run("CGO_ENABLED=0 go build -o app ./cmd/app", "").stop("Use\n\n```sh\nCGO_ENABLED=0 go build -o app ./cmd/app\n```\n"),
			[]string{"`make build` fails here, `CGO_ENABLED=0 go build -o app ./cmd/app` works"}, []string{"`make build` still fails", "brew install zlib` failed", "`make build` passes", "after `brew"}},
		{"a cure that a later failure contradicts", tell().ask("run the tests").fail("go test ./...", 1, noDatabase).run("apt-get install -y postgresql", "Setting up postgresql").
			run("go test ./...", ok).fail("go test ./...", 1, noDatabase).stop("It comes and goes."),
			[]string{"`go test ./...` still fails"}, []string{"needed:", "passes after", "passes now"}},
		{"what failed without the variable once more", tell().ask("run the tests").fail("go test ./...", 1, noDatabase).run("STORE_DSN=memory: go test ./...", ok).fail("go test ./...", 1, noDatabase).
			stop("It needs `STORE_DSN`."), []string{"needs `STORE_DSN=memory:`"}, nil},
		{"more output is no cure", tell().ask("run the tests").fail("go test ./...", 1, noDatabase).run("go test -v ./...", ok).stop("Green now."), nil, []string{"needs `-v`"}},
		{"the pass came before the edit", tell().ask("somebody says the guide does not build").fail("go build ./...", 1, "main.go:3:1: missing go.sum entry").run("go mod download all", "").
			run("go build ./...", "").edit("docs/guide.md", 3, "-go get x", "+go get x/y").stop("They are right, `go get x` is not enough. The guide says `go get x/y` now."),
			[]string{"docs/guide.md"}, []string{"failed before the change", "failed and passes now"}},
		{"a test that failed on the way is not what was broken", goFix(tell().ask("the limit is ignored when there is a default, fix it").edit("limit.go", 4, "-\treturn d", "+\treturn n")).
			stop("The limit goes before the default now, because the caller's word counts."), nil, []string{"Fix TestSlide"}},
	})
}

// TestScratchDirectory leaves the project's dependencies alone when a package is added
// elsewhere.
func TestScratchDirectory(t *testing.T) {
	s := tell().ask("try the quick start").run("mkdir -p /tmp/q && cd /tmp/q && go mod init q && go get example.com/lib", "go: added example.com/lib v1.2.0").
		edit("README.md", 3, "-go get lib", "+go get example.com/lib").stop("The quick start names the wrong module, `go get example.com/lib` works.")
	checkStatements(t, []statement{{"go get in /tmp", s, nil, []string{"dependency"}}})
	for _, o := range s.distil(t).Observations {
		for _, f := range o.FilesIn(memory.FileModified) {
			if strings.HasPrefix(f, "go.mod") {
				t.Errorf("%s is told as modified", f)
			}
		}
	}
}
