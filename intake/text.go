package intake

import (
	"claudemem/redact"
	"claudemem/redact/rules"
)

// Text redacts a text that is no event, such as a learning: it strips tags with
// their private content, masks secrets with the full rules and truncates to maxText.
func (in *Intake) Text(s string) string { return redact.TruncateMiddle(clean(s), maxText) }

// clean strips tags and masks secrets.
func clean(text string) string {
	masked, _ := rules.Text(redact.StripTags(text))
	return masked
}
