package httpapi

import (
	"time"

	"claudemem"
)

const momentForms = "is a date such as 2026-03-04, a date-time such as 2026-03-04T12:00:00Z, or a Unix epoch in milliseconds"

// latest is the last moment that is believed.
const latest = claudemem.LatestMoment

// readMoment reads a moment as clients write it; with end it is the last
// millisecond of what a date without a time names. Moments without a zone are UTC.
func readMoment(text string, end bool) (claudemem.Millis, bool) {
	return claudemem.ParseMoment(text, time.Time{}, end)
}
