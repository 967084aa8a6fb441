//go:build unix

package browse

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"github.com/google/go-cmp/cmp"
)

// terminal is a terminal of a size in which a command runs: a pane of a tmux server of its own.
type terminal struct {
	t   testing.TB
	dir string
}

// screenWait bounds the wait for a screen; a slow machine needs a part of it.
const screenWait = time.Minute

// lookPause is the time between two looks at a screen, each of which is a process.
const lookPause = 50 * time.Millisecond

// openTerminal runs `claude-mem ARGS` in a terminal, below a shell that says how it ended.
func openTerminal(m *world.Memory, t testing.TB, columns, lines int, env []string, args ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the program needs a terminal")
	}
	dir, err := os.MkdirTemp("", "browse") // short: the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t, dir}
	t.Cleanup(func() {
		_, _ = term.tmux("kill-server")
		_ = os.RemoveAll(dir)
	})
	options := "set -g status off\nset -g remain-on-exit on\nset -s escape-time 0\nset -s set-clipboard on\nset -g allow-rename off\n"
	if err := os.WriteFile(filepath.Join(dir, "tmux.conf"), []byte(options), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := []string{"env", "-i"}
	shell = append(shell, m.Env...)
	shell = append(shell, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "TZ=UTC")
	shell = append(shell, env...)
	shell = append(shell, "/bin/sh", "-c", `cd; "$0" "$@"; echo "ended with $?"; sleep 600`, world.Binary("claude-mem"))
	term.must(append([]string{"new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "--"}, append(shell, args...)...)...)
	return term
}

// tmux runs a command of tmux.
func (x *terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "browse", "-f", filepath.Join(x.dir, "tmux.conf")}, args...)...)
	cmd.Env = []string{"TMUX_TMPDIR=" + x.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "HOME=" + x.dir}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (x *terminal) must(args ...string) string {
	x.t.Helper()
	out, err := x.tmux(args...)
	if err != nil {
		x.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// screen returns the text of the screen, without spaces at the ends of lines.
func (x *terminal) screen() string {
	lines := strings.Split(x.must("capture-pane", "-p"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// styled returns the screen with its styles.
func (x *terminal) styled() string { return x.must("capture-pane", "-p", "-e") }

// press presses keys, as tmux names them; others are typed.
func (x *terminal) press(keys ...string) {
	x.t.Helper()
	x.must(append([]string{"send-keys"}, keys...)...)
}

// until waits until the screen passes a check.
func (x *terminal) until(what string, ok func(screen string) bool) {
	x.t.Helper()
	deadline := time.Now().Add(screenWait)
	for {
		screen := x.screen()
		if ok(screen) {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("the screen does not show %s:\n%s", what, screen)
		}
		time.Sleep(lookPause)
	}
}

// shows waits until the screen has all texts.
func (x *terminal) shows(texts ...string) {
	x.t.Helper()
	for _, text := range texts {
		x.until(fmt.Sprintf("%q", text), func(screen string) bool { return strings.Contains(screen, text) })
	}
}

// golden waits until the screen is that of a file. With -update it writes the file, once the
// screen has a text and rests.
func (x *terminal) golden(name, has string) {
	x.t.Helper()
	path := filepath.Join("testdata", "browse", name+".txt")
	if *world.Update {
		x.shows(has)
		last, same := "", 0
		x.until("a screen that rests", func(screen string) bool {
			if same++; screen != last {
				last, same = screen, 0
			}
			return same > 25
		})
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the sources
			x.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(last), 0o644); err != nil { //nolint:gosec // a file of the sources
			x.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		x.t.Fatal(err)
	}
	deadline, got := time.Now().Add(screenWait), ""
	for time.Now().Before(deadline) {
		if got = x.screen(); got == string(want) {
			return
		}
		time.Sleep(lookPause)
	}
	x.t.Errorf("the screen differs from %s (-want +got):\n%s", path, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
}

// leave presses Escape and waits until the screen has a text: a key that follows at once would
// be one with Alt.
func (x *terminal) leave(shows string) {
	x.t.Helper()
	x.press("Escape")
	x.shows(shows)
}

// What the last line shows in each view.
const (
	inFeed     = "Enter read  t timeline"
	inTimeline = "Enter read  Esc back"
	inRecord   = "Esc back  n next"
)

// unfold shows the records of the chosen turn and goes to the first of them.
func (x *terminal) unfold() {
	x.t.Helper()
	x.press("Enter")
	x.shows("▾")
	x.press("j")
	x.shows(inFeed)
}

// signal sends a signal to the program.
func (x *terminal) signal(s syscall.Signal) {
	x.t.Helper()
	shell := strings.TrimSpace(x.must("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pgrep", "-P", shell).Output()
	if err != nil {
		x.t.Fatalf("find the program below %s: %v", shell, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// resize gives the terminal another size.
func (x *terminal) resize(columns, lines int) {
	x.t.Helper()
	x.must("resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines))
}

// ownStyle is a style that the program sets, as tmux writes it.
var ownStyle = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// colour is a style that sets a colour; 39 and 49 are the terminal's own.
var colour = regexp.MustCompile(`\x1b\[(?:[0-9]*[;:])*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;:m]`)
