package install

import (
	"bytes"
	"context"
	"os/exec"
	"time"
)

// commandLimit is the time limit of one command of the host's CLI, which takes a second
// or two, more on a busy machine.
const commandLimit = 2 * time.Minute

// maxOutput bounds the output of a command that is kept, in bytes.
const maxOutput = 64 << 10

// Program is the host's CLI as a program.
type Program struct {
	Path string
	Env  []string
}

// Run runs it without a terminal and returns its standard output and error.
func (p Program) Run(ctx context.Context, configDir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = p.Env
	if configDir != "" {
		cmd.Env = append(append([]string{}, p.Env...), "CLAUDE_CONFIG_DIR="+configDir)
	}
	cmd.WaitDelay = 5 * time.Second // a child process may keep the output open
	out := &bounded{}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	return out.buf.String(), err
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ buf bytes.Buffer }

// Write drops what exceeds mostSaid bytes without an error, so that the program goes on.
func (b *bounded) Write(p []byte) (int, error) {
	if room := maxOutput - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
