package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// Forgetting is what Forget did, or would do.
type Forgetting struct {
	memory.Forgotten
	// Spooled counts the deliveries that no worker has taken in. A dry run does not search
	// them.
	Spooled int `json:"spooled"`
	// Files counts files besides the database that had some of it and were deleted or
	// rewritten: logs, unreadable deliveries, the model's conversations, agent files.
	Files int `json:"files"`
	// Backups are the older backups that were deleted, or would be. A new one replaces them
	// unless the settings switch backups off.
	Backups []string `json:"backups"`
	// Restarted says that a worker ran and was started again.
	Restarted bool `json:"restarted"`
	// Left lists what could not be erased, and why.
	Left []string `json:"left"`
}

// forgetStop is how long Forget waits for a running worker to stop.
const forgetStop = 30 * time.Second

// WouldForget returns what Forget would erase, and changes nothing. CodeNoMemory when
// nothing was ever captured.
func WouldForget(ctx context.Context, dataDir string, f memory.Forgetting) (Forgetting, error) {
	found, err := readMemory(ctx, dataDir, func(s *store.Store) (memory.Forgotten, error) { return s.WouldForget(ctx, f) })
	if err != nil {
		return Forgetting{}, err
	}
	result := Forgetting{Forgotten: found}
	if list, err := backup.List(dataDir); err == nil && !found.Empty() {
		result.Backups = collect.Map(list, func(b backup.Backup) string { return b.Name })
	}
	if names, err := wire.SpoolOf(dataDir).List(time.Now()); err == nil {
		result.Spooled = len(names)
	}
	return result, err
}

// Forget erases what f selects from the database, the index, the logs, the spool, the
// model's conversations and agent files, for good. A running worker is stopped, so that
// nothing of it is left in memory either, and start starts it again; hooks spool meanwhile.
// getenv finds the model's conversations.
//
// The codes of its errors: CodeNoMemory when nothing was ever captured, CodeUnavailable
// when the worker does not stop, CodeStorage. What was erased before an error stays so.
func Forget(ctx context.Context, dataDir string, f memory.Forgetting, getenv func(string) string, start func() error) (result Forgetting, err error) {
	stopped, err := control.Stop(ctx, dataDir, forgetStop)
	if err != nil {
		return result, err
	}
	if stopped {
		defer func() {
			err = errors.Join(err, start())
			result.Restarted = err == nil
		}()
	}
	resolved, err := settings.LoadForWorker(dataDir, getenv)
	if err != nil {
		return result, err
	}
	e := &eraser{dataDir: dataDir, settings: resolved, getenv: getenv, log: slog.New(slog.DiscardHandler)}
	err = asWorker(ctx, dataDir, false, turnLimit, func(s *store.Store) error {
		if err := e.complete(ctx, s); err != nil {
			return err
		}
		return e.run(ctx, s, unfinished{Forgetting: f})
	})
	return e.result, err
}

// forgettingName is the file that says, while something is being erased, what: the next
// worker completes it when the process dies.
const forgettingName = "forgetting.json"

// noticeForgotten is the notice of what a forget that was interrupted could not erase.
const noticeForgotten = "forgotten"

// unfinished is the content of forgettingName. Names, Texts and Projects are those of what
// the database no longer has.
type unfinished struct {
	Forgetting memory.Forgetting `json:"forgetting"`
	Names      []string          `json:"names"`
	Texts      []string          `json:"texts"`
	Projects   []string          `json:"projects"`
}

// completeForgetting completes a Forget whose process died, before anything else uses the
// memory. One that cannot be completed is tried again at the next start.
func (w *Worker) completeForgetting(ctx context.Context) {
	e := &eraser{dataDir: w.cfg.DataDir, settings: w.cfg.Settings, getenv: os.Getenv, log: w.log}
	if err := e.complete(ctx, w.store); err != nil {
		w.log.Error("complete what was being forgotten", "error", err)
	}
	if len(e.result.Left) > 0 {
		text := "claude-mem: a forget had been interrupted. It is now complete, but for: " + strings.Join(e.result.Left, "; ") + "."
		if err := w.store.AddNotice(ctx, noticeForgotten, text); err != nil {
			w.log.Error("tell what could not be forgotten", "error", err)
		}
	}
}

// eraser carries out one Forget, with the worker's lock.
type eraser struct {
	dataDir  string
	settings *settings.Settings
	getenv   func(string) string
	log      *slog.Logger
	result   Forgetting
	// words are what memory.db must not have any more: the text and the whole project that were
	// forgotten. It keeps the keys of events, which have names of sessions. sought are all names of
	// what was erased and the texts of its records.
	words, sought *needles
}

// complete completes an earlier Forget whose process died; nothing without one. What could not be
// erased then is added to e.result.Left. A note of it that cannot be read is deleted, with an
// error: it may name what was to be forgotten.
func (e *eraser) complete(ctx context.Context, s *store.Store) error {
	path := filepath.Join(e.dataDir, forgettingName)
	atomicfile.RemoveOwnLeftovers(path) // they name what was to be forgotten
	content, err := openfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var u unfinished
	if err == nil {
		err = json.Unmarshal(content, &u)
	}
	if err != nil { // it may name what was to be forgotten
		return errors.Join(fmt.Errorf("%s cannot be read; run `claude-mem forget` again: %w", forgettingName, err), os.Remove(path))
	}
	earlier := &eraser{dataDir: e.dataDir, settings: e.settings, getenv: e.getenv, log: e.log}
	if err := earlier.run(ctx, s, u); err != nil {
		return err
	}
	e.log.Info("completed a forget that was interrupted", "files", earlier.result.Files, "left", len(earlier.result.Left))
	e.result.Left = append(e.result.Left, earlier.result.Left...)
	return nil
}

// run erases what u selects, from the database first: after that nothing comes back. The file that
// names what is erased stays when the process dies in between, or if clean fails, so that the next
// worker completes it; it goes if nothing was erased.
func (e *eraser) run(ctx context.Context, s *store.Store, u unfinished) error {
	if err := e.takeSpool(ctx, s); err != nil {
		return err
	}
	would, err := s.WouldForget(ctx, u.Forgetting)
	if err != nil {
		return err
	}
	u.add(&would)
	path := filepath.Join(e.dataDir, forgettingName)
	if err := control.WriteJSON(path, u); err != nil {
		return memory.Errorf(memory.CodeStorage, "note what is being forgotten: %w", err)
	}
	if e.result.Forgotten, err = s.Forget(ctx, u.Forgetting, func(erasure *care.Erasure) error { return backup.NoteErasure(e.dataDir, erasure) }); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	u.add(&e.result.Forgotten)
	e.result.Names, e.result.Texts, e.result.Projects = u.Names, u.Texts, u.Projects
	if err := e.clean(ctx, s, &u.Forgetting); err != nil {
		return err
	}
	return os.Remove(path)
}

// add adds what other files are searched for.
func (u *unfinished) add(f *memory.Forgotten) {
	u.Names, u.Texts, u.Projects = merged(u.Names, f.Names), merged(u.Texts, f.Texts), merged(u.Projects, f.Projects)
}

// merged returns the texts of both lists, each once.
func merged(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// clean erases from everything else than the rows of the database: its bytes, index, logs,
// conversations, agent files, backups and what search finds. Only the database itself and the end
// of ctx are errors; what else fails is in e.result.Left.
func (e *eraser) clean(ctx context.Context, s *store.Store, f *memory.Forgetting) error {
	if err := s.Scrub(ctx); err != nil {
		return err
	}
	texts, err := distinct(ctx, s.Path(), e.result.Texts)
	if err != nil {
		return err
	}
	names := e.result.Names
	e.sought = newNeedles(slices.Concat(names, texts))
	e.words = newNeedles(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != f.Text && name != f.ProjectPath }))
	if err := e.index(ctx, s); err != nil {
		e.left("the search index", err)
	}
	e.logs()
	e.conversations()
	for _, project := range e.result.Projects {
		written, failed, err := syncFiles(ctx, s, e.dataDir, project, fileTargets(e.settings))
		e.result.Files += written
		e.result.Left = append(e.result.Left, collect.Map(failed, func(file string) string { return project + string(filepath.Separator) + file })...)
		if err != nil {
			e.left("agent files of "+project, err)
		}
	}
	e.backups(ctx)
	e.search(ctx)
	return ctx.Err()
}

// left notes that something could not be erased from a place.
func (e *eraser) left(where string, err error) {
	e.result.Left = append(e.result.Left, where+": "+err.Error())
}

// takeSpool takes the spooled events into the database, so that they are looked through.
func (e *eraser) takeSpool(ctx context.Context, s *store.Store) error {
	q := queue.New(s, queue.Options{})
	if err := q.Open(ctx); err != nil {
		return err
	}
	in := intake.New(q, intake.Options{Policy: newLive(e.dataDir, e.settings, e.log).policy, DataDir: e.dataDir, OpenSession: s.OpenSession})
	box := newInbox(wire.SpoolOf(e.dataDir), func(ctx context.Context, events ...memory.Event) error {
		_, err := in.IngestAll(ctx, events...)
		return err
	}, s.RecordInjection, e.log, time.Now)
	return errors.Join(box.takeAll(ctx), q.Close())
}

// index removes the erased records from the index, and their words from its files. One that is
// damaged is built anew (index.Open); with an error it stays as it is.
func (e *eraser) index(ctx context.Context, s *store.Store) error {
	path := filepath.Join(e.dataDir, control.Index)
	// The words of what is erased moved the vectors of the trained table, if by a trace: the
	// next worker trains it again without them.
	if err := index.DropTable(path); err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	options, end := indexOptions(e.settings, time.Now, e.log)
	defer end()
	ix, err := index.Open(ctx, path, s, options)
	if err != nil {
		return err
	}
	return errors.Join(ix.Swept(ctx), ix.Close())
}

// logs deletes the lines that contain one of the names from the logs, also from those that
// were rotated.
func (e *eraser) logs() {
	paths, _ := filepath.Glob(filepath.Join(e.dataDir, "logs", "*")) // the pattern is valid
	for _, path := range paths {
		switch changed, err := e.rewriteLog(path); {
		case err != nil:
			e.left(path, err)
		case changed:
			e.result.Files++
		}
	}
}

// rewriteLog deletes the lines of a log that contain one of the names, in place: hooks have it
// open to append to it. openfile.ErrUnfit for what is no regular file.
func (e *eraser) rewriteLog(path string) (changed bool, err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false, errors.Join(openfile.ErrUnfit, err)
	}
	f, err := openfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600) // with O_CREATE it follows no link
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := io.ReadAll(f)
	if err != nil {
		return false, err
	}
	var kept []byte
	for line := range bytes.Lines(content) {
		if len(e.sought.in(line, true)) == 0 {
			kept = append(kept, line...)
		}
	}
	if len(kept) == len(content) {
		return false, nil
	}
	if err := f.Truncate(0); err != nil {
		return false, err
	}
	_, err = f.WriteAt(kept, 0)
	return true, err
}

// conversations deletes the transcripts of the conversations that the claude CLI keeps for
// the observer: each has whole turns. A session that goes on gets a new one.
func (e *eraser) conversations() {
	home, _ := os.UserHomeDir() // without it there are none
	config, _ := claudedir.Config(e.getenv, home)
	dir, err := filepath.EvalSymlinks(filepath.Join(e.dataDir, observerDir))
	if config == "" || err != nil {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(claudedir.Transcripts(config, dir), "*.jsonl"))
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			e.left(path, err)
			continue
		}
		e.result.Files++
	}
}

// dropForgotten is the chore that replaces backups from before something was forgotten,
// which the command could not. It has no more to do once they are gone.
func (w *Worker) dropForgotten(ctx context.Context) error {
	removed, err := backup.Replace(ctx, w.cfg.DataDir, w.settings.get().Int(settings.KeyBackupKeep), w.cfg.Clock(), func(backup.Backup) bool { return false })
	if len(removed) > 0 {
		w.log.Info("deleted backups from before something was forgotten", "count", len(removed))
	}
	return err
}
