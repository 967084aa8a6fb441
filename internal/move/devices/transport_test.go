package devices

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
)

// broken is a store that fails at a random call, as if the process had died there.
type broken struct {
	*store.Store
	left int
}

var errDied = errors.New("died")

func (b *broken) MarkSent(ctx context.Context, page care.SharedPage, state map[string]any) error {
	if b.left--; b.left == 0 {
		return errDied
	}
	return b.Store.MarkSent(ctx, page, state)
}

func (b *broken) Merge(ctx context.Context, sharing care.Sharing, incoming []memory.Shared, state map[string]any) (added, erased int, err error) {
	if b.left--; b.left == 0 {
		return 0, 0, errDied
	}
	added, erased, err = b.Store.Merge(ctx, sharing, incoming, state)
	if b.left--; b.left == 0 {
		return added, erased, errDied
	}
	return added, erased, err
}

func (b *broken) KeepSharedState(ctx context.Context, state map[string]any) error {
	if b.left <= 0 { // it has died
		return errDied
	}
	return b.Store.KeepSharedState(ctx, state)
}

// TestTransport: three machines, each with a folder of its own, between which a transport loses, delays, cuts and brings back files, do things at
// random and die in between. In the end they have the same, nothing is lost, doubled or back.
func TestTransport(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	machines := []*machine{newMachine(t, "ada"), newMachine(t, "bob"), newMachine(t, "eve")}
	machines[0].remember("first")
	folder, _ := share(t, machines...)
	folders := []string{}
	for _, m := range machines {
		own := filepath.Join(t.TempDir(), "folder")
		m.must(os.Mkdir(own, 0o700))
		for name, content := range contentOf(t, folder) {
			m.must(os.WriteFile(filepath.Join(own, name), content, 0o600))
		}
		c, err := Load(m.dir)
		m.must(err)
		c.Folder = own
		m.must(File.Save(m.dir, c))
		folders = append(folders, own)
	}
	origin := map[string]int{} // who has written a file
	var kept []struct {
		name    string
		content []byte
	}
	carry := func(from, to int, reliable bool) {
		for name, content := range contentOf(t, folders[from]) {
			if owner, known := origin[name]; known && owner != from && !reliable {
				continue
			}
			if _, known := origin[name]; !known {
				origin[name] = from
			}
			if !reliable {
				switch random.IntN(6) {
				case 0:
					continue // lost, or late
				case 1:
					content = content[:random.IntN(len(content)+1)]
				}
			}
			kept = append(kept, struct {
				name    string
				content []byte
			}{name, content})
			if err := os.WriteFile(filepath.Join(folders[to], name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name := range contentOf(t, folders[to]) { // deletions
			if _, err := os.Stat(filepath.Join(folders[origin[name]], name)); errors.Is(err, os.ErrNotExist) && origin[name] == from && (reliable || random.IntN(2) == 0) {
				_ = os.Remove(filepath.Join(folders[to], name))
			}
		}
		if !reliable && len(kept) > 0 && random.IntN(4) == 0 { // an old copy
			old := kept[random.IntN(len(kept))]
			if origin[old.name] != to {
				_ = os.WriteFile(filepath.Join(folders[to], old.name), old.content, 0o600)
			}
		}
	}
	made, forgotten := map[string]bool{"first": true}, map[string]bool{}
	for step := range 250 {
		i := random.IntN(3)
		m := machines[i]
		titles := []string{}
		for title := range made {
			if m.find(title+".") != 0 {
				titles = append(titles, title)
			}
		}
		slices.Sort(titles)
		switch n := random.IntN(10); {
		case n < 3 || len(titles) == 0:
			title := fmt.Sprintf("t%d", step)
			if random.IntN(3) == 0 {
				title = fmt.Sprintf("c%d", random.IntN(10)) // on several of them
			}
			if !forgotten[title] && m.find(title+".") == 0 {
				m.remember(title + ".")
				made[title] = true
			}
		case n == 3:
			title := titles[random.IntN(len(titles))]
			m.edit(title+".", fmt.Sprintf("%s. edited at %d", title, step))
		case n == 4 && strings.HasPrefix(titles[0], "t") && random.IntN(3) == 0:
			m.forget(titles[0] + ".")
			forgotten[titles[0]] = true
		case n == 5:
			pin := random.IntN(2) == 0
			_, err := m.store.EditObservation(t.Context(), m.find(titles[random.IntN(len(titles))]+"."), memory.ObservationEdit{Pinned: &pin})
			m.must(err)
		case n < 8:
			dying := &broken{m.store, 1 + random.IntN(6)}
			_, _ = Sync(t.Context(), dying, m.options) // it may die at any call
		default:
			j := random.IntN(3)
			if i != j {
				carry(i, j, false)
			}
		}
	}
	for range 6 {
		for i := range machines {
			machines[i].sync()
			for j := range machines {
				if i != j {
					carry(i, j, true)
				}
			}
		}
	}
	same(t, machines...)
	for title := range made {
		found := 0
		all, err := machines[0].store.Observations(t.Context(), memory.Query{})
		machines[0].must(err)
		for i := range all {
			if strings.HasPrefix(all[i].Title, title+".") {
				found++
			}
		}
		if title == "first" {
			continue
		}
		if forgotten[title] && found != 0 {
			t.Errorf("%s is back", title)
		}
		if !forgotten[title] && strings.HasPrefix(title, "t") && found != 1 {
			t.Errorf("%s is there %d times", title, found)
		}
	}
}
