package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/memory"
)

// Count returns a number with its noun, which is regular and in the singular: "1 event", "2 summaries",
// "0 days".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "a") {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Grouped returns a number with commas between its thousands: "1,234,567".
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// GroupedCount is Count with commas between the thousands: "1,234 records".
func GroupedCount(n int, noun string) string {
	return Grouped(n) + strings.TrimPrefix(Count(n, noun), strconv.Itoa(n))
}

// Bytes returns a size with its unit, as 812 B, 434 kB or 12.5 MB.
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

// Age says how long before now something was: "5m ago", "yesterday", "3w ago". Both
// times count by the minute, so that the same minute gives the same words. A time
// to come, from a clock that was set back, is "just now". Numbers are rounded down; "yesterday" is 24
// to 48 hours ago, a month 30 days and a year 365.
func Age(now, then time.Time) string {
	const day = 24 * time.Hour
	age := now.Truncate(time.Minute).Sub(then.Truncate(time.Minute))
	switch {
	case age <= 0:
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%dm ago", age/time.Minute)
	case age < day:
		return fmt.Sprintf("%dh ago", age/time.Hour)
	case age < 2*day:
		return "yesterday"
	case age < 14*day:
		return fmt.Sprintf("%dd ago", age/day)
	case age < 60*day:
		return fmt.Sprintf("%dw ago", age/(7*day))
	case age < 730*day:
		return fmt.Sprintf("%dmo ago", age/(30*day))
	}
	return fmt.Sprintf("%dy ago", age/(365*day))
}

// Ago is Age for a time in milliseconds, "never" for 0.
func Ago(now time.Time, then memory.Millis) string {
	if then == 0 {
		return "never"
	}
	return Age(now, then.Time())
}

// Day returns the heading of a day in the zone of now, as "Today" or "Monday 2 March". It has
// the year of another year.
func Day(now, at time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return "Today"
	case at.Format(time.DateOnly) == now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "Yesterday"
	case at.Year() == now.Year():
		return at.Format("Monday 2 January")
	default:
		return at.Format("Monday 2 January 2006")
	}
}

// When returns a time in the zone of now: with the day, without the year in this one.
func When(now, at time.Time) string {
	if at = at.In(now.Location()); at.Year() == now.Year() {
		return at.Format("Mon 2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}
