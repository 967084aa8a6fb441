package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"claudemem/proof/fakeclaude"

	"github.com/rogpeppe/go-internal/testscript"
)

// init makes the test binary be claude too, where a scenario has put it under that name.
func init() {
	if name := filepath.Base(os.Args[0]); strings.TrimSuffix(name, ".exe") != "claude" {
		return
	}
	args := os.Args[1:]
	if log, err := os.OpenFile(os.Getenv("FAKE_CLAUDE_CALLS"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
		_, _ = fmt.Fprintln(log, strings.Join(args, " "))
		_ = log.Close()
	}
	dir := os.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".claude")
	}
	os.Exit(fakeclaude.Run(dir, args, os.Stdout))
}

// fakeClaude puts a stand-in for the host's CLI first in PATH and keeps any real
// one out of it; its calls are in the file calls. `! fakeclaude` takes it away.
func fakeClaude(ts *testscript.TestScript, neg bool, _ []string) {
	work := ts.Getenv("WORK")
	program, err := exec.LookPath("claude-mem")
	ts.Check(err)
	path := filepath.Dir(program)
	ts.Setenv("FAKE_CLAUDE_CALLS", filepath.Join(work, "calls"))
	ts.Check(os.RemoveAll(filepath.Join(work, "cli")))
	if !neg {
		ts.Check(os.MkdirAll(filepath.Join(work, "cli"), 0o700))
		program, err = filepath.EvalSymlinks(program)
		ts.Check(err)
		ts.Check(os.Link(program, filepath.Join(work, "cli", "claude"+filepath.Ext(program))))
		path = filepath.Join(work, "cli") + string(filepath.ListSeparator) + path
	}
	ts.Setenv("PATH", path)
}
