//go:build unix

package team_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claudemem/proof/postgres"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// session is a connection of a role, with what the server told it.
type session struct {
	*pgx.Conn
	t       *testing.T
	role    string
	notices []string
}

func login(t *testing.T, s *postgres.Server, role string) *session {
	t.Helper()
	own := &session{t: t, role: role}
	cfg, err := pgx.ParseConfig(s.Address(role))
	if err != nil {
		t.Fatal(err)
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { own.notices = append(own.notices, n.Message) }
	if own.Conn, err = pgx.ConnectConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close(context.Background()) }) // the server stops
	return own
}

// try runs a statement in a transaction that is rolled back, and returns the server's error: "" for none.
func (s *session) try(statement string) (code, message string) {
	s.t.Helper()
	_, err := s.PgConn().Exec(s.t.Context(), "BEGIN; "+statement+"; ROLLBACK").ReadAll()
	if _, err := s.Exec(s.t.Context(), "ROLLBACK"); err != nil {
		s.t.Fatal(err)
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code, refused.Message
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return "", ""
}

// text returns what a query returns, its rows as lines.
func (s *session) text(query string, args ...any) string {
	s.t.Helper()
	found, err := s.Query(s.t.Context(), query, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	lines, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return fmt.Sprint(values...), err
	})
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.role, query, err)
	}
	return strings.Join(lines, "\n")
}

func shareSQL(project, key, text string) string {
	return fmt.Sprintf(`INSERT INTO claude_mem.record (kind, key, project, state) VALUES ('observation', '%s', '%s', '{"t": "%s"}')`, key, project, text)
}

// hidesSecret has alice share a record that all see and one in a project that only she sees.
func hidesSecret(t *testing.T) *postgres.Server {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	s.Exec("boss", "CREATE ROLE mallory LOGIN")
	s.Exec("postgres", "SET ROLE claude_mem_owner; INSERT INTO claude_mem.access VALUES ('p/secret', 'alice')")
	s.Exec("alice", shareSQL("p/open", "k-open", "open")+";"+shareSQL("p/secret", "k-secret", "squirrel")+"; INSERT INTO claude_mem.member (seen) VALUES (1)")
	s.Exec("alice", "SELECT claude_mem.index_record(seq, ARRAY[1, 2], 1, 1, NULL) FROM claude_mem.record")
	return s
}

// all are the roles: two who write, one who only reads, one who is nobody here, as PUBLIC.
var all = []string{"alice", "bob", "carol_reads", "mallory"}

func reads(role string) bool  { return role != "mallory" }
func writes(role string) bool { return role == "alice" || role == "bob" }

// TestCells tries each verb on each table and column as each role, and each function.
func TestCells(t *testing.T) {
	s := hidesSecret(t)
	admin := login(t, s, "postgres")
	tables := strings.Fields(admin.text(`SELECT relname FROM pg_class WHERE relnamespace = 'claude_mem'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1`))
	sequences := strings.Fields(admin.text(`SELECT relname FROM pg_class WHERE relnamespace = 'claude_mem'::regnamespace AND relkind = 'S'`))
	open := []string{"access", "audit", "feed", "member", "record", "schema_version"}
	writable := map[string]string{"INSERT member": "seen", "UPDATE member": "seen seen_at", "INSERT record": "kind key project edit status state created_at", "UPDATE record": "status state created_at"}
	if want := slices.Sorted(slices.Values(append([]string{"audience", "frequency", "searched"}, open...))); !slices.Equal(tables, want) {
		t.Fatalf("the tables are %v", tables)
	}
	cells := 0
	for _, role := range all {
		own := login(t, s, role)
		cell := func(statement string, may bool) {
			t.Helper()
			cells++
			code, message := own.try(statement)
			if denied := code == "42501" || code == "0A000" && strings.HasPrefix(statement, "COPY"); denied == may {
				t.Errorf("%s: %s: %s %s", role, statement, code, message)
			}
		}
		for _, table := range tables {
			name := "claude_mem." + table
			cell("SELECT * FROM "+name, reads(role) && slices.Contains(open, table))
			cell("SELECT count(*) FROM "+name, reads(role) && slices.Contains(open, table))
			cell("DELETE FROM "+name, false)
			cell("TRUNCATE "+name, false)
			cell("LOCK TABLE "+name+" IN SHARE MODE", false)
			cell("LOCK TABLE "+name+" IN ACCESS EXCLUSIVE MODE", false)
			cell("ALTER TABLE "+name+" DISABLE ROW LEVEL SECURITY", false)
			cell("CREATE POLICY mine ON "+name+" USING (true)", false)
			cell("CREATE TRIGGER mine AFTER INSERT ON "+name+" EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()", false)
			cell("SET row_security = off; SELECT * FROM "+name, false)
			for _, column := range strings.Fields(admin.text("SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped", name)) {
				of := func(verb string) bool {
					return writes(role) && slices.Contains(strings.Fields(writable[verb+" "+table]), column)
				}
				if table != "member" && table != "record" { // of these the allowed rows are below
					cell(fmt.Sprintf("INSERT INTO %s (%s) VALUES (DEFAULT)", name, column), of("INSERT"))
				}
				cell(fmt.Sprintf("UPDATE %s SET %s = DEFAULT WHERE false", name, column), of("UPDATE"))
				cell(fmt.Sprintf("SELECT %s FROM %s", column, name), reads(role) && slices.Contains(open, table))
			}
			if _, err := own.PgConn().CopyTo(t.Context(), &strings.Builder{}, "COPY "+name+" TO STDOUT"); (err == nil) != (reads(role) && slices.Contains(open, table)) {
				t.Errorf("%s: COPY %s TO: %v", role, name, err)
			}
			if _, err := own.PgConn().CopyFrom(t.Context(), strings.NewReader(""), "COPY "+name+" FROM STDIN"); err == nil {
				t.Errorf("%s: COPY %s FROM", role, name)
			}
			cells += 2
		}
		for _, sequence := range sequences {
			cell("SELECT last_value FROM claude_mem."+sequence, reads(role) && sequence == "record_seq")
			cell("SELECT nextval('claude_mem."+sequence+"')", false)
			cell("SELECT setval('claude_mem."+sequence+"', 1)", false)
		}
		for _, column := range strings.Fields("member kind key project edit status state created_at seq at") {
			value := map[string]string{"member": "'" + role + "'", "edit": "false", "status": "'shared'", "created_at": "1", "seq": "1", "at": "now()"}[column]
			if value != "" {
				cell(fmt.Sprintf(`INSERT INTO claude_mem.record (kind, key, project, state, %s) VALUES ('observation', 'k', 'p/open', '{}', %s)`, column, value), writes(role) && slices.Contains([]string{"edit", "status", "created_at"}, column))
			}
		}
		cell(shareSQL("p/open", "k", "x"), writes(role))
		cell("INSERT INTO claude_mem.member (seen) VALUES (1) ON CONFLICT (name) DO UPDATE SET seen = 2", writes(role))
		cell("INSERT INTO claude_mem.member (name, seen) VALUES ('"+role+"', 1)", false)
		cell("CREATE TABLE claude_mem.mine (x int)", false)
		cell("CREATE FUNCTION claude_mem.hidden(x int) RETURNS int LANGUAGE sql AS 'SELECT 1'", false)
	}
	cells += functionCells(t, s, admin)
	t.Logf("point 3: %d cells", cells)
}

// functionCells calls each function as each role.
func functionCells(t *testing.T, s *postgres.Server, admin *session) (cells int) {
	calls := strings.Split(admin.text(`SELECT format('claude_mem.%s(%s)', proname, (SELECT string_agg('NULL::' || format_type(a, NULL), ', ' ORDER BY n) FROM unnest(proargtypes) WITH ORDINALITY u (a, n)))
		FROM pg_proc WHERE pronamespace = 'claude_mem'::regnamespace ORDER BY proname`), "\n")
	for _, role := range all {
		own := login(t, s, role)
		for _, call := range calls {
			name, _, _ := strings.Cut(strings.TrimPrefix(call, "claude_mem."), "(")
			may := name == "hidden" && reads(role) || name == "search" && reads(role) || name == "index_record" && writes(role)
			if _, message := own.try("SELECT " + call); strings.HasPrefix(message, "permission denied") == may {
				t.Errorf("%s: %s: %s", role, call, message)
			}
			cells++
		}
	}
	if cells < 4*8 {
		t.Errorf("only %d calls", cells)
	}
	return cells
}

// TestNobodyElse has roles pass for others, and for the owner.
func TestNobodyElse(t *testing.T) {
	s := hidesSecret(t)
	if conn, err := pgx.Connect(t.Context(), s.Address("claude_mem_owner")); err == nil {
		_ = conn.Close(t.Context()) // the test has failed
		t.Error("the owner logs in")
	}
	for _, role := range all {
		own := login(t, s, role)
		for _, other := range []string{"postgres", "boss", "claude_mem_owner", "alice"} {
			if other == role {
				continue
			}
			for _, statement := range []string{"SET ROLE " + other, "SET LOCAL ROLE " + other, "SET SESSION AUTHORIZATION " + other, "SET session_authorization = " + other, "GRANT " + other + " TO " + role, "ALTER ROLE " + other + " PASSWORD 'x'"} {
				if code, _ := own.try(statement); code == "" {
					t.Errorf("%s: %s", role, statement)
				}
			}
		}
	}
	// A role that a person may become changes nothing: the person has logged in.
	bob := login(t, s, "bob")
	bob.text("SELECT set_config('role', 'claude_mem_writer', false)")
	if got := bob.text("SELECT key FROM claude_mem.record"); got != "k-open" {
		t.Errorf("as claude_mem_writer bob sees %q", got)
	}
	bob.text("INSERT INTO claude_mem.record (kind, key, project, state) VALUES ('observation', 'k-bob', 'p/open', '{}')")
	if got := login(t, s, "alice").text("SELECT member || ' to ' || session_user FROM claude_mem.record WHERE key = 'k-bob'"); got != "bob to alice" {
		t.Errorf("it is of %q", got)
	}
	for _, forged := range []string{
		"UPDATE claude_mem.record SET member = 'alice' WHERE key = 'k-bob'", "UPDATE claude_mem.record SET seq = 0 WHERE key = 'k-bob'", "UPDATE claude_mem.record SET at = now() WHERE key = 'k-bob'",
		"UPDATE claude_mem.record SET key = 'k-open' WHERE key = 'k-bob'", "UPDATE claude_mem.record SET project = 'p/secret' WHERE key = 'k-bob'", "UPDATE claude_mem.member SET joined_at = now()",
	} {
		if code, _ := bob.try(forged); code != "42501" {
			t.Errorf("bob: %s: %q", forged, code)
		}
	}
	if got := bob.text("WITH u AS (UPDATE claude_mem.member SET seen = 99 RETURNING name) SELECT count(*) FROM u"); got != "0" {
		t.Errorf("bob changes %s members", got)
	}
}

// TestHiddenProject looks for ways to what a project has that the person does not see.
func TestHiddenProject(t *testing.T) {
	s := hidesSecret(t)
	s.Exec("postgres", "CREATE SCHEMA evil AUTHORIZATION bob; ANALYZE")
	for _, role := range []string{"bob", "carol_reads"} {
		own := login(t, s, role)
		// Tables, functions and operators of the attacker's, found before all others.
		own.text(`SELECT set_config('search_path', 'pg_temp, evil, claude_mem, pg_catalog', false)`)
		own.text("CREATE TEMP TABLE access (project text, member text)")
		own.text("CREATE TEMP TABLE record AS SELECT 1 AS x")
		own.text("CREATE FUNCTION pg_temp.told(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0000000001 AS $$ BEGIN RAISE NOTICE 'told %', $1 || $2; RETURN true; END $$")
		if role == "bob" {
			own.text("CREATE FUNCTION evil.hashtextextended(text, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint'")
			own.text("CREATE FUNCTION evil.hashtextextended(text, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint'")
			own.text("CREATE FUNCTION evil.no(bigint, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false'")
			own.text("CREATE OPERATOR evil.= (FUNCTION = evil.no, LEFTARG = bigint, RIGHTARG = bigint)")
			own.text("CREATE FUNCTION evil.hidden() RETURNS bigint[] LANGUAGE sql AS 'SELECT NULL::bigint[]'")
			for _, theft := range []string{shareSQL("p/secret", "k", "x"), "INSERT INTO claude_mem.record (kind, key, project, edit, state) VALUES ('observation', 'k-secret', 'p/secret', true, '{}')"} {
				if code, _ := own.try(theft); code != "42501" {
					t.Errorf("bob: %s: %q", theft, code)
				}
			}
		}
		var answers []string
		for _, query := range []string{
			"SELECT key, project, state::text, member FROM claude_mem.record WHERE pg_temp.told(key, project)", "SELECT r::text FROM claude_mem.record r WHERE pg_temp.told(r::text, '')",
			"SELECT a::text FROM claude_mem.audit a WHERE pg_temp.told(a::text, '')", "SELECT a::text FROM claude_mem.access a WHERE pg_temp.told(project, member)",
			"SELECT claude_mem.hidden()::text", "SELECT s::text FROM pg_stats s WHERE schemaname = 'claude_mem' AND tablename IN ('record', 'access', 'audit', 'searched', 'audience', 'frequency')",
			"SELECT query FROM pg_stat_activity WHERE usename <> session_user", "SELECT * FROM claude_mem.search(ARRAY[1, 2], NULL, 100)",
			"SELECT query_to_xml('SELECT * FROM claude_mem.record', true, false, '')::text", "SELECT table_to_xml('claude_mem.audit', true, false, '')::text",
			"SELECT (SELECT r FROM claude_mem.record r WHERE r.project = 'p/secret')::text", "SELECT key FROM claude_mem.record TABLESAMPLE SYSTEM (100)",
			// It fails if it comes by the row.
			"SELECT count(1 / (CASE key WHEN 'k-secret' THEN 0 ELSE 1 END)) FROM claude_mem.record WHERE project = 'p/secret'",
		} {
			answers = append(answers, own.text(query))
		}
		told := strings.Join(append(answers, own.notices...), "\n")
		for _, secret := range []string{"secret", "squirrel"} {
			if strings.Contains(told, secret) {
				t.Errorf("%s comes by %s:\n%s", role, secret, told)
			}
		}
		if !strings.Contains(told, "told k-open") || !strings.Contains(answers[7], "k-open") {
			t.Errorf("%s does not see what all see:\n%s", role, told)
		}
	}
	// What wakes says nothing.
	carol := login(t, s, "carol_reads")
	carol.text("LISTEN claude_mem")
	s.Exec("alice", shareSQL("p/secret", "k-more", "squirrel"))
	n, err := carol.WaitForNotification(t.Context())
	if err != nil || n.Payload != "" {
		t.Errorf("it was told %v, %v", n, err)
	}
	// What is not there is refused as what is hidden.
	bob := login(t, s, "bob")
	secret := login(t, s, "alice").text("SELECT seq FROM claude_mem.record WHERE key = 'k-secret'")
	code, hidden := bob.try("SELECT claude_mem.index_record(" + secret + ", ARRAY[1], 0, 0, NULL)")
	if other, none := bob.try("SELECT claude_mem.index_record(123456, ARRAY[1], 0, 0, NULL)"); code != "42501" || other != code || none != hidden {
		t.Errorf("%s %s, %s %s", code, hidden, other, none)
	}
}
