// Package rank scores a document for a query: keywords, how near they stand to
// each other, and likeness of meaning. It is arithmetic without a database: a
// Document is hashes of words by field, a Query is terms with their frequencies,
// and the same two give the same score on every machine.
//
// In the flow it stands behind the gathering of candidates: package index finds a
// few hundred documents that may fit, and this package scores how well each does.
package rank
