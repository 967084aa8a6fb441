//go:build unix

package wild

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"github.com/google/go-cmp/cmp"
)

// user is somebody with a memory and a project at ~/shop, to which the cases' paths are moved.
type user struct {
	*world.Memory
	shop, projects string
	made           int // cases made so far: each has ids of its own
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{Memory: world.NewMemory(t)}
	u.shop, u.projects = filepath.Join(u.Home, "shop"), filepath.Join(u.Home, ".claude", "projects", "-shop")
	if err := os.MkdirAll(u.shop, 0o755); err != nil {
		t.Fatal(err)
	}
	return u
}

// place returns a case's text with its paths moved to the user's home.
func (u *user) place(content []byte) []byte {
	return []byte(strings.ReplaceAll(string(content), "/home/ada", u.Home))
}

// put copies a case, or a file of it, to the transcripts of Claude Code.
func (u *user) put(name string) {
	u.T.Helper()
	root := world.Root("testdata", "wild", name)
	files := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inner, _ := filepath.Rel(root, path)
		to := filepath.Join(u.projects, inner)
		if inner == "." {
			to = filepath.Join(u.projects, filepath.Base(path))
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		files++
		if err == nil {
			err = os.WriteFile(to, u.place(content), 0o600)
		}
		return err
	})
	if err != nil || files == 0 {
		u.T.Fatal(files, err)
	}
}

// imported imports the transcripts and returns what was added, and the lists of sessions.
func (u *user) imported() (counts string) {
	u.T.Helper()
	var done struct {
		Added struct{ Prompts, Tools, Stops int }
		Read  struct {
			Broken, Mended, Copied int
			OfHost                 int `json:"of_host"`
		}
	}
	if err := json.Unmarshal(u.MustCommand("import", filepath.Dir(u.projects), "--yes", "--json"), &done); err != nil {
		u.T.Fatal(err)
	}
	return fmt.Sprintf("%d prompts, %d calls, %d ends; copied %d, of the host %d, broken %d, mended %d",
		done.Added.Prompts, done.Added.Tools, done.Added.Stops, done.Read.Copied, done.Read.OfHost, done.Read.Broken, done.Read.Mended)
}

// hook runs the hook on a payload of a case.
func (u *user) hook(host string, path ...string) {
	u.T.Helper()
	content, err := os.ReadFile(world.Root(append([]string{"testdata", "wild"}, path...)...))
	if err != nil {
		u.T.Fatal(err)
	}
	if r := u.Hook(host, u.place(content)); r.Exit != 0 {
		u.T.Fatalf("exit %d: %s", r.Exit, r.Stderr)
	}
}

// sessions returns the sessions' titles and numbers of prompts, the first one first.
func (u *user) sessions() (list []string) {
	u.T.Helper()
	u.Settle(20 * time.Second)
	var page struct {
		Results []struct {
			Title   string
			Prompts int `json:"prompt_count"`
		}
	}
	if err := json.Unmarshal(u.MustCommand("sessions", "--all", "--json"), &page); err != nil {
		u.T.Fatal(err)
	}
	for i := len(page.Results) - 1; i >= 0; i-- {
		list = append(list, fmt.Sprintf("%s (%d)", page.Results[i].Title, page.Results[i].Prompts))
	}
	return list
}

// found returns how many records a search has.
func (u *user) found(query string) int {
	u.T.Helper()
	var page struct{ Total int }
	if err := json.Unmarshal(u.MustCommand("search", query, "--all", "--json"), &page); err != nil {
		u.T.Fatal(err)
	}
	return page.Total
}

func (u *user) expect(what string, want, got any) {
	u.T.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		u.T.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// nothing fails the test if a search finds any of the words.
func (u *user) nothing(words ...string) {
	u.T.Helper()
	for _, w := range words {
		if n := u.found(w); n != 0 {
			u.T.Errorf("%d records have %q", n, w)
		}
	}
}

func TestForkMarked(t *testing.T) {
	u := newUser(t)
	u.put("fork-forkedFrom")
	u.expect("import", "2 prompts, 4 calls, 2 ends; copied 8, of the host 0, broken 0, mended 0", u.imported())
	u.expect("sessions", []string{"Fix the retry limit of the uploader (1)", "Now also log each retry (1)"}, u.sessions())
	u.expect("again", "0 prompts, 0 calls, 0 ends; copied 8, of the host 0, broken 0, mended 0", u.imported())
}

// TestForkBesideOriginal: which one is the copy does not hang on the times of files, nor on the order in
// which they are imported.
func TestForkBesideOriginal(t *testing.T) {
	const original, fork = "aaaaaaaa-0000-4000-8000-000000000001.jsonl", "bbbbbbbb-0000-4000-8000-000000000002.jsonl"
	want := []string{"Fix the retry limit of the uploader (2)", "Try a queue instead (1)"}
	for _, newest := range []string{original, fork} {
		u := newUser(t)
		u.put("fork-mtime")
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(u.projects, newest), later, later); err != nil {
			t.Fatal(err)
		}
		u.expect("import", "3 prompts, 3 calls, 3 ends; copied 6, of the host 0, broken 0, mended 0", u.imported())
		u.expect("sessions", want, u.sessions())
	}
	u := newUser(t)
	u.put("fork-mtime/" + original)
	u.imported()
	u.put("fork-mtime/" + fork)
	u.imported()
	u.expect("one by one", want, u.sessions())
}

func TestForgottenFork(t *testing.T) {
	u := newUser(t)
	u.put("forgotten-fork/aaaaaaaa-0000-4000-8000-000000000001.jsonl")
	u.imported()
	world.Until(t, 20*time.Second, "it is remembered", func() bool { return u.found("Quux") > 0 })
	u.MustCommand("forget", "--session", "S1", "--yes")
	u.put("forgotten-fork")
	u.imported()
	u.expect("sessions", []string{"Try a queue instead (1)"}, u.sessions())
	u.nothing("Quux", "Zenobia")
}

func TestTornLines(t *testing.T) {
	u := newUser(t)
	u.put("torn-lines")
	u.expect("import", "8 prompts, 8 calls, 8 ends; copied 0, of the host 0, broken 0, mended 5", u.imported())
	for _, title := range u.sessions() {
		if !strings.HasPrefix(title, "Question ") || !strings.HasSuffix(title, "(1)") {
			t.Errorf("a session is called %q", title)
		}
	}
}

func TestEditorsText(t *testing.T) {
	u := newUser(t)
	u.hook("new", "ide-prompt", "UserPromptSubmit.json")
	u.expect("captured", []string{"Rename the total column to amount (1)"}, u.sessions())
	u.put("ide-prompt")
	u.imported()
	u.expect("imported", []string{"Rename the total column to amount (1)", "Rename the total column (1)", "Rename the total column to amount (1)"}, u.sessions())
	u.nothing("blue-heron-77", "SMTP_HOST")
}

func TestTeamMates(t *testing.T) {
	u := newUser(t)
	u.hook("new", "teammate", "UserPromptSubmit.json")
	u.Hook("summary", []byte(`{"hook_event_name":"Stop","session_id":"t1","cwd":"`+u.shop+`","last_assistant_message":"The changelog names the new flags."}`))
	u.Settle(20 * time.Second)
	if n := u.QueryOne("SELECT count(*) FROM events WHERE kind = 'tool' AND tool_name = 'Agent' AND outcome = 'processed'"); n != 1 {
		t.Errorf("%d messages were captured, want one", n)
	}
	u.expect("prompts", 0, u.QueryOne("SELECT count(*) FROM prompts"))
	u.put("teammate")
	u.expect("import", "1 prompts, 2 calls, 3 ends; copied 0, of the host 0, broken 0, mended 0", u.imported())
	for _, title := range u.sessions() {
		if strings.Contains(title, "teammate") || strings.Contains(title, "idle_notification") {
			t.Errorf("a session is called %q", title)
		}
	}
}

// TestNamesInBothForms: a file whose name came in composed and in decomposed letters is found in
// both, by either.
func TestNamesInBothForms(t *testing.T) {
	u := newUser(t)
	for _, form := range []string{"nfc", "nfd"} {
		u.hook("save", "nfd-path", "PostToolUse-"+form+".json")
	}
	u.Hook("summary", []byte(`{"hook_event_name":"Stop","session_id":"n1","cwd":"`+u.shop+`","last_assistant_message":"The letters are counted by their composed form, so that widths agree."}`))
	u.Settle(20 * time.Second)
	n := u.QueryOne("SELECT count(DISTINCT o.id) FROM observations o JOIN observation_files f ON f.observation_id = o.id WHERE f.path LIKE 'src/%'")
	if n == 0 {
		t.Fatal("nothing is remembered of the files")
	}
	for _, typed := range []string{"src/\ud55c\uae00.go", "\u1112\u1161\u11ab", "\ud55c"} {
		var found struct{ Total int }
		if err := json.Unmarshal(u.MustCommand("search", "--file", typed, "--project", u.shop, "--json"), &found); err != nil || found.Total != n {
			t.Errorf("%q finds %d records, %v; want %d", typed, found.Total, err, n)
		}
	}
}

func TestHostsAgents(t *testing.T) {
	u := newUser(t)
	u.put("compaction-agent")
	u.expect("import", "2 prompts, 4 calls, 2 ends; copied 0, of the host 2, broken 0, mended 0", u.imported())
	u.sessions()
	u.nothing("PURPLEFINCH", "GREENHERON")
}

func TestWarmUps(t *testing.T) {
	u := newUser(t)
	u.put("warmup")
	u.expect("import", "1 prompts, 2 calls, 1 ends; copied 0, of the host 4, broken 0, mended 0", u.imported())
	u.expect("sessions", []string{"Fix the retry limit of the uploader (1)"}, u.sessions())
	if block := string(u.MustCommand("context", "--preview", "--project", u.shop)); !strings.Contains(block, "retry limit") || strings.Contains(block, "Warmup") || strings.Contains(block, "ready to work") {
		t.Errorf("the block has them:\n%s", block)
	}
}

func TestBlankPrompt(t *testing.T) {
	u := newUser(t)
	say := func(verb, members string) {
		if r := u.Hook("--host gemini "+verb, []byte(`{"session_id":"g1","cwd":"`+u.shop+`",`+members+`}`)); r.Exit != 0 {
			t.Fatal(r.Exit)
		}
	}
	say("new", `"hook_event_name":"BeforeAgent","prompt":"Why is the sky test red?"`)
	u.hook("--host gemini new", "gemini-empty-prompt", "BeforeAgent-empty.json")
	say("summary", `"hook_event_name":"AfterAgent","prompt_response":"The sky test is red because the fixture is old."`)
	u.expect("sessions", []string{"Why is the sky test red? (1)"}, u.sessions())
}

// projects returns the projects, with their paths.
func (u *user) projectList() (list []string) {
	u.T.Helper()
	u.Settle(20 * time.Second)
	var page struct {
		Results []struct {
			Project string
			Path    string `json:"project_path"`
		}
	}
	if err := json.Unmarshal(u.MustCommand("projects", "--json"), &page); err != nil {
		u.T.Fatal(err)
	}
	for _, p := range page.Results {
		list = append(list, p.Project+" "+p.Path)
	}
	slices.Sort(list)
	return list
}

// files returns the files that records modified.
func (u *user) files() (list []string) {
	u.T.Helper()
	var page struct {
		Results []struct {
			Modified []string `json:"files_modified"`
		}
	}
	if err := json.Unmarshal(u.MustCommand("recent", "--all", "--json"), &page); err != nil {
		u.T.Fatal(err)
	}
	for _, o := range page.Results {
		list = append(list, o.Modified...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestGoneWorktree(t *testing.T) {
	u := newUser(t)
	u.put("gone-worktree")
	u.imported()
	u.expect("projects", []string{`billing C:\Users\me\src\billing`, "shop " + u.shop}, u.projectList())
}

func TestWindowsElsewhere(t *testing.T) {
	u := newUser(t)
	u.put("windows-import")
	u.imported()
	u.expect("projects", []string{`billing C:\Users\me\src\billing`}, u.projectList())
	u.expect("files", []string{"internal/round.go", "internal/total.go"}, u.files())
}

// TestOrphanProjects: a project is whatever a record names: it can be listed, read, searched, exported,
// merged and forgotten.
func TestOrphanProjects(t *testing.T) {
	u := newUser(t)
	_, err := u.Command("import", "--yes", world.Root("testdata", "wild", "node-orphan-project", "claude-mem.db"))
	if err == nil || !strings.Contains(err.Error(), "4 projects without a directory on this machine") {
		t.Errorf("rows that cannot be imported, and projects without a directory, are not told: %v", err)
	}
	orphans := []string{".claude-mem", `C:\Users\me\shop`, "my project (old)"}
	titles := []string{"odd project", "Windows project", "compound with slashes"}
	list := strings.Join(u.projectList(), "\n")
	for i, name := range orphans {
		if !strings.Contains(list, name) {
			t.Errorf("%s is not listed:\n%s", name, list)
		}
		for _, command := range [][]string{{"recent"}, {"search", titles[i]}} {
			if found := u.of(append(command, "-p", name)...); !slices.Contains(found, titles[i]) {
				t.Errorf("%v of %s: %q", command, name, found)
			}
		}
		file := filepath.Join(u.Home, "part.jsonl")
		u.MustCommand("export", file, "--force", "--project", name)
		if content := string(u.ReadFile(file)); strings.Count(content, `{"observation":`) != 1 || !strings.Contains(content, titles[i]) {
			t.Errorf("the export of %s:\n%s", name, content)
		}
	}
	u.MustCommand("projects", "merge", orphans[0], "label:shop", "--yes")
	u.MustCommand("forget", "--project", orphans[1], "--yes")
	for _, name := range orphans[:2] {
		if list := strings.Join(u.projectList(), "\n"); strings.Contains(list, name) {
			t.Errorf("%s is still listed:\n%s", name, list)
		}
	}
}

// of returns the titles of the records that a command lists.
func (u *user) of(args ...string) (titles []string) {
	u.T.Helper()
	var page struct{ Results []struct{ Title string } }
	if err := json.Unmarshal(u.MustCommand(append(args, "--json")...), &page); err != nil {
		u.T.Fatal(err)
	}
	for _, r := range page.Results {
		titles = append(titles, r.Title)
	}
	return titles
}

// TestResumedElsewhere: records belong to the project of their turn, wherever the session began.
func TestResumedElsewhere(t *testing.T) {
	u := newUser(t)
	other := filepath.Join(u.Home, "other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, call := range []struct{ verb, file string }{
		{"context", "1-SessionStart"}, {"new", "2-UserPromptSubmit"}, {"save", "3-PostToolUse-apply_patch"}, {"summary", "4-Stop"},
		{"context", "5-SessionStart"}, {"new", "6-UserPromptSubmit"}, {"save", "7-PostToolUse-apply_patch"}, {"summary", "8-Stop"},
	} {
		u.hook("--host codex "+call.verb, "codex-resume-elsewhere", call.file+".json")
	}
	u.Settle(20 * time.Second)
	for dir, want := range map[string]string{u.shop: "cart", other: "client"} {
		titles := u.of("recent", "-p", dir)
		if len(titles) != 1 || !strings.Contains(titles[0], want) {
			t.Errorf("records of %s: %q", dir, titles)
		}
		block := string(u.MustCommand("context", "--preview", "--project", dir))
		for _, word := range []string{"cart", "client"} {
			if strings.Contains(block, word) != (word == want) {
				t.Errorf("the block of %s:\n%s", dir, block)
			}
		}
	}
	if found := u.of("search", "--file", "client.go", "-p", other); len(found) != 1 {
		t.Errorf("by file: %q", found)
	}
}

// TestBrokenIndex: a definition that does not fit the tables keeps no row away.
func TestBrokenIndex(t *testing.T) {
	u := newUser(t)
	out, err := u.Command("import", "--yes", world.Root("testdata", "wild", "node-broken-index", "claude-mem.db"))
	if !strings.Contains(string(out), "Imported: ") || len(u.of("recent", "--all")) == 0 {
		t.Errorf("imported: %s %v", out, err)
	}
}

// TestRelativeDataDir: it would be another memory in each directory, so it is refused, and never made.
func TestRelativeDataDir(t *testing.T) {
	for _, dir := range []string{"memory", " ", "./mem", "$HOME/mem", `"/tmp/quoted"`, "file:///tmp/mem", `C:\mem`, "~other/mem"} {
		u := newUser(t)
		u.Env = append(u.Env, "CLAUDE_MEM_DATA_DIR="+dir)
		before := u.entries()
		if out, err := u.Command("remember", "x"); err == nil || !strings.Contains(err.Error(), "no absolute path") {
			t.Errorf("%q: %s %v", dir, out, err)
		}
		if out, _ := u.Command("doctor"); !strings.Contains(string(out), "no absolute path") {
			t.Errorf("%q: doctor says nothing of it:\n%s", dir, out)
		}
		start := u.Hook("context", []byte(`{"hook_event_name":"SessionStart","session_id":"s","source":"startup","cwd":"`+u.shop+`"}`))
		prompt := u.Hook("new", []byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"hello","cwd":"`+u.shop+`"}`))
		if start.Exit != 0 || !strings.Contains(string(start.Stdout), "no absolute path") || prompt.Exit != 0 || len(prompt.Stdout) != 0 {
			t.Errorf("%q: %s, %s", dir, start.Stdout, prompt.Stdout)
		}
		u.expect(dir, before, u.entries())
	}
}

// entries returns what is in the home directory.
func (u *user) entries() (names []string) {
	u.T.Helper()
	entries, err := os.ReadDir(u.Home)
	if err != nil {
		u.T.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestExportWithMark(t *testing.T) {
	u := newUser(t)
	u.MustCommand("import", "--yes", world.Root("testdata", "wild", "bom-export", "export.jsonl"))
	if len(u.of("recent", "--all")) != 1 {
		t.Error("its observation is not there")
	}
}

// TestSigns: what cannot be searched for finds nothing, by whatever way it is asked, and says so.
func TestSigns(t *testing.T) {
	u := newUser(t)
	u.MustCommand("remember", "Deploy failed 🚀🔥 after the release party.")
	u.MustCommand("remember", "日本語の見出しは切れない")
	u.MustCommand("reindex")
	for _, query := range []string{"🚀", "🚀🔥", "==", "|>", "?", "...", "→", "::"} {
		u.nothing(query)
		if found := u.of("search", query); len(found) != 0 {
			t.Errorf("%s: %q", query, found)
		}
		answer, err := u.ToolAnswer(u.Home, "search_memory", map[string]any{"query": query})
		if err != nil || !strings.Contains(answer, "no letters and digits") || strings.Contains(answer, "Deploy") {
			t.Errorf("%s by MCP: %s %v", query, answer, err)
		}
	}
	for query, want := range map[string]string{"🚀 deploy": "Deploy", "見出し": "日本語"} {
		if found := u.of("search", query, "--all"); len(found) == 0 || !strings.Contains(found[0], want) {
			t.Errorf("%s: %q", query, found)
		}
	}
}
