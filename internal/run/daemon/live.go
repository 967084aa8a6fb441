package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"claudemem/internal/capture/intake"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// live holds the worker's settings as the file has them now. What is captured
// changes with the next event, the provider, its key, mode and caps with the next
// batch, recall with the next prompt, retention and backups with their next chore. What get
// is not asked for is read once, at the start.
type live struct {
	dataDir string
	getenv  func(string) string
	log     *slog.Logger

	mu      sync.Mutex
	current *settings.Settings
	// file describes the file that current was read from, nil when there was none.
	file os.FileInfo
	// fault is why it could not be read at the last try.
	fault string
	// changed (capacity 1, more merge) gets a signal after a change.
	changed chan struct{}
	// captured is the intake's policy by current, nil when it must be made again.
	captured *intake.Policy
}

// newLive returns the live settings of a data directory, which were read as first: the
// next get notices a change since.
func newLive(dataDir string, first *settings.Settings, log *slog.Logger) *live {
	return &live{dataDir: dataDir, getenv: os.Getenv, log: log, current: first, file: first.File(), changed: make(chan struct{}, 1)}
}

// get returns the settings as the file has them now. It costs a look at the file's
// attributes.
func (l *live) get() *settings.Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh()
	return l.current
}

// policy returns the intake's policy by the current settings: the same one until they change. The
// caller does not change it.
func (l *live) policy() *intake.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh()
	if s := l.current; l.captured == nil {
		l.captured = &intake.Policy{Refuse: s.Closed(), SkipTools: s.Items(settings.KeySkipTools), Withheld: s.WithheldFiles(), Projects: s.Projects()}
	}
	return l.captured
}

// caps returns the token caps of the current settings.
func (l *live) caps() accounts.Caps {
	s := l.get()
	return accounts.Caps{Day: s.Int(settings.KeyDailyTokenCap), Session: s.Int(settings.KeySessionTokenCap)}
}

// mode returns the mode in the settings. If that cannot be loaded, it returns the built-in
// default one and the reason.
func (l *live) mode() (mode.Mode, error) {
	name, dir := l.get().Text(settings.KeyMode), filepath.Join(l.dataDir, modesDir)
	m, err := mode.Load(name, dir)
	if err != nil {
		m = mode.LoadOrDefault("", "")
	}
	return m, err
}

// refresh reads the file again when it has changed, and tells changed. A file that cannot be read
// leaves the settings as they are, unless they were closed and others may hold now. The caller
// holds mu.
func (l *live) refresh() {
	now := settings.Stat(l.dataDir)
	if sameFile(l.file, now) {
		return
	}
	changed, err := settings.LoadForWorker(l.dataDir, l.getenv)
	l.file = changed.File()
	if err != nil {
		// It is being written, or has an error: the former settings stay in force. If
		// those were closed, there may be a last good copy now.
		if fault := err.Error(); fault != l.fault { // one that cannot be opened is tried each time
			l.fault = fault
			l.log.Warn("settings changed and cannot be read", "error", err)
		}
		if changed.Closed() || !l.current.Closed() {
			return
		}
	}
	l.fault = ""
	for _, problem := range changed.Problems() {
		l.log.Warn("settings", "error", problem)
	}
	l.current, l.captured = changed, nil
	l.log.Info("settings changed")
	wakeUp(l.changed)
}

// sameFile reports whether a and b describe the same file with the same content, by identity, size
// and time, whatever its rights; nil is no file. A file that was replaced by one of the same size
// within a tick of the file system's clock is another, but on Windows, where os.SameFile looks at the
// file that has the name now.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Settings returns every setting with the value that the worker uses, secrets masked.
func (w *Worker) Settings() []settings.View {
	return collect.Map(w.settings.get().List(), settings.Value.View)
}

// ChangeSetting implements httpapi.Worker.
func (w *Worker) ChangeSetting(_ context.Context, c api.SettingChange) (changed api.SettingChanged, err error) {
	if s, ok := settings.Lookup(c.Key); ok && !s.OnPage {
		return changed, memory.Errorf(memory.CodeForbidden, "%s is changed at a terminal only", s.Key).
			WithHint("claude-mem config set " + s.Key + " VALUE")
	}
	notes, err := settings.Change(w.cfg.DataDir, c.Key, c.Value)
	if err != nil {
		return changed, err
	}
	v, err := w.settings.get().Get(c.Key)
	w.log.Info("a page changed a setting", "key", v.Key)
	return api.SettingChanged{Setting: v.View(), AtOnce: v.AtOnce(), Notes: append([]string{}, notes...)}, err
}

// origins returns the settings that are not at their default.
func (l *live) origins() []control.SettingOrigin {
	set := collect.Keep(l.get().List(), func(v settings.Value) bool { return v.Origin != settings.FromDefault })
	return collect.Map(set, func(v settings.Value) control.SettingOrigin {
		return control.SettingOrigin{Key: v.Key, Value: v.Shown(), Origin: string(v.Origin)}
	})
}
