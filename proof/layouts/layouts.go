// Package layouts makes databases as the versions of claude-mem for Node had them, for tests.
package layouts

import (
	"database/sql"
	"fmt"
	"strings"

	"claudemem/internal/keep/sqlite"
)

// Versions are the layouts that differ for a reader, by the version of the schema.
var Versions = []int{4, 8, 9, 11, 17, 22, 29, 33, 49}

// Secret is a text that no import may store.
const Secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// Columns are those of a table, with the version that added each.
type column struct {
	definition  string
	since, till int
}

func columns(version int, list []column) string {
	var kept []string
	for _, c := range list {
		if version >= c.since && (c.till == 0 || version < c.till) {
			kept = append(kept, c.definition)
		}
	}
	return strings.Join(kept, ", ")
}

// Create makes the tables of a version in a new file at path, in WAL mode. The caller closes
// the database.
func Create(path string, version int) (*sql.DB, error) {
	db, err := sql.Open(sqlite.Driver, sqlite.Source(path, nil, "journal_mode(wal)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	content, memory := Names(version)
	tables := []string{
		"CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL)",
		fmt.Sprintf("INSERT INTO schema_versions (version, applied_at) VALUES (%d, '2025-01-01')", version),
		"CREATE TABLE sdk_sessions (" + columns(version, []column{
			{definition: "id INTEGER PRIMARY KEY AUTOINCREMENT"}, {definition: content + " TEXT"}, {definition: memory + " TEXT UNIQUE"}, {definition: "project TEXT"},
			{definition: "platform_source TEXT", since: 24}, {definition: "user_prompt TEXT"}, {definition: "started_at TEXT"}, {definition: "started_at_epoch INTEGER"},
			{definition: "completed_at TEXT"}, {definition: "completed_at_epoch INTEGER"}, {definition: "status TEXT DEFAULT 'active'"},
			{definition: "worker_port INTEGER", since: 5}, {definition: "prompt_counter INTEGER DEFAULT 0", since: 6}, {definition: "custom_title TEXT", since: 23},
		}) + ")",
		"CREATE TABLE observations (" + columns(version, []column{
			{definition: "id INTEGER PRIMARY KEY AUTOINCREMENT"}, {definition: memory + " TEXT"}, {definition: "project TEXT"}, {definition: "text TEXT"}, {definition: "type TEXT"},
			{definition: "title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT", since: 8},
			{definition: "prompt_number INTEGER", since: 6}, {definition: "discovery_tokens INTEGER DEFAULT 0", since: 11}, {definition: "created_at TEXT"}, {definition: "created_at_epoch INTEGER"},
			{definition: "content_hash TEXT", since: 22}, {definition: "merged_into_project TEXT", since: 25}, {definition: "generated_by_model TEXT, relevance_count INTEGER DEFAULT 0", since: 26},
			{definition: "agent_type TEXT, agent_id TEXT", since: 27}, {definition: "metadata TEXT", since: 30}, {definition: "synced_at INTEGER", since: 39},
			{definition: "origin_device_id TEXT, origin_local_id INTEGER", since: 41}, {definition: "sync_rev TEXT NOT NULL DEFAULT '1'", since: 46},
		}) + ")",
		"CREATE TABLE session_summaries (" + columns(version, []column{
			{definition: "id INTEGER PRIMARY KEY AUTOINCREMENT"}, {definition: memory + " TEXT"}, {definition: "project TEXT"},
			{definition: "request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT"},
			{definition: "prompt_number INTEGER", since: 6}, {definition: "discovery_tokens INTEGER DEFAULT 0", since: 11}, {definition: "created_at TEXT"}, {definition: "created_at_epoch INTEGER"},
			{definition: "merged_into_project TEXT", since: 25},
		}) + ")",
	}
	if version >= 10 {
		tables = append(tables, "CREATE TABLE user_prompts ("+columns(version, []column{
			{definition: "id INTEGER PRIMARY KEY AUTOINCREMENT"}, {definition: "session_db_id INTEGER", since: 34}, {definition: content + " TEXT"},
			{definition: "prompt_number INTEGER"}, {definition: "prompt_text TEXT"}, {definition: "created_at TEXT"}, {definition: "created_at_epoch INTEGER"},
		})+")")
	}
	for _, statement := range tables {
		if _, err := db.Exec(statement); err != nil {
			return db, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return db, nil
}

// Names returns the columns of the host's and of the program's name for a session.
func Names(version int) (content, memory string) {
	if version < 17 {
		return "claude_session_id", "sdk_session_id"
	}
	return "content_session_id", "memory_session_id"
}

// Fill adds odd rows of every kind, and returns how many rows the tables have then.
func Fill(db *sql.DB, version int) (rows int, err error) {
	content, memory := Names(version)
	const at = 1_750_000_000_000
	insert := func(statement string, args ...any) {
		if err == nil {
			if _, err = db.Exec(statement, args...); err != nil {
				err = fmt.Errorf("%s: %w", statement, err)
			}
			rows++
		}
	}
	session := "INSERT INTO sdk_sessions (" + content + ", " + memory + ", project, started_at_epoch, status) VALUES (?, ?, ?, ?, ?)"
	insert(session, "host-1", "memory-1", "shop", at, "completed")
	insert(session, "host-2", nil, "shop/worktree", at, "active")
	insert(session, "host-3", "memory-3", "/home/ada/tally", 0, "failed")
	insert(session, nil, "memory-4", nil, nil, nil)
	text := "INSERT INTO observations (id, " + memory + ", project, text, type, created_at, created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?)"
	insert(text, 4213, "memory-1", "shop", "The cart rounded twice because totals were floats.\nNow they are cents.", "bugfix", "", at+1)
	insert(text, 4214, "memory-1", "shop", "The key is "+Secret+" <private>hunter-two</private> for the gateway.", "a long type", "", at+2)
	insert(text, 4215, "orphan", "shop", "An orphan knows the warehouse is in Ulm.", "discovery", "2025-06-15T15:06:40.000Z", nil)
	insert(text, 4216, nil, nil, "A row without a session.", nil, nil, -5)
	insert(text, 4217, "memory-1", "shop", nil, "change", "", at+3)
	insert(text, 4218, "memory-3", "/home/ada/tally", "Bytes \xff\xfe that are no UTF-8.", "discovery", "", int64(9_000_000_000_000))
	insert(text, 4219, "memory-1", "shop", strings.Repeat("A long text about the ledger. ", 40_000), "discovery", "", at+4)
	insert(text, 4220, "memory-1", "shop", "<private>all of it</private>", "discovery", "", at+5)
	insert(text, 4221, "memory-1", "shop", strings.Repeat("Too long. ", 300_000), "discovery", "", at+6)
	if version >= 8 {
		full := "INSERT INTO observations (id, " + memory + ", project, type, title, subtitle, facts, narrative, concepts, files_read, files_modified, created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		insert(full, 5001, "memory-1", "shop", "decision", "Discounts are applied before tax", "A decision", `["tax is 19 %"]`, "The accountant asked for it.", `["gotcha: tax","why"]`, `["a.go","b.go"]`, "cart/total.go", at+7)
		insert(full, 5002, "memory-1", "shop", "decision", "Discounts are applied before tax", "A decision", `["tax is 19 %"]`, "The accountant asked for it.", `["gotcha: tax","why"]`, `["a.go","b.go"]`, "cart/total.go", at+8)
		insert(full, 5003, "memory-1", "shop", "change", nil, "Only a subtitle", "not JSON", nil, `{"a":1}`, `[1,null,"c.go"]`, "null", at+9)
	}
	summary := "INSERT INTO session_summaries (" + memory + ", project, request, learned, files_read, created_at_epoch) VALUES (?, ?, ?, ?, ?, ?)"
	insert(summary, "memory-1", "shop", "Fix the cart", "Totals are cents", "cart/total.go", at+10)
	insert(summary, "memory-1", "shop", "Ship the cart", nil, `["a.go"]`, at+11)
	insert(summary, "gone", "shop", nil, nil, nil, at+12)
	if version >= 10 {
		prompt := "INSERT INTO user_prompts (" + content + ", prompt_number, prompt_text, created_at_epoch) VALUES (?, ?, ?, ?)"
		insert(prompt, "host-1", 1, "Why is the total wrong?", at+13)
		insert(prompt, "host-1", 1, "And the discount? &lt;private>hunter-two", at+14)
		insert(prompt, "nobody", 0, "A prompt of a lost session", at+15)
		insert(prompt, "host-1", 3, "", at+16)
	}
	return rows, err
}

// Word is a word that the observation of this index alone has.
func Word(i int) string { return fmt.Sprintf("ledger%dx", i) }

// Many adds n observations in 1,000 sessions to a database of version 49.
func Many(db *sql.DB, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	const at = 1_750_000_000_000
	for i := range 1000 {
		if _, err := tx.Exec("INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at_epoch) VALUES (?, ?, ?, ?)",
			fmt.Sprint("host-", i), fmt.Sprint("memory-", i), fmt.Sprint("project-", i%20), at); err != nil {
			return err
		}
	}
	insert, err := tx.Prepare("INSERT INTO observations (memory_session_id, project, type, title, narrative, facts, files_modified, created_at_epoch) VALUES (?, ?, 'bugfix', ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // the transaction ends with it
	for i := range n {
		if _, err := insert.Exec(fmt.Sprint("memory-", i%1000), fmt.Sprint("project-", i%20), "Rounding in "+Word(i)+" was fixed",
			strings.Repeat(fmt.Sprintf("Amount %d is rounded when it is read and again when it is summed. ", i), 6), fmt.Sprintf(`["amounts are cents since change %d"]`, i),
			fmt.Sprintf(`["money/part%d.go"]`, i%500), at+i); err != nil {
			return err
		}
	}
	return tx.Commit()
}
