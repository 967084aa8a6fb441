//go:build unix

package team_test

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/move/team"
)

func TestSearch(t *testing.T) {
	s := hidesSecret(t)
	if _, err := team.Search(t.Context(), t.TempDir(), "bucket", 10); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("in no team: %v", err)
	}
	dir := t.TempDir()
	if _, err := team.Join(t.Context(), dir, s.Address("carol_reads")); err != nil {
		t.Fatal(err)
	}
	alice, bob := login(t, s, "alice"), login(t, s, "bob")
	alice.give("p/open", "limiter", "The limiter has a token bucket", "It refills ten times a second.")
	alice.give("p/secret", "hidden", "The hidden limiter", "")
	find := func(query string) []team.Found {
		t.Helper()
		page, err := team.Search(t.Context(), dir, query, 10)
		if err != nil || page.Results == nil || page.Query != query || page.Limit != 10 {
			t.Fatalf("%s: %+v, %v", query, page, err)
		}
		return page.Results
	}
	got := find("limiter bucket")
	if len(got) != 1 || got[0].Score <= 0 {
		t.Fatalf("%+v", got)
	}
	got[0].Score = 0
	if want := (team.Found{Member: "alice", Writer: "alice", Project: "p/open", Kind: "observation", Key: "limiter", Title: "The limiter has a token bucket", Text: "It refills ten times a second."}); got[0] != want {
		t.Errorf("%+v, not %+v", got[0], want)
	}
	if got := find("nowhere"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// The text of the highest revision counts, and nobody writes in another's name.
	edit := func(device, title string) {
		state := strings.ReplaceAll(string(stateOf("x", title, "")), `"n":1,"d":"x:0001"`, `"n":7,"d":"`+device+`"`)
		bob.text(`INSERT INTO claude_mem.record (kind, key, project, edit, state) VALUES ('observation', 'limiter', 'p/open', true, $1::text::json)
			ON CONFLICT (member, kind, key) DO UPDATE SET state = excluded.state`, state)
	}
	edit("alice:0001", "Forged")
	if got := find("token bucket"); len(got) != 1 || got[0].Title != "The limiter has a token bucket" || got[0].Writer != "alice" {
		t.Errorf("%+v", got)
	}
	edit("bob:0001", "The limiter has a leaky bucket")
	if got := find("token bucket"); len(got) != 1 || got[0].Title != "The limiter has a leaky bucket" || got[0].Writer != "bob" || got[0].Member != "alice" {
		t.Errorf("%+v", got)
	}
	for query, limit := range map[string]int{" ": 10, "bucket": 0, "limiter": 101} {
		if _, err := team.Search(t.Context(), dir, query, limit); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%q %d: %v", query, limit, err)
		}
	}
	s.Stop(syscall.SIGQUIT)
	if _, err := team.Search(t.Context(), dir, "bucket", 10); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("the server is away: %v", err)
	}
}

// TestSearchMute asks a server that takes the connection and says nothing.
func TestSearchMute(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the test is over
	dir := t.TempDir()
	c := team.Config{Team: "t", Member: "alice", Address: "postgres://alice@" + l.Addr().String() + "/team?sslmode=disable"}
	if err := c.Save(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := team.Search(ctx, dir, "bucket", 10); memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
}

// TestSearchLooksUp has the server plan how to read what a search has found, by the rights of a member:
// it must not read every record, as it would if the policy came first.
func TestSearchLooksUp(t *testing.T) {
	alice := login(t, hidesSecret(t), "alice")
	if _, err := alice.Exec(t.Context(), "SET enable_seqscan = off"); err != nil { // of few records all would be read
		t.Fatal(err)
	}
	plan := alice.text("EXPLAIN (FORMAT JSON) " + strings.ReplaceAll(team.ChosenRecords, "$1", `'[["observation","k"]]'`))
	if !strings.Contains(plan, "Index Cond:") {
		t.Error(plan)
	}
}
