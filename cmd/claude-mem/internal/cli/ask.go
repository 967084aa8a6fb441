package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
)

// Confirm asks a person and returns whether the answer was yes; CodeForbidden where
// nobody is there to be asked.
func (a *App) Confirm(question string) (bool, error) {
	if !print.IsTerminal(a.Stdin) {
		return false, NotConfirmed("standard input is no terminal, so nobody can be asked")
	}
	_, _ = fmt.Fprintf(print.Terminal{W: a.Stderr}, "\n%s [y/N] ", question)
	// One byte at a time: what comes after the line belongs to the next question.
	answer, err := bufio.NewReaderSize(io.LimitReader(oneByte{a.Stdin}, 1024), 16).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "" {
		return false, NotConfirmed("standard input has ended, so nobody can be asked")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// NotConfirmed returns the error of a change that was not confirmed; the error says why.
func NotConfirmed(why string) error {
	return memory.Errorf(memory.CodeForbidden, "not confirmed: %s", why).
		WithHint("--yes goes ahead without asking, --dry-run only shows what would change")
}

// progressEvery is the shortest time between two updates of the line of progress.
const progressEvery = 100 * time.Millisecond

// Progress returns a function that updates a line of progress on a terminal, and one that
// clears the line. Elsewhere they print nothing.
func (a *App) Progress(what string) (report func(done, total int), end func()) {
	if !print.IsTerminal(a.Stderr) {
		return func(int, int) {}, func() {}
	}
	var shown time.Time
	report = func(done, total int) {
		if a.Now().Sub(shown) < progressEvery {
			return
		}
		shown = a.Now()
		percent := print.If(total > 0, fmt.Sprintf(" of %d (%d%%)", total, min(100, 100*done/max(total, 1))))
		_, _ = fmt.Fprintf(a.Stderr, "\r%s %d%s\x1b[K", what, done, percent)
	}
	return report, func() { _, _ = fmt.Fprint(a.Stderr, "\r\x1b[K") }
}
