package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"claudemem/internal/leaf/settings"
)

// TestAppliesAtOnce: where the worker asks for a setting each time, `config set` does not tell the
// user to restart it.
func TestAppliesAtOnce(t *testing.T) {
	const daemon = "../../internal/run/daemon"
	table, err := os.ReadFile("../../internal/leaf/settings/table.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(Key\w+)\s+= "(\w+)"`).FindAllStringSubmatch(string(table), -1) {
		keys[m[1]] = m[2]
	}
	sources, err := filepath.Glob(daemon + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, path := range sources {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:live|settings)\.get\(\)\.\w+\(settings\.(Key\w+)\)`).FindAllStringSubmatch(string(code), -1) {
			asked++
			if s, ok := settings.Lookup(keys[m[1]]); !ok || !s.AtOnce() {
				t.Errorf("%s asks for %s each time; AtOnce does not list it", filepath.Base(path), m[1])
			}
		}
	}
	if asked < 6 {
		t.Errorf("found %d such places only", asked)
	}
}
