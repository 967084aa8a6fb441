//go:build unix

package devices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// machine is a memory with a folder of its own, between which and the others a transport carries files.
type machine struct {
	*world.Memory
	folder, project string
}

// run runs a command; its failure is no fault: a record may be gone, or say what another one says.
func (m *machine) run(args ...string) []byte {
	out, _ := m.Command(args...)
	return out
}

// kill starts a sync and kills it after a random time. It reports whether it was still running.
func (m *machine) kill(random *rand.Rand) bool {
	cmd := m.Start("sync", "now")
	time.Sleep(time.Duration(2+random.IntN(40)) * time.Millisecond)
	_ = cmd.Process.Kill()
	var exit *exec.ExitError
	status, _ := func() (syscall.WaitStatus, bool) {
		if errors.As(cmd.Wait(), &exit) {
			status, ok := exit.Sys().(syscall.WaitStatus)
			return status, ok
		}
		return 0, false
	}()
	return status.Signaled()
}

type record struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// records returns the observations that are shown.
func (m *machine) records() []record {
	var page struct{ Results []record }
	_ = json.Unmarshal(m.run("recent", "--all", "-n", "100", "--json"), &page)
	return page.Results
}

// transport carries files from folder to folder. It loses, delays, cuts and brings back some of them.
type transport struct {
	t      *testing.T
	random *rand.Rand
	// origin is who has written a file.
	origin map[string]*machine
	kept   []carried
}

type carried struct {
	name    string
	content []byte
}

func filesOf(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".cm") && !strings.HasPrefix(e.Name(), ".") {
			content, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = content
		}
	}
	return all
}

func (tr *transport) put(to *machine, name string, content []byte) {
	tr.t.Helper()
	if err := os.WriteFile(filepath.Join(to.folder, name), content, 0o600); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *transport) carry(from, to *machine, reliable bool) {
	tr.t.Helper()
	there := filesOf(tr.t, from.folder)
	for name, content := range there {
		if tr.origin[name] == nil {
			tr.origin[name] = from
		}
		if tr.origin[name] != from {
			continue
		}
		tr.kept = append(tr.kept, carried{name, content})
		switch n := tr.random.IntN(6); {
		case reliable:
		case n == 0:
			continue
		case n == 1:
			content = content[:tr.random.IntN(len(content))]
		}
		tr.put(to, name, content)
	}
	for name := range filesOf(tr.t, to.folder) {
		if there[name] == nil && tr.origin[name] == from && (reliable || tr.random.IntN(2) == 0) {
			if err := os.Remove(filepath.Join(to.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				tr.t.Fatal(err)
			}
		}
	}
	if old := tr.kept[tr.random.IntN(len(tr.kept))]; !reliable && tr.origin[old.name] != to && tr.random.IntN(3) == 0 {
		tr.put(to, old.name, old.content)
	}
}

// TestTransport: three machines capture, edit, pin, hide and forget at once, over a transport that loses, delays, cuts and brings back
// files, and each is killed while it syncs. In the end they have the same bytes; nothing is lost, doubled or back from the dead, and no
// file of a folder has a word of it.
func TestTransport(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var machines []*machine
	for range 3 {
		m := &machine{Memory: world.NewMemory(t)}
		m.folder = filepath.Join(m.Home, "folder")
		p := world.NewProject(t, m.Memory)
		m.project = p.Dir
		p.Git("remote", "add", "origin", "git@github.com:ada/planted-name.git")
		machines = append(machines, m)
	}
	a := machines[0]
	a.MustCommand("remember", "x-first. of all", "--project", a.project)
	var made struct{ Words []string }
	if err := json.Unmarshal(a.MustCommand("sync", "init", a.folder, "--json"), &made); err != nil {
		t.Fatal(err)
	}
	for i, m := range machines[1:] {
		if err := os.Mkdir(m.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range filesOf(t, a.folder) {
			if err := os.WriteFile(filepath.Join(m.folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		join := exec.Command(world.Binary("claude-mem"), "sync", "join", m.folder, "--name", fmt.Sprint("machine-", i+2))
		join.Env, join.Dir, join.Stdin = m.Env, m.Home, strings.NewReader(strings.Join(made.Words, " "))
		if out, err := join.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	tr := &transport{t: t, random: random, origin: map[string]*machine{}}
	for name := range filesOf(t, a.folder) {
		tr.origin[name] = a
	}
	kills, written, gone := map[*machine]int{}, map[string]bool{}, map[string]bool{}
	want := world.Scaled(8, 50)
	enough := func() bool {
		return kills[machines[0]] >= want && kills[machines[1]] >= want && kills[machines[2]] >= want
	}
	for step := 0; !enough(); step++ {
		m := machines[random.IntN(3)]
		switch n := random.IntN(14); {
		case n < 3:
			title := fmt.Sprintf("x%d.", step)
			if random.IntN(3) == 0 {
				title = fmt.Sprintf("c%d.", random.IntN(8)) // on several of them
			} else {
				written[title] = true
			}
			m.run("remember", title+" planted words", "--project", m.project)
		case n < 5:
			list := m.records()
			if len(list) == 0 {
				continue
			}
			r := list[random.IntN(len(list))]
			title, _, _ := strings.Cut(r.Title, " ")
			id := fmt.Sprint(r.ID)
			switch random.IntN(5) {
			case 0, 1:
				m.run("edit", id, "--title", fmt.Sprintf("%s edited at %d", title, step))
			case 2:
				m.run([]string{"pin", "unpin"}[random.IntN(2)], id)
			case 3:
				if strings.HasPrefix(title, "x") && random.IntN(3) == 0 {
					m.MustCommand("forget", id, "--yes")
					gone[title] = true
				}
			default:
				if strings.HasPrefix(title, "x") && random.IntN(3) == 0 {
					m.run("hide", id)
					gone[title] = true
				}
			}
		case n == 5:
			m.run("learn", "add", "gotcha", fmt.Sprintf("Learning %d holds.", random.IntN(6)), "--project", m.project)
		case n < 10:
			if m.kill(random) {
				kills[m]++
			}
		case n < 11:
			m.run("sync", "now")
		default:
			if to := machines[random.IntN(3)]; to != m {
				tr.carry(m, to, false)
			}
		}
	}
	for range 7 {
		for _, m := range machines {
			m.MustCommand("sync", "now")
			for _, to := range machines {
				if to != m {
					tr.carry(m, to, true)
				}
			}
		}
	}
	check(t, machines, written, gone)
	world.Figure(t, 1, "%d, %d and %d kills, %d records on each machine, the same bytes", kills[machines[0]], kills[machines[1]], kills[machines[2]], len(machines[0].records()))
}

// check fails unless the machines have the same, with what was written and not what is gone, and their folders say nothing.
func check(t *testing.T, machines []*machine, written, gone map[string]bool) {
	t.Helper()
	common := machines[0].MustCommand("export", "--canonical")
	for _, m := range machines[1:] {
		if got := m.MustCommand("export", "--canonical"); !bytes.Equal(got, common) {
			t.Fatalf("the machines differ:\n%s\n\n%s", common, got)
		}
	}
	count := map[string]int{}
	for _, line := range strings.Split(string(common), "\n") {
		var r struct {
			Observation *struct {
				Title  string `json:"title"`
				Hidden int64  `json:"hidden_at"`
			}
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.Observation != nil && r.Observation.Hidden == 0 {
			title, _, _ := strings.Cut(r.Observation.Title, " ")
			count[title]++
		}
	}
	for title := range written {
		if want := map[bool]int{true: 0, false: 1}[gone[title]]; count[title] != want {
			t.Errorf("%s is there %d times, want %d", title, count[title], want)
		}
	}
	for _, m := range machines {
		for name, content := range filesOf(t, m.folder) {
			for _, planted := range []string{"planted", "Learning", m.Home, "edited at"} {
				if bytes.Contains(content, []byte(planted)) || strings.Contains(name, planted) {
					t.Errorf("%q is in %s", planted, name)
				}
			}
		}
	}
}
