package house

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateNotice = flag.Bool("update", false, "rewrite the licences in NOTICE")

// noticeMark begins the generated part of NOTICE.
const noticeMark = "\nThe modules that the binaries link, and their licences\n"

// systems are the operating systems that there are binaries for.
var systems = []string{"linux", "darwin", "windows"}

// TestNotice compares NOTICE with the licences of the modules that the commands link on any
// system: each with its version and the whole text.
func TestNotice(t *testing.T) {
	inRoot(t)
	b, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	own, got, ok := strings.Cut(string(b), noticeMark)
	if !ok {
		t.Fatalf("NOTICE has no line %q", strings.TrimSpace(noticeMark))
	}
	want := licences(t, linkedModules(t))
	if *updateNotice {
		if err := os.WriteFile("NOTICE", []byte(own+noticeMark+want), 0o644); err != nil { //nolint:gosec // a source file
			t.Fatal(err)
		}
		return
	}
	if got != want {
		for line := range strings.Lines(want) {
			if strings.TrimSpace(line) != "" && !strings.Contains(got, line) {
				t.Fatalf("NOTICE lacks %q; make docs writes it", line)
			}
		}
		t.Error("NOTICE differs from the licences of the linked modules; make docs writes it")
	}
}

// linkedModules returns the directories of the modules that the commands link on any of the
// systems, by "PATH VERSION", and that of Go itself.
func linkedModules(t *testing.T) map[string]string {
	t.Helper()
	modules := map[string]string{}
	list := func(system string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH=amd64")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %q: %v: %s", args, err, stderr.String())
		}
		return string(out)
	}
	for _, system := range systems {
		for line := range strings.Lines(list(system, "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}{{end}}{{end}}`, "./cmd/...")) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "|"); ok {
				modules[name] = dir
			}
		}
	}
	modules["the Go standard library"] = strings.TrimSpace(list(systems[0], "env", "GOROOT"))
	return modules
}

// notLinked are files with licences of what a module's binary does not contain: a logo, and
// the modules of SQLite's tests.
var notLinked = map[string]bool{"LICENSE-LOGO": true, "sqlite/LICENSE-3RD-PARTY.md": true}

// licences returns the list of the modules and the texts of their licences, each text once
// after the names of the modules that have it.
func licences(t *testing.T, modules map[string]string) string {
	t.Helper()
	texts, of := map[string]string{}, map[string][]string{}
	names := slices.Sorted(maps.Keys(modules))
	for _, name := range names {
		path, _, _ := strings.Cut(name, " v")
		files, err := filepath.Glob(filepath.Join(modules[name], "LICEN[SC]E*"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no licence: %v", name, err)
		}
		notices, err := filepath.Glob(filepath.Join(modules[name], "NOTICE*"))
		if err != nil {
			t.Error(err)
		}
		files = append(files, notices...)
		for _, file := range files {
			base := filepath.Base(file)
			if notLinked[base] || notLinked[filepath.Base(path)+"/"+base] {
				continue
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
			key := strings.Join(strings.Fields(text), " ") // the same but for its lines
			texts[key] = text
			of[key] = append(of[key], name)
		}
	}
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "\n  %s", name)
	}
	out.WriteString("\n")
	keys := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		if c := slices.Compare(of[a], of[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(of[key], "\n"), texts[key])
	}
	return out.String()
}
