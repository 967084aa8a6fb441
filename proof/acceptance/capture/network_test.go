//go:build linux

package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// outside is a call that strace shows of a socket that can leave this machine, or of a name that is looked up.
var outside = regexp.MustCompile(`(?m)^.*\b(?:socket|connect|sendto|sendmsg|bind)\(.*\bAF_INET6?\b.*$`)

// names reports whether a process names a file in its command line.
func names(t *testing.T, file string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	world.Must(t, err)
	return slices.ContainsFunc(lines, func(path string) bool {
		line, _ := os.ReadFile(path) // the process may have ended
		return bytes.Contains(line, []byte(file))
	})
}

// TestHooksOpenNoConnection traces every hook with its children, the worker that it starts among them:
// none makes a socket but those within this machine. So do the scripts of a plugin without programs.
func TestHooksOpenNoConnection(t *testing.T) {
	t.Parallel()
	tracer, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	m := world.NewMemory(t)
	calls, runs := 0, 0
	traced := func(name string, cmd *exec.Cmd) {
		t.Helper()
		log := filepath.Join(m.Home, fmt.Sprintf("trace-%d", runs))
		// With -D the tracer is no parent, so that the hook's end is not that of the worker that it has started.
		cmd.Args = append([]string{"strace", "-D", "-f", "-qq", "-e", "trace=%network", "-o", log, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = tracer
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		world.Until(t, time.Minute, "the trace ends", func() bool {
			_, _ = m.Command("worker", "stop") // one that the hook has started may come up only now
			return !names(t, log)
		})
		trace, err := os.ReadFile(log)
		world.Must(t, err)
		calls, runs = calls+bytes.Count(trace, []byte("\n")), runs+1
		if found := outside.FindAll(trace, -1); len(found) > 0 {
			t.Errorf("%s: %s", name, bytes.Join(found, []byte("\n")))
		}
	}
	verbs := []struct{ verb, event, more string }{
		{"context", "SessionStart", `"source": "startup"`},
		{"new", "UserPromptSubmit", `"prompt": "Why does the build fail?"`},
		{"save", "PostToolUse", `"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "curl https://example.org"}, "tool_response": {"stdout": "ok"}`},
		{"summary", "Stop", `"last_assistant_message": "It builds."`},
		{"end", "SessionEnd", `"reason": "exit"`},
		{"statusline", "Status", `"model": {"id": "m"}`},
	}
	for _, up := range []bool{false, true} {
		for _, v := range verbs {
			if up {
				m.MustCommand("worker", "start")
			}
			payload := fmt.Sprintf(`{"hook_event_name": %q, "session_id": "s", "cwd": %q, %s}`, v.event, m.Home, v.more)
			if !json.Valid([]byte(payload)) {
				t.Fatal(payload)
			}
			traced(fmt.Sprint(v.verb, ", worker up: ", up), m.HookCommand(v.verb, []byte(payload)))
		}
	}
	for _, v := range verbs[:5] {
		cmd := exec.Command(world.Root("plugin", "bin", "claude-mem-hook"), v.verb)
		cmd.Env, cmd.Stdin = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}, strings.NewReader("{}")
		traced("the plugin's script, "+v.verb, cmd)
	}
	if calls == 0 {
		t.Error("nothing was traced")
	}
	world.Figure(t, 5, "%d runs of hooks and scripts made %d calls of the network, none of them out of this machine", runs, calls)
}
