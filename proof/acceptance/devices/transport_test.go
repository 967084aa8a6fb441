//go:build unix

package devices

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestTransport: three machines capture, import, edit, pin, hide and forget at once, over a transport that loses, delays, cuts and brings
// back files, and each is killed while it syncs. In the end they have the same bytes; nothing is lost, doubled or back from the dead, and
// no file of a folder has a word of it.
func TestTransport(t *testing.T) {
	f := newFleet(t)
	a := f.machines[0]
	words := f.begin("sync", "init", a.folder, "--name", "planted-machine", "--json")
	for _, m := range f.machines[1:] {
		if err := os.Mkdir(m.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range filesOf(t, a.folder) {
			if err := os.WriteFile(filepath.Join(m.folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.join(words, "planted-machine")
	}
	tr := &transport{t: t, random: f.random, origin: map[string]*machine{}}
	for name := range filesOf(t, a.folder) {
		tr.origin[name] = a
	}
	for f.step = 0; !f.enough(); f.step++ {
		m := f.machines[f.random.IntN(3)]
		switch n := f.random.IntN(14); {
		case n < 6:
			f.change(m)
		case n < 10:
			if m.kill(f.random) {
				f.kills[m]++
			}
		case n < 11:
			m.run("sync", "now")
		default:
			if to := f.machines[f.random.IntN(3)]; to != m {
				tr.carry(m, to, false)
			}
		}
	}
	for range 7 {
		for _, m := range f.machines {
			m.MustCommand("sync", "now")
			for _, to := range f.machines {
				if to != m {
					tr.carry(m, to, true)
				}
			}
		}
	}
	f.check()
	f.figure("over a bad transport")
}

// kill starts a sync and kills it after a random time. It reports whether it was still running.
func (m *machine) kill(random *rand.Rand) bool {
	return m.killed(m.Start("sync", "now"), 2+random.IntN(40))
}
