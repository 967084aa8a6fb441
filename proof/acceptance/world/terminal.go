//go:build unix

package world

import (
	"fmt"
	"os/exec"
	"strings"
)

// Answering runs a command at a pseudo-terminal, at which "y" is typed to whoever asks, and returns
// what it printed. A failed command ends the test.
func (m *Memory) Answering(args ...string) string {
	m.T.Helper()
	words := []string{Binary("claude-mem")}
	for _, arg := range args {
		words = append(words, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	cmd := exec.Command("script", "-qec", strings.Join(words, " "), "/dev/null")
	cmd.Dir, cmd.Env, cmd.Stdin = m.Home, append([]string{"SHELL=/bin/sh"}, m.Env...), strings.NewReader(strings.Repeat("y\n", 3))
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.T.Fatal(fmt.Errorf("claude-mem %s: %w: %s", strings.Join(args, " "), err, out))
	}
	return string(out)
}
