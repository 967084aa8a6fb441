package offline

import (
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// wants reports whether a check that failed had to: the user asked for it, the agent says so, or
// the agent shows the error that is given now in place of another one. A refusal that was asked
// for, or told, explains a failing command, not a failing test.
func (t *turn) wants(c *check) bool {
	refuses := c.Kind != toolcall.KindTest
	for _, s := range text.Sentences(t.request.text, beginsSentence) {
		if (lang.Has(s, "asks-failure") || refuses && lang.Has(s, "asks-refusal")) && !lang.Has(s, "no-failure") {
			return !t.admits()
		}
	}
	for _, s := range t.message {
		if lang.Has(s.text, "as-wanted") && lang.Has(s.text, "fail-word", "refuses") || refuses && lang.Has(s.text, "refuses") && !t.request.is(wantFix) {
			return !t.admits()
		}
	}
	if c.Kind.IsProof() || len(c.failure.Message) < 12 || !strings.Contains(t.raw, c.failure.Message) {
		return false
	}
	return slices.ContainsFunc(checksOf(t.steps[:c.step.at]), func(old *check) bool {
		return !old.passed && old.text == c.text && old.failure.Message != c.failure.Message
	})
}
