package main

import (
	"fmt"
	"io"
	"time"
)

// progressEvery is how often a line of progress changes: as often as it can be read.
const progressEvery = 100 * time.Millisecond

// progress is a line on a terminal that tells how far something is; elsewhere it is silent.
type progress struct {
	w     io.Writer // nil: not a terminal
	what  string
	now   func() time.Time
	shown time.Time
	open  bool // there is a line to be wiped
}

func (a *app) progress(what string) *progress {
	p := &progress{what: what, now: a.now}
	if isTerminal(a.stderr) {
		p.w = a.stderr
	}
	return p
}

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

// end wipes the line.
func (p *progress) end() {
	if p.open {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
