//go:build unix

package teams

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/postgres"
)

// mate is a memory of a member of a team.
type mate struct {
	*world.Memory
	project string
	at      *world.Project
}

// newMember returns a memory in no team, with a clone of a project.
func newMember(t *testing.T) *mate {
	t.Helper()
	m := &mate{Memory: world.NewMemory(t)}
	m.at = world.NewProject(t, m.Memory)
	m.project = m.at.Dir
	m.at.Git("remote", "add", "origin", "git@github.com:acme/shop.git")
	return m
}

// newMate returns a memory that has joined as a role.
func newMate(t *testing.T, s *postgres.Server, role string) *mate {
	t.Helper()
	m := newMember(t)
	m.MustCommand("remember", "Own note. of "+role, "--project", m.project)
	m.MustCommand("team", "join", s.Address(role))
	return m
}

type hit struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Foreign string `json:"foreign"`
	Pinned  bool   `json:"pinned"`
}

func (m *mate) search(words string) []hit {
	var page struct{ Results []hit }
	out, _ := m.Command("search", words, "--all", "--json")
	_ = json.Unmarshal(out, &page)
	return page.Results
}

func (m *mate) find(title string) (found hit) {
	for _, h := range m.search(title) {
		if strings.HasPrefix(h.Title, title) {
			return h
		}
	}
	return hit{}
}

func (m *mate) remember(text string) int {
	m.T.Helper()
	var made hit
	if err := json.Unmarshal(m.MustCommand("remember", text, "--project", m.project, "--type", "decision", "--json"), &made); err != nil {
		m.T.Fatal(err)
	}
	return made.ID
}

// within waits until something holds, and returns how long that took.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !holds() {
		if time.Since(begun) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begun)
}

const patience = 20 * time.Second

// TestShared: three memories of two people. What one shares is in the others' search and block, with its author; edits, pins, unshare and
// forget follow; nothing of what is not shared is in a file of the server, and nothing of what was taken back in its tables.
func TestShared(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a1, a2, b := newMate(t, s, "alice"), newMate(t, s, "alice"), newMate(t, s, "bob")
	for _, m := range []*mate{a1, a2, b} {
		m.MustCommand("worker", "start")
	}
	own := a1.remember("Planted zebrawort. A token that stays with alice")
	id := a1.remember("Use quokkafish for amounts. Floats lose cents")
	preview, err := a1.Command("share", fmt.Sprint(id))
	if err == nil || !strings.Contains(string(preview), "Floats lose cents") {
		t.Fatalf("without a yes: %v, %s", err, preview)
	}
	if b.find("Use quokkafish").ID != 0 {
		t.Fatal("it left without a yes")
	}
	begun := time.Now()
	out := a1.MustCommand("share", fmt.Sprint(id), "--yes")
	if !strings.Contains(string(preview), string(out[:0])) {
		t.Fatal()
	}
	within(t, patience, "bob finds it", func() bool { return b.find("Use quokkafish").ID != 0 })
	world.Figure(t, 1, "bob finds it %d ms after the command began", time.Since(begun).Milliseconds())
	if h := b.find("Use quokkafish"); h.Foreign != "team:alice" {
		t.Errorf("its author is %q", h.Foreign)
	}
	within(t, patience, "alice's other machine finds it", func() bool { return a2.find("Use quokkafish").ID != 0 })
	if h := a2.find("Use quokkafish"); h.Foreign != "" {
		t.Errorf("alice's own record is %q on her other machine", h.Foreign)
	}
	block := string(b.MustCommand("context", "--preview", "--project", b.project))
	if !strings.Contains(block, "from alice: Use quokkafish") {
		t.Errorf("the block says:\n%s", block)
	}
	// What follows.
	begun = time.Now()
	a2.MustCommand("edit", fmt.Sprint(a2.find("Use quokkafish").ID), "--title", "Use quollfish for amounts")
	within(t, patience, "bob has the edit", func() bool { return b.find("Use quollfish").ID != 0 })
	world.Figure(t, 1, "an edit %d ms", time.Since(begun).Milliseconds())
	within(t, patience, "alice has the edit", func() bool { return a1.find("Use quollfish").ID == id })
	a1.MustCommand("pin", fmt.Sprint(id))
	within(t, patience, "bob has the pin", func() bool {
		return strings.Contains(string(b.MustCommand("show", fmt.Sprint(b.find("Use quollfish").ID), "--json")), `"pinned":true`) ||
			strings.Contains(string(b.MustCommand("show", fmt.Sprint(b.find("Use quollfish").ID), "--json")), `"pinned": true`)
	})
	a1.MustCommand("unshare", fmt.Sprint(id))
	within(t, patience, "it is gone from bob's", func() bool { return b.find("Use quollfish").ID == 0 })
	if a1.find("Use quollfish").ID != id {
		t.Error("it is gone from alice's")
	}
	a1.MustCommand("share", fmt.Sprint(id), "--yes")
	within(t, patience, "bob finds it again", func() bool { return b.find("Use quollfish").ID != 0 })
	a1.MustCommand("forget", fmt.Sprint(id), "--yes")
	within(t, patience, "it is forgotten at bob's", func() bool { return b.find("Use quollfish").ID == 0 })
	within(t, patience, "it is forgotten on alice's other machine", func() bool { return a2.find("Use quollfish").ID == 0 })
	_ = own
	s.Exec("postgres", "CHECKPOINT")
	if found := s.Grep("zebrawort", false); len(found) > 0 {
		t.Errorf("what was not shared is in %v", found)
	}
	s.Exec("postgres", "VACUUM")
	s.Exec("postgres", "CHECKPOINT")
	t.Logf("after VACUUM: %d files of tables have the forgotten text", len(s.Grep("quokkafish", true))+len(s.Grep("quollfish", true)))
	s.Exec("postgres", "VACUUM (FULL) claude_mem.record")
	s.Exec("postgres", "CHECKPOINT")
	for _, word := range []string{"quokkafish", "quollfish"} {
		if found := s.Grep(word, true); len(found) > 0 {
			t.Errorf("after VACUUM (FULL) %s is in %v", word, found)
		}
	}
}
