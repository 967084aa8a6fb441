//go:build unix

package team_test

import (
	"context"
	"fmt"
	"testing"

	"claudemem/proof/postgres"

	"github.com/jackc/pgx/v5"
)

// tryAs runs a statement as a role, and returns its error.
func tryAs(t *testing.T, s *postgres.Server, role, statement string) error {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.Address(role))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

func count(t *testing.T, s *postgres.Server, role, query string) (n int) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.Address(role))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSchema(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	share := func(project, key string) string {
		return fmt.Sprintf(`INSERT INTO claude_mem.record (kind, key, project, state) VALUES ('observation', '%s', '%s', '{"a": 1}')`, key, project)
	}
	s.Exec("postgres", "SET ROLE claude_mem_owner; INSERT INTO claude_mem.access VALUES ('p/secret', 'alice')")
	s.Exec("alice", share("p/open", "k1")+";"+share("p/secret", "k2"))
	if n := count(t, s, "alice", "SELECT count(*) FROM claude_mem.record"); n != 2 {
		t.Errorf("alice sees %d", n)
	}
	for _, role := range []string{"bob", "carol_reads"} {
		if n := count(t, s, role, "SELECT count(*) FROM claude_mem.record"); n != 1 {
			t.Errorf("%s sees %d", role, n)
		}
		if n := count(t, s, role, "SELECT count(*) FROM claude_mem.audit"); n != 1 {
			t.Errorf("%s sees %d acts", role, n)
		}
	}
	for _, bad := range []struct{ role, statement string }{
		{"bob", share("p/secret", "k3")},
		{"bob", `INSERT INTO claude_mem.record (member, kind, key, project, state) VALUES ('alice', 'observation', 'k4', 'p/open', '{}')`},
		{"bob", `INSERT INTO claude_mem.record (kind, key, project, edit, state) VALUES ('observation', 'k2', 'p/secret', true, '{}')`},
		{"bob", `INSERT INTO claude_mem.record (kind, key, project, edit, state) VALUES ('observation', 'k9', 'p/open', true, '{}')`},
		{"bob", `DELETE FROM claude_mem.record`},
		{"bob", `INSERT INTO claude_mem.audit (member, act, kind, key, project) VALUES ('alice', 'x', 'x', 'x', 'x')`},
		{"bob", `SET ROLE claude_mem_owner`},
		{"carol_reads", share("p/open", "k5")},
		{"carol_reads", `INSERT INTO claude_mem.member (seen) VALUES (1)`},
		{"alice", `INSERT INTO claude_mem.record (kind, key, project, state) VALUES ('prompt', 'k6', 'p/open', '{}')`},
		{"alice", `INSERT INTO claude_mem.record (kind, key, project, state) SELECT 'observation', 'k7', 'p/open', json_build_object('a', repeat('x', 300000))`},
	} {
		if err := tryAs(t, s, bad.role, bad.statement); err == nil {
			t.Errorf("%s may: %s", bad.role, bad.statement)
		}
	}
	// Without an error, but nothing is changed.
	if err := tryAs(t, s, "bob", "UPDATE claude_mem.record SET state = '{}'"); err != nil {
		t.Error(err)
	}
	if n := count(t, s, "alice", `SELECT count(*) FROM claude_mem.record WHERE state ->> 'a' = '1'`); n != 2 {
		t.Error("bob has changed a record of alice's")
	}
	// An edit goes with the record that it edits.
	s.Exec("bob", `INSERT INTO claude_mem.record (kind, key, project, edit, state) VALUES ('observation', 'k1', 'p/open', true, '{"b": 1}')`)
	s.Exec("alice", `UPDATE claude_mem.record SET status = 'forgotten', state = NULL WHERE key = 'k1'`)
	if n := count(t, s, "bob", `SELECT count(*) FROM claude_mem.record WHERE status = 'forgotten' AND state IS NULL`); n != 2 {
		t.Errorf("%d of 2 are forgotten", n)
	}
	if err := tryAs(t, s, "alice", `UPDATE claude_mem.record SET status = 'shared', state = '{}' WHERE key = 'k1'`); err == nil {
		t.Error("it came back")
	}
}
