package main

import (
	"strconv"
	"strings"
	"time"

	"claudemem"
)

// ages are the units of "3d": how long one is.
var ages = map[byte]time.Duration{
	'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
}

// moments are the forms of a moment; without a zone it is the local time.
var moments = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// days are the forms that name a day, a month or a year as a whole.
var days = []struct {
	layout              string
	years, months, days int
}{
	{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
}

// parseMoment reads what people write for a moment: an ISO time, a day, month or
// year (its begin, or its last millisecond when last), today, yesterday, or an age
// such as 90m, 12h, 3d or 2w.
func parseMoment(text string, now time.Time, last bool) (claudemem.Millis, error) {
	text = strings.TrimSpace(text)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	whole := func(begin, end time.Time) (claudemem.Millis, error) {
		if last {
			return claudemem.MillisOf(end) - 1, nil
		}
		return claudemem.MillisOf(begin), nil
	}
	switch strings.ToLower(text) {
	case "now":
		return claudemem.MillisOf(now), nil
	case "today":
		return whole(today, today.AddDate(0, 0, 1))
	case "yesterday":
		return whole(today.AddDate(0, 0, -1), today)
	}
	for _, layout := range moments {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return claudemem.MillisOf(at), nil
		}
	}
	for _, d := range days {
		if at, err := time.ParseInLocation(d.layout, text, now.Location()); err == nil {
			return whole(at, at.AddDate(d.years, d.months, d.days))
		}
	}
	if n := len(text) - 1; n > 0 {
		unit, known := ages[text[n]]
		count, err := strconv.Atoi(text[:n])
		if known && err == nil && count >= 0 && count < 10_000 {
			return claudemem.MillisOf(now.Add(-time.Duration(count) * unit)), nil
		}
	}
	return 0, claudemem.Errorf(claudemem.CodeInvalid, "%q is not a time", oneLine(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}
