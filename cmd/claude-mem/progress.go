package main

import (
	"fmt"
	"time"
)

// progressEvery is the shortest time between two updates of the line of progress.
const progressEvery = 100 * time.Millisecond

// progress returns a function that updates a line of progress on a terminal, and one that
// clears the line. Elsewhere they print nothing.
func (a *app) progress(what string) (report func(done, total int), end func()) {
	if !isTerminal(a.stderr) {
		return func(int, int) {}, func() {}
	}
	var shown time.Time
	report = func(done, total int) {
		if a.now().Sub(shown) < progressEvery {
			return
		}
		shown = a.now()
		percent := textIf(total > 0, fmt.Sprintf(" of %d (%d%%)", total, min(100, 100*done/max(total, 1))))
		_, _ = fmt.Fprintf(a.stderr, "\r%s %d%s\x1b[K", what, done, percent)
	}
	return report, func() { _, _ = fmt.Fprint(a.stderr, "\r\x1b[K") }
}
