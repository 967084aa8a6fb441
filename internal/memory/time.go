package memory

import "time"

// Millis is a time in Unix milliseconds, the form in which every time is stored and sent.
type Millis int64

// MillisOf converts t.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time converts back; the location is UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Sub returns the time from o to m.
func (m Millis) Sub(o Millis) time.Duration { return time.Duration(m-o) * time.Millisecond }

// Add returns m moved by d.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// ClockOr returns clock, or time.Now for nil.
func ClockOr(clock func() time.Time) func() time.Time {
	if clock == nil {
		return time.Now
	}
	return clock
}
