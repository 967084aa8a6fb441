package text

import (
	"fmt"
	"time"
)

// Age says how long before now something was: "5m ago", "yesterday", "3w ago". Both
// times count by the minute, so that the same minute gives the same words. A time
// to come, from a clock that was set back, is "just now".
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
