// Package vectors keeps the vectors of fragments in one file and finds those
// nearest to a query.
//
// A slot is a place in the file; a document is what a fragment belongs to, 0 for an empty slot.
// The file is a header, then one record of fixed size a slot: a checksum, the document, which of
// its fragments it is, a scale, the vector with 4 bits a number, and a code of more signs (coder).
// The document's number and the code of all signs are in memory too, 40 bytes a slot with the
// built-in model; one sequential read at the start fetches them.
//
// Search compares the first half of each code with the query's by their Hamming distance,
// compares the whole codes of the nearest with the query itself, reads the vectors of the best
// of these from the file and orders those by their cosine. Where few fragments are eligible it
// reads them all, so that the answer is exact.
//
// Guarantees: what Sync has returned for is in the file after a crash. A record
// that was torn, by a crash or a full disk, is an empty slot. A deleted vector is
// zeros in the file and is found no more when Delete returns. One writer and any
// number of searchers may work at the same time. The file is derived data: one of
// another model, size or version is thrown away, and the index fills it again.
package vectors
