package install

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"claudemem/internal/leaf/text"
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

// Run implements CLI: it runs the program without a terminal, for at most 2 minutes, and returns the
// first 64 KB of its standard output and error together, also when it fails.
func (p Program) Run(ctx context.Context, configDir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = p.Env
	if configDir != "" {
		cmd.Env = append(append([]string{}, p.Env...), "CLAUDE_CONFIG_DIR="+configDir)
	}
	cmd.WaitDelay = 5 * time.Second // a child process may keep the output open
	out := &text.Head{Max: maxOutput}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	return out.String(), err
}

// ShellWord returns a text as one word of a POSIX shell's command, in single quotes if necessary.
func ShellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/._-+:@%,=`, r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
