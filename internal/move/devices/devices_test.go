package devices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"

	"github.com/google/go-cmp/cmp"
)

// machine is a data directory with a memory.
type machine struct {
	t       testing.TB
	dir     string
	project string
	store   *store.Store
	options Options
}

// newMachine returns a machine on which the project has a directory of its own.
func newMachine(t testing.TB, name string) *machine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, project: "/home/" + name + "/tally"}
	m.open()
	t.Cleanup(func() { _ = m.store.Close() })
	m.options = Options{Options: joined.Options{DataDir: dir, Now: func() memory.Millis { return 1 }, Identify: func(project string) string {
		if project == m.project {
			return "github.com/ada/tally"
		}
		return ""
	}, Sharing: care.Sharing{Redact: func(p *memory.Portable) bool {
		if o := p.Observation; o != nil {
			o.Title = strings.ReplaceAll(o.Title, "hunter2", "***")
		}
		return true
	}}}}
	return m
}

func (m *machine) open() {
	m.t.Helper()
	s, err := store.Open(m.t.Context(), filepath.Join(m.dir, "memory.db"), store.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.store = s
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) remember(title string) memory.ObservationID {
	m.t.Helper()
	o, err := m.store.AddObservation(m.t.Context(), memory.NewObservation{ProjectPath: m.project, Title: title, Narrative: "narrative of " + title, CreatedAt: 1_790_000_000_000,
		Files: []memory.FileRef{{Path: "src/" + title + ".go"}}})
	m.must(err)
	return o.ID
}

// find returns the number of an observation, hidden ones too, by the beginning of its title.
func (m *machine) find(title string) memory.ObservationID {
	m.t.Helper()
	all, err := m.store.Observations(m.t.Context(), memory.Query{})
	m.must(err)
	for i := range all {
		if strings.HasPrefix(all[i].Title, title) {
			return all[i].ID
		}
	}
	return 0
}

func (m *machine) edit(title, to string) {
	m.t.Helper()
	if _, err := m.store.EditObservation(m.t.Context(), m.find(title), memory.ObservationEdit{Title: &to}); err != nil && memory.CodeOf(err) != memory.CodeConflict {
		m.t.Fatal(err)
	}
}

func (m *machine) forget(title string) {
	m.t.Helper()
	_, err := m.store.Forget(m.t.Context(), memory.Forgetting{Observations: []memory.ObservationID{m.find(title)}}, func(*care.Erasure) error { return nil })
	m.must(err)
}

func (m *machine) sync() Report {
	m.t.Helper()
	r, err := Sync(m.t.Context(), m.store, m.options)
	m.must(err)
	return r
}

// canonical returns what the devices have in common of the memory.
func (m *machine) canonical() string {
	m.t.Helper()
	c, err := Load(m.dir)
	m.must(err)
	identity, err := m.store.Identities(m.t.Context(), c.Device())
	m.must(err)
	var lines []string
	_, err = m.store.Export(m.t.Context(), memory.ExportFilter{}, func(int) error { return nil }, func(p *memory.Portable) error {
		if care.Canonical(p, identity) {
			line, err := json.Marshal(p)
			lines = append(lines, string(line))
			return err
		}
		return nil
	})
	m.must(err)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// share has machines share one folder each, or all the first one's.
func share(t testing.TB, machines ...*machine) (folder string, sheet string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "folder")
	words, err := Init(t.Context(), machines[0].dir, Place{Folder: folder}, "first")
	if err != nil {
		t.Fatal(err)
	}
	machines[0].sync()
	for i, m := range machines[1:] {
		m.must(Join(t.Context(), m.dir, Place{Folder: folder}, fmt.Sprint("machine ", i+2), strings.Join(words, " ")))
		m.sync()
	}
	return folder, strings.Join(words, " ")
}

// same fails unless all machines have the same memory.
func same(t *testing.T, machines ...*machine) {
	t.Helper()
	want := strings.Split(machines[0].canonical(), "\n")
	for _, m := range machines[1:] {
		if diff := cmp.Diff(want, strings.Split(m.canonical(), "\n")); diff != "" {
			t.Fatalf("%s and %s differ:\n%.3000s", machines[0].dir, m.dir, diff)
		}
	}
}

func rounds(n int, machines ...*machine) {
	for range n {
		for _, m := range machines {
			m.sync()
		}
	}
}

// TestShare: two machines have the records of both, equal ones once, edits of both in any order, and nothing that was forgotten on one.
func TestShare(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	for _, m := range []*machine{a, b} {
		m.remember("common")
		m.remember("of " + filepath.Base(m.dir))
		_, err := m.store.AddLearning(t.Context(), memory.Learning{ProjectPath: m.project, Category: "workflow", Content: "Run make lint", Confidence: 1})
		m.must(err)
	}
	for _, title := range []string{"hidden", "pinned", "gone", "edited", "seen hunter2"} {
		a.remember(title)
	}
	share(t, a, b)
	rounds(2, a, b)
	all, err := b.store.Observations(t.Context(), memory.Query{})
	b.must(err)
	if len(all) != 8 {
		t.Errorf("%d observations, want 8", len(all))
	}
	for i := range all {
		if all[i].ProjectPath != b.project {
			t.Errorf("%q is of project %q", all[i].Title, all[i].ProjectPath)
		}
		if strings.Contains(all[i].Title, "hunter2") {
			t.Error("what comes is not redacted")
		}
	}

	b.forget("seen ***") // of which the machines have different texts
	rounds(2, a, b)
	same(t, a, b)

	yes := true
	_, err = a.store.HideObservation(t.Context(), a.find("hidden"), false)
	a.must(err)
	b.edit("hidden", "hidden, edited by b") // an edit of its text does not bring it back
	_, err = b.store.EditObservation(t.Context(), b.find("pinned"), memory.ObservationEdit{Pinned: &yes})
	b.must(err)
	b.forget("gone")
	a.edit("gone", "gone, edited by a")
	a.edit("edited", "edited by a")
	b.edit("edited", "edited by b")
	rounds(3, a, b)
	same(t, a, b)
	if a.find("hidden") != 0 || a.find("gone") != 0 || b.find("gone") != 0 {
		t.Error("what was hidden or forgotten is there")
	}
	for _, m := range []*machine{a, b} {
		id := m.find("edited")
		versions, err := m.store.Versions(t.Context(), id)
		m.must(err)
		o, err := m.store.Observation(t.Context(), id)
		m.must(err)
		if len(versions) != 1 || versions[0].Title == o.Title || !strings.HasPrefix(versions[0].Title, "edited by ") {
			t.Errorf("current %q, versions %+v", o.Title, versions)
		}
	}
}

// TestForgottenOnDevices: a machine that was away for long, and has what was forgotten meanwhile, does not bring it back; nor does an import of
// what it was made of.
func TestForgottenOnDevices(t *testing.T) {
	a, b, c := newMachine(t, "ada"), newMachine(t, "bob"), newMachine(t, "eve")
	a.remember("secret plan")
	_, sheet := share(t, a, b)
	b.edit("secret plan", "secret plan, edited") // before it hears of it
	a.forget("secret plan")
	rounds(3, a, b)
	same(t, a, b)
	if a.find("secret") != 0 || b.find("secret") != 0 {
		t.Error("it is back")
	}
	c.remember("other")
	cfg, err := Load(a.dir)
	a.must(err)
	c.must(Join(t.Context(), c.dir, Place{Folder: cfg.Folder}, "c", sheet))
	rounds(2, c, a, b)
	same(t, a, b, c)
}

// TestForgottenLeavesFolder: no file of the folder has what was forgotten, not even encrypted.
func TestForgottenLeavesFolder(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("secret plan")
	a.remember("other")
	folder, sheet := share(t, a, b)
	b.edit("secret plan", "secret plan, edited by b") // so that files of both have it
	rounds(2, b, a)
	s, err := parseWords(sheet)
	a.must(err)
	has := func() (n int) {
		for _, content := range contentOf(t, folder) {
			o, err := open(s, content)
			a.must(err)
			states, err := o.states()
			a.must(err)
			text, err := json.Marshal(states)
			a.must(err)
			n += bytes.Count(text, []byte("secret"))
		}
		return n
	}
	if has() == 0 {
		t.Fatal("no file has it before")
	}
	a.forget("secret")
	rounds(2, a, b)
	if n := has(); n != 0 {
		t.Errorf("it is there %d times", n)
	}
	files := len(contentOf(t, folder))
	rounds(3, a, b)
	if n := len(contentOf(t, folder)); n != files {
		t.Errorf("%d files, and %d after nothing happened", files, n)
	}
	same(t, a, b)
}

// TestRestored: a machine whose memory was put back to an earlier state takes its own later files in, and what it does next is not refused.
func TestRestored(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("first")
	share(t, a, b)
	rounds(2, a, b)
	a.must(a.store.Close())
	path := filepath.Join(a.dir, "memory.db")
	before, err := os.ReadFile(path)
	a.must(err)
	a.open()
	a.remember("later")
	a.sync()
	a.remember("even later")
	a.sync()
	b.sync()
	a.must(a.store.Close())
	a.must(os.WriteFile(path, before, 0o600))
	_ = os.Remove(path + "-wal")
	_ = os.Remove(path + "-shm")
	a.open()
	a.remember("after the restore")
	rounds(3, a, b)
	same(t, a, b)
	if b.find("after the restore") == 0 || a.find("even later") == 0 {
		t.Error("something is lost")
	}
}

// TestFolderFaults: a folder that is gone fails with a hint, and nothing is lost.
func TestFolderFaults(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("first")
	folder, _ := share(t, a, b)
	rounds(2, a, b)
	away := folder + "-away"
	a.must(os.Rename(folder, away))
	a.remember("second")
	_, err := Sync(t.Context(), a.store, a.options)
	var coded *memory.Error
	if memory.CodeOf(err) != memory.CodeStorage || !errors.As(err, &coded) {
		t.Errorf("%v", err)
	}
	status, err := ReadStatus(t.Context(), a.store, a.dir)
	a.must(err)
	if status.Fault == "" || len(status.Devices) != 1 {
		t.Errorf("status %+v", status)
	}
	a.must(os.Rename(away, folder))
	rounds(2, a, b)
	same(t, a, b)
	// Files that the folder has lost are written again.
	for name := range contentOf(t, folder) {
		a.must(os.Remove(filepath.Join(folder, name)))
	}
	rounds(2, a, b)
	c := newMachine(t, "eve")
	cfg, err := Load(a.dir)
	a.must(err)
	s := cfg.current().secret()
	c.must(Join(t.Context(), c.dir, Place{Folder: folder}, "eve", strings.Join(s.words(), " ")))
	c.sync()
	rounds(1, a, b, c)
	same(t, a, b, c)
	a.must(Leave(a.dir))
	if _, err := Sync(t.Context(), a.store, a.options); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// TestFolderStaysSmall: after many small changes the folder has at most about twice what one snapshot has.
func TestFolderStaysSmall(t *testing.T) {
	a := newMachine(t, "ada")
	folder, _ := share(t, a)
	for i := range 3 * mostFiles {
		a.remember(fmt.Sprint("fact ", i))
		a.sync()
	}
	size := func() (n int) {
		for _, content := range contentOf(t, folder) {
			n += len(content)
		}
		return n
	}
	many := size()
	var o own
	a.must(a.store.SharedState(t.Context(), "own", &o))
	o.Anew = true
	a.must(a.store.KeepSharedState(t.Context(), map[string]any{"own": o}))
	a.sync()
	if n := len(contentOf(t, folder)); n > 2 {
		t.Errorf("%d files after a snapshot", n)
	}
	if once := size(); many > 2*once+slackBytes {
		t.Errorf("%d bytes, and %d at once", many, once)
	}
}
