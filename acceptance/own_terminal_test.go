//go:build unix

package acceptance

import (
	"fmt"
	"os/exec"
	"strings"
)

// answering runs a command at a pseudo-terminal, at which "y" is typed to whoever asks, and returns
// what it printed. A failed command ends the test.
func (m *memory) answering(args ...string) string {
	m.t.Helper()
	words := []string{binary("claude-mem")}
	for _, arg := range args {
		words = append(words, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	cmd := exec.Command("script", "-qec", strings.Join(words, " "), "/dev/null")
	cmd.Dir, cmd.Env, cmd.Stdin = m.home, append([]string{"SHELL=/bin/sh"}, m.env...), strings.NewReader(strings.Repeat("y\n", 3))
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatal(fmt.Errorf("claude-mem %s: %w: %s", strings.Join(args, " "), err, out))
	}
	return string(out)
}
