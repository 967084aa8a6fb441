package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/recorded"
	"claudemem/proof/layouts"
	"claudemem/proof/postgres"

	"github.com/rogpeppe/go-internal/testscript"
)

// update renews the golden files: read them before they are committed.
var update = flag.Bool("update", false, "renew golden files")

// TestMain makes the test binary be claude-mem and claude-mem-hook too: the
// scenarios under testdata/script run the real main in processes of their own,
// and the hooks start a real worker.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"claude-mem":      func() { os.Exit(run(os.Args[1:])) },
		"claude-mem-hook": func() { hook.Main(os.Args[1:], hook.Options{}) },
	})
}

// TestScripts plays the scenarios; with -short only the one that most of the program takes
// part in, since each command is a process, and slow to start under the race detector.
func TestScripts(t *testing.T) {
	scripts := "*.txtar"
	if testing.Short() {
		scripts = "capture.txtar"
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", scripts))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition: func(condition string) (bool, error) {
			if condition != "postgres" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return postgres.Find() != "", nil
		},
		Setup: func(env *testscript.Env) error {
			data := filepath.Join(env.WorkDir, "memory")
			env.Setenv("CLAUDE_MEM_DATA_DIR", data)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("USERPROFILE", env.WorkDir)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("CLAUDE_MEM_SLACK", "20s") // no scenario's outcome shall depend on how busy the machine is
			docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
			if err != nil {
				return err
			}
			env.Setenv("DOCS", docs)
			if filepath.Base(env.WorkDir) == "script-team" && postgres.Find() != "" {
				server := postgres.Start(t)
				server.Team("alice", "bob")
				for _, role := range []string{"postgres", "boss", "alice", "bob", "carol_reads"} {
					env.Setenv("AS_"+role, server.Address(role))
				}
			}
			env.Defer(func() { stopWorkers(t, data) })
			if err := os.MkdirAll(data, 0o700); err != nil {
				return err
			}
			// No port: scenarios run side by side with each other and with the user's own worker.
			return os.WriteFile(filepath.Join(data, "config.json"), []byte(`{"CLAUDE_MEM_WORKER_PORT": "0", "CLAUDE_MEM_PROVIDER": "offline"}`), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"settled": settled, "synced": synced, "schema": setSchema, "holdlock": holdLock, "hook": runScriptHook,
			"statusline": runStatusline, "calls": bookCalls, "indexed": indexed,
			"fakeclaude": fakeClaude, "nodememory": nodeMemory, "transcript": recordedTranscript, "sameblock": sameBlock, "samebutages": sameButAges, "conforms": scriptConforms, "noted": noted, "reminded": runReminded,
		},
	})
}

// recordedTranscript writes the transcript of a recorded session that worked in the directory
// of the scenario: transcript SESSION DIR.
func recordedTranscript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: transcript SESSION DIR")
	}
	ts.Check(writeTranscript(ts.MkAbs(args[1]), args[0], ts.MkAbs(".")))
}

// nodeMemory makes a database of claude-mem for Node with odd rows: nodememory FILE.
func nodeMemory(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nodememory FILE")
	}
	ts.Check(makeNodeMemory(ts.MkAbs(args[0])))
}

// recordedSessions is the directory of the recorded sessions. Tests change directories.
var recordedSessions, _ = filepath.Abs(filepath.Join("..", "..", "internal", "run", "recorded", "sessions"))

// writeTranscript writes the transcript of a recorded session into a directory.
func writeTranscript(dir, session, project string) error {
	body, err := os.ReadFile(filepath.Join(recordedSessions, session, "transcript.jsonl"))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, session+".jsonl"), recorded.Render(body, project, project), 0o600)
}

// makeNodeMemory makes the database that nodememory makes.
func makeNodeMemory(path string) error {
	const version = 49
	db, err := layouts.Create(path, version)
	if err != nil {
		return err
	}
	_, err = layouts.Fill(db, version)
	return errors.Join(err, db.Close())
}

// runStatusline runs a program's status line until it says something, if only an
// empty line: on a busy machine 100 ms may be too short for one: statusline PROGRAM FILE.
func runStatusline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: statusline PROGRAM FILE")
	}
	program, err := exec.LookPath(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(2 * time.Minute); ; {
		cmd := exec.Command(program, "statusline")
		cmd.Dir = ts.MkAbs(".")
		cmd.Stdin = strings.NewReader(ts.ReadFile(args[1]))
		for _, key := range []string{"PATH", "HOME", "USERPROFILE", "CLAUDE_MEM_DATA_DIR", "TMPDIR", "TEMP", "TMP", "SystemRoot"} {
			cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
		}
		said, err := cmd.Output()
		ts.Check(err)
		if len(said) > 0 {
			_, err := ts.Stdout().Write(said)
			ts.Check(err)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s says nothing", args[0])
		}
	}
}

// bookCalls books model calls of today and yesterday, and a provider that
// refuses the login: calls.
func bookCalls(ts *testscript.TestScript, _ bool, _ []string) {
	ctx := context.Background()
	s, err := store.Open(ctx, access.DatabasePath(ts.Getenv("CLAUDE_MEM_DATA_DIR")), store.Options{})
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	receipts, err := s.Enqueue(ctx, memory.Arrival{Key: "p1", Event: memory.Event{
		DeliveryID: "d1", Kind: memory.KindPrompt, Host: memory.HostRaw, HostSessionID: "s1", Prompt: "x", ProjectPath: "/home/dev/shop",
	}})
	ts.Check(err)
	ledger, err := s.NewLedger(ctx, func() accounts.Caps { return accounts.Caps{} })
	ts.Check(err)
	now := time.Now()
	for _, c := range []struct {
		provider, model string
		session         memory.SessionID
		at              time.Time
		outcome         string
		usage           memory.ModelUsage
		usd             float64
	}{
		{"anthropic", "haiku", receipts[0].Session, now.AddDate(0, 0, -1), "transient", memory.ModelUsage{Input: 100, Output: 10, Cached: 50}, 0.02},
		{"anthropic", "haiku", receipts[0].Session, now, "ok", memory.ModelUsage{Input: 200, Output: 20}, 0.01},
		{"openrouter", "some/model", 0, now, "ok", memory.ModelUsage{Input: 1000, Output: 1}, 0},
	} {
		id, err := ledger.Reserve(ctx, memory.ModelReservation{Provider: c.provider, Model: c.model, Kind: "turn", Session: c.session, At: c.at})
		ts.Check(err)
		ts.Check(ledger.Charge(ctx, id, memory.ModelCharge{Outcome: c.outcome, Model: c.model, Usage: c.usage, Known: true, USD: c.usd, At: c.at}))
	}
	ts.Check(s.AddNotice(ctx, "provider_claude_login", "claude-mem: claude refuses the login."))
}

// stopWorkers ends a scenario's worker, and those that hooks had started
// meanwhile and that wait for its lock: one of them takes it as soon as it is free.
func stopWorkers(t *testing.T, dataDir string) {
	// A hook or the MCP server may just have started a worker that holds no lock yet.
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		held, err := control.LockHeld(dataDir)
		if at, attempts, _, _ := wire.LastStart(dataDir); err != nil || held || attempts == 0 || time.Since(at) > 10*time.Second {
			break
		}
	}
	for stopped := true; stopped; {
		var err error
		if stopped, err = control.Stop(context.Background(), dataDir, service.StopLimit); err != nil {
			t.Errorf("%s: stop worker: %v", dataDir, err)
			return
		}
		if stopped {
			<-time.After(300 * time.Millisecond)
		}
	}
}

// settled waits until the worker has taken in and distilled everything: settled [EVENTS].
func settled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: settled [EVENTS]")
	}
	want := 1
	if len(args) == 1 {
		var err error
		want, err = strconv.Atoi(args[0])
		ts.Check(err)
	}
	data := ts.Getenv("CLAUDE_MEM_DATA_DIR")
	deadline := time.Now().Add(2 * time.Minute)
	for {
		var books memory.Books
		m, err := store.OpenReadOnly(context.Background(), access.DatabasePath(data))
		if err == nil {
			books, err = m.Books(context.Background())
			_ = m.Close()
		}
		waiting, _ := wire.SpoolOf(data).List(time.Now())
		if err == nil && books.Received >= want && books.Pending+books.Processing == 0 && len(waiting) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not settled: %+v, %d spooled, %v", books, len(waiting), err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// synced waits until a file has a text, which the worker is about to write: synced FILE TEXT.
func synced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: synced FILE TEXT")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		raw, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && bytes.Contains(raw, []byte(args[1])) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: %v: %s", args[0], err, raw)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// indexed waits until the worker's index has taken in all that is stored.
func indexed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: indexed")
	}
	data := ts.Getenv("CLAUDE_MEM_DATA_DIR")
	number := func(path, query string) (n int64, err error) {
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro&_pragma=busy_timeout(5000)")
		if err != nil {
			return 0, err
		}
		defer func() { _ = db.Close() }()
		err = db.QueryRow(query).Scan(&n)
		return n, err
	}
	for deadline := time.Now().Add(2 * time.Minute); ; {
		newest, err := number(access.DatabasePath(data), `SELECT coalesce(max(seq), 0) FROM changes`)
		ts.Check(err)
		at, err := number(filepath.Join(data, "index.db"), `SELECT seq FROM cursor WHERE NOT EXISTS (SELECT 1 FROM meta WHERE name = 'build')`)
		if err == nil && at >= newest {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not indexed: at %d of %d, %v", at, newest, err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// sameBlock compares the context block of an answer, of a preview or a hook, with the
// first one of the scenario, byte for byte but for the ages, which the clock moves:
// sameblock FILE.
func sameBlock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sameblock FILE")
	}
	var answer struct {
		Context            string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &answer))
	block := blockAges.ReplaceAllString(answer.Context+answer.HookSpecificOutput.AdditionalContext, "[AGE]")
	if !strings.HasPrefix(block, "<claude-mem-context>") {
		ts.Fatalf("no context block: %s", ts.ReadFile(args[0]))
	}
	path := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "first-block"))
	first, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		ts.Check(os.WriteFile(path, []byte(block), 0o600))
		return
	}
	ts.Check(err)
	if block != string(first) {
		ts.Fatalf("the block is\n%s\nand was\n%s", block, first)
	}
}

var blockAges = regexp.MustCompile(`\[(just now|\d+m ago)\]`)

// sameButAges compares two files, which may be stdout, byte for byte but for the ages
// in front of their lines, which the clock moves: samebutages FILE FILE.
func sameButAges(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samebutages FILE FILE")
	}
	withoutAges := func(file string) string {
		return lineAges.ReplaceAllString(ts.ReadFile(file), "AGE  ")
	}
	if a, b := withoutAges(args[0]), withoutAges(args[1]); a != b {
		ts.Fatalf("%s is\n%s\nand %s is\n%s", args[0], a, args[1], b)
	}
}

var lineAges = regexp.MustCompile(`(?m)^ +(just now|\d+m ago)  `)

// noted waits until so much is booked, which is done after it was answered:
// noted given|lookups N.
func noted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || args[0] != "given" && args[0] != "lookups" {
		ts.Fatalf("usage: noted given|lookups N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	m, err := store.OpenReadOnly(context.Background(), access.DatabasePath(ts.Getenv("CLAUDE_MEM_DATA_DIR")))
	ts.Check(err)
	defer func() { _ = m.Close() }()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		sum, err := m.ReceiptTotals(context.Background(), 0)
		ts.Check(err)
		n := sum.Lookups
		if args[0] == "given" {
			n = 0
			for _, g := range sum.Given {
				n += g.Times
			}
		}
		if n >= want {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%d %s, want %d", n, args[0], want)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// setSchema gives the database the schema number of another program: schema N.
func setSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema N")
	}
	db, err := sql.Open("sqlite", access.DatabasePath(ts.Getenv("CLAUDE_MEM_DATA_DIR")))
	ts.Check(err)
	_, err = db.Exec("PRAGMA user_version = " + args[0])
	ts.Check(err)
	ts.Check(db.Close())
}

// holdLock keeps every worker from running until the scenario ends, or until
// `! holdlock`.
func holdLock(ts *testscript.TestScript, neg bool, _ []string) {
	path := filepath.Join(ts.Getenv("CLAUDE_MEM_DATA_DIR"), "worker.lock")
	held, _ := locks.Load(path)
	if neg {
		ts.Check(held.(io.Closer).Close())
		return
	}
	file, err := openfile.TryLock(path)
	if err != nil || file == nil {
		ts.Fatalf("lock: %v, %v", file, err)
	}
	locks.Store(path, file)
	ts.Defer(func() { _ = file.Close() })
}

// locks are the held ones by path; scenarios run in parallel.
var locks sync.Map

// runScriptHook runs the hook as a host does: hook EVENT [KEY=VALUE ...]; a value that
// begins with { or [ is JSON.
func runScriptHook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: hook EVENT [KEY=VALUE ...]")
	}
	_, err := ts.Stdout().Write(scriptHook(ts, args))
	ts.Check(err)
}

// runReminded runs a hook until the session is reminded of something: on a busy
// machine what a moment may take is too short for one, which is then silent. Each
// time it is another tool call: reminded EVENT [KEY=VALUE ...].
func runReminded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: reminded EVENT [KEY=VALUE ...]")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for n := 1; ; n++ {
		said := scriptHook(ts, append(args, fmt.Sprintf("tool_use_id=again%d", n)))
		if len(said) > 0 {
			_, err := ts.Stdout().Write(said)
			ts.Check(err)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the session is reminded of nothing")
		}
	}
}

// scriptHook runs the hook and returns what it says.
func scriptHook(ts *testscript.TestScript, args []string) []byte {
	payload := map[string]any{"hook_event_name": args[0], "session_id": "session-1", "cwd": ts.MkAbs("project")}
	for _, pair := range args[1:] {
		key, value, _ := strings.Cut(pair, "=")
		payload[key] = value
		if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
			payload[key] = json.RawMessage(value)
		}
	}
	body, err := json.Marshal(payload)
	ts.Check(err)
	program, err := exec.LookPath("claude-mem-hook")
	ts.Check(err)
	cmd := exec.Command(program)
	cmd.Dir = ts.MkAbs("project")
	cmd.Stdin = bytes.NewReader(body)
	for _, key := range []string{"PATH", "HOME", "USERPROFILE", "CLAUDE_MEM_DATA_DIR", "TMPDIR", "TEMP", "TMP", "SystemRoot"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ts.Check(cmd.Run())
	if stderr.Len() > 0 {
		ts.Fatalf("the hook wrote to standard error: %s", stderr.String())
	}
	return stdout.Bytes()
}
