// Package redact removes from an event what must not be stored: text in private
// tags, tags of the host's machinery, secrets, and the contents of withheld files.
//
// Nouns: a tag is one of the six elements of [tags.Strip]; a rule names a kind
// of secret, which becomes "[redacted:RULE]"; a withheld file matches one of the
// user's globs (.env*, *.pem, …) and loses its content, not its name.
//
// Guarantees: clean text is returned as it is, without an allocation, after one
// pass. JSON stays JSON: only strings change. Every function is idempotent, so
// hook and intake can both apply it. Work is linear in the text, also for hostile
// text. In doubt the scanner masks, but code about secrets (token :=
// parser.Next()) stays readable: a memory of masked code is useless.
//
// The passes are packages, in this order, and none uses an earlier one: [tags]; the strings
// of [documents]; in them [secrets], which are told by a name ([assign]), tell themselves
// what they are ([tokens]), and are known from other text by their [shapes]. This package
// puts them together and withholds files.
//
// Place in the flow: the hook calls [Event] before anything leaves its process;
// intake calls it again through redact/rules, which adds the kinds of [tokens.Kinds] that a
// word near them tells. [tags.KindOfPrompt] tells both which turns are private. The hook
// links these packages: standard library only, no regexp, lists of words as one string, and
// no inlining of small functions with many callers, which would add 8 KB to it.
package redact
