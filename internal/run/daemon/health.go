package daemon

import (
	"context"
	"os"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// lookupLimit is the time limit of a database query for a request without content.
const lookupLimit = time.Second

// Ready returns nil once every stage is up, else the reason why not.
func (w *Worker) Ready() error {
	if !w.ready.Load() {
		select {
		case <-w.done:
			return memory.Errorf(memory.CodeUnavailable, "the worker is stopping").
				WithHint("hooks spool meanwhile and start the next one")
		default:
			return memory.Errorf(memory.CodeUnavailable, "the worker is starting")
		}
	}
	if what := w.damage.Load(); what != nil {
		return memory.Errorf(memory.CodeStorage, "memory.db is damaged: %s", *what).
			WithHint("the next worker restores it")
	}
	ctx, cancel := context.WithTimeout(w.life, lookupLimit)
	defer cancel()
	if _, err := w.store.Books(ctx); err != nil {
		return err
	}
	// Hooks do not ask this: events are stored without the index too.
	return w.finder.fault()
}

// Statusline returns the content of a host's status line.
func (w *Worker) Statusline(ctx context.Context, r memory.StatusRequest) (memory.Statusline, error) {
	return w.store.Statusline(ctx, r, w.cfg.Clock())
}

// Stats returns the worker's part of GET /api/stats.
func (w *Worker) Stats(ctx context.Context) map[string]any {
	taken, held := w.inbox.count()
	waiting := 0
	if names, err := w.inbox.spool.List(w.cfg.Clock()); err == nil {
		waiting = len(names)
	}
	stats := map[string]any{
		"pid":        os.Getpid(),
		"started_at": memory.MillisOf(w.started),
		"uptime_ms":  w.cfg.Clock().Sub(w.started).Milliseconds(),
		"data_dir":   w.cfg.DataDir,
		"sizes":      control.SizesOf(w.cfg.DataDir),
		"stages":     w.health(ctx),
		"settings":   w.settings.origins(),
		"index":      w.finder.status(),
		"spool": map[string]int{
			"taken_in": taken, "waiting": waiting, "held": held, "corrupt": w.inbox.spool.CountCorrupt(),
		},
	}
	if notices, err := w.store.Standing(ctx, w.cfg.Clock()); err == nil {
		stats["notices"] = append([]accounts.Notice{}, notices...) // JSON: [] instead of null
	} else {
		w.log.Warn("list notices", "error", err)
	}
	return stats
}

// health returns for each stage "ok" or what is wrong with it. It looks for changed settings first.
func (w *Worker) health(ctx context.Context) map[string]string {
	w.settings.get() // notices a change: `config set` requests the stats for that
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	state := func(err error) string {
		if err != nil {
			return err.Error()
		}
		return "ok"
	}
	books, err := w.store.Books(ctx)
	stages := map[string]string{
		"store":  state(err),
		"queue":  state(err),
		"spool":  state(w.inbox.state()),
		"http":   "ok", // this request was served
		"intake": "ok",
		"index":  w.finder.status().word(),
	}
	switch {
	case err == nil && !books.Balanced():
		stages["queue"] = "the books do not balance"
	case books.Failed > 0:
		stages["queue"] = "dead letters wait: claude-mem queue"
	}
	for _, stage := range []string{"observer", "recall"} {
		stages[stage] = "ok"
		if !w.ready.Load() {
			stages[stage] = "not running"
		}
	}
	return stages
}

// Flush makes the observer process a session now, with its open turn, after what is spooled. It
// returns before that is done. host is "" where the caller does not know it; a session of which
// nothing was captured is ignored.
func (w *Worker) Flush(host memory.Host, hostSessionID string) {
	ctx, cancel := context.WithTimeout(w.life, lookupLimit)
	defer cancel()
	w.warn(w.life, "take spool in before a flush", w.inbox.takeNew(ctx))
	if host == "" { // like intake
		if found, err := w.store.OpenSession(ctx, hostSessionID); err == nil {
			host = found
		}
	}
	session, err := w.store.SessionByHost(ctx, host, hostSessionID)
	if err != nil {
		if memory.CodeOf(err) != memory.CodeNotFound {
			w.log.Warn("flush session", "error", err)
		}
		return // no event of it was captured
	}
	w.observer.Flush(session.ID)
}

// Touch records a session start. It flushes the project's other sessions, so that the
// new session's context has their records.
func (w *Worker) Touch(ctx context.Context, request memory.ContextRequest) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	_, err := w.store.TouchSession(ctx, request.Host, request.HostSessionID)
	w.warn(w.life, "touch session", err)
	var self memory.SessionID
	if session, err := w.store.SessionByHost(ctx, request.Host, request.HostSessionID); err == nil {
		self = session.ID
	}
	if project, err := w.store.ProjectOf(ctx, request.ProjectPath); err == nil {
		request.ProjectPath = project
	}
	w.observer.FlushProject(request.ProjectPath, self)
}
