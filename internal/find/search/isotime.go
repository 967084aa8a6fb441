package search

import "time"

// isoTimeForms are the ISO 8601 forms that people and programs write.
var isoTimeForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
}

// parseISOTime parses a date with a time, in loc when it names no zone; false for another
// text.
func parseISOTime(s string, loc *time.Location) (time.Time, bool) {
	for _, form := range isoTimeForms {
		if t, err := time.ParseInLocation(form, s, loc); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
