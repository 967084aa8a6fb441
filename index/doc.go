// Package index finds records by their words and by their meaning. It keeps
// index.db and a file of vectors: derived from the store, which it follows by its
// change feed, and rebuilt from it when they are deleted.
package index
