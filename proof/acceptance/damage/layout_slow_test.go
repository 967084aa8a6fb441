//go:build unix && slow

package damage

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// TestUnknownLayout builds the program with a reader of the full-text index that refuses every
// layout: searches find what they found before, the doctor tells, and nothing is rebuilt.
func TestUnknownLayout(t *testing.T) {
	m := world.NewMemory(t)
	export := filepath.Join(t.TempDir(), "export.jsonl")
	world.WriteExport(t, export, "/src/tally", 0, 1500)
	m.MustCommand("import", "--yes", export)
	m.MustCommand("reindex")
	search := func(command func(args ...string) ([]byte, error)) (titles []string) {
		t.Helper()
		for _, query := range []string{"Total 77 was rounded twice", "amount 1234 summed", "part13.go"} {
			out, err := command("search", "--all", "--json", "--kind", "observation", query)
			if err != nil {
				t.Fatal(err)
			}
			var page struct{ Results []struct{ Title string } }
			if err := json.Unmarshal(out, &page); err != nil || len(page.Results) == 0 {
				t.Fatalf("%q: %v: %s", query, err, out)
			}
			titles = append(titles, page.Results[0].Title)
		}
		return titles
	}
	want := search(m.Command)
	m.MustCommand("worker", "stop")

	source, err := filepath.Abs(world.Root("internal", "keep", "index", "postings", "postings.go"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const refused = "if r.broken {\n\t\treturn nil, sqlite.ErrDamaged"
	if strings.Count(string(code), refused) != 1 {
		t.Fatal("parseStructure has another form")
	}
	dir := t.TempDir()
	changed, overlay, program := filepath.Join(dir, "postings.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "claude-mem")
	content, _ := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	for path, b := range map[string][]byte{changed: []byte(strings.Replace(string(code), "if r.broken {", "if true {", 1)), overlay: content} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, world.Root("cmd", "claude-mem")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := func(args ...string) ([]byte, error) {
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = m.Env, m.Home
		return cmd.Output()
	}
	before, err := os.Stat(filepath.Join(m.Dir, "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(how string) {
		t.Helper()
		for range 3 {
			if got := search(command); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: found %q, want %q", how, got, want)
			}
		}
		report, _ := command("doctor", "--json") // its status is 1 with a finding
		if !strings.Contains(string(report), "index-layout") {
			t.Errorf("%s: the doctor does not tell: %s", how, report)
		}
		if after, err := os.Stat(filepath.Join(m.Dir, "index.db")); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: the index was rebuilt: %v", how, err)
		}
	}
	check("without a worker")
	if _, err := command("worker", "start"); err != nil {
		t.Fatal(err)
	}
	check("with a worker")
	log, err := os.ReadFile(filepath.Join(m.Dir, "logs", "worker.log"))
	if n := strings.Count(string(log), "has a layout that this version does not know"); err != nil || n != 1 {
		t.Errorf("%d warnings in the log, %v", n, err)
	}
	if _, err := command("worker", "stop"); err != nil {
		t.Fatal(err)
	}
	world.Figure(t, 4, "with an unknown layout 9 of 9 searches find the same record with and without a worker, the doctor tells, 0 rebuilds")
}
