// Command claude-mem-hook is the small twin of claude-mem for the hot path: it
// runs in the host's time and costs little more than an empty Go program.
package main

import (
	"os"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
)

func main() {
	growStack(enough)
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		// For claude-mem doctor, which compares the two.
		_, _ = os.Stdout.WriteString("claude-mem-hook " + wire.Program + "\n")
		return
	}
	hook.Main(os.Args[1:], hook.Options{StartedAt: time.Now()})
}

// stackSize is what the hook uses of the stack at most, with room to spare.
const stackSize = 16 << 10

// enough is always true: growStack need only be entered. It is a variable so that the compiler keeps
// growStack's frame.
var enough = true

// growStack gives the main goroutine its stack at once: it has a frame of stackSize, for
// which the runtime makes room when it is entered. By doubling its stack step by step the
// hook would touch some ten pages more, a twenty-fifth of its time. It touches none of the
// frame.
//
//go:noinline
func growStack(enough bool) byte {
	if enough {
		return 0
	}
	var frame [stackSize]byte
	return last(&frame)
}

//go:noinline
func last(frame *[stackSize]byte) byte { return frame[stackSize-1] }
