package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claudemem"
	"claudemem/intake"
	"claudemem/store"
)

// learner cleans what people say of their projects before the store keeps it.
type learner struct {
	*store.Store
	intake *intake.Intake
}

// AddLearning implements httpapi.Learnings.
func (l learner) AddLearning(ctx context.Context, said claudemem.Learning) (claudemem.Learning, error) {
	// First as it is: cleaning is not for texts that are refused anyway.
	if err := claudemem.CheckLearning(said.Category, said.Content, said.Confidence); err != nil {
		return said, err
	}
	said.Content, said.ProjectPath = l.intake.Text(said.Content), l.intake.Text(said.ProjectPath)
	return l.Store.AddLearning(ctx, said)
}

// EditLearning implements httpapi.Learnings.
func (l learner) EditLearning(ctx context.Context, id int64, edit claudemem.LearningEdit) (claudemem.Learning, error) {
	if edit.Content != nil {
		if err := claudemem.CheckLearning(claudemem.LearningCategories()[0], *edit.Content, 1); err != nil {
			return claudemem.Learning{}, err
		}
		clean := l.intake.Text(*edit.Content)
		edit.Content = &clean
	}
	return l.Store.EditLearning(ctx, id, edit)
}

// status answers hosts' status lines by the worker's clock.
type status struct{ *Worker }

// Statusline implements httpapi.Status.
func (s status) Statusline(ctx context.Context, r claudemem.StatusRequest) (claudemem.Statusline, error) {
	return s.store.Statusline(ctx, r, s.cfg.Clock())
}

// AddLearning stores what a person says of a project and returns it as it is
// kept. A running worker does it; without one this process takes the lock and is
// the worker for that long, and makes the memory if there is none.
func AddLearning(ctx context.Context, dataDir string, l claudemem.Learning) (added claudemem.Learning, err error) {
	answered, err := askWorker(ctx, dataDir, http.MethodPost, "/api/learnings", l, &added)
	if answered {
		return added, err
	}
	err = asWorker(ctx, dataDir, func(s *store.Store) error {
		added, err = learner{s, intake.New(nil, intake.Options{})}.AddLearning(ctx, l)
		return err
	})
	return added, err
}

// EditLearning changes a learning as AddLearning adds one.
func EditLearning(ctx context.Context, dataDir string, id int64, edit claudemem.LearningEdit) (changed claudemem.Learning, err error) {
	answered, err := askWorker(ctx, dataDir, http.MethodPatch, "/api/learnings/"+strconv.FormatInt(id, 10), edit, &changed)
	if answered {
		return changed, err
	}
	if _, err := os.Stat(filepath.Join(dataDir, databaseName)); errors.Is(err, fs.ErrNotExist) {
		return changed, claudemem.Errorf(claudemem.CodeNotFound, "there is no learning %d: nothing is remembered yet", id)
	}
	err = asWorker(ctx, dataDir, func(s *store.Store) error {
		changed, err = learner{s, intake.New(nil, intake.Options{})}.EditLearning(ctx, id, edit)
		return err
	})
	return changed, err
}

// askWorker lets a running worker do something. It reports whether one answered;
// what it answered may be an error.
func askWorker(ctx context.Context, dataDir, method, path string, body, out any) (answered bool, err error) {
	peer, err := FindPeer(dataDir)
	if err != nil {
		return false, nil //nolint:nilerr // no trace of a worker
	}
	err = peer.Do(ctx, method, path, body, out)
	if claudemem.CodeOf(err) == claudemem.CodeUnavailable {
		return false, nil
	}
	return true, err
}

// turnLimit is how long a command waits until it may be the worker. Several that
// were started at once take turns, each with a commit or two, and on a busy machine
// a person waits rather than types the command again.
const turnLimit = 10 * time.Second

// asWorker lets do write the memory while this process is the worker.
func asWorker(ctx context.Context, dataDir string, do func(*store.Store) error) (err error) {
	lock, err := waitLock(ctx, dataDir, turnLimit)
	if err != nil {
		return err
	}
	if lock == nil {
		return claudemem.Errorf(claudemem.CodeUnavailable, "the worker is starting or stopping").
			WithHint("try again in a moment")
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	s, err := store.Open(ctx, filepath.Join(dataDir, databaseName), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}
