package toolcall

import (
	"fmt"
	"strings"
	"testing"
)

// describe shows a command's parts as kind:text, with ~ where its exit status is hidden.
func describe(line string) string {
	var out []string
	for _, p := range ParseCommands(line) {
		s := p.Kind.String()
		if !p.Kind.IsQuiet() {
			s += ":" + p.Text()
			if p.Dir != "" {
				s += " (in " + p.Dir + ")"
			}
		}
		if p.Hidden {
			s += "~"
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestClassifyCommands(t *testing.T) {
	tests := []struct{ line, want string }{
		{"go test ./...", "test:go test ./..."},
		{"go test ./... 2>&1", "test:go test ./..."},
		{"cd sub && go test ./... 2>&1 | tail -20", "look | test:go test ./... (in sub)~ | look"},
		{"cd a; cd b && make test", "look~ | look | test:make test (in a/b)"},
		{"GOFLAGS=-mod=mod CGO_ENABLED=0 go test -run TestX ./pkg", "test:go test -run TestX ./pkg"},
		{"set -o pipefail; go test ./... | tee out.txt", "minor~ | test:go test ./... | write:tee out.txt"},
		{"go vet ./... && go test ./...; echo done", "lint:go vet ./...~ | test:go test ./...~ | look"},
		{"go vet ./... && go test ./... | tail", "lint:go vet ./... | test:go test ./...~ | look"},
		{"go test ./... || true", "test:go test ./...~ | minor"},
		{"gofmt -l . && go build ./cmd/x", "minor | build:go build ./cmd/x"},
		{"gofmt -w .", "format:gofmt -w ."},
		{"timeout 60 npm test -- --watch=false", "test:npm test -- --watch=false"},
		{"npx jest src/a.test.ts -t 'adds up'", "test:jest src/a.test.ts -t 'adds up'"},
		{"yarn run lint", "lint:yarn run lint"},
		{"pnpm --filter web build", "build:pnpm --filter web build"},
		{"npm run dev", "run:npm run dev"},
		{"npx tsc --noEmit", "lint:tsc --noEmit"},
		{"python3 -m pytest -q tests/test_a.py", "test:python3 -m pytest -q tests/test_a.py"},
		{"python -m unittest -v 2>&1", "test:python -m unittest -v"},
		{"poetry run pytest", "test:pytest"},
		{"uv run mypy src", "lint:mypy src"},
		{"python manage.py migrate", "run:python manage.py migrate"},
		{"python -c 'print(1)'", "inline:python -c 'print(1)'"},
		{"node -e \"console.log(1)\"", "inline:node -e 'console.log(1)'"},
		{"node --test test/", "test:node --test test/"},
		{"cargo clippy -- -D warnings", "lint:cargo clippy -- -D warnings"},
		{"RUST_BACKTRACE=1 cargo test parser::", "test:cargo test parser::"},
		{"./gradlew :app:test --info", "test:./gradlew :app:test --info"},
		{"mvn -q -DskipTests package", "build:mvn -q -DskipTests package"},
		{"./test.sh", "test:./test.sh"},
		{"bash scripts/check.sh", "test:bash scripts/check.sh"},
		{"sh -c 'cd x && make'", "look | build:make (in x)"},
		{"sh -c 'cd x && make'; make", "look~ | build:make (in x)~ | build:make"},
		{"bash -lc \"go test ./...\"", "test:go test ./..."},
		{"./bin/tool --flag", "run:./bin/tool --flag"},
		{"mytool sync", "other:mytool sync"},
		{"ls -la && cat x | head -3", "look | look~ | look"},
		{"rg -n foo src | wc -l", "look~ | look"},
		{"git status --short; git diff", "look~ | look"},
		{"git -C sub log --oneline", "look"},
		{"git add -A && git commit -m 'x'", "minor | commit:git commit -m x"},
		{"git checkout -b feat", "git:git checkout -b feat"},
		{"mv a.go b.go", "move:mv a.go b.go"},
		{"rm -rf dist", "delete:rm -rf dist"},
		{"sed -i 's/a/b/' x.go", "write:sed -i s/a/b/ x.go"},
		{"sed -n 1,20p x.go", "minor"},
		{"cat > a.txt <<'EOF'\nrm -rf /\nEOF\ngo test ./...", "write:cat~ | test:go test ./..."},
		{"echo hi > /dev/null", "look"},
		{"echo hi >> notes.md", "write:echo hi"},
		{"npm install", "install:npm install"},
		{"pip install -r requirements.txt", "install:pip install -r requirements.txt"},
		{"sudo apt-get install -y jq", "install:apt-get install -y jq"},
		{"# just a comment\n\n", ""},
		{"for f in *.go; do go vet $f; done", "lint:go vet '$f'~"},
		{"if go test ./...; then echo ok; fi", "test:go test ./...~ | look"},
		{"(cd web && npm test)", "look | test:npm test (in web)"},
		{"docker compose up -d", "other:docker compose up -d"},
		{"curl -s http://localhost:8080/health", "minor"},
		{"", ""},
		{"'", "minor"},
		{"a \\", "other:a ''"},
		{"$(", "minor"},
	}
	for _, tt := range tests {
		if got := describe(tt.line); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestLinesBeyondTheGrammar(t *testing.T) {
	tests := []struct{ line, want string }{
		{"go test ./... | tail -3; )", "test:go test ./...~ | look"},
		{"cd web; and npm test; )", "look~ | test:npm test (in web)"},                                                                 // fish
		{"cd /d C:\\work && npm test 2>nul | findstr (fail", "look~ | test:npm test (in C:/work)~ | look~ | other:fail (in C:/work)"}, // cmd.exe
		{"cat > a.txt <<'EOF'\ngo build ./...", "write:cat"},                                                                          // cut off
		{"print ${(f)x}; go vet ./...", "other:print '${(f)x}'~ | lint:go vet ./..."},                                                 // zsh
		{"git commit -m \"x", "commit:git commit -m x"},
	}
	for _, tt := range tests {
		if got := describe(tt.line); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestInnerCommands(t *testing.T) {
	commands := ParseCommands("X=$(make a) go test $(go list ./... | grep -v e2e) <(curl x)")
	if len(commands) != 1 || len(commands[0].Inner) != 4 || commands[0].Env[0] != "X=$(make a)" {
		t.Errorf("got %+v", commands)
	}
	commands = ParseCommands("check() { go vet ./...; go test ./...; }; check")
	if len(commands) != 2 || commands[1].Kind != KindTest || commands[1].Hidden || !commands[0].Hidden {
		t.Errorf("got %+v", commands)
	}
	commands = ParseCommands("(cd web && npm test) && make")
	if len(commands) != 3 || commands[1].Dir != "web" || commands[2].Dir != "" || !commands[2].IfOK {
		t.Errorf("got %+v", commands)
	}
}

// TestRedirections: what each command writes, reads and gets, and the commands within.
func TestRedirections(t *testing.T) {
	for line, want := range map[string]string{
		"make > out.log 2> err.log":                          `make ["out.log"] [] "" 0`,
		"make > >(tee out.log)":                              `make [] [] "" 1`,
		"make >& build.log":                                  `make ["build.log"] [] "" 0`,
		"echo x >&2; echo y >&$fd":                           `echo [] [] "" 0, echo [] [] "" 0`,
		`echo x > "$(git rev-parse --show-toplevel)/f"`:      `echo ["$(git rev-parse --show-toplevel)/f"] [] "" 1`,
		"echo x 2> $(mktemp)":                                `echo [] [] "" 1`,
		"while read x; do echo $x; done < <(find . -name a)": `read [] [] "" 0, echo [] [] "" 1`,
		"while read x; do rm $x; done <<EOF\na\nEOF":         `read [] [] "" 0, rm [] [] "a\n" 0`,
		"cat <<EOF\nEOF":                                     `cat [] [] "" 0`,
	} {
		var got []string
		for _, c := range ParseCommands(line) {
			got = append(got, fmt.Sprintf("%s %q %q %q %d", c.Words[0], c.Writes, c.Reads, c.Stdin, len(c.Inner)))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q\n got %s\nwant %s", line, s, want)
		}
	}
}

func TestCovers(t *testing.T) {
	failed := Verdict{Tests: []string{"TestSlide"}, File: "window/window_test.go", Packages: []string{"example.com/window"}}
	tests := []struct {
		fail, pass string
		f          Verdict
		want       bool
	}{
		{"go test ./...", "go test ./...", failed, true},
		{"go test ./...", "go test ./window", failed, true},
		{"go test ./...", "go test ./other", failed, false},
		{"go test ./window", "go test ./...", failed, true},
		{"go test ./...", "go test -run TestSlide ./window", failed, true},
		{"go test ./...", "go test -run TestOther ./window", failed, false},
		{"go build ./...", "go test ./...", Verdict{}, true},
		{"go vet ./...", "go test ./...", Verdict{}, true},
		{"go test ./...", "go build ./...", failed, false},
		{"npm test", "npx jest", Verdict{}, true},
		{"npm test", "pytest", Verdict{}, false},
		{"make test", "go test ./...", Verdict{}, true},
		{"npx tsc --noEmit", "npx jest", Verdict{}, false},
		{"npx eslint .", "npx tsc", Verdict{}, false},
		{"pytest tests/test_a.py", "pytest", Verdict{}, true},
		{"pytest", "pytest tests/test_a.py", Verdict{Tests: []string{"test_x"}, File: "tests/test_a.py"}, true},
		{"pytest", "pytest tests/test_b.py", Verdict{Tests: []string{"test_x"}, File: "tests/test_a.py"}, false},
		{"cargo build", "cargo test", Verdict{}, true},
		{"python app.py", "python app.py", Verdict{}, true},
		{"python app.py", "python other.py", Verdict{}, false},
		{"go run . docs/*.md", "go run . docs/*.md", Verdict{}, true},
		{"./check.sh", "./check.sh --fast", Verdict{}, true},
		{"mytool sync", "mytool list", Verdict{}, false},
		{"cd api && eslint .", "cd api && eslint .", Verdict{}, true},
		{"cd api/cart && eslint .", "cd api && eslint .", Verdict{}, true},
		{"cd api2 && eslint .", "cd api && eslint .", Verdict{}, false},
	}
	for _, tt := range tests {
		fails, passes := ParseCommands(tt.fail), ParseCommands(tt.pass)
		fail, pass := fails[len(fails)-1], passes[len(passes)-1]
		if got := Covers(&pass, &fail, &tt.f); got != tt.want {
			t.Errorf("%q after failed %q: got %v, want %v", tt.pass, tt.fail, got, tt.want)
		}
	}
}

func TestCommitMessage(t *testing.T) {
	tests := []struct{ line, output, subject, body string }{
		{"git commit -m 'Fix it'", "", "Fix it", ""},
		{"git add -A && git commit -qam \"Fix it\" -m \"Because it was broken.\"", "", "Fix it", "Because it was broken."},
		{"git commit -m \"$(cat <<'EOF'\nfeat: add x\n\nIt was asked for.\n\nCo-Authored-By: A <a@b.c>\nEOF\n)\"", "", "feat: add x", "It was asked for."},
		{"git commit -F - <<EOF\nsubject here\n\nbody here\nEOF", "", "subject here", "body here"},
		{"git commit --message=short", "", "short", ""},
		{"git commit --amend --no-edit", "[main abc1234] The old subject\n 1 file changed", "The old subject", ""},
		{"git commit -m 'x\n\nCo-Authored-By: A <a@b.c>'", "", "x", ""},
	}
	for _, tt := range tests {
		for _, p := range ParseCommands(tt.line) {
			if p.Kind != KindCommit {
				continue
			}
			if got, want := p.commit(tt.output), (Commit{tt.subject, tt.body}); got != want {
				t.Errorf("%q: got %q, want %q", tt.line, got, want)
			}
		}
	}
}
