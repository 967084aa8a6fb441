package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/serve/api"
)

// The root's help is a screen: 80 columns, and as many lines as a window has.
func TestRootHelpFitsAScreen(t *testing.T) {
	_, out, _ := command(t, nil)
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if len(lines) > 50 {
		t.Errorf("the root's help has %d lines, want at most 50", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	a, _, _ := testApp(t, nil)
	for _, cmd := range a.rootCommand().Commands() {
		if !cmd.Hidden && cmd.Runnable() && cmd.GroupID == "" && cmd.Name() != "help" {
			t.Errorf("%s has no group: the help does not list it", cmd.Name())
		}
		if len(cmd.Short) > 65 || strings.HasSuffix(cmd.Short, ".") || cmd.Short == "" {
			t.Errorf("%s: Short %q, want a line of at most 65 characters without a full stop", cmd.Name(), cmd.Short)
		}
	}
}

// shellWords splits a line as a shell does, as far as examples need it.
func shellWords(line string) (words []string) {
	word, quote, open := strings.Builder{}, rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '#' && !open && word.Len() == 0:
			return words // a comment
		case r == ' ':
			if open || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	if open || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// exampleCommands are the calls of ours in an example's line.
func exampleCommands(line string) (calls [][]string) {
	words := shellWords(line)
	for i := 0; i < len(words); i++ {
		if words[i] != "claude-mem" || i > 0 && !slices.Contains([]string{"|", "&&", "--", "--cli"}, words[i-1]) {
			continue
		}
		call := []string{}
		for _, word := range words[i+1:] {
			if word == "|" || word == "&&" || strings.HasPrefix(word, "<") || strings.HasPrefix(word, ">") || words[0] == "npx" && word == "--method" {
				break
			}
			call = append(call, word)
		}
		calls = append(calls, call)
	}
	return calls
}

// Every example is a call of the command that it stands at, with flags and
// arguments that it takes.
func TestExamplesParse(t *testing.T) {
	a, _, _ := testApp(t, nil)
	for _, cmd := range allCommands(a.rootCommand()) {
		if cmd.Example == "" {
			continue
		}
		own := 0
		for _, line := range strings.Split(cmd.Example, "\n") {
			calls := exampleCommands(line)
			if len(calls) == 0 {
				t.Errorf("%s: no command of ours in the example %q", cmd.CommandPath(), line)
			}
			for _, call := range calls {
				a, _, _ := testApp(t, nil)
				root := a.rootCommand()
				found, rest, err := root.Find(call)
				if err != nil || found == root {
					t.Errorf("%s: the example %q names no command: %v", cmd.CommandPath(), line, err)
					continue
				}
				if err := found.ParseFlags(rest); err != nil {
					t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
					continue
				}
				if err := found.ValidateArgs(found.Flags().Args()); err != nil {
					t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
				}
				if err := found.ValidateFlagGroups(); err != nil {
					t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
				}
				if strings.HasPrefix(found.CommandPath(), cmd.CommandPath()) {
					own++
				}
			}
		}
		if own == 0 {
			t.Errorf("%s: no example is of it", cmd.CommandPath())
		}
	}
}

// typed finds what a text says to type: all in backticks, or set off by a colon, a bracket or
// the word run, or at the beginning of a hint. A word that the text fills in is an argument.
var typed = regexp.MustCompile("(?:`|: |\\(|[Rr]un |\"|<code>)claude-mem ([a-z][a-z-]*(?: [^`\n\"<>|&;,()]*)?)")

// checkTyped returns what is wrong with a command line that a text names: a command or a flag that
// there is not. Prose such as "claude-mem is installed" is no command line unless it is quoted.
func checkTyped(t *testing.T, line string, quoted bool) error {
	t.Helper()
	a, _, _ := testApp(t, nil)
	root := a.rootCommand()
	words := strings.Fields(strings.NewReplacer("\\n", " ", "'", "", "[", "", "]", "").Replace(line))
	found, rest, err := root.Find(words)
	if topic := found.HasParent() || words[0] == "help"; err != nil || !topic {
		if quoted && words[0] != "given" { // which is being written
			return fmt.Errorf("there is no such command")
		}
		return nil
	}
	for i, word := range rest {
		if word == "--" {
			return nil
		}
		if i == 0 && found.HasSubCommands() && regexp.MustCompile("^[a-z]+$").MatchString(word) && quoted && words[0] != "help" {
			return fmt.Errorf("%q is no subcommand", word)
		}
		word = strings.TrimRight(word, ".:,…")
		if name, long := strings.CutPrefix(word, "--"); long {
			name, _, _ = strings.Cut(name, "=")
			if found.Flags().Lookup(name) == nil && name != "help" {
				return fmt.Errorf("there is no flag %s", word)
			}
		} else if len(word) == 2 && word[0] == '-' && found.Flags().ShorthandLookup(word[1:]) == nil {
			return fmt.Errorf("there is no flag %s", word)
		}
	}
	return nil
}

// What any text of the program, of the plugin and of the documents says to type is there: the
// commands and the flags.
func TestCommandsInTextsExist(t *testing.T) {
	checked := 0
	for _, top := range []string{"cmd", "internal", "plugin", "docs", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		must(t, filepath.WalkDir(filepath.Join("..", "..", top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() && entry.Name() == "testdata" || entry.IsDir() && entry.Name() == "decisions" {
				return cmp.Or(err, filepath.SkipDir)
			}
			if !slices.Contains([]string{".go", ".md", ".html", ".js", ".json"}, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			raw, err := os.ReadFile(path)
			for line := range strings.Lines(string(raw)) {
				if strings.HasPrefix(strings.TrimSpace(line), "//") {
					continue
				}
				for _, m := range typed.FindAllStringSubmatch(line, -1) {
					if wrong := checkTyped(t, m[1], m[0][0] == '`'); wrong != nil {
						t.Errorf("%s: %s: %v", path, m[0], wrong)
					}
					checked++
				}
			}
			return err
		}))
	}
	if checked < 400 {
		t.Errorf("only %d commands found in texts", checked)
	}
}

// The tables of exit codes in help and document are the program's.
func TestExitCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	must(t, err)
	_, help, _ := command(t, nil, "help", "scripting")
	for _, row := range cli.ExitCodes {
		for where, text := range map[string]string{"docs/cli.md": string(doc), "`claude-mem help scripting`": help} {
			if !strings.Contains(text, fmt.Sprintf("| %d | %s |", row.Exit, row.Meaning)) {
				t.Errorf("%s has no row %d %s", where, row.Exit, row.Meaning)
			}
		}
	}
}

// Each exit code by a command that ends with it, for people and for programs: data
// stays on standard output, and with --json the last line of standard error is the error.
func TestExitCodes(t *testing.T) {
	env, project := seeded(t)
	dataDir := env["CLAUDE_MEM_DATA_DIR"]
	t.Setenv("CLAUDE_MEM_DATA_DIR", dataDir)
	t.Chdir(project)
	newer := t.TempDir()
	raw, err := os.ReadFile(access.DatabasePath(dataDir))
	must(t, err)
	must(t, os.WriteFile(access.DatabasePath(newer), raw, 0o600))
	db, err := sql.Open("sqlite", access.DatabasePath(newer))
	must(t, err)
	_, err = db.Exec("PRAGMA user_version = 9999")
	must(t, err)
	must(t, db.Close())
	damaged := t.TempDir()
	must(t, os.WriteFile(access.DatabasePath(damaged), slices.Repeat([]byte("no database "), 1000), 0o600))
	for _, tt := range []struct {
		dataDir, args string
		exit          int
		code          string // of the error, "" when the output says it all
	}{
		{dataDir, "recent --json", 0, ""},
		{dataDir, "recent --limit 0 --json", 2, "invalid"},
		{dataDir, "recent --limt 1 --json", 2, "invalid"},
		{dataDir, "nothing-like-it --json", 2, "invalid"},
		{dataDir, "mode check nothing-like-it --json", 2, ""},
		{dataDir, "show 99 --json", 3, "not_found"},
		{dataDir, "sessions show S99 --json", 3, "not_found"},
		{dataDir, "config get NOTHING_LIKE_IT --json", 3, "not_found"},
		{t.TempDir(), "show 1 --json", 3, "no_memory"},
		{dataDir, "worker status --json", 5, ""},
		{damaged, "recent --json", 7, "storage"},
		{dataDir, "completion bash --json", 2, "invalid"}, // prints no data
		{newer, "recent --json", 8, "newer_schema"},
	} {
		env["CLAUDE_MEM_DATA_DIR"] = tt.dataDir
		exit, out, errs := command(t, env, strings.Fields(tt.args)...)
		if exit != tt.exit {
			t.Errorf("%s: exit %d, want %d: %s", tt.args, exit, tt.exit, errs)
		}
		asJSON := strings.HasSuffix(tt.args, "--json")
		if asJSON && (tt.code == "") != json.Valid([]byte(out)) {
			t.Errorf("%s: standard output %q", tt.args, out)
		}
		if tt.code == "" {
			continue
		}
		if out != "" {
			t.Errorf("%s: standard output %q of an error", tt.args, out)
		}
		lines := strings.Split(strings.TrimRight(errs, "\n"), "\n")
		var last api.ErrorBody
		switch err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); {
		case asJSON && (err != nil || string(last.Error.Code) != tt.code || last.Error.Message == ""):
			t.Errorf("%s: the last line of standard error is %q (%v), want an error of code %s", tt.args, lines[len(lines)-1], err, tt.code)
		case !asJSON && !strings.Contains(errs, "error: "):
			t.Errorf("%s: standard error %q", tt.args, errs)
		}
	}
}

// Asked for what it cannot do, a command writes nothing to standard output; asked for
// its help, nothing to standard error; and neither opens the memory: there is none
// afterwards.
func TestStreams(t *testing.T) {
	a, _, _ := testApp(t, nil)
	dataDir := filepath.Join(t.TempDir(), "none")
	env := map[string]string{"CLAUDE_MEM_DATA_DIR": dataDir}
	for _, cmd := range allCommands(a.rootCommand()) {
		path := strings.Fields(cmd.CommandPath())[1:]
		if cmd.Runnable() {
			exit, out, errs := command(t, env, append(slices.Clone(path), "--nothing-like-it")...)
			if exit != 2 || out != "" || !strings.Contains(errs, "hint: ") {
				t.Errorf("%s --nothing-like-it: exit %d, standard output %q, standard error %q", cmd.CommandPath(), exit, out, errs)
			}
		}
		exit, out, errs := command(t, env, append(slices.Clone(path), "--help")...)
		if exit != 0 || out == "" || errs != "" {
			t.Errorf("%s --help: exit %d, standard output %q, standard error %q", cmd.CommandPath(), exit, out, errs)
		}
	}
	for _, args := range [][]string{{"version"}, {"--version"}, {"completion", "zsh"}, {"help", "scripting"}, {"__complete", "show", ""}, {"__complete", "config", "set", "MODE", ""}} {
		if exit, out, _ := command(t, env, args...); exit != 0 || out == "" {
			t.Errorf("%v: exit %d, standard output %q", args, exit, out)
		}
	}
	if _, err := os.Stat(dataDir); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
}

// In a memory of which nothing is known, lists are empty: no data, a note for people.
func TestEmptyListsAreNoData(t *testing.T) {
	env := map[string]string{"CLAUDE_MEM_DATA_DIR": t.TempDir()}
	t.Setenv("CLAUDE_MEM_DATA_DIR", env["CLAUDE_MEM_DATA_DIR"])
	t.Chdir(t.TempDir())
	for _, args := range []string{"recent", "search x", "timeline", "sessions", "sessions list", "projects", "learn list", "queue"} {
		if exit, out, errs := command(t, env, strings.Fields(args)...); exit != 0 || out != "" || errs == "" {
			t.Errorf("%s: exit %d, standard output %q, standard error %q", args, exit, out, errs)
		}
	}
}

func TestWantsColor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a console cannot be made here")
	}
	terminal, err := os.OpenFile("/dev/zero", os.O_WRONLY, 0) // a character device, as a terminal is
	must(t, err)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	defer func() { must(t, null.Close()) }()
	defer func() { must(t, terminal.Close()) }()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	must(t, err)
	defer func() { must(t, file.Close()) }()
	for _, tt := range []struct {
		w         *os.File
		key, text string
		want      bool
	}{
		{terminal, "", "", true}, {terminal, "NO_COLOR", "1", false}, {terminal, "NO_COLOR", "", true}, {terminal, "TERM", "dumb", false},
		{terminal, "TERM", "xterm", true}, {file, "", "", false}, {file, "CLICOLOR_FORCE", "1", false}, {null, "", "", false},
	} {
		got := print.WantsColor(tt.w, func(key string) string {
			if key == tt.key {
				return tt.text
			}
			return ""
		})
		if got != tt.want {
			t.Errorf("%s %s=%q: got %v, want %v", tt.w.Name(), tt.key, tt.text, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	commands := []string{"logs", "restart", "start", "status", "stop"}
	for _, tt := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"stat", commands, "status"}, {"strt", commands, "start"}, {"stoop", commands, "stop"}, {"STATUS", commands, "status"}, {"rs", commands, ""},
		{"x", commands, ""}, {"", commands, ""}, {"completely-else", commands, ""}, {"log", commands, "logs"}, {"resart", commands, "restart"},
		{"antropic", []string{"auto", "claude", "anthropic", "openai"}, "anthropic"}, {"opnai", []string{"openrouter", "openai"}, "openai"},
		{"ñandú", []string{"nandu"}, "nandu"}, {"limt", []string{"all", "limit"}, "limit"}, {"start", nil, ""},
	} {
		if got := api.Nearest(tt.word, tt.candidates); got != tt.want {
			t.Errorf("nearest(%q, %v) = %q, want %q", tt.word, tt.candidates, got, tt.want)
		}
	}
}

// A ULID names an observation or a session wherever a number does.
func TestShowByULID(t *testing.T) {
	env, project := seeded(t)
	t.Setenv("CLAUDE_MEM_DATA_DIR", env["CLAUDE_MEM_DATA_DIR"])
	t.Chdir(project)
	_, out, _ := command(t, env, "show", "1", "S1", "--json")
	var records []struct {
		Kind, ULID string
		ID         int
	}
	must(t, json.Unmarshal([]byte(out), &records))
	if len(records) != 2 || len(records[0].ULID) != 26 || len(records[1].ULID) != 26 {
		t.Fatalf("got %+v", records)
	}
	_, byULID, errs := command(t, env, "show", strings.ToLower(records[0].ULID), records[1].ULID, "--json")
	if byULID != out {
		t.Errorf("by ULID: %s%s, want %s", byULID, errs, out)
	}
	if _, out, errs := command(t, env, "timeline", records[0].ULID, "--json"); !strings.Contains(out, `"anchor": "1"`) {
		t.Errorf("timeline by ULID: %s%s", out, errs)
	}
	if exit, out, errs := command(t, env, "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"); exit != 3 || out != "" || !strings.Contains(errs, "there is no record 01ARZ3NDEKTSV4RRFFQ69G5FAV") {
		t.Errorf("a ULID of nothing: exit %d, %s%s", exit, out, errs)
	}
	if exit, out, errs := command(t, env, "timeline", "01ARZ3NDEKTSV4RRFFQ69G5FAV"); exit != 3 || out != "" {
		t.Errorf("a timeline around a ULID of nothing: exit %d, %s%s", exit, out, errs)
	}
}
