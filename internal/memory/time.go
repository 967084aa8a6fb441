package memory

import (
	"strconv"
	"strings"
	"time"
)

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

// secondsBelow tells seconds from milliseconds: as seconds it is the year 5138,
// as milliseconds March 1973.
const secondsBelow = 100_000_000_000

// LatestTime is the last time that is accepted: the end of the year 9999.
const LatestTime Millis = 253_402_300_799_999

// ages are the units of "3d": how long one is. An array, as a map would be built each
// time the hook starts.
var ages = [256]time.Duration{
	'M': time.Minute, 'H': time.Hour, 'D': 24 * time.Hour, 'W': 7 * 24 * time.Hour,
}

// timeForms are the forms of times; span returns the end of what a form names.
var timeForms = []struct {
	layout string
	span   func(time.Time) time.Time
}{
	{"2006-01-02T15:04:05Z07:00", nil}, // with or without a fraction of a second
	{"2006-01-02T15:04:05Z0700", nil},
	{"2006-01-02T15:04:05", nil},
	{"2006-01-02T15:04Z07:00", minute},
	{"2006-01-02T15:04", minute},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
}

func minute(t time.Time) time.Time { return t.Add(time.Minute) }

// ParseTime parses a time as people and programs write it: an ISO time, a
// minute, day, month or year (its begin, or its last millisecond when last), a Unix
// epoch in milliseconds or seconds, now, today, yesterday, or an age such as 90m,
// 12h, 3d or 2w. Letter case and blanks around it do not count. What has no zone is in that of
// now; with the zero now what is relative to now is not parsed. It returns false,
// with a time of no meaning, for another text and for a time before 1970 or after LatestTime.
func ParseTime(text string, now time.Time, last bool) (Millis, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > len("2006") { // four digits are a year
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			if n > -secondsBelow && n < secondsBelow {
				n *= 1000
			}
			return accepted(Millis(n))
		}
	}
	if !now.IsZero() {
		if at, ok := relativeTime(text, now, last); ok {
			return accepted(at)
		}
	}
	if len(text) > 10 && text[10] == ' ' { // a space for the T, or the + of a zone that was not URL-encoded
		text = text[:10] + "T" + text[11:]
	}
	if i := strings.LastIndexByte(text, ' '); i > 10 {
		text = text[:i] + "+" + text[i+1:]
	}
	for _, form := range timeForms {
		t, err := time.ParseInLocation(form.layout, text, now.Location())
		if err != nil {
			continue
		}
		if last && form.span != nil {
			return accepted(MillisOf(form.span(t)) - 1)
		}
		return accepted(MillisOf(t))
	}
	return 0, false
}

func accepted(at Millis) (Millis, bool) { return at, at > 0 && at <= LatestTime }

// relativeTime parses a time relative to now; text is in capitals. With last, today and yesterday
// are their last millisecond; now and an age are one moment. An age has at most four digits, so
// that it fits a Duration.
func relativeTime(text string, now time.Time, last bool) (Millis, bool) {
	day := func(from int) (Millis, bool) {
		if last {
			return MillisOf(time.Date(now.Year(), now.Month(), now.Day()+from+1, 0, 0, 0, 0, now.Location())) - 1, true
		}
		return MillisOf(time.Date(now.Year(), now.Month(), now.Day()+from, 0, 0, 0, 0, now.Location())), true
	}
	switch text {
	case "NOW":
		return MillisOf(now), true
	case "TODAY":
		return day(0)
	case "YESTERDAY":
		return day(-1)
	}
	n := len(text) - 1
	if n < 1 {
		return 0, false
	}
	unit := ages[text[n]]
	count, err := strconv.Atoi(text[:n])
	if unit == 0 || err != nil || count < 0 || count >= 10_000 {
		return 0, false
	}
	return MillisOf(now.Add(-time.Duration(count) * unit)), true
}
