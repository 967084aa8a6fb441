package hostfiles

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"
)

// place is a configuration directory and a project whose files a test writes.
type place struct {
	t      *testing.T
	dir    string
	now    time.Time
	reader *Reader
	req    memory.ContextRequest
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir, now: time.Now().Add(time.Hour)}
	p.reader = New(func() time.Time { return p.now })
	project := filepath.Join(dir, "work", "my.app")
	p.req = memory.ContextRequest{
		Host: memory.HostClaudeCode, ProjectPath: project, Checkout: memory.Checkout{Root: project},
		StartDir: project, ConfigDir: filepath.Join(dir, "config"),
	}
	for _, d := range []string{project, p.req.ConfigDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// write writes a file; its path is absolute or relative to the project.
func (p *place) write(path, content string) string {
	p.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.req.ProjectPath, filepath.FromSlash(path))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) memory(content string) {
	p.write(claudedir.MemoryFile(p.req.ConfigDir, p.req.ProjectPath), content)
}

// who returns the file that says a text.
func (p *place) who(said string) string {
	who := p.reader.Load(context.Background(), p.req)
	if who == nil {
		return ""
	}
	return who(said)
}

// want checks who says a text.
func (p *place) want(said, file string) {
	p.t.Helper()
	if got := p.who(said); got != file {
		p.t.Errorf("%q is said in %q, want %q", said, got, file)
	}
}

// TestLoaded: the files that Claude Code 2.1.197 was seen to load, and those that it was not.
func TestLoaded(t *testing.T) {
	p := newPlace(t)
	p.write("CLAUDE.md", "Rule one holds.\n@docs/imported.md\n@../outside.md\n@missing.md\n@CLAUDE.md\n")
	p.write("docs/imported.md", "Rule two holds.\n@nested.md\n")
	p.write("docs/nested.md", "Rule three holds.\n@"+filepath.ToSlash(p.req.ProjectPath)+"/absolute.md @../up.md @~/home.md\n")
	p.write("absolute.md", "Rule nine holds.\n")
	p.write("up.md", "Rule ten holds.\n")
	p.write(".claude/CLAUDE.md", "Rule four holds.\n")
	p.write("CLAUDE.local.md", "Rule five holds.\n")
	p.write("../CLAUDE.md", "Rule six holds.\n")
	p.write(filepath.Join(p.req.ConfigDir, "CLAUDE.md"), "Rule seven holds.\n")
	p.memory("- Rule eight holds\n")
	for rule, file := range map[string]string{
		"one": "CLAUDE.md", "two": "docs/imported.md", "three": "docs/nested.md", "four": ".claude/CLAUDE.md",
		"five": "CLAUDE.local.md", "six": "../CLAUDE.md", "seven": "the user's CLAUDE.md", "eight": "MEMORY.md",
		"nine": "absolute.md", "ten": "up.md",
	} {
		p.want("Rule "+rule+" holds", file)
	}
	p.want("Rule one holds. Rule eight holds.", "CLAUDE.md and MEMORY.md")
	p.want("Rule one holds. Rule twenty holds.", "")

	p.write("AGENTS.md", "Rule eleven holds.\n")
	p.write("sub/CLAUDE.md", "Rule twelve holds.\n")
	p.write("../outside.md", "Rule thirteen holds.\n")
	p.want("Rule eleven holds", "") // nothing imports it
	p.want("Rule twelve holds", "") // below the start directory
	p.want("Rule thirteen holds", "")
	p.req.StartDir = filepath.Join(p.req.ProjectPath, "sub")
	p.want("Rule twelve holds", "sub/CLAUDE.md")
	p.want("Rule one holds", "CLAUDE.md")
	p.want("Rule two holds", "") // imported from outside the start directory
}

func TestAgentsFile(t *testing.T) {
	p := newPlace(t)
	p.write("AGENTS.md", "Use pnpm.\n")
	p.want("Use pnpm", "")
	p.write("CLAUDE.md", "@AGENTS.md\n")
	p.want("Use pnpm", "AGENTS.md")
	p.write("sub/AGENTS.md", "Use make.\n")
	p.req.Host = memory.HostRaw
	p.want("Use pnpm", "AGENTS.md")
	p.want("Use make", "")
	p.req.StartDir = filepath.Join(p.req.ProjectPath, "sub")
	p.want("Use make", "sub/AGENTS.md")
	p.want("Use pnpm", "AGENTS.md")
}

// TestWorktrees: a session in a linked worktree has the main one's memory, and the
// CLAUDE.md of its own tree even if that lies within the main one.
func TestWorktrees(t *testing.T) {
	p := newPlace(t)
	tree := filepath.Join(p.req.ProjectPath, ".claude", "worktrees", "topic")
	p.memory("- Use pnpm\n")
	p.write("CLAUDE.md", "Use make.\n")
	p.write("CLAUDE.local.md", "Use tabs here.\n")
	p.write(filepath.Join(tree, "CLAUDE.md"), "Use ninja.\n")
	p.req.Checkout.Root, p.req.StartDir = tree, tree
	p.want("Use pnpm", "MEMORY.md")
	p.want("Use ninja", "CLAUDE.md")
	p.want("Use make", "")
	p.want("Use tabs here", "../../../CLAUDE.local.md")
}

// TestUntrusted: a request reads nothing but what the host of its project loads.
func TestUntrusted(t *testing.T) {
	p := newPlace(t)
	p.write("CLAUDE.md", "Use pnpm.\n")
	p.memory("- Use make\n")
	good := p.req
	for name, change := range map[string]func(){
		"no start":        func() { p.req.StartDir = "" },
		"start elsewhere": func() { p.req.StartDir = filepath.Dir(p.req.ProjectPath) },
		"start beside": func() {
			p.req.StartDir, p.req.ProjectPath = p.req.ProjectPath, p.req.ProjectPath[:len(p.req.ProjectPath)-1]
		},
		"start relative":       func() { p.req.StartDir = "." },
		"start is a file":      func() { p.req.StartDir = filepath.Join(p.req.StartDir, "CLAUDE.md") },
		"start does not exist": func() { p.req.StartDir = filepath.Join(p.req.StartDir, "no") },
	} {
		p.req = good
		p.req.Checkout.Root = ""
		change()
		if got := p.who("Use pnpm"); got != "" {
			t.Errorf("%s: said in %q", name, got)
		}
	}
	for name, dir := range map[string]string{"none": "", "relative": "config", "missing": filepath.Join(p.dir, "no"), "a file": p.write("x", "")} {
		p.req = good
		p.req.ConfigDir = dir
		if got := p.who("Use make"); got != "" {
			t.Errorf("config directory %s: said in %q", name, got)
		}
	}
	p.req = good
	p.want("Use pnpm", "CLAUDE.md")
	p.want("Use make", "MEMORY.md")
}

// TestSwitchedOff: settings with which Claude Code leaves the files out.
func TestSwitchedOff(t *testing.T) {
	for _, c := range []struct{ file, settings, rule, memory string }{
		{"config", `{"autoMemoryEnabled":false}`, "CLAUDE.md", ""},
		{"config", `{"autoMemoryEnabled":true}`, "CLAUDE.md", "MEMORY.md"},
		{"config", `{"autoMemoryDirectory":"~/elsewhere"}`, "CLAUDE.md", ""},
		{"config", `{"claudeMdExcludes":["**/other/CLAUDE.md"]}`, "", "MEMORY.md"},
		{"config", `{"claudeMdExcludes":[]}`, "CLAUDE.md", "MEMORY.md"},
		{"config", `{broken`, "CLAUDE.md", "MEMORY.md"},
		{".claude/settings.json", `{"autoMemoryEnabled":false}`, "CLAUDE.md", ""},
		{".claude/settings.local.json", `{"claudeMdExcludes":["x"]}`, "", "MEMORY.md"},
	} {
		p := newPlace(t)
		p.write("CLAUDE.md", "Use pnpm.\n")
		p.memory("- Use make\n")
		if c.file == "config" {
			c.file = filepath.Join(p.req.ConfigDir, "settings.json")
		}
		p.write(c.file, c.settings)
		t.Log(c.settings)
		p.want("Use pnpm", c.rule)
		p.want("Use make", c.memory)
	}
}

// TestMemoryLimits: 200 lines and 25,000 UTF-16 units, as seen.
func TestMemoryLimits(t *testing.T) {
	p := newPlace(t)
	p.memory(strings.Repeat("- filler line\n", 199) + "- Use pnpm\n- Use make\n")
	p.want("Use pnpm", "MEMORY.md")
	p.want("Use make", "")
	p.memory(strings.Repeat("- "+strings.Repeat("ä", 240)+"\n", 102) + "- Use pnpm\n" + strings.Repeat("- "+strings.Repeat("ä", 240)+"\n", 2) + "- Use make\n")
	p.want("Use pnpm", "MEMORY.md")
	p.want("Use make", "")
}

// TestCache: a file is read again when it changed, also within a tick of its clock.
func TestCache(t *testing.T) {
	p := newPlace(t)
	path := p.write("CLAUDE.md", "Use pnpm.\n")
	p.want("Use pnpm", "CLAUDE.md")
	p.write("CLAUDE.md", "Use pnpm and make.\n")
	p.want("Use pnpm", "")
	written := p.now.Add(-time.Second)
	for _, name := range []string{"bash", "fish", "dash"} { // of one size, in one tick
		p.write("CLAUDE.md", "Use "+name+".\n")
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
		p.want("Use "+name, "CLAUDE.md")
	}
	if len(p.reader.known) != 0 && p.reader.known[path].written.Equal(written) {
		t.Error("a file that was just written is cached")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.want("Use dash", "")
	for i := range 2 * maxKnown {
		p.write(fmt.Sprintf("docs/%d.md", i), "x y\n")
		p.reader.document(filepath.Join(p.req.ProjectPath, "docs", fmt.Sprintf("%d.md", i)))
	}
	if n := len(p.reader.known); n > maxKnown || n == 0 {
		t.Errorf("%d cached files, want at most %d", n, maxKnown)
	}
}

// TestBounds: a huge file counts up to its bound, many files up to theirs, and what is
// no regular text file not at all.
func TestBounds(t *testing.T) {
	p := newPlace(t)
	p.write("CLAUDE.md", "Use pnpm.\n"+strings.Repeat("This is a line of no interest.\n", maxFile/30)+"Use make.\n")
	p.want("Use pnpm", "CLAUDE.md")
	p.want("Use make", "")

	var imports strings.Builder
	for i := range 3 * maxFiles {
		fmt.Fprintf(&imports, "@docs/%d.md\n", i)
		p.write(fmt.Sprintf("docs/%d.md", i), "Use pnpm.\n")
	}
	p.write("CLAUDE.md", imports.String())
	l := &loading{Reader: p.reader, req: p.req, seen: map[string]bool{}, start: p.req.StartDir}
	l.claudeCode(context.Background())
	if len(l.files) != maxFiles {
		t.Errorf("%d files read, want %d", len(l.files), maxFiles)
	}

	p = newPlace(t)
	if err := os.MkdirAll(filepath.Join(p.req.ProjectPath, "CLAUDE.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(".claude/CLAUDE.md", "Use pnpm\xff\xfe. Use make.\n")
	p.want("Use make", "")
}

// TestNoWrites: what is compared is not changed, by its times neither.
func TestNoWrites(t *testing.T) {
	p := newPlace(t)
	path := p.write("CLAUDE.md", "Use pnpm.\n")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	p.want("Use pnpm", "CLAUDE.md")
	after, err := os.Stat(path)
	if err != nil || !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() {
		t.Errorf("%v, %v; before %v", after, err, before)
	}
}
