//go:build unix

package teams

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/postgres"
)

// cutter is a proxy to a server, which cuts its connections after a random number of bytes while it is on.
func cutter(t *testing.T, s *postgres.Server, random func(int) int) (address func(role string) string) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial("unix", filepath.Join(s.Dir, fmt.Sprintf(".s.PGSQL.%d", s.Port)))
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				done := make(chan struct{}, 2)
				carry := func(to, from net.Conn) {
					if n := random(8); n < 4 {
						_, _ = io.CopyN(to, from, int64(1<<(8+random(10)))) // cut
					} else {
						_, _ = io.Copy(to, from)
					}
					done <- struct{}{}
				}
				go carry(out, in)
				go carry(in, out)
				<-done
			}()
		}
	}()
	return func(role string) string { return fmt.Sprintf("host=%s port=5432 user=%s dbname=postgres", dir, role) }
}

// titles returns the titles of observations that begin so, sorted.
func (m *mate) titles(prefix string) (list []string) {
	var page struct{ Results []hit }
	_ = json.Unmarshal(m.MustCommand("recent", "--all", "-n", "1000", "--json"), &page)
	for _, h := range page.Results {
		if strings.HasPrefix(h.Title, prefix) {
			list = append(list, h.Title)
		}
	}
	slices.Sort(list)
	return list
}

// TestKilled: two people share, edit, take back and forget while the server is killed, the connection is cut, and the clients are killed.
// In the end both have the same; nothing is lost or doubled.
func TestKilled(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var mates []*mate
	for _, role := range []string{"alice", "bob"} {
		m := newMate(t, s, role)
		through := cutter(t, s, rand.IntN)
		for try := 0; ; try++ { // its connections are cut too
			if _, err := m.Command("team", "join", through(role)); err == nil {
				break
			} else if try == 50 {
				t.Fatal(err)
			}
		}
		mates = append(mates, m)
	}
	rounds, killed, cut := world.Scaled(6, 50), 0, 0
	alive := map[string]bool{}
	for round := range rounds {
		for i, m := range mates {
			for n := range 3 {
				title := fmt.Sprintf("x%d-%d-%d.", i, round, n)
				id := m.remember(title)
				if strings.Contains(string(m.MustCommand("share", fmt.Sprint(id), "--yes", "--json")), `"fault"`) {
					cut++ // it is shared here, and sent later
				}
				alive[title] = true
			}
			if old := m.titles(fmt.Sprintf("x%d-", i)); len(old) > 4 {
				title := old[random.IntN(len(old))]
				h := m.find(title)
				switch random.IntN(3) {
				case 0:
					_, _ = m.Command("edit", fmt.Sprint(h.ID), "--title", title+"e.")
					delete(alive, title)
					alive[title+"e."] = true
				case 1:
					if _, err := m.Command("forget", fmt.Sprint(h.ID), "--yes"); err == nil {
						delete(alive, title)
					}
				}
			}
			cmd := m.Start("team", "pull")
			time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
			if random.IntN(2) == 0 {
				_ = cmd.Process.Kill()
				killed++
			}
			if i == 0 {
				s.Stop(syscall.SIGQUIT)
				_ = cmd.Wait()
				s.Begin()
			} else {
				_ = cmd.Wait()
			}
		}
	}
	for _, m := range mates {
		m.MustCommand("team", "join", s.Address(map[*mate]string{mates[0]: "alice", mates[1]: "bob"}[m]))
	}
	for range 2 {
		for _, m := range mates {
			m.MustCommand("team", "pull")
		}
	}
	want := slices.Sorted(func(yield func(string) bool) {
		for title := range alive {
			if !yield(title) {
				return
			}
		}
	})
	for i, m := range mates {
		if got := m.titles("x"); !slices.Equal(got, want) {
			t.Errorf("%d: %d records, want %d\ngot  %v\nwant %v", i, len(got), len(want), got, want)
		}
	}
	world.Figure(t, 2, "server killed %d times, %d clients killed, %d exchanges of shares cut, %d records on both", rounds, killed, cut, len(want))
}
