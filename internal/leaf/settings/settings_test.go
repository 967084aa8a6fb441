package settings

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

var update = flag.Bool("update", false, "write docs/settings.md")

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(Path(dir), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTable checks that every row is complete and its default valid.
func TestTable(t *testing.T) {
	groups := "observer cost capture context search worker"
	seen := map[string]bool{}
	for _, s := range All() {
		if seen[s.Key] || !strings.HasPrefix(s.Key, prefix) || s.Key != strings.ToUpper(s.Key) {
			t.Errorf("key %q", s.Key)
		}
		seen[s.Key] = true
		if !strings.Contains(groups, s.Group) || s.Help == "" || strings.Contains(s.Help, "\n") || s.Kind == "" {
			t.Errorf("%s: group %q, kind %q, help %q", s.Key, s.Group, s.Kind, s.Help)
		}
		if err := s.Check(s.Default); err != nil {
			t.Error(err)
		}
		if (s.Kind == Choice) != (s.Choices != "") && s.Kind != List {
			t.Errorf("%s: %s with choices %q", s.Key, s.Kind, s.Choices)
		}
		if secret := strings.HasSuffix(s.Key, "_API_KEY"); s.Secret != secret {
			t.Errorf("%s: secret %v", s.Key, s.Secret)
		}
	}
	// The table of the specification, by hand.
	for key, want := range map[string]string{
		"PROVIDER": "auto", "CLAUDE_AUTH": "subscription", "MAX_OBSERVERS": "2", "OBSERVER_CONTEXT_TOKENS": "12000",
		"REQUESTS_PER_MINUTE": "0", "MODE": "code", "LANGUAGE": "", "MODEL": "", "OPENAI_API_KEY": "", "OPENROUTER_BASE_URL": "",
		"BATCHING_ENABLED": "true", "BATCH_MAX_SIZE": "40", "DAILY_TOKEN_CAP": "2000000",
		"SESSION_TOKEN_CAP": "400000", "PROVIDER_WAIT_MINUTES": "60",
		"SKIP_TOOLS":        "Glob,Grep,LS,ListMcpResourcesTool,TodoWrite,TaskCreate,TaskUpdate,Skill,SlashCommand,ToolSearch",
		"EXCLUDED_PROJECTS": "", "INCLUDED_PROJECTS": "", "WITHHOLD_FILES": ".env*,*.pem,id_*,.netrc,.aws/credentials,*.key",
		"CONTEXT_BUDGET": "2000", "CONTEXT_CAP_SESSIONS": "400", "CONTEXT_CAP_SYMBOLS": "500", "CONTEXT_CAP_LEARNINGS": "300",
		"CONTEXT_CAP_OBSERVATIONS": "600", "CONTEXT_CAP_RESERVE": "200", "CONTEXT_MAX_SESSIONS": "10", "CONTEXT_MAX_SYMBOLS": "30",
		"CONTEXT_MAX_LEARNINGS": "10", "CONTEXT_MAX_OBSERVATIONS": "10", "CONTEXT_MIN_CONFIDENCE": "0.5", "RECALL": "on", "AGENT_FILES": "off",
		"EMBEDDER": "builtin", "EMBEDDER_BASE_URL": "", "EMBEDDER_MODEL": "", "EMBEDDER_API_KEY": "", "RECENCY_DAYS": "90",
		"WORKER_PORT": "37777", "REQUIRE_TOKEN": "auto", "IDLE_EXIT_MINUTES": "30", "RETENTION_DAYS": "0", "BACKUP_KEEP": "3", "LOG_LEVEL": "info",
	} {
		s, ok := Lookup(key)
		if !ok || s.Default != want {
			t.Errorf("%s: %v, default %q, want %q", key, ok, s.Default, want)
		}
	}
}

func TestPrecedence(t *testing.T) {
	dir := write(t, `{"CLAUDE_MEM_MODEL":"file","CLAUDE_MEM_MODE":"file"}`)
	getenv := env(KeyModel, "env", KeyLanguage, "env")
	for name, c := range map[string]struct {
		load func(string, func(string) string) (*Settings, error)
		want map[string]string
	}{
		"hook":   {Load, map[string]string{KeyModel: "env environment", KeyMode: "file config.json", KeyLanguage: "env environment", KeyProvider: "auto default"}},
		"worker": {LoadForWorker, map[string]string{KeyModel: "file config.json", KeyMode: "file config.json", KeyLanguage: "env environment", KeyProvider: "auto default"}},
	} {
		s, err := c.load(dir, getenv)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range c.want {
			v, err := s.Get(key)
			if got := v.Value + " " + string(v.Origin); err != nil || got != want {
				t.Errorf("%s: %s is %q, want %q (%v)", name, key, got, want, err)
			}
		}
	}
}

func TestTypedValues(t *testing.T) {
	dir := write(t, "\ufeff"+`{
		"CLAUDE_MEM_MAX_OBSERVERS": 5, "CLAUDE_MEM_RECALL": false, "CLAUDE_MEM_SKIP_TOOLS": " A, ,B,",
		"CLAUDE_MEM_PROVIDER_WAIT_MINUTES": "1.5", "CLAUDE_MEM_RECENCY_DAYS": "2", "CLAUDE_MEM_CONTEXT_MIN_CONFIDENCE": "0.75",
		"CLAUDE_MEM_EXCLUDED_PROJECTS": "", "SOMETHING": {"else": true}}`)
	s, err := Load(dir, env())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Int(KeyMaxObservers); got != 5 {
		t.Errorf("int %d", got)
	}
	if s.Bool(KeyRecall) || !s.Bool(KeyBatchingEnabled) {
		t.Error("booleans")
	}
	if got := s.Items(KeySkipTools); strings.Join(got, "|") != "A|B" {
		t.Errorf("list %q", got)
	}
	if got := s.Items(KeyExcludedProjects); got != nil {
		t.Errorf("empty list %q", got)
	}
	if got := s.Duration(KeyProviderWaitMinutes); got != 90*time.Second {
		t.Errorf("minutes %v", got)
	}
	if got := s.Duration(KeyRecencyDays); got != 48*time.Hour {
		t.Errorf("days %v", got)
	}
	if got := s.Float(KeyContextMinConfidence); got != 0.75 {
		t.Errorf("number %v", got)
	}
	if got := (&Settings{}).Text(KeyMode); got != "code" {
		t.Errorf("zero settings %q", got)
	}
	if p := s.Problems(); p != nil {
		t.Errorf("problems %v", p)
	}
}

// brokenForms are files of which nobody can say what they leave out.
var brokenForms = []string{"", " \n", "\ufeff", "x", "{", `{"a":1`, `{"a":1,,}`, "[]", `"x"`, "null", `{} {}`, `{"CLAUDE_MEM_MODE":"x"`, "\x00",
	`{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/work" "a":1}`, `{"CLAUDE_MEM_EXCLUDED_PROJECTS":{"a":1}}`, `{"CLAUDE_MEM_EXCLUDED_PROJECTS":[["/work"]]}`,
	"{/* }", "\xff\xfe{\x00}\x00"}

// TestBrokenFileFailsClosed checks that without a last good copy nothing is captured and no
// model is called, whatever the environment sets, and that the file is not changed.
func TestBrokenFileFailsClosed(t *testing.T) {
	for _, content := range brokenForms {
		dir := write(t, content)
		for name, load := range map[string]func(string, func(string) string) (*Settings, error){"command": Load, "worker": LoadForWorker} {
			s, err := load(dir, env(KeyLanguage, "de", KeyProvider, "anthropic"))
			var e *memory.Error
			if !errors.As(err, &e) || e.Hint == "" || !s.Closed() {
				t.Errorf("%s, %q: closed %v, %v", name, content, s.Closed(), err)
			}
			if s.Text(KeyProvider) != "offline" || s.Bool(KeyRecall) || s.Text(KeyMode) != "code" || s.Text(KeyLanguage) != "de" {
				t.Errorf("%s, %q: provider %q, mode %q", name, content, s.Text(KeyProvider), s.Text(KeyMode))
			}
		}
		if err := Set(dir, KeyMode, "x"); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%q: Set says %v", content, err)
		}
		if got := read(t, dir); got != content {
			t.Errorf("the broken file was changed to %q", got)
		}
	}
	if s, err := Load(write(t, "{}"), env()); err != nil || s.Closed() {
		t.Errorf("{}: %v", err)
	}
}

// TestLastGoodCopy checks that the former settings stay in force when the file is broken.
func TestLastGoodCopy(t *testing.T) {
	for _, content := range brokenForms {
		dir := write(t, `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/old","CLAUDE_MEM_PROVIDER":"ollama"}`)
		if _, err := Load(dir, env()); err != nil {
			t.Fatal(err)
		}
		put(t, Path(dir), `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret","CLAUDE_MEM_PROVIDER":"offline"}`)
		if _, err := Load(dir, env()); err != nil {
			t.Fatal(err)
		}
		put(t, Path(dir), content)
		s, err := Load(dir, env())
		if err == nil || s.Closed() || s.Text(KeyProvider) != "offline" || s.Projects().Captured("/secret/a") {
			t.Errorf("%q: closed %v, provider %q, %v", content, s.Closed(), s.Text(KeyProvider), err)
		}
		if v, err := s.Get(KeyProvider); err != nil || v.Origin != FromLastGood {
			t.Errorf("%q: origin %q", content, v.Origin)
		}
		put(t, Path(dir), "{}")
		if s, err := Load(dir, env()); err != nil || s.Text(KeyProvider) != "auto" {
			t.Errorf("mended: %v", err)
		}
	}
}

// TestBrokenLastGoodCopy checks that an incomplete copy counts as none, that the copy is
// removed with config.json, and that it has the mode 0600.
func TestBrokenLastGoodCopy(t *testing.T) {
	dir := write(t, `{"CLAUDE_MEM_ANTHROPIC_API_KEY":"k"}`)
	if err := os.Chmod(Path(dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, env()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(goodPath(dir)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	put(t, goodPath(dir), `{"CLAUDE_MEM`)
	put(t, Path(dir), "{")
	if s, err := Load(dir, env()); err == nil || !s.Closed() {
		t.Errorf("half a copy is in force: %v", err)
	}
	put(t, Path(dir), "{}")
	if _, err := Load(dir, env()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(Path(dir)); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(dir, env()); err != nil || s.Closed() || openfile.Exists(goodPath(dir)) {
		t.Errorf("after config.json was removed: %v, copy left %v", err, openfile.Exists(goodPath(dir)))
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), Path(dir)); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(dir, env()); err == nil || !s.Closed() {
		t.Errorf("a link to nothing is no settings: %v", err)
	}
}

// TestUnreadableSettings reads a directory and another user's file.
func TestUnreadableSettings(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(Path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(dir, env()); err == nil || !s.Closed() {
		t.Errorf("a directory: %v", err)
	}
	dir = write(t, "{}")
	if err := os.Chmod(Path(dir), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(Path(dir)); err == nil {
		t.Skip("modes mean nothing to this user")
	}
	if s, err := Load(dir, env()); err == nil || !s.Closed() {
		t.Errorf("unreadable: %v", err)
	}
}

// TestWrittenByHand reads comments, arrays, trailing commas and names without the prefix.
func TestWrittenByHand(t *testing.T) {
	dir := write(t, "\ufeff"+`{
		// what stays out
		"CLAUDE_MEM_EXCLUDED_PROJECTS": ["/work/a,b", " /secret ", "",],
		"provider": "offline", /* for now */
		"CLAUDE_MEM_RECALL": false,
		"CLAUDE_MEM_SKIP_TOOLS": [],
		"CLAUDE_MEM_MODEL": null,
	}`)
	s, err := Load(dir, env())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Items(KeyExcludedProjects), "|"); got != "/work/a,b|/secret" {
		t.Errorf("excluded %q", got)
	}
	if s.Text(KeyProvider) != "offline" || s.Bool(KeyRecall) || len(s.Items(KeySkipTools)) != 0 || s.Text(KeyModel) != "" {
		t.Errorf("provider %q, tools %q", s.Text(KeyProvider), s.Items(KeySkipTools))
	}
	if s.Projects().Captured("/secret/x") || s.Projects().Captured("/work/a,b") || !s.Projects().Captured("/work/a") {
		t.Error("projects")
	}
	if err := Set(dir, KeyProvider, "auto"); err != nil {
		t.Fatal(err)
	}
	if err := Set(dir, KeyMode, "research"); err != nil {
		t.Fatal(err)
	}
	if err := Unset(dir, KeySkipTools); err != nil {
		t.Fatal(err)
	}
	got := read(t, dir)
	if !strings.Contains(got, "// what stays out") || !strings.Contains(got, `"provider": "auto", /* for now */`) || strings.Contains(got, "SKIP_TOOLS") {
		t.Errorf("%s", got)
	}
	if s, err := Load(dir, env()); err != nil || s.Text(KeyProvider) != "auto" || s.Text(KeyMode) != "research" || s.Items(KeySkipTools) == nil {
		t.Errorf("%v: %s", err, got)
	}
}

// TestListOfChoices: the items of a list that has choices are checked, and its first
// choice stands alone.
func TestListOfChoices(t *testing.T) {
	dir := t.TempDir()
	for _, value := range []string{"root", "root, folders,cursor", "off"} {
		if err := Set(dir, "AGENT_FILES", value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{"all", "root,all", "off,root", "on"} {
		if err := Set(dir, "AGENT_FILES", value); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s: %v", value, err)
		}
	}
	for content, want := range map[string]string{`["root","cursor"]`: "root cursor", `"root,all"`: "off", `["off","root"]`: "off", `""`: ""} {
		put(t, Path(dir), `{"CLAUDE_MEM_AGENT_FILES":`+content+`}`)
		s, err := Load(dir, env())
		if got := strings.Join(s.Items(KeyAgentFiles), " "); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", content, got, err, want)
		}
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUnusableValues(t *testing.T) {
	dir := write(t, `{"CLAUDE_MEM_WORKER_PORT":"70000","CLAUDE_MEM_PROVIDER":"SECRETWORD","CLAUDE_MEM_RECALL":"maybe",
		"CLAUDE_MEM_IDLE_EXIT_MINUTES":"-1","CLAUDE_MEM_MAX_OBSERVERS":"1e9","CLAUDE_MEM_RECENCY_DAYS":"NaN"}`)
	s, err := Load(dir, env())
	if err != nil {
		t.Fatal(err)
	}
	problems := s.Problems()
	if len(problems) != 6 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
	for _, p := range problems {
		if strings.Contains(p.Error(), "SECRETWORD") {
			t.Errorf("the error quotes the value: %v", p)
		}
	}
	if s.Int(KeyWorkerPort) != 37777 || s.Duration(KeyIdleExitMinutes) != 30*time.Minute {
		t.Error("defaults are not in force")
	}
	if s.Text(KeyProvider) != "offline" || s.Bool(KeyRecall) {
		t.Error("a provider and a recall that are misspelt are not safe")
	}
}

func TestShown(t *testing.T) {
	for value, want := range map[string]string{"": "", "short": "…", "sk-0123456789abcdef": "…cdef"} {
		v := Value{Setting: Setting{Secret: true}, Value: value}
		if got := v.Shown(); got != want {
			t.Errorf("%q is shown as %q", value, got)
		}
	}
	for value, want := range map[string]string{
		"open": "open", "a@b": "a@b", "https://llm.example/v1": "https://llm.example/v1", "https://llm.example/@team": "https://llm.example/@team",
		"https://ada:pass@llm.example/v1": "https://…@llm.example/v1", "https://ada:p@ss@llm.example": "https://…@llm.example",
	} {
		if got := (Value{Value: value}).Shown(); got != want {
			t.Errorf("%q is shown as %q", value, got)
		}
	}
}

func TestDataDir(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are written for Unix")
	}
	for want, getenv := range map[string]func(string) string{
		"/home/me/.claude-mem": env("HOME", "/home/me"),
		"/data":                env("HOME", "/home/me", DataDirKey, "/data/"),
		"/home/me/x":           env("HOME", "/home/me", DataDirKey, "~/x"),
		"/only":                env(DataDirKey, "/only"),
		"":                     env(),
	} {
		if got := DataDir(getenv); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, dir := range []string{"rel", "./rel", " ", `"/quoted"`, "$HOME/x", "~other/x"} {
		getenv := env("HOME", "/home/me", DataDirKey, dir)
		if got := DataDir(getenv); got != "" || !strings.Contains(NoDataDir(getenv), strconv.Quote(dir)) {
			t.Errorf("%q: %q, %s", dir, got, NoDataDir(getenv))
		}
	}
}

// TestSettingsDocument checks that docs/settings.md is generated from the table; -update
// writes it.
func TestSettingsDocument(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "settings.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Errorf("%s is not what the table says; run make docs", path)
	}
}

// FuzzSettings: any file loads or is reported, and what loads survives a Set.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", "{}", "\ufeff{}", `{"CLAUDE_MEM_MODE":"x","a":[1,{"b":null}]}`, `{"CLAUDE_MEM_WORKER_PORT":5}`, `{"a":1,"a":2}`, `{"":""}`, "{\"\xff\":\"\xff\"}", "{", "x", "{/**/}", "{//\n}", "{,}", `{"a":1,}`, `{"recall":[1,null,"x"],}`, "// x\n{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(dir, env())
		for _, v := range s.List() {
			if v.Check(v.Value) != nil {
				t.Fatalf("%s has the value %q", v.Key, v.Value)
			}
		}
		if setErr := Set(dir, KeyMode, "fuzz"); (setErr == nil) != (err == nil) {
			t.Fatalf("Load: %v, Set: %v", err, setErr)
		}
		after, readErr := os.ReadFile(Path(dir))
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err != nil {
			if string(after) != string(data) {
				t.Fatal("a broken file was changed")
			}
			return
		}
		again, err := Load(dir, env())
		if err != nil || again.Text(KeyMode) != "fuzz" || len(again.entries) > len(s.entries)+1 {
			t.Fatalf("%q became %q: %v", data, after, err)
		}
	})
}
