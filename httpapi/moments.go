package httpapi

import (
	"strconv"
	"strings"
	"time"

	"claudemem"
)

const momentForms = "is a date such as 2026-03-04, a date-time such as 2026-03-04T12:00:00Z, or a Unix epoch in milliseconds"

// secondsBelow tells seconds from milliseconds: as seconds it is the year 5138,
// as milliseconds March 1973.
const secondsBelow = 100_000_000_000

// latest is the last moment that is believed: the end of the year 9999.
const latest = 253_402_300_799_999

// layouts are the forms of moments; span is how long what they name lasts.
var layouts = []struct {
	layout string
	span   func(time.Time) time.Time
}{
	{"2006-01-02T15:04:05Z07:00", nil}, // with or without a fraction of a second
	{"2006-01-02T15:04:05", nil},
	{"2006-01-02T15:04Z07:00", minute},
	{"2006-01-02T15:04", minute},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
}

func minute(t time.Time) time.Time { return t.Add(time.Minute) }

// readMoment reads a moment as clients write it; with end it is the last
// millisecond of what a date without a time names. Moments without a zone are UTC.
func readMoment(text string, end bool) (claudemem.Millis, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > -secondsBelow && n < secondsBelow {
			n *= 1000
		}
		return claudemem.Millis(n), n > 0 && n <= latest
	}
	text = strings.ToUpper(text)
	if len(text) > 10 && text[10] == ' ' { // a space for the T, or the + of a zone that was not encoded
		text = text[:10] + "T" + text[11:]
	}
	if i := strings.LastIndexByte(text, ' '); i > 10 {
		text = text[:i] + "+" + text[i+1:]
	}
	for _, l := range layouts {
		t, err := time.Parse(l.layout, text)
		if err != nil {
			continue
		}
		at := claudemem.MillisOf(t)
		if end && l.span != nil {
			at = claudemem.MillisOf(l.span(t)) - 1
		}
		return at, at > 0 && at <= latest
	}
	return 0, false
}
