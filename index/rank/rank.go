// Package rank scores a document for a query: keywords, how near they stand to
// each other, and likeness of meaning. It is arithmetic without a database.
package rank
