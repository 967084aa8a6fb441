package daemon

import (
	"context"
	"fmt"
	"os"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// lostNoticeTime is how long the notice of lost events holds after it was shown.
const lostNoticeTime = 24 * time.Hour

// reserveLosses makes the file in which hooks count the events that nobody can keep, while
// there is room for it.
func (w *Worker) reserveLosses() {
	w.losses = wire.LossesOf(w.cfg.DataDir, os.Getenv)
	w.warn(w.life, "reserve room for the count of lost events", w.losses.Reserve(w.cfg.Clock()))
}

// bookLosses books the events that hooks have lost since it was last called, as soon as they
// can be booked, logs them and adds a notice.
func (w *Worker) bookLosses(ctx context.Context) {
	for _, r := range w.losses.Read() {
		lost, err := w.store.BookLosses(ctx, r, func(count int, from memory.Millis) string {
			return fmt.Sprintf("claude-mem: %s of %s could not be kept and will not be remembered: %s. `claude-mem doctor` shows what is wrong.",
				text.Count(count, "event"), period(from, r.Last), r.Reasons())
		})
		if err != nil {
			w.log.Warn("book lost events", "error", err)
			return
		}
		if lost > 0 {
			w.log.Error("events were lost", "count", lost, "first", r.First, "last", r.Last, "worker", r.Worker, "hook", r.Hook)
		}
	}
}

// period returns the minutes from first to last in words.
func period(first, last memory.Millis) string {
	const minute = "2006-01-02 15:04"
	from, to := first.Time().Local().Format(minute), last.Time().Local().Format(minute)
	if from == to {
		return from
	}
	return from + " to " + to
}

// storeBooks are the store's books. Losses are booked before the notices are taken.
type storeBooks struct {
	*store.Store
	bookLosses func(context.Context)
}

// TakeNotices implements httpapi.Books.
func (b storeBooks) TakeNotices(ctx context.Context) ([]string, error) {
	b.bookLosses(ctx)
	return b.Store.TakeNotices(ctx)
}
