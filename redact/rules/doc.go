// Package rules finds the secrets that package redact leaves to the worker: those
// with a word near them or a name of several words (a redact.Kind with Names),
// and three that need code of their own: headers of curl commands, passwords in
// nuget.config, and web tokens whose header does not start with eyJ.
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
