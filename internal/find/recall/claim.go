package recall

import (
	"slices"
	"time"

	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Claim is what a record says, as it is compared with others before they are given.
type Claim struct {
	// At is when the record was made. One that is Kept, such as a pinned one, outlasts a later one.
	At   memory.Millis
	Kept bool
	// Rule: it says how things are to be, so that a later one may narrow or lift it.
	Rule bool
	said []likeness.Statement
}

// ClaimOf returns the claim of a record that says these parts, none of them for an account of something that
// was mended: a bug may come again.
func ClaimOf(at memory.Millis, kept, rule bool, parts ...string) Claim {
	return Claim{at, kept, rule, collect.Map(collect.Keep(parts, func(p string) bool { return p != "" }), likeness.ParseStatement)}
}

// ClaimOfObservation returns the claim of an observation whose line has a title and a detail.
func ClaimOfObservation(o *memory.Observation, title, detail string) Claim {
	if o.Type == memory.TypeBugfix {
		return Claim{}
	}
	return ClaimOf(o.CreatedAt, o.Pinned || o.Origin == memory.OriginUser, o.Type == memory.TypeDecision, title, detail)
}

// Day returns the day of the record, such as "2026-03-04".
func (c Claim) Day() string { return c.At.Time().Format(time.DateOnly) }

// Yields reports whether a record is not to be given beside another one: they disagree about a subject, and the other
// one is kept, or newer.
func (c Claim) Yields(to Claim) bool {
	if to.Kept != c.Kept && c.Kept || to.Kept == c.Kept && to.At <= c.At {
		return false
	}
	return slices.ContainsFunc(c.said, func(s likeness.Statement) bool {
		return slices.ContainsFunc(to.said, func(o likeness.Statement) bool { return s.Disagrees(o) || c.Rule && to.Rule && o.Narrows(s) })
	})
}
