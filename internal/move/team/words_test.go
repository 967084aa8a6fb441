//go:build unix

package team_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"
)

// stateOf returns the state of an observation as a member's revision.
func stateOf(member, title, narrative string) []byte {
	text, _ := json.Marshal(map[string]any{"title": title, "narrative": narrative})                               // strings
	rest, _ := json.Marshal(map[string]any{"files": []map[string]string{{"path": "internal/limiter/bucket.go"}}}) // strings
	by := memory.Revision{Count: 1, Device: member + ":0001"}
	state, _ := json.Marshal(memory.Shared{Fields: map[string]memory.Field{
		memory.FieldText: {Revision: by, Value: memory.FieldValue(text)}, "rest": {Revision: by, Value: memory.FieldValue(rest)}}})
	return state
}

// give has a member share a record in a project, with its words.
func (s *session) give(project, key, title, narrative string) {
	s.t.Helper()
	state := stateOf(s.role, title, narrative)
	in := team.IndexOf(state)
	s.text(`WITH r AS (INSERT INTO claude_mem.record (kind, key, project, state) VALUES ('observation', $1, $2, $3::text::json)
		ON CONFLICT (member, kind, key) DO UPDATE SET status = 'shared', state = excluded.state RETURNING seq)
		SELECT claude_mem.index_record(seq, $4, $5, $6, nullif($7, '')::bit(256))::text FROM r`, key, project, string(state), in.Hashes, in.Title, in.Often, in.Code)
}

func (s *session) search(query string) string {
	s.t.Helper()
	q := team.QueryOf(query)
	return s.text("SELECT key || ' ' || member || ' ' || score FROM claude_mem.search($1, nullif($2, '')::bit(256), 10)", q.Hashes, q.Code)
}

// keys returns the keys that a search finds.
func (s *session) keys(query string) string {
	s.t.Helper()
	var list []string
	for line := range strings.Lines(s.search(query)) {
		key, _, _ := strings.Cut(line, " ")
		list = append(list, key)
	}
	return strings.Join(list, " ")
}

func TestIndexOf(t *testing.T) {
	in := team.IndexOf(stateOf("alice", "The token bucket of UserService", "It refills, refills and refills. A burst drains the bucket."))
	has := func(word string) int { return slices.Index(in.Hashes, int32(words.Hash(word))) } //nolint:gosec // a pattern of bits
	for _, word := range []string{"token", "bucket", "userservic", "user", "servic"} {
		if at := has(word); at < 0 || at >= in.Title {
			t.Errorf("%s of the title is at %d", word, at)
		}
	}
	if at := has("refil"); at < 0 {
		if at = has("refill"); at < in.Title || at >= in.Often {
			t.Errorf("what it has three times is at %d of %d to %d", at, in.Title, in.Often)
		}
	}
	if has("burst") < in.Often || has("limit") < in.Often || has("the") >= 0 || len(in.Code) != 256 {
		t.Errorf("%+v", in)
	}
	if in := team.IndexOf([]byte("no state")); len(in.Hashes) != 0 || in.Code != "" {
		t.Errorf("%+v", in)
	}
	if q := team.QueryOf("how does the user service refill? " + strings.Repeat("a1 b2 c3 d4 e5 ", 20)); len(q.Hashes) > 16 || !slices.Contains(q.Hashes, int32(words.Hash("userservic"))) { //nolint:gosec // a pattern of bits
		t.Errorf("%+v", q)
	}
}

func TestSearchOfServer(t *testing.T) {
	s := hidesSecret(t)
	alice, bob, carol := login(t, s, "alice"), login(t, s, "bob"), login(t, s, "carol_reads")
	alice.give("p/open", "title", "token bucket limiter", "how requests are limited")
	alice.give("p/open", "text", "requests are limited", "by a token bucket in the limiter")
	bob.give("p/open", "code", "UserService reads tokens", "getUserByEmail of user_service.go")
	alice.give("p/secret", "hidden", "token bucket zanzibar", "only alice sees zanzibar")
	for query, want := range map[string]string{"token bucket limiter": "title text code", "zanzibar": "", "user service": "code", "GetUserByEmail": "code", "nowhere": ""} {
		if got := bob.keys(query); got != want {
			t.Errorf("bob: %s: %q, not %q", query, got, want)
		}
		if got := carol.keys("zanzibar token"); strings.Contains(got, "hidden") {
			t.Errorf("carol: %q", got)
		}
	}
	if got := alice.keys("zanzibar"); got != "hidden" {
		t.Errorf("alice finds %q", got)
	}
	// What is hidden changes nothing: neither which are found nor their scores.
	before := bob.search("token bucket limiter") + carol.search("requests limited")
	for i := range 60 {
		alice.give("p/secret", fmt.Sprint("more", i), "token bucket limiter requests limited", strings.Repeat("limiter ", i))
	}
	if after := bob.search("token bucket limiter") + carol.search("requests limited"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	s.Exec("postgres", "INSERT INTO claude_mem.access VALUES ('p/secret', 'bob')")
	if got := bob.keys("zanzibar"); got != "hidden" {
		t.Errorf("let in, bob finds %q", got)
	}
	s.Exec("postgres", "DELETE FROM claude_mem.access WHERE member = 'bob'")
	if after := bob.search("token bucket limiter") + carol.search("requests limited"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	// A project that becomes restricted, or open.
	s.Exec("postgres", "INSERT INTO claude_mem.access VALUES ('p/open', 'carol_reads')")
	if got := bob.keys("user service") + carol.keys("user service"); got != "code" {
		t.Errorf("restricted, it is found as %q", got)
	}
	s.Exec("postgres", "TRUNCATE claude_mem.access")
	if got := bob.keys("user service") + carol.keys("zanzibar"); got != "codehidden" {
		t.Errorf("open, it is found as %q", got)
	}
	// An edit replaces the words, and what is taken back has none.
	bob.give("p/open", "code", "nothing of before", "giraffe")
	alice.text("UPDATE claude_mem.record SET status = 'forgotten' WHERE key = 'title'")
	if got := bob.keys("getUserByEmail") + "," + bob.keys("giraffe") + "," + alice.keys("token bucket limiter"); strings.Contains(got, "title") || !strings.HasPrefix(got, ",code,") {
		t.Error(got)
	}
	alice.text("UPDATE claude_mem.record SET status = 'unshared' WHERE member = session_user")
	bob.text("UPDATE claude_mem.record SET status = 'unshared' WHERE member = session_user")
	if left := login(t, s, "postgres").text("SELECT (SELECT count(*) FROM claude_mem.searched) + (SELECT count(*) FROM claude_mem.frequency)"); left != "0" {
		t.Errorf("%s words are left", left)
	}
}

// TestFrequencies compares the counts of words with the words, after what happens to them at random.
func TestFrequencies(t *testing.T) {
	s := hidesSecret(t)
	admin := login(t, s, "postgres")
	random := rand.New(rand.NewPCG(1, 2))
	members := []*session{login(t, s, "alice"), login(t, s, "bob")}
	for range 150 {
		m, key := members[random.IntN(2)], fmt.Sprint("k", random.IntN(20))
		switch random.IntN(8) {
		case 0:
			m.text("UPDATE claude_mem.record SET status = 'unshared' WHERE member = session_user AND key = $1", key)
		case 1:
			admin.text("INSERT INTO claude_mem.access VALUES ($1, 'alice'), ($1, 'bob') ON CONFLICT DO NOTHING", fmt.Sprint("p/", random.IntN(4)))
		case 2:
			admin.text("DELETE FROM claude_mem.access WHERE project = $1", fmt.Sprint("p/", random.IntN(4)))
		default:
			m.give(fmt.Sprint("p/", random.IntN(4)), key, fmt.Sprint("w", random.IntN(9)), fmt.Sprint("w", random.IntN(9), " w", random.IntN(9)))
		}
	}
	if wrong := admin.text(`SELECT w, n, f.* FROM (SELECT w, count(*) AS n FROM claude_mem.searched s, unnest(s.words || s.audience) w GROUP BY w) c
		FULL JOIN claude_mem.frequency f ON f.word = c.w WHERE c.n IS DISTINCT FROM f.records`); wrong != "" {
		t.Errorf("wrong counts:\n%s", wrong)
	}
	if wrong := admin.text(`SELECT s.seq FROM claude_mem.searched s LEFT JOIN claude_mem.record r USING (seq) LEFT JOIN claude_mem.audience a USING (project)
		WHERE r.seq IS NULL OR r.status <> 'shared' OR s.audience <> coalesce(a.salt, 0)`); wrong != "" {
		t.Errorf("words of no record, or of another audience: %s", wrong)
	}
	if n := admin.text("SELECT count(*) FROM claude_mem.searched"); n < "1" {
		t.Error("nothing was searched")
	}
}

// TestBounds asks and gives what is no search and no words.
func TestBounds(t *testing.T) {
	s := hidesSecret(t)
	bob := login(t, s, "bob")
	bob.give("p/open", "k", "mine", "")
	seq := bob.text("SELECT seq FROM claude_mem.record WHERE key = 'k'")
	for _, bad := range []string{
		"'{}', NULL, 10", "NULL, NULL, 10", "ARRAY[1, NULL], NULL, 10", "ARRAY[[1], [2]], NULL, 10", "ARRAY(SELECT generate_series(1, 17)), NULL, 10",
		"ARRAY[1], NULL, 0", "ARRAY[1], NULL, 101", "ARRAY[1], NULL, NULL", "ARRAY[1], B'1', 10", "ARRAY[1], repeat('1', 257)::bit(257), 10",
	} {
		if code, message := bob.try("SELECT * FROM claude_mem.search(" + bad + ")"); code != "22023" || message != "a search has 1 to 16 words, a code of 256 bits and a limit of 1 to 100" {
			t.Errorf("%s: %s %s", bad, code, message)
		}
	}
	for _, good := range []string{"ARRAY(SELECT generate_series(1, 16)), NULL, 100", "ARRAY[1, 1, 1, -2147483648], repeat('1', 256)::bit(256), 1"} {
		if code, message := bob.try("SELECT * FROM claude_mem.search(" + good + ")"); code != "" {
			t.Errorf("%s: %s %s", good, code, message)
		}
	}
	for _, bad := range []string{
		"NULL, 0, 0, NULL", "'{}', 0, 0, NULL", "ARRAY[1, 1], 0, 0, NULL", "ARRAY[1, NULL], 0, 0, NULL", "ARRAY[1], 2, 2, NULL", "ARRAY[1], -1, 0, NULL", "ARRAY[1, 2], 1, 0, NULL", "ARRAY[1], 0, NULL, NULL",
		"ARRAY[1], 0, 0, B'1'", "ARRAY(SELECT generate_series(1, 1001)), 0, 0, NULL", "ARRAY[[1], [2]], 0, 0, NULL", "'[2:3]={1,2}'::int[], 0, 0, NULL",
	} {
		if code, message := bob.try("SELECT claude_mem.index_record(" + seq + ", " + bad + ")"); code != "42501" || message != "these are no words of a record that you share" {
			t.Errorf("%s: %s %s", bad, code, message)
		}
	}
	if code, message := bob.try("SELECT claude_mem.index_record(" + seq + ", ARRAY(SELECT generate_series(1, 1000)), 5, 1000, NULL)"); code != "" {
		t.Errorf("%s %s", code, message)
	}
}
