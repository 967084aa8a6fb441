package claudemem

import (
	"fmt"
	"time"
)

// Millis is a moment as Unix milliseconds: how every time is stored and sent.
type Millis int64

// MillisOf converts t.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time converts back; the location is UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Sub returns the time from o to m.
func (m Millis) Sub(o Millis) time.Duration { return time.Duration(m-o) * time.Millisecond }

// Add returns m moved by d.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// Ago is the age of a moment as people say it; after two months its date.
func Ago(now time.Time, at Millis) string {
	if at == 0 {
		return "never"
	}
	d := now.Sub(at.Time())
	switch {
	case d < time.Minute: // also a clock that was set back
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d/time.Hour))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d/(24*time.Hour)))
	default:
		return at.Time().Format(time.DateOnly)
	}
}
