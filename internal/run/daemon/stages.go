package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/observer"
	"claudemem/internal/distil/offline"
	"claudemem/internal/find/hostfiles"
	"claudemem/internal/find/recall"
	"claudemem/internal/find/recall/block"
	"claudemem/internal/find/recall/moments"
	"claudemem/internal/find/search"
	"claudemem/internal/find/worktree"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// lookAfter keeps the observer from looking at the backlog while the hook that brought an event is answered
// on the same processors.
const lookAfter = 10 * time.Millisecond

// stages are the parts of the pipeline behind the hooks.
type stages struct {
	store  *store.Store
	queue  *queue.Queue
	intake *intake.Intake
	// past takes in events of transcripts: their private turns are not those of now.
	past     *pastIntake
	observer *observer.Observer
	builder  *block.Builder
	reminder *moments.Reminder

	finder   *finder
	searcher *search.Searcher
	chores   *chores
	files    *fileSync
	devices  *deviceSync
	team     *teamSync

	settings  *live
	providers *providers
	model     *observer.Model
	// ending counts the running calls of noteEnd.
	ending sync.WaitGroup
}

// openStages opens the stages. The observer is created, not started: it starts when the
// spooled events are stored, so that it sees whole turns.
func (w *Worker) openStages(ctx context.Context) error {
	mark := backup.ReadMark(w.cfg.DataDir)
	told, err := w.secure(ctx)
	if err != nil {
		return err
	}
	w.openMark()
	if w.store, err = store.Open(ctx, filepath.Join(w.cfg.DataDir, control.Database), store.Options{
		Clock: w.cfg.Clock, Logger: w.log, BeforeMigration: w.beforeMigration, Mismatched: w.checkDamage,
	}); err != nil {
		return err
	}
	w.opened("store", func(context.Context) error {
		w.endLife() // nothing but a verification still uses the store
		w.verifying.Wait()
		return w.store.Close()
	})
	if err := w.began(ctx, mark, told); err != nil {
		return err
	}
	control.RemoveEdits(w.cfg.DataDir)
	w.completeForgetting(ctx)

	w.queue = queue.New(w.store, queue.Options{Clock: w.cfg.Clock, Logger: w.log})
	if err := w.queue.Open(ctx); err != nil {
		return err
	}
	w.opened("queue", func(context.Context) error { return w.queue.Close() })

	w.settings = newLive(w.cfg.DataDir, w.cfg.Settings, w.log)
	taking := intake.Options{
		Policy:      w.settings.policy,
		DataDir:     w.cfg.DataDir,
		OpenSession: w.store.OpenSession,
		Clock:       w.cfg.Clock,
	}
	w.intake = intake.New(w.queue, taking)
	w.past = newPastIntake(w.store.Known, w.queue, taking)
	w.past.undone = func(ctx context.Context) ([]memory.Backlog, map[memory.SessionID]int, error) {
		return w.store.Undone(ctx, memory.MillisOf(w.cfg.Clock()))
	}
	w.inbox = newInbox(wire.SpoolOf(w.cfg.DataDir), w.ingestAll, w.store.RecordInjection, w.log, w.cfg.Clock)

	distiller := offline.New()
	if err := w.openObserver(ctx, distiller); err != nil {
		return err
	}
	w.openSearch()
	if err := w.openFiles(ctx); err != nil {
		return err
	}

	w.openDevices()
	w.openTeam()

	options := RecallOptions(w.cfg.Settings, w.store)
	options.Bounds = func(o *block.Options, with string) { bounds(o, w.settings.get().With("context", with)) }
	options.Clock, options.Logger = w.cfg.Clock, w.log
	options.Finder = w.searcher
	options.StartLine = func() bool { return w.settings.get().Bool(settings.KeyStartLine) } // without a restart
	tree := worktree.New(worktree.Options{Clock: w.cfg.Clock, Slack: settings.Slack(os.Getenv)})
	options.WorkTree = tree
	options.HostFiles = hostfiles.New(w.cfg.Clock)
	w.builder = block.New(w.store, options)
	w.openReminder(tree)
	return nil
}

// openObserver makes the ledger, the model providers and the observer, which does not
// start yet.
func (w *Worker) openObserver(ctx context.Context, distiller *offline.Distiller) error {
	s := w.cfg.Settings
	books, err := w.store.NewLedger(ctx, w.settings.caps)
	if err != nil {
		return err
	}
	w.providers = newProviders(w.cfg.DataDir, w.settings, books, w.cfg.Clock, w.log)
	w.opened("providers", func(context.Context) error {
		w.ending.Wait()
		return w.providers.close()
	})
	batching := s.Bool(settings.KeyBatchingEnabled)
	w.model = observer.NewModel(observer.ModelOptions{
		Choose:        w.providers.choose,
		Fallback:      distiller,
		Store:         w.store,
		BatchMaxSize:  s.Int(settings.KeyBatchMaxSize),
		ContextTokens: s.Int(settings.KeyObserverContextTokens),
		WaitFor:       s.Duration(settings.KeyProviderWaitMinutes),
		Clock:         w.cfg.Clock,
		Logger:        w.log,
	})
	w.observer = observer.New(w.queue, w.store, w.model, observer.Options{
		BatchingEnabled: batching,
		// Whole turns for offline extraction, which has no prompt to keep small: half a
		// turn may have a failure without its fix. Model sizes the batches for models.
		BatchMaxSize: 0,
		MaxObservers: max(s.Int(settings.KeyMaxObservers), w.cfg.Observers),
		Fallback:     distiller,
		Forbidden:    func(e *memory.Event) bool { return w.settings.policy().Forbids(e) },
		Renew: func(e *memory.PendingEvent) string {
			skip, _ := w.settings.policy().Renew(e)
			return skip
		},
		Mark:      new(intake.Marks).Mark,
		LookAfter: lookAfter,
		Clock:     w.cfg.Clock,
		Logger:    w.log,
	})
	return nil
}

// observe takes waiting events that may no longer be captured off the queue, and starts the
// observer. Close gives it finishOnStop for its work; what is left then stays in the queue.
func (w *Worker) observe() error {
	// The settings may have changed since the last worker.
	w.warn(w.life, "drop what is no longer captured", w.observer.DropForbidden(w.life))
	if err := w.observer.Open(w.life); err != nil {
		return fmt.Errorf("start observer: %w", err)
	}
	w.opened("observer", func(ctx context.Context) error {
		due, cancel := context.WithTimeout(ctx, finishOnStop)
		defer cancel()
		if err := w.observer.WaitIdle(due); err != nil {
			w.log.Info("stopping with work left", "error", err)
		}
		return w.observer.Close()
	})
	return nil
}

// RecallOptions returns the options of context blocks that the settings give. What waits in
// the queue is distilled without a model, and marked by the foreign texts of the memory.
func RecallOptions(s *settings.Settings, mem *store.Store) block.Options {
	o := block.Options{
		Distiller: observer.Marking{Distiller: offline.New(), Foreign: mem},
		StartLine: func() bool { return s.Bool(settings.KeyStartLine) },
		Trial:     mem.TrialOf,
		Slack:     settings.Slack(os.Getenv),
	}
	bounds(&o, s)
	return o
}

// bounds sets the budget and the bounds of context blocks to those of the settings.
func bounds(o *block.Options, s *settings.Settings) {
	o.Budget = s.Int(settings.KeyContextBudget)
	o.Caps = block.Caps{
		Sessions:     s.Int(settings.KeyContextCapSessions),
		Symbols:      s.Int(settings.KeyContextCapSymbols),
		Learnings:    s.Int(settings.KeyContextCapLearnings),
		Observations: s.Int(settings.KeyContextCapObservations),
		Reserve:      s.Int(settings.KeyContextCapReserve),
	}
	o.MaxSessions = atMost(s.Int(settings.KeyContextMaxSessions))
	o.MaxSymbols = atMost(s.Int(settings.KeyContextMaxSymbols))
	o.MaxLearnings = atMost(s.Int(settings.KeyContextMaxLearnings))
	o.MinConfidence = atMost(s.Float(settings.KeyContextMinConfidence))
	o.MaxObservations = atMost(s.Int(settings.KeyContextMaxObservations))
}

// atMost returns n, or -1 for 0: in the settings 0 means none (or no bound), for recall
// it means the default and -1 means none.
func atMost[T int | float64](n T) T {
	return cmp.Or(n, -1)
}

// openReminder sets w.reminder, which adds remembered lines to a session's prompts,
// errors and file reads. It looks up the recall setting at each use, so that a change
// needs no restart. w.store, w.searcher and w.settings must be open.
func (w *Worker) openReminder(tree recall.WorkTree) {
	w.reminder = moments.New(w.store, moments.Options{
		Finder:   w.searcher,
		History:  w.store,
		Relative: repo.Relative,
		WorkTree: tree,
		Clock:    w.cfg.Clock,
		Slack:    settings.Slack(os.Getenv),
		On:       func() bool { return w.settings.get().Bool(settings.KeyRecall) },
		Trial:    w.store.TrialOf,
	})
}
