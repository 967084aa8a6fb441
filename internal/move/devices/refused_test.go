package devices

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// files of a folder that a machine knows nothing of.
func contentOf(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	names, err := files(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = content
	}
	return all
}

// TestRefused: a changed, cut, swapped, old or foreign file is refused and told once, and the others are taken in.
func TestRefused(t *testing.T) {
	a := newMachine(t, "ada")
	a.remember("planted words")
	folder, sheet := share(t, a)
	first := contentOf(t, folder)
	a.remember("more")
	a.sync()
	all := contentOf(t, folder)
	for name, content := range all {
		for _, planted := range []string{"planted", "tally", a.dir} {
			if bytes.Contains(content, []byte(planted)) || strings.Contains(name, planted) {
				t.Errorf("%q is in %s", planted, name)
			}
		}
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	stranger := newMachine(t, "eve")
	stranger.remember("of a stranger")
	strange := filepath.Join(t.TempDir(), "strange")
	if _, err := Init(t.Context(), stranger.dir, Place{Folder: strange}, "eve"); err != nil {
		t.Fatal(err)
	}
	stranger.sync()
	var foreign []byte
	for _, content := range contentOf(t, strange) {
		foreign = content
	}
	s, err := parseWords(sheet)
	a.must(err)
	cfg, err := Load(a.dir)
	a.must(err)
	other, err := newConfig(Place{Folder: folder}, "other")
	a.must(err)
	forged, err := seal(s, other.key(), &Header{Memory: cfg.Memory, Device: cfg.Device(), Epoch: 1, Number: 99, Live: []int{99}}, nil)
	a.must(err)
	elsewhere, err := seal(s, other.key(), &Header{Memory: "another", Device: other.Device(), Epoch: 1, Number: 1, Live: []int{1}}, nil)
	a.must(err)
	cases := map[string]struct {
		change func(put func(name string, content []byte))
		want   string
	}{
		"cut":      {func(put func(string, []byte)) { put(names[0], all[names[0]][:len(all[names[0]])/2]) }, "changed"},
		"empty":    {func(put func(string, []byte)) { put(names[0], nil) }, "changed"},
		"swapped":  {func(put func(string, []byte)) { put(names[0], all[names[1]]); put(names[1], all[names[0]]) }, "another file"},
		"copied":   {func(put func(string, []byte)) { put("0123.cm", all[names[0]]) }, "another file"},
		"stranger": {func(put func(string, []byte)) { put("0123.cm", foreign) }, "another memory"},
		"forged":   {func(put func(string, []byte)) { put(s.names().of(cfg.Device(), 99), forged) }, "another device"},
		"memory":   {func(put func(string, []byte)) { put(s.names().of(other.Device(), 1), elsewhere) }, "another memory"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "copy")
			put := func(name string, content []byte) {
				if err := os.WriteFile(filepath.Join(copied, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(copied, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, content := range all {
				put(name, content)
			}
			m := newMachine(t, "bob")
			m.must(Join(t.Context(), m.dir, Place{Folder: copied}, "bob", sheet))
			tt.change(put)
			r := m.sync()
			if !slices.ContainsFunc(r.Refused, func(r Refused) bool { return strings.Contains(r.Reason, tt.want) }) {
				t.Errorf("refused %+v, want %q", r.Refused, tt.want)
			}
			if again := m.sync(); len(again.Refused) > 0 {
				t.Errorf("told twice: %+v", again.Refused)
			}
			for name, content := range all {
				put(name, content)
			}
			m.sync()
			if m.find("planted") == 0 || m.find("more") == 0 || m.find("of a stranger") != 0 {
				t.Error("once the files are right, all of them are to be taken in")
			}
		})
	}
	t.Run("old copy", func(t *testing.T) {
		b := newMachine(t, "bob")
		b.must(Join(t.Context(), b.dir, Place{Folder: folder}, "bob", sheet))
		b.sync()
		var o own
		a.must(a.store.SharedState(t.Context(), "own", &o))
		o.Anew = true // as after many files
		a.must(a.store.KeepSharedState(t.Context(), map[string]any{"own": o}))
		a.sync()
		b.sync()
		for name, content := range first {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r := b.sync(); len(r.Refused) == 0 || r.Refused[0].Reason != errReplaced.Error() {
			t.Errorf("refused %+v", r.Refused)
		}
		a.sync()
		for name := range first {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				t.Error("its device does not delete it")
			}
		}
		same(t, a, b)
	})
}

// TestRefusedEachFile: one byte changed in each file of a folder in turn: that file is refused and told, the records of the others are
// taken in, and its own once it is right again.
func TestRefusedEachFile(t *testing.T) {
	a := newMachine(t, "ada")
	folder, sheet := share(t, a)
	const records = 6
	for i := range records {
		a.remember(fmt.Sprintf("fact %d.", i))
		a.sync()
	}
	all, cfg := contentOf(t, folder), func() *Config { c, err := Load(a.dir); a.must(err); return c }()
	if len(all) < records {
		t.Fatalf("%d files", len(all))
	}
	for name, content := range all {
		copied := t.TempDir()
		for other, content := range all {
			a.must(os.WriteFile(filepath.Join(copied, other), content, 0o600))
		}
		b := newMachine(t, "bob")
		b.must(Join(t.Context(), b.dir, Place{Folder: copied}, "bob", sheet))
		o, err := open(cfg.current().secret(), content)
		a.must(err)
		states, err := o.states()
		a.must(err)
		missing := ""
		for i := range states {
			for n := range records {
				if title := fmt.Sprintf("fact %d.", n); states[i].Kind == "observation" && strings.Contains(string(states[i].Fields[memory.FieldText].Value), title) {
					missing = title
				}
			}
		}
		changed := bytes.Clone(content)
		changed[rand.IntN(len(changed))] ^= 1 << rand.IntN(8)
		a.must(os.WriteFile(filepath.Join(copied, name), changed, 0o600))
		if r := b.sync(); len(r.Refused) != 1 || r.Refused[0].Name != name {
			t.Errorf("refused %+v, want %s", r.Refused, name)
		}
		if r := b.sync(); len(r.Refused) != 0 {
			t.Errorf("told twice: %+v", r.Refused)
		}
		for n := range records {
			title := fmt.Sprintf("fact %d.", n)
			if there := b.find(title) != 0; there == (title == missing) {
				t.Errorf("%q is there: %v, with the file of %q changed", title, there, missing)
			}
		}
		a.must(os.WriteFile(filepath.Join(copied, name), content, 0o600))
		b.sync()
		same(t, a, b)
	}
}

// TestRekey: what is written with the old words is refused, and what is new cannot be read with them.
func TestRekey(t *testing.T) {
	a, b, lost := newMachine(t, "ada"), newMachine(t, "bob"), newMachine(t, "eve")
	a.remember("first")
	folder, sheet := share(t, a, b, lost)
	rounds(2, a, b, lost)
	r, err := Rekey(t.Context(), a.store, a.options)
	a.must(err)
	a.remember("after")
	a.sync()
	b.remember("of b meanwhile")
	b.sync()
	lost.remember("of the lost one")
	lost.sync()
	if lost.find("after") != 0 {
		t.Error("the lost machine reads what is new")
	}
	if refused := a.sync().Refused; len(refused) != 2 || !strings.Contains(refused[0].Reason, "old words") {
		t.Errorf("refused %+v", refused)
	}
	if memory.CodeOf(Join(t.Context(), b.dir, Place{Folder: folder}, "bob", strings.Join(r.Words[1:], " ")+" dito")) != memory.CodeInvalid {
		t.Error("wrong words are taken")
	}
	b.must(Join(t.Context(), b.dir, Place{Folder: folder}, "bob", strings.Join(r.Words, " ")))
	rounds(2, b, a)
	same(t, a, b)
	if a.find("of the lost") != 0 || a.find("of b meanwhile") == 0 || b.find("after") == 0 {
		t.Error("the remaining two do not have what they wrote")
	}
	old, err := parseWords(sheet)
	a.must(err)
	cfg, err := Load(a.dir)
	a.must(err)
	for name, content := range contentOf(t, folder) {
		if o, err := open(old, content); err == nil && o.Device != "" {
			if c, _ := Load(lost.dir); o.Device != c.Device() {
				t.Errorf("%s of %s can be read with the old words (this is %s)", name, o.Device, cfg.Device())
			}
		}
	}
}

// TestRekeyFault: the new words are told when the folder goes away after they were made, and hold when it is back.
func TestRekeyFault(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("first")
	folder, _ := share(t, a, b)
	rounds(2, a, b)
	looks, identify := 0, a.options.Identify
	a.options.Identify = func(project string) string {
		if looks++; looks == 2 { // once for the sync before the new words, once after them
			a.must(os.Rename(folder, folder+"-away"))
		}
		return identify(project)
	}
	r, err := Rekey(t.Context(), a.store, a.options)
	a.must(err)
	if len(r.Words) != Words || r.Fault == "" {
		t.Fatalf("%d words, fault %q", len(r.Words), r.Fault)
	}
	a.must(os.Rename(folder+"-away", folder))
	a.remember("after")
	a.sync()
	b.must(Join(t.Context(), b.dir, Place{Folder: folder}, "bob", strings.Join(r.Words, " ")))
	b.sync()
	if b.find("after") == 0 {
		t.Error("the new words do not open what was written after the folder was back")
	}
}

// TestRetire: what a retired machine writes is refused by all.
func TestRetire(t *testing.T) {
	a, b, c := newMachine(t, "ada"), newMachine(t, "bob"), newMachine(t, "eve")
	a.remember("first")
	folder, sheet := share(t, a, b, c)
	rounds(2, a, b, c)
	cfg, err := Load(c.dir)
	c.must(err)
	if _, err := Retire(t.Context(), a.store, a.options, "nobody"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("%v", err)
	}
	_, err = Retire(t.Context(), a.store, a.options, cfg.Device())
	a.must(err)
	b.sync()
	c.remember("of the retired")
	c.sync()
	rounds(2, a, b)
	if a.find("of the retired") != 0 || b.find("of the retired") != 0 {
		t.Error("it is taken in")
	}
	same(t, a, b)

	// One that has just joined is found by what it is called; one of two that are called the same by its id alone.
	d, e := newMachine(t, "dan"), newMachine(t, "kim")
	for _, m := range []*machine{d, e} {
		m.must(Join(t.Context(), m.dir, Place{Folder: folder}, "laptop", sheet))
	}
	d.sync()
	_, err = Retire(t.Context(), b.store, b.options, "laptop")
	b.must(err)
	e.sync()
	f := newMachine(t, "lee")
	f.must(Join(t.Context(), f.dir, Place{Folder: folder}, "laptop", sheet))
	f.sync()
	b.sync()
	if _, err := Retire(t.Context(), b.store, b.options, "laptop"); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("one of two laptops is retired: %v", err)
	}
	for m, want := range map[*machine]int{d: 0, e: 1, f: 1} {
		title := "of " + filepath.Base(m.dir)
		m.remember(title)
		m.sync()
		b.sync()
		if got := b.find(title); (got != 0) != (want != 0) {
			t.Errorf("%s: found %d, want %d", title, got, want)
		}
	}
}
