package install

import (
	"bytes"
	"context"
	"os/exec"
	"time"
)

// commandLimit is how long the host's CLI may take for one command; it needs one
// or two seconds, more on a machine that is busy.
const commandLimit = 2 * time.Minute

// mostSaid bounds what is kept of a command's output, in bytes.
const mostSaid = 64 << 10

// Program is the host's CLI as a program.
type Program struct {
	Path string
	Env  []string
}

// Run runs it without a terminal and returns what it said on both outputs.
func (p Program) Run(ctx context.Context, configDir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = p.Env
	if configDir != "" {
		cmd.Env = append(append([]string{}, p.Env...), "CLAUDE_CONFIG_DIR="+configDir)
	}
	cmd.WaitDelay = 5 * time.Second // what it has started may hold its outputs
	said := &bounded{}
	cmd.Stdout, cmd.Stderr = said, said
	err := cmd.Run()
	return said.buf.String(), err
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ buf bytes.Buffer }

// Write drops what exceeds mostSaid bytes without an error, so that the program goes on.
func (b *bounded) Write(p []byte) (int, error) {
	if room := mostSaid - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
