package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		s := turnsOf(&tell().run(tt.line, "").batch)[0].steps[0]
		if diff := cmp.Diff(tt.want, s.deps); diff != "" {
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
