// Package compare measures claude-mem beside what else there is: plain BM25, deja-vu and
// claude-mem for Node. TestCompare builds or installs what can be had, measures all of them in
// the same way in one run, and writes docs/comparison.md, which nobody edits.
//
//	make compare EVAL_DATA=folder DEJAVU=program
//
// It runs on Linux. It is not shipped.
package compare
