//go:build unix

package doctor

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/doctor"
)

// brokenState is a state made on purpose.
type brokenState struct {
	// name is the finding that must be made of it, and the name of the test.
	name string
	// fix is what the finding must say, with {dir} {home} {bin} for the patient's.
	fix  string
	harm func(p *patient)
	// heals says that --fix mends it; runs that the fix, run by a shell, does.
	heals, runs bool
	// variant tells two ways to the same finding apart.
	variant string
	// flags are the doctor's.
	flags []string
}

var brokenStates = []brokenState{
	// The programs.
	{name: "twin-missing", fix: "put claude-mem-hook 0.1.0-dev into {bin}, beside claude-mem", harm: func(p *patient) {
		p.ownBinaries()
		p.remove(filepath.Join(p.bin, "claude-mem-hook"))
	}},
	{name: "twin-unusable", fix: "chmod 755 {bin}/claude-mem-hook", heals: true, harm: func(p *patient) {
		p.ownBinaries()
		p.copyOf(filepath.Join(p.bin, "claude-mem-hook"), 0o644)
	}},
	{name: "twin-version", fix: "put claude-mem-hook 0.1.0-dev into {bin}", harm: func(p *patient) {
		p.ownBinaries()
		p.remove(filepath.Join(p.bin, "claude-mem-hook"))
		p.writeFile(filepath.Join(p.bin, "claude-mem-hook"), "#!/bin/sh\necho claude-mem-hook 0.0.9\n", 0o755)
	}},
	{name: "path-other", fix: "put {bin} ahead of {home}/bin in PATH, or remove {home}/bin/claude-mem", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Home, "bin", "claude-mem"), "#!/bin/sh\nexit 1\n", 0o755)
	}},

	// The plugin and its hooks.
	{name: "plugin-missing", fix: "claude-mem install", harm: func(p *patient) {
		p.remove(filepath.Join(p.host, "settings.json"))
		p.remove(filepath.Join(p.host, "plugins", "installed_plugins.json"))
	}},
	{name: "plugin-disabled", fix: "claude plugin enable claude-mem@claude-mem-local", harm: func(p *patient) {
		p.hostSettings(map[string]any{"enabledPlugins": map[string]any{"claude-mem@claude-mem-local": false}})
	}},
	{name: "plugin-gone", fix: "claude-mem install", harm: func(p *patient) {
		p.remove(filepath.Join(p.Dir, "marketplace", "claude-mem", "hooks", "hooks.json"))
	}},
	{name: "program-gone", fix: "claude-mem install", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "marketplace", "claude-mem", "hooks", "hooks.json"), string(hook.HooksJSON("linux", filepath.Join(p.Home, "moved", "bin", "claude-mem-hook"))), 0o600)
	}},
	{name: "plugin-version", fix: "claude-mem install", harm: func(p *patient) {
		hook := filepath.Join(p.Dir, "marketplace", "claude-mem", "bin", "claude-mem-hook")
		p.remove(hook)
		p.writeFile(hook, "#!/bin/sh\necho claude-mem-hook 0.0.9\n", 0o700)
	}},
	{name: "plugin-twice", fix: "claude-mem uninstall && claude-mem install", harm: func(p *patient) {
		p.hostSettings(map[string]any{
			"enabledPlugins": map[string]any{"claude-mem@claude-mem-local": true},
			"hooks":          map[string]any{"Stop": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "/opt/bin/claude-mem-hook summary"}}}}},
		})
	}},
	{name: "node-plugin", fix: "claude plugin disable claude-mem@thedotmack", harm: func(p *patient) {
		p.hostSettings(map[string]any{"enabledPlugins": map[string]any{"claude-mem@claude-mem-local": true, "claude-mem@thedotmack": true}})
	}},
	{name: "host-unreadable", fix: "repair {home}/.claude/settings.json: it must be readable and JSON", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.host, "settings.json"), `{"enabledPlugins": `, 0o600)
	}},
	{name: "hooks-disabled", fix: `remove "disableAllHooks" from {home}/.claude/settings.json`, harm: func(p *patient) {
		p.hostSettings(map[string]any{"enabledPlugins": map[string]any{"claude-mem@claude-mem-local": true}, "disableAllHooks": true})
	}},
	{name: "hooks-silent", fix: "claude-mem install, then restart Claude Code; its /hooks must list claude-mem", harm: func(p *patient) {
		transcript := filepath.Join(p.host, "projects", "-home-dev-shop", "a.jsonl")
		p.writeFile(transcript, `{"type":"assistant","message":{"role":"assistant"}}`+"\n", 0o600)
		later := time.Now().Add(2 * time.Hour) // the session in the memory is of just now
		if err := os.Chtimes(transcript, later, later); err != nil {
			p.T.Fatal(err)
		}
	}},
	{name: "cli-missing", fix: "install Claude Code, or `claude-mem config set CLAUDE_MEM_PROVIDER offline` to do without a model", harm: func(p *patient) {
		p.set("CLAUDE_MEM_PROVIDER", "auto")
		p.remove(filepath.Join(p.Home, "bin", "claude"))
	}},
	{name: "cli-broken", fix: "reinstall Claude Code; `{home}/bin/claude --version` must print its version", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Home, "bin", "claude"), "#!/bin/sh\nexit 3\n", 0o755)
	}},

	// The data directory and its disk.
	{name: "home-missing", fix: "export CLAUDE_MEM_DATA_DIR=/path/of/a/directory", harm: func(p *patient) {
		p.without("HOME", "CLAUDE_MEM_DATA_DIR")
	}},
	{name: "data-not-directory", fix: "mv {dir} {dir}.aside", runs: true, harm: func(p *patient) {
		p.removeAll(p.Dir)
		p.writeFile(p.Dir, "", 0o600)
	}},
	{name: "data-open", fix: "chmod 700 {dir}", heals: true, harm: func(p *patient) { p.chmod(p.Dir, 0o755) }},
	{name: "file-open", fix: "chmod 600 {dir}/memory.db", heals: true, harm: func(p *patient) {
		p.chmod(filepath.Join(p.Dir, "memory.db"), 0o644)
	}},
	{name: "data-read-only", fix: "chmod 700 {dir}", heals: true, harm: func(p *patient) {
		p.mere()
		p.chmod(p.Dir, 0o500)
	}},
	{name: "data-unreadable", fix: "chmod 700 {dir}", heals: true, harm: func(p *patient) {
		p.mere()
		p.chmod(p.Dir, 0o000)
	}},
	{name: "settings-broken", fix: "repair {dir}/config.json, or `mv {dir}/config.json {dir}/config.json.broken` to start with the defaults", harm: func(p *patient) {
		if err := os.Remove(filepath.Join(p.Dir, "config.last-good.json")); err != nil && !os.IsNotExist(err) {
			p.T.Fatal(err)
		}
		p.writeFile(filepath.Join(p.Dir, "config.json"), `{"CLAUDE_MEM_PROVIDER": "offline"`, 0o600)
	}},
	{name: "settings-outdated", fix: "repair {dir}/config.json, or `mv {dir}/config.json {dir}/config.json.broken` to start with the defaults", harm: func(p *patient) {
		p.must("config", "list")
		p.writeFile(filepath.Join(p.Dir, "config.json"), `{"CLAUDE_MEM_PROVIDER": "offline"`, 0o600)
	}},
	{name: "settings-older", fix: "claude-mem config import --yes", runs: true, harm: func(p *patient) {
		if err := os.Rename(filepath.Join(p.Dir, "config.json"), filepath.Join(p.Dir, "settings.json")); err != nil {
			p.T.Fatal(err)
		}
	}},
	{name: "setting-invalid", fix: "claude-mem config set CLAUDE_MEM_CONTEXT_BUDGET 2000", runs: true, harm: func(p *patient) {
		p.set("CLAUDE_MEM_CONTEXT_BUDGET", "plenty")
	}},
	{name: "clock-back", fix: "correct the clock (`date` shows it); stored events keep their time", harm: func(p *patient) {
		ahead := func() time.Time { return time.Now().Add(48 * time.Hour) }
		p.enqueue(ahead, false)
	}},

	// The worker.
	{name: "worker-died", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) {
		p.must("worker", "start")
		p.kill()
	}},
	{name: "worker-away", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) { p.spoolOne() }},
	{name: "worker-start-failed", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) {
		if ok, err := wire.ClaimStart(p.Dir, time.Now().Add(-time.Minute), false); err != nil || !ok {
			p.T.Fatalf("claim start: %v, %v", ok, err)
		}
	}},
	{name: "worker-mute", fix: "end the other process of claude-mem, then claude-mem worker start", harm: func(p *patient) {
		p.T.Cleanup(p.HoldLock())
	}},
	{name: "worker-mute", variant: "a stopped worker", fix: "kill -9 {pid}; claude-mem worker start", runs: true, harm: func(p *patient) {
		p.must("worker", "start")
		p.check(syscall.Kill(p.pid(), syscall.SIGSTOP))
	}},
	{name: "worker-mute", variant: "after a worker", fix: "end the other process of claude-mem, then claude-mem worker start", harm: func(p *patient) {
		info := wire.WorkerInfo{PID: 4194000, Version: "0.1.0-dev", Wire: wire.Version, Socket: filepath.Join(p.Dir, "worker.sock")}
		if err := wire.WriteWorkerInfo(p.Dir, info); err != nil {
			p.T.Fatal(err)
		}
		p.T.Cleanup(p.HoldLock())
	}},
	{name: "worker-version", fix: "claude-mem worker restart", heals: true, runs: true, harm: func(p *patient) {
		p.startOlder()
	}},
	{name: "port-taken", fix: "claude-mem config set CLAUDE_MEM_WORKER_PORT {port}", harm: func(p *patient) {
		p.set("CLAUDE_MEM_WORKER_PORT", strconv.Itoa(p.takePort()))
		p.must("worker", "start")
	}},
	{name: "port-taken", variant: "no worker", fix: "claude-mem config set CLAUDE_MEM_WORKER_PORT {port}", runs: true, harm: func(p *patient) {
		p.set("CLAUDE_MEM_WORKER_PORT", strconv.Itoa(p.takePort()))
	}},
	{name: "socket-elsewhere", fix: "export CLAUDE_MEM_DATA_DIR=/a/shorter/path, and move {dir} there", harm: func(p *patient) {
		p.moveTo(filepath.Join(p.Home, strings.Repeat("a-long-name-", 8)))
	}},
	{name: "socket-unsafe", fix: "mv {socket} {socket}.unsafe", runs: true, harm: func(p *patient) {
		p.moveTo(filepath.Join(p.Home, strings.Repeat("a-long-name-", 8)))
		dir := filepath.Dir(p.socket())
		if err := os.Mkdir(dir, 0o755); err != nil {
			p.T.Fatal(err)
		}
		p.chmod(dir, 0o777)
		p.T.Cleanup(func() { os.RemoveAll(dir); os.RemoveAll(dir + ".unsafe") })
	}},
	{name: "socket-foreign", fix: "export CLAUDE_MEM_DATA_DIR=/a/shorter/path, so that the socket is in the data directory", harm: func(p *patient) {
		if os.Geteuid() != 0 {
			p.T.Skip("only root gives a directory to another user")
		}
		p.moveTo(filepath.Join(p.Home, strings.Repeat("a-long-name-", 8)))
		dir := filepath.Dir(p.socket())
		p.check(os.Mkdir(dir, 0o700))
		p.T.Cleanup(func() { os.RemoveAll(dir) })
		p.check(os.Chown(dir, 65534, -1))
	}},

	// The spool.
	{name: "spool-waiting", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) { p.spoolOne() }},
	{name: "spool-unreadable", fix: "chmod 700 {dir}/spool && chmod 600 {dir}/spool/*.json", heals: true, runs: true, harm: func(p *patient) {
		p.spoolOne()
		p.chmod(filepath.Join(p.Dir, "spool", "01JTESTDELIVERY000000000001.json"), 0o000)
		p.mere()
	}},
	{name: "spool-unwritable", fix: "chmod 700 {dir}/spool", heals: true, runs: true, harm: func(p *patient) {
		p.spoolOne()
		p.chmod(filepath.Join(p.Dir, "spool"), 0o500)
		p.mere()
	}},
	{name: "spool-corrupt", fix: "inspect them, then rm -r {dir}/spool/corrupt", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "spool", "01JTESTDELIVERY000000000002.json"), "{\"wire\":1,", 0o600)
		p.must("worker", "start") // it sets the file aside
	}},
	{name: "spool-newer", fix: "install the newer claude-mem, then claude-mem worker restart", harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "spool", "01JTESTDELIVERY000000000003.json"), fmt.Sprintf(`{"wire":%d,"event":{}}`, wire.Version+1), 0o600)
	}},

	// What is kept.
	{name: "database-damaged", fix: "claude-mem doctor --fix", heals: true, runs: true, harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "memory.db"), strings.Repeat("not a database ", 1000), 0o600)
	}},
	{name: "database-damaged", variant: "in the middle", fix: "claude-mem doctor --fix", heals: true, runs: true, harm: func(p *patient) {
		p.scribble("memory.db")
	}},
	{name: "database-damaged", variant: "a negative schema", fix: "claude-mem doctor --fix", heals: true, runs: true, harm: func(p *patient) {
		p.sql("PRAGMA user_version = -1")
	}},
	{name: "database-newer", fix: "install the newer claude-mem, or export CLAUDE_MEM_DATA_DIR=/another/directory", harm: func(p *patient) {
		p.sql("PRAGMA user_version = 99")
	}},
	{name: "database-older", fix: "claude-mem worker restart", runs: true, harm: func(p *patient) { p.olderDatabase() }},
	{name: "database-unreadable", fix: "chmod 600 {dir}/memory.db", heals: true, harm: func(p *patient) {
		p.mere()
		p.chmod(filepath.Join(p.Dir, "memory.db"), 0o000)
	}},
	{name: "books-unbalanced", fix: "please report it, with the output of `claude-mem stats --json`", harm: func(p *patient) {
		p.sql("PRAGMA foreign_keys = 0", "DELETE FROM events WHERE id = 3")
	}},
	{name: "dead-letters", fix: "claude-mem queue retry", runs: true, harm: func(p *patient) { p.enqueue(time.Now, true) }},
	{name: "queue-stuck", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) {
		past := func() time.Time { return time.Now().Add(-time.Hour) }
		session := p.enqueue(past, false)
		s := p.open(past)
		claim, err := s.Claim(p.T.Context(), "gone", session, 0, memory.MillisOf(past()))
		if err != nil || len(claim.Events) == 0 {
			p.T.Fatalf("claim: %d events, %v", len(claim.Events), err)
		}
		p.close(s)
	}},
	{name: "queue-waiting", fix: "claude-mem worker start", heals: true, runs: true, harm: func(p *patient) {
		p.enqueue(func() time.Time { return time.Now().Add(-5 * time.Hour) }, false)
	}},
	{name: "index-missing", fix: "claude-mem reindex", heals: true, runs: true, harm: func(p *patient) {
		p.remove(filepath.Join(p.Dir, "index.db"))
	}},
	{name: "index-failed", fix: "claude-mem reindex", heals: true, runs: true, harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "index.db"), strings.Repeat("not an index ", 1000), 0o600)
	}},
	{name: "index-behind", fix: "claude-mem reindex", heals: true, runs: true, harm: func(p *patient) { p.write(300) }},

	// The model.
	{name: "key-missing", fix: "claude-mem config set CLAUDE_MEM_OPENAI_API_KEY YOUR_KEY", runs: true, harm: func(p *patient) {
		p.set("CLAUDE_MEM_PROVIDER", "openai")
	}},
	{name: "key-refused", fix: "claude-mem config set CLAUDE_MEM_ANTHROPIC_API_KEY YOUR_KEY", harm: func(p *patient) {
		p.refuseKey()
	}},
	{name: "key-refused", variant: "asked", flags: []string{"--online"}, fix: "claude-mem config set CLAUDE_MEM_OPENAI_API_KEY YOUR_KEY", harm: func(p *patient) {
		p.set("CLAUDE_MEM_PROVIDER", "openai", "CLAUDE_MEM_OPENAI_BASE_URL", p.provider(http.StatusUnauthorized), "CLAUDE_MEM_OPENAI_API_KEY", "sk-test-wrong")
	}},
	{name: "provider-away", fix: "claude-mem worker logs", harm: func(p *patient) {
		p.answerWith(http.StatusServiceUnavailable, "provider-away")
	}},
	{name: "cap-day", fix: "wait until midnight, or claude-mem config set CLAUDE_MEM_DAILY_TOKEN_CAP 2", harm: func(p *patient) {
		p.answerWith(http.StatusOK, "cap-day", "CLAUDE_MEM_DAILY_TOKEN_CAP", "1")
	}},

	// What is left over.
	{name: "private-not-directory", fix: "mv {dir}/private {dir}/private.aside", runs: true, harm: func(p *patient) {
		p.writeFile(filepath.Join(p.Dir, "private"), "", 0o600)
	}},
	{name: "private-left", fix: "claude-mem doctor --fix", heals: true, runs: true, harm: func(p *patient) {
		if err := wire.MarksOf(p.Dir, func(string) string { return "" }).Set(memory.HostClaudeCode, "s"); err != nil {
			p.T.Fatal(err)
		}
		old := time.Now().Add(-30 * 24 * time.Hour)
		marks, err := filepath.Glob(filepath.Join(p.Dir, "private", "*"))
		if err != nil || len(marks) != 1 {
			p.T.Fatalf("%d marks, %v", len(marks), err)
		}
		if err := os.Chtimes(marks[0], old, old); err != nil {
			p.T.Fatal(err)
		}
	}},
	{name: "hook-errors", fix: "tail -n 20 {dir}/logs/hook.log", harm: func(p *patient) {
		p.Hook("save", []byte("this is not JSON")) // noted, and nothing more
	}},
	{name: "event-lost", fix: "tail -n 20 {dir}/logs/hook.log", harm: func(p *patient) {
		// The spool is a file, and there is nobody to deliver to.
		p.removeAll(filepath.Join(p.Dir, "spool"))
		p.writeFile(filepath.Join(p.Dir, "spool"), "", 0o600)
		release := p.HoldLock()
		p.Hook("save", []byte(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_use_id":"t","tool_input":{},"tool_response":{}}`))
		release()
		p.removeAll(filepath.Join(p.Dir, "spool"))
		p.must("worker", "start") // the hook has begun to
	}},
}

// TestDoctor breaks a healthy installation in every way that the doctor knows of:
// each is reported with its fix, and those that --fix repairs are gone afterwards.
func TestDoctor(t *testing.T) {
	t.Parallel()
	t.Run("healthy", func(t *testing.T) {
		p := newPatient(t)
		p.wellAltogether()
		p.must("worker", "start")
		p.wellAltogether()
	})
	var done repairs
	t.Run("states", func(t *testing.T) {
		for _, state := range brokenStates {
			name := state.name
			if state.variant != "" {
				name += " " + state.variant
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				state.diagnose(newPatient(t), &done)
			})
			// The fix commands of what --fix repairs work by hand too.
			if state.heals && state.runs {
				t.Run("by hand "+name, func(t *testing.T) {
					t.Parallel()
					state.fixByHand(newPatient(t))
					done.ran.Add(1)
				})
			}
		}
	})
	if !t.Failed() {
		world.Figure(t, 3, "doctor: %d broken states named with the right fix, %d healed by --fix, %d by running the fix", done.named.Load(), done.healed.Load(), done.ran.Load())
	}
}

// repairs counts broken states: those named, those healed by --fix, and those whose fix was run.
type repairs struct{ named, healed, ran atomic.Int64 }

// diagnose breaks a patient, compares what the doctor says of it, and mends it.
func (state brokenState) diagnose(p *patient, done *repairs) {
	t := p.T
	state.harm(p)
	before := p.tree()
	got := world.Finding(p.examine(state.flags...), state.name)
	if got.Status != doctor.Warn && got.Status != doctor.Fail {
		t.Fatalf("not found in %s", p.told())
	}
	if fix := p.expand(state.fix, got); got.Fix != fix {
		t.Errorf("fix %q, want %q", got.Fix, fix)
	}
	if got.Fixable != state.heals {
		t.Errorf("fixable %v, want %v", got.Fixable, state.heals)
	}
	if after := p.tree(); before != "" && after != before {
		t.Errorf("the doctor changed the memory:\n%s\nwas\n%s", after, before)
	}
	done.named.Add(1)
	if state.heals {
		report := p.examine("--fix")
		if left := world.Finding(report, state.name); left.Name != "" {
			t.Errorf("after --fix: %s (%v)", left.Text, report.Unfixed)
		}
		if !mended(report, state.name) {
			t.Errorf("not among the mended: %v", report.Fixed)
		}
		p.well()
		done.healed.Add(1)
	}
	if state.runs && !state.heals {
		if out, err := p.exec("/bin/sh", "-c", got.Fix); err != nil && state.name != "data-not-directory" {
			t.Errorf("%s: %v\n%s", got.Fix, err, out)
		}
		if left := world.Finding(p.examine(), state.name); left.Name != "" {
			t.Errorf("after %s: %s", got.Fix, left.Text)
		}
		done.ran.Add(1)
	}
}

// fixByHand breaks a patient and runs the fix that the doctor names.
func (state brokenState) fixByHand(p *patient) {
	state.harm(p)
	fix := world.Finding(p.examine(), state.name).Fix
	if out, err := p.exec("/bin/sh", "-c", fix); err != nil {
		p.T.Fatalf("%s: %v\n%s", fix, err, out)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := world.Finding(p.examine(), state.name)
		if left.Name == "" {
			return
		}
		if time.Now().After(deadline) {
			p.T.Fatalf("after %s: %s", fix, left.Text)
		}
	}
}

// TestDoctorDiskFull needs limits that a process can be given: no room in a file
// system is the same to a writer as a file that may not grow.
func TestDoctorDiskFull(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	claude := filepath.Join(p.bin, "claude-mem")
	report := p.read("/bin/sh", "-c", "ulimit -f 0; exec "+claude+" doctor --json")
	got := world.Finding(report, "disk-full")
	if got.Status != doctor.Fail {
		t.Fatalf("not found in %s", told(report))
	}
	if want := p.expand("free some space on the disk of {dir}, or raise the quota", got); got.Fix != want {
		t.Errorf("fix %q, want %q", got.Fix, want)
	}
	p.wellAltogether()
	how := "a process that may not write"
	if full, ok := p.smallDisk(claude); ok {
		if got := world.Finding(full, "disk-full"); got.Status != doctor.Fail {
			t.Errorf("on a full disk: %s", told(full))
		}
		how += ", a real full tmpfs"
	}
	world.Figure(t, 3, "doctor: disk full by %s", how)
}

// TestDoctorNetworkFileSystem cannot mount one; what the system would say of it
// is put in its place.
func TestDoctorNetworkFileSystem(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	on := doctor.FileSystem{Type: "nfs", Network: true, Size: 1 << 40, Free: 1 << 39}
	report := doctor.Examine(t.Context(), doctor.Config{
		DataDir: p.Dir, Version: "0.1.0-dev", Getenv: func(string) string { return "" },
		Statfs: func(string) (doctor.FileSystem, error) { return on, nil },
	})
	got := world.Finding(report, "network-file-system")
	if want := p.expand("claude-mem worker stop, move {dir} to a local disk, then export CLAUDE_MEM_DATA_DIR=/its/new/place", got); got.Status != doctor.Warn || got.Fix != want {
		t.Errorf("got %+v, want a warning with fix %q", got, want)
	}
}

// told are the report's findings but for what is well.
func told(r doctor.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Status != doctor.OK {
			fmt.Fprintf(&b, "%s: %s; ", f.Name, f.Text)
		}
	}
	return b.String()
}

func (p *patient) told() string { return told(p.examine()) }

func mended(r doctor.Report, name string) bool {
	for _, f := range r.Fixed {
		if f.Name == name {
			return true
		}
	}
	return false
}

// well fails the test when anything is broken or in doubt, but for what the
// passing of the test itself leaves behind.
func (p *patient) well() {
	p.T.Helper()
	for _, f := range p.examine().Findings {
		if f.Status != doctor.OK {
			p.T.Errorf("%s: %s", f.Name, f.Text)
		}
	}
}

// wellAltogether is well, and every check has had its say.
func (p *patient) wellAltogether() {
	p.T.Helper()
	p.well()
	report := p.examine()
	if report.Status != doctor.OK || len(report.Findings) != len(doctor.Checks()) {
		p.T.Errorf("status %s with %d findings, want ok with %d", report.Status, len(report.Findings), len(doctor.Checks()))
	}
}

func (p *patient) expand(fix string, got doctor.Finding) string {
	port := got.Fix[strings.LastIndexByte(got.Fix, ' ')+1:]
	socket := ""
	if strings.Contains(fix, "{socket}") {
		socket = filepath.Dir(p.socket())
	}
	return strings.NewReplacer("{dir}", p.Dir, "{home}", p.Home, "{bin}", p.bin, "{port}", port, "{socket}", socket, "{pid}", strconv.Itoa(p.WorkerPID())).Replace(fix)
}

// tree lists the memory's files with modes and, without a worker that writes,
// contents' sizes; "" while one runs.
func (p *patient) tree() string {
	if p.WorkerPID() != 0 {
		return ""
	}
	var b strings.Builder
	_ = filepath.WalkDir(p.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a directory that nobody may read
		}
		if strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return nil // SQLite's, of who reads
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			fmt.Fprintf(&b, "%s %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		} else if err == nil {
			fmt.Fprintf(&b, "%s %v\n", path, info.Mode())
		}
		return nil
	})
	return b.String()
}
