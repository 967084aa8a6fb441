//go:build unix

package history

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/run/recorded"
)

// exitOf returns the exit code of a command's error.
func exitOf(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// writeNote writes a file with one line.
func writeNote(t testing.TB, path, line string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPlan: 7,000 JSON Lines files of other programs are no transcripts, or asked about; none is taken
// without a yes. Above 50 sessions an import asks even where transcripts belong, and so does one of an
// export; an empty folder is an error, and no project has an empty name.
func TestPlan(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	const record = `{"type":"user","message":{"role":"user","content":"hello %[1]d"},"sessionId":"s%[1]d","uuid":"u%[1]d",%[2]s"timestamp":"2024-04-06T10:22:58Z"}`
	foreign := filepath.Join(m.Home, "data")
	for i := range 7000 {
		cwd := ""
		if i%2 == 0 {
			cwd = fmt.Sprintf(`"cwd":"/srv/app%d",`, i%5)
		}
		writeNote(t, filepath.Join(foreign, fmt.Sprint(i%50), fmt.Sprintf("rows-%d.jsonl", i)), fmt.Sprintf(record, i, cwd))
	}
	refused := func(exit int, said string, args ...string) {
		t.Helper()
		out, err := m.Command(args...)
		if got := exitOf(err); got != exit || !strings.Contains(err.Error()+string(out), said) {
			t.Errorf("%q exits %d: %v\nwant %d and %q", args, got, err, exit, said)
		}
		if _, err := os.Stat(filepath.Join(m.Dir, "memory.db")); err == nil && m.QueryOne("SELECT count(*) FROM sessions") != 0 {
			t.Errorf("%q has stored sessions", args)
		}
	}
	refused(6, "3,500 sessions of 5 projects", "import", foreign)
	refused(6, "3,500 that are no transcripts", "import", foreign)
	notes := filepath.Join(m.Home, "notes")
	writeNote(t, filepath.Join(notes, "notes.jsonl"), fmt.Sprintf(record, 1, ""))
	refused(3, "1 that are no transcripts", "import", notes)
	refused(2, "export", "import", filepath.Join(notes, "notes.jsonl"))
	empty := t.TempDir()
	refused(3, "no transcripts in", "import", empty)

	projects := filepath.Join(m.Home, ".claude", "projects")
	for i := range 51 {
		writeNote(t, filepath.Join(projects, "-srv-shop", fmt.Sprintf("s%d.jsonl", i)), fmt.Sprintf(record, i, `"cwd":"/srv/shop",`))
	}
	refused(6, "51 sessions of 1 project", "import", projects)
	m.MustCommand("import", projects, "--since", "1d", "--dry-run")
	if said := m.Answering("import", projects); !strings.Contains(said, "/srv/shop: 51 sessions") || m.QueryOne("SELECT count(*) FROM sessions") != 51 {
		t.Errorf("a yes imports %d sessions: %s", m.QueryOne("SELECT count(*) FROM sessions"), said)
	}
	export := filepath.Join(m.Home, "memory.jsonl")
	m.MustCommand("export", export)
	other := world.NewMemory(t)
	if _, err := other.Command("import", export); exitOf(err) != 6 || !strings.Contains(err.Error(), "51 sessions") {
		t.Errorf("an export of 51 sessions: %v", err)
	}
	piped := exec.Command(world.Binary("claude-mem"), "import", "-")
	piped.Env = other.Env
	file, err := os.Open(export)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	piped.Stdin = file
	if out, err := piped.CombinedOutput(); exitOf(err) != 6 || !strings.Contains(string(out), "--yes") {
		t.Errorf("an export from a pipe: %v %s", err, out)
	}
	other.MustCommand("import", export, "--yes")
	if n := other.QueryOne("SELECT count(*) FROM sessions"); n != 51 {
		t.Errorf("%d sessions of an export", n)
	}
	few := world.NewMemory(t)
	importAsked(few, writeTranscripts(t, few.Home, recorded.Sessions()))
	if n := few.QueryOne("SELECT count(*) FROM sessions WHERE project = ''"); n != 0 {
		t.Errorf("%d sessions have no project", n)
	}
}

// importAsked imports a few sessions from where they belong: nobody is asked.
func importAsked(m *world.Memory, root string) { m.MustCommand("import", root) }
