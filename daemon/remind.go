package daemon

import (
	"claudemem/recall"
	"claudemem/repo"
	"claudemem/settings"
)

// openReminder makes what gives sessions a few lines at their moments, unless the
// user has switched that off.
func (w *Worker) openReminder(tree recall.WorkTree) {
	w.reminder = recall.NewReminder(w.store, recall.ReminderOptions{
		Finder:   w.searcher,
		History:  w.store,
		Relative: repo.Relative,
		WorkTree: tree,
		Clock:    w.cfg.Clock,
		On: func() bool {
			s, _ := w.settings.get()
			return s.Bool(settings.KeyRecall)
		},
	})
}
