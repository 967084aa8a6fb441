// Package browse is a full-screen terminal program over the memory: a feed of the newest
// records, a search as you type, a record in full, and the timeline around it; sessions, learnings,
// the context block and the queue as further panes. An observation can be pinned, hidden and edited, a
// learning retired, with undo.
//
// A Model holds what is shown; Update changes it by a key or an answer, and View draws it. The
// records are read by commands that run beside it, page by page as the reader moves, so that
// the size of the memory does not matter. Answers to questions that nobody asks any more are
// dropped.
//
// The text of records is foreign: all of it goes through line or block (cells.go) before it is
// drawn, so that none of it can steer the terminal.
package browse
