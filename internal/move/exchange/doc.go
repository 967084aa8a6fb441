// Package exchange reads and writes the file by which memories exchange records: JSON Lines
// with a header, one [memory.Portable] a line, and an end line that tells a whole file from
// a truncated one. docs/export.md describes the format.
//
// Guarantees: the same records give the same bytes; a reader holds one line of at most
// [MaxLine] bytes, whatever the file has; a line that cannot be read is an error of its own,
// with its number, and the next line is read as usual.
//
// Place in the flow: daemon.Export writes what store.Export returns, daemon.Import reads.
package exchange
