// Package jsonscan reads and edits JSON text without reflection: it finds the
// spans of values, decodes and encodes strings, and changes a document in its
// bytes, so that everything which is not changed stays as it is.
//
// Nouns: a member is a key and a value of an object; a token is a bracket, a
// string or another scalar and where it stands; a [Document] is another
// program's file that is edited in place.
//
// Guarantees: what is accepted is what encoding/json accepts (RFC 8259, nesting
// up to [MaxDepth]; invalid UTF-8 and lone surrogates pass inside strings and
// decode to U+FFFD), held by fuzz tests. Files that people write by hand may have
// a byte order mark, comments and trailing commas: [Relax] takes them out and
// keeps every position. Slices that are handed out are parts of the input.
//
// Place in the flow: a leaf package; hook, wire, redact, install and settings
// read JSON with it. It is linked into the hook: no init work, no regexp.
package jsonscan
