//go:build unix

package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/move/nodedb"
	"claudemem/internal/run/daemon"
	"claudemem/proof/layouts"
)

// TestNodeHistory imports databases of claude-mem for Node of each layout, from its usual place:
// it is said to be there, all rows are accounted for, what is stored is found and shown in its
// project, a second import changes nothing, and its files stay as they are.
func TestNodeHistory(t *testing.T) {
	for _, version := range layouts.Versions {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			m := world.NewMemory(t)
			path := filepath.Join(m.Dir, nodedb.FileName)
			db, err := layouts.Create(path, version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := layouts.Fill(db, version); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before := m.ReadFile(path)
			notice := "claude-mem import " + path
			cmd := exec.Command(world.Binary("claude-mem"), "recent")
			cmd.Env, cmd.Dir = m.Env, m.Home
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), notice) {
				t.Errorf("recent says nothing of it: %s, %v", out, err)
			}
			if out, _ := m.Command("doctor"); !strings.Contains(string(out), "claude-mem import") { // other findings give it another exit code
				t.Errorf("doctor says nothing of it: %s", out)
			}
			if _, err := m.Command("import", "--yes", path, "--dry-run"); err == nil {
				t.Error("the rows that cannot be imported are no error")
			}
			first, second := importNode(m, path), importNode(m, path)
			if first.Done() != first.Rows.Total() || first.Added.Observations == 0 {
				t.Errorf("%+v", first)
			}
			if second.Added.Total() != 0 || second.Done() != first.Rows.Total() {
				t.Errorf("imported again: %+v", second)
			}
			if out := m.MustCommand("recent", "--project", "shop", "-n", "50"); !bytes.Contains(out, []byte("rounded")) {
				t.Errorf("recent shows nothing of it: %s", out)
			}
			found := world.InTime(func(int) string {
				return string(m.MustCommand("search", "cart rounded floats", "--project", "shop", "-n", "1"))
			},
				func(text string) bool { return strings.Contains(text, "#4213") })
			if !strings.Contains(found, "#4213") {
				t.Errorf("search finds %s", found)
			}
			// The first session of the project, before its first event and after it.
			shop := filepath.Join(m.Home, "shop")
			if err := os.Mkdir(shop, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"first", "next"} {
				block := world.InTime(func(n int) string {
					return world.InjectedText(t, m.Send("context", map[string]any{"hook_event_name": "SessionStart", "session_id": fmt.Sprint(when, n), "cwd": shop, "source": "startup"}))
				}, func(text string) bool { return strings.Contains(text, "rounded") })
				if !strings.Contains(block, "rounded") {
					t.Errorf("the %s session in %s gets %s", when, shop, block)
				}
				m.Send("new", map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "live", "cwd": shop, "prompt": "Look at the cart"})
				m.Settle(30 * time.Second)
			}
			if out := m.MustCommand("show", "4213"); !bytes.Contains(out, []byte("Now they are cents")) {
				t.Errorf("4213 is %s", out)
			}
			if out, _ := m.Command("doctor"); strings.Contains(string(out), "claude-mem import") {
				t.Errorf("doctor still says that it is there: %s", out)
			}
			m.EachFile(func(file string, content []byte) {
				if !strings.HasPrefix(file, path) && (bytes.Contains(content, []byte(layouts.Secret)) || bytes.Contains(content, []byte("hunter-two"))) {
					t.Errorf("%s has a secret", file)
				}
			})
			if !bytes.Equal(before, m.ReadFile(path)) {
				t.Error("the database was changed")
			}
			beside, _ := filepath.Glob(path + "-*") // the pattern is valid
			left, _ := filepath.Glob(filepath.Join(m.Dir, "import-*"))
			if len(beside)+len(left) > 0 {
				t.Errorf("files are left: %v %v", beside, left)
			}
			world.Figure(t, 1, "layout %d: %d rows, %d added, %d merged, %d refused with a reason; again: %d added", version, first.Done(), first.Added.Total(), first.Merged, first.Refused, second.Added.Total())
		})
	}
}

// nodeImport is what an import prints.
type nodeImport struct {
	daemon.Importing
	Rows nodedb.Rows `json:"rows"`
}

// importNode imports a database of claude-mem for Node.
func importNode(m *world.Memory, path string) (done nodeImport) {
	m.T.Helper()
	out, _ := m.Command("import", "--yes", path, "--json") // rows that cannot be imported are told by its exit code
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&done); err != nil {
		m.T.Fatalf("%v: %s", err, out)
	}
	return done
}
