// Package index finds records by their words and by their meaning. It keeps
// index.db and a file of vectors: derived from the store, which it follows by its
// change feed, and rebuilt from it when they are deleted.
//
// A [Feed] is what is followed, a document is a record as it is searched, a
// fragment one of its texts that has a vector: title, text, each fact. A base is
// an open index.db with its vectors and the catalogue, which has in memory what
// filters look at. The follower is the one goroutine that writes.
//
// The way of a change: the feed signals; the follower reads what changed and the
// records as they are now (follow.go), takes them apart (analysis.go, package
// words), has vectors made (embedding.go, package embed or another [Embedder])
// and puts all of it into the base in one transaction (apply.go). The vectors are
// in their file before the commit (package vectors). A build (build.go) is the same
// with all records instead of those that changed, and ends with tidying up the file.
//
// The way of a query: its words are looked up and corrected (understanding.go);
// the rarer words and the vectors gather candidates (candidates.go), which package
// rank scores by the words that contents keeps of each (ranking.go). An expression
// (syntax.go) is parsed here and written anew for FTS5 (expression.go), so that no
// text can be an SQL error.
//
// What the files hold, byte by byte, is in docs/index-format.md. These formats are frozen.
//
// Guarantees: what the store has committed is found after [Index.CatchUp], also
// when the process was killed in between; what is deleted is found no more, and
// its words leave the file (sweep). A damaged index is built anew, one of another
// model gets new vectors while words go on being found, and vectors of two models
// are never compared. Queries run beside the follower and each other.
package index
