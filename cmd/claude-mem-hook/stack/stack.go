// Package stack gives the main goroutine of the hook the stack that it needs before
// anything else runs. It would get there by doubling 2 KB four times, and the runtime
// touches some 20 pages of memory for that, which takes longer than parsing a payload.
//
// The package imports nothing and its path sorts before those of the standard library's
// packages with an init function, so that Go initialises it first.
package stack

func init() { grow(enough) }

// size is what the hook uses of the stack at most, with room to spare.
const size = 16 << 10

// enough is a variable so that the compiler keeps grow's frame.
var enough = true

// grow has a frame of size bytes, for which the runtime makes room when it is entered.
// It touches none of it.
//
//go:noinline
func grow(enough bool) byte {
	if enough {
		return 0
	}
	var frame [size]byte
	return last(&frame)
}

//go:noinline
func last(frame *[size]byte) byte { return frame[size-1] }
