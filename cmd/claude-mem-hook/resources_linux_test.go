package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claudemem/internal/capture/hook"
)

// hookLine returns the command that hooks.json has for an event, with the program at path.
func hookLine(t *testing.T, event, path string) string {
	t.Helper()
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal(hook.HooksJSON("linux", path), &file); err != nil {
		t.Fatal(err)
	}
	return file.Hooks[event][0].Hooks[0].Command
}

// TestHookLineWithoutResources runs the lines of hooks.json with too little
// memory, too few descriptors and too few processes. Exit code 2 would block the
// user's prompt; everything but exit code 0 with empty stderr is an error. Where
// the shell itself cannot be started there is no line that could help: that the
// exit code is not 2 is all that is asked there.
func TestHookLineWithoutResources(t *testing.T) {
	binary := build(t)
	dir := filepath.Dir(binary)
	for _, d := range []string{dir, filepath.Dir(dir)} { // what t.TempDir has made, and nothing above it
		if err := os.Chmod(d, 0o755); err != nil { // the limit of processes holds for other users than root
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.Mkdir(data, 0o777), os.Chmod(data, 0o777)); err != nil {
		t.Fatal(err)
	}
	// under runs a line in a shell of its own under a limit that ulimit sets.
	under := func(limit, line, input string) (code int, stdout, stderr string) {
		t.Helper()
		set := "ulimit " + limit
		if processes, ok := strings.CutPrefix(limit, "-u "); ok {
			set = "ulimit -u " + processes + " 2>/dev/null || ulimit -p " + processes // dash names it -p
		}
		cmd := exec.Command("/bin/sh", "-c", set+"; exec /bin/sh -c \"$0\"", line)
		cmd.Stdin = strings.NewReader(input)
		cmd.Env = []string{"HOME=" + data, "CLAUDE_MEM_DATA_DIR=" + data, "PATH=" + os.Getenv("PATH")}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), out.String(), errs.String()[:min(errs.Len(), 200)]
	}
	inputs := map[string]string{
		"UserPromptSubmit": `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"hello"}`,
		"SessionEnd":       `{"hook_event_name":"SessionEnd","session_id":"s","reason":"other"}`,
	}
	processes := []string{"-u 2", "-u 3", "-u 4", "-u 5"}
	if shell, err := filepath.EvalSymlinks("/bin/sh"); err == nil && filepath.Base(shell) == "dash" {
		processes = append(processes, "-u 1") // bash tries to fork for 15 s
	}
	for name, limits := range map[string][]string{
		"memory":      {"-v 1000", "-v 3000", "-v 5000", "-v 10000", "-v 50000", "-v 100000", "-v 400000"},
		"data":        {"-d 400", "-d 5000", "-d 20000", "-d 40000"},
		"descriptors": {"-n 3", "-n 4", "-n 5", "-n 6", "-n 7", "-n 8", "-n 10"},
		"processes":   processes,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "processes" && os.Getuid() != 0 {
				t.Skip("the user's other processes count")
			}
			bites := false
			for _, limit := range limits {
				for event, input := range inputs {
					if code, _, _ := under(limit, fmt.Sprintf("%q", binary), input); code == 2 {
						bites = true
					}
					code, stdout, stderr := under(limit, hookLine(t, event, binary), input)
					shell, _, _ := under(limit, "exit 0", "")
					switch {
					case shell != 0:
						if code == 2 {
							t.Errorf("%s, ulimit %s: the shell cannot start, and exits 2", event, limit)
						}
					case code != 0 || stderr != "" || stdout != "" && !json.Valid([]byte(stdout)):
						t.Errorf("%s, ulimit %s: exit code %d, stdout %q, stderr %q", event, limit, code, stdout, stderr)
					}
				}
			}
			if !bites {
				t.Error("without the line's guard nothing exits 2: the limits test nothing")
			}
		})
	}
}
