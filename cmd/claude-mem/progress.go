package main

import (
	"fmt"
	"io"
	"time"
)

// progressEvery is the shortest time between two updates of the line of progress.
const progressEvery = 100 * time.Millisecond

// progress prints a line of progress on a terminal, and nothing elsewhere.
type progress struct {
	w     io.Writer // nil: not a terminal
	what  string
	now   func() time.Time
	shown time.Time
	open  bool // there is a line to be wiped
}

// progress returns a progress line on standard error, headed what; it shows nothing
// unless that is a terminal.
func (a *app) progress(what string) *progress {
	p := &progress{what: what, now: a.now}
	if isTerminal(a.stderr) {
		p.w = a.stderr
	}
	return p
}

// report shows the progress, at most once in progressEvery. A total of 0 is unknown.
func (p *progress) report(done, total int) {
	if p.w == nil || p.now().Sub(p.shown) < progressEvery {
		return
	}
	p.shown, p.open = p.now(), true
	percent := ""
	if total > 0 {
		percent = fmt.Sprintf(" of %d (%d%%)", total, min(100, 100*done/total))
	}
	_, _ = fmt.Fprintf(p.w, "\r%s %d%s\x1b[K", p.what, done, percent)
}

// end clears the line.
func (p *progress) end() {
	if p.open {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
