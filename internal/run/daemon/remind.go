package daemon

import (
	"os"

	"claudemem/internal/capture/repo"
	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/settings"
)

// openReminder sets w.reminder, which adds remembered lines to a session's prompts,
// errors and file reads. It looks up the recall setting at each use, so that a change
// needs no restart. w.store, w.searcher and w.settings must be open.
func (w *Worker) openReminder(tree recall.WorkTree) {
	w.reminder = recall.NewReminder(w.store, recall.ReminderOptions{
		Finder:   w.searcher,
		History:  w.store,
		Relative: repo.Relative,
		WorkTree: tree,
		Clock:    w.cfg.Clock,
		Slack:    settings.Slack(os.Getenv),
		On:       func() bool { return w.settings.get().Bool(settings.KeyRecall) },
	})
}
