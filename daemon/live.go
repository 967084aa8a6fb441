package daemon

import (
	"log/slog"
	"os"
	"sync"

	"claudemem/intake"
	"claudemem/settings"
	"claudemem/store"
)

// live holds the worker's settings as the file has them now. What is captured
// changes with the next event, the provider, its key, mode and caps with the next
// batch, recall with the next prompt. Everything else is read once, at the start.
type live struct {
	dataDir string
	getenv  func(string) string
	log     *slog.Logger

	mu      sync.Mutex
	current *settings.Settings
	// file is what was last seen of the file, nil when there was none.
	file os.FileInfo
	// version counts the changes; changed (capacity 1, more merge) tells of one.
	version int
	changed chan struct{}
	// captured is the intake's policy by current, nil when it is to be made anew.
	captured *intake.Policy
}

// newLive begins with settings that were just read.
func newLive(dataDir string, first *settings.Settings, log *slog.Logger) *live {
	l := &live{dataDir: dataDir, getenv: os.Getenv, log: log, current: first, changed: make(chan struct{}, 1)}
	l.file = settings.Stat(dataDir)
	return l
}

// get returns the settings and a number that changes with them. It costs a look
// at the file's attributes.
func (l *live) get() (*settings.Settings, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refresh()
}

// policy returns what is to be captured by the settings as they are now.
func (l *live) policy() *intake.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, _ := l.refresh(); l.captured == nil {
		l.captured = &intake.Policy{Refuse: s.Closed(), SkipTools: s.Items(settings.KeySkipTools), Withheld: s.WithheldFiles(), Projects: s.Projects()}
	}
	return l.captured
}

// caps returns the token caps of the current settings.
func (l *live) caps() store.Caps {
	s, _ := l.get()
	return store.Caps{Day: s.Int(settings.KeyDailyTokenCap), Session: s.Int(settings.KeySessionTokenCap)}
}

// refresh reads the file again when it has changed. The caller holds mu.
func (l *live) refresh() (*settings.Settings, int) {
	now := settings.Stat(l.dataDir)
	if sameFile(l.file, now) {
		return l.current, l.version
	}
	l.file = now
	changed, err := settings.LoadForWorker(l.dataDir, l.getenv)
	if err != nil {
		// Somebody is writing it, or made a mistake: the former ones stay. Former ones
		// that were closed may have a last good copy now.
		l.log.Warn("settings changed and cannot be read", "error", err)
		if changed.Closed() || !l.current.Closed() {
			return l.current, l.version
		}
	}
	for _, problem := range changed.Problems() {
		l.log.Warn("settings", "error", problem)
	}
	l.current, l.captured = changed, nil
	l.version++
	l.log.Info("settings changed")
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return l.current, l.version
}

// sameFile also tells a file that was replaced by one of the same size within a
// tick of the file system's clock.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// SettingOrigin is a value that a worker uses and where it came from; a secret is masked.
type SettingOrigin struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// origins returns the settings that are not at their default.
func (l *live) origins() []SettingOrigin {
	s, _ := l.get()
	list := []SettingOrigin{}
	for _, v := range s.List() {
		if v.Origin != settings.FromDefault {
			list = append(list, SettingOrigin{v.Key, v.Shown(), string(v.Origin)})
		}
	}
	return list
}
