// Package moments writes the few lines that a session is given at its moments: a prompt, a file
// that was read, something that failed.
//
// A [Reminder] finds what is remembered of the moment, lets package gate decide whether that
// is worth a line, and writes at most three within 250 tokens. Its account of what
// it gave (the ledger) and the store's books together keep it from saying anything
// twice to a session that has not been compacted in between.
//
// It is silent when in doubt: on an error, after its time, and always for what the session did
// itself or was shown.
package moments
