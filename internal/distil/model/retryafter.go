package model

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds the wait that a provider may ask for: within a day all known
// limits are renewed.
const maxWait = 24 * time.Hour

// RetryAfter returns how long an answer asks to wait before the next request: its
// retry-after-ms, else its Retry-After in seconds or as an HTTP date (RFC 9110, 10.2.3).
// 0 when it does not say, says something unreadable or a moment that has passed; never
// above 24 hours.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := waitOf(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := waitOf(value, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(strings.TrimSpace(value)); err == nil {
		return clampWait(at.Sub(now))
	}
	return 0
}

// waitOf parses a number of units as a time to wait, at most maxWait; false for no
// number.
func waitOf(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil && !math.IsInf(n, 1) || math.IsNaN(n) { // infinite is also a number too large for a float
		return 0, false
	}
	// Compared as numbers: a huge one would overflow a Duration.
	return time.Duration(max(0, min(n*float64(unit), float64(maxWait)))), true
}

// clampWait returns a wait between 0 and maxWait.
func clampWait(d time.Duration) time.Duration { return min(max(d, 0), maxWait) }
