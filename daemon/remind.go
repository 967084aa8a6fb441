package daemon

import (
	"context"

	"claudemem"
	"claudemem/recall"
	"claudemem/repo"
	"claudemem/settings"
)

// openReminder makes what gives sessions a few lines at their moments.
func (w *Worker) openReminder(tree recall.WorkTree) {
	w.reminder = reminder{
		Reminder: recall.NewReminder(w.store, recall.ReminderOptions{
			Finder:   w.searcher,
			History:  w.store,
			Relative: repo.Relative,
			WorkTree: tree,
			Clock:    w.cfg.Clock,
		}),
		on: func() bool {
			s, _ := w.settings.get()
			return s.Bool(settings.KeyRecall)
		},
	}
}

// reminder is httpapi.Reminder: recall's, unless the user has switched it off.
type reminder struct {
	*recall.Reminder
	on func() bool
}

func (r reminder) Recall(ctx context.Context, event claudemem.Event, session claudemem.SessionID) (claudemem.Recollection, error) {
	if !r.on() {
		return claudemem.Recollection{}, nil
	}
	return r.Reminder.Recall(ctx, event, session)
}
