package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"

	"golang.org/x/sync/errgroup"
)

// maxDeadLetters bounds the dead letters of an answer; the books count all of them.
const maxDeadLetters = 1000

// StatsRequest asks for counts. Project restricts the totals of records and the counts by day.
// Brief leaves out those, the ledger and the receipts, which take time to sum up; Days is their
// period.
type StatsRequest struct {
	Project string `param:"project"`
	Brief   bool   `param:"brief"`
	Days    int    `param:"days"`
}

// Stats are the numbers of records and events, the observations by day and type (Recorded), the
// cost of model calls (Ledger), and the sums of the sessions' receipts. The last three are nil in
// a brief answer.
type Stats struct {
	Totals   memory.Totals           `json:"totals"`
	Queue    memory.Books            `json:"queue"`
	Recorded *accounts.Recorded      `json:"recorded,omitempty"`
	Ledger   *accounts.Account       `json:"ledger,omitempty"`
	Receipts *accounts.ReceiptTotals `json:"receipts,omitempty"`
}

// EmptyStats returns the counts of an empty memory.
func EmptyStats(now time.Time, days int) Stats {
	ledger := accounts.EmptyAccount(now, days)
	return Stats{Recorded: new(accounts.EmptyRecorded()), Ledger: &ledger, Receipts: new(accounts.EmptyReceiptTotals(ledger.Since))}
}

// QueueRequest asks for the state of the queue.
type QueueRequest struct{}

// Queue is the state of the queue: its counts, the events that wait to be distilled, at
// most 1,000 events that failed for good, and the notices that say why events wait.
type Queue struct {
	Queue       memory.Books        `json:"queue"`
	Waiting     []Waiting           `json:"waiting"`
	DeadLetters []memory.DeadLetter `json:"dead_letters"`
	Notices     []accounts.Notice   `json:"notices"`
	// Unread counts the events of the last 30 days whose records were made without the
	// model that was chosen for them, by reason.
	Unread []books.Unread `json:"unread"`
}

// unreadDays is how far back Queue counts events that no model has read.
const unreadDays = 30

// EmptyQueue returns the queue of an empty memory.
func EmptyQueue() Queue {
	return Queue{Waiting: []Waiting{}, DeadLetters: []memory.DeadLetter{}, Notices: []accounts.Notice{}, Unread: []books.Unread{}}
}

// Waiting counts the waiting events of a session. NextDue is the time to which they are
// postponed, 0 if they are not.
type Waiting struct {
	Session  memory.SessionID `json:"session_id"`
	Project  string           `json:"project"`
	Events   int              `json:"events"`
	NewestAt memory.Millis    `json:"newest_at"`
	NextDue  memory.Millis    `json:"next_due,omitempty"`
}

// now returns the time by l.Clock, by default the system's.
func (l *Local) now() time.Time { return memory.ClockOr(l.Clock)() }

// stats answers Memory.Stats. Its parts are of moments that may differ a little.
func (l *Local) stats(ctx context.Context, r StatsRequest) (out Stats, err error) {
	if out.Queue, err = l.Store.Books(ctx); err != nil {
		return out, err
	}
	if r.Brief {
		out.Totals, err = l.Store.Totals(ctx, r.Project)
		return out, err
	}
	// The sums read thousands of rows each, side by side.
	now := l.now()
	out.Recorded, out.Ledger, out.Receipts = new(accounts.Recorded), new(accounts.Account), new(accounts.ReceiptTotals)
	sums, ctx := errgroup.WithContext(ctx)
	sums.Go(func() (err error) {
		*out.Recorded, err = l.Store.Recorded(ctx, r.Project, now, r.Days)
		return err
	})
	sums.Go(func() (err error) {
		if *out.Ledger, err = l.Store.Account(ctx, now, r.Days); err == nil {
			*out.Receipts, err = l.Store.ReceiptTotals(ctx, out.Ledger.Since)
		}
		return err
	})
	sums.Go(func() (err error) {
		out.Totals, err = l.Store.Totals(ctx, r.Project)
		return err
	})
	return out, sums.Wait()
}

// queue answers Memory.Queue. Of the notices that hold it has those that say why events wait.
func (l *Local) queue(ctx context.Context, _ QueueRequest) (Queue, error) {
	counts, err := l.Store.Books(ctx)
	backlog, err2 := l.Store.Backlog(ctx, memory.MillisOf(l.now()))
	letters, err3 := l.Store.DeadLetters(ctx, maxDeadLetters)
	unread, err4 := l.Store.Unread(ctx, memory.MillisOf(l.now().AddDate(0, 0, -unreadDays)))
	notices, err5 := l.Store.Standing(ctx, l.now())
	waiting := collect.MapPtr(backlog, func(b *memory.Backlog) Waiting {
		return Waiting{b.Session.ID, memory.ProjectLabel(b.Session.ProjectPath), b.Pending, b.NewestAt, b.NextDue}
	})
	notices = slices.DeleteFunc(notices, func(n accounts.Notice) bool { return !n.Waits() })
	return Queue{counts, waiting, list(letters), list(notices), list(unread)}, cmp.Or(err, err2, err3, err4, err5)
}
