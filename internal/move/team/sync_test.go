//go:build unix

package team_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
	"claudemem/internal/move/team"
	"claudemem/proof/postgres"
)

// mate is a data directory of a member.
type mate struct {
	t       *testing.T
	dir     string
	project string
	*store.Store
	options team.Options
}

func newMate(t *testing.T, s *postgres.Server, role string) *mate {
	t.Helper()
	m := &mate{t: t, dir: t.TempDir(), project: "/home/" + role + "/shop"}
	var err error
	m.Store, err = store.Open(t.Context(), filepath.Join(m.dir, "memory.db"), store.Options{})
	m.must(err)
	t.Cleanup(func() { _ = m.Close() })
	m.options = team.Options{Pull: true, Options: joined.Options{DataDir: m.dir, Now: func() memory.Millis { return memory.MillisOf(time.Now()) }, Identify: func(project string) string {
		if project == m.project {
			return "github.com/acme/shop"
		}
		return ""
	}, Sharing: care.Sharing{Captured: func(string) bool { return true }, Note: func(*care.Erasure) error { return nil }, Redact: func(p *memory.Portable) bool {
		if p.Observation != nil {
			p.Observation.Title = strings.ReplaceAll(p.Observation.Title, "hunter2", "***")
		}
		return true
	}}}}
	m.remember("own of " + role)
	_, err = team.Join(t.Context(), m.dir, s.Address(role))
	m.must(err)
	return m
}

func (m *mate) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *mate) remember(title string) memory.ObservationID {
	m.t.Helper()
	o, err := m.AddObservation(m.t.Context(), memory.NewObservation{ProjectPath: m.project, Title: title, Narrative: "of " + title, Type: memory.TypeDecision, Origin: memory.OriginUser})
	m.must(err)
	return o.ID
}

func (m *mate) sync() team.Report {
	m.t.Helper()
	r, err := team.Sync(m.t.Context(), m.Store, m.options)
	m.must(err)
	return r
}

// share shares observations and sends them.
func (m *mate) share(ids ...memory.ObservationID) {
	m.t.Helper()
	cfg, err := team.Load(m.dir)
	m.must(err)
	m.must(m.options.IdentifyProjects(m.t.Context(), m.Store))
	var c care.TeamChoice
	for _, id := range ids {
		c.Refs = append(c.Refs, memory.RecordRef{Kind: memory.RecordObservation, ID: int64(id)})
	}
	if n, err := m.TeamAct(m.t.Context(), m.options.Team(cfg), c, care.ActShared); err != nil || n != len(ids) {
		m.t.Fatalf("%d of %d shared, %v", n, len(ids), err)
	}
	m.sync()
}

// find returns the observation whose title begins so, hidden ones too.
func (m *mate) find(title string) *memory.Observation {
	m.t.Helper()
	all, err := m.Observations(m.t.Context(), memory.Query{Limit: 10000})
	m.must(err)
	for i := range all {
		if strings.HasPrefix(all[i].Title, title) {
			return &all[i]
		}
	}
	return nil
}

func (m *mate) edit(title, to string) {
	m.t.Helper()
	_, err := m.EditObservation(m.t.Context(), m.find(title).ID, memory.ObservationEdit{Title: &to})
	m.must(err)
}

// TestConcurrent: two people edit one record while they do not know of each other. Both have both texts, the same one is current, and
// both are told. What another has written is not one's own.
func TestConcurrent(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, b := newMate(t, s, "alice"), newMate(t, s, "bob")
	a.share(a.remember("decided"))
	b.sync()
	if o := b.find("decided"); o == nil || o.Provenance.Member() != "alice" || o.Origin != memory.OriginImport {
		t.Fatalf("bob has %+v", o)
	}
	a.edit("decided", "decided, says alice")
	b.edit("decided", "decided, says bob")
	a.sync()
	b.sync()
	a.sync()
	for _, m := range []*mate{a, b} {
		o := m.find("decided")
		if o.Title != "decided, says bob" {
			t.Errorf("current is %q", o.Title)
		}
		notices, err := m.TakeNotices(t.Context())
		m.must(err)
		if !strings.Contains(strings.Join(notices, "\n"), "have edited the same observation") {
			t.Errorf("told: %q", notices)
		}
		list, err := m.Versions(t.Context(), o.ID)
		if err != nil || !strings.Contains(fmt.Sprint(list), "decided, says alice") {
			t.Errorf("versions %+v, %v", list, err)
		}
	}
	if o := a.find("decided"); o.Provenance.Member() != "bob" {
		t.Errorf("what bob has written is alice's own: %q", o.Provenance)
	}
	a.edit("decided", "decided at last")
	a.sync()
	b.sync()
	if o := b.find("decided at last"); o == nil || o.Provenance.Member() != "alice" {
		t.Errorf("bob has %+v", o)
	}
	if o := a.find("decided at last"); o.Provenance.Foreign() {
		t.Errorf("alice's own words are %q", o.Provenance)
	}
	if n := count(t, s, "postgres", "SELECT count(*) FROM claude_mem.searched"); n != 2 {
		t.Errorf("%d of 2 rows are searched", n)
	}
}

// hasty is a store in which something is done right before records of the team are taken in.
type hasty struct {
	*store.Store
	before func()
}

func (h *hasty) TeamMerge(ctx context.Context, t care.Team, incoming []care.TeamIn, state map[string]any) (care.TeamMerged, error) {
	h.before()
	return h.Store.TeamMerge(ctx, t, incoming, state)
}

// TestEditedMeanwhile: bob edits a record after an exchange has looked for edits, and before it takes in what is new. The edit is sent,
// although what the exchange itself changes is not compared.
func TestEditedMeanwhile(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, b := newMate(t, s, "alice"), newMate(t, s, "bob")
	a.share(a.remember("decided"))
	b.sync()
	a.share(a.remember("another"))
	r, err := team.Sync(t.Context(), &hasty{b.Store, func() { b.edit("decided", "decided, says bob") }}, b.options)
	b.must(err)
	if r.Added != 1 || r.Sent != 1 {
		t.Errorf("bob's exchange: %+v, want one taken in and one sent", r)
	}
	a.sync()
	if o := a.find("decided"); o.Title != "decided, says bob" {
		t.Errorf("alice has %q", o.Title)
	}
}

// TestAway: a memory that was away for long, with edits of its own, catches up.
func TestAway(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, b := newMate(t, s, "alice"), newMate(t, s, "bob")
	var ids []memory.ObservationID
	for i := range 1200 {
		ids = append(ids, a.remember(fmt.Sprintf("record %04d.", i)))
	}
	a.share(ids[:600]...)
	b.sync()
	b.edit("record 0005.", "record 0005. of bob")
	late := b.remember("late of bob")
	a.share(ids[600:]...)
	_, err := a.Forget(t.Context(), memory.Forgetting{Observations: ids[:100]}, func(*care.Erasure) error { return nil })
	a.must(err)
	a.edit("record 0300.", "record 0300. edited")
	a.sync()
	b.options.Now = func() memory.Millis { return memory.MillisOf(time.Now().AddDate(0, 0, 90)) }
	b.share(late)
	a.sync()
	all, err := b.Observations(t.Context(), memory.Query{Limit: 10000})
	b.must(err)
	if len(all) != 1200-100+2 || b.find("record 0005.") != nil || b.find("record 0300. edited") == nil || a.find("late of bob") == nil {
		t.Errorf("bob has %d records", len(all))
	}
	// The server is put back to an empty state of the same team.
	s.Exec("postgres", "DELETE FROM claude_mem.record; SELECT setval('claude_mem.record_seq', 1)")
	a.sync()
	b.sync()
	if n := count(t, s, "postgres", "SELECT count(*) FROM claude_mem.record WHERE status = 'shared' AND NOT edit"); n != 1101 {
		t.Errorf("the server that was put back has %d of 1101", n)
	}
}

// TestHostileMember: a member writes rows by hand. They are refused and told, and change nothing of others.
func TestHostileMember(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, b := newMate(t, s, "alice"), newMate(t, s, "bob")
	a.share(a.remember("victim"))
	b.sync()
	var key string
	for _, r := range []string{"key"} {
		key = text(t, s, "SELECT "+r+" FROM claude_mem.record")
	}
	good := `"rest":{"n":1,"d":"bob:1","v":{"created_at":1790000000000,"origin":"user","provenance":"user"}},"text":{"n":1,"d":"bob:1","v":{"title":"T%d","type":"decision"}}`
	ulid := func(i int) string { return fmt.Sprintf("01M8NZMRT2WCRBQ33GV06GE%03d", i) }
	rows := []struct{ key, edit, state string }{
		{"h1", "false", `{"ulid":"x","f":{` + good + `}}`},
		{"h2", "false", `{"ulid":"` + ulid(2) + `","f":{` + strings.Replace(good, `"bob:1"`, `"alice:1"`, 1) + `}}`},
		{"h3", "false", `{"ulid":"` + ulid(3) + `","f":{` + strings.Replace(good, "1790000000000", "9990000000000", 1) + `}}`},
		{"h4", "false", `{"ulid":"` + ulid(4) + `","f":{` + strings.ReplaceAll(good, `"n":1`, `"n":9999999999999999`) + `}}`},
		{"h5", "false", `{"ulid":"` + ulid(5) + `","f":{` + strings.Replace(good, `"decision"`, `"a b"`, 1) + `}}`},
		{"h6", "false", `{"ulid":"` + ulid(6) + `","gone":true,"f":{` + good + `}}`},
		{"h7", "false", `{"f":{"text":{"n":1,"d":"bob:1","v":"no object"}}}`},
		{key, "true", `{"f":{"text":{"n":5000,"d":"bob:1","v":{"title":"victim is lost","type":"decision"}}}}`},
	}
	for i, r := range rows {
		s.Exec("bob", fmt.Sprintf("INSERT INTO claude_mem.record (kind, key, project, edit, state, created_at) VALUES ('observation', '%s', 'github.com/acme/shop', %s, '%s', 1)", r.key, r.edit, strings.ReplaceAll(r.state, "T%d", fmt.Sprint("T", i))))
	}
	report := a.sync()
	if len(report.Refused) == 0 || report.Added+report.Changed+report.Erased > 0 {
		t.Errorf("%+v", report)
	}
	if a.find("victim").Title != "victim" || a.find("T") != nil {
		t.Error("a record was changed, or added")
	}
	status, err := team.ReadStatus(t.Context(), a.Care, a.dir)
	if err != nil || len(status.Refused) == 0 {
		t.Errorf("told: %+v, %v", status, err)
	}
	// One that is right is taken in, with what is private taken out.
	s.Exec("bob", `INSERT INTO claude_mem.record (kind, key, project, state, created_at) VALUES ('observation', 'good', 'github.com/acme/shop', '{"ulid":"`+ulid(9)+`","f":{`+strings.Replace(good, "T%d", "kept hunter2", 1)+`}}', 1)`)
	if a.sync(); a.find("kept ***") == nil {
		t.Error("a sound row was refused, or its secret kept")
	}
}

func text(t *testing.T, s *postgres.Server, query string) (found string) {
	t.Helper()
	own := login(t, s, "postgres")
	if err := own.QueryRow(t.Context(), query).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestVersions: a client and a schema that do not go together: refused, and nothing is changed.
func TestVersions(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice")
	a := newMate(t, s, "alice")
	a.share(a.remember("first"))
	for _, change := range []string{
		"INSERT INTO claude_mem.schema_version (version, oldest) VALUES (99, 99)",
		"DELETE FROM claude_mem.schema_version WHERE version > 1",
	} {
		s.Exec("postgres", "BEGIN; CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM claude_mem.schema_version; "+change+"; COMMIT")
		a.edit("first", "first, again")
		_, err := team.Sync(t.Context(), a.Store, a.options)
		if memory.CodeOf(err) != memory.CodeConflict || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", change, err)
		}
		if n := count(t, s, "postgres", "SELECT count(*) FROM claude_mem.record WHERE state::text LIKE '%again%'"); n != 0 {
			t.Error("it was written")
		}
		if _, _, err := team.Init(t.Context(), s.Address("boss")); strings.Contains(change, "99") && memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("init: %v", err)
		}
		s.Exec("postgres", "DELETE FROM claude_mem.schema_version; INSERT INTO claude_mem.schema_version SELECT * FROM kept")
	}
	if a.sync(); count(t, s, "postgres", "SELECT count(*) FROM claude_mem.record WHERE state::text LIKE '%again%'") != 1 {
		t.Error("it is not written when both go together again")
	}
}

// TestAddress: an address with a password, and one of a server elsewhere whose certificate is not verified, are refused before a
// connection is made, and no error has a password.
func TestAddress(t *testing.T) {
	for _, address := range []string{
		"postgres://alice:hunter2@localhost/team", "host=localhost user=alice password=hunter2", "postgres://alice@localhost/team?password=hunter2",
		"postgres://alice@db.example.org/team?sslmode=disable", "postgres://alice@192.0.2.1/team?sslmode=require", "host=db.example.org user=alice sslmode=prefer",
		"postgres://alice@localhost,db.example.org/team?sslmode=allow", "host=db.example.org sslmode=verify-ca",
	} {
		_, err := team.Join(t.Context(), t.TempDir(), address)
		if memory.CodeOf(err) != memory.CodeInvalid || strings.Contains(fmt.Sprintf("%+v", err), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestCertificate: with TLS asked for, a server with another certificate is refused, and one with the right one is not; the password comes
// from PGPASSFILE.
func TestCertificate(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	s := postgres.Start(t)
	s.Team("alice")
	for _, name := range []string{"server", "other"} {
		out, err := exec.Command(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
			"-addext", "subjectAltName=DNS:localhost", "-keyout", filepath.Join(s.Dir, name+".key"), "-out", filepath.Join(s.Dir, name+".crt")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.Own("server.key", "server.crt")
	s.Options = []string{"-c", "ssl=on", "-c", "ssl_cert_file=" + filepath.Join(s.Dir, "server.crt"), "-c", "ssl_key_file=" + filepath.Join(s.Dir, "server.key")}
	s.Stop(syscall.SIGINT)
	s.Begin()
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte(fmt.Sprintf("localhost:%d:postgres:alice:secret-of-alice\n", s.Port)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", pass)
	address := func(root string) string {
		return fmt.Sprintf("postgres://alice@localhost:%d/postgres?sslmode=verify-full&sslrootcert=%s", s.Port, filepath.Join(s.Dir, root+".crt"))
	}
	if _, err = team.Join(t.Context(), t.TempDir(), address("server")); err != nil {
		t.Errorf("the right certificate: %v", err)
	}
	_, err = team.Join(t.Context(), t.TempDir(), address("other"))
	if err == nil || !strings.Contains(err.Error(), "certificate cannot be verified") {
		t.Errorf("another certificate: %v", err)
	}
	t.Setenv("PGPASSFILE", "")
	t.Setenv("PGPASSWORD", "hunter2")
	if _, err = team.Join(t.Context(), t.TempDir(), address("server")); err == nil || strings.Contains(fmt.Sprintf("%+v %v", err, errors.Unwrap(err)), "hunter2") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestPulledIsNotOfDevices: what was pulled of the team is nothing that the person's own devices exchange: each of them pulls it itself.
func TestPulledIsNotOfDevices(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, b := newMate(t, s, "alice"), newMate(t, s, "bob")
	a.share(a.remember("Use whole cents"))
	b.sync()
	if b.find("Use whole cents") == nil {
		t.Fatal("it was not pulled")
	}
	for _, again := range []bool{false, true} { // by the changes, and of a memory that is shared anew
		b.must(b.NoteEdits(t.Context(), care.Sharing{Device: "tower", Captured: b.options.Captured, Note: b.options.Note}))
		states, _, err := b.Unsent(t.Context(), care.SharedPage{All: again, Limit: 100})
		b.must(err)
		kinds := map[string]int{}
		for i := range states {
			kinds[states[i].Kind]++
			if text := fmt.Sprint(states[i].Fields); strings.Contains(text, "whole cents") || strings.Contains(text, string(care.HostTeam)) {
				t.Errorf("the devices get %s", text)
			}
		}
		if kinds["observation"] != 1 || kinds["session"] != 1 {
			t.Errorf("the devices get %v, want bob's own note and its session", kinds)
		}
		b.must(b.ShareAnew(t.Context()))
	}
}

// TestLeaving: what leaves is listed with the act by which it does, the last one first; of others how much is here, and of when.
func TestLeaving(t *testing.T) {
	s := postgres.Start(t)
	s.Team("alice", "bob")
	a, a2, b := newMate(t, s, "alice"), newMate(t, s, "alice"), newMate(t, s, "bob")
	id := a.remember("by hand")
	a.share(id)
	cfg, err := team.Load(a.dir)
	a.must(err)
	cfg.Policies = map[string]team.Policy{"github.com/acme/shop": {}}
	a.must(cfg.Save(a.dir))
	time.Sleep(2 * time.Millisecond) // the acts have times in milliseconds
	a.sync()
	b.sync()
	b.edit("by hand", "by hand, edited")
	b.sync()
	a2.sync()
	b.remember("stays")
	for _, c := range []struct {
		of   *mate
		want string
	}{{a, "own of alice policy [alice], by hand, edited share [alice]"}, {a2, "by hand, edited elsewhere [alice], own of alice elsewhere [alice]"}, {b, "by hand, edited edit [alice]"}} {
		c.of.sync()
		status, err := team.ReadStatus(t.Context(), c.of.Care, c.of.dir)
		c.of.must(err)
		var got []string
		for _, l := range status.Leaving {
			if o, err := c.of.Observation(t.Context(), memory.ObservationID(l.ID)); err != nil || o.Title != l.Title || l.Kind != memory.RecordObservation || l.Project != "github.com/acme/shop" || l.At == 0 || l.Waits {
				t.Errorf("%s: %+v, %v", c.of.dir, l, err)
			}
			got = append(got, fmt.Sprintf("%s %s %s", l.Title, l.How, l.Holders))
		}
		if c.of == a2 {
			slices.Sort(got)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("got %q, want %q", strings.Join(got, ", "), c.want)
		}
	}
	status, err := team.ReadStatus(t.Context(), b.Care, b.dir)
	b.must(err)
	if made := a.find("own of alice").CreatedAt; len(status.Authors) != 1 || status.Authors[0] != (care.TeamAuthor{Member: "alice", Records: 2, LastAt: max(made, a.find("by hand").CreatedAt)}) {
		t.Errorf("authors: %+v", status.Authors)
	}
	a.edit("own of alice", "own of alice, later") // it is noted, and not sent
	a.options.Pull = false
	s.Stop(syscall.SIGINT)
	_, err = team.Sync(t.Context(), a.Store, a.options)
	status, err2 := team.ReadStatus(t.Context(), a.Care, a.dir)
	if err == nil || err2 != nil || status.Fault == "" || status.Unsent != 1 || !status.Leaving[0].Waits || status.Leaving[1].Waits {
		t.Errorf("with the server away: %v, %v, %+v", err, err2, status)
	}
}
