package hook

import (
	"sync/atomic"
	"time"
)

// limit ends the process at a time that the hook moves as it goes on, also while the
// hook waits for a file system that hangs. To move a timer would wake the thread that
// waits for it: its own timer stays and looks every limitStep.
type limit struct {
	exit func(code int)
	next atomic.Pointer[ending]
}

// ending is when the process ends, and the fault that is logged then, if any.
type ending struct {
	at          time.Time
	log         journal
	what, fault string
}

// limitStep is how late the process may end at a time that was moved ahead. Nearly
// every hook is done before the first step.
const limitStep = 50 * time.Millisecond

// check ends the process when its time is over, otherwise it comes back by a timer. A fault is
// logged first, for at most logTime: the file system may hang.
func (l *limit) check() {
	e := l.next.Load()
	if left := time.Until(e.at); left > 0 {
		time.AfterFunc(min(left, limitStep), l.check)
		return
	}
	if e.what != "" {
		time.AfterFunc(logTime, func() { l.exit(0) })
		e.log.log(e.what, e.fault)
	}
	l.exit(0)
}
