package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claudemem/cmd/claude-mem/internal/access"

	"github.com/rogpeppe/go-internal/testscript"
)

// The contract of --json is docs/cli.md: these tests read it and hold the program to it.

// contract is what docs/cli.md says.
type contract struct {
	// prints is the type of what a command prints; its fields, when it is an object
	// of its own, are the shape of its name.
	prints map[string]string
	shapes map[string][]field
	// seen are the fields that something printed, as SHAPE.FIELD.
	seen map[string]bool
}

type field struct {
	name, kind string
	optional   bool
}

// rest is the row of a shape that has the fields of another one, or any.
const rest = "…"

var (
	commandHeading = regexp.MustCompile("`(claude-mem [a-z -]+)`")
	fieldRow       = regexp.MustCompile("^\\| `([^`?]+)(\\?)?` \\| ([^|]+) \\|")
	printsLine     = regexp.MustCompile(`(?:^|, )[Pp]rints (?:an? )?(one object a line|(?:list of )?[A-Za-z]+(?: or [A-Z][A-Za-z]+)*)\b`)
)

func readContract(t *testing.T) *contract {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	must(t, err)
	c, err := parseContract(string(text))
	must(t, err)
	return c
}

func parseContract(text string) (*contract, error) {
	c := &contract{prints: map[string]string{}, shapes: map[string][]field{}, seen: map[string]bool{}}
	var commands []string
	shape := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "### "):
			commands, shape = nil, ""
			for _, m := range commandHeading.FindAllStringSubmatch(line, -1) {
				commands = append(commands, m[1])
			}
			if len(commands) > 0 {
				shape = commands[0]
			}
		case strings.HasPrefix(line, "#### "):
			commands, shape = nil, strings.TrimPrefix(line, "#### ")
			if c.shapes[shape] != nil {
				return nil, fmt.Errorf("the shape %s is there twice", shape)
			}
			c.shapes[shape] = []field{}
		case strings.HasPrefix(line, "## "):
			commands, shape = nil, ""
		case len(commands) > 0 && c.prints[commands[0]] == "" && printsLine.MatchString(line):
			kind := printsLine.FindStringSubmatch(line)[1]
			if kind == "object" || kind == "one object a line" {
				kind = shape
			}
			for _, command := range commands {
				c.prints[command] = kind
			}
		case shape != "":
			m := fieldRow.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			// a.b is the field b of the object a, which is the shape SHAPE.a
			within, name := shape, m[1]
			if i := strings.LastIndexByte(name, '.'); i >= 0 {
				within, name = shape+"."+name[:i], name[i+1:]
			}
			kind := strings.TrimSpace(m[3])
			if kind == "object" {
				kind = shape + "." + m[1]
			}
			c.shapes[within] = append(c.shapes[within], field{name, kind, m[2] != ""})
		}
	}
	for _, fields := range c.shapes {
		for _, f := range fields {
			if err := c.known(f.kind); err != nil {
				return nil, err
			}
		}
	}
	for command, kind := range c.prints {
		if err := c.known(kind); err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
	}
	return c, nil
}

// known says whether there is such a type.
func (c *contract) known(kind string) error {
	for _, one := range strings.Split(kind, " or ") {
		one = strings.TrimPrefix(strings.ReplaceAll(one, "list of ", ""), "map of ")
		if basic[one] == nil && c.shapes[one] == nil {
			return fmt.Errorf("docs/cli.md has no shape %q", one)
		}
	}
	return nil
}

var isoTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

// basic are the types that are no shapes.
var basic = map[string]func(any) bool{
	"any":     func(any) bool { return true },
	"null":    func(v any) bool { return v == nil },
	"string":  func(v any) bool { _, ok := v.(string); return ok },
	"boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"number":  func(v any) bool { _, ok := v.(json.Number); return ok },
	"integer": func(v any) bool { n, ok := v.(json.Number); return ok && !strings.ContainsAny(n.String(), ".eE") },
	// Milliseconds since 1970 have thirteen digits from 2001 on.
	"time":     func(v any) bool { n, ok := v.(json.Number); return ok && len(n.String()) == 13 },
	"ISO time": func(v any) bool { s, ok := v.(string); return ok && isoTime.MatchString(s) },
}

// check lists what of a value is not as its type says.
func (c *contract) check(where, kind string, v any) []string {
	if list, ok := strings.CutPrefix(kind, "list of "); ok {
		items, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, not a list", where, v)}
		}
		var wrong []string
		for i, item := range items {
			wrong = append(wrong, c.check(fmt.Sprintf("%s[%d]", where, i), list, item)...)
		}
		return wrong
	}
	if choices := strings.Split(kind, " or "); len(choices) > 1 {
		var least []string
		for i, choice := range choices {
			wrong := c.check(where, choice, v)
			if len(wrong) == 0 {
				return nil
			}
			if i == 0 || len(wrong) < len(least) {
				least = wrong
			}
		}
		return least
	}
	if is := basic[kind]; is != nil {
		if !is(v) {
			return []string{fmt.Sprintf("%s is %v, not: %s", where, v, kind)}
		}
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s is %T, not an object", where, v)}
	}
	if values, ok := strings.CutPrefix(kind, "map of "); ok {
		var wrong []string
		for name, value := range object {
			wrong = append(wrong, c.check(where+"."+name, values, value)...)
		}
		return wrong
	}
	return c.checkShape(where, kind, object)
}

func (c *contract) checkShape(where, shape string, object map[string]any) []string {
	var wrong []string
	left := maps.Clone(object)
	for _, f := range c.shapes[shape] {
		if f.name == rest {
			if f.kind == "any" {
				return wrong
			}
			wrong = append(wrong, c.checkShape(where, f.kind, left)...)
			return wrong
		}
		value, there := object[f.name]
		delete(left, f.name)
		switch {
		case there:
			found := c.check(where+"."+f.name, f.kind, value)
			if len(found) == 0 {
				c.seen[shape+"."+f.name] = true
			}
			wrong = append(wrong, found...)
		case !f.optional:
			wrong = append(wrong, fmt.Sprintf("%s has no %q", where, f.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		wrong = append(wrong, fmt.Sprintf("%s.%s is not in docs/cli.md", where, name))
	}
	return wrong
}

// conforms lists what of a command's output is not as the contract says.
func (c *contract) conforms(command, output string) []string {
	kind := c.prints[command]
	if kind == "" {
		return []string{"docs/cli.md does not say what `" + command + " --json` prints"}
	}
	decoder := json.NewDecoder(strings.NewReader(output))
	decoder.UseNumber()
	var wrong []string
	values := 0
	for ; decoder.More(); values++ {
		var v any
		if err := decoder.Decode(&v); err != nil {
			return []string{command + ": standard output is not JSON: " + err.Error()}
		}
		wrong = append(wrong, c.check(command, kind, v)...)
	}
	if values == 0 || values > 1 && command != "claude-mem worker logs" {
		wrong = append(wrong, fmt.Sprintf("%s prints %d values", command, values))
	}
	return wrong
}

// scriptConforms checks an output of a scenario: conforms COMMAND FILE.
func scriptConforms(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: conforms COMMAND FILE")
	}
	text, err := os.ReadFile(filepath.FromSlash(ts.Getenv("DOCS") + "/cli.md"))
	ts.Check(err)
	c, err := parseContract(string(text))
	ts.Check(err)
	if wrong := c.conforms(args[0], ts.ReadFile(args[1])); len(wrong) > 0 {
		ts.Fatalf("%s", strings.Join(wrong, "\n"))
	}
}

// contractCases are calls that print JSON, by the heading that they are documented
// under. With all of them every documented field is seen.
var contractCases = []struct{ command, args string }{
	{"claude-mem reindex", "reindex"},
	{"claude-mem version", "version"},
	{"claude-mem recent", "recent"},
	{"claude-mem recent", "recent --all"},
	{"claude-mem search", "search limiter burst --explain"},
	{"claude-mem search", "search what bugs of the limmiter did we fix today"},
	{"claude-mem search", "search limiter AND NOT migration --full --explain"},
	{"claude-mem search", "search limiter burst bugs last year"},
	{"claude-mem search", "search --type decision"},
	{"claude-mem search", "search --type decision --full"},
	{"claude-mem timeline", "timeline 1"},
	{"claude-mem timeline", "timeline 2d"},
	{"claude-mem show", "show 1 2 S1 S2"},
	{"claude-mem sessions", "sessions"},
	{"claude-mem sessions list", "sessions list --all"},
	{"claude-mem sessions show", "sessions show 1"},
	{"claude-mem reopen", "reopen 1"},
	{"claude-mem sessions show", "sessions show last"},
	{"claude-mem given", "given --all"},
	{"claude-mem given", "given last"},
	{"claude-mem given", "given --down #1"},
	{"claude-mem given", "given --clear #1"},
	{"claude-mem fix", "fix TestBurst failed"},
	{"claude-mem remember", "remember `go test ./...` passes."},
	{"claude-mem how", "how test"},
	{"claude-mem projects alias", "projects alias ./moved ."},
	{"claude-mem projects", "projects"},
	{"claude-mem projects list", "projects list"},
	{"claude-mem projects alias", "projects alias"},
	{"claude-mem projects unalias", "projects unalias ./moved"},
	{"claude-mem projects merge", "projects merge . ./renamed"},
	{"claude-mem projects merge", "projects merge . ./renamed --yes"},
	{"claude-mem projects merge", "projects merge ./renamed . --yes"},
	{"claude-mem experiment off", "experiment off"},
	{"claude-mem experiment on", "experiment on"},
	{"claude-mem experiment", "experiment"},
	{"claude-mem experiment keep", "experiment keep file"},
	{"claude-mem impact", "impact"},
	{"claude-mem experiment off", "experiment off"},
	{"claude-mem stats", "stats"},
	{"claude-mem queue", "queue"},
	{"claude-mem queue retry", "queue retry"},
	{"claude-mem context", "context --preview"},
	{"claude-mem context", "context --preview --budget 60 --source resume --session last"},
	{"claude-mem context --why", "context --why 2"},
	{"claude-mem learn add", "learn add gotcha Amounts are whole cents."},
	{"claude-mem learn edit", "learn edit 2 Amounts are cents, never floats."},
	{"claude-mem learn retire", "learn retire 2"},
	{"claude-mem learn approve", "learn approve 2"},
	{"claude-mem learn list", "learn list --retired"},
	{"claude-mem learn list", "learn list --all"},
	{"claude-mem remember", "remember Amounts come in cents. --type decision"},
	{"claude-mem edit", "edit 3 --title Tokens_are_fractions"},
	{"claude-mem pin", "pin 3"},
	{"claude-mem unpin", "unpin 3"},
	{"claude-mem hide", "hide 3"},
	{"claude-mem unhide", "unhide 3"},
	{"claude-mem merge", "merge 3 1"},
	{"claude-mem merge", "merge --undo --into 3 --pinned 3 1"},
	{"claude-mem forget", "forget 3"},
	{"claude-mem forget", "forget 3 --yes"},
	{"claude-mem outline", "outline cart.go"},
	{"claude-mem changes", "changes --session S1"},
	{"claude-mem agent-files status", "agent-files status --target root,folders"},
	{"claude-mem agent-files sync", "agent-files sync --target root"},
	{"claude-mem agent-files clean", "agent-files clean"},
	{"claude-mem config list", "config list"},
	{"claude-mem config get", "config get CONTEXT_BUDGET"},
	{"claude-mem mode list", "mode list"},
	{"claude-mem mode show", "mode show research"},
	{"claude-mem mode check", "mode check broken"},
	{"claude-mem worker status", "worker status"},
	{"claude-mem install", "install --settings --dry-run"},
	{"claude-mem install", "install --host codex --yes"},
	{"claude-mem install", "install --settings --dry-run"},
	{"claude-mem uninstall", "uninstall --dry-run"},
	{"claude-mem uninstall", "uninstall --host codex --yes"},
	{"claude-mem doctor", "doctor"},
	{"claude-mem backup", "backup"},
	{"claude-mem export", "export memory.jsonl"},
	{"claude-mem import", "import memory.jsonl"},
	{"claude-mem import", "import memory.jsonl --dry-run"},
	{"claude-mem import", "import broken.jsonl"},
	{"claude-mem import", "import node.db --dry-run"},
	{"claude-mem import", "import transcripts --dry-run"},
	{"claude-mem import", "import transcripts --yes"},
	{"claude-mem import", "import --list"},
	{"claude-mem import", "import --undo 2"},
	{"claude-mem restore", "restore --list"},
	{"claude-mem restore", "restore --yes"}, // last: it removes the index
}

// contractScripts are the commands that need processes of their own: scenarios check them.
var contractScripts = []string{"claude-mem demo", "claude-mem open", "claude-mem worker start", "claude-mem worker restart", "claude-mem worker status", "claude-mem worker logs",
	"claude-mem sync init", "claude-mem sync join", "claude-mem sync now", "claude-mem projects link", "claude-mem sync retire", "claude-mem sync rekey", "claude-mem sync status", "claude-mem sync devices", "claude-mem sync leave",
	"claude-mem team init", "claude-mem team join", "claude-mem team pull", "claude-mem team mute", "claude-mem team leave", "claude-mem team status", "claude-mem team doctor", "claude-mem share", "claude-mem unshare"}

// neverSeen are documented fields of states that a test does not make.
var neverSeen = map[string]string{
	"claude-mem version.revision": "a test binary has no commit",
	"claude-mem upgrade.version":  "TestUpgradeOfRelease (install): a test binary is of no release", "claude-mem upgrade.newest": "likewise", "claude-mem upgrade.newer": "likewise",
	"claude-mem upgrade.upgraded": "likewise", "claude-mem upgrade.manager": "TestManager (upgrade)",
	"OlderSetting.key": "install-older.txtar", "OlderSetting.value": "likewise", "OlderSetting.in_force": "likewise", "OlderSetting.error": "likewise",
	"claude-mem stats.worker.version": "no worker runs",
	"claude-mem doctor.fixed":         "it would start a worker", "claude-mem doctor.unfixed": "as fixed",
	"claude-mem install.plan.replaces": "nothing is installed",
	"AgentFile.problem":                "agent-files.txtar",
	"claude-mem install.history.node":  "install-node.txtar", "claude-mem install.history.transcripts": "likewise", "NodeHistory.path": "likewise", "NodeHistory.observations": "likewise",
	"TranscriptHistory.path": "likewise", "TranscriptHistory.sessions": "likewise",
	"OtherPlugin.id": "there is no other plugin", "OtherPlugin.enabled": "as id", "OtherPlugin.installed": "as id",
	"Origin.key": "only scenarios have a worker", "Origin.value": "as key", "Origin.origin": "as key",
	"GivenLine.cited":              "no agent names a record",
	"GivenLine.cured":              "no failure is seen again",
	"ContextLine.observations":     "no session of a scenario has two observations in one line",
	"claude-mem restore.unapplied": "TestErasures (backup)",
	"Books.forgotten":              "no turn was private after the fact",
	"CostEstimate.provider":        "no model is chosen", "CostEstimate.model": "as provider", "CostEstimate.calls": "as provider", "CostEstimate.input_tokens": "as provider",
	"Moment.foreign": "no record has words of strangers", "Observation.foreign": "likewise", "Found.foreign": "likewise", "FoundInFull.foreign": "likewise",
	"CostEstimate.output_tokens": "as provider", "CostEstimate.usd": "as provider", "CostEstimate.daily_cap": "as provider", "ImportedTranscripts.estimate": "as provider",
	"Observation.claimed_origin": "nothing of another memory is imported", "Observation.claimed_pin": "likewise", "Learning.origin": "likewise", "Learning.waiting": "likewise",
	"ImportedTranscripts.others": "TestPlan (history)", "ImportedRecords.wide": "export.txtar", "ImportedRecords.wide_taken": "a person has to say yes at a terminal",
	"claude-mem search --team.query": "TestSearchTeam", "claude-mem search --team.limit": "likewise", "claude-mem search --team.results": "likewise",
	"TeamFound.member": "likewise", "TeamFound.writer": "likewise", "TeamFound.project": "likewise", "TeamFound.kind": "likewise", "TeamFound.key": "likewise",
	"TeamFound.title": "likewise", "TeamFound.text": "likewise", "TeamFound.created_at_epoch": "likewise", "TeamFound.score": "likewise",
	"Observation.versions": "sync.txtar", "Version.device": "likewise", "Version.type": "likewise", "Version.title": "likewise", "Version.subtitle": "likewise", "Version.narrative": "likewise", "Version.facts": "likewise",
	"Synced.sent": "likewise", "Synced.fault": "TestRekeyFault (devices)", "Synced.received": "likewise", "Synced.added": "likewise", "Synced.refused": "likewise", "Synced.words": "likewise", "RefusedFile.name": "likewise", "RefusedFile.reason": "likewise",
	"TeamDone.sent": "team.txtar", "TeamDone.added": "likewise", "TeamDone.changed": "likewise", "TeamDone.erased": "likewise", "TeamDone.acted": "likewise", "TeamDone.refused": "likewise",
	"TeamDone.fault": "likewise", "TeamDone.member": "likewise", "TeamDone.schema": "likewise",
	"TeamPolicy.project": "likewise", "TeamPolicy.summaries": "likewise", "TeamAuthor.member": "likewise", "TeamAuthor.records": "likewise", "TeamAuthor.last_at_epoch": "likewise",
	"TeamLeaving.kind": "likewise", "TeamLeaving.id": "likewise", "TeamLeaving.title": "likewise", "TeamLeaving.project": "likewise", "TeamLeaving.shared_by": "likewise", "TeamLeaving.how": "likewise", "TeamLeaving.at_epoch": "likewise", "TeamLeaving.waits": "likewise",
	"Contested.kind": "likewise", "Contested.id": "likewise", "Contested.text": "likewise", "Contested.others": "likewise", "Device.device": "likewise", "Device.label": "likewise", "Device.seen_at_epoch": "likewise", "Device.retired": "likewise", "Device.missing": "likewise", "Device.behind": "likewise", "Device.lost": "likewise",
	"Unread.reason": "no scenario has a model", "Unread.events": "as reason", "Unread.kept": "as reason", "Unread.at": "as reason",
}

func TestJSONContract(t *testing.T) {
	c := readContract(t)
	scenarios := scripts(t)
	env, project := seeded(t)
	t.Setenv("CLAUDE_MEM_DATA_DIR", env["CLAUDE_MEM_DATA_DIR"])
	t.Chdir(project)
	modes := access.ModesDir(env["CLAUDE_MEM_DATA_DIR"])
	must(t, os.MkdirAll(modes, 0o700))
	must(t, os.WriteFile(filepath.Join(modes, "broken.json"), []byte(`{"inherits":"code","types":[{"id":"A b"}]}`), 0o600))
	must(t, os.WriteFile("broken.jsonl", []byte("{\"claude_mem_export\":1}\nbroken\n"), 0o600))
	must(t, os.Mkdir("renamed", 0o700))
	must(t, makeNodeMemory(filepath.Join(project, "node.db")))
	must(t, writeTranscript(filepath.Join(project, "transcripts"), "ratelimit-burst", project))
	must(t, os.WriteFile("cart.go", []byte("package cart\n\nfunc Add() {}\n"), 0o600))
	for _, tt := range contractCases {
		code, out, errs := command(t, env, append(strings.Fields(tt.args), "--json")...)
		if wrong := c.conforms(tt.command, out); len(wrong) > 0 {
			t.Errorf("%s --json (exit %d, %s):\n\t%s", tt.args, code, strings.TrimSpace(errs), strings.Join(wrong, "\n\t"))
		}
	}
	for _, command := range contractScripts {
		if !strings.Contains(scenarios, "\nconforms '"+command+"' ") {
			t.Errorf("no scenario says: conforms '%s' FILE", command)
		}
	}
	for shape, fields := range c.shapes {
		if slices.ContainsFunc(contractScripts, func(s string) bool { return strings.HasPrefix(shape, s) }) {
			continue
		}
		for _, f := range fields {
			name := shape + "." + f.name
			if f.name != rest && c.seen[name] == (neverSeen[name] != "") {
				t.Errorf("%s was printed: %v; neverSeen says: %q", name, c.seen[name], neverSeen[name])
			}
		}
	}
}

func scripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	must(t, err)
	var all bytes.Buffer
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		all.Write(raw)
	}
	return all.String()
}

// Every command with --json is in the document and is checked, and the document has no other.
func TestContractIsComplete(t *testing.T) {
	c := readContract(t)
	a, _, _ := testApp(t, nil)
	checked := append(slices.Clone(contractScripts), "claude-mem upgrade") // neverSeen
	for _, tt := range contractCases {
		checked = append(checked, tt.command)
	}
	there := map[string]bool{"claude-mem context --why": true, "claude-mem search --team": true}
	for _, cmd := range allCommands(a.rootCommand()) {
		if cmd.Flags().Lookup("json") == nil {
			continue
		}
		there[cmd.CommandPath()] = true
		if c.prints[cmd.CommandPath()] == "" {
			t.Errorf("docs/cli.md does not say what `%s --json` prints", cmd.CommandPath())
		}
		if !slices.Contains(checked, cmd.CommandPath()) {
			t.Errorf("no case of contractCases is of `%s`", cmd.CommandPath())
		}
	}
	for command := range c.prints {
		if !there[command] {
			t.Errorf("docs/cli.md has `%s`, which has no --json", command)
		}
	}
}

// dataless are the commands that print no data, so have no --json.
var dataless = []string{
	"claude-mem", "claude-mem browse", "claude-mem completion", "claude-mem config set", "claude-mem config import", "claude-mem demo end", "claude-mem help", "claude-mem mcp", "claude-mem worker run", "claude-mem worker stop",
}

// A command that prints data has --json.
func TestCommandsHaveJSON(t *testing.T) {
	a, _, _ := testApp(t, nil)
	for _, cmd := range allCommands(a.rootCommand()) {
		parent := cmd.HasSubCommands() && cmd.Flags().Lookup("json") == nil
		if parent || !cmd.Runnable() || cmd.GroupID == groupHook || slices.Contains(dataless, cmd.CommandPath()) {
			continue
		}
		if cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", cmd.CommandPath())
		}
	}
}

// The help of --json names the fields of what a command prints, with their types: an agent asks the help, not
// the document.
func TestHelpNamesTheFields(t *testing.T) {
	c := readContract(t)
	a, _, _ := testApp(t, nil)
	checked := 0
	for _, cmd := range allCommands(a.rootCommand()) {
		kind := strings.TrimPrefix(c.prints[cmd.CommandPath()], "list of ")
		if kind == "" {
			continue
		}
		form := helpOfJSON(t, cmd.CommandPath())
		for _, one := range strings.Split(kind, " or ") {
			for _, f := range c.shapes[one] {
				if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(f.name) + `\??` + "` \\| [^|]*[a-z]").MatchString(form) {
					t.Errorf("the help of `%s` does not name %q", cmd.CommandPath(), f.name)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d fields were looked for", checked)
	}
}
