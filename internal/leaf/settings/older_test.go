package settings

import (
	"os"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/leaf/openfile"
)

// TestOlderFile checks that without a config.json the restricting settings of a
// settings.json are in force, until it is imported.
func TestOlderFile(t *testing.T) {
	const node = `{"CLAUDE_MEM_MODEL":"claude-sonnet-4-5","CLAUDE_MEM_PROVIDER":"gemini","CLAUDE_MEM_GEMINI_API_KEY":"sk-0123456789abcdef",
		"CLAUDE_MEM_SKIP_TOOLS":"TodoWrite,Mine","CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret","CLAUDE_MEM_LOG_LEVEL":"INFO",
		"CLAUDE_MEM_RETENTION_DAYS":"7","CLAUDE_MEM_PYTHON_VERSION":"3.13"}`
	dir := t.TempDir()
	put(t, OlderPath(dir), node)
	check := func(when, want string) {
		t.Helper()
		s, err := Load(dir, env())
		if err != nil {
			t.Fatal(when, err)
		}
		tools := s.Items(KeySkipTools)
		got := s.Text(KeyModel) + " " + s.Text(KeyProvider) + " " + strings.Join(s.Items(KeyExcludedProjects), ",") + " " + s.Text(KeyLogLevel)
		if slices.Contains(tools, "Mine") {
			got += " Mine"
		}
		if slices.Contains(tools, "Glob") {
			got += " Glob"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("at once", " auto /secret info Mine Glob")
	pending, err := PendingImport(dir)
	var lines []string
	for _, o := range pending {
		lines = append(lines, o.Describe())
	}
	want := `PROVIDER = gemini|GEMINI_API_KEY = …cdef|SKIP_TOOLS = TodoWrite,Mine (in force already)|EXCLUDED_PROJECTS = /secret (in force already)|` +
		`RETENTION_DAYS = 7`
	if got := strings.Join(lines, "|"); err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}

	if err := Set(dir, KeyLogLevel, "debug"); err != nil { // a config.json begins with what restricts
		t.Fatal(err)
	}
	check("after Set", " auto /secret debug Mine Glob")
	if pending, err := PendingImport(dir); err != nil || pending != nil {
		t.Errorf("pending with a config.json: %v", pending)
	}
	if err := Import(dir, all); err != nil {
		t.Fatal(err)
	}
	check("imported into it", " gemini /secret debug Mine Glob")

	for _, nothing := range []bool{true, false} {
		if err := os.Remove(Path(dir)); err != nil {
			t.Fatal(err)
		}
		if err := Import(dir, func(Older) bool { return !nothing }); err != nil {
			t.Fatal(err)
		}
		if nothing {
			check("import of nothing", " auto /secret info Mine Glob")
		} else {
			check("imported", " gemini /secret info Mine")
		}
	}
	if got, err := os.ReadFile(OlderPath(dir)); err != nil || string(got) != node {
		t.Error("settings.json was written to")
	}
	put(t, OlderPath(dir), `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/other"}`)
	check("after a change of settings.json", " gemini /secret info Mine")
}

// all imports every setting.
func all(Older) bool { return true }

// TestNodeSettings checks what is offered of a settings.json of claude-mem for Node: what
// the user chose, translated, and none of the values that it begins with.
func TestNodeSettings(t *testing.T) {
	begins := `"CLAUDE_MEM_MODEL":"claude-haiku-4-5-20251001","CLAUDE_MEM_CONTEXT_OBSERVATIONS":"50","CLAUDE_MEM_WORKER_PORT":"37777","CLAUDE_MEM_WORKER_HOST":"127.0.0.1",
		"CLAUDE_MEM_SKIP_TOOLS":"ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion","CLAUDE_MEM_PROVIDER":"claude","CLAUDE_MEM_GEMINI_API_KEY":"",
		"CLAUDE_MEM_GEMINI_MODEL":"gemini-flash-latest","CLAUDE_MEM_LOG_LEVEL":"INFO","CLAUDE_MEM_MODE":"code","CLAUDE_MEM_EXCLUDED_PROJECTS":"",
		"CLAUDE_MEM_MAX_CONCURRENT_AGENTS":"2","CLAUDE_MEM_CONTEXT_SESSION_COUNT":"10","CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED":"false"`
	for changed, want := range map[string]string{
		``:                                     "",
		`"CLAUDE_MEM_MODEL":"claude-opus-4-6"`: "MODEL = claude-opus-4-6",
		`"CLAUDE_MEM_MODEL":"$TIER:smart"`:     "",
		`"CLAUDE_MEM_WORKER_PORT":"40000"`:     "",
		`"CLAUDE_MEM_MODE":"code--de"`:         "LANGUAGE = de (from MODE code--de)",
		`"CLAUDE_MEM_MODE":"code--pt-br"`:      "LANGUAGE = pt-br (from MODE code--pt-br)",
		`"CLAUDE_MEM_MODE":"code--chill"`:      "",
		`"CLAUDE_MEM_MODE":"law-study"`:        "",
		`"CLAUDE_MEM_LOG_LEVEL":"DEBUG"`:       "LOG_LEVEL = debug",
		`"CLAUDE_MEM_LOG_LEVEL":"SILENT"`:      "LOG_LEVEL: not imported, it must be one of debug, info, warn, error",
		`"CLAUDE_MEM_PROVIDER":"gemini","CLAUDE_MEM_GEMINI_API_KEY":"sk-0123456789abcdef"`: "PROVIDER = gemini|MODEL = gemini-flash-latest (from GEMINI_MODEL)|GEMINI_API_KEY = …cdef",
		`"CLAUDE_MEM_MAX_CONCURRENT_AGENTS":"4","CLAUDE_MEM_CONTEXT_SESSION_COUNT":"20"`:   "MAX_OBSERVERS = 4 (from MAX_CONCURRENT_AGENTS)|CONTEXT_MAX_SESSIONS = 20 (from CONTEXT_SESSION_COUNT)",
		`"CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED":"true"`:                                      "AGENT_FILES = folders (from FOLDER_CLAUDEMD_ENABLED true)",
		`"CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret"`:                                         "EXCLUDED_PROJECTS = /secret (in force already)",
	} {
		dir := t.TempDir()
		put(t, OlderPath(dir), "{"+begins+strings.TrimSuffix(","+changed, ",")+"}")
		pending, err := PendingImport(dir)
		lines := []string{}
		for _, o := range pending {
			lines = append(lines, o.Describe())
		}
		if got := strings.Join(lines, "|"); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", changed, got, want, err)
		}
		s, err := Load(dir, env())
		if err != nil || s.Text(KeySkipTools) != DefaultSkipTools || s.Text(KeyModel) != "" || s.Text(KeyProvider) != ProviderAuto || s.Text(KeyGeminiAPIKey) != "" || s.Text(KeyLanguage) != "" {
			t.Errorf("%s: some of it is in force before it is imported (%v)", changed, err)
		}
		if err := Import(dir, WithoutKeys(pending)); err != nil {
			t.Errorf("%s: %v", changed, err)
		}
		if s, err := Load(dir, env()); err != nil || s.Text(KeyGeminiAPIKey) != "" || s.Text(KeyProvider) != ProviderAuto {
			t.Errorf("%s: a key was imported without consent (%v)", changed, err)
		}
		if !OfNode(dir) || NodePort(dir) == 0 {
			t.Errorf("%s: it is not taken for a file of claude-mem for Node", changed)
		}
	}
}

// TestOlderFileRestricts checks that without an import only values that restrict are in
// force.
func TestOlderFileRestricts(t *testing.T) {
	for content, want := range map[string]string{
		`{"CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_RECALL":"off"}`:         "offline off",
		`{"env":{"CLAUDE_MEM_PROVIDER":"offline"}}`:                           "offline on",
		`{"CLAUDE_MEM_PROVIDER":"auto","CLAUDE_MEM_RECALL":"on"}`:             "auto on",
		`{"CLAUDE_MEM_PROVIDER":"anthropic","CLAUDE_MEM_RECALL":"perhaps"}`:   "auto on",
		`{"CLAUDE_MEM_WITHHOLD_FILES":"mine/","CLAUDE_MEM_WORKER_PORT":"1"}`:  "auto on",
		`{"CLAUDE_MEM_INCLUDED_PROJECTS":["/work"],"CLAUDE_MEM_MODEL":"big"}`: "auto on",
	} {
		dir := t.TempDir()
		put(t, OlderPath(dir), content)
		s, err := Load(dir, env())
		if got := s.Text(KeyProvider) + " " + s.Text(KeyRecall); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", content, got, want, err)
		}
		if s.Int(KeyWorkerPort) != 37777 || s.Text(KeyModel) != "" || !s.WithheldFiles().File("/p/.env", "") {
			t.Errorf("%s: more is in force than restricts", content)
		}
		if strings.Contains(content, "mine/") != s.WithheldFiles().File("/p/mine/a", "") || strings.Contains(content, "/work") == s.Projects().Captured("/x") {
			t.Errorf("%s: what restricts is not in force", content)
		}
	}
	for _, content := range brokenForms {
		dir := t.TempDir()
		put(t, OlderPath(dir), content)
		if s, err := Load(dir, env()); err == nil || !s.Closed() {
			t.Errorf("a broken settings.json %q: closed %v, %v", content, s.Closed(), err)
		}
		if err := Import(dir, all); err == nil || openfile.Exists(Path(dir)) {
			t.Errorf("%q was imported: %v", content, err)
		}
		put(t, Path(dir), "{}")
		if s, err := Load(dir, env()); err != nil || s.Closed() {
			t.Errorf("with a config.json %q still counts: %v", content, err)
		}
	}
}
