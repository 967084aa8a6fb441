package offline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var kindNames = map[commandKind]string{
	kindNoise: "noise", kindTest: "test", kindBuild: "build", kindLint: "lint", kindRun: "run", kindOther: "other", kindInline: "inline",
	kindFormat: "format", kindInstall: "install", kindCommit: "commit", kindGit: "git", kindMove: "move", kindDelete: "delete", kindWrite: "write",
}

// describe shows a command's parts as kind:text, with ~ where its exit status is hidden.
func describe(line string) string {
	var out []string
	for _, p := range parseCommand(line) {
		s := kindNames[p.kind]
		if p.kind != kindNoise {
			s += ":" + p.text
		}
		if p.masked {
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
		{"cd sub && go test ./... 2>&1 | tail -20", "test:go test ./... (in sub)~ | noise"},
		{"cd a; cd b && make test", "test:make test (in a/b)"},
		{"GOFLAGS=-mod=mod CGO_ENABLED=0 go test -run TestX ./pkg", "test:go test -run TestX ./pkg"},
		{"set -o pipefail; go test ./... | tee out.txt", "noise~ | test:go test ./... | write:tee out.txt"},
		{"go vet ./... && go test ./...; echo done", "lint:go vet ./...~ | test:go test ./...~ | noise"},
		{"go vet ./... && go test ./... | tail", "lint:go vet ./... | test:go test ./...~ | noise"},
		{"go test ./... || true", "test:go test ./...~ | noise"},
		{"gofmt -l . && go build ./cmd/x", "noise | build:go build ./cmd/x"},
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
		{"sh -c 'cd x && make'", "build:make (in x)"},
		{"bash -lc \"go test ./...\"", "test:go test ./..."},
		{"./bin/tool --flag", "run:./bin/tool --flag"},
		{"mytool sync", "other:mytool sync"},
		{"ls -la && cat x | head -3", "noise | noise~ | noise"},
		{"rg -n foo src | wc -l", "noise~ | noise"},
		{"git status --short; git diff", "noise~ | noise"},
		{"git -C sub log --oneline", "noise"},
		{"git add -A && git commit -m 'x'", "noise | commit:git commit -m x"},
		{"git checkout -b feat", "git:git checkout -b feat"},
		{"mv a.go b.go", "move:mv a.go b.go"},
		{"rm -rf dist", "delete:rm -rf dist"},
		{"sed -i 's/a/b/' x.go", "write:sed -i s/a/b/ x.go"},
		{"sed -n 1,20p x.go", "noise"},
		{"cat > a.txt <<'EOF'\nrm -rf /\nEOF\ngo test ./...", "write:cat~ | test:go test ./..."},
		{"echo hi > /dev/null", "noise"},
		{"echo hi >> notes.md", "write:echo hi"},
		{"npm install", "install:npm install"},
		{"pip install -r requirements.txt", "install:pip install -r requirements.txt"},
		{"sudo apt-get install -y jq", "install:apt-get install -y jq"},
		{"# just a comment\n\n", ""},
		{"for f in *.go; do go vet $f; done", "noise~ | lint:go vet '$f'~ | noise"},
		{"if go test ./...; then echo ok; fi", "test:go test ./...~ | noise~ | noise"},
		{"(cd web && npm test)", "test:npm test (in web)"},
		{"docker compose up -d", "other:docker compose up -d"},
		{"curl -s http://localhost:8080/health", "noise"},
		{"", ""},
		{"'", "noise"},
		{"a \\", "other:a"},
		{"$(", "noise"},
	}
	for _, tt := range tests {
		if got := describe(tt.line); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestCovers(t *testing.T) {
	failed := failure{tests: []string{"TestSlide"}, file: "window/window_test.go", packages: []string{"example.com/window"}}
	tests := []struct {
		fail, pass string
		f          failure
		want       bool
	}{
		{"go test ./...", "go test ./...", failed, true},
		{"go test ./...", "go test ./window", failed, true},
		{"go test ./...", "go test ./other", failed, false},
		{"go test ./window", "go test ./...", failed, true},
		{"go test ./...", "go test -run TestSlide ./window", failed, true},
		{"go test ./...", "go test -run TestOther ./window", failed, false},
		{"go build ./...", "go test ./...", failure{}, true},
		{"go vet ./...", "go test ./...", failure{}, true},
		{"go test ./...", "go build ./...", failed, false},
		{"npm test", "npx jest", failure{}, true},
		{"npm test", "pytest", failure{}, false},
		{"make test", "go test ./...", failure{}, true},
		{"npx tsc --noEmit", "npx jest", failure{}, false},
		{"npx eslint .", "npx tsc", failure{}, false},
		{"pytest tests/test_a.py", "pytest", failure{}, true},
		{"pytest", "pytest tests/test_a.py", failure{tests: []string{"test_x"}, file: "tests/test_a.py"}, true},
		{"pytest", "pytest tests/test_b.py", failure{tests: []string{"test_x"}, file: "tests/test_a.py"}, false},
		{"cargo build", "cargo test", failure{}, true},
		{"python app.py", "python app.py", failure{}, true},
		{"python app.py", "python other.py", failure{}, false},
		{"go run . docs/*.md", "go run . docs/*.md", failure{}, true},
		{"./check.sh", "./check.sh --fast", failure{}, true},
		{"mytool sync", "mytool list", failure{}, false},
	}
	for _, tt := range tests {
		fail := &check{part: &parseCommand(tt.fail)[0], failure: tt.f}
		pass := &check{part: &parseCommand(tt.pass)[0], passed: true}
		if got := covers(pass, fail); got != tt.want {
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
		for _, p := range parseCommand(tt.line) {
			if p.kind != kindCommit {
				continue
			}
			subject, body := commitMessage(&p, tt.line, tt.output)
			if subject != tt.subject || body != tt.body {
				t.Errorf("%q: got %q, %q, want %q, %q", tt.line, subject, body, tt.subject, tt.body)
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"go get github.com/a/b@v1.2.3", []string{"Added dependency github.com/a/b@v1.2.3 (go)"}},
		{"go get github.com/a/b@none", []string{"Removed dependency github.com/a/b (go)"}},
		{"go mod tidy", nil},
		{"npm install", nil},
		{"npm ci", nil},
		{"npm install --save-dev jest @types/jest", []string{"Added dependency jest, @types/jest (npm)"}},
		{"npm uninstall left-pad --no-audit", []string{"Removed dependency left-pad (npm)"}},
		{"pip install -r requirements.txt", nil},
		{"pip install requests==2.31", []string{"Added dependency requests==2.31 (pip)"}},
		{"python3 -m pip install requests", []string{"Added dependency requests (python3)"}},
		{"uv pip install ruff", []string{"Added dependency ruff (uv)"}},
		{"cargo add serde --features derive", []string{"Added dependency serde, derive (cargo)"}},
		{"apt-get install -y jq", []string{"Installed on the system: jq (apt-get)"}},
		{"npm i .", nil},
	}
	for _, tt := range tests {
		p := parseCommand(tt.line)[0]
		if diff := cmp.Diff(tt.want, dependency(&p)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestManifestEntries(t *testing.T) {
	tests := []struct{ line, name, version string }{
		{"\tgithub.com/a/b v1.2.3 // indirect", "github.com/a/b", "v1.2.3"},
		{`    "express": "^4.18.2",`, "express", "^4.18.2"},
		{`serde = "1.0"`, "serde", "1.0"},
		{"requests==2.31.0", "requests", "2.31.0"},
		{`  "version": "1.0.0",`, "", ""},
		{`  "name": "thing",`, "", ""},
		{"go 1.22", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if name, version := manifestEntry(tt.line); name != tt.name || version != tt.version {
			t.Errorf("%q: got %q %q, want %q %q", tt.line, name, version, tt.name, tt.version)
		}
	}
}
