// Package train trains an embedding table further on the records of one memory: what
// belongs together there, by the words that its user has for things.
//
// A record's title and the rest of its text belong together; the titles and texts of the
// other records of a batch do not. The loss is the softmax over the cosines of a batch, in
// both directions (InfoNCE), and only the vectors of pieces that occur are moved. The
// numbers were chosen on held-out questions; docs/how-search-ranks.md has the figures.
//
// [Table] is a function of its arguments alone: the same pairs in the same order give the
// same table, to the byte, on processors of one kind. A trained table holds vectors of
// words, and no text.
package train
