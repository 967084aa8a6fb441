//go:build unix

package wild

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/layouts"
)

// played are the forms that have no sessions.
func played() (list []form) {
	add := func(kind, name string, play func(u *user)) {
		list = append(list, form{kind: kind, name: name, play: play})
	}
	same := func(line string) string { return line }
	add("node-orphan-project", "an export's observation of another project", func(u *user) { u.orphan("/gone/elsewhere", same) })
	add("node-orphan-project", "of a name with blanks and other letters", func(u *user) { u.orphan("label:Zweites Gärtchen", same) })
	add("node-orphan-project", "a learning alone", func(u *user) {
		u.orphan(`D:\work\ledger`, func(string) string {
			return `{"learning":{"ulid":"01M8ED854J6JRB8FHW68KXM8A9","project":"D:\\work\\ledger","category":"gotcha","content":"The bank's export ends with blank lines.",` +
				`"confidence":0.8,"times_seen":1,"active":true,"created_at":1795779990674,"updated_at":1795779990674}}`
		})
	})
	for _, c := range []struct{ name, definition string }{
		{"a trigger on a table that is not there", "'trigger', 'tr', 'gone', 0, 'CREATE TRIGGER tr AFTER INSERT ON gone BEGIN SELECT 1; END'"},
		{"a table whose definition is cut", "'table', 'sync_queue', 'sync_queue', 0, 'CREATE TABLE sync_queue (id INTEGER'"},
		{"an index that is left of a table", "'index', 'sqlite_autoindex_gone_1', 'gone', 2, NULL"},
		{"a view that is no statement", "'view', 'recent', 'recent', 0, 'CREATE VIEW recent AS SELEC'"},
		{"an index whose pages are another's", "'index', 'twin', 'observations', 1, 'CREATE INDEX twin ON observations (project)'"},
	} {
		add("node-broken-index", c.name, func(u *user) { u.broken(c.definition) })
	}
	for _, c := range []struct {
		name    string
		queries []string
	}{
		{"signs of several characters", []string{"👩‍💻", "🇩🇪", "❤️", "👍🏽"}},
		{"signs of other scripts", []string{"。", "、！", "「」", "؟", "।", "…—", "«»", "€", "∀∃"}},
		{"icons and blanks of fonts", []string{"\ue0b0", "\uf09b \uf0e7", "\u2800", "\u200b"}},
	} {
		add("emoji-search", c.name, func(u *user) { u.unsearchable(c.queries) })
	}
	for _, c := range []struct {
		name string
		dirs []string
	}{
		{"relative in other words", []string{".", "..", "a/../b", "-"}},
		{"variables and quotes of shells", []string{`%APPDATA%\mem`, "${HOME}/mem", "'/tmp/quoted'", "$env:TEMP/mem"}},
		{"of other systems", []string{`\\server\share`, `~\mem`, "C:/mem", "\u00a0/tmp/mem", "~~/mem"}},
	} {
		add("relative-data-dir", c.name, func(u *user) { u.refused(c.dirs) })
	}
	windows := strings.NewReplacer("\n", "\r\n")
	add("bom-export", "UTF-16, as PowerShell 5 redirects", func(u *user) {
		u.marked(func(text string) []byte { return inUTF16(binary.LittleEndian, windows.Replace(text)) })
	})
	add("bom-export", "UTF-16, the bytes the other way around", func(u *user) {
		u.marked(func(text string) []byte { return inUTF16(binary.BigEndian, text) })
	})
	add("bom-export", "two marks, blank lines", func(u *user) {
		u.marked(func(text string) []byte {
			return []byte("\ufeff\ufeff" + windows.Replace(strings.ReplaceAll(text, "\n", "\n\n")))
		})
	})
	return list
}

// exported returns the export of the reported case with other ids, a title and a project.
func exported(u *user, title, project string) string {
	content := string(u.ReadFile(world.Root("testdata", "wild", "bom-export", "export.jsonl")))
	u.made++
	return strings.NewReplacer("\ufeff", "", "01M8ED8", fmt.Sprintf("01M8E%02d", u.made), `"s1"`, fmt.Sprintf(`"exported-%d"`, u.made),
		`"title":"The importer`, `"title":"`+title+` importer`, `/home/ada/shop","prompt_number"`, project+`","prompt_number"`, "/home/ada", u.Home).Replace(content)
}

// orphan imports an export in which one record is of a project that no session has, and has it listed,
// read, exported, merged or forgotten. change changes the line of that record.
func (u *user) orphan(project string, change func(line string) string) {
	u.T.Helper()
	lines := strings.SplitAfter(exported(u, "Orphan", strings.ReplaceAll(project, `\`, `\\`)), "\n")
	lines[3] = strings.TrimSuffix(change(strings.TrimSuffix(lines[3], "\n")), "\n") + "\n"
	file := filepath.Join(u.Home, "orphan.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		u.T.Fatal(err)
	}
	u.MustCommand("import", "--yes", file)
	listed := func() bool {
		return slices.ContainsFunc(u.projectList(), func(line string) bool { return strings.HasSuffix(line, " "+project) })
	}
	if !listed() {
		u.T.Errorf("%s is not listed: %q", project, u.projectList())
	}
	if strings.Contains(lines[3], `"observation"`) {
		u.lists(1, "recent", "-p", project)
		u.lists(1, "search", "importer", "-p", project)
	}
	part := filepath.Join(u.Home, "part.jsonl")
	u.MustCommand("export", part, "--force", "--project", project)
	if content := string(u.ReadFile(part)); !strings.Contains(content, "blank lines") {
		u.T.Errorf("its export:\n%s", content)
	}
	for _, name := range []string{part, file} { // forget looks for copies
		if err := os.Remove(name); err != nil {
			u.T.Fatal(err)
		}
	}
	u.MustCommand("forget", "--project", project, "--yes")
	if listed() {
		u.T.Errorf("%s is listed when it is forgotten", project)
	}
}

// broken imports a database of the Node program with a definition that does not fit: its type, name, table,
// page and statement.
func (u *user) broken(definition string) {
	u.T.Helper()
	u.made++
	path := filepath.Join(u.Home, fmt.Sprintf("broken-%d", u.made), "claude-mem.db")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var db *sql.DB
	if err == nil {
		db, err = layouts.Create(path, 49)
	}
	if err != nil {
		u.T.Fatal(err)
	}
	title := fmt.Sprintf("Broken %d", u.made)
	for _, s := range []string{
		fmt.Sprintf("INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at_epoch) VALUES ('broken-%d', 'm', 'broken', 1750000000000)", u.made),
		fmt.Sprintf("INSERT INTO observations (memory_session_id, project, type, title, narrative, created_at_epoch) VALUES ('m', 'broken', 'change', '%s', 'All rows are whole.', 1750000000001)", title),
		"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA writable_schema = ON", "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (" + definition + ")",
	} {
		if _, err := db.Exec(s); err != nil {
			u.T.Fatal(s, err)
		}
	}
	if err := db.Close(); err != nil {
		u.T.Fatal(err)
	}
	if out, err := u.Command("import", "--yes", path); err != nil && !strings.Contains(err.Error(), "without a directory") {
		u.T.Errorf("import: %s %v", out, err)
	}
	if titles := u.of("recent", "-p", "label:broken"); !slices.Contains(titles, title) {
		u.T.Errorf("imported: %q", titles)
	}
}

// unsearchable asks for what cannot be searched for, by each way.
func (u *user) unsearchable(queries []string) {
	u.T.Helper()
	if u.found("party") == 0 {
		u.MustCommand("remember", "Deploy failed 🚀 after the release party, says 👩‍💻 in 「東京」.")
		u.MustCommand("reindex")
	}
	for _, query := range queries {
		u.nothing(query)
		u.lists(0, "search", query)
	}
	answer, err := u.ToolAnswer(u.Home, "search_memory", map[string]any{"query": queries[0]})
	if err != nil || !strings.Contains(answer, "no letters and digits") || strings.Contains(answer, "Deploy") {
		u.T.Errorf("%s by MCP: %s %v", queries[0], answer, err)
	}
	u.lists(1, "search", queries[0]+" party", "--all")
}

// refused runs commands with data directories that are none.
func (u *user) refused(dirs []string) {
	u.T.Helper()
	before := u.entries()
	for _, dir := range dirs {
		env := append(slices.Clone(u.Env), "CLAUDE_MEM_DATA_DIR="+dir)
		other := &user{Memory: &world.Memory{T: u.T, Dir: u.Dir, Home: u.Home, Env: env}, shop: u.shop}
		if out, err := other.Command("remember", "x"); err == nil || !strings.Contains(err.Error(), "no absolute path") {
			u.T.Errorf("%q: %s %v", dir, out, err)
		}
		start := other.Hook("--host codex context", []byte(`{"hook_event_name":"SessionStart","session_id":"s","source":"startup","cwd":"`+u.shop+`"}`))
		save := other.Hook("--host gemini new", []byte(`{"hook_event_name":"BeforeAgent","session_id":"s","prompt":"hello","cwd":"`+u.shop+`"}`))
		if start.Exit != 0 || !strings.Contains(string(start.Stdout), "no absolute path") || save.Exit != 0 || len(save.Stdout) != 0 {
			u.T.Errorf("%q: %s, %s", dir, start.Stdout, save.Stdout)
		}
	}
	u.expect("made", before, u.entries())
}

// marked imports an export in an encoding, from a file and from standard input.
func (u *user) marked(encoded func(text string) []byte) {
	u.T.Helper()
	for _, way := range []string{"file", "-"} {
		title := fmt.Sprintf("Grüße %s %d", way, u.made)
		content := encoded(exported(u, title, u.shop))
		file := filepath.Join(u.Home, "marked.jsonl")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			u.T.Fatal(err)
		}
		if way == "file" {
			u.MustCommand("import", "--yes", file)
		} else {
			piped := exec.Command(world.Binary("claude-mem"), "import", "--yes", "-")
			piped.Env, piped.Dir, piped.Stdin = u.Env, u.Home, bytes.NewReader(content)
			if out, err := piped.CombinedOutput(); err != nil {
				u.T.Fatal(string(out), err)
			}
		}
		if titles := u.of("recent", "--all"); !slices.ContainsFunc(titles, func(t string) bool { return strings.HasPrefix(t, title) }) {
			u.T.Errorf("%q is not among %q", title, titles)
		}
	}
}

// inUTF16 returns a text as Windows calls Unicode, behind a mark.
func inUTF16(order binary.ByteOrder, text string) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, order, utf16.Encode([]rune("\ufeff"+text))) // never fails
	return b.Bytes()
}
