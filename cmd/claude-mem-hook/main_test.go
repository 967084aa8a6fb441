package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
)

// build makes the binary as it is shipped.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude-mem-hook")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestStaysSmall guards the start-up cost: every package below brings its own
// (init functions, pages to map, a poller or a random generator to set up).
func TestStaysSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	forbidden := []string{"net", "net/http", "net/url", "database/sql", "regexp", "os/exec", "os/user", "crypto/", "log", "flag", "text/template", "modernc.org", "mvdan.cc/sh"}
	for _, dep := range strings.Fields(string(out)) {
		for _, name := range forbidden {
			if dep == name || strings.HasPrefix(dep, strings.TrimSuffix(name, "/")+"/") {
				if runtime.GOOS == "windows" && (dep == "net" || strings.HasPrefix(dep, "crypto/") || dep == "net/netip") {
					continue // the second way to the worker there is TCP
				}
				t.Errorf("the hook imports %s", dep)
			}
		}
		for _, name := range []string{"/internal/keep/", "/internal/capture/toolcall/"} {
			if strings.Contains(dep+"/", name) {
				t.Errorf("the hook imports %s", dep)
			}
		}
	}
	program, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	const limit = 3 << 20
	if len(program) > limit {
		t.Errorf("the hook is %d bytes, more than %d", len(program), limit)
	}
	for _, function := range []string{"fmt.(*pp).doPrintf", "reflect.Value.Call"} { // by its name in the table of functions
		if bytes.Contains(program, []byte(function)) {
			t.Errorf("the hook links %s", function)
		}
	}
}

type hooked struct{ stdout, stderr string }

func run(t *testing.T, binary, data, input string, args ...string) hooked {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = []string{"HOME=" + data, "USERPROFILE=" + data, "CLAUDE_MEM_DATA_DIR=" + data, "SystemRoot=" + os.Getenv("SystemRoot"), "CLAUDE_PROJECT_DIR=/nowhere"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%q: %v", args, err)
	}
	return hooked{stdout.String(), stderr.String()}
}

// TestBinaryIsSilent sends every payload and worse through the real process,
// with no worker to be had: exit 0, nothing on either output, but for the start of a session,
// which tells that there is no worker.
func TestBinaryIsSilent(t *testing.T) {
	binary := build(t)
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "claude-code-hooks", "*.json"))
	if err != nil || len(paths) < 70 {
		t.Fatalf("%d payloads, %v", len(paths), err)
	}
	inputs := map[string]string{
		"empty": "", "not JSON": "x", "NULs": "\x00\x00", "wrong types": `{"hook_event_name":1,"session_id":[]}`,
		"20 MB": `{"hook_event_name":"Stop","session_id":"big","last_assistant_message":"` + strings.Repeat("z", 20<<20) + `"}`,
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inputs[filepath.Base(path)] = string(content)
	}
	const events = 39 // the 38 golden ones, and the 20 MB
	for n := range 3 {
		data := t.TempDir()
		for name, input := range inputs {
			if strings.HasPrefix(name, "SessionStart") && name != "SessionStart-startup.json" {
				continue // each waits for the worker that cannot be started
			}
			got, told := run(t, binary, data, input), ""
			if name == "SessionStart-startup.json" {
				told = `{"systemMessage":"claude-mem's worker does not start: claude-mem is neither beside the hook nor on PATH. Until it does, nothing new is in the memory. ` +
					"`claude-mem doctor` shows what to do.\"}\n"
			}
			if got.stderr != "" || got.stdout != told {
				t.Errorf("%s: %+v", name, got)
			}
		}
		names, err := wire.SpoolOf(data).List(time.Now())
		if err == nil && len(names) == events {
			return
		}
		// On a loaded machine a hook may give its event up, and says so: then once more.
		log, _ := os.ReadFile(filepath.Join(data, "logs", "hook.log"))
		if n == 2 || !bytes.Contains(log, []byte("not finished in time")) {
			t.Fatalf("%d events in the spool, want %d; %v, log: %s", len(names), events, err, log)
		}
	}
}

// TestFallsBackToBigBinary puts a stand-in for claude-mem beside the hook.
func TestFallsBackToBigBinary(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	binary := build(t)
	script := "#!/bin/sh\nif [ \"$1\" = worker ]; then env >\"$CLAUDE_MEM_DATA_DIR/environment\"; exit; fi\n" +
		`printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"%s"}}' "$*"` + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(binary), "claude-mem"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var data string
	var got hooked
	for n := 0; n < 5 && got.stdout == ""; n++ { // a stand-in that is late on a loaded machine gives nothing
		data = t.TempDir()
		got = run(t, binary, data, `{"hook_event_name":"SessionStart","session_id":"s 1","cwd":"/elsewhere","source":"clear"}`, "context")
	}
	want := `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"context --from-database --host claude-code --session-id s 1 --project /nowhere --source clear --worktree /elsewhere --branch  --head  --start-dir /nowhere --config-dir ` + filepath.Join(data, ".claude") + `"}}` + "\n"
	if got.stdout != want || got.stderr != "" {
		t.Errorf("got %+v, want %s", got, want)
	}
	// The worker that it tried to start saw nothing of this project's environment.
	var environment []byte
	for end := time.Now().Add(time.Minute); !bytes.Contains(environment, []byte("CLAUDE_MEM_DATA_DIR="+data)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the worker's environment: %s", environment)
		}
		environment, _ = os.ReadFile(filepath.Join(data, "environment")) // the worker writes it meanwhile
	}
	if bytes.Contains(environment, []byte("CLAUDE_PROJECT_DIR")) {
		t.Errorf("the worker's environment: %s", environment)
	}
}

// TestClosedOutput: a host that has closed the hook's standard output sees exit code 0.
func TestClosedOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	binary := build(t)
	script := `#!/bin/sh
printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"remembered"}}'
`
	if err := os.WriteFile(filepath.Join(filepath.Dir(binary), "claude-mem"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(binary, "context")
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"SessionStart","session_id":"s","source":"startup"}`)
	cmd.Env = []string{"HOME=" + data, "CLAUDE_MEM_DATA_DIR=" + data}
	cmd.Stdout, cmd.Stderr = writer, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q, want exit code 0 and no output", err, stderr.String())
	}
}

// TestVersion: the doctor compares the twins; a version is all that is printed,
// whatever is on standard input.
func TestVersion(t *testing.T) {
	cmd := exec.Command(build(t), "--version")
	data := t.TempDir()
	cmd.Env = []string{"HOME=" + data, "CLAUDE_MEM_DATA_DIR=" + data}
	out, err := cmd.CombinedOutput()
	if want := "claude-mem-hook " + wire.Program + "\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	if made, _ := os.ReadDir(data); len(made) > 0 {
		t.Errorf("made %v", made)
	}
}

// TestKilledInMidWrite: whenever the process dies, no broken file bears the name of a spool file.
func TestKilledInMidWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 80 processes")
	}
	binary := build(t)
	data := t.TempDir()
	content := strings.Repeat("package main ", 60<<10)
	input, err := json.Marshal(map[string]any{
		"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Write",
		"tool_input": map[string]string{"file_path": "/nowhere/a.go", "content": content},
	})
	if err != nil {
		t.Fatal(err)
	}
	// How long one takes tells when to kill.
	began := time.Now()
	run(t, binary, data, string(input), "save")
	whole := time.Since(began)
	for range 80 {
		cmd := exec.Command(binary, "save")
		cmd.Stdin = bytes.NewReader(input)
		cmd.Env = []string{"HOME=" + data, "CLAUDE_MEM_DATA_DIR=" + data}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(rand.Int64N(int64(whole))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or done
		kill.Stop()
	}
	spool := wire.SpoolOf(data)
	before, err := spool.List(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	names, err := spool.List(time.Now().Add(time.Minute)) // takes over what the dead had written whole
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if entry, err := spool.Read(name); err != nil || !bytes.Contains(entry.Event.ToolInput, []byte(content)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d of 81 were spooled, and %d taken over", len(before), len(names)-len(before))
	// Leftovers of the dead go after an hour.
	if _, err := spool.List(time.Now().Add(2 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	leftover, err := filepath.Glob(filepath.Join(spool.Dir, "*.tmp"))
	if err != nil || len(leftover) != 0 {
		t.Errorf("left: %q, %v", leftover, err)
	}
	if _, err := os.Stat(filepath.Join(data, "logs")); !errors.Is(err, fs.ErrNotExist) {
		log, _ := os.ReadFile(filepath.Join(data, "logs", "hook.log"))
		if bytes.Contains(log, []byte("event lost")) {
			t.Errorf("log: %s", log)
		}
	}
}

// TestSlowHost: a host on a loaded machine takes its time to write the payload.
// What arrives before the host's own timeout is kept; giving up leaves a trace
// that claude-mem doctor counts.
func TestSlowHost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	binary := build(t)
	const tool = `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`
	const end = `{"hook_event_name":"SessionEnd","session_id":"s","reason":"other"}`
	for name, c := range map[string]slowHost{
		"tool call after 2 s":     {"save", tool, 2 * time.Second, 5 * time.Second, 1},
		"session end after 0.9 s": {"end", end, 900 * time.Millisecond, 1500 * time.Millisecond, 1},
		"tool call never":         {"save", tool, time.Minute, 5 * time.Second, 0},
		"session end never":       {"end", end, time.Minute, 1500 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The times are real ones: on a loaded machine a try may miss them by chance,
			// but not each.
			var missed []string
			for range 8 {
				miss := c.try(t, binary)
				if miss == "" {
					return
				}
				missed = append(missed, miss)
			}
			t.Errorf("in no try as wanted:\n%s", strings.Join(missed, "\n"))
		})
	}
}

// slowHost is a host that writes the second part of its payload late.
type slowHost struct {
	verb, payload string
	after         time.Duration // when the host goes on
	atMost        time.Duration // the host's timeout
	spooled       int
}

// try runs the hook under the host and returns what was not as wanted.
func (c slowHost) try(t *testing.T, binary string) string {
	t.Helper()
	data := t.TempDir()
	cmd := exec.Command(binary, c.verb)
	cmd.Env = []string{"HOME=" + data, "USERPROFILE=" + data, "CLAUDE_MEM_DATA_DIR=" + data, "SystemRoot=" + os.Getenv("SystemRoot")}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, early := stdin.Write([]byte(c.payload[:40])) // fails when the hook has given up
	goOn := time.AfterFunc(c.after, func() {
		_, _ = stdin.Write([]byte(c.payload[40:])) // the hook may have given up
		_ = stdin.Close()
	})
	defer goOn.Stop()
	state, err := cmd.Process.Wait()
	took := time.Since(began)
	if err != nil || !state.Success() {
		t.Errorf("%v, %v, want exit code 0", err, state)
	}
	if early != nil || took > c.atMost {
		return fmt.Sprintf("took %v, want at most %v; %v", took, c.atMost, early)
	}
	names, err := wire.SpoolOf(data).List(time.Now())
	if err != nil || len(names) != c.spooled {
		return fmt.Sprintf("spooled %q, %v, want %d", names, err, c.spooled)
	}
	log, _ := os.ReadFile(filepath.Join(data, "logs", "hook.log"))
	if lost := bytes.Contains(log, []byte(`"msg":"event lost`)); lost != (c.spooled == 0) {
		return fmt.Sprintf("log: %s", log)
	}
	return ""
}
