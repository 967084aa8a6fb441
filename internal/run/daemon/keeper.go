package daemon

import (
	"context"
	"strings"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// undoTime is how long a hidden observation can be restored.
const undoTime = 10 * time.Minute

// keeper implements api.Keeper over the store: it redacts the user's texts before they are
// stored, and has hidden observations purged.
type keeper struct {
	*store.Store
	intake *intake.Intake
	// queue and unread are nil in a command without a worker. unread has the turns that no
	// model has read shown to one.
	queue  *queue.Queue
	unread func(context.Context) (int, error)
}

// RetryUnread implements api.Keeper. Without a worker the next one finds the turns due.
func (k keeper) RetryUnread(ctx context.Context) (int, error) {
	if k.unread != nil {
		return k.unread(ctx)
	}
	return k.HastenUnread(ctx)
}

// Revive implements api.Keeper.
func (k keeper) Revive(ctx context.Context, keys ...string) (int, error) {
	if k.queue != nil {
		return k.queue.Revive(ctx, keys...)
	}
	return k.Store.Revive(ctx, keys...)
}

// AddObservation implements api.Keeper. Private and secret text is taken out of every text first,
// as it is from events; the store then refuses one without a title. Files without a path are left
// out. Facts and concepts of which nothing is left are left out.
func (k keeper) AddObservation(ctx context.Context, n memory.NewObservation) (memory.Observation, error) {
	n.Title, n.Subtitle, n.Narrative = k.intake.Text(n.Title), k.intake.Text(n.Subtitle), k.intake.Text(n.Narrative)
	n.ProjectPath, n.Type = k.intake.Text(n.ProjectPath), memory.ObservationType(k.intake.Text(string(n.Type)))
	n.Facts, n.Concepts = k.texts(n.Facts), k.texts(n.Concepts)
	var files []memory.FileRef
	for _, f := range n.Files {
		if f.Path = strings.TrimSpace(k.intake.Text(f.Path)); f.Path != "" {
			files = append(files, f)
		}
	}
	n.Files = files
	return k.Store.AddObservation(ctx, n)
}

// texts takes private and secret text out of each item; one with nothing left is left
// out.
func (k keeper) texts(list []string) []string {
	clean := collect.Map(list, func(text string) string { return strings.TrimSpace(k.intake.Text(text)) })
	return collect.Keep(clean, func(text string) bool { return text != "" })
}

// EditObservation implements api.Keeper. Private and secret text is taken out first.
func (k keeper) EditObservation(ctx context.Context, id memory.ObservationID, edit memory.ObservationEdit) (memory.Observation, error) {
	for _, field := range []**string{&edit.Title, &edit.Narrative} {
		if *field != nil {
			*field = new(k.intake.Text(**field))
		}
	}
	if edit.Facts != nil {
		edit.Facts = new(k.texts(*edit.Facts))
	}
	if edit.Type != nil {
		edit.Type = new(memory.ObservationType(k.intake.Text(string(*edit.Type))))
	}
	return k.Store.EditObservation(ctx, id, edit)
}

// HideObservation implements api.Keeper. With purge the observation is deleted after
// undoTime, and purged is when; else it stays hidden.
func (k keeper) HideObservation(ctx context.Context, id memory.ObservationID, purge bool) (purged memory.Millis, err error) {
	hidden, err := k.Store.HideObservation(ctx, id, purge)
	if err != nil || !purge {
		return 0, err
	}
	return hidden.Add(undoTime), nil
}

// AddLearning implements api.Keeper. Private and secret text is taken out after the
// check.
func (k keeper) AddLearning(ctx context.Context, said memory.Learning) (memory.Learning, error) {
	// Before redaction, which an invalid text does not need.
	if err := memory.CheckLearning(said.Category, said.Content, said.Confidence); err != nil {
		return said, err
	}
	said.Content, said.ProjectPath = k.intake.Text(said.Content), k.intake.Text(said.ProjectPath)
	return k.Store.AddLearning(ctx, said)
}

// EditLearning implements api.Keeper. Private and secret text is taken out after the
// check; the store checks what is left.
func (k keeper) EditLearning(ctx context.Context, id int64, edit memory.LearningEdit) (memory.Learning, error) {
	if edit.Content != nil {
		if err := memory.CheckLearning(memory.LearningCategories()[0], *edit.Content, 1); err != nil {
			return memory.Learning{}, err
		}
		edit.Content = new(k.intake.Text(*edit.Content))
	}
	return k.Store.EditLearning(ctx, id, edit)
}

// purgeHidden deletes the observations that were hidden undoTime ago or earlier.
func (w *Worker) purgeHidden(ctx context.Context) {
	n, err := w.store.PurgeHidden(ctx, memory.MillisOf(w.cfg.Clock().Add(-undoTime)))
	w.warn(ctx, "purge hidden observations", err)
	if n > 0 {
		w.log.Info("purged hidden observations", "count", n)
	}
}
