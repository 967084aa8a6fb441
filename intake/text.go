package intake

import (
	"claudemem/redact"
	"claudemem/redact/rules"
)

// Text cleans a text that is no event, such as a learning that a person writes:
// tags are stripped with what is private in them, secrets masked with the full
// rules, and what is longer than a text of an event may be is cut.
func (in *Intake) Text(s string) string {
	s, _ = rules.Text(redact.StripTags(s))
	return redact.TruncateMiddle(s, maxText)
}
