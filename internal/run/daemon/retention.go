package daemon

import (
	"context"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
)

// vacuumSlack is how much free space in the database is left to new rows.
const vacuumSlack = 4 << 20

// retain is the chore that hides and erases records that are older than the user keeps them,
// deletes old rows of what claude-mem itself did, and gives the space back.
func (w *Worker) retain(ctx context.Context) error {
	kept, err := w.store.Retain(ctx, w.settings.get().Duration(settings.KeyRetentionDays))
	if kept != (care.Retained{}) {
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
