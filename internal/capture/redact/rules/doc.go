// Package rules finds the secrets that package redact leaves to the worker, as they would
// make every hook slower or larger: tokens with a word near them, a name of several words
// or a prefix without a rare byte (a tokens.Kind with Names); and those with code of their
// own: headers of curl commands, all cookies of a header, passwords in nuget.config, web
// tokens whose header does not start with eyJ, and what words.go has.
//
// One pass looks for the keywords; each is followed by a scan of bounded length,
// without regular expressions. Allow lists, as scanners of repositories have them
// (keys from documentation, comments that say gitleaks:allow), are not honoured:
// in a memory the same text must go.
//
// Guarantees: what package redact masks is masked here first; safe for concurrent
// use; nothing is logged; the time is linear in the text times the keywords in it.
//
// Place in the flow: intake, before anything is committed or sent to a model. The
// hook does not link this package.
package rules
