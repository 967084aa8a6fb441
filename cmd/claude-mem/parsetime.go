package main

import (
	"time"

	"claudemem"
)

// parseTime parses a time as people write it, in the local time zone: an ISO time,
// a day, month or year (its begin, or its last millisecond when last), today,
// yesterday, or an age such as 90m, 12h, 3d or 2w.
func parseTime(text string, now time.Time, last bool) (claudemem.Millis, error) {
	if at, ok := claudemem.ParseTime(text, now, last); ok {
		return at, nil
	}
	return 0, claudemem.Errorf(claudemem.CodeInvalid, "%q is not a time", oneLine(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}
