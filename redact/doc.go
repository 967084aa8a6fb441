// Package redact takes out of an event what must not be kept: what the user
// marked private, the tags that carry machinery, secrets, and the contents of
// files that are withheld whole.
//
// Nouns: a tag is one of the five elements of [StripTags]; a rule names a kind
// of secret, which becomes "[redacted:RULE]"; a withheld file matches one of the
// user's globs (.env*, *.pem, …) and loses its content, not its name.
//
// Guarantees: clean text comes back as it is, without an allocation, after one
// cheap pass. JSON stays JSON: only strings change, and keys that hold a secret.
// Everything is idempotent, so the hook and every intake can do it again. Work
// is linear in the text, whatever the text is. In doubt the scanner masks, but
// code that only speaks of secrets (token := parser.Next()) stays readable,
// because a memory of masked code is none.
//
// Place in the flow: the hook calls [Event] before anything leaves its process;
// intake does the same again through redact/rules, which adds the kinds
// of [Kinds] that a name or a place tells. This package is linked into the hook: standard library
// only, no regexp.
package redact
