// Package rules finds secrets with the full maintained rule set: that of
// gitleaks, taken from its module as data and run by a matcher of our own.
//
// Why not gitleaks' own detector: it lower-cases and searches each text as a
// whole for each rule, honours allow lists (of documentation keys, of comments
// that say gitleaks:allow) that a memory must not honour, and pulls archive
// readers into the program. Here one pass looks for the rules' keywords, and a
// rule's expression, compiled when first needed, sees only the surroundings of
// its keyword. Its rule generic-api-key (and curl-auth-user) is replaced by the
// assignments of package redact, which are anchored and cost a tenth.
//
// Guarantees: what package redact masks is masked here first, so that a key that
// an allow list would let pass is gone already; safe for concurrent use; nothing
// is logged; the time is linear in the text times the rules whose keywords it
// holds.
//
// Place in the flow: intake, before anything is committed or sent to a provider.
// The hook does not link this package.
package rules
