package text

import (
	"fmt"
	"time"
)

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
