//go:build unix

// Package team_test measures `claude-mem search --team` on a large memory of a team:
//
//	go test ./proof/bench/team -run TestLarge -rows 1000000 -timeout 90m -v -pull 30000
//	go test ./proof/bench/team -run TestExchange -rows 10000 -v
//	go test ./proof/bench/team -run TestTimes -rows 20000 -v
//
// The first one searches, prints the plans, and has a memory pull the last records (-pull) or all, what comes in a day, and push. The third one has a person ask for words that so many records have which the person does not see. Without -rows they do nothing. TMPDIR says on which disk the server's data are: 5 GB for a million.
package team_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"
	"claudemem/proof/postgres"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

var (
	rows   = flag.Int("rows", 0, "records of the team, by 100 authors")
	pulled = flag.Int("pull", 0, "how many records, the last ones, a memory pulls at first; 0 for all")
)

// The bars.
const (
	medianBar = 150 * time.Millisecond
	slowBar   = 500 * time.Millisecond
)

const authors = 100

// made is how many records, the last ones, are written; the older ones are made of these.
const made = 100_000

// vocabulary makes texts of made words with the frequencies of a language: the one of rank r has a share of 1/(r+2.7).
type vocabulary struct {
	*rand.Rand
	words []string
	sums  []float64
}

func newVocabulary(size int) *vocabulary {
	v := &vocabulary{Rand: rand.New(rand.NewPCG(1, 2))}
	syllables := strings.Fields("ba con de fi ga hel in jo ka lo ma nen or pi qua re sto ta ur ver wi xa yel zo tion ser ment pro ")
	seen := map[string]bool{}
	sum := 0.0
	for len(v.words) < size {
		var b strings.Builder
		for range 2 + v.IntN(3) {
			b.WriteString(syllables[v.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] && !words.IsStop(w) {
			seen[w] = true
			v.words = append(v.words, w)
			sum += 1 / (float64(len(v.words)) + 2.7)
			v.sums = append(v.sums, sum)
		}
	}
	return v
}

func (v *vocabulary) word() string {
	at, _ := slices.BinarySearch(v.sums, v.Float64()*v.sums[len(v.sums)-1])
	return v.words[min(at, len(v.words)-1)]
}

// text returns n words, about every twelfth of them an identifier of two.
func (v *vocabulary) text(n int) string {
	list := make([]string, n)
	for i := range list {
		if list[i] = v.word(); v.IntN(12) == 0 {
			other := v.word()
			list[i] += strings.ToUpper(other[:1]) + other[1:]
		}
	}
	return strings.Join(list, " ")
}

// state returns the state of an observation and when it was made.
func (v *vocabulary) state(author string, n int) (state []byte, text string) {
	title, narrative := v.text(8), v.text(60)
	facts := []string{v.text(12), v.text(12), v.text(12)}
	said, _ := json.Marshal(map[string]any{"type": "discovery", "title": title, "narrative": narrative, "facts": facts, "concepts": []string{"how-it-works"}}) // strings
	rest, _ := json.Marshal(map[string]any{"files": []map[string]string{{"role": "modified", "path": "internal/" + v.word() + "/" + v.word() + ".go"}}, "created_at": timeOf(n), "origin": "user", "provenance": "user"})
	by := memory.Revision{Count: 1, Device: author + ":0001"}
	state, _ = json.Marshal(memory.Shared{Kind: "observation", Key: fmt.Sprintf("%s-%d", author, n), ULID: memory.ULID(fmt.Sprintf("01K%023d", n)), Project: "p", Fields: map[string]memory.Field{
		memory.FieldText: {Revision: by, Value: memory.FieldValue(said)}, "rest": {Revision: by, Value: memory.FieldValue(rest)}}})
	return state, title + " " + narrative + " " + strings.Join(facts, " ")
}

type bench struct {
	*testing.T
	*postgres.Server
	*vocabulary
	sync.Mutex
	texts []string // of some records
}

func (b *bench) connect(role string, notice func(string)) *pgx.Conn {
	cfg, err := pgx.ParseConfig(b.Address(role))
	b.must(err)
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if notice != nil {
			notice(n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(b.Context(), cfg)
	b.must(err)
	b.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server stops
	return conn
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// serve starts a server that has -rows records of all authors.
func serve(t *testing.T) *bench {
	if *rows == 0 {
		t.Skip("-rows says how many records")
	}
	begun := time.Now()
	b := &bench{T: t, Server: postgres.Start(t), vocabulary: newVocabulary(60_000)}
	b.Team("alice")
	b.Exec("postgres", "DROP INDEX claude_mem.searched_words; ALTER TABLE claude_mem.searched DISABLE TRIGGER USER")
	first := max(0, *rows/authors-made/authors)
	b.add(first, *rows/authors)
	b.combine(first * authors)
	b.Exec("postgres", `SET work_mem = '1GB'; ALTER TABLE claude_mem.searched ENABLE TRIGGER USER;
		INSERT INTO claude_mem.frequency SELECT w, count(*) FROM claude_mem.searched, unnest(words || audience) w GROUP BY w`) // as the triggers count
	b.Exec("postgres", "SET maintenance_work_mem = '1GB'; CREATE INDEX searched_words ON claude_mem.searched USING gin (words) WITH (fastupdate = off)")
	b.Exec("postgres", "VACUUM ANALYZE claude_mem.record, claude_mem.searched, claude_mem.frequency")
	t.Logf("%d records loaded in %v", *rows, time.Since(begun).Round(time.Second))
	b.sizes()
	return b
}

// add copies records of each author, those from one number to another, past the triggers of their table, through which TestExchange pushes.
func (b *bench) add(from, to int) {
	b.Exec("postgres", "ALTER TABLE claude_mem.record DISABLE TRIGGER USER")
	var all sync.WaitGroup
	const together = 2
	for first := range together {
		all.Go(func() {
			conn := b.connect("postgres", nil)
			for a := first; a < authors; a += together {
				b.of(conn, a, from, to)
			}
		})
	}
	all.Wait()
	slices.Sort(b.texts)
	b.Exec("postgres", "ALTER TABLE claude_mem.record ENABLE TRIGGER USER; SELECT setval('claude_mem.record_seq', (SELECT max(seq) FROM claude_mem.record))")
}

// of copies records of an author.
func (b *bench) of(conn *pgx.Conn, a, from, to int) {
	author := fmt.Sprintf("author%02d", a)
	own := *b.vocabulary
	own.Rand = rand.New(rand.NewPCG(uint64(a), uint64(from)))
	var records, searched [][]any
	for n := from; n < to; n++ {
		seq := int64(n*authors + a + 1) // they write in turn
		state, text := own.state(author, int(seq))
		if n < from+20 {
			b.Lock()
			b.texts = append(b.texts, text)
			b.Unlock()
		}
		records = append(records, []any{author, "observation", fmt.Sprintf("%s-%d", author, seq), fmt.Sprintf("p/%d", n%20), string(state), int64(timeOf(int(seq))), seq})
		in := team.IndexOf(state)
		searched = append(searched, []any{seq, 0, in.Hashes, in.Title, in.Often, bits(in.Code)})
	}
	_, err := conn.CopyFrom(b.Context(), pgx.Identifier{"claude_mem", "record"}, []string{"member", "kind", "key", "project", "state", "created_at", "seq"}, pgx.CopyFromRows(records))
	if err == nil {
		_, err = conn.CopyFrom(b.Context(), pgx.Identifier{"claude_mem", "searched"}, []string{"seq", "audience", "words", "title", "often", "code"}, pgx.CopyFromRows(searched))
	}
	if err != nil {
		b.Error(err)
	}
}

// combine adds the older records, so many, each of two of the last ones: it has the state of one, and the words of both whose numbers are even
// in the one and odd in the other. That takes a fifth of the time in which add makes them, and words are as frequent.
func (b *bench) combine(older int) {
	if older == 0 {
		return
	}
	b.Exec("postgres", fmt.Sprintf(`SET work_mem = '512MB'; ALTER TABLE claude_mem.record DISABLE TRIGGER USER;
		INSERT INTO claude_mem.record (member, kind, key, project, state, created_at, seq)
			SELECT r.member, r.kind, r.member || '-' || s, 'p/' || (s - 1) / %[3]d %% 20, r.state, %[4]d + s::bigint * 1000, s
			FROM generate_series(1, %[1]d) s JOIN claude_mem.record r ON r.seq = %[1]d + 1 + (s - 1) %% %[2]d;
		ALTER TABLE claude_mem.record ENABLE TRIGGER USER;
		INSERT INTO claude_mem.searched (seq, audience, words, title, often, code)
			SELECT s, 0, m.words, m.title, m.often, code
			FROM (SELECT s, i.code, i.words AS one, i.title, i.often, j.words AS other, j.title AS other_title, j.often AS other_often
				FROM generate_series(1, %[1]d) s
				JOIN claude_mem.searched i ON i.seq = %[1]d + 1 + (s - 1) %% %[2]d
				JOIN claude_mem.searched j ON j.seq = %[1]d + 1 + ((s - 1)::bigint * 7919 + (s - 1) / %[2]d * 104729 + 17) %% %[2]d
				OFFSET 0) pair -- else the server may combine all pairs of records first
			CROSS JOIN LATERAL (SELECT array_agg(w ORDER BY NOT t, NOT o, n) AS words, count(*) FILTER (WHERE t) AS title, count(*) FILTER (WHERE o) AS often FROM (
				SELECT w, n, n <= pair.title AS t, n <= pair.often AS o FROM unnest(one) WITH ORDINALITY u (w, n) WHERE w & 1 = 0 UNION ALL
				SELECT w, n, n <= other_title, n <= other_often FROM unnest(other) WITH ORDINALITY u (w, n) WHERE w & 1 = 1) both_of) m`,
		older, made, authors, int64(timeOf(0))))
}

// timeOf returns when the record of a number was made.
func timeOf(seq int) memory.Millis { return memory.Millis(1_700_000_000_000 + int64(seq)*1000) }

// bits are a code as PostgreSQL reads it in binary.
func bits(code string) pgtype.Bits {
	out := pgtype.Bits{Len: int32(len(code)), Bytes: make([]byte, len(code)/8), Valid: code != ""}
	for i, c := range code {
		if c == '1' {
			out.Bytes[i/8] |= 128 >> (i % 8)
		}
	}
	return out
}

// sizes prints the tables and indexes.
func (b *bench) sizes() {
	found, err := b.connect("postgres", nil).Query(b.Context(), `SELECT c.relname, pg_relation_size(c.oid) / 1048576.0 FROM pg_class c
		WHERE c.relnamespace = 'claude_mem'::regnamespace AND c.relkind IN ('r', 'i') AND pg_relation_size(c.oid) > 1048576 ORDER BY 2 DESC`)
	b.must(err)
	var name string
	var size float64
	_, err = pgx.ForEachRow(found, []any{&name, &size}, func() error {
		b.Logf("%-20s %7.0f MB", name, size)
		return nil
	})
	b.must(err)
}

// queries returns queries by their sort, 40 each: of 1 to 6 words that a record has, which are frequent as words in texts are, and of
// 1 to 6 of the 30 most frequent words.
func (b *bench) queries() (sorts []string, of map[string][]string) {
	of = map[string][]string{}
	for _, frequent := range []bool{false, true} {
		for n := 1; n <= 6; n++ {
			sort := fmt.Sprintf("%d of a record", n)
			if frequent {
				sort = fmt.Sprintf("%d frequent", n)
			}
			sorts = append(sorts, sort)
			for range 40 {
				list := strings.Fields(b.texts[b.IntN(len(b.texts))])
				if frequent {
					list = b.words[:30]
				}
				query := make([]string, n)
				for i := range query {
					query[i] = list[b.IntN(len(list))]
				}
				of[sort] = append(of[sort], strings.Join(query, " "))
			}
		}
	}
	return sorts, of
}

func quantile(list []time.Duration, q float64) time.Duration {
	slices.Sort(list)
	return list[min(len(list)-1, int(math.Ceil(q*float64(len(list))))-1)].Round(time.Millisecond / 10)
}

func TestSearch(t *testing.T) { serve(t).search(t) }

// search measures searches of the function, of the program and of the whole command, and prints plans.
func (b *bench) search(t *testing.T) {
	b.T = t
	conn := b.connect("alice", nil)
	sorts, of := b.queries()
	var all []time.Duration
	for _, sort := range sorts {
		var took []time.Duration
		hits := 0
		for i, query := range of[sort] {
			begun := time.Now()
			n := b.ask(conn, query)
			if i >= 3 { // before, the connection warms up
				took = append(took, time.Since(begun))
			}
			hits += n
		}
		all = append(all, took...)
		t.Logf("%-14s p50 %8v  p95 %8v  %.1f hits", sort, quantile(took, 0.5), quantile(took, 0.95), float64(hits)/float64(len(of[sort])))
	}
	p50, p95 := quantile(all, 0.5), quantile(all, 0.95)
	t.Logf("point 4: %d records: the function p50 %v, p95 %v", *rows, p50, p95)
	if p50 > medianBar || p95 > slowBar {
		t.Errorf("the bars are %v and %v", medianBar, slowBar)
	}
	b.whole(sorts, of)
	b.plans(of)
	if *rows <= 100_000 { // else it takes long to renumber the words
		b.restrict()
		all = nil
		for _, sort := range sorts {
			for _, query := range of[sort] {
				begun := time.Now()
				b.ask(conn, query)
				all = append(all, time.Since(begun))
			}
		}
		t.Logf("with 200 restricted projects: p50 %v, p95 %v", quantile(all, 0.5), quantile(all, 0.95))
	}
}

// whole times the searches as the command makes them: with the connection, its checks and the records.
func (b *bench) whole(sorts []string, of map[string][]string) {
	dir := b.TempDir()
	_, err := team.Join(b.Context(), dir, b.Address("alice"))
	b.must(err)
	var took []time.Duration
	for _, sort := range sorts {
		for _, query := range of[sort][:20] {
			begun := time.Now()
			_, err := team.Search(b.Context(), dir, query, 10)
			b.must(err)
			took = append(took, time.Since(begun))
		}
	}
	b.Logf("point 4: with connection and records p50 %v, p95 %v", quantile(took, 0.5), quantile(took, 0.95))
	program := filepath.Join(dir, "claude-mem")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/claude-mem").CombinedOutput(); err != nil {
		b.Fatal(string(out))
	}
	took = nil
	for _, sort := range sorts {
		for _, query := range of[sort][:10] {
			command := exec.Command(program, append([]string{"search", "--team"}, strings.Fields(query)...)...)
			command.Env = append(os.Environ(), "CLAUDE_MEM_DATA_DIR="+dir)
			begun := time.Now()
			if out, err := command.CombinedOutput(); err != nil {
				b.Fatal(string(out))
			}
			took = append(took, time.Since(begun))
		}
	}
	p50, p95 := quantile(took, 0.5), quantile(took, 0.95)
	b.Logf("point 4: the whole command, %d processes, p50 %v, p95 %v", len(took), p50, p95)
	if p50 > medianBar || p95 > slowBar {
		b.Errorf("the bars are %v and %v", medianBar, slowBar)
	}
}

// restrict has half of the projects, and others without records, be seen by one member only.
func (b *bench) restrict() {
	begun := time.Now()
	b.Exec("postgres", "INSERT INTO claude_mem.access SELECT 'p/' || 2 * n, 'alice' FROM generate_series(0, 199) n")
	b.Logf("restricted in %v", time.Since(begun).Round(time.Second))
}

// TestTimes compares the times of searches that differ by what is hidden only.
func TestTimes(t *testing.T) {
	if *rows == 0 {
		t.Skip("-rows says how many records")
	}
	s := postgres.Start(t)
	s.Team("alice", "bob")
	s.Exec("postgres", "INSERT INTO claude_mem.access VALUES ('secret', 'alice')")
	b := &bench{T: t, Server: s, vocabulary: newVocabulary(5000)}
	conn := b.connect("postgres", nil)
	var salt int32
	b.must(conn.QueryRow(t.Context(), "SELECT salt FROM claude_mem.audience").Scan(&salt))
	b.Exec("postgres", "ALTER TABLE claude_mem.record DISABLE TRIGGER USER")
	const none, hidden, seen, both = 1, 2, 3, 4 // words that records have so
	var records, searched [][]any
	for n := range *rows {
		state, _ := b.state("alice", n)
		in := team.IndexOf(state)
		project, audience, own := "open", int32(0), []int32{}
		switch {
		case n%2 == 0:
			project, audience, own = "secret", salt, []int32{hidden, both}
		case n%101 == 0:
			own = []int32{seen, both}
		}
		own = append(own, in.Hashes...)
		for i := range own {
			own[i] ^= audience
		}
		records = append(records, []any{"alice", "observation", fmt.Sprint(n), project, string(state), int64(n + 1)})
		searched = append(searched, []any{int64(n + 1), audience, own, in.Title, in.Often, bits(in.Code)})
	}
	_, err := conn.CopyFrom(t.Context(), pgx.Identifier{"claude_mem", "record"}, []string{"member", "kind", "key", "project", "state", "seq"}, pgx.CopyFromRows(records))
	b.must(err)
	_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"claude_mem", "searched"}, []string{"seq", "audience", "words", "title", "often", "code"}, pgx.CopyFromRows(searched))
	b.must(err)
	b.Exec("postgres", "VACUUM ANALYZE")
	bob := b.connect("bob", nil)
	times := map[int32][]time.Duration{}
	for round := range 1000 {
		for _, i := range b.Perm(4) {
			word := []int32{none, hidden, seen, both}[i]
			begun := time.Now()
			_, err := bob.Exec(t.Context(), "SELECT * FROM claude_mem.search($1, NULL, 10)", []int32{word})
			b.must(err)
			if round >= 20 {
				times[word] = append(times[word], time.Since(begun))
			}
		}
	}
	for _, pair := range [][2]int32{{none, hidden}, {seen, both}} {
		one, other := times[pair[0]], times[pair[1]]
		slower := 0
		for i := range one { // asked in the same round
			if other[i] > one[i] {
				slower++
			}
		}
		t.Logf("point 3: %d hidden records have the word: median %v, without them %v; slower in %d of %d rounds (by chance %d ± %.0f)", *rows/2,
			quantile(slices.Clone(other), 0.5), quantile(slices.Clone(one), 0.5), slower, len(one), len(one)/2, 2*math.Sqrt(float64(len(one))/4))
	}
}

// ask returns how many records a search finds.
func (b *bench) ask(conn *pgx.Conn, query string) (n int) {
	q := team.QueryOf(query)
	b.must(conn.QueryRow(b.Context(), "SELECT count(*) FROM claude_mem.search($1, $2::text::bit(256), 10)", q.Hashes, q.Code).Scan(&n))
	return n
}

// plans prints how the server goes about a query of each shape.
func (b *bench) plans(of map[string][]string) {
	conn := b.connect("postgres", func(said string) {
		if _, plan, found := strings.Cut(said, "ORDER BY o.score DESC, o.seq DESC LIMIT wanted\n"); found {
			b.Log(regexp.MustCompile(`'[01]{256}'|\(cost=[^)]*\) `).ReplaceAllString(plan, ""))
		}
	})
	_, err := conn.Exec(b.Context(), `LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_nested_statements = on;
		SET auto_explain.log_buffers = on; SET client_min_messages = log`)
	b.must(err)
	for _, sort := range []string{"2 of a record", "1 frequent", "4 frequent"} {
		b.Logf("PLAN %s: %s", sort, of[sort][0])
		b.ask(conn, of[sort][0])
	}
}
