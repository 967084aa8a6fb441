package daemon

import (
	"claudemem/settings"
	"claudemem/store"
)

// caps returns the token caps of the current settings.
func (l *live) caps() store.Caps {
	s, _ := l.get()
	return store.Caps{Day: s.Int(settings.KeyDailyTokenCap), Session: s.Int(settings.KeySessionTokenCap)}
}
