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
	"sync/atomic"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/postgres"
)

// The states of a server as a memory sees it by way of a gate.
const (
	open    = iota
	refused // no connection is taken
	slow    // an answer begins after a second, and goes on a byte a millisecond
	gone    // connections are taken, and what is said on them is never answered, those that were open included
)

// gate is a way to a server that the test has in its hands.
type gate struct {
	t      *testing.T
	server *postgres.Server
	dir    string
	listen net.Listener
	state  atomic.Int32
	// taken counts connections that were taken since the state was set.
	taken atomic.Int32
}

func newGate(t *testing.T, s *postgres.Server) *gate {
	g := &gate{t: t, server: s, dir: t.TempDir()}
	var err error
	if g.listen, err = net.Listen("unix", filepath.Join(g.dir, ".s.PGSQL.5432")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.listen.Close() })
	go func() {
		for {
			in, err := g.listen.Accept()
			if err != nil {
				return
			}
			g.taken.Add(1)
			go g.carry(in)
		}
	}()
	return g
}

func (g *gate) address(role string) string {
	return fmt.Sprintf("host=%s port=5432 user=%s dbname=postgres", g.dir, role)
}

func (g *gate) set(state int32) {
	g.taken.Store(0)
	if g.state.Store(state); state == refused {
		_ = g.listen.Close() // no later Accept has an error that matters
	}
}

// carry carries what both sides of a connection say.
func (g *gate) carry(in net.Conn) {
	out, err := net.Dial("unix", filepath.Join(g.server.Dir, fmt.Sprintf(".s.PGSQL.%d", g.server.Port)))
	if err != nil {
		_ = in.Close() // the server is away
		return
	}
	g.t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(out, in); done <- struct{}{} }()
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := out.Read(buffer)
			if err != nil {
				break
			}
			switch g.state.Load() {
			case gone:
				continue // it has been said, and is never heard
			case slow:
				time.Sleep(time.Second)
				for i := range n {
					time.Sleep(time.Millisecond)
					if _, err = in.Write(buffer[i : i+1]); err != nil {
						break
					}
				}
			default:
				_, err = in.Write(buffer[:n])
			}
			if err != nil {
				break
			}
		}
		done <- struct{}{}
	}()
	<-done
	_, _ = in.Close(), out.Close()
}

// The operations that are timed.
var operations = []string{"capture", "note", "search", "context"}

// do does an operation on a memory, and returns how long it took.
func (m *mate) do(operation string, round int) time.Duration {
	begun := time.Now()
	switch operation {
	case "capture":
		m.at.Send("UserPromptSubmit", "s1", map[string]any{"prompt": fmt.Sprintf("Round the totals of invoice %d to whole cents.", round)})
	case "note":
		m.remember(fmt.Sprintf("note %d", round))
	case "search":
		m.MustCommand("search", "note", "--all")
	case "context":
		m.MustCommand("context", "--preview", "--project", m.project)
	}
	return time.Since(begun)
}

// TestNothingWaits: memories in a team whose server refuses, is slow, or is gone in the middle capture, note, search and give context as
// fast as one in no team, in one run. All that is noted is to be sent, by a policy. A second memory in no team tells how far two times of the same differ by chance.
func TestNothingWaits(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice")
	names := []string{"in no team", "chance", "away", "slow", "gone"}
	states := map[string]int32{"away": refused, "slow": slow, "gone": gone}
	mates, gates := map[string]*mate{}, map[string]*gate{}
	for _, name := range names {
		m := newMember(t)
		if _, joins := states[name]; joins {
			gates[name] = newGate(t, s)
			m.MustCommand("team", "join", gates[name].address("alice"))
			m.MustCommand("share", "--project", m.project, "--yes")
		}
		m.MustCommand("worker", "start")
		for range 2 {
			for _, operation := range operations {
				m.do(operation, 0)
			}
		}
		mates[name] = m
	}
	for name, g := range gates {
		within(t, patience, "what "+name+" has is sent", func() bool { return mates[name].team().Unsent == 0 })
		g.set(states[name])
	}
	took := map[string]map[string][]time.Duration{}
	for round := range world.Scaled(6, 150) {
		for _, operation := range operations {
			for _, i := range rand.Perm(len(names)) {
				if took[names[i]] == nil {
					took[names[i]] = map[string][]time.Duration{}
				}
				took[names[i]][operation] = append(took[names[i]][operation], mates[names[i]].do(operation, round+1))
			}
		}
	}
	// ratio returns how many times as long a memory takes as those in no team do: of each round, the middle one.
	ratio := func(name, operation string) float64 {
		var list []float64
		for i, one := range took["in no team"][operation] {
			list = append(list, 2*float64(took[name][operation][i])/float64(one+took["chance"][operation][i]))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	noise := 0.0
	for _, operation := range operations {
		noise = max(noise, ratio("chance", operation)-1, ratio("in no team", operation)-1)
	}
	for _, name := range names[1:] {
		text := ""
		for _, operation := range operations {
			r := ratio(name, operation)
			text += fmt.Sprintf(" %s %.3f", operation, r)
			if name != "chance" && r > 1.05+noise && world.Scaled(0, 1) == 1 {
				t.Errorf("with the server %s %s takes %.3f times as long", name, operation, r)
			}
		}
		if name == "chance" {
			world.Figure(t, 7, "two memories in no team, by chance:%s", text)
			continue
		}
		status := mates[name].team()
		// One that is gone is given up after a while only.
		if name == "away" && status.Fault == "" || name != "slow" && status.Unsent == 0 || name != "away" && gates[name].taken.Load() == 0 {
			t.Errorf("with the server %s: it was not: %+v, %d connections", name, status, gates[name].taken.Load())
		}
		world.Figure(t, 7, "with the server %s, times as long as in no team:%s (%d records wait, %d connections)", name, text, status.Unsent, gates[name].taken.Load())
	}
}

// team returns the status of the team.
func (m *mate) team() (status struct {
	Unsent int    `json:"unsent"`
	Fault  string `json:"fault"`
}) {
	if err := json.Unmarshal(m.MustCommand("team", "status", "--json"), &status); err != nil {
		m.T.Fatal(err)
	}
	return status
}
