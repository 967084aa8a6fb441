package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/agentfiles"
	"claudemem/internal/serve/api"
)

const (
	// filesPause is the time between a summary and the sync of the project's agent files:
	// summaries of sessions that end together share one.
	filesPause = time.Second
	// filesLimit bounds one sync. A project of 20,000 folders takes about a second.
	filesLimit = time.Minute
	// changesAgain is how many changes a new worker looks at again: those of a few turns.
	changesAgain = 200
)

// fileSync syncs the agent files of a project after each of its summaries, while the
// setting is on. Without it, it only keeps its place in the change feed.
type fileSync struct {
	store   *store.Store
	targets func() []agentfiles.Target
	dataDir string
	log     *slog.Logger
	// after is time.After.
	after func(time.Duration) <-chan time.Time

	// cursor is the last change that was looked at; only follow uses it.
	cursor int64
	background
}

// fileTargets returns the files that get blocks of records, none for a wrong value.
func fileTargets(s *settings.Settings) []agentfiles.Target {
	targets, _ := agentfiles.ParseTargets(s.Items(settings.KeyAgentFiles))
	return targets
}

// openFiles makes the sync of agent files, which does not start yet. It begins a little
// before the present end of the change feed: a worker that was killed may not have synced
// after its last summaries, and a second sync writes nothing.
func (w *Worker) openFiles(ctx context.Context) error {
	_, newest, err := w.store.ChangeRange(ctx)
	if err != nil {
		return err
	}
	w.files = &fileSync{store: w.store, cursor: newest - changesAgain, dataDir: w.cfg.DataDir, log: w.log, after: time.After, targets: func() []agentfiles.Target { return fileTargets(w.settings.get()) }}
	w.opened("agent files", func(context.Context) error { return w.files.close() })
	return nil
}

// start follows the change feed until close, which cancels a sync that is under way: each file
// is old or new.
func (f *fileSync) start() {
	changed, stop := f.store.Follow()
	f.begin(context.Background(), func(ctx context.Context) {
		defer stop()
		f.follow(ctx, changed)
	})
}

// follow reads what the feed reports until ctx ends or the store closes, and syncs the projects
// with new summaries filesPause after the first of them.
func (f *fileSync) follow(ctx context.Context, changed <-chan struct{}) {
	due := map[string]bool{} // projects
	var pause <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
			if err := f.note(ctx, due); err != nil && ctx.Err() == nil {
				f.log.Warn("sync agent files", "error", err)
			}
			if len(due) > 0 && pause == nil {
				pause = f.after(filesPause)
			}
		case <-pause:
			pause = nil
			for project := range due {
				f.sync(ctx, project)
			}
			clear(due)
		}
	}
}

// note adds the projects of the summaries after the position in the feed to due, and moves the
// position to the feed's end, with an error to where it has got. With the setting off it adds none,
// and skips what is there: switching it on writes nothing of before.
func (f *fileSync) note(ctx context.Context, due map[string]bool) error {
	if len(f.targets()) == 0 {
		_, newest, err := f.store.ChangeRange(ctx)
		f.cursor = max(f.cursor, newest)
		return err
	}
	for {
		changes, err := f.store.Changes(ctx, f.cursor, 500)
		if err != nil || len(changes) == 0 {
			return err
		}
		summaries := collect.Keep(changes, func(c memory.Change) bool { return c.Kind == memory.RecordSummary && c.Operation != "delete" })
		documents, err := f.store.Documents(ctx, collect.Map(summaries, func(c memory.Change) memory.RecordRef { return c.RecordRef })...)
		if err != nil {
			return err
		}
		for i := range documents {
			due[documents[i].ProjectPath] = true
		}
		f.cursor = changes[len(changes)-1].Seq
	}
}

// sync syncs the agent files of a project, and keeps a notice of those that could not be
// written.
func (f *fileSync) sync(ctx context.Context, project string) {
	ctx, cancel := context.WithTimeout(ctx, filesLimit)
	defer cancel()
	targets := f.targets()
	if len(targets) == 0 {
		return // it was set off meanwhile
	}
	written, failed, err := syncFiles(ctx, f.store, f.dataDir, project, targets)
	if err == nil {
		f.log.Info("synced agent files", "written", written, "failed", len(failed))
		err = f.notice(ctx, project, failed)
	}
	if err != nil && ctx.Err() == nil {
		f.log.Warn("sync agent files", "error", err)
	}
}

// syncFiles writes the blocks of a project's files anew and returns how many files it changed,
// and of which it could not, with the reason. A project of which nothing is remembered loses its
// blocks. One whose directory is gone, or is no place for files, has none.
func syncFiles(ctx context.Context, s *store.Store, dataDir, project string, targets []agentfiles.Target) (written int, failed []string, err error) {
	records, err := agentfiles.Records(ctx, (&api.Local{Store: s}).Memory(), project)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return 0, nil, err
	}
	report, err := agentfiles.Sync(ctx, agentfiles.Request{Project: project, Targets: targets, Records: records, DataDir: dataDir})
	for _, file := range report.Files {
		switch {
		case file.Problem != "":
			failed = append(failed, file.Path+": "+file.Problem)
		case file.Action != agentfiles.ActionNone:
			written++
		}
	}
	if code := memory.CodeOf(err); code == memory.CodeNotFound || code == memory.CodeInvalid {
		err = nil
	}
	return written, failed, err
}

// notice keeps the notice of a project whose files could not be written, or clears it if failed is
// empty. It names the first three.
func (f *fileSync) notice(ctx context.Context, project string, failed []string) error {
	key := agentfiles.Notice + project
	if len(failed) > 0 {
		return f.store.AddNotice(ctx, key, fmt.Sprintf("claude-mem: files of %s were not updated (%s). `claude-mem agent-files status` tells more.",
			memory.ProjectLabel(project), strings.Join(failed[:min(len(failed), 3)], "; ")))
	}
	return f.store.ClearNotice(ctx, key)
}
