package doctor

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"
)

var update = flag.Bool("update", false, "renew docs/doctor.md")

// TestDocument checks that docs/doctor.md has the table and explains each check and finding. -update renews
// all but the explanations.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "doctor.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := withTable(t, string(page))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Error("docs/doctor.md is out of date: go test ./internal/run/doctor -run TestDocument -update")
	}
}

// TestTable checks that every row is complete and that no two kinds have the same name.
func TestTable(t *testing.T) {
	for _, c := range Checks() {
		if c.limit <= 0 || c.run == nil || len(c.Kinds) == 0 {
			t.Errorf("%s: incomplete", c.Name)
		}
	}
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if seen[k.Name] {
			t.Errorf("two kinds are named %s", k.Name)
		}
		seen[k.Name] = true
		if k.Fix == "" || k.Status != Warn && k.Status != Fail {
			t.Errorf("%s: incomplete", k.Name)
		}
	}
}

// TestBrokenChecks checks that a check that panics and one that hangs are findings, and
// that the others are not affected.
func TestBrokenChecks(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	var stack []byte
	e := newExam(t.Context(), Config{Panicked: func(_ string, s []byte) { stack = s }})
	r := examine(t.Context(), e, []Check{
		{Name: "panics", limit: time.Hour, run: func(context.Context, *exam) ([]Finding, string) { panic("of\nmine") }},
		{Name: "hangs", limit: time.Millisecond, run: func(context.Context, *exam) ([]Finding, string) { <-forever; return nil, "" }},
		{Name: "works", limit: time.Hour, run: func(context.Context, *exam) ([]Finding, string) { return nil, "it does" }},
	})
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.Check+" "+f.Name+" "+string(f.Status))
		if strings.ContainsAny(f.Text, "\n\t") {
			t.Errorf("%s: more than a line: %q", f.Check, f.Text)
		}
	}
	want := []string{"panics check-failed fail", "hangs check-slow fail", "works works ok"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Status != Fail || r.Counts != (api.FindingCounts{OK: 1, Fail: 2}) {
		t.Errorf("status %s, counts %+v", r.Status, r.Counts)
	}
	if len(stack) == 0 {
		t.Error("nobody was told where it panicked")
	}
}

// TestNothing checks that there is a report without any file, and that none is created.
func TestNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for name, cfg := range map[string]Config{
		"no home":      {},
		"no directory": {DataDir: dir},
		"no stages":    {DataDir: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Getenv = environment()
			r := Examine(t.Context(), cfg)
			for _, f := range r.Findings {
				if f.Name == "check-failed" || f.Name == "check-slow" {
					t.Errorf("%s: %s", f.Check, f.Text)
				}
			}
			if len(r.Findings) < len(Checks()) {
				t.Errorf("%d findings of %d checks", len(r.Findings), len(Checks()))
			}
			if home := r.has("home-missing"); home != (cfg.DataDir == "") {
				t.Errorf("home-missing %v", home)
			}
		})
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the data directory was made")
	}
}

func TestDisk(t *testing.T) {
	for name, test := range map[string]struct {
		on   FileSystem
		err  error
		want string
		as   Status
	}{
		"room":          {on: FileSystem{Size: 1 << 40, Free: 1 << 39, Files: 1 << 20, FreeFiles: 1 << 19}, want: "disk", as: OK},
		"not known":     {want: "disk", as: OK},
		"little":        {on: FileSystem{Size: 1 << 40, Free: 100 << 20}, want: "disk-low", as: Warn},
		"none":          {on: FileSystem{Size: 1 << 40}, want: "disk-full", as: Fail},
		"few inodes":    {on: FileSystem{Size: 1 << 40, Free: 1 << 39, Files: 1 << 20, FreeFiles: 10}, want: "inodes-low", as: Warn},
		"no inodes":     {on: FileSystem{Size: 1 << 40, Free: 1 << 39, Files: 1 << 20}, want: "inodes-low", as: Fail},
		"network":       {on: FileSystem{Size: 1 << 40, Free: 1 << 39, Network: true, Type: "nfs"}, want: "network-file-system", as: Warn},
		"read-only":     {on: FileSystem{Size: 1 << 40, Free: 1 << 39, ReadOnly: true}, want: "data-read-only-disk", as: Fail},
		"no measure":    {err: errors.New("stale file handle"), want: "disk-full", as: Warn},
		"btrfs: 0 of 0": {on: FileSystem{Size: 1 << 40, Free: 1 << 39}, want: "disk", as: OK},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment(),
				Statfs: func(string) (FileSystem, error) { return test.on, test.err }})
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == test.want })
			if i < 0 || r.Findings[i].Status != test.as {
				t.Errorf("no %s %s in %+v", test.want, test.as, r.Findings)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestAside checks that databases which were set aside are told once they take much space.
func TestAside(t *testing.T) {
	for size, want := range map[int64]bool{largeAside: false, largeAside + 1: true} {
		dir := t.TempDir()
		folder := filepath.Join(backup.AsideFolder(dir), "20260101T000000Z")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, "memory.db")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
			t.Fatal(err)
		}
		if r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment()}); r.has("aside-kept") != want {
			t.Errorf("%d bytes: aside-kept is %v, want %v", size, !want, want)
		}
	}
}

// TestProviderNotices checks that the notices and the last call of the provider in the
// settings count, and no others.
func TestProviderNotices(t *testing.T) {
	for name, test := range map[string]struct {
		provider, notice, call string
		want                   string
		fix                    string
	}{
		"key":            {"openai", "provider_openai_login", "", "key-refused", "claude-mem config set CLAUDE_MEM_OPENAI_API_KEY YOUR_KEY"},
		"login":          {"auto", "provider_claude_login", "", "login-refused", "run claude and type /login"},
		"quota":          {"claude", "provider_claude_quota", "", "provider-quota", ""},
		"busy":           {"claude", "provider_claude_rate_limit", "", "provider-away", ""},
		"another's":      {"offline", "provider_openai_login", "", "provider", ""},
		"the last call":  {"claude", "", "error", "calls-failing", "claude-mem worker logs"},
		"a good call":    {"claude", "", "ok", "provider", ""},
		"refusals":       {"claude", "provider_claude_garbage", "", "provider-refuses", ""},
		"one slip":       {"claude", "", "unusable", "provider", ""},
		"a cap":          {"claude", "cap_day", "", "cap-day", "wait until midnight, or claude-mem config set CLAUDE_MEM_DAILY_TOKEN_CAP 4000000"},
		"a session's":    {"claude", "cap_session", "", "cap-session", "claude-mem config set CLAUDE_MEM_SESSION_TOKEN_CAP 800000"},
		"something else": {"claude", "mode", "", "provider", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := openMemory(t, dir)
			if test.notice != "" {
				note(t, db, test.notice)
			}
			if test.call != "" {
				bookCall(t, db, test.call)
			}
			r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment("CLAUDE_MEM_PROVIDER", test.provider, "CLAUDE_MEM_OPENAI_API_KEY", "sk-x")})
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == test.want })
			if i < 0 {
				t.Fatalf("no %s in %+v", test.want, r.Findings)
			}
			if f := r.Findings[i]; test.fix != "" && f.Fix != test.fix {
				t.Errorf("fix %q, want %q", f.Fix, test.fix)
			}
		})
	}
}

// TestRefusedLoginOfAPIKey checks that the remedy of a refused login is the one for the
// user's account.
func TestRefusedLoginOfAPIKey(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the login may be in a keychain")
	}
	for variable, want := range map[string]string{
		"ANTHROPIC_API_KEY":       "CLAUDE_MEM_ANTHROPIC_API_KEY YOUR_KEY",
		"ANTHROPIC_AUTH_TOKEN":    "set ANTHROPIC_AUTH_TOKEN and what belongs to it",
		"CLAUDE_CODE_USE_BEDROCK": "set CLAUDE_CODE_USE_BEDROCK and what belongs to it",
		"UNRELATED":               "run claude and type /login",
	} {
		dir := t.TempDir()
		note(t, openMemory(t, dir), "provider_claude_login")
		r := Examine(t.Context(), Config{
			DataDir: dir, HostDir: filepath.Join(t.TempDir(), ".claude"), Getenv: environment("CLAUDE_MEM_PROVIDER", "auto", variable, "1"),
		})
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == "login-refused" })
		if i < 0 || !strings.Contains(r.Findings[i].Fix, want) {
			t.Errorf("%s: %+v, want login-refused with the fix %q", variable, r.Findings, want)
		}
	}
}

// TestAgentFiles checks that files that could not be written are found while the setting is
// on.
func TestAgentFiles(t *testing.T) {
	for setting, want := range map[string]string{"root,cursor": "agent-files-unwritten", "off": "agent-files"} {
		dir := t.TempDir()
		project := filepath.Join(t.TempDir(), "my shop")
		if err := os.Mkdir(project, 0o700); err != nil {
			t.Fatal(err)
		}
		db := openMemory(t, dir)
		note(t, db, "agent_files:"+project)
		note(t, db, "agent_files:"+project+" that is gone")
		r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment("CLAUDE_MEM_AGENT_FILES", setting)})
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Check == "agent-files" })
		if i < 0 || r.Findings[i].Name != want {
			t.Fatalf("%s: no %s in %+v", setting, want, r.Findings)
		}
		if f := r.Findings[i]; want != f.Check && f.Fix != "claude-mem agent-files status --project '"+project+"'" {
			t.Errorf("fix %q", f.Fix)
		}
		if next := r.Findings[i+1]; next.Check == "agent-files" {
			t.Errorf("a project that is gone: %+v", next)
		}
	}
}

// TestUnusableAnswers checks that answers that could not be used are counted.
func TestUnusableAnswers(t *testing.T) {
	dir := t.TempDir()
	db := openMemory(t, dir)
	for n := range 25 {
		outcome := "ok"
		if n%8 == 7 { // 3 of the last 20
			outcome = memory.CallUnusable
		}
		bookCall(t, db, outcome)
	}
	bookCall(t, db, "transient")
	bookCall(t, db, "ok")
	r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment("CLAUDE_MEM_PROVIDER", "claude")})
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == "answers-unusable" })
	if i < 0 || !strings.Contains(r.Findings[i].Text, "3 of 20 answers of claude could not be used") {
		t.Errorf("got %+v", r.Findings)
	}
}

// memory returns the new database of a data directory.
func openMemory(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func note(t *testing.T, s *store.Store, key string) {
	t.Helper()
	if err := s.AddNotice(t.Context(), key, "claude-mem: as noted"); err != nil {
		t.Fatal(err)
	}
}

// bookCall books a call of the claude CLI with its outcome.
func bookCall(t *testing.T, s *store.Store, outcome string) {
	t.Helper()
	ledger, err := s.NewLedger(t.Context(), func() accounts.Caps { return accounts.Caps{} })
	if err != nil {
		t.Fatal(err)
	}
	id, err := ledger.Reserve(t.Context(), memory.ModelReservation{Provider: "claude", Kind: "summary", At: time.Now()})
	if err == nil {
		err = ledger.Charge(t.Context(), id, memory.ModelCharge{Outcome: outcome, Known: true, At: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// environment returns a Getenv that knows pairs of a name and its value.
func environment(pairs ...string) func(string) string {
	values := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		values[pair[0]] = pair[1]
	}
	return func(key string) string { return values[key] }
}

// TestUnopened checks that a database that cannot be opened is reported once and that
// the checks that need it say so.
func TestUnopened(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"damaged": {sqlite.ErrNotADatabase, "database-damaged"},
		"newer":   {memory.Errorf(memory.CodeNewerSchema, "x"), "database-newer"},
		"older":   {memory.Errorf(memory.CodeOlderSchema, "x"), "database-older"},
		"locked":  {memory.Errorf(memory.CodeUnavailable, "x"), "database-locked"},
		"refused": {memory.Errorf(memory.CodeStorage, "x"), "database-unreadable"},
		"none":    {memory.Errorf(memory.CodeNoMemory, "x"), "database"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExam(t.Context(), Config{DataDir: t.TempDir(), Getenv: environment()})
			e.database = func() (*store.Store, error) { return nil, test.err }
			r := examine(t.Context(), e, Checks())
			n := 0
			for _, f := range r.Findings {
				if f.Name == test.want {
					n++
				}
				if slices.Contains([]string{"books", "queue", "index", "caps", "clock"}, f.Check) && f.Status != OK {
					t.Errorf("%s: %s", f.Check, f.Text)
				}
			}
			if n != 1 {
				t.Errorf("%s %d times in %+v", test.want, n, r.Findings)
			}
		})
	}
}

// TestLockTestedOnce checks that the worker's lock is tested once for a report: a worker
// that starts between two tests would count as one that does not answer.
func TestLockTestedOnce(t *testing.T) {
	dir := t.TempDir()
	e := newExam(t.Context(), Config{DataDir: dir, Getenv: environment()})
	if e.worker().held {
		t.Fatal("the lock is held")
	}
	held, err := openfile.TryLock(filepath.Join(dir, "worker.lock"))
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Close()
	r := examine(t.Context(), e, Checks())
	if r.has("worker-mute") {
		t.Errorf("findings: %+v", r.Findings)
	}
}

// TestLockThatCannotBeTested: it is a finding, and hides nothing that waits for a worker.
func TestLockThatCannotBeTested(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "worker.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wire.SpoolOf(dir).WriteEvent("0123456789abcdef0123456789abcdef", []byte(`{"kind":"stop"}`)); err != nil {
		t.Fatal(err)
	}
	r := examine(t.Context(), newExam(t.Context(), Config{DataDir: dir, Getenv: environment()}), Checks())
	if !r.has("worker-unknown") || !r.has("worker-away") {
		t.Errorf("findings: %+v", r.Findings)
	}
}

// TestWorkerStartsMeanwhile checks that a worker that writes worker.json after its lock was
// tested does not count as one that has died.
func TestWorkerStartsMeanwhile(t *testing.T) {
	started := exec.Command("/bin/sh", "-c", "read line", "claude-mem") // until its input is closed
	input, err := started.StdinPipe()
	if err == nil {
		err = started.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	defer input.Close()
	dir := t.TempDir()
	for _, running := range []bool{true, false} {
		if !running {
			_ = input.Close()
			_ = started.Wait()
		}
		if err := wire.WriteWorkerInfo(dir, wire.WorkerInfo{PID: started.Process.Pid, Socket: filepath.Join(dir, "worker.sock")}); err != nil {
			t.Fatal(err)
		}
		r := Examine(t.Context(), Config{DataDir: dir, Getenv: environment()})
		if r.has("worker-died") == running {
			t.Errorf("running %v: %+v", running, r.Findings)
		}
	}
}

// TestHealKeepsOut checks that Heal follows no link out of the data directory and changes
// no file of another program.
func TestHealKeepsOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, to := range map[string]string{"memory.db": outside, "notes.txt": ""} {
		path := filepath.Join(dir, name)
		var err error
		if to != "" {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Skip(err) // no links here
		}
	}
	Heal(t.Context(), Config{DataDir: dir, Getenv: environment()})
	for _, path := range []string{outside, filepath.Join(dir, "notes.txt")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestSilentHooks checks that hooks count as silent when Claude Code was used and none of
// them ran, but not by a transcript without an answer or of the observer's own session.
func TestSilentHooks(t *testing.T) {
	const answer = `{"type":"assistant"}`
	now := time.UnixMilli(1_700_000_000_000)
	ago := func(d time.Duration) memory.Millis { return memory.MillisOf(now.Add(-d)) }
	for name, test := range map[string]struct {
		folder, content string
		used, installed time.Duration // ago
		last, heard     memory.Millis
		silent          bool
	}{
		"all is well":              {folder: "p", content: answer, used: time.Hour, installed: 9 * time.Hour, last: ago(time.Hour), heard: ago(time.Hour)},
		"silent for a day":         {folder: "p", content: answer, used: time.Hour, installed: 99 * time.Hour, last: ago(25 * time.Hour), silent: true},
		"never heard of":           {folder: "p", content: answer, used: time.Hour, installed: 9 * time.Hour, silent: true},
		"used before the install":  {folder: "p", content: answer, used: 10 * time.Hour, installed: 9 * time.Hour},
		"within one turn":          {folder: "p", content: answer, used: time.Hour, installed: 9 * time.Hour, last: ago(80 * time.Minute)},
		"only opened":              {folder: "p", content: `{"type":"summary"}`, used: time.Hour, installed: 99 * time.Hour, last: ago(25 * time.Hour)},
		"a session start":          {folder: "p", content: answer, used: time.Hour, installed: 99 * time.Hour, last: ago(25 * time.Hour), heard: ago(70 * time.Minute)},
		"the observer's own":       {folder: "OBSERVER", content: answer, used: time.Hour, installed: 99 * time.Hour, last: ago(25 * time.Hour)},
		"nobody knows since when":  {folder: "p", content: answer, used: time.Hour},
		"not used for a long time": {folder: "p", content: answer, used: 999 * time.Hour, installed: 9999 * time.Hour, last: ago(999 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			dir, host := t.TempDir(), t.TempDir()
			folder := strings.ReplaceAll(test.folder, "OBSERVER", filepath.Base(claudedir.Transcripts("", filepath.Join(dir, "observer"))))
			path := filepath.Join(host, "projects", folder, "s.jsonl")
			write(t, path, test.content)
			if err := os.Chtimes(path, now.Add(-test.used), now.Add(-test.used)); err != nil {
				t.Fatal(err)
			}
			book := `{"plugins":{"` + install.PluginID + `":[{"scope":"user"}]}}`
			if test.installed > 0 {
				book = `{"plugins":{"` + install.PluginID + `":[{"scope":"user","installedAt":"` + now.Add(-test.installed).UTC().Format(time.RFC3339) + `"}]}}`
			}
			write(t, filepath.Join(host, "plugins", "installed_plugins.json"), book)
			write(t, filepath.Join(host, "settings.json"), `{"enabledPlugins":{"`+install.PluginID+`":true}}`)
			e := newExam(t.Context(), Config{DataDir: dir, HostDir: host, Clock: func() time.Time { return now }, Getenv: environment()})
			e.activity = func() (a accounts.Activity, err error) {
				if test.last > 0 {
					a.Hosts = []accounts.HostActivity{{Host: memory.HostClaudeCode, Sessions: 1, LastAt: test.last, HeardAt: test.heard}}
				}
				return a, nil
			}
			r := examine(t.Context(), e, Checks())
			if got := r.has("hooks-silent"); got != test.silent {
				t.Errorf("silent %v, want %v: %+v", got, test.silent, r.Findings[:4])
			}
		})
	}
}

// TestAsked checks that the provider's answer counts more than its notices.
func TestAsked(t *testing.T) {
	refused := &memory.ModelError{Provider: "openai", Class: memory.ClassLogin, Err: errors.New("401")}
	away := &memory.ModelError{Provider: "openai", Class: memory.ClassTransient, Err: errors.New("no connection")}
	odd := &memory.ModelError{Provider: "openai", Class: memory.ClassGarbage, Err: errors.New("404")}
	for name, test := range map[string]struct {
		provider string
		answer   error
		notice   string
		want     string
	}{
		"takes the key":            {"openai", nil, "provider_openai_login", "provider"},
		"refuses it":               {"openai", refused, "", "key-refused"},
		"is away":                  {"openai", away, "provider_openai_login", "provider-away"},
		"knows no such question":   {"openai", odd, "", "provider"},
		"has no API":               {"claude", refused, "", "provider"},
		"has no API and no login":  {"claude", nil, "provider_claude_login", "login-refused"},
		"an error of another kind": {"openai", errors.New("what?"), "", "provider-away"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := openMemory(t, dir)
			if test.notice != "" {
				note(t, db, test.notice)
			}
			r := Examine(t.Context(), Config{DataDir: dir, Ask: func(context.Context, string) error { return test.answer },
				Getenv: environment("CLAUDE_MEM_PROVIDER", test.provider, "CLAUDE_MEM_OPENAI_API_KEY", "sk-x")})
			var got []string
			for _, f := range r.Findings {
				if f.Check == "provider" {
					got = append(got, f.Name)
				}
			}
			if !slices.Equal(got, []string{test.want}) {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzHostFiles checks that no content of the host's files makes a check fail.
func FuzzHostFiles(f *testing.F) {
	f.Add(`{"enabledPlugins":{"claude-mem@x":true},"hooks":{"Stop":[{"hooks":[{"command":"claude-mem-hook"}]}]}}`, `{"plugins":{"claude-mem@x":[{"installPath":"/a"}]}}`, `{"x":{"source":{"source":"directory","path":"/a"}}}`)
	f.Add("\xef\xbb\xbf{}", `[]`, `null`)
	f.Fuzz(func(t *testing.T, settings, installed, known string) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "settings.json"), settings)
		write(t, filepath.Join(dir, "plugins", "installed_plugins.json"), installed)
		write(t, filepath.Join(dir, "plugins", "known_marketplaces.json"), known)
		r := Examine(t.Context(), Config{HostDir: dir, Getenv: environment()})
		for _, f := range r.Findings {
			if f.Name == "check-failed" || strings.ContainsAny(f.Text, "\n\r\x1b") {
				t.Errorf("%s: %q", f.Name, f.Text)
			}
		}
	})
}
