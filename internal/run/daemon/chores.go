package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/find/trial"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

const (
	// daily is the interval of most chores.
	daily = 24 * time.Hour
	// choreRetry is the time after which a chore that failed is tried again.
	choreRetry = 30 * time.Minute
	// weighedTogether is the number of texts that weigh reads at once.
	weighedTogether = 500
)

// errChoreLater is the error of a chore that cannot be done now. It is tried again after
// choreRetry.
var errChoreLater = errors.New("not now")

// chore is periodic work that no request triggers and that may take long, such as a backup.
type chore struct {
	// name identifies the chore in the database and in the log.
	name  string
	every time.Duration
	// do begins when the chore is due; ctx ends when the worker closes.
	do func(ctx context.Context) error
	// early reports whether it is due before that; nil for never.
	early func(ctx context.Context) bool
}

// choreBook stores when chores ended, so that they are due after a restart too. The store
// implements it, and memoryBook in the tests, for fake time.
type choreBook interface {
	// ChoreDone returns when the chore of a name last ended, 0 for never.
	ChoreDone(ctx context.Context, name string) (memory.Millis, error)
	NoteChore(ctx context.Context, name string, at memory.Millis) error
}

// chores runs the worker's chores, one at a time, in a goroutine of its own.
type chores struct {
	list  []chore
	book  choreBook
	clock func() time.Time
	log   *slog.Logger

	// failed holds the time at which a chore failed in this worker; only the goroutine uses it.
	failed map[string]time.Time
	// wake (capacity 1, more signals merge) makes the goroutine look for chores that are due.
	wake chan struct{}
	busy atomic.Bool
	background
}

// background is a goroutine that its owner begins and closes.
type background struct {
	running sync.WaitGroup
	end     context.CancelFunc
}

// begin runs a goroutine until close, or until parent ends.
func (b *background) begin(parent context.Context, run func(context.Context)) {
	ctx, end := context.WithCancel(parent)
	b.end = end
	b.running.Go(func() { run(ctx) })
}

// close ends the goroutine if it was begun, and waits for it.
func (b *background) close() error {
	if b.end != nil {
		b.end()
	}
	b.running.Wait()
	return nil
}

// wakeUp wakes the reader of a channel of capacity 1. Signals that are not read yet merge.
func wakeUp(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func newChores(book choreBook, clock func() time.Time, log *slog.Logger, list ...chore) *chores {
	return &chores{list: list, book: book, clock: clock, log: log, failed: map[string]time.Time{}, wake: make(chan struct{}, 1)}
}

// start runs the chores that are due at each call of look, until close.
func (c *chores) start() {
	c.begin(context.Background(), func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
				c.busy.Store(true)
				for i := range c.list {
					if ctx.Err() == nil && c.due(ctx, &c.list[i]) {
						c.run(ctx, &c.list[i])
					}
				}
				c.busy.Store(false)
			}
		}
	})
}

// look makes the goroutine run the chores that are due, and returns at once.
func (c *chores) look() { wakeUp(c.wake) }

// due reports whether a chore has to be done: it was never done, is old enough or due early, and
// did not fail within choreRetry. One that was done in the future is due: the clock was set back.
func (c *chores) due(ctx context.Context, ch *chore) bool {
	now := c.clock()
	passed := func(at time.Time, wait time.Duration) bool { return now.Before(at) || now.Sub(at) >= wait }
	if at, ok := c.failed[ch.name]; ok && !passed(at, choreRetry) {
		return false
	}
	done, err := c.book.ChoreDone(ctx, ch.name)
	if err != nil {
		c.log.Warn("look up chore", "chore", ch.name, "error", err)
		return false
	}
	return done == 0 || passed(done.Time(), ch.every) || ch.early != nil && ch.early(ctx)
}

// run does a chore and notes its end. After an error it is tried again after choreRetry, at once
// by the next worker.
func (c *chores) run(ctx context.Context, ch *chore) {
	start := time.Now()
	err := ch.do(ctx)
	if err == nil {
		err = c.book.NoteChore(ctx, ch.name, memory.MillisOf(c.clock()))
	}
	switch {
	case ctx.Err() != nil: // the next worker begins again
	case errors.Is(err, errChoreLater):
		c.failed[ch.name] = c.clock()
	case err != nil:
		c.failed[ch.name] = c.clock()
		c.log.Error("chore", "chore", ch.name, "error", err)
	default:
		delete(c.failed, ch.name)
		c.log.Info("chore", "chore", ch.name, "ms", time.Since(start).Milliseconds())
	}
}

// vacuumSlack is how much free space in the database is left to new rows.
const vacuumSlack = 4 << 20

// weigh is the chore that finds out what records are worth, by what became of the texts of more than a day ago.
func (w *Worker) weigh(ctx context.Context) error {
	worth, until := trial.Worth{}, memory.MillisOf(w.cfg.Clock().Add(-daily))
	for at := 0; ; at += weighedTogether {
		list, _, err := w.store.Given(ctx, accounts.GivenQuery{Until: until, Held: true, Limit: weighedTogether, Offset: at})
		if err != nil {
			return err
		}
		for i := range list {
			worth.Add(&list[i])
		}
		if len(list) < weighedTogether {
			return errors.Join(w.store.SetWorth(ctx, worth.Verdicts()), w.switchPlaces(ctx, until))
		}
	}
}

// switchPlaces switches places off that do harm, by the texts of a trial until a time, and on again, and tells the user.
func (w *Worker) switchPlaces(ctx context.Context, until memory.Millis) error {
	t, err := w.store.Trial(ctx)
	if err != nil || t.ID == 0 {
		return err
	}
	drawn, _, err := w.store.Given(ctx, accounts.GivenQuery{Since: t.StartedAt, Until: until, Held: true, Drawn: true})
	if err != nil {
		return err
	}
	slices.Reverse(drawn) // the oldest first
	for _, p := range trial.Switched(&t, drawn) {
		at := strings.TrimSuffix(string(p.Moment)+" in "+p.Project, " in ")
		said := fmt.Sprintf("claude-mem: lines at a %s no longer make the turn longer, so they are given again.", at)
		if p.State == memory.PlaceOff {
			said = fmt.Sprintf("claude-mem: lines at a %s make the turn longer, so nine of ten are held back from now on. `claude-mem experiment keep %s` undoes that, `claude-mem impact` shows it.", at, p.Moment)
		}
		if err := errors.Join(w.store.SetPlace(ctx, p.State, string(p.Moment), p.Project), w.store.AddNotice(ctx, "place:"+at, said)); err != nil {
			return err
		}
	}
	return nil
}

// retain is the chore that hides and erases records that are older than the user keeps them,
// deletes old rows of what claude-mem itself did, and gives the space back.
func (w *Worker) retain(ctx context.Context) error {
	kept, err := w.store.Retain(ctx, w.settings.get().Duration(settings.KeyRetentionDays))
	if kept != (upkeep.Retained{}) {
		w.log.Info("retention applied", "hidden", kept.Hidden, "restored", kept.Restored, "erased", kept.Erased)
	}
	if err != nil {
		return err
	}
	pruned, err := w.store.Prune(ctx)
	for table, n := range pruned {
		w.log.Info("deleted old rows", "table", table, "count", n)
	}
	if err != nil {
		return err
	}
	given, err := w.store.Vacuum(ctx, vacuumSlack)
	if given > 0 {
		w.log.Info("vacuumed", "bytes", given)
	}
	return err
}
