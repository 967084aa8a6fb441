package daemon

import (
	"context"
	"fmt"
	"time"

	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// The keys of the notices that the worker adds. A notice is shown once, at the next session
// start, and again when it was cleared in between.
const (
	noticeDeadLetters = "dead_letters"
	noticeCorrupt     = "spool_corrupt"
	noticeSpool       = "spool_trouble"
	noticeMode        = "mode"
	noticeBackup      = "backup"
)

// notify adds and clears the worker's notices by the current state. Only the housekeeper calls it,
// and Open before that begins.
func (w *Worker) notify(ctx context.Context) {
	books, err := w.store.Books(ctx)
	if err != nil {
		w.log.Warn("read books", "error", err)
		return
	}
	w.notice(ctx, noticeDeadLetters, books.Failed > 0, fmt.Sprintf(
		"claude-mem: %d events could not be processed. `claude-mem queue` lists them, `claude-mem queue retry` tries again.", books.Failed))
	corrupt := w.inbox.spool.CountCorrupt()
	w.notice(ctx, noticeCorrupt, corrupt > 0, fmt.Sprintf(
		"claude-mem: %d spooled deliveries could not be read and were set aside in %s/corrupt.", corrupt, w.inbox.spool.Dir))
	trouble := w.inbox.state()
	w.notice(ctx, noticeSpool, trouble != nil, fmt.Sprintf("claude-mem: spooled deliveries cannot be taken in: %v", trouble))
	failed := *w.backupFault.Load()
	w.notice(ctx, noticeBackup, failed != nil, fmt.Sprintf("claude-mem: the daily backup of the memory failed: %v. `claude-mem doctor` shows what to do.", failed))
	w.bookLosses(ctx)
	w.clearOld(ctx)
	_, err = w.settings.mode()
	w.notice(ctx, noticeMode, err != nil, fmt.Sprintf("claude-mem: the mode in the settings cannot be used; %q is used instead: %v", mode.Default, err))
}

// clearOld clears the notice of lost events a day after it was shown, and those of providers
// that are no longer in the settings: the observer clears a notice when its provider
// answers, but these get no calls.
func (w *Worker) clearOld(ctx context.Context) {
	standing, err := w.store.Standing(ctx, w.cfg.Clock())
	if err != nil {
		w.log.Warn("list notices", "error", err)
		return
	}
	chosen := w.providers.chosen()
	for _, n := range standing {
		provider, _ := n.Trouble()
		gone := provider != "" && provider != chosen
		old := n.Key == accounts.NoticeLost && n.Told && n.At < memory.MillisOf(w.cfg.Clock().Add(-lostNoticeTime))
		if gone || old {
			w.warn(ctx, "clear notice "+n.Key, w.store.ClearNotice(ctx, n.Key))
		}
	}
}

// notice adds the notice of key with text if holds, else clears it. Only what changed is
// written: an idle worker must leave the disk alone. Only the housekeeper calls it.
func (w *Worker) notice(ctx context.Context, key string, holds bool, text string) {
	if !holds {
		text = ""
	}
	if last, known := w.noticed[key]; known && last == text {
		return
	}
	var err error
	if holds {
		err = w.store.AddNotice(ctx, key, text)
	} else {
		err = w.store.ClearNotice(ctx, key)
	}
	if err != nil {
		w.log.Warn("keep notice", "key", key, "error", err)
		return
	}
	w.noticed[key] = text
}

// lostNoticeTime is how long the notice of lost events holds after it was shown.
const lostNoticeTime = 24 * time.Hour

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
