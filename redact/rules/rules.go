package rules

import (
	"slices"
	"strings"
	"sync"

	"claudemem"
	"claudemem/glob"
	"claudemem/redact"
)

// Rules masks secrets. The zero value is ready for use; New exists for symmetry.
type Rules struct {
	once sync.Once
	set  *ruleSet
	err  error
}

// New returns Rules that load their rule set when it is first needed.
func New() *Rules { return &Rules{} }

// Load reads the rule set now, some 10 ms, instead of with the first text. An
// error means that the module's rules cannot be read; then only package redact's
// are applied.
func (r *Rules) Load() error {
	r.once.Do(func() { r.set, r.err = loadRuleSet() })
	return r.err
}

// Text masks the secrets in s and returns how many there were, by rule; nil when
// there were none. It leaves tags alone.
func (r *Rules) Text(s string) (string, map[string]int) {
	c := counter{}
	return r.text(s, 0, &c), c.byRule
}

// Event cleans an event in place as redact.Event does, and masks what only the
// full rule set knows.
func (r *Rules) Event(e *claudemem.Event, withheld glob.Set) map[string]int {
	return r.EventWithin(e, withheld, 0)
}

// EventWithin is Event that also shortens: a text over limit bytes keeps as much
// of its head and of its tail, with a mark between them that says how much went.
// A secret on the edge of what goes is masked, not cut in two. Limit 0 shortens
// nothing.
func (r *Rules) EventWithin(e *claudemem.Event, withheld glob.Set, limit int) map[string]int {
	c := counter{byRule: redact.Event(e, withheld)}
	for _, text := range redact.Texts(e) {
		*text = r.masked(*text, limit, &c)
	}
	e.ToolInput = r.json(e.ToolInput, limit, &c)
	e.ToolResponse = r.json(e.ToolResponse, limit, &c)
	return c.byRule
}

// json does masked to the strings of raw.
func (r *Rules) json(raw []byte, limit int, c *counter) []byte {
	if len(raw) == 0 || limit == 0 || len(raw) <= limit {
		// Nothing is to be cut; where no keyword is, nor an escape that could hide
		// one, nothing is to be masked either.
		if r.Load() != nil || !r.set.mayMatch(raw) {
			return raw
		}
	}
	out, ok := redact.Each(raw, func(_, text string) string { return r.masked(text, limit, c) })
	if !ok {
		return raw // no JSON; whoever validates the event says so
	}
	return out
}

// text masks with both rule sets.
func (r *Rules) text(s string, limit int, c *counter) string {
	masked, counts := redact.Text(s)
	for rule, n := range counts {
		c.add(rule, n)
	}
	return r.masked(masked, limit, c)
}

// margin is how far beyond a cut secrets are looked for, in bytes. Keys in PEM
// and web tokens, which are longer, are found before.
const margin = 4 << 10

// masked masks with the full rule set and cuts to limit.
func (r *Rules) masked(s string, limit int, c *counter) string {
	if r.Load() != nil {
		if limit > 0 && len(s) > limit {
			return redact.Cut(s, limit)
		}
		return s
	}
	if limit == 0 || len(s) <= limit {
		return applyFindings(s, 0, len(s), r.set.find(s), c)
	}
	half := limit / 2
	head, tail := s[:min(len(s), half+margin)], s[max(0, len(s)-half-margin):]
	return applyFindings(head, 0, half, r.set.find(head), c) +
		redact.CutMark(len(s)-2*half) +
		applyFindings(tail, len(tail)-half, len(tail), r.set.find(tail), c)
}

// A finding is a secret in a text.
type finding struct {
	start, end int
	rule       string
}

// applyFindings returns s[from:to] with what the findings cover masked; one that
// reaches over an edge is masked whole.
func applyFindings(s string, from, to int, found []finding, c *counter) string {
	if len(found) == 0 {
		return strings.ToValidUTF8(s[from:to], "")
	}
	var b strings.Builder
	at := from
	for _, f := range found {
		if f.end <= at || f.start >= to {
			continue
		}
		b.WriteString(s[at:max(at, f.start)])
		b.WriteString(redact.Mask(f.rule))
		c.add(f.rule, 1)
		at = f.end
	}
	if at < to {
		b.WriteString(s[at:to])
	}
	return strings.ToValidUTF8(b.String(), "")
}

// merge orders findings and joins those that overlap under the rule of the first.
func merge(found []finding) []finding {
	slices.SortFunc(found, func(a, b finding) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	n := 0
	for _, f := range found {
		if n > 0 && f.start < found[n-1].end {
			found[n-1].end = max(found[n-1].end, f.end)
			continue
		}
		found[n] = f
		n++
	}
	return found[:n]
}

type counter struct{ byRule map[string]int }

func (c *counter) add(rule string, n int) {
	if c.byRule == nil {
		c.byRule = make(map[string]int)
	}
	c.byRule[rule] += n
}
