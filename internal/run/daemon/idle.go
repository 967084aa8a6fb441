package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/run/control"
)

// use resets the idle time.
func (w *Worker) use() { w.lastUse.Store(w.cfg.Clock().UnixNano()) }

// used returns when a request has last begun or ended.
func (w *Worker) used() time.Time {
	return time.Now().Add(-w.cfg.Clock().Sub(time.Unix(0, w.lastUse.Load())))
}

// counted returns a handler that counts requests as use of the worker, which puts off
// its idle exit; those of a status line do not count. A GET also has the spool taken in.
func (w *Worker) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.PathStatusline {
			next.ServeHTTP(rw, r) // a status line is refreshed all day and needs no worker
			return
		}
		w.open.Add(1)
		w.use()
		if r.Method == http.MethodGet {
			wakeUp(w.poke) // a reader may want what is still spooled; deliveries read the spool themselves
		}
		defer func() {
			w.use()
			w.open.Add(-1)
		}()
		next.ServeHTTP(rw, r)
	})
}

// housekeep starts the goroutine that calls tidy at each interval, takes the spool in
// when a client asks for something, and retries what waits for a provider when the
// settings change.
func (w *Worker) housekeep() {
	every := w.cfg.Housekeeping
	if idle := *w.cfg.IdleExit; idle > 0 && idle < every {
		every = idle
	}
	var keeping background
	keeping.begin(w.life, func(ctx context.Context) {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		afterStart := time.After(spoolAfterEnd) // sessions may have ended just before
		for {
			select {
			case <-ctx.Done():
				return
			case <-afterStart:
				w.emptySpool(ctx, w.inbox.takeNew)
			case <-w.poke:
				if !w.stopWithoutDirectory() {
					w.emptySpool(ctx, w.inbox.takeNew)
				}
			case <-w.settings.changed:
				w.warn(ctx, "drop what is no longer captured", w.observer.DropForbidden(ctx))
				w.askAgain(ctx, w.providers.changed())
			case <-ticker.C:
				w.tidy(ctx)
			}
		}
	})
	w.opened("housekeeping", func(context.Context) error { return keeping.close() })
}

// askAgain retries the events that wait for a provider, after a change of the settings or of
// its login. Another provider, model or login may read what the last one could not: unread.
func (w *Worker) askAgain(ctx context.Context, unread bool) {
	w.model.AskAgain()
	n, err := w.queue.Hasten(ctx)
	w.warn(ctx, "retry what waits after a change of the settings", err)
	if n > 0 {
		w.log.Info("retry what waits after a change of the settings", "events", n)
	}
	if unread {
		_, err := w.observer.RetryUnread(ctx)
		w.warn(ctx, "retry what no model has read", err)
	}
}

// retryUnread lets every provider be asked at once, and has the turns that no model has
// read shown to one. It returns how many events they have.
func (w *Worker) retryUnread(ctx context.Context) (int, error) {
	w.model.AskAgain()
	return w.observer.RetryUnread(ctx)
}

// tidy is one round of housekeeping: it notices changed settings and a changed login, takes the
// spool in, closes replaced providers, deletes payloads that were kept long enough and
// observations that were hidden long enough, marks how far the memory has come, cuts the
// database's log, has due chores run, updates the notices, and shuts the worker down when it is
// idle or its data directory is gone.
func (w *Worker) tidy(ctx context.Context) {
	if w.stopWithoutDirectory() {
		return
	}
	w.settings.get() // notices a change
	if w.providers.loginChanged() {
		w.log.Info("the login of the claude CLI has changed")
		w.askAgain(ctx, true)
	}
	w.emptySpool(ctx, w.inbox.takeAll)
	w.providers.tidy(w.cfg.Housekeeping)
	w.warn(ctx, "expire unread turns", w.store.ExpireUnread(ctx))
	w.purgeHidden(ctx)
	w.keepMark(ctx)
	w.trimLog(ctx)
	w.chores.look()
	w.notify(ctx)
	if w.idle(ctx) {
		w.log.Info("idle, stopping", "after", w.cfg.IdleExit.String())
		w.Shutdown()
	}
}

const (
	// keptLog is the size that the write-ahead log of memory.db may keep while nothing
	// happens: the next events fill it again. It was 16 MB after a busy hour.
	keptLog = 1 << 20
	// trimAfter is how long nothing was asked before the log is cut: arrivals wait for it.
	trimAfter = 10 * time.Second
)

// trimLog cuts a large write-ahead log of memory.db when nothing was asked for a while. The
// index does so by itself.
func (w *Worker) trimLog(ctx context.Context) {
	if w.open.Load() > 0 || w.cfg.Clock().Sub(time.Unix(0, w.lastUse.Load())) < trimAfter {
		return
	}
	_, err := w.store.TrimLog(ctx, keptLog)
	w.warn(ctx, "trim the log of memory.db", err)
}

// stopWithoutDirectory shuts the worker down and returns true when its data directory
// was removed, and possibly made anew: its open files are deleted, and no client finds it.
func (w *Worker) stopWithoutDirectory() bool {
	if lost, _ := w.lockFile(); !lost {
		return false
	}
	w.log.Warn("the data directory is gone or another one, stopping")
	w.Shutdown()
	return true
}

// emptySpool takes the spool in by take and logs an error, except that ctx has ended.
func (w *Worker) emptySpool(ctx context.Context, take func(context.Context) error) {
	if err := take(ctx); err != nil && ctx.Err() == nil {
		w.log.Error("take spool in", "error", err)
	}
}

// idle reports whether there was no request for the idle time, none is open, no event waits, and
// neither a chore nor a rebuild of the index runs. Without an idle time it never is.
func (w *Worker) idle(ctx context.Context) bool {
	limit := *w.cfg.IdleExit
	if limit <= 0 || w.open.Load() > 0 || w.finder.Reindexing().Running || w.chores.busy.Load() {
		return false
	}
	if quiet := w.cfg.Clock().Sub(time.Unix(0, w.lastUse.Load())); quiet < limit {
		if quiet < 0 {
			w.use() // the clock was set back: count anew
		}
		return false
	}
	books, err := w.store.Books(ctx)
	return err == nil && books.Pending+books.Processing == 0
}

// lockFile compares the lock file on disk with the one that this worker has locked: lost says that the
// data directory, or the file, was removed, replaced that it was made anew since. Another worker may hold
// the new file; what lies beside it is not this worker's. A file that cannot be looked at is kept.
func (w *Worker) lockFile() (lost, replaced bool) {
	now, err := os.Stat(filepath.Join(w.cfg.DataDir, control.LockName))
	replaced = err == nil && !os.SameFile(now, w.held)
	return replaced || errors.Is(err, fs.ErrNotExist), replaced
}
