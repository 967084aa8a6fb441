// Package likeness says whether a text says what another one says: titles that are nearly the
// same ([Alike]), learnings of one meaning or against each other ([Statement]), and what repeats
// the words of a foreign text ([ForeignRuns]). It does no I/O.
package likeness
