package nodedb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"

	"github.com/oklog/ulid/v2"
)

// maxRow is the longest row that is read, in bytes of its texts.
const maxRow = exchange.MaxLine

// stubSize is about the size of a session, in bytes.
const stubSize = 300

// Rows counts the rows of a database. Stubs are sessions that rows name and that it has not.
type Rows struct {
	Sessions     int `json:"sessions"`
	Prompts      int `json:"prompts"`
	Observations int `json:"observations"`
	Summaries    int `json:"summaries"`
	Stubs        int `json:"stubs"`
}

// Total returns the number of records that a Reader gives or refuses.
func (r *Rows) Total() int { return r.Sessions + r.Prompts + r.Observations + r.Summaries + r.Stubs }

// Reader reads the rows of a database: sessions, sessions made for rows without one, prompts,
// observations, summaries.
type Reader struct {
	db     *sql.DB
	ctx    context.Context
	Rows   Rows
	tables []table
	open   *sql.Rows
	column []string
	size   int
	line   int
	// stubs are the sessions made for rows without one, missing those that Next has to give.
	stubs, missing []memory.Portable

	// byHost are the sessions by the host's name, byMemory by the Node program's, byRow by
	// their numbers.
	byHost, byMemory, byRow map[string]*memory.PortableSession
	// numbers are the highest numbers of prompts, taken those that are used.
	numbers map[memory.ULID]int
	taken   map[string]bool
}

// table is a table of the database and how a row of it is read.
type table struct {
	name, where string
	record      func(r *Reader, v row) (memory.Portable, string)
	rows        *int
}

// row has the texts of a row by column; a column that is not there is "".
type row map[string]string

// NewReader starts to read: it reads all rows once, and finds the sessions that are missing. ctx is
// that of the whole reading. The error is CodeInvalid for a damaged database. The copy stays open
// until the reading is over.
func (c *Copy) NewReader(ctx context.Context) (*Reader, error) {
	r := &Reader{
		db: c.db, ctx: ctx, byHost: map[string]*memory.PortableSession{}, byMemory: map[string]*memory.PortableSession{}, byRow: map[string]*memory.PortableSession{},
		numbers: map[memory.ULID]int{}, taken: map[string]bool{},
	}
	// The observation with the highest number comes first: another whose number is taken gets
	// one above all of them. The others ascend, so that the pages that they are stored in are full.
	const highest = "(SELECT max(id) FROM observations)"
	for _, t := range []table{
		{"sdk_sessions", "", (*Reader).session, &r.Rows.Sessions},
		{"user_prompts", "", (*Reader).prompt, &r.Rows.Prompts},
		{"observations", " WHERE id IS " + highest, (*Reader).observation, &r.Rows.Observations},
		{"observations", " WHERE id IS NOT " + highest, (*Reader).observation, &r.Rows.Observations},
		{"session_summaries", "", (*Reader).summary, &r.Rows.Summaries},
	} {
		var there bool
		if err := r.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", t.name).Scan(&there); err != nil {
			return nil, damaged(err)
		}
		if !there {
			continue // prompts came with version 10
		}
		r.tables = append(r.tables, t)
		var rows int
		if err := r.db.QueryRowContext(ctx, "SELECT count(*) FROM "+t.name+t.where).Scan(&rows); err != nil {
			return nil, damaged(err)
		}
		*t.rows += rows
	}
	if err := r.findSessions(); err != nil {
		return nil, damaged(err)
	}
	return r, nil
}

func damaged(err error) error {
	return memory.Errorf(memory.CodeInvalid, "read the database: %w", err).WithHint("it is damaged; import a backup of it")
}

// query opens the rows of a table (r.open) and reads the names of their columns as version 17 has them.
// The caller closes the rows before it opens others.
func (r *Reader) query(t *table) (err error) {
	// Each order is by the row's number, which every layout has.
	//nolint:rowserrcheck // Next checks it after the last row, as does Each
	if r.open, err = r.db.QueryContext(r.ctx, "SELECT * FROM "+t.name+t.where+" ORDER BY id"); err != nil {
		return err
	}
	r.column, err = r.open.Columns()
	for i, name := range r.column {
		switch name {
		case "claude_session_id":
			r.column[i] = "content_session_id"
		case "sdk_session_id":
			r.column[i] = "memory_session_id"
		}
	}
	return err
}

// scan reads the row that is open, and notes its size. Numbers come as text, NULL as "".
func (r *Reader) scan() (row, error) {
	values := make([]sql.NullString, len(r.column))
	if err := r.open.Scan(collect.MapPtr(values, func(v *sql.NullString) any { return v })...); err != nil {
		return nil, err
	}
	v, size := row{}, 0
	for i, name := range r.column {
		size += len(values[i].String)
		v[name] = strings.ToValidUTF8(values[i].String, "\uFFFD")
	}
	r.size = size
	return v, nil
}

// findSessions reads the sessions, and makes those that rows name and that are not there: r.stubs. It
// also settles their projects, so that Next gives each session in its last form.
func (r *Reader) findSessions() error {
	for i := range r.tables {
		t := &r.tables[i]
		if err := r.query(t); err != nil {
			return err
		}
		err := sqlite.Rows(r.open, nil).Each(func(func(...any) error) error {
			v, err := r.scan()
			if err != nil {
				return err
			}
			if t.name == "sdk_sessions" {
				p, _ := r.session(v)
				r.remember(p.Session, v)
				return nil
			}
			followProject(r.parent(v), v)
			return nil
		})
		if r.open = nil; err != nil {
			return err
		}
	}
	r.Rows.Stubs = len(r.stubs)
	return nil
}

// followProject gives a session the project of a row of it where only the row tells it: rows
// are merged into another project without their session, and sessions may lack one.
func followProject(s *memory.PortableSession, v row) {
	if v["merged_into_project"] != "" || s.ProjectPath == unknownProject && v["project"] != "" {
		s.ProjectPath = v.project()
		s.Label = memory.ProjectLabel(s.ProjectPath)
	}
}

// remember keeps a session under the names that its row v has; of two sessions the first keeps a name.
func (r *Reader) remember(s *memory.PortableSession, v row) {
	for _, n := range []struct {
		by   map[string]*memory.PortableSession
		name string
	}{{r.byHost, v["content_session_id"]}, {r.byMemory, v["memory_session_id"]}, {r.byRow, v["id"]}} {
		if n.name != "" && n.by[n.name] == nil {
			n.by[n.name] = s
		}
	}
}

// parent returns the session of a row, and makes one if there is none; after findSessions there is one
// for every row. Rows that name no session share one for each project.
func (r *Reader) parent(v row) *memory.PortableSession {
	mem, host := v["memory_session_id"], v["content_session_id"]
	if s := cmp.Or(r.byRow[v["session_db_id"]], r.byHost[host], r.byMemory[mem]); s != nil {
		return s
	}
	if mem == "" && host == "" {
		mem = "none " + v.project()
		v = row{"memory_session_id": mem, "project": v["project"]}
		if s := r.byMemory[mem]; s != nil {
			return s
		}
	}
	p, _ := r.session(row{
		"memory_session_id": mem, "content_session_id": host, "project": v["project"], "merged_into_project": v["merged_into_project"],
		"started_at_epoch": v["created_at_epoch"], "started_at": v["created_at"], "status": "completed",
	})
	r.remember(p.Session, row{"memory_session_id": mem, "content_session_id": host})
	r.stubs = append(r.stubs, p)
	return p.Session
}

// Size returns the size of the last row in bytes.
func (r *Reader) Size() int { return r.size }

// Next returns the next record and the number of its row, counted from 1 over all tables. The
// errors: io.EOF after the last one; an exchange.LineError with the reason for a row that is no
// record, after which Next goes on; CodeInvalid for a damaged database.
func (r *Reader) Next() (p memory.Portable, line int, err error) {
	for len(r.tables) > 0 || len(r.missing) > 0 {
		if len(r.missing) > 0 {
			s := *r.missing[0].Session // the caller may change it, and its children are named after it
			r.missing, r.size = r.missing[1:], stubSize
			r.line++
			return memory.Portable{Session: &s}, r.line, nil
		}
		t := &r.tables[0]
		if r.open == nil {
			if err := r.query(t); err != nil {
				return p, r.line, damaged(err)
			}
		}
		if r.open.Next() {
			r.line++
			v, err := r.scan()
			if err != nil {
				return p, r.line, damaged(err)
			}
			p, reason := t.record(r, v)
			if r.size > maxRow {
				reason = fmt.Sprintf("it has more than %d MB", maxRow>>20)
			}
			if reason != "" {
				return p, r.line, &exchange.LineError{Line: r.line, Err: memory.Errorf(memory.CodeInvalid, "%s %s: %s", t.name, v["id"], reason)}
			}
			return p, r.line, nil
		}
		err := r.open.Err()
		_ = r.open.Close() // Err has said what was wrong
		if r.open = nil; err != nil {
			return p, r.line, damaged(err)
		}
		if t.name == "sdk_sessions" {
			r.missing = r.stubs
		}
		r.tables = r.tables[1:]
	}
	return p, r.line, io.EOF
}

var hosts = map[string]memory.Host{"": memory.HostClaudeCode, "claude": memory.HostClaudeCode}

// session reads a session: a copy of the one that findSessions has completed, if it knows it. There is
// no reason against a session.
func (r *Reader) session(v row) (memory.Portable, string) {
	if known := r.byRow[v["id"]]; known != nil {
		s := *known // the caller may change it
		return memory.Portable{Session: &s}, ""
	}
	host, known := hosts[v["platform_source"]]
	if !known {
		host = memory.Host(word(v["platform_source"], string(memory.HostClaudeCode)))
	}
	name := cmp.Or(v["content_session_id"], "node-"+cmp.Or(v["memory_session_id"], v["id"]))
	project := v.project()
	started := v.time("started_at")
	s := &memory.PortableSession{
		ULID: nameOf("session", started, string(host), name), Host: host, HostSessionID: name, ProjectPath: project, Label: memory.ProjectLabel(project),
		Status: memory.SessionCompleted, Title: v["custom_title"], StartedAt: started, CompletedAt: v.time("completed_at"),
	}
	switch v["status"] {
	case "failed":
		s.Status = memory.SessionFailed
	case "active":
		s.Status = memory.SessionInterrupted // of the Node program, which is another one
	}
	s.UpdatedAt = max(s.StartedAt, s.CompletedAt)
	return memory.Portable{Session: s}, ""
}

// prompt reads a prompt, or returns the reason why it is none. One whose number another prompt of the
// session has gets the next one, but its ULID is that of its own number, so that a second import
// finds it.
func (r *Reader) prompt(v row) (memory.Portable, string) {
	s := r.parent(v)
	number := v.number("prompt_number")
	at := cmp.Or(v.time("created_at"), s.StartedAt)
	key := func() string { return fmt.Sprint(s.ULID, " ", number) } // of the number as it is then
	id := nameOf("prompt", at, s.HostSessionID, strconv.Itoa(number), v["prompt_text"])
	if number == 0 || r.taken[key()] {
		number = r.numbers[s.ULID] + 1
	}
	r.taken[key()] = true
	r.numbers[s.ULID] = max(r.numbers[s.ULID], number)
	if strings.TrimSpace(v["prompt_text"]) == "" {
		return memory.Portable{}, noText
	}
	return memory.Portable{Prompt: &memory.PortablePrompt{ULID: id, Session: s.ULID, Number: number, Text: v["prompt_text"], CreatedAt: at}}, ""
}

const noText = "it has no text"

// observation reads an observation of any layout, or returns the reason why it is none: before
// version 8 it has only a text. Without a title the first line of what it says becomes one.
func (r *Reader) observation(v row) (memory.Portable, string) {
	s := r.parent(v)
	o := &memory.PortableObservation{
		Session: s.ULID, ProjectPath: v.project(), PromptNumber: v.number("prompt_number"), Type: memory.ObservationType(word(v["type"], string(memory.TypeDiscovery))),
		Title: v["title"], Subtitle: v["subtitle"], Narrative: v["narrative"], Facts: list(v["facts"]), Concepts: concepts(v["concepts"]),
		DiscoveryTokens: v.number("discovery_tokens"), Origin: memory.OriginImport, Provenance: memory.FromOutside,
		AgentID: v["agent_id"], AgentType: v["agent_type"], TimesSeen: 1, CreatedAt: cmp.Or(v.time("created_at"), s.StartedAt), AskedID: v.number("id"),
	}
	if more := strings.TrimSpace(v["text"]); more != "" && !strings.Contains(o.Narrative, more) {
		o.Narrative = strings.TrimSpace(o.Narrative + "\n\n" + more)
	}
	if strings.TrimSpace(o.Title) == "" {
		line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(strings.TrimSpace(o.Narrative), strings.TrimSpace(o.Subtitle), strings.Join(o.Facts, "\n"))), "\n")
		o.Title = text.TruncateRunes(text.Line(line), maxTitle)
	}
	if o.Title == "" {
		return memory.Portable{}, noText
	}
	o.Files = memory.FileRefs(text.Add(nil, list(v["files_modified"])...), text.Add(nil, list(v["files_read"])...), nil, math.MaxInt)
	o.ULID = nameOf("observation", o.CreatedAt, s.HostSessionID, v["title"], v["narrative"], v["text"], v["facts"])
	return memory.Portable{Observation: o}, ""
}

// summary reads a summary, or returns the reason why it is none.
func (r *Reader) summary(v row) (memory.Portable, string) {
	s := r.parent(v)
	p := &memory.PortableSummary{
		Session: s.ULID, PromptNumber: v.number("prompt_number"), Request: v["request"], Investigated: v["investigated"], Learned: v["learned"],
		Completed: v["completed"], NextSteps: v["next_steps"], Notes: v["notes"], FilesRead: list(v["files_read"]), FilesEdited: list(v["files_edited"]),
		Origin: memory.OriginImport, CreatedAt: cmp.Or(v.time("created_at"), s.StartedAt),
	}
	all := strings.Join([]string{p.Request, p.Investigated, p.Learned, p.Completed, p.NextSteps, p.Notes}, "\x00")
	if strings.Trim(all, "\x00 \t\r\n") == "" {
		return memory.Portable{}, noText
	}
	p.ULID = nameOf("summary", p.CreatedAt, s.HostSessionID, all)
	return memory.Portable{Summary: p}, ""
}

// nameOf returns the ULID of a row, by its time and natural key: the same in every copy of the row. The
// time is not negative.
func nameOf(kind string, at memory.Millis, key ...string) memory.ULID {
	sum := sha256.Sum256([]byte("claude-mem.db\x00" + kind + "\x00" + strings.Join(key, "\x00")))
	var id ulid.ULID
	_ = id.SetTime(uint64(at))  // LatestTime fits
	_ = id.SetEntropy(sum[:10]) // it has 10 bytes
	return memory.ULID(id.String())
}

// time returns the time of a column: by its number, else its ISO text; 0 for none.
func (v row) time(column string) memory.Millis {
	if n, err := strconv.ParseFloat(v[column+"_epoch"], 64); err == nil && n > 0 && n <= float64(memory.LatestTime) {
		return memory.Millis(n)
	}
	if at, err := time.Parse(time.RFC3339Nano, v[column]); err == nil && at.UnixMilli() > 0 && at.UnixMilli() <= int64(memory.LatestTime) {
		return memory.MillisOf(at)
	}
	return 0
}

// number returns a number that is not negative, 0 for another value.
func (v row) number(column string) int {
	n, err := strconv.ParseInt(v[column], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// project returns the project of a row: an absolute path as it is, else a label. Of a worktree
// ("shop/fix") the label is the repository's, whose worktrees are one project here.
func (v row) project() string {
	name := cmp.Or(strings.TrimSpace(v["merged_into_project"]), strings.TrimSpace(v["project"]))
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	if len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') { // C:\… of Windows
		return name
	}
	name, _, _ = strings.Cut(name, "/")
	if name == "" {
		return unknownProject
	}
	return "label:" + name
}

// unknownProject is the project of rows without one, as claude-mem for Node names it.
const unknownProject = "label:unknown"

// list returns the texts of a column, trimmed and without blank ones: those of a JSON list, without
// what is no text in it, else the lines of a JSON text or of the column as it is; nil for none.
func list(s string) (texts []string) {
	var items []any
	if s = strings.TrimSpace(s); s == "" || s == "null" {
		return nil
	}
	if json.Unmarshal([]byte(s), &items) != nil {
		var one string
		if json.Unmarshal([]byte(s), &one) == nil {
			s = one
		}
		for line := range strings.Lines(s) {
			items = append(items, line)
		}
	}
	for _, item := range items {
		if t, ok := item.(string); ok && strings.TrimSpace(t) != "" {
			texts = append(texts, strings.TrimSpace(t))
		}
	}
	return texts
}

// concepts returns the concepts of a column; of "gotcha: why" the word before the colon.
func concepts(s string) (words []string) {
	words = collect.Map(list(s), func(c string) string { return strings.TrimSpace(text.Before(c, ":")) })
	return collect.Keep(words, func(c string) bool { return c != "" })
}

// word returns s as a word of a vocabulary, in lower case, other if it is none that
// memory.Portable.Check takes.
func word(s, other string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" || len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return other
	}
	return s
}

// maxTitle is the length of a title that is the beginning of a text, in characters.
const maxTitle = 120
