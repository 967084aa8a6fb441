package intake

import (
	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/rules"
	"claudemem/internal/capture/redact/tags"
)

// Text redacts a text that is no event, such as a learning: it strips tags with
// their private content, as in a prompt also those that are not written plainly, masks
// secrets with the full rules and truncates to maxText.
func (in *Intake) Text(s string) string {
	return redact.TruncateMiddle(clean(tags.StripTyped(s)), maxText)
}

// clean strips tags and masks secrets.
func clean(text string) string {
	masked, _ := rules.Text(tags.Strip(text))
	return masked
}
