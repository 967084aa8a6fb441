package daemon

import "context"

// vacuumSlack is how much free space in the database is left to new rows.
const vacuumSlack = 4 << 20

// retain deletes rows that are too old, and gives the space back.
func (w *Worker) retain(ctx context.Context) error {
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
