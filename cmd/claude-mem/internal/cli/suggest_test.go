package cli

import (
	"os/exec"
	"strings"
	"testing"

	"claudemem/internal/run/install"
)

func TestWithVariable(t *testing.T) {
	for _, tt := range []struct{ goos, value, want string }{
		{"linux", "/home/ada/memory", "X=/home/ada/memory claude-mem recent"},
		{"darwin", "/Users/ada/my memory", "X='/Users/ada/my memory' claude-mem recent"},
		{"linux", "a'b$c`d", `X='a'\''b$c` + "`" + `d' claude-mem recent`},
		{"linux", "", "X='' claude-mem recent"},
		{"windows", `C:\Users\Ada L\memory`, `$env:X = 'C:\Users\Ada L\memory'; claude-mem recent`},
		{"windows", `it's`, `$env:X = 'it''s'; claude-mem recent`},
	} {
		if got := withVariable(tt.goos, "X", tt.value, "claude-mem recent"); got != tt.want {
			t.Errorf("%s %q: got %s, want %s", tt.goos, tt.value, got, tt.want)
		}
	}
}

// What is pasted into a shell arrives as it was.
func TestShellWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, text := range []string{"plain", "two words", "it's", "$HOME", "`id`", `a\b`, "*", "~", "", "ä\nb", "-n"} {
		out, err := exec.Command(sh, "-c", "printf %s. "+install.ShellWord(text)).Output()
		if got := strings.TrimSuffix(string(out), "."); err != nil || got != text {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}
