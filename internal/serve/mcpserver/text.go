package mcpserver

import (
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// line returns a record's text as one line that is safe in an answer, of at most
// so many characters (0: any).
func line(s string, most int) string {
	if s = text.Plain(s); most > 0 {
		s = text.TruncateRunes(s, most)
	}
	return s
}

// age says how long ago at was, "never" for 0.
func age(now time.Time, at memory.Millis) string {
	if at == 0 {
		return "never"
	}
	return text.Age(now, at.Time())
}
