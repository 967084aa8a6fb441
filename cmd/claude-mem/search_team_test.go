//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claudemem/internal/move/team"
	"claudemem/proof/postgres"
)

func TestSearchTeam(t *testing.T) {
	env, _ := seeded(t)
	code, _, stderr := command(t, env, "search", "--team", "limiter")
	if code != 3 || !strings.Contains(stderr, "team join") {
		t.Errorf("in no team: %d %s", code, stderr)
	}
	s := postgres.Start(t)
	s.Team("alice")
	state := `{"f": {"text": {"n": 1, "d": "alice:1", "v": {"title": "The limiter \u001b[2J leaks", "narrative": "Two lines,\nnot one."}}}}`
	s.Exec("alice", "INSERT INTO claude_mem.record (kind, key, project, created_at, state) VALUES ('observation', 'k', 'github.com/acme/shop', 1700000000000, '"+strings.ReplaceAll(state, `\n`, `\\n`)+"')")
	in := team.QueryOf("limiter leaks")
	s.Exec("alice", fmt.Sprintf("SELECT claude_mem.index_record(seq, ARRAY[%d, %d], 2, 2, NULL) FROM claude_mem.record", in.Hashes[0], in.Hashes[1]))
	if _, err := team.Join(t.Context(), env["CLAUDE_MEM_DATA_DIR"], s.Address("carol_reads")); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := command(t, env, "search", "--team", "--full", "limiter", "leaks")
	for _, part := range []string{"The limiter", "leaks", "alice", "github.com/acme/shop", "Two lines,"} {
		if !strings.Contains(stdout, part) || strings.Contains(stdout, "\x1b[2J") {
			t.Errorf("%q lacks %q; %s", stdout, part, stderr)
		}
	}
	code, stdout, _ = command(t, env, "search", "--team", "--json", "limiter")
	if wrong := readContract(t).conforms("claude-mem search --team", stdout); code != 0 || len(wrong) > 0 || !strings.Contains(stdout, "alice") {
		t.Errorf("%d %v: %s", code, wrong, stdout)
	}
	long := "limiter x" + strings.Repeat("é", maxQuery) // the last byte that is used is the first one of a letter
	if code, stdout, _ = command(t, env, "search", "--team", "--json", long); code != 0 || !strings.Contains(stdout, "éé") || strings.Contains(stdout, "\uFFFD") || strings.Contains(stdout, `\ufffd`) {
		t.Errorf("a long query: %d %.60q", code, stdout)
	}
	if code, _, stderr = command(t, env, "search", "--team", "--type", "bugfix", "limiter"); code != 2 {
		t.Errorf("with a filter of the local search: %d %s", code, stderr)
	}
	_, before, _ := command(t, env, "search", "--json", "limiter")
	s.Stop(syscall.SIGQUIT)
	code, stdout, stderr = command(t, env, "search", "--team", "limiter")
	if code == 0 || stdout != "" || !strings.Contains(stderr, "connect to the team's server") {
		t.Errorf("the server is away: %d %s %s", code, stdout, stderr)
	}
	if code, after, _ := command(t, env, "search", "--json", "limiter"); code != 0 || after != before {
		t.Errorf("the local search changed: %d\n%s\n%s", code, before, after)
	}
	if left, _ := filepath.Glob(filepath.Join(env["CLAUDE_MEM_DATA_DIR"], "*team*")); len(left) != 1 {
		t.Errorf("there is %v", left)
	}
}
